"""Ragged tensors as lists, as NumPy arrays and as text."""

from __future__ import annotations

import itertools

import numpy as np

from ...core.op import op
from ...core.shape_rules import scalar
from ...core.tensor import SymbolicTensor, Tensor


def nested_list(value):
    """The rows as nested lists."""
    if isinstance(value, Tensor):
        return np.asarray(_array(value)).tolist()
    rows = nested_list(value.values)
    splits = _array(value.row_splits).tolist()
    return [rows[start:limit] for start, limit in itertools.pairwise(splits)]


def nested_array(value):
    """The rows as one array where they have equal lengths, else as an array of arrays."""
    if isinstance(value, Tensor):
        return np.asarray(_array(value))
    values, splits = nested_array(value.values), _array(value.row_splits)
    lengths = np.diff(splits)
    if not len(lengths):
        return np.zeros((0, 0, *values.shape[1:]), values.dtype)
    if (lengths == lengths[0]).all():
        return values.reshape(len(lengths), int(lengths[0]), *values.shape[1:]).copy()
    rows = np.empty(len(lengths), object)
    for i in range(len(lengths)):
        rows[i] = values[splits[i] : splits[i + 1]].copy()
    return rows


def _array(tensor):
    if isinstance(tensor, SymbolicTensor):
        raise ValueError(
            "A RaggedTensor of a graph has no value while its function is being traced: to_list() "
            "and numpy() work on eager values only."
        )
    return tensor._array


def text(value) -> str:
    """`<tf.RaggedTensor [[1, 2], []]>`, or its symbolic tensors in a graph."""
    parts = (value.flat_values, *value.nested_row_splits)
    if any(isinstance(each, SymbolicTensor) for each in parts):
        return f"tf.RaggedTensor(values={value.values}, row_splits={value.row_splits})"
    return f"<tf.RaggedTensor {rows_text(value)}>"


def rows_text(value) -> str:
    """The rows as nested brackets."""
    return _element_text(nested_array(value))


def _element_text(value):
    if not isinstance(value, np.ndarray):
        return str(value)
    if not value.size:
        return str(value.tolist())
    return np.array2string(value, separator=", ", formatter={"all": _element_text})


@op(
    "RaggedTensorToText",
    "rt_nested_splits: RAGGED_RANK*Tsplits, rt_dense_values: T -> text: string",
    shape=scalar,
    gradient=None,
)
def RaggedTensorToText(rt_nested_splits, rt_dense_values, *, summarize=3):
    """The rows as `tf.print` prints them: [[1, 2], [], [3]]."""
    rows = rt_dense_values.tolist()
    for splits in reversed(rt_nested_splits):
        bounds = splits.tolist()
        rows = [rows[a:b] for a, b in itertools.pairwise(bounds)]
    return np.array(_shown(rows, summarize).encode(errors="surrogateescape"), object)


def _shown(value, summarize):
    if isinstance(value, list):
        texts = [_shown(each, summarize) for each in value]
        if 0 <= 2 * summarize < len(texts):
            texts = [*texts[:summarize], "...", *texts[len(texts) - summarize :]]
        return "[" + ", ".join(texts) + "]"
    if isinstance(value, bytes):
        text = value.decode(errors="surrogateescape").replace("\\", "\\\\").replace("'", "\\'")
        return f"'{text}'"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:f}" if isinstance(value, float) else str(value)
