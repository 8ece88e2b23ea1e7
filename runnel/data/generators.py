"""Datasets of Python generators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core import errors, nest
from ..core.convert import array_of
from ..core.dtypes import as_dtype
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..core.type_spec import TensorSpec, TypeSpec
from .cardinality import UNKNOWN
from .dataset import Dataset, scalar
from .failures import Failed, Raising
from .structure import Leaves, normalized, tensors_of

_CLASSES: list[tuple[Any, Any]] = [
    ((TypeError, ValueError), errors.InvalidArgumentError),
    (MemoryError, errors.ResourceExhaustedError),
    (NotImplementedError, errors.UnimplementedError),
]


def from_generator(
    generator: Any, output_types: Any, output_shapes: Any, args: Any, output_signature: Any
) -> Dataset:
    """See `Dataset.from_generator`."""
    if not callable(generator):
        raise TypeError("`generator` must be a Python callable.")
    if output_signature is not None:
        if output_types is not None:
            raise TypeError(
                "The `output_types` argument can not be used together with the `output_signature` "
                "argument."
            )
        if output_shapes is not None:
            raise TypeError(
                "The `output_shapes` argument can not be used together with the "
                "`output_signature` argument."
            )
        for spec in nest.flatten(output_signature):
            if not isinstance(spec, TypeSpec):
                raise TypeError(
                    f"`output_signature` must contain objects that are subclass of `tf.TypeSpec` "
                    f"but found {type(spec)} which is not."
                )
        signature = output_signature
    elif output_types is None:
        raise TypeError(
            "To specify the output signature you need to provide either the `output_signature` "
            "argument or the `output_types` argument."
        )
    else:
        signature = _signature(output_types, output_shapes)
    given = () if args is None else tuple(tensors_of(normalized(tuple(args))))
    return _FlatMapDataset(generator, signature, given)


def _signature(types: Any, shapes: Any) -> Any:
    if isinstance(types, list):
        types = tuple(types)
    if shapes is None:
        return nest.map_structure(lambda kind: TensorSpec(None, as_dtype(kind)), types)
    if not nest.is_nested(types):
        return TensorSpec(TensorShape(shapes), as_dtype(types))
    flat = nest.flatten_up_to(types, tuple(shapes) if isinstance(shapes, list) else shapes)
    specs = [
        TensorSpec(TensorShape(shape), as_dtype(kind))
        for kind, shape in zip(nest.flatten(types), flat, strict=True)
    ]
    return nest.pack_sequence_as(types, specs)


def _failure(failure: Exception) -> Exception:
    """TensorFlow's error for an exception in a generator."""
    for kinds, made in _CLASSES:
        if isinstance(failure, kinds):
            told: Exception = made(None, None, f"{type(failure).__name__}: {failure}")
            return told
    return errors.UnknownError(None, None, f"{type(failure).__name__}: {failure}")


class _FlatMapDataset(Dataset):
    """The values of a generator; the original uses this name."""

    def __init__(
        self, generator: Callable[..., Any], signature: Any, args: tuple[Tensor, ...]
    ) -> None:
        self._generator = generator
        self._spec = signature
        self._specs = nest.flatten(signature)
        self._tensors = tuple(scalar(each, each.dtype) for each in args)

    def _size(self) -> int:
        return UNKNOWN

    def _elements(self) -> Iterator[Leaves]:
        return Raising(self._yielded())

    def _yielded(self) -> Iterator[Any]:
        arguments = [np.asarray(tensor._array)[()] for tensor in self._tensors]
        try:
            values = iter(self._generator(*arguments))
        except errors.OpError:
            raise
        except Exception as failure:
            raise _failure(failure) from failure
        while True:
            try:
                value = next(values)
            except StopIteration:
                return
            except errors.OpError:
                raise
            except Exception as failure:
                raise _failure(failure) from failure
            try:
                leaves: Any = self._leaves(value)
            except errors.OpError as failure:
                leaves = Failed(failure)
            yield leaves

    def _leaves(self, value: Any) -> Leaves:
        signature = self._spec
        try:
            if isinstance(value, list) and isinstance(signature, tuple):
                raise TypeError("A list is one tensor; several are a tuple.")
            flat = nest.flatten_up_to(signature, value)
        except (TypeError, ValueError):
            kinds = nest.map_structure(lambda spec: getattr(spec, "dtype", spec), signature)
            raise _failure(
                TypeError(
                    "`generator` yielded an element that did not match the expected structure. "
                    f"The expected structure was {kinds}, but the yielded element was {value}."
                )
            ) from None
        return [_leaf(spec, each) for spec, each in zip(self._specs, flat, strict=True)]


def _leaf(spec: Any, value: Any) -> Any:
    if type(spec) is not TensorSpec:
        if not spec.is_compatible_with(value):
            raise _failure(
                TypeError(
                    f"`generator` yielded an element of {value!r} where an element of {spec} was "
                    "expected."
                )
            )
        return value
    try:
        if isinstance(value, Tensor) and value.dtype is spec.dtype:
            array = value._array
        else:
            array = _converted(spec, value)
    except (TypeError, ValueError):
        raise _failure(
            TypeError(
                "`generator` yielded an element that could not be converted to the expected type. "
                f"The expected type was {spec.dtype.name}, but the yielded element was {value}."
            )
        ) from None
    if not spec.shape.is_compatible_with(TensorShape(array.shape)):
        raise _failure(
            TypeError(
                f"`generator` yielded an element of shape {array.shape} where an element of shape "
                f"{spec.shape} was expected."
            )
        )
    return array


def _converted(spec: TensorSpec, value: Any) -> Any:
    """The array that a value converts to: by NumPy's rules, where the rank is declared."""
    try:
        if isinstance(value, Tensor):
            raise TypeError(f"The tensor has the type {value.dtype.name}.")
        return array_of(value, spec.dtype)[0]
    except (TypeError, ValueError):
        found, kind = np.asarray(value), spec.dtype.numpy
        if spec.shape.rank is None or found.dtype.kind not in "biufSU" or kind.kind not in "biuf":
            raise
        return found.astype(kind)
