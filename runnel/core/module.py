"""Module: a named container of variables, submodules and their functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, NamedTuple

from . import nest
from .context import name_scope
from .variable import Variable


class Module:
    """Base class of objects that own variables; tracks variables and submodules among its
    attributes.

    >>> class Dense(tf.Module):
    ...     def __init__(self, size, name=None):
    ...         super().__init__(name=name)
    ...         self.w = tf.Variable(tf.ones([size]), name="w")
    >>> [variable.name for variable in Dense(2).variables]
    ['w:0']
    """

    # Attributes that hold no state of the module; subclasses may extend the set.
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
        return tuple(self._flatten(predicate=lambda value: isinstance(value, Variable)))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        return tuple(
            self._flatten(predicate=lambda value: isinstance(value, Variable) and value.trainable)
        )

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        return tuple(
            self._flatten(
                predicate=lambda value: isinstance(value, Variable) and not value.trainable
            )
        )

    @property
    def submodules(self) -> tuple[Module, ...]:
        return tuple(self._flatten(predicate=lambda value: isinstance(value, Module)))

    def _flatten(
        self,
        recursive: bool = True,
        predicate: Callable[[Any], bool] | None = None,
        attribute_traversal_key: Callable[[str], Any] | None = None,
        with_path: bool = False,
        expand_composites: bool = False,
    ) -> Iterator[Any]:
        """The selected attributes, in the order of their names, followed by those of submodules.

        With `with_path` each is paired with the attributes, keys and indices that lead to it.
        """
        walk = _Walk(recursive, predicate, attribute_traversal_key, expand_composites, {id(self)})
        for path, leaf in walk.through(self, ()):
            yield (path, leaf) if with_path else leaf

    @classmethod
    def _no_dependency(cls, value: Any) -> Any:
        """A value excluded from checkpoints, for classes that make this distinction."""
        return value

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Decorate a method to run in the name scope of its module."""

        @wraps(method)
        def scoped(self: Module, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped


class _Walk(NamedTuple):
    """The traversal of a module's attributes and of nested modules."""

    recursive: bool
    wanted: Callable[[Any], bool] | None
    order: Callable[[str], Any] | None
    expand_composites: bool
    seen: set[int]

    def through(self, module: Module, start: tuple[Any, ...]) -> Iterator[tuple[Any, Any]]:
        inner: list[tuple[tuple[Any, ...], Module]] = []
        attributes = vars(module)
        ignored = module._TF_MODULE_IGNORED_PROPERTIES
        for name in sorted(attributes, key=self.order):
            if name in ignored:
                continue
            for path, leaf in _leaves(attributes[name], (*start, name), self.expand_composites):
                if id(leaf) in self.seen:
                    continue
                if isinstance(leaf, Variable | Module):
                    self.seen.add(id(leaf))
                if self.wanted is None or self.wanted(leaf):
                    yield path, leaf
                if isinstance(leaf, Module):
                    inner.append((path, leaf))
        for path, submodule in inner if self.recursive else ():
            yield from self.through(submodule, path)


def _leaves(value: Any, path: tuple[Any, ...], expand: bool) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, list | tuple):
        for place, each in enumerate(value):
            yield from _leaves(each, (*path, place), expand)
    elif isinstance(value, dict):
        for key in sorted(value, key=_sortable):
            yield from _leaves(value[key], (*path, key), expand)
    elif expand and not isinstance(value, Variable):
        for part in nest.flatten(value, expand_composites=True):
            yield path, part
    else:
        yield path, value


def _sortable(key: Any) -> tuple[str, Any]:
    return type(key).__name__, key


def _snake_case(name: str) -> str:
    return re.sub(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))", r"_\1", name).lower()
