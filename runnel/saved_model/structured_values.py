"""Conversion of Python structures with tensor specs to and from StructuredValue messages."""

from __future__ import annotations

import collections
import functools
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core import nest
from ..core.dtypes import DType, as_dtype
from ..core.indexed_slices import IndexedSlicesSpec
from ..core.shapes import TensorShape
from ..core.tensor import SymbolicTensor, Tensor
from ..core.type_spec import REGISTERED_SPECS, TensorSpec, TypeSpec
from ..formats.saved_model_messages import StructuredValue, TypeSpecProto
from .limits import require_small
from .tensors import make_ndarray, shape_from, shape_proto, tensor_proto

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class NotEncodable(TypeError):
    """A value that cannot be encoded in a SavedModel."""


class NotRegistered(NotEncodable):
    """A spec of a class that files have no name for, which only the program can give it."""


def _kinds() -> dict[int, Any]:
    """The spec classes by number; imported on first use."""
    from ..ops.ragged.ragged_tensor import RaggedTensorSpec
    from ..ops.sparse.sparse_tensor import SparseTensorSpec

    return {
        TypeSpecProto.SPARSE_TENSOR_SPEC: SparseTensorSpec,
        TypeSpecProto.INDEXED_SLICES_SPEC: IndexedSlicesSpec,
        TypeSpecProto.RAGGED_TENSOR_SPEC: RaggedTensorSpec,
    }


def encode(value: Any) -> Any:
    """The message of a value; NotEncodable if there is none."""
    message = StructuredValue()
    _put(message, value)
    return message


def _put(message: Any, value: Any) -> None:
    if value is None:
        message.none_value.SetInParent()
    elif isinstance(value, bool | np.bool_):
        message.bool_value = bool(value)
    elif isinstance(value, int | np.integer):
        message.int64_value = int(value)
    elif isinstance(value, float | np.floating):
        message.float64_value = float(value)
    elif isinstance(value, str):
        message.string_value = value
    elif isinstance(value, TensorShape):
        message.tensor_shape_value.CopyFrom(shape_proto(value))
    elif isinstance(value, DType):
        message.tensor_dtype_value = value.as_datatype_enum
    elif type(value) is TensorSpec:
        _put_spec(message.tensor_spec_value, value)
    elif isinstance(value, TypeSpec):
        _put_type_spec(message.type_spec_value, value)
    elif isinstance(value, Tensor) and not isinstance(value, SymbolicTensor):
        message.tensor_value.CopyFrom(tensor_proto(np.asarray(value._array), value.dtype))
    else:
        _put_container(message, value)


def _put_spec(message: Any, spec: TensorSpec) -> None:
    message.name = spec.name or ""
    message.shape.CopyFrom(shape_proto(spec.shape))
    message.dtype = spec.dtype.as_datatype_enum


def _put_type_spec(message: Any, spec: TypeSpec) -> None:
    for number, kind in _kinds().items():
        if type(spec) is kind:
            message.type_spec_class = number
            message.type_spec_class_name = type(spec).__name__
            message.num_flat_components = len(spec.flatten())
            _put(message.type_state, spec._serialize())
            return
    if hasattr(spec, "_registered_name"):
        _put_extension(message, spec)
        return
    raise NotEncodable(f"SavedModels have no message for the type {spec!r}.")


def _put_extension(message: Any, spec: Any) -> None:
    """The message of an extension type's spec, which files know by the `__name__` of its class."""
    name = spec._registered_name
    if name is None:
        kind = spec.value_type.__qualname__
        raise NotRegistered(
            f"No TypeSpec has been registered with name {kind}.Spec, so files cannot hold "
            f"{spec!r}. Give the class a name that says whose it is, in its body: "
            f'__name__ = "my_project.{spec.value_type.__name__}".'
        )
    message.type_spec_class = TypeSpecProto.EXTENSION_TYPE_SPEC
    message.type_spec_class_name = name
    message.num_flat_components = len(spec.flatten())
    _put(message.type_state, spec._serialize())


def _put_container(message: Any, value: Any) -> None:
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        message.named_tuple_value.name = type(value).__name__
        for name, each in zip(value._fields, value, strict=True):
            pair = message.named_tuple_value.values.add(key=name)
            _put(pair.value, each)
    elif isinstance(value, tuple):
        message.tuple_value.SetInParent()
        for each in value:
            _put(message.tuple_value.values.add(), each)
    elif isinstance(value, list):
        message.list_value.SetInParent()
        for each in value:
            _put(message.list_value.values.add(), each)
    elif isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        message.dict_value.SetInParent()
        for name, each in value.items():
            _put(message.dict_value.fields[name], each)
    else:
        raise NotEncodable(f"SavedModels have no message for {value!r} of type {type(value)}.")


def decode(message: Any) -> Any:
    """The value of a message."""
    kind = message.WhichOneof("kind")
    return None if kind in (None, "none_value") else _DECODERS[kind](getattr(message, kind))


def _spec(message: Any) -> TensorSpec:
    return TensorSpec(shape_from(message.shape), as_dtype(message.dtype), message.name or None)


def _type_spec(message: Any) -> Any:
    kind = _kinds().get(message.type_spec_class)
    state = decode(message.type_state)
    if message.type_spec_class == TypeSpecProto.EXTENSION_TYPE_SPEC:
        kind = REGISTERED_SPECS.get(message.type_spec_class_name)
    if kind is None:
        return UnknownSpec(message.type_spec_class_name, state)
    return kind._deserialize(state)


class UnknownSpec:
    """The spec of an unsupported type; equal to nothing."""

    def __init__(self, name: str, state: Any) -> None:
        self._shown = f"{name}{state!r}"

    def __repr__(self) -> str:
        return self._shown


def is_callable(signature: Any) -> bool:
    """Whether all arguments of a signature have supported types."""
    return not any(isinstance(leaf, UnknownSpec) for leaf in nest.flatten(signature))


def _named_tuple(message: Any) -> Any:
    names = tuple(pair.key for pair in message.values)
    if not all(_IDENTIFIER.fullmatch(each) for each in (message.name, *names)):
        # Python normalizes full-width letters to these in the source generated for such classes.
        raise ValueError(f"{message.name!r} with the fields {names} is no named tuple.")
    return _tuple_class(message.name, names)(*(decode(pair.value) for pair in message.values))


@functools.cache
def _tuple_class(name: str, fields: tuple[str, ...]) -> Any:
    return collections.namedtuple(name, fields)


_DECODERS: dict[str, Any] = {
    "float64_value": float,
    "int64_value": int,
    "string_value": str,
    "bool_value": bool,
    "tensor_shape_value": shape_from,
    "tensor_dtype_value": as_dtype,
    "tensor_spec_value": _spec,
    "type_spec_value": _type_spec,
    "bounded_tensor_spec_value": _spec,
    "list_value": lambda message: [decode(each) for each in message.values],
    "tuple_value": lambda message: tuple(decode(each) for each in message.values),
    "dict_value": lambda message: {k: decode(message.fields[k]) for k in sorted(message.fields)},
    "named_tuple_value": _named_tuple,
    "tensor_value": lambda message: Tensor(
        make_ndarray(require_small(message)), as_dtype(message.dtype)
    ),
    "numpy_value": lambda message: make_ndarray(require_small(message)),
}
