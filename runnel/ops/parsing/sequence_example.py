"""tf.io.parse_sequence_example: records of a context and of lists of features."""

from __future__ import annotations

import itertools
import math

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import bool as bool_dtype, string
from ...core.op import execute, op, type_text
from ...core.shapes import TensorShape
from ...formats import example_wire as wire
from ..array.arguments import require_type
from . import columns
from .example import only_record, parsed, raw_tensors, row_splits_shape, sparse_tensors
from .features import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, VarLenFeature
from .raw import TYPES, RawKeys, assembled, key_tensor, nothing

_OP = "ParseSequenceExampleV2"


def _shapes(inputs, attrs):
    records = inputs[0].shape
    if records.rank is not None and records.rank > 1:
        raise ValueError(f"serialized must be a scalar or a vector, but its shape is {records}")
    rank = records.rank
    vector = TensorShape([None])
    splits = row_splits_shape(records)

    def sparse(count, more):
        width = None if rank is None else rank + more
        return [
            *[TensorShape([None, width])] * count,
            *[vector] * count,
            *[TensorShape([width])] * count,
        ]

    context_ragged = len(attrs["context_ragged_value_types"])
    listed_ragged = len(attrs["feature_list_ragged_value_types"])
    return [
        *sparse(len(attrs["context_sparse_types"]), 1),
        *[records.concatenate(shape) for shape in attrs["context_dense_shapes"]],
        *[vector] * context_ragged,
        *[splits] * context_ragged,
        *sparse(len(attrs["feature_list_sparse_types"]), 2),
        *[
            records.concatenate([None]).concatenate(shape)
            for shape in attrs["feature_list_dense_shapes"]
        ],
        *[records] * len(attrs["feature_list_dense_shapes"]),
        *[vector] * listed_ragged,
        *[splits] * listed_ragged,
        *[vector] * listed_ragged,
    ]


@op(
    _OP,
    "serialized: string, debug_name: string, context_sparse_keys: string, "
    "context_dense_keys: string, context_ragged_keys: string, feature_list_sparse_keys: string, "
    "feature_list_dense_keys: string, feature_list_ragged_keys: string, "
    "feature_list_dense_missing_assumed_empty: bool, context_dense_defaults: *T -> "
    "context_sparse_indices: Ncontext_sparse*int64, context_sparse_values: *context_sparse_types, "
    "context_sparse_shapes: Ncontext_sparse*int64, context_dense_values: *Tcontext_dense, "
    "context_ragged_values: *context_ragged_value_types, "
    "context_ragged_row_splits: *context_ragged_split_types, "
    "feature_list_sparse_indices: Nfeature_list_sparse*int64, "
    "feature_list_sparse_values: *feature_list_sparse_types, "
    "feature_list_sparse_shapes: Nfeature_list_sparse*int64, "
    "feature_list_dense_values: *feature_list_dense_types, "
    "feature_list_dense_lengths: Nfeature_list_dense*int64, "
    "feature_list_ragged_values: *feature_list_ragged_value_types, "
    "feature_list_ragged_outer_splits: *feature_list_ragged_split_types, "
    "feature_list_ragged_inner_splits: *feature_list_ragged_split_types",
    shape=_shapes,
    gradient=None,
)
def ParseSequenceExampleV2(
    serialized,
    debug_name,
    context_sparse_keys,
    context_dense_keys,
    context_ragged_keys,
    feature_list_sparse_keys,
    feature_list_dense_keys,
    feature_list_ragged_keys,
    feature_list_dense_missing_assumed_empty,
    context_dense_defaults,
    *,
    Ncontext_sparse=0,
    Tcontext_dense=(),
    context_sparse_types=(),
    context_ragged_value_types=(),
    context_ragged_split_types=(),
    context_dense_shapes=(),
    Nfeature_list_sparse=0,
    Nfeature_list_dense=0,
    feature_list_sparse_types=(),
    feature_list_dense_types=(),
    feature_list_ragged_value_types=(),
    feature_list_ragged_split_types=(),
    feature_list_dense_shapes=(),
):
    batch = columns.Batch(serialized, debug_name)
    batch.locate(wire.sequences_of)
    context = parsed(
        batch,
        [found[0] for found in batch.found],
        zip(context_sparse_keys.tolist(), context_sparse_types, strict=True),
        zip(
            context_dense_keys.tolist(),
            Tcontext_dense,
            context_dense_shapes,
            context_dense_defaults,
            strict=True,
        ),
        zip(
            context_ragged_keys.tolist(),
            context_ragged_value_types,
            context_ragged_split_types,
            strict=True,
        ),
    )
    sparse = [
        _sparse(batch, *_steps(batch, key, dtype)[::2], dtype)
        for key, dtype in zip(
            feature_list_sparse_keys.tolist(), feature_list_sparse_types, strict=True
        )
    ]
    dense = [
        _dense(batch, *description)
        for description in zip(
            feature_list_dense_keys.tolist(),
            feature_list_dense_types,
            feature_list_dense_shapes,
            feature_list_dense_missing_assumed_empty.tolist(),
            strict=True,
        )
    ]
    ragged = [
        _ragged(*_steps(batch, key, dtype)[::2], dtype, split_dtype)
        for key, dtype, split_dtype in zip(
            feature_list_ragged_keys.tolist(),
            feature_list_ragged_value_types,
            feature_list_ragged_split_types,
            strict=True,
        )
    ]
    outputs = [*zip(*sparse, strict=True), *zip(*dense, strict=True), *zip(*ragged, strict=True)]
    return [*context, *itertools.chain(*outputs)]


def _steps(batch, key, dtype):
    """A feature list's values: steps of all records; records without it; lengths of each."""
    parts, missing, counts = [], [], []
    for index, (_, lists) in enumerate(batch.found):
        place = lists.get(key)
        if place is None:
            missing.append(index)
            counts.append(0)
            continue
        try:
            steps = wire.fields(batch.records[index], *place, 0x0A)
        except wire.MalformedRecord as failure:
            raise ValueError(
                f"{batch.at(index, key)}Could not parse the feature list: {failure}"
            ) from None
        parts += [columns.payload(batch, index, key, step, dtype) for step in steps]
        counts.append(len(steps))
    return parts, missing, counts


def _sparse(batch, parts, steps, dtype):
    counts = [columns.size(part, dtype) for part in parts]
    step, place = columns.positions(counts)
    row, within = columns.positions(steps)
    indices = np.stack([row[step], within[step], place], 1).astype(np.int64, copy=False)
    shape = [len(steps), max(steps, default=0), max(counts, default=0)]
    first = int(batch.scalar)
    return indices[:, first:], columns.joined(parts, dtype), np.array(shape[first:], np.int64)


def _dense(batch, key, dtype, shape, may_be_missing):
    dims = shape._dims
    parts, missing, steps = _steps(batch, key, dtype)
    if missing and not may_be_missing:
        raise ValueError(
            f"{batch.at(missing[0])}Feature list '{columns.shown(key)}' is required but could not "
            "be found.  Did you mean to include it in "
            "feature_list_dense_missing_assumed_empty (allow_missing=True of "
            "tf.io.FixedLenSequenceFeature)?"
        )
    elements = math.prod(dims)
    owners = np.repeat(np.arange(len(steps)), steps)
    for number, part in enumerate(parts):
        if part is None or columns.size(part, dtype) != elements:
            index = int(owners[number])
            raise ValueError(
                f"{batch.at(index, key)}Feature list '{columns.shown(key)}' has an unexpected "
                f"number of {type_text(dtype)} values in step {number - sum(steps[:index])}: "
                f"{columns.size(part, dtype)} where shape {list(dims)} needs {elements}"
            )
    values = columns.joined(parts, dtype)
    if batch.scalar:
        return values.reshape(steps[0], *dims), np.int64(steps[0])
    nothing = b"" if dtype is string else 0
    longest = max(steps, default=0)
    rows = np.empty((len(steps), longest, *dims), dtype.numpy)
    rows[...] = nothing
    rows[np.arange(longest) < np.array(steps)[:, np.newaxis]] = values.reshape(-1, *dims)
    return rows, np.array(steps, np.int64)


def _ragged(parts, steps, dtype, split_dtype):
    values, inner = columns.ragged(parts, dtype, split_dtype)
    return values, columns.splits(steps, split_dtype), inner


def parse_sequence_example(
    serialized, context_features=None, sequence_features=None, example_names=None, name=None
):
    """The context, the feature lists and their lengths, from serialized SequenceExample records.

    `context_features` are configured as for `tf.io.parse_example`; `sequence_features` with
    `tf.io.FixedLenSequenceFeature` (padded to the longest list), `VarLenFeature` or
    `RaggedFeature`. The lengths are those of the dense lists.

    >>> steps = [tf.train.Feature(int64_list=tf.train.Int64List(value=[n])) for n in (4, 5)]
    >>> lists = tf.train.FeatureLists(feature_list={"x": tf.train.FeatureList(feature=steps)})
    >>> record = tf.train.SequenceExample(feature_lists=lists).SerializeToString()
    >>> description = {"x": tf.io.FixedLenSequenceFeature([], tf.int64)}
    >>> _, sequences, lengths = tf.io.parse_sequence_example([record], None, description)
    >>> sequences["x"].numpy().tolist(), lengths["x"].numpy().tolist()
    ([[4, 5]], [2])
    """
    _require_features(context_features, sequence_features)
    serialized = convert_to_tensor(serialized, string)
    return _parse(serialized, context_features, sequence_features, example_names)


def parse_single_sequence_example(
    serialized, context_features=None, sequence_features=None, example_name=None, name=None
):
    """The context and the feature lists of one serialized SequenceExample record."""
    _require_features(context_features, sequence_features)
    serialized = only_record(serialized)
    return _parse(serialized, context_features, sequence_features, example_name)[:2]


def _require_features(context_features, sequence_features):
    if not (context_features or sequence_features):
        raise ValueError(
            "Both `context_features` and `sequence_features` argument are None, but at least one "
            "should have values."
        )


def _parse(serialized, context_features, sequence_features, names):
    context = RawKeys(_OP, context_features, (VarLenFeature, FixedLenFeature, RaggedFeature))
    lists = RawKeys(
        _OP,
        sequence_features,
        (VarLenFeature, FixedLenSequenceFeature, RaggedFeature),
        in_lists=True,
    )
    if serialized.shape.rank is None and (context.ragged or lists.ragged):
        raise ValueError("serialized must have statically-known rank to parse ragged features.")
    for dtype, _, _ in lists.dense.values():
        require_type(_OP, "feature_list_dense_types", dtype, TYPES)
    optional = np.array([allowed for _, _, allowed in lists.dense.values()], bool)
    attrs = {
        "Ncontext_sparse": len(context.sparse),
        "Tcontext_dense": [dtype for dtype, _, _ in context.dense.values()],
        "context_sparse_types": context.sparse_types(),
        "context_ragged_value_types": [dtype for dtype, _ in context.ragged.values()],
        "context_ragged_split_types": [dtype for _, dtype in context.ragged.values()],
        "context_dense_shapes": [shape for _, shape, _ in context.dense.values()],
        "Nfeature_list_sparse": len(lists.sparse),
        "Nfeature_list_dense": len(lists.dense),
        "feature_list_sparse_types": lists.sparse_types(),
        "feature_list_dense_types": [dtype for dtype, _, _ in lists.dense.values()],
        "feature_list_ragged_value_types": [dtype for dtype, _ in lists.ragged.values()],
        "feature_list_ragged_split_types": [dtype for _, dtype in lists.ragged.values()],
        "feature_list_dense_shapes": [shape for _, shape, _ in lists.dense.values()],
    }
    inputs = (
        serialized,
        nothing(string) if names is None else convert_to_tensor(names, string),
        *[key_tensor(keys) for keys in (context.sparse, context.dense, context.ragged)],
        *[key_tensor(keys) for keys in (lists.sparse, lists.dense, lists.ragged)],
        convert_to_tensor(optional, bool_dtype),
        *context.dense_defaults(),
    )
    outputs = iter(execute(ParseSequenceExampleV2, inputs, attrs))
    scalar = serialized.shape.rank == 0
    parsed_context = assembled(context, raw_tensors(context, outputs, scalar))
    raw = dict(zip(lists.sparse, sparse_tensors(outputs, len(lists.sparse)), strict=True))
    for key in lists.dense:
        raw[key] = next(outputs)
    lengths = {key: next(outputs) for key in lists.dense}
    values, outer, inner = ([next(outputs) for _ in lists.ragged] for _ in range(3))
    for key, array, over, under in zip(lists.ragged, values, outer, inner, strict=True):
        raw[key] = [array, under] if scalar else [array, over, under]
    return parsed_context, assembled(lists, raw), lengths
