"""Module: a named container for variables, other modules and the functions on them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from .context import name_scope
from .variable import Variable


class Module:
    """Base class of what holds variables; finds those of its attributes and submodules.

    >>> class Dense(tf.Module):
    ...     def __init__(self, size, name=None):
    ...         super().__init__(name=name)
    ...         self.w = tf.Variable(tf.ones([size]), name="w")
    >>> [variable.name for variable in Dense(2).variables]
    ['w:0']
    """

    # Attributes that hold no state of the module's own; subclasses may add to them.
    _TF_MODULE_IGNORED_PROPERTIES: frozenset[str] = frozenset()

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = _snake_case(type(self).__name__)
        elif not name.isidentifier():
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python "
                "identifiers (e.g. a valid class name)."
            )
        self._name = name
        with name_scope(name) as scope:
            self._name_scope = name_scope(scope)

    @property
    def name(self) -> str:
        return self._name

    @property
    def name_scope(self) -> name_scope:
        return self._name_scope

    @property
    def variables(self) -> tuple[Variable, ...]:
        return tuple(self._flatten(lambda value: isinstance(value, Variable)))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        return tuple(self._flatten(lambda value: isinstance(value, Variable) and value.trainable))

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        return tuple(
            self._flatten(lambda value: isinstance(value, Variable) and not value.trainable)
        )

    @property
    def submodules(self) -> tuple[Module, ...]:
        return tuple(self._flatten(lambda value: isinstance(value, Module)))

    def _flatten(self, wanted: Callable[[Any], bool]) -> Iterator[Any]:
        """What is wanted among the attributes, in order of their names; then that of submodules."""
        yield from _walk(self, wanted, {id(self)})

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Decorate a method to run in the name scope of its module."""

        @wraps(method)
        def scoped(self: Module, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped


def _walk(module: Module, wanted: Callable[[Any], bool], seen: set[int]) -> Iterator[Any]:
    inner: list[Module] = []
    attributes = vars(module)
    ignored = module._TF_MODULE_IGNORED_PROPERTIES
    for name in sorted(attributes):
        if name in ignored:
            continue
        for leaf in _leaves(attributes[name]):
            if id(leaf) in seen:
                continue
            if isinstance(leaf, Variable | Module):
                seen.add(id(leaf))
            if wanted(leaf):
                yield leaf
            if isinstance(leaf, Module):
                inner.append(leaf)
    for submodule in inner:
        yield from _walk(submodule, wanted, seen)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for each in value:
            yield from _leaves(each)
    elif isinstance(value, dict):
        for key in sorted(value, key=_sortable):
            yield from _leaves(value[key])
    else:
        yield value


def _sortable(key: Any) -> tuple[str, Any]:
    return type(key).__name__, key


def _snake_case(name: str) -> str:
    return re.sub(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))", r"_\1", name).lower()
