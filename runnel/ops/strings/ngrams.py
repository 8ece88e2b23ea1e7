"""n-grams: adjacent strings joined."""

from __future__ import annotations

import itertools

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import int64, string
from ...core.errors import InvalidArgumentError
from ...core.op import execute, op
from ...core.shape_rules import require_rank
from ...core.shapes import TensorShape
from ..array.arguments import INDEX
from ..array.creation import range as range_of
from ..array.joining import concat
from ..array.shaping import reshape, shape as shape_of
from ..math.reduction import reduce_prod
from .elements import as_bytes, filled, is_ragged


def _ngrams_shape(inputs, attrs):
    data, splits = inputs
    require_rank(data, 1, "data")
    require_rank(splits, 1, "data_splits")
    return [TensorShape([None]), splits.shape]


@op(
    "StringNGrams",
    "data: string, data_splits: Tsplits -> ngrams: string, ngrams_splits: Tsplits",
    Tsplits=INDEX,
    shape=_ngrams_shape,
    gradient=None,
)
def StringNGrams(
    data,
    data_splits,
    *,
    separator,
    ngram_widths,
    left_pad,
    right_pad,
    pad_width,
    preserve_short_sequences,
):
    words = data.tolist()
    bounds = data_splits.tolist()
    if bounds and (bounds[0] != 0 or bounds[-1] != len(words)):
        raise ValueError(
            f"The row splits must go from 0 to the number of strings ({len(words)}), got "
            f"{bounds[0]} to {bounds[-1]}"
        )
    found: list[bytes] = []
    ends = [0] * len(bounds)
    for row, (start, end) in enumerate(itertools.pairwise(bounds), 1):
        before = len(found)
        line = words[start:end]
        for width in ngram_widths:
            pad = width - 1 if pad_width < 0 else min(pad_width, width - 1)
            padded = [left_pad] * pad + line + [right_pad] * pad if pad else line
            if width == 1:
                found.extend(padded)
                continue
            if width > len(padded):
                continue
            columns = [padded[offset:] for offset in range(width)]
            found.extend(map(separator.join, zip(*columns, strict=False)))
        if preserve_short_sequences and len(found) == before and line:
            pad = max(pad_width, 0)
            found.append(separator.join([left_pad] * pad + line + [right_pad] * pad))
        ends[row] = len(found)
    return filled(found, (len(found),)), np.array(ends, data_splits.dtype)


def ngrams(
    data,
    ngram_width,
    separator=" ",
    pad_values=None,
    padding_width=None,
    preserve_short_sequences=False,
    name=None,
):
    """The n-grams of each row (the last axis): `ngram_width` strings, one width or several.

    >>> tf.strings.ngrams(["A", "B", "C", "D"], 2).numpy()
    array([b'A B', b'B C', b'C D'], dtype=object)
    """
    left, right = _pads(pad_values)
    widths = [int(w) for w in ngram_width] if isinstance(ngram_width, list | tuple) else None
    if widths is None:
        if ngram_width < 1:
            raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
        widths = [int(ngram_width)]
    if min(widths) < 1:
        raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
    if max(widths) >= 1 << 31:
        raise InvalidArgumentError(
            None, None, f"Attr ngram_widths has value {max(widths)} out of range for an int32"
        )
    if padding_width is not None and padding_width < 1:
        raise ValueError("padding_width must be greater than 0.")
    if padding_width is not None and pad_values is None:
        raise ValueError("pad_values must be provided if padding_width is set.")
    data = convert_to_tensor(data, string)
    attrs = {
        "separator": as_bytes(separator, "separator"),
        "ngram_widths": widths,
        "left_pad": left,
        "right_pad": right,
        "pad_width": padding_width or (0 if pad_values is None else -1),
        "preserve_short_sequences": bool(preserve_short_sequences),
    }
    return _ragged_ngrams(data, attrs) if is_ragged(data) else _dense_ngrams(data, attrs)


def _pads(values):
    if values is None:
        return b"", b""
    if isinstance(values, str | bytes):
        return as_bytes(values, "pad_values"), as_bytes(values, "pad_values")
    pair = isinstance(values, list | tuple)
    if not pair or not all(isinstance(each, str | bytes) for each in values):
        raise TypeError(
            f"pad_values must be a string, tuple of strings, or None. Received {values!r}."
        )
    return as_bytes(values[0], "pad_values"), as_bytes(values[1], "pad_values")


def _ragged_ngrams(data, attrs):
    if is_ragged(data.values):
        return data.with_values(_ragged_ngrams(data.values, attrs))
    if data.values.shape.rank != 1:
        return data.with_values(_dense_ngrams(data.values, attrs))
    found, splits = execute(StringNGrams, (data.values, data.row_splits), attrs)
    return type(data).from_row_splits(found, splits, validate=False)


def _dense_ngrams(data, attrs):
    if data.shape.rank == 0:
        raise ValueError("Data must have rank>0, got a single string.")
    sizes = shape_of(data, out_type=int64)
    rows = reduce_prod(sizes[:-1])
    splits = range_of(rows + 1) * sizes[-1]
    found, _ = execute(StringNGrams, (reshape(data, [-1]), splits), attrs)
    result = reshape(found, concat([sizes[:-1], convert_to_tensor([-1], int64)], 0))
    if data.shape.rank is not None:
        result.set_shape([*data.shape[:-1], None])
    return result
