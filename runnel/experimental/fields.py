"""The fields of extension types: valid annotations, and conversion of values to them."""

from __future__ import annotations

import collections.abc
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..core.composites import is_composite
from ..core.convert import convert_to_tensor
from ..core.dtypes import DType, as_dtype
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..core.type_spec import TensorSpec, TypeSpec, type_spec_from_value

_PLAIN = (int, float, str, bytes, bool, type(None))
_UNIONS = (typing.Union, types.UnionType)

# The conversion of a value to each kind of field: (value, path) -> value; TypeError if invalid.
Convert = Callable[[Any, Any, str], Any]


class ImmutableDict(collections.abc.Mapping[Any, Any]):
    """An immutable mapping, in which extension types store their mappings."""

    __slots__ = ("_items",)

    def __init__(self, items: Any = ()) -> None:
        self._items = dict(items)

    def __getitem__(self, key: Any) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"ImmutableDict({self._items!r})"


def check_annotation(annotation: Any) -> None:
    """TypeError unless the annotation is valid for a field."""
    if annotation is None or annotation in (*_PLAIN, Tensor, TensorShape, DType):
        return
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in _UNIONS:
        for each in arguments:
            check_annotation(each)
    elif origin is tuple:
        for each in arguments:
            if each is not Ellipsis:
                check_annotation(each)
    elif origin is collections.abc.Mapping:
        for each in arguments:
            check_annotation(each)
    elif not is_composite(annotation):
        raise TypeError(f"Unsupported type annotation {_described(annotation)}")


def _described(annotation: Any) -> str:
    plain = isinstance(annotation, type) and typing.get_origin(annotation) is None
    return repr(annotation.__name__) if plain else repr(annotation).replace("NoneType", "None")


def converted(annotation: Any, value: Any, path: str) -> Any:
    """A value converted to a field with this annotation."""
    return _converted(annotation, value, path, _as_value)


def converted_spec(annotation: Any, value: Any, path: str) -> Any:
    """The spec of a field with this annotation: specs in place of tensors."""
    return _converted(annotation, value, path, _as_spec)


def _converted(annotation: Any, value: Any, path: str, convert: Convert) -> Any:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in _UNIONS:
        return _member(annotation, arguments, value, path, convert)
    if origin is tuple:
        return _tuple(annotation, arguments, value, path, convert)
    if origin is collections.abc.Mapping:
        if not isinstance(value, Mapping):
            raise _misfit(annotation, value, path)
        kind, inner = arguments
        made: Any = dict if convert is _as_spec else ImmutableDict
        return made(
            (
                _converted(kind, key, f"{path}.keys()", convert),
                _converted(inner, each, f"{path}[{key!r}]", convert),
            )
            for key, each in value.items()
        )
    if annotation is None or annotation in _PLAIN:
        if not isinstance(value, type(None) if annotation is None else annotation):
            raise _misfit(annotation, value, path)
        return value
    return convert(annotation, value, path)


def _member(
    annotation: Any, members: tuple[Any, ...], value: Any, path: str, convert: Convert
) -> Any:
    # A value that already has one of the types is not converted to another.
    exact = [each for each in members if isinstance(each, type) and isinstance(value, each)]
    for each in exact or members:
        try:
            return _converted(each, value, path, convert)
        except (TypeError, ValueError):
            continue
    raise _misfit(annotation, value, path)


def _tuple(
    annotation: Any, members: tuple[Any, ...], value: Any, path: str, convert: Convert
) -> Any:
    if not isinstance(value, list | tuple):
        raise _misfit(annotation, value, path)
    if len(members) == 2 and members[1] is Ellipsis:
        members = (members[0],) * len(value)
    if len(members) != len(value):
        raise TypeError(f"{path}: expected a tuple of {len(members)} items, got {len(value)}.")
    return tuple(
        _converted(kind, each, f"{path}[{i}]", convert)
        for i, (kind, each) in enumerate(zip(members, value, strict=True))
    )


def _as_value(annotation: Any, value: Any, path: str) -> Any:
    if annotation is Tensor:
        try:
            return convert_to_tensor(value)
        except (TypeError, ValueError) as failure:
            raise TypeError(f"{path}: expected a Tensor, got {value!r}: {failure}") from None
    if annotation is TensorShape:
        return TensorShape(value)
    if annotation is DType:
        return as_dtype(value)
    if not isinstance(value, annotation):
        raise _misfit(annotation, value, path)
    return value


def _as_spec(annotation: Any, value: Any, path: str) -> Any:
    if annotation in (TensorShape, DType):
        return _as_value(annotation, value, path)
    if not isinstance(value, TypeSpec):
        value = type_spec_from_value(value)
    fits = issubclass(value.value_type, annotation)
    if not (fits or (annotation is Tensor and isinstance(value, TensorSpec))):
        raise _misfit(annotation, value, path)
    return value


def _misfit(annotation: Any, value: Any, path: str) -> TypeError:
    return TypeError(f"{path}: expected {_described(annotation)}, got {type(value).__name__!r}")


def specs_in(value: Any) -> Any:
    """A field's value with specs in place of tensors and composites."""
    if isinstance(value, tuple):
        return tuple(specs_in(each) for each in value)
    if isinstance(value, Mapping):
        return {key: specs_in(each) for key, each in value.items()}
    if isinstance(value, Tensor) or is_composite(type(value)):
        return type_spec_from_value(value)
    return value


def parts_of(specs: Any, value: Any) -> Iterator[Any]:
    """The components of a value at the positions of specs, in order."""
    if isinstance(specs, TypeSpec):
        yield value
    elif isinstance(specs, tuple):
        for spec, each in zip(specs, value, strict=True):
            yield from parts_of(spec, each)
    elif isinstance(specs, Mapping):
        for key in sorted(specs):
            yield from parts_of(specs[key], value[key])


def filled(specs: Any, parts: Iterator[Any]) -> Any:
    """The value of a field from its next components, one per spec."""
    if isinstance(specs, TypeSpec):
        return next(parts)
    if isinstance(specs, tuple):
        return tuple(filled(each, parts) for each in specs)
    if isinstance(specs, Mapping):
        values = {key: filled(specs[key], parts) for key in sorted(specs)}
        return ImmutableDict((key, values[key]) for key in specs)
    return specs
