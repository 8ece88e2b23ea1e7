"""Bincounts, histograms and confusion matrices; index arithmetic."""

from __future__ import annotations

import numpy as np

from ...core import dtypes
from ...core.convert import constant_value, convert_to_tensor, operands
from ...core.dtypes import as_dtype, float32, float64, int32
from ...core.errors import InvalidArgumentError
from ...core.op import execute, op
from ...core.shape_rules import UNKNOWN, dimensions_text, require_rank, unchanged
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ..array import creation, scatter
from ..array.arguments import INDEX, integers, require_type
from ..array.joining import stack
from ..array.shaping import reshape, size, squeeze
from . import arithmetic, casting, reduction, rounding

_WEIGHTS = INDEX | {float32, float64}


def _number_of_bins(number):
    if number.shape.rank not in (None, 0):
        raise ValueError(f"size: shape must be rank 0 but is rank {number.shape.rank}.")
    count = constant_value(number)
    if count is not None and count < 0:
        raise ValueError(f"size ({count}) must be non-negative")
    return None if count is None else int(count)


def _bins_shape(inputs, attrs):
    values, number, _ = inputs
    count = _number_of_bins(number)
    if values.shape.rank is None:
        return UNKNOWN
    if values.shape.rank > 2:
        raise ValueError(f"Shape must be at most rank 2 but is rank {values.shape.rank}.")
    return TensorShape([*values.shape[:-1], count])


def _bincount(values, size, weights, binary):
    """The total weight of each integer below `size` in a vector or in each row of a matrix."""
    if np.ndim(size):
        raise ValueError(f"size: shape must be rank 0 but is rank {np.ndim(size)}.")
    if size < 0:
        raise ValueError(f"size ({size}) must be non-negative")
    if weights.size and weights.shape != values.shape:
        raise ValueError(
            "`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case it "
            f"acts as all weights equal to 1. Received {list(weights.shape)} for arr of shape "
            f"{list(values.shape)}."
        )
    values = np.asarray(values)
    if values.size and values.min() < 0:
        raise ValueError("Input arr must be non-negative!")
    size = int(size)
    rows = len(values) if values.ndim == 2 else 1
    flat = values.reshape(rows, -1) if values.size else np.zeros((rows, 0), values.dtype)
    inside = flat < size
    places = (flat + np.arange(rows)[:, np.newaxis] * size)[inside]
    if binary or not weights.size:
        bins = np.bincount(places, minlength=rows * size)
        bins = (bins > 0 if binary else bins).astype(weights.dtype)
    else:
        bins = np.zeros(rows * size, weights.dtype)
        np.add.at(bins, places, weights.reshape(rows, -1)[inside])
    return bins.reshape(*values.shape[:-1], size) if values.ndim == 2 else bins


@op(
    "DenseBincount",
    "input: Tidx, size: Tidx, weights: T -> output: T",
    Tidx=INDEX,
    T=_WEIGHTS,
    shape=_bins_shape,
    gradient=None,
)
def DenseBincount(input, size, weights, *, binary_output=False):
    if np.ndim(input) > 2:
        raise ValueError(f"Shape must be at most rank 2 but is rank {input.ndim}.")
    return _bincount(input, size, weights, binary_output)


def _ragged_bins_shape(inputs, attrs):
    splits, _, number, _ = inputs
    rows = splits.shape.with_rank(1)[0]
    return TensorShape([None if rows is None else max(rows - 1, 0), _number_of_bins(number)])


@op(
    "RaggedBincount",
    "splits: int64, values: Tidx, size: Tidx, weights: T -> output: T",
    Tidx=INDEX,
    T=_WEIGHTS,
    shape=_ragged_bins_shape,
    gradient=None,
)
def RaggedBincount(splits, values, size, weights, *, binary_output=False):
    if not splits.size:
        raise ValueError("Splits must be non-empty")
    if splits[0]:
        raise ValueError(f"Splits must start with 0, not with {splits[0]}")
    if splits[-1] != values.size:
        raise ValueError(
            f"Splits must end with the number of values, got {splits[-1]} instead of {values.size}"
        )
    if values.size and values.min() < 0:
        raise ValueError("Input must be non-negative")
    rows, bins = len(splits) - 1, max(int(size), 0)
    inside = values < bins
    places = np.repeat(np.arange(rows), np.diff(splits)) * bins + values
    chosen = weights[: values.size][inside] if weights.size else weights
    found = _bincount(places[inside], rows * bins if size >= 0 else size, chosen, binary_output)
    return found.reshape(rows, bins)


@op(
    "Bincount",
    "arr: int32, size: int32, weights: T -> bins: T",
    T=_WEIGHTS,
    shape=lambda inputs, attrs: TensorShape([_number_of_bins(inputs[1])]),
    gradient=None,
)
def Bincount(arr, size, weights):
    return _bincount(np.reshape(arr, -1), size, np.reshape(weights, -1), False)


def bincount(
    arr,
    weights=None,
    minlength=None,
    maxlength=None,
    dtype=int32,
    name=None,
    axis=None,
    binary_output=False,
):
    """The number of occurrences of each integer from 0 on, or the sum of their weights.

    `axis=-1` counts per row, None or 0 over all elements. Integers from `maxlength` on are ignored.
    With `binary_output` the result is whether an integer occurs.

    >>> tf.math.bincount([1, 1, 2, 5]).numpy().tolist()
    [0, 2, 1, 0, 0, 1]
    >>> tf.math.bincount([[0, 1], [1, 1]], axis=-1).numpy().tolist()
    [[1, 1], [0, 2]]
    """
    if weights is not None and binary_output:
        raise ValueError(
            "Arguments `binary_output` and `weights` are mutually exclusive. Please specify only "
            "one."
        )
    if axis not in (None, 0, -1):
        raise ValueError(
            f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported."
        )
    values = convert_to_tensor(arr)
    if hasattr(values, "dense_shape"):
        from ..sparse.counting import as_rows

        values, weights = as_rows(values, weights)
    if not values.dtype.is_integer:
        values = casting.cast(values, int32)
    if weights is None:
        weights = convert_to_tensor([], as_dtype(dtype or int32))
    else:
        weights = convert_to_tensor(weights)
        weights = weights if axis == -1 else reshape(weights, [-1])
    number = _bins_needed(values, minlength, maxlength)
    if axis != -1:
        values = reshape(values, [-1])
    attrs = {"binary_output": bool(binary_output)}
    return execute(DenseBincount, (values, number, weights), attrs)


def _bins_needed(values, minlength, maxlength):
    dtype = values.dtype
    occupied = casting.cast(size(values) > 0, dtype)
    number = occupied * (reduction.reduce_max(values) + 1)
    if minlength is not None:
        number = arithmetic.maximum(convert_to_tensor(minlength, dtype), number)
    if maxlength is not None:
        number = arithmetic.minimum(convert_to_tensor(maxlength, dtype), number)
    return number


def confusion_matrix(labels, predictions, num_classes=None, weights=None, dtype=int32, name=None):
    """The number (or weight) of predictions of each class, per true class.

    Row: the true class; column: the predicted one.

    >>> tf.math.confusion_matrix([0, 1, 1], [0, 1, 0]).numpy().tolist()
    [[1, 0], [1, 1]]
    """
    dtype = as_dtype(dtype)
    labels, predictions = _of_one_rank(convert_to_tensor(labels), convert_to_tensor(predictions))
    labels, predictions = (casting.cast(each, dtypes.int64) for each in (labels, predictions))
    _refuse_labels(labels, predictions, None)
    if num_classes is None:
        highest = arithmetic.maximum(
            reduction.reduce_max(predictions), reduction.reduce_max(labels)
        )
        number = highest + 1
    else:
        number = casting.cast(convert_to_tensor(num_classes), dtypes.int64)
        _refuse_labels(labels, predictions, constant_value(number))
    if weights is None:
        weights = creation.ones_like(predictions, dtype)
    else:
        weights = convert_to_tensor(weights)
        if not predictions.shape.is_compatible_with(weights.shape):
            raise ValueError(f"Shapes {predictions.shape} and {weights.shape} are incompatible")
        weights = casting.cast(weights, dtype)
    pairs = stack([labels, predictions], axis=1)
    return scatter.scatter_nd(pairs, weights, stack([number, number]))


def _of_one_rank(labels, predictions):
    """Squeeze a last axis of size 1 that only one of the two has."""
    ranks = labels.shape.rank, predictions.shape.rank
    if None not in ranks:
        if ranks[1] - ranks[0] == 1 and predictions.shape[-1] in (None, 1):
            predictions = squeeze(predictions, [-1])
        elif ranks[0] - ranks[1] == 1 and labels.shape[-1] in (None, 1):
            labels = squeeze(labels, [-1])
    return labels, predictions


def _refuse_labels(labels, predictions, number):
    for tensor, name in ((labels, "labels"), (predictions, "predictions")):
        known = constant_value(tensor)
        if known is None or not known.size:
            continue
        if number is None and known.min() < 0:
            problem = "contains negative values"
        elif number is not None and known.max() >= number:
            problem = f"out of bound: num_classes is {number}, the highest is {known.max()}"
        else:
            continue
        raise InvalidArgumentError(None, None, f"`{name}` {problem}. Found: {known}")


def _histogram_shape(inputs, attrs):
    _, limits, bins = inputs
    if not limits.shape.is_compatible_with([2]):
        raise ValueError(f"value_range should be a vector of 2 elements, got {limits.shape}.")
    count = constant_value(bins)
    return TensorShape([None if count is None else int(count)])


@op(
    "HistogramFixedWidth",
    "values: T, value_range: T, nbins: int32 -> out: dtype",
    T=_WEIGHTS,
    shape=_histogram_shape,
    gradient=None,
)
def HistogramFixedWidth(values, value_range, nbins, *, dtype=int32):
    if value_range.shape != (2,):
        raise ValueError(
            f"value_range should be a vector of 2 elements, got shape {list(value_range.shape)}."
        )
    low, high = value_range
    if not low < high:
        raise ValueError(
            "value_range should satisfy value_range[0] < value_range[1], but got "
            f"'{value_range.tolist()}'"
        )
    if nbins <= 0:
        raise ValueError(f"nbins should be a positive number, but got '{nbins}'")
    values = np.reshape(values, -1)
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise ValueError("Histogram values must not contain NaN")
    step = (float(high) - float(low)) / int(nbins)
    places = np.clip((values - low).astype(np.float64) / step, 0, int(nbins) - 1)
    return np.bincount(places.astype(np.int64), minlength=int(nbins)).astype(dtype.numpy)


def histogram_fixed_width(values, value_range, nbins=100, dtype=int32, name=None):
    """The number of values in each of `nbins` bins of equal width over `value_range`.

    Values out of range count in the first or last bin.

    >>> tf.histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5).numpy()
    array([2, 1, 1, 0, 2], dtype=int32)
    """
    dtype = as_dtype(dtype or int32)
    require_type("HistogramFixedWidth", "dtype", dtype, INDEX)
    values, value_range = operands(values, value_range)
    return execute(HistogramFixedWidth, (values, value_range, integers(nbins)), {"dtype": dtype})


def histogram_fixed_width_bins(values, value_range, nbins=100, dtype=int32, name=None):
    """The bin index of each value, of `nbins` bins of equal width over `value_range`.

    >>> tf.histogram_fixed_width_bins([-1.0, 0.0, 1.5, 2.0, 5.0], [0.0, 5.0], nbins=5).numpy()
    array([0, 0, 1, 2, 4], dtype=int32)
    """
    values, limits = convert_to_tensor(values), convert_to_tensor(value_range)
    bins = convert_to_tensor(nbins)
    count = constant_value(bins)
    if count is not None and count <= 0:
        raise InvalidArgumentError(None, None, f"nbins must be positive, got {count}.")
    bins = casting.cast(bins, values.dtype)
    fraction = arithmetic.subtract(values, limits[0]) / (limits[1] - limits[0])
    place = rounding.floor(arithmetic.multiply(bins, fraction))
    highest = bins - 1
    zero = convert_to_tensor(0, values.dtype)
    place = arithmetic.maximum(arithmetic.minimum(place, highest), zero)
    return casting.cast(place, int32)


def _vector(inputs, attrs):
    require_rank(inputs[0], 1, "A permutation")
    return unchanged(inputs, attrs)


@op("InvertPermutation", "x: T -> y: T", T=INDEX, shape=_vector, gradient=None)
def InvertPermutation(x):
    if np.ndim(x) != 1:
        raise ValueError("invert_permutation expects a 1D vector.")
    count = len(x)
    outside = (x < 0) | (x >= count)
    if outside.any():
        raise ValueError(f"{x[outside][0]} is not between 0 and {count}")
    inverse = np.full(count, -1, x.dtype)
    inverse[x] = np.arange(count, dtype=x.dtype)
    if (inverse < 0).any():
        seen = np.bincount(x, minlength=count)
        raise ValueError(f"{np.argmax(seen > 1)} is duplicated in the input.")
    return inverse


def invert_permutation(x, name=None):
    """The inverse permutation: `y[x[i]] = i`.

    >>> tf.math.invert_permutation([2, 0, 1]).numpy().tolist()
    [1, 2, 0]
    """
    return execute(InvertPermutation, (x if isinstance(x, Tensor) else integers(x),))


def _unraveled_shape(inputs, attrs):
    indices, dims = inputs
    if dims.shape.rank not in (None, 1):
        raise ValueError(f"The dims can only be 1-D, got {dimensions_text(dims.shape)}.")
    if indices.shape.rank not in (None, 0, 1):
        raise ValueError(
            f"The indices can only be scalar or vector, got {dimensions_text(indices.shape)}."
        )
    if indices.shape.rank is None or dims.shape.rank is None:
        return UNKNOWN
    return TensorShape([*dims.shape, *indices.shape])


@op(
    "UnravelIndex",
    "indices: Tidx, dims: Tidx -> output: Tidx",
    Tidx=INDEX,
    shape=_unraveled_shape,
    gradient=None,
)
def UnravelIndex(indices, dims):
    if np.ndim(dims) != 1 or np.ndim(indices) > 1:
        raise ValueError("The indices can only be scalar or vector, and dims a vector.")
    if not indices.size:
        raise ValueError("received empty tensor indices")
    if (dims == 0).any():
        raise ValueError(
            "Input dims cannot contain a dim of zero, but dims contains zero at index "
            f"{np.argmax(dims == 0)}"
        )
    if not len(dims) or np.max(indices) >= np.prod(dims, dtype=np.int64):
        raise ValueError(f"index is out of bound as with dims {dims.tolist()}")
    left = np.abs(indices)
    found = np.empty((len(dims), *indices.shape), dims.dtype)
    for axis in range(len(dims) - 1, -1, -1):
        found[axis] = left % dims[axis]
        left = left // dims[axis]
    return found * np.sign(indices)


def unravel_index(indices, dims, name=None):
    """The coordinates of elements of an array of shape `dims`, from their flat indices.

    >>> tf.unravel_index([2, 5, 7], [3, 3]).numpy().tolist()
    [[0, 1, 2], [2, 2, 1]]
    """
    if isinstance(dims, Tensor) and not isinstance(indices, Tensor):
        indices = convert_to_tensor(indices, dims.dtype)
    indices = integers(indices)
    if not isinstance(dims, Tensor):
        dims = convert_to_tensor(dims, indices.dtype)
    return execute(UnravelIndex, (indices, dims))
