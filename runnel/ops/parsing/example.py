"""tf.io.parse_example: records of features into dictionaries of tensors."""

from __future__ import annotations

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import float32, string
from ...core.op import execute, op
from ...core.shapes import TensorShape
from ...formats import example_wire as wire
from ..sparse.sparse_tensor import SparseTensor
from . import columns
from .features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from .raw import RawKeys, assembled, key_tensor, nothing

_FEATURES = (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)

_layouts = wire.Layouts()


def _shapes(inputs, attrs):
    records = inputs[0].shape
    if records.rank is not None and records.rank > 1:
        raise ValueError(
            f"serialized must be a scalar or a vector, but its shape is {records}: "
            "shape must be at most rank 1"
        )
    rank = None if records.rank is None else records.rank + 1
    sparse, ragged = len(attrs["sparse_types"]), len(attrs["ragged_value_types"])
    return [
        *[TensorShape([None, rank])] * sparse,
        *[TensorShape([None])] * sparse,
        *[TensorShape([rank])] * sparse,
        *[records.concatenate(shape) for shape in attrs["dense_shapes"]],
        *[TensorShape([None])] * ragged,
        *[row_splits_shape(records)] * ragged,
    ]


def row_splits_shape(records):
    """The shape of the row splits of a batch of records."""
    known = records.rank == 1 and records[0] is not None
    return TensorShape([records[0] + 1 if known else None])


@op(
    "ParseExampleV2",
    "serialized: string, names: string, sparse_keys: string, dense_keys: string, "
    "ragged_keys: string, dense_defaults: *T -> sparse_indices: num_sparse*int64, "
    "sparse_values: *sparse_types, sparse_shapes: num_sparse*int64, dense_values: *Tdense, "
    "ragged_values: *ragged_value_types, ragged_row_splits: *ragged_split_types",
    shape=_shapes,
    gradient=None,
)
def ParseExampleV2(
    serialized,
    names,
    sparse_keys,
    dense_keys,
    ragged_keys,
    dense_defaults,
    *,
    Tdense,
    num_sparse,
    sparse_types,
    ragged_value_types,
    ragged_split_types,
    dense_shapes,
):
    if not (serialized.ndim or sparse_keys.size or ragged_keys.size):
        quick = _scalars(serialized.item(), dense_keys.tolist(), Tdense, dense_shapes)
        if quick is not None:
            return quick
    batch = columns.Batch(serialized, names)
    batch.locate(_layouts.features_of)
    return parsed(
        batch,
        batch.found,
        zip(sparse_keys.tolist(), sparse_types, strict=True),
        zip(dense_keys.tolist(), Tdense, dense_shapes, dense_defaults, strict=True),
        zip(ragged_keys.tolist(), ragged_value_types, ragged_split_types, strict=True),
    )


def parsed(batch, found, sparse_keys, dense_keys, ragged_keys):
    """The outputs of a parsing op for the features of its records."""
    indices, values, shapes = [], [], []
    for key, dtype in sparse_keys:
        parts = columns.payloads(batch, found, key, dtype)
        for outputs, array in zip(
            (indices, values, shapes), columns.sparse(batch, parts, dtype), strict=True
        ):
            outputs.append(array)
    dense = [_dense(batch, found, *description) for description in dense_keys]
    ragged, row_splits = [], []
    for key, dtype, split_dtype in ragged_keys:
        parts = columns.payloads(batch, found, key, dtype)
        array, splits = columns.ragged(parts, dtype, split_dtype)
        ragged.append(array)
        row_splits.append(splits)
    return [*indices, *values, *shapes, *dense, *ragged, *row_splits]


def _dense(batch, found, key, dtype, shape, default):
    dims = shape._dims
    if dims and dims[0] is None:
        if None in dims[1:]:
            raise ValueError(
                f"The shape of feature {columns.shown(key)} has unknown inner dimensions: {shape}"
            )
        parts = columns.payloads(batch, found, key, dtype)
        return columns.padded(batch, parts, key, dtype, dims[1:], default)
    parts = columns.payloads(batch, found, key, dtype)
    return columns.dense(batch, parts, key, dtype, dims, default)


def _scalars(record, keys, dtypes, shapes):
    """The fast path for one value per key, the common case in maps over records; else None."""
    values = []
    try:
        found = _layouts.features_of(record)
        for key, dtype, shape in zip(keys, dtypes, shapes, strict=True):
            place = found.get(key)
            if place is None or shape._dims:
                return None
            if dtype is string:
                text = wire.only_string(record, *place)
                if text is None:
                    return None
                values.append(np.array(text, dtype=object))
                continue
            numbers = wire.short_numbers(record, *place, columns.KINDS[dtype])
            if numbers is None or wire.count(numbers, columns.KINDS[dtype]) != 1:
                return None
            if dtype is float32:
                values.append(wire.floats(numbers)[0])
            else:
                values.append(np.int64(wire.integer(numbers)))
    except wire.MalformedRecord:
        return None  # the slow path has the error message
    return values


def parse_example(serialized, features, example_names=None, name=None):
    """The features of serialized Example records, as a dictionary of tensors.

    `features` configures each key: `tf.io.FixedLenFeature` gives a Tensor, `VarLenFeature` and
    `SparseFeature` a SparseTensor, `RaggedFeature` a RaggedTensor, `FixedLenSequenceFeature` a
    padded Tensor. A vector of records gives batches.

    >>> def record(*numbers):
    ...     values = tf.train.Feature(int64_list=tf.train.Int64List(value=numbers))
    ...     features = tf.train.Features(feature={"x": values})
    ...     return tf.train.Example(features=features).SerializeToString()
    >>> tf.io.parse_example([record(1, 2), record(3)], {"x": tf.io.RaggedFeature(tf.int64)})
    {'x': <tf.RaggedTensor [[1, 2], [3]]>}
    """
    if not features:
        raise ValueError(f"Argument `features` cannot be None or falsy. Got {features}")
    serialized = convert_to_tensor(convert_to_tensor(serialized), string)
    return _parse(serialized, features, example_names)


def parse_single_example(serialized, features, example_names=None, name=None):
    """The features of one serialized Example record, as a dictionary of tensors.

    >>> label = tf.train.Feature(int64_list=tf.train.Int64List(value=[7]))
    >>> record = tf.train.Example(features=tf.train.Features(feature={"label": label}))
    >>> parsed = tf.io.parse_single_example(
    ...     record.SerializeToString(), {"label": tf.io.FixedLenFeature([], tf.int64)})
    >>> int(parsed["label"])
    7
    """
    if not features:
        raise ValueError(
            "Invalid argument: features cannot be "
            f"{'None' if features is None else 'empty'}; it maps keys to tf.io.FixedLenFeature, ..."
        )
    return _parse(only_record(serialized), features, example_names)


def only_record(serialized):
    """The tensor of one record."""
    serialized = convert_to_tensor(serialized, string)
    if serialized.shape.rank is None:
        serialized.set_shape([])
    elif serialized.shape.rank:
        raise ValueError(f"Input serialized must be a scalar, but its shape is {serialized.shape}")
    return serialized


def _parse(serialized, features, names):
    keys = RawKeys("ParseExampleV2", features, _FEATURES)
    scalar = serialized.shape.rank == 0
    if keys.ragged and serialized.shape.rank is None:
        raise ValueError("serialized must have statically-known rank to parse ragged features.")
    attrs = {
        "Tdense": [dtype for dtype, _, _ in keys.dense.values()],
        "num_sparse": len(keys.sparse),
        "sparse_types": keys.sparse_types(),
        "ragged_value_types": [dtype for dtype, _ in keys.ragged.values()],
        "ragged_split_types": [dtype for _, dtype in keys.ragged.values()],
        "dense_shapes": [shape for _, shape, _ in keys.dense.values()],
    }
    inputs = (
        serialized,
        nothing(string) if names is None else convert_to_tensor(names, string),
        key_tensor(keys.sparse),
        key_tensor(keys.dense),
        key_tensor(keys.ragged),
        *keys.dense_defaults(),
    )
    outputs = iter(execute(ParseExampleV2, inputs, attrs))
    return assembled(keys, raw_tensors(keys, outputs, scalar))


def raw_tensors(keys, outputs, scalar):
    """The op's outputs for each key: sparse and dense tensors, and lists of ragged components."""
    raw = dict(zip(keys.sparse, sparse_tensors(outputs, len(keys.sparse)), strict=True))
    for key in keys.dense:
        raw[key] = next(outputs)
    values = [next(outputs) for _ in keys.ragged]
    for key, array in zip(keys.ragged, values, strict=True):
        row_splits = next(outputs)
        raw[key] = [array] if scalar else [array, row_splits]
    return raw


def sparse_tensors(outputs, count):
    """The next sparse tensors among an op's outputs."""
    indices, values, shapes = ([next(outputs) for _ in range(count)] for _ in range(3))
    return [SparseTensor(*parts) for parts in zip(indices, values, shapes, strict=True)]
