"""The cache key of a trace, and the conversion of arguments to tensors."""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import nest
from ..convert import convert_to_tensor
from ..errors import InvalidArgumentError
from ..shapes import TensorShape
from ..tensor import Tensor
from ..type_spec import TensorSpec, TypeSpec, type_spec_from_value
from ..variable import Variable
from .signature_text import type_text

_VALUES = (bool, int, float, complex, str, bytes)
# Objects that a trace holds itself.
_HELD = (TypeSpec, TensorShape, *_VALUES)


class Identity:
    """A key for an object, or one equal to it, that holds only a weak reference."""

    __slots__ = ("_hash", "_reference")

    def __init__(self, value: Any) -> None:
        try:
            self._hash = hash(value)
        except TypeError:
            self._hash = id(value)
        try:
            self._reference: Callable[[], Any] = weakref.ref(value)
        except TypeError:
            self._reference = lambda: value

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Identity):
            return False
        ours, theirs = self._reference(), other._reference()
        if ours is theirs:
            return ours is not None
        return self._hash == other._hash and type(ours) is type(theirs) and bool(ours == theirs)

    @property
    def value(self) -> Any:
        return self._reference()

    def __repr__(self) -> str:
        return repr(self._reference())


def key_of(value: Any, tensors: list[Tensor]) -> Hashable:
    """The key of an argument; its tensors are appended to the list."""
    kind = type(value)
    if kind is Tensor:
        tensors.append(value)
        return value.dtype, value._array.shape
    if value is None:
        return None
    if kind in _VALUES:
        # As in the original, equal numbers have one trace: 1, 1.0 and True. So do NaNs.
        return ("value", value) if value == value else "NaN"
    if kind is tuple or kind is list:
        return kind, tuple([key_of(each, tensors) for each in value])
    if isinstance(value, np.ndarray | np.generic):
        return key_of(convert_to_tensor(value), tensors)
    if isinstance(value, Tensor):
        tensors.append(value)
        return value.dtype, value._sizes
    if isinstance(value, Variable):
        return Identity(value)
    if isinstance(value, TensorSpec):
        return value.dtype, value.shape._dims
    if isinstance(value, TypeSpec):
        return value
    if isinstance(value, TensorShape):
        return TensorShape, value._dims
    if nest.is_nested(value):
        # In the flattening order of nest, which is the order of the inputs.
        children = nest.named_children(value)
        return kind, tuple([(name, key_of(each, tensors)) for name, each in children])
    spec = getattr(value, "_type_spec", None)
    if isinstance(spec, TypeSpec):
        tensors.extend(spec.to_tensors(value))
        return spec
    return Identity(value)


def key_of_arguments(
    args: tuple[Any, ...], kwargs: Mapping[str, Any], tensors: list[Tensor]
) -> Hashable:
    """The key of bound arguments; their tensors are appended in the order of `in_input_order`."""
    key = key_of(args, tensors)
    return (key, key_of(kwargs, tensors)) if kwargs else key


def in_input_order(
    named: Sequence[tuple[str, Any]], keywords: Mapping[str, Any]
) -> list[tuple[str, Any]]:
    """Named arguments in the order of a trace's inputs: positional ones, keywords by name.

    This is the order in which nest flattens `(args, kwargs)`, used by keys, calls and SavedModels.
    """
    count = len(named) - len(keywords)
    return [*named[:count], *sorted(named[count:], key=lambda pair: pair[0])]


class Described:
    """A callable without code, whose signature binds arguments."""

    def __init__(self, signature: Any) -> None:
        self.__signature__ = signature

    def __call__(self) -> None:
        """Never called."""


class Parameters:
    """The parameters of a Python function, to bind arguments to."""

    def __init__(self, function: Callable[..., Any]) -> None:
        import inspect  # imported lazily: a fifth of the time of `import runnel`

        try:
            self.signature = inspect.signature(function)
        except (TypeError, ValueError):
            self.signature = inspect.Signature(
                [
                    inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL),
                    inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD),
                ]
            )
        kinds = [parameter.kind for parameter in self.signature.parameters.values()]
        self.names = list(self.signature.parameters)
        plain = inspect.Parameter.POSITIONAL_OR_KEYWORD
        # With as many positional arguments as parameters no binding is needed.
        self.exact = len(kinds) if all(kind is plain for kind in kinds) else -1
        self._variadic_keywords = inspect.Parameter.VAR_KEYWORD in kinds and self.names[-1]

    def bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, Any]:
        """Positional and keyword arguments, with defaults applied.

        Keywords are in the order of their parameters, those of `**kwargs` last and sorted: a trace
        does not depend on the order in the first call.
        """
        if not kwargs and len(args) == self.exact:
            return args, {}
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if self._variadic_keywords:
            found = bound.arguments[self._variadic_keywords]
            bound.arguments[self._variadic_keywords] = {name: found[name] for name in sorted(found)}
        return bound.args, bound.kwargs

    def named(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[tuple[str, Any]]:
        """The arguments with the names of their parameters."""
        positional = []
        variadic = None
        for parameter in self.signature.parameters.values():
            if parameter.kind is parameter.VAR_POSITIONAL:
                variadic = parameter.name
            elif parameter.kind not in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD):
                positional.append(parameter.name)
        if len(args) > len(positional) and variadic is None:
            raise TypeError(
                f"The function takes {len(positional)} positional arguments, but {len(args)} came "
                "for them, as specs of an input_signature or as values."
            )
        names = [
            positional[i] if i < len(positional) else f"{variadic}_{i - len(positional)}"
            for i in range(len(args))
        ]
        return [*zip(names, args, strict=True), *kwargs.items()]


def spec_of(value: Any) -> Any:
    """The spec of an argument that holds tensors; any other value unchanged."""
    if isinstance(value, Tensor | np.ndarray | np.generic):
        return TensorSpec(TensorShape(value.shape), convert_to_tensor(value).dtype)
    if isinstance(value, TypeSpec | Variable):
        return value
    spec = getattr(value, "_type_spec", None)
    return type_spec_from_value(value) if isinstance(spec, TypeSpec) else value


class BoundSignature:
    """The arguments of a trace: specs in place of tensors, other values unchanged."""

    def __init__(self, parameters: Parameters, args: Any, kwargs: Any) -> None:
        self._parameters = parameters
        # A trace does not hold references to its example arguments.
        self._held = nest.map_structure(_weak, (args, kwargs))

    @property
    def args(self) -> Any:
        return nest.map_structure(_strong, self._held[0])

    @property
    def kwargs(self) -> Any:
        return nest.map_structure(_strong, self._held[1])

    def structured(self) -> Any:
        """The positional and keyword arguments, with named specs in place of tensors."""
        named = self._parameters.named(self.args, self.kwargs)
        specs = [_named_by_path(each, name) for name, each in named]
        return (tuple(specs[: len(self.args)]), dict(zip(self.kwargs, specs[len(self.args) :],
                strict=True)))  # fmt: skip

    def described(self) -> list[tuple[str, str, Any]]:
        """The name, parameter kind, and spec or value of each argument."""
        parameters = self._parameters.signature.parameters.values()
        variadic = any(each.kind is each.VAR_POSITIONAL for each in parameters)
        positional = "POSITIONAL_ONLY" if variadic else "POSITIONAL_OR_KEYWORD"
        named = self._parameters.named(self.args, self.kwargs)
        count = len(self.args)
        return [
            (name, positional if place < count else "KEYWORD_ONLY", value)
            for place, (name, value) in enumerate(named)
        ]

    def tensors_of(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Tensor]:
        """The tensors in the arguments of a call; TypeError if they do not match the trace."""
        try:
            return self._bound(args, kwargs)
        except TypeError:
            # The flattened tensors of all structures may be passed positionally.
            specs = [each for each in nest.flatten(self._held) if isinstance(each, TypeSpec)]
            if kwargs or len(specs) != len(args) or not all(map(_fits, specs, args)):
                raise
            return list(args)

    def _bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Tensor]:
        given = dict(zip(self._names(args), args, strict=False))
        named = {
            spec.name: parameter
            for parameter, spec in self._parameters.named(self.args, self.kwargs)
            if isinstance(spec, TensorSpec) and spec.name
        }
        for key, value in kwargs.items():
            name = named.get(key, key)
            if name in given:
                raise TypeError(f"Binding inputs to tf.function failed due to `got two values for "
                                f"argument {name!r}`.")  # fmt: skip
            given[name] = value
        tensors: list[Tensor] = []
        held = self.kwargs
        known = dict(in_input_order(self._parameters.named(self.args, held), held))
        for name in given:
            if name not in known:
                raise TypeError(
                    f"Binding inputs to tf.function failed due to `got an unexpected argument "
                    f"{name!r}`. It takes {', '.join(known) or 'no arguments'}."
                )
        for name, expected in known.items():
            if name in given:
                tensors += self._fitting(name, expected, given[name])
            elif any(isinstance(leaf, TypeSpec) for leaf in nest.flatten(expected)):
                raise TypeError(
                    "Binding inputs to tf.function failed due to `missing a required argument: "
                    f"{name!r}`. Give {type_text(expected)}."
                )
        return tensors

    def _names(self, args: Sequence[Any]) -> list[str]:
        names = [name for name, _ in self._parameters.named(self.args, self.kwargs)]
        takes_tensors = [
            name
            for name, value in self._parameters.named(self.args, self.kwargs)
            if any(isinstance(leaf, TypeSpec) for leaf in nest.flatten(value))
        ]
        if len(args) > len(names):
            raise TypeError(
                f"Binding inputs to tf.function failed due to `too many positional arguments`: "
                f"{len(args)} came, {len(names)} fit."
            )
        # Python values are part of the trace: calls may omit them.
        return takes_tensors if len(args) == len(takes_tensors) else names

    def _fitting(self, name: str, expected: Any, value: Any) -> list[Tensor]:
        try:
            nest.assert_same_structure(expected, value)
        except (TypeError, ValueError) as mismatch:
            if not isinstance(expected, TypeSpec):
                raise TypeError(
                    f"Binding inputs to tf.function failed due to `{mismatch}` ({name!r})."
                ) from None
            pairs = [(expected, value)]
        else:
            pairs = list(zip(nest.flatten(expected), nest.flatten(value), strict=True))
        tensors: list[Tensor] = []
        for spec, leaf in pairs:
            if isinstance(spec, TypeSpec):
                if (
                    isinstance(spec, TensorSpec)
                    and isinstance(leaf, Tensor)
                    and leaf.dtype is not spec.dtype
                ):
                    raise InvalidArgumentError(
                        None,
                        None,
                        f"cannot compute the function as the argument {name!r} was expected to be "
                        f"a {spec.dtype.name} tensor but is a {leaf.dtype.name} tensor. Use "
                        "tf.cast.",
                    )
                try:
                    tensors += spec.to_tensors(leaf)
                except (TypeError, ValueError) as mismatch:
                    raise TypeError(
                        f"Binding inputs to tf.function failed due to `{mismatch}`. Received "
                        f"{name} = {leaf!r}, which does not fit {spec}."
                    ) from None
            elif not (leaf is spec or leaf == spec):
                raise TypeError(
                    f"Binding inputs to tf.function failed due to `Can not cast {leaf!r} to "
                    f"Literal[{spec!r}]`: this trace was made for {name}={spec!r}."
                )
        return tensors


def _fits(spec: TypeSpec, value: Any) -> bool:
    return (
        isinstance(spec, TensorSpec)
        and isinstance(value, Tensor)
        and spec.is_compatible_with(value)
    )


def _weak(leaf: Any) -> Any:
    return leaf if leaf is None or isinstance(leaf, _HELD) else Identity(leaf)


def _strong(leaf: Any) -> Any:
    return leaf.value if isinstance(leaf, Identity) else leaf


def _sanitized(name: str) -> str:
    """A valid signature name: lower case letters, digits and `_` only."""
    name = re.sub(r"[^a-z0-9]", "_", name.lower())
    return name if name[:1].isalpha() else f"tensor_{name}"


def _named_by_path(value: Any, name: str) -> Any:
    """The specs of an argument, named after it and their paths of keys, fields and indices."""
    named = [
        named_spec(leaf, _sanitized("_".join(map(str, (name, *path)))))
        for path, leaf in nest.flatten_with_tuple_paths(value)
    ]
    return nest.pack_sequence_as(value, named)


def named_spec(spec: Any, name: str) -> Any:
    """A tensor's spec with a name, its own if it has one."""
    if type(spec) is not TensorSpec:
        return spec
    return TensorSpec(spec.shape, spec.dtype, spec.name or name)
