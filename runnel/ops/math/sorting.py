"""Sorting, top-k, and searching in sorted rows."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from ...core import dtypes
from ...core.convert import constant_value, convert_to_tensor, tensor_of
from ...core.dtypes import FLOATING, REAL, as_dtype, int32
from ...core.errors import InvalidArgumentError
from ...core.op import execute, op
from ...core.shape_rules import UNKNOWN, normalized_axis
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ..array import creation, gathering, ordering, selection
from ..array.arguments import INDEX, integers, require_type
from ..array.joining import stack
from ..array.shaping import expand_dims, rank, reshape, shape
from . import casting, comparison, division, elementwise, reduction, segment

# Below this many elements, or for shorter rows, NumPy's stable sort is as fast.
_MANY, _LONG = 2048, 64
_ALL_BUT_SIGN, _PLACE = np.int32(2**31 - 1), 2**32 - 1
_SMALL_INDEX = INDEX | {dtypes.int16}

# The ops have the names that TensorFlow prints for its results.
TopKResult = namedtuple("TopKV2", ["values", "indices"])  # type: ignore[name-match]
ApproxTopKResult = namedtuple("ApproxTopK", ["values", "indices"])  # type: ignore[name-match]


def _descending_key(array):
    """A key whose ascending order is the descending order of the array."""
    if array.dtype.kind in "iu":
        return ~array
    if array.dtype.kind == "V":
        array = array.astype(np.float32)
    return -array


def _greatest(rows, k):
    """The indices of the k largest of each row, in descending order; ties by index."""
    length = rows.shape[-1]
    if k == 0:
        return np.zeros((*rows.shape[:-1], 0), np.int64)
    key = _descending_key(rows)
    if k == 1:
        return np.argmin(np.nan_to_num(key, nan=np.inf) if _has_nan(key) else key, -1)[..., None]
    if length < 256 or 4 * k > length or _has_nan(key):
        return _order(key)[..., :k]
    return _select_greatest(key.reshape(-1, length), k).reshape(*rows.shape[:-1], k)


def _order(key):
    """Stable argsort of the rows of a key."""
    is_many = key.size >= _MANY and key.shape[-1] >= _LONG
    if not is_many or key.dtype.char not in "fi" or _has_nan(key):
        return np.argsort(key, -1, kind="stable")
    # Pack key and index into one integer: NumPy's sort is faster than its argsort.
    if key.dtype.char == "f":
        # -0 becomes 0; the bits of negative floats are flipped, so that their order is that of
        # integers.
        key = (key + np.float32(0)).view(np.int32)
        key ^= (key >> 31) & _ALL_BUT_SIGN
    pairs = np.empty(key.shape, np.int64)
    np.left_shift(key, 32, out=pairs, dtype=np.int64)
    pairs |= np.arange(key.shape[-1])
    pairs.sort(-1)
    pairs &= _PLACE
    return pairs


def _has_nan(key):
    return key.dtype.kind == "f" and bool(np.isnan(np.add.reduce(key, None)))


def _select_greatest(key, k):
    """The same by partition: all below the k-th, and the first of those equal to it."""
    bound = np.partition(key, k - 1, -1)[:, k - 1 : k]
    below = key < bound
    equal = key == bound
    wanted = k - np.count_nonzero(below, -1)[:, np.newaxis]
    chosen = np.nonzero(below | (equal & (np.cumsum(equal, -1) <= wanted)))[1].reshape(-1, k)
    order = np.argsort(_taken(key, chosen), -1, kind="stable")
    return _taken(chosen, order)


def _taken(rows, indices):
    """Gather along the last axis: the elements of each row at its indices."""
    if rows.ndim == 1:
        return rows[indices]
    length, count = rows.shape[-1], indices.shape[-1]
    begins = np.arange(0, rows.size, length or 1)[:, np.newaxis]
    return rows.reshape(-1)[begins + indices.reshape(len(begins), count)].reshape(indices.shape)


def _top_k_arrays(input, k, index_type):
    if not input.ndim:
        raise ValueError("input must be >= 1-D, got shape []")
    if k < 0:
        raise ValueError(f"Need k >= 0, got {k}")
    if k > input.shape[-1]:
        raise ValueError(f"input must have at least k columns. Had {input.shape[-1]}, needed {k}")
    indices = _greatest(input, k)
    return _taken(input, indices), indices.astype(index_type.numpy)


def _top_k_shape(inputs, attrs):
    value, k = inputs
    if k.shape.rank not in (None, 0):
        raise ValueError(f"k must be scalar, got shape {k.shape}.")
    count = constant_value(k)
    return [_last_axis(value, None if count is None else int(count))] * 2


def _last_axis(value, count):
    if value.shape.rank is None:
        return UNKNOWN
    if not value.shape.rank:
        raise ValueError("input must be >= 1-D, got shape []")
    length = value.shape[-1]
    if count is not None:
        if count < 0:
            raise ValueError(f"Need k >= 0, got {count}")
        if length is not None and count > length:
            raise ValueError(f"input must have at least k columns. Had {length}, needed {count}")
    return TensorShape([*value.shape[:-1], count])


@op(
    "TopKV2",
    "input: T, k: Tk -> values: T, indices: index_type",
    T=REAL,
    Tk=_SMALL_INDEX,
    shape=_top_k_shape,
)
def TopKV2(input, k, *, sorted=True, index_type=int32):
    if np.ndim(k):
        raise ValueError(f"k must be scalar, got shape {list(k.shape)}.")
    return _top_k_arrays(input, int(k), index_type)


@TopKV2.gradient
def _(op, grad, _):
    return _put_back(op.inputs[0], op.outputs[1], grad), None


def _put_back(value, indices, grad):
    """Scatter the gradients of selected elements along the last axis, zeros elsewhere."""
    # Flat indices: the start of the row plus the index in the row.
    length = _length(value, -1)
    number = _number_of_rows(value)
    begins = expand_dims(creation.range(number) * length, -1)
    table = reshape(casting.cast(indices, int32), stack([number, _length(indices, -1)]))
    places = reshape(begins + table, [-1])
    flat = segment.unsorted_segment_sum(reshape(grad, [-1]), places, number * length)
    return reshape(flat, shape(value))


def _number_of_rows(tensor):
    """The product of all sizes but the last."""
    sizes = tensor.shape[:-1]
    if sizes.is_fully_defined():
        return tensor_of(np.int32(sizes.num_elements()), int32)
    return reduction.reduce_prod(shape(tensor)[:-1])


def top_k(input, k=1, sorted=True, index_type=int32, name=None):
    """The k largest elements of each row and their indices; of ties the first.

    >>> values, indices = tf.math.top_k([1.0, 5.0, 3.0, 5.0], k=2)
    >>> values.numpy().tolist(), indices.numpy().tolist()
    ([5.0, 5.0], [1, 3])
    """
    index_type = as_dtype(index_type or int32)
    require_type("TopKV2", "index_type", index_type, _SMALL_INDEX)
    attrs = {"sorted": bool(sorted), "index_type": index_type}
    tensors = (convert_to_tensor(input), integers(k))
    return TopKResult(*execute(TopKV2, tensors, attrs))


def _approx_shape(inputs, attrs):
    value = inputs[0]
    if value.shape.rank is None:
        return [UNKNOWN] * 2
    axis = normalized_axis(attrs["reduction_dimension"], value.shape.rank, "reduction_dimension")
    sizes = value.shape.as_list()
    if sizes[axis] is not None and attrs["k"] > sizes[axis]:
        raise ValueError(
            f"input must have at least k columns. Had {sizes[axis]}, needed {attrs['k']}"
        )
    sizes[axis] = attrs["k"]
    return [TensorShape(sizes)] * 2


@op(
    "ApproxTopK",
    "input: T -> values: T, indices: int32",
    T=FLOATING - {dtypes.float64},
    shape=_approx_shape,
)
def ApproxTopK(
    input,
    *,
    k,
    reduction_dimension=-1,
    recall_target=0.95,
    is_max_k=True,
    reduction_input_size_override=-1,
    aggregate_to_topk=True,
):
    # Exact results satisfy any recall; only accelerators trade recall for speed.
    axis = normalized_axis(reduction_dimension, input.ndim, "reduction_dimension")
    rows = np.moveaxis(input, axis, -1)
    values, indices = _top_k_arrays(rows if is_max_k else -rows, k, int32)
    values = values if is_max_k else -values
    return np.moveaxis(values, -1, axis), np.moveaxis(indices, -1, axis)


@ApproxTopK.gradient
def _(op, grad, _):
    value, indices = op.inputs[0], op.outputs[1]
    axis = op.attrs["reduction_dimension"]
    if axis == -1:
        return _put_back(value, indices, grad)
    order = last_exchanged_with(axis, rank(value))
    turned = [ordering.transpose(each, order) for each in (value, indices, grad)]
    return ordering.transpose(_put_back(*turned), order)


def last_exchanged_with(axis, count):
    """The permutation of `count` axes that swaps one with the last; its own inverse."""
    axes = creation.range(count)
    axis = division.floormod(convert_to_tensor(axis, int32), count)
    last = count - 1
    order = selection.where(comparison.equal(axes, axis), last, axes)
    return selection.where(comparison.equal(axes, last), axis, order)


def approx_top_k(
    input,
    k,
    reduction_dimension=-1,
    recall_target=0.95,
    is_max_k=True,
    reduction_input_size_override=-1,
    aggregate_to_topk=True,
    name=None,
):
    """The k largest (or smallest) elements along an axis and their indices; here always exact.

    >>> values, indices = tf.approx_top_k([1.0, 5.0, 3.0], k=2)
    >>> values.numpy().tolist(), indices.numpy().tolist()
    ([5.0, 3.0], [1, 2])
    """
    k = _known_number(k, "k")
    if k < 0:
        raise InvalidArgumentError(
            None, None, f"Value for attr 'k' of {k} must be at least minimum 0 [Op:ApproxTopK]"
        )
    return ApproxTopKResult(
        *ApproxTopK(
            convert_to_tensor(input),
            k=k,
            reduction_dimension=int(reduction_dimension),
            recall_target=float(recall_target),
            is_max_k=bool(is_max_k),
            reduction_input_size_override=int(reduction_input_size_override),
            aggregate_to_topk=bool(aggregate_to_topk),
        )
    )


def approx_max_k(
    operand,
    k,
    reduction_dimension=-1,
    recall_target=0.95,
    reduction_input_size_override=-1,
    aggregate_to_topk=True,
    name=None,
):
    """The k largest elements along an axis and their indices; here always exact.

    >>> tf.math.approx_max_k([1.0, 5.0, 3.0], k=1)[0].numpy().tolist()
    [5.0]
    """
    return approx_top_k(
        operand,
        k,
        reduction_dimension,
        recall_target,
        True,
        reduction_input_size_override,
        aggregate_to_topk,
    )


def approx_min_k(
    operand,
    k,
    reduction_dimension=-1,
    recall_target=0.95,
    reduction_input_size_override=-1,
    aggregate_to_topk=True,
    name=None,
):
    """The k smallest elements along an axis and their indices; here always exact.

    >>> tf.math.approx_min_k([1.0, 5.0, 3.0], k=1)[0].numpy().tolist()
    [1.0]
    """
    return approx_top_k(
        operand,
        k,
        reduction_dimension,
        recall_target,
        False,
        reduction_input_size_override,
        aggregate_to_topk,
    )


_DIRECTIONS = ("ASCENDING", "DESCENDING")


def _sorted_rows(values, axis, direction):
    """TopKV2 over a whole axis, moved to the end and back: the sorted values and the indices."""
    if direction not in _DIRECTIONS:
        raise ValueError(
            "Argument `direction` should be one of ASCENDING, DESCENDING. "
            f"Received: direction={direction}"
        )
    values = convert_to_tensor(values)
    axis = _known_number(axis, "axis")
    flip = _flipped if direction == "ASCENDING" else _unchanged
    rows = flip(values)
    order = None
    if axis == -1 or axis + 1 == values.shape.rank:
        turned = rows
    else:
        order = last_exchanged_with(axis, rank(values))
        turned = ordering.transpose(rows, order)
    length = _length(values, axis)
    sorted_values, indices = execute(TopKV2, (turned, length))

    def back(tensor):
        return tensor if order is None else ordering.transpose(tensor, order)

    return back(flip(sorted_values)), back(indices)


def _known_number(value, name):
    """An argument that must be statically known, as an int."""
    if value is None:
        convert_to_tensor(value)
    known = constant_value(value) if isinstance(value, Tensor) else value
    if known is None:
        raise ValueError(f"`{name}` must be known when the graph is built, got {value}.")
    return int(known)


def _length(values, axis):
    """The size along an axis; InvalidArgumentError where the axis is out of range."""
    count = values.shape.rank
    if count is not None and not -count <= axis < count:
        raise InvalidArgumentError(
            None,
            None,
            f"There is no axis {axis} to sort along in a tensor of shape {values.shape}. "
            f"Give one in [{-count}, {count}).",
        )
    size = None if count is None else values.shape[axis]
    if size is not None:
        return tensor_of(np.int32(size), int32)
    position = rank(values) + axis if axis < 0 else convert_to_tensor(axis, int32)
    return gathering.gather(shape(values), position)


def _unchanged(values):
    return values


def _flipped(values):
    """Reverse the order of values, without overflow; an involution."""
    dtype = values.dtype
    if dtype.is_floating or dtype not in REAL:
        return elementwise.negative(values)
    if dtype.is_unsigned:
        return convert_to_tensor(dtype.max, dtype) - values
    return convert_to_tensor(-1, dtype) - values


def sort(values, axis=-1, direction="ASCENDING", name=None):
    """The values sorted along an axis.

    >>> tf.sort([3, 1, 2], direction="DESCENDING").numpy().tolist()
    [3, 2, 1]
    """
    return _sorted_rows(values, axis, direction)[0]


def argsort(values, axis=-1, direction="ASCENDING", stable=False, name=None):
    """The indices that sort the values along an axis; stable.

    >>> tf.argsort([3, 1, 2]).numpy().tolist()
    [1, 2, 0]
    """
    return _sorted_rows(values, axis, direction)[1]


@op(
    "InTopKV2",
    "predictions: float32, targets: T, k: T -> precision: bool",
    T=INDEX,
    shape=lambda inputs, attrs: _in_top_k_shape(*inputs),
    gradient=None,
)
def InTopKV2(predictions, targets, k):
    rows, classes = predictions.shape
    if np.ndim(k):
        raise ValueError(f"k must be 0-D, got shape {list(k.shape)}.")
    if targets.shape != (rows,):
        raise ValueError(
            f"First dimension of predictions {rows} must match length of targets {targets.shape}."
        )
    inside = (targets >= 0) & (targets < classes)
    if not classes:
        return np.zeros(rows, bool)
    score = predictions[np.arange(rows), np.where(inside, targets, 0)]
    better = np.count_nonzero(predictions > score[:, np.newaxis], -1)
    finite = np.isfinite(predictions).all(-1)
    return inside & finite & (better < k)


def _in_top_k_shape(predictions, targets, k):
    if predictions.shape.rank not in (None, 2):
        raise ValueError(f"predictions must be 2-dimensional, got shape {predictions.shape}.")
    if targets.shape.rank not in (None, 1):
        raise ValueError(f"targets must be 1-dimensional, got shape {targets.shape}.")
    rows = TensorShape([None]) if predictions.shape.rank is None else predictions.shape[:1]
    if not rows.is_compatible_with(targets.shape):
        raise ValueError(
            f"First dimension of predictions {rows[0]} must match length of targets "
            f"{targets.shape[0]}."
        )
    return rows.merge_with(targets.shape)


def in_top_k(targets, predictions, k, name=None):
    """Whether the prediction for the target class is among the k highest of its row.

    Ties with the k-th count as inside; a target out of range or a row with a prediction that is not
    finite gives False.

    >>> tf.math.in_top_k([1, 0], [[0.1, 0.9], [0.1, 0.9]], k=1).numpy().tolist()
    [True, False]
    """
    if not isinstance(predictions, Tensor):
        predictions = convert_to_tensor(predictions, dtypes.float32)
    targets = convert_to_tensor(targets)
    k = k if isinstance(k, Tensor) else convert_to_tensor(k, dtype_hint=targets.dtype)
    return execute(InTopKV2, (predictions, targets, k))


def _bound_shape(inputs, attrs):
    rows, values = inputs
    for each, what in ((rows, "sorted_inputs"), (values, "values")):
        if each.shape.rank not in (None, 2):
            raise ValueError(f"{what} must be a matrix, got shape {each.shape}.")
    if not rows.shape[:1].is_compatible_with(values.shape[:1]):
        raise ValueError(
            "Leading dim_size of both tensors must match: the batch dimensions of "
            f"sorted_sequence and values differ ({rows.shape[0]} and {values.shape[0]} rows)."
        )
    return values.shape


def _bound(name, side, of_nan):
    def kernel(sorted_inputs, values, *, out_type=int32):
        if len(sorted_inputs) != len(values):
            raise ValueError("Leading dim_size of both tensors must match.")
        result = np.empty(values.shape, out_type.numpy)
        for row, wanted, found in zip(sorted_inputs, values, result, strict=True):
            found[...] = np.searchsorted(row, wanted, side)
        if values.dtype.kind in "fV":
            # NumPy sorts NaN after every number; in C++ it compares as neither less nor greater.
            result[np.isnan(values)] = of_nan(sorted_inputs)
        return result

    return op(
        name,
        "sorted_inputs: T, values: T -> output: out_type",
        T=REAL,
        shape=_bound_shape,
        kernel=kernel,
        gradient=None,
    )


LowerBound = _bound("LowerBound", "left", lambda rows: 0)
UpperBound = _bound("UpperBound", "right", lambda rows: rows.shape[1])


def searchsorted(sorted_sequence, values, side="left", out_type=int32, name=None):
    """The insertion index of each value in its sorted row.

    `side`: before ("left") or after ("right") elements equal to the value. Both tensors have the
    same batch dimensions.

    >>> tf.searchsorted([1, 2, 2, 3], [2, 0, 4]).numpy().tolist()
    [1, 0, 4]
    """
    if side not in ("left", "right"):
        raise ValueError(
            f"Argument `side` must be either 'right' or 'left'. Received: `side` = '{side}'."
        )
    out_type = as_dtype(out_type or int32)
    rows, wanted = convert_to_tensor(sorted_sequence), convert_to_tensor(values)
    bound = LowerBound if side == "left" else UpperBound
    require_type(bound.name, "out_type", out_type, INDEX)
    flat = [_as_matrix(each) for each in (rows, wanted)]
    found = execute(bound, flat, {"out_type": out_type})
    return found if wanted.shape.rank == 2 else reshape(found, shape(wanted))


def _as_matrix(tensor):
    if tensor.shape.rank == 2:
        return tensor
    return reshape(tensor, stack([_number_of_rows(tensor), _length(tensor, -1)]))
