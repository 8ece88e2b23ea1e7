"""Conversion of operation attributes to and from AttrValue messages, with TensorFlow's names."""

from __future__ import annotations

import functools
import inspect
import itertools
import secrets
import sys
import weakref
from collections.abc import Iterator, Sequence
from types import FunctionType
from typing import Any

import numpy as np
from tensorboard.compat.proto import attr_value_pb2

from ..core.dtypes import DType, as_dtype, from_numpy, int32, string
from ..core.op import Op
from ..core.shapes import TensorShape, as_shape
from ..ops.random_streams import Stream
from .tensors import make_ndarray, shape_from, shape_proto, tensor_proto

AttrValue = attr_value_pb2.AttrValue
NameAttrList = attr_value_pb2.NameAttrList

# Ops that do not exist in TensorFlow: most are parts of gradients.
OURS_ALONE = frozenset(
    [
        "AddVariants",
        "CTCLossDense",
        "CTCUniqueLabels",
        "Dilation2DTangent",
        "ExtractImagePatchesGrad",
        "FractionalAvgPoolGradGrad",
        "FractionalMaxPoolGradGrad",
        "GRUGates",
        "GRUGatesGrad",
        "GRULayer",
        "GRULayerGrad",
        "GroupNorm",
        "GroupNormGrad",
        "LSTMGates",
        "LSTMGatesGrad",
        "LSTMLayer",
        "LSTMLayerGrad",
        "NonMaxSuppressionPadded",
        "RaggedFeatureCross",
        "RaggedTensorToText",
        "ResourceApplyKerasAdagrad",
        "ResourceApplyKerasCenteredRMSProp",
        "ResourceApplyKerasRMSProp",
        "ResourceApplyLion",
        "ResourceApplyNadam",
        "ResourceSparseApplyAdaMax",
        "ResourceSparseApplyKerasAdagrad",
        "SimpleRNNLayer",
        "SimpleRNNLayerGrad",
        "TensorListClear",
        "TensorListGatherLike",
        "TensorListGetLike",
        "TensorListJoinLike",
        "TensorListOnly",
        "TensorListScatterLike",
        "TensorListSplitRows",
        "TensorListStackLike",
        "TensorListUnstack",
        "TensorListZeros",
    ]
)

# Deprecated: TensorFlow accepts it only in GraphDefs of old versions.
WITHDRAWN = frozenset(["MatrixExponential"])

# TensorFlow's attributes that kernels here do not have, with the only supported value.
FIXED: dict[str, dict[str, Any]] = {
    "AssignVariableOp": {"validate_shape": False},
    "ConcatOffset": {"shape_type": int32},
    "EagerPyFunc": {"is_async": False},
    "ResourceApplyAdagradV2": {"update_slots": True},
    "ResourceApplyAdam": {"use_nesterov": False},
    "ResourceApplyFtrlV2": {"multiply_linear_by_lr": False},
    "ResourceScatterNdAdd": {"use_locking": True},
    "ResourceScatterNdMax": {"use_locking": True},
    "ResourceScatterNdMin": {"use_locking": True},
    "ResourceScatterNdSub": {"use_locking": True},
    "ResourceScatterNdUpdate": {"use_locking": True},
    "ResourceSparseApplyAdagradV2": {"update_slots": True},
    "ResourceSparseApplyFtrlV2": {"multiply_linear_by_lr": False},
    "TensorListConcatV2": {"shape_type": int32},
    "TensorListFromTensor": {"shape_type": int32},
    "TensorListGetItem": {"Tshape": int32},
    "TensorListReserve": {"shape_type": int32},
    "While": {"parallel_iterations": 10},
}
# Those of them that affect the result.
_MATTER = frozenset(["multiply_linear_by_lr", "shape_type", "update_slots", "use_nesterov"])
# Attributes of kernels here that TensorFlow's ops do not have.
LEFT_OUT = {
    # The types of their defaults are already listed in another attribute.
    "DecodeCSV": frozenset(["T"]),
    "ParseExampleV2": frozenset(["T"]),
    "ParseSequenceExampleV2": frozenset(["T"]),
    "IdentityN": frozenset(["types"]),
    "MaxPoolGradGrad": frozenset(["explicit_paddings"]),
    "VarIsInitializedOp": frozenset(["dtype"]),
}

_FLOATS = frozenset(
    [
        "acceptable_fraction",
        "alpha",
        "area_range",
        "aspect_ratio_range",
        "beta",
        "bias",
        "distortion",
        "epsilon",
        "exponential_avg_factor",
        "extrapolation_value",
        "max_load_factor",
        "pooling_ratio",
        "recall_target",
        "unigrams",
    ]
)
_SHAPES = frozenset(["shape", "value_shape"])
_BYTES = frozenset(
    ["descriptor_source", "left_pad", "pattern", "rewrite", "right_pad", "separator"]
)

# Python functions by their tokens in nodes, held by weak references.
_FUNCTIONS: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
# C functions, which are never freed.
_BUILTINS: dict[str, Any] = {}
_tokens = itertools.count()
# Part of this process's tokens, so that a graph from outside cannot refer to its functions.
_SECRET = secrets.token_hex(16)


def attr_value(value: Any) -> Any:
    """A value as a message."""
    attr = AttrValue()
    if isinstance(value, list | tuple):
        attr.list.SetInParent()
        for each in value:
            _put(attr.list, value_field(each), each, repeated=True)
    else:
        _put(attr, value_field(value), value)
    return attr


def value_field(value: Any) -> str:
    """The field of AttrValue that holds a value."""
    for kinds, field in _FIELDS:
        if isinstance(value, kinds):
            return field
    raise TypeError(f"{value!r} of type {type(value).__name__} cannot be an attribute of a node.")


_FIELDS: list[tuple[Any, str]] = [
    (bool | np.bool_, "b"),
    (int | np.integer, "i"),
    (float | np.floating, "f"),
    (str | bytes, "s"),
    (DType, "type"),
    (TensorShape, "shape"),
    (np.ndarray, "tensor"),
    (NameAttrList, "func"),
]


def _put(holder: Any, field: str, value: Any, repeated: bool = False) -> None:
    if field == "s" and isinstance(value, str):
        value = value.encode()
    elif field == "type":
        value = value.as_datatype_enum
    elif field == "shape":
        value = shape_proto(value)
    elif field == "tensor":
        value = tensor_proto(value, string if value.dtype == object else from_numpy(value.dtype))
    if repeated:
        getattr(holder, field).append(value)
    elif field in ("shape", "tensor", "func"):
        getattr(holder, field).CopyFrom(value)
    else:
        setattr(holder, field, value)


def value_of(attr: Any, name: str = "") -> Any:
    """The value of a message; None if it has none."""
    field = attr.WhichOneof("value")
    if field == "list":
        for each, values in attr.list.ListFields():
            return [_taken(each.name, value, name) for value in values]
        return []
    return None if field is None else _taken(field, getattr(attr, field), name)


def _taken(field: str, value: Any, name: str) -> Any:
    if field == "s" and name not in _BYTES:
        return value.decode(errors="surrogateescape")
    if field == "type":
        return as_dtype(value)
    if field == "shape":
        return shape_from(value)
    return make_ndarray(value) if field == "tensor" else value


def attributes_of(
    op: Op, inputs: Sequence[Any], outputs: Sequence[Any], given: dict[str, Any]
) -> dict[str, Any]:
    """The attributes of an operation by TensorFlow name."""
    found: dict[str, Any] = {}
    for argument, value in zip(op.inputs, op.grouped(inputs), strict=True):
        listed = value if argument.count else [value]
        if argument.type not in op.fixed:
            types = [each.dtype for each in listed]
            found[argument.type] = types if argument.count == "*" else types[0]
        if argument.count not in (None, "*"):
            found[argument.count] = len(listed)
    lengths = output_lengths(op, len(outputs))
    for argument, length in zip(op.outputs, lengths, strict=True):
        if argument.count not in (None, "*"):
            found[argument.count] = length
    for name, value in {**op.defaults, **given}.items():
        if not name.startswith("_") and value is not None:
            found[name] = fitting(name, value)
    if op.name == "Const" and found["dtype"].is_quantized:
        # Only NumPy's structured dtypes distinguish quantized types from other integers.
        found["value"] = found["value"].view(found["dtype"].as_numpy_dtype)
    found.update(FIXED.get(op.name, {}))
    for name in LEFT_OUT.get(op.name, ()):
        found.pop(name, None)
    if "func" in found:
        found["token"] = token_of(found.pop("func"))
    return found


def fitting(name: str, value: Any) -> Any:
    """The value of an attribute converted to the attribute's type."""
    if name in _FLOATS:
        return [float(v) for v in value] if isinstance(value, list | tuple) else float(value)
    if name in _SHAPES:
        return as_shape(value)
    if name == "output_stream" and not isinstance(value, str):
        return "stdout" if value is sys.stdout else "stderr"
    return value


def token_of(function: Any) -> str:
    """The token of a Python function in nodes."""
    for token, known in (*_FUNCTIONS.items(), *_BUILTINS.items()):
        if known is function:
            return token
    token = f"pyfunc_{next(_tokens)}_{_SECRET}"
    try:
        _FUNCTIONS[token] = function
    except TypeError:
        _BUILTINS[token] = function
    return token


def output_lengths(op: Op, count: int) -> list[int]:
    """The number of tensors of each output of an op."""
    lists = sum(1 for argument in op.outputs if argument.count)
    each = (count - len(op.outputs) + lists) // lists if lists else 1
    return [each if argument.count else 1 for argument in op.outputs]


@functools.cache
def kernel_attributes(op: Op) -> frozenset[str]:
    """The names of the attributes that a kernel takes."""
    if not isinstance(op.kernel, FunctionType):
        return frozenset()
    parameters = inspect.signature(op.kernel).parameters.values()
    return frozenset(each.name for each in parameters if each.kind is each.KEYWORD_ONLY)


def given_attributes(op: Op, node: Any) -> dict[str, Any]:
    """The attributes of a node for a Runnel op; ValueError for unsupported values."""
    _require_known_values(op, node)
    return dict(_given(op, node))


def _given(op: Op, node: Any) -> Iterator[tuple[str, Any]]:
    for name in sorted(kernel_attributes(op)):
        if name == "_stream":
            yield name, Stream(node.attr["seed"].i, node.attr["seed2"].i)
        elif name == "func":
            yield name, _function_of(node)
        elif name == "output_stream":
            yield name, _stream_of(node.attr[name].s.decode())
        elif name in node.attr and node.attr[name].WhichOneof("value") is not None:
            value = value_of(node.attr[name], name)
            yield name, tuple(value) if isinstance(value, list) and name != "Tout" else value
        elif op.name == "Placeholder" and name == "shape":
            yield name, TensorShape(None)
        elif name not in op.defaults:
            raise ValueError(f"NodeDef missing attr '{name}' from {op!r}; node '{node.name}'.")


def _stream_of(text: str) -> Any:
    if text.startswith("file://"):
        return text
    return sys.stdout if text == "stdout" else None


def _require_known_values(op: Op, node: Any) -> None:
    for name, fixed in FIXED.get(op.name, {}).items():
        if name in _MATTER and name in node.attr:
            value = value_of(node.attr[name], name)
            if value != fixed:
                raise ValueError(
                    f"The node '{node.name}' has {name}={value!r}; {op.name} works with "
                    f"{name}={fixed!r} alone here."
                )


def _function_of(node: Any) -> Any:
    token = node.attr["token"].s.decode()
    function = _FUNCTIONS.get(token) or _BUILTINS.get(token)
    if function is None:
        raise ValueError(
            f"The node '{node.name}' calls the Python function {token!r}, which does not exist in "
            "this process: Python functions are no part of a GraphDef."
        )
    return function
