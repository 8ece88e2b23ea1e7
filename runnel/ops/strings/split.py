"""Splitting of strings: one row of parts for each string."""

from __future__ import annotations

from itertools import chain

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import string
from ...core.op import execute, op
from ...core.shape_rules import dimensions_text
from ...core.shapes import TensorShape
from ..array.shaping import reshape
from .elements import filled, is_ragged

_SINGLE_BYTES = [bytes([code]) for code in range(256)]


def into_rows(input, cut, name):
    """The result of `cut` for a vector of strings, in the rows of the strings.

    `cut(vector)` returns ragged tensors of two dimensions; a single string gives plain vectors.
    """
    from ..ragged.ragged_tensor import RaggedTensor

    if is_ragged(input):
        flat = into_rows(input.flat_values, cut, name)
        return [input.with_flat_values(each) for each in flat]
    rank = input.shape.rank
    if rank is None:
        raise ValueError(
            f"tf.strings.{name} needs the rank of its input while a graph is built, but it is "
            "unknown. Use tf.ensure_shape, or an input signature with a rank."
        )
    if rank == 0:
        return [each.values for each in cut(reshape(input, [1]))]
    if rank == 1:
        return cut(input)
    return into_rows(RaggedTensor.from_tensor(input, ragged_rank=rank - 1), cut, name)


def _sparse_shapes(inputs, attrs):
    strings, separator = inputs
    if strings.shape.rank not in (None, 1):
        raise ValueError(f"input must be a vector, got shape: {dimensions_text(strings.shape)}")
    if separator.shape.rank not in (None, 0):
        raise ValueError(f"sep must be a scalar, got shape: {dimensions_text(separator.shape)}")
    return [TensorShape([None, 2]), TensorShape([None]), TensorShape([2])]


def _sparse(parts):
    """Lists of strings as the indices, values and shape of a sparse matrix."""
    return _indexed(list(map(len, parts)), list(chain.from_iterable(parts)))


def _indexed(counts, values):
    lengths = np.array(counts, np.int64)
    rows = np.repeat(np.arange(len(counts)), lengths)
    columns = np.arange(len(values)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    shape = np.array([len(counts), lengths.max(initial=0)], np.int64)
    return np.stack([rows, columns], axis=1), filled(values, (len(values),)), shape


@op(
    "StringSplitV2",
    "input: string, sep: string -> indices: int64, values: string, shape: int64",
    shape=_sparse_shapes,
    gradient=None,
)
def StringSplitV2(input, sep, *, maxsplit=-1):
    if input.ndim != 1 or sep.ndim:
        raise ValueError("input must be a vector and sep a scalar")
    separator = sep[()] or None
    if maxsplit == 0:
        return _sparse([[each] for each in input])
    if maxsplit < 0:
        return _sparse([each.split(separator) for each in input])
    parts = [each.split(separator, maxsplit) for each in input]
    if separator is None:
        # After the last separator follows a part, empty or not.
        parts = [[*row, b""] if len(row) == maxsplit else row for row in parts]
    return _sparse(parts)


def split(input=None, sep=None, maxsplit=-1, name=None):
    """The parts of each string between separators (white space if None), as a ragged tensor.

    >>> tf.strings.split(["hello world", "a b c"])
    <tf.RaggedTensor [[b'hello', b'world'], [b'a', b'b', b'c']]>
    """
    from ..ragged.ragged_tensor import RaggedTensor

    separator = convert_to_tensor("" if sep is None else sep, string)
    attrs = {"maxsplit": int(maxsplit)}

    def cut(strings):
        indices, values, shape = execute(StringSplitV2, (strings, separator), attrs)
        return [
            RaggedTensor.from_value_rowids(values, indices[:, 0], nrows=shape[0], validate=False)
        ]

    strings = convert_to_tensor(input, string)
    # As in the original, a tensor of unknown rank is treated as a vector; the op checks that.
    rows = cut(strings) if strings.shape.rank is None else into_rows(strings, cut, "split")
    return rows[0]


@op(
    "StringSplit",
    "input: string, delimiter: string -> indices: int64, values: string, shape: int64",
    shape=_sparse_shapes,
    gradient=None,
)
def StringSplit(input, delimiter, *, skip_empty=True):
    if input.ndim != 1 or delimiter.ndim:
        raise ValueError("input must be a vector and delimiter a scalar")
    separators = delimiter[()]
    if not separators:
        singles = list(map(_SINGLE_BYTES.__getitem__, b"".join(input)))
        return _indexed(list(map(len, input)), singles)
    # Every byte of the delimiter is a separator.
    first = separators[:1]
    table = bytes.maketrans(separators, first * len(separators))
    parts = [each.translate(table).split(first) if each else [] for each in input]
    if skip_empty:
        parts = [[part for part in row if part] for row in parts]
    return _sparse(parts)


def bytes_split(input, name=None):
    """The single bytes of each string, as a ragged tensor.

    >>> tf.strings.bytes_split(["hello", "123"])
    <tf.RaggedTensor [[b'h', b'e', b'l', b'l', b'o'], [b'1', b'2', b'3']]>
    """
    from ..ragged.ragged_tensor import RaggedTensor

    tensor = convert_to_tensor(input)
    if tensor.dtype is not string:
        raise ValueError(
            f"tf.strings.bytes_split takes strings, got {tensor.dtype.name}: {tensor!r}"
        )
    delimiter = convert_to_tensor("", string)

    def cut(strings):
        indices, values, shape = execute(StringSplit, (strings, delimiter), {"skip_empty": False})
        return [
            RaggedTensor.from_value_rowids(values, indices[:, 0], nrows=shape[0], validate=False)
        ]

    return into_rows(tensor, cut, "bytes_split")[0]
