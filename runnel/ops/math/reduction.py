"""Sums, products, means, maxima and minima over axes, and argmax and argmin."""

from __future__ import annotations

import numpy as np

from ...core import dtypes
from ...core.context import state
from ...core.convert import constant_value, convert_to_tensor, tensor_of
from ...core.dtypes import INTEGER, NUMERIC, REAL, as_dtype, int32, int64
from ...core.op import REGISTRY, execute, op
from ...core.shape_rules import SCALAR, UNKNOWN, normalized_axis
from ...core.shapes import TensorShape
from ...core.tensor import SymbolicTensor, Tensor
from ...runtime.half_precision import is_half, rounded_to_half
from ..array.arguments import INDEX, integers, require_type
from ..array.shaping import broadcast_to, rank, reshape, shape
from .reduction_kernels import (
    checked_axes,
    highest,
    lowest,
    numbers_of,
    reduce,
    truncated_quotient,
)


def reduced_shape(inputs, attrs):
    """The shape left after the axes in the second input are reduced."""
    value, axes = inputs
    count = value.shape.rank
    if (axes.shape.rank or 0) > 1:
        raise ValueError(
            f"Shape must be at most rank 1 but is rank {axes.shape.rank}: the axes to reduce are "
            f"one number or a list of numbers, got the shape {axes.shape}."
        )
    wanted = constant_value(axes)
    if count is None and not attrs["keep_dims"] and _are_all_axes(axes, value):
        return TensorShape([])
    if count is None or wanted is None:
        kept = count if attrs["keep_dims"] else None
        return UNKNOWN if kept is None else TensorShape([None] * kept)
    # Duplicate axes are left for the kernel to reject.
    reduced = {normalized_axis(axis, count, "reduction axis") for axis in numbers_of(wanted)}
    sizes = value.shape.as_list()
    if attrs["keep_dims"]:
        return TensorShape([1 if axis in reduced else size for axis, size in enumerate(sizes)])
    return TensorShape([size for axis, size in enumerate(sizes) if axis not in reduced])


def _are_all_axes(axes, value):
    """Whether axes are range(rank(value)) for an unknown rank."""
    if not isinstance(axes, SymbolicTensor) or axes.op.type != "Range":
        return False
    limit = axes.op.inputs[1]
    counted = isinstance(limit, SymbolicTensor) and limit.op.type == "Rank"
    return counted and limit.op.inputs[0] is value


# Up to this many elements, filling an array is faster than a broadcast view.
_FEW = 4096
_SIGNATURE = "input: T, reduction_indices: Tidx -> output: T"


@op("Sum", _SIGNATURE, T=NUMERIC, Tidx=INDEX, shape=reduced_shape)
def Sum(input, reduction_indices, *, keep_dims=False):
    if not reduction_indices.size:
        # No axes to reduce: it is the gradient of a broadcast to the same shape.
        return input
    if input.itemsize == 2 and is_half(input):
        total = reduce(np.add, input.astype(np.float32), reduction_indices, keep_dims)
        return rounded_to_half(total, input.dtype)
    return reduce(np.add, input, reduction_indices, keep_dims, input.dtype)


@Sum.gradient
def _(op, grad):
    filled = _filled(op, grad, 1)
    return _spread(op, grad) if filled is None else filled, None


@op("Mean", _SIGNATURE, T=NUMERIC, Tidx=INDEX, shape=reduced_shape)
def Mean(input, reduction_indices, *, keep_dims=False):
    kind = input.dtype.kind
    if kind in "iu":
        wide = np.int64 if kind == "i" else np.uint64
        total = reduce(np.add, input, reduction_indices, keep_dims, wide)
        # The integer mean of no elements is 0: 0 / 1.
        count = max(_count(input, total), 1)
        return truncated_quotient(total, total.dtype.type(count)).astype(input.dtype)
    if is_half(input):
        total = reduce(np.add, input.astype(np.float32), reduction_indices, keep_dims)
        return rounded_to_half(total / _count(input, total), input.dtype)
    total = reduce(np.add, input, reduction_indices, keep_dims)
    count = _count(input, total)
    # The complex mean of no elements is 0, as for integers; of no floats it is NaN.
    return total / (count or 1 if kind == "c" else count)


def _count(array, reduced):
    """The number of elements reduced to one."""
    return array.size // reduced.size if reduced.size else 1


@Mean.gradient
def _(op, grad):
    value, _ = op.inputs
    result = op.outputs[0]
    filled = _filled(op, grad, value._array.size) if type(value) is Tensor else None
    if filled is not None:
        return filled, None
    sizes, reduced = value.shape.num_elements(), result.shape.num_elements()
    if sizes is None or reduced is None:
        count = execute(REGISTRY["FloorDiv"], (_size(value), _at_least_one(_size(result))))
        divisor = execute(REGISTRY["Cast"], (count,), {"DstT": grad.dtype})
    else:
        divisor = convert_to_tensor(sizes // (reduced or 1), grad.dtype)
    return _spread(op, grad / divisor), None


def _size(value):
    return execute(REGISTRY["Size"], (value,))


def _at_least_one(count):
    return execute(REGISTRY["Maximum"], (count, axes_tensor(1)))


@op("Prod", _SIGNATURE, T=NUMERIC, Tidx=INDEX, shape=reduced_shape)
def Prod(input, reduction_indices, *, keep_dims=False):
    if is_half(input):
        product = reduce(np.multiply, input.astype(np.float32), reduction_indices, keep_dims)
        return product.astype(input.dtype)
    return reduce(np.multiply, input, reduction_indices, keep_dims, input.dtype)


@Prod.gradient
def _(op, grad):
    # Each element's factor is the product of those before it and those after it: without a
    # division, so that zeros need no special case.
    value = op.inputs[0]
    order, inverse = _reduced_axes_first(op)
    transpose, cumprod = REGISTRY["Transpose"], REGISTRY["Cumprod"]
    turned = execute(transpose, (value, order))
    kept = _size(op.outputs[0])
    count = _size(value) // _at_least_one(kept)
    table = reshape(turned, execute(REGISTRY["Pack"], (count, kept), {"axis": 0}))
    axis = axes_tensor(0)
    left = execute(cumprod, (table, axis), {"exclusive": True})
    right = execute(cumprod, (table, axis), {"exclusive": True, "reverse": True})
    factors = left * right
    if factors.dtype.is_complex:
        factors = execute(REGISTRY["Conj"], (factors,))
    factors = execute(transpose, (reshape(factors, shape(turned)), inverse))
    return with_reduced_axes(op, grad) * factors, None


def _reduced_axes_first(op):
    """The permutation that moves the reduced axes to the front, and its inverse."""
    value, axes = op.inputs
    wanted = constant_value(axes)
    if wanted is not None and value.shape.rank is not None:
        reduced = checked_axes(numbers_of(wanted), value.shape.rank)
        others = [axis for axis in range(value.shape.rank) if axis not in reduced]
        order = np.array([*reduced, *others], np.int32)
        return tensor_of(order, int32), tensor_of(np.argsort(order).astype(np.int32), int32)
    marks = _marks_of_reduced_axes(value, axes)
    _, order = REGISTRY["TopKV2"](marks, rank(value))
    return order, execute(REGISTRY["InvertPermutation"], (order,))


@op("Max", _SIGNATURE, T=REAL, Tidx=INDEX, shape=reduced_shape)
def Max(input, reduction_indices, *, keep_dims=False):
    if not input.size:
        neutral = lowest(input.dtype)
        return _reduce_nothing(np.maximum, input, reduction_indices, keep_dims, neutral)
    return reduce(np.maximum, input, reduction_indices, keep_dims)


@op("Min", _SIGNATURE, T=REAL, Tidx=INDEX, shape=reduced_shape)
def Min(input, reduction_indices, *, keep_dims=False):
    if not input.size:
        neutral = highest(input.dtype)
        return _reduce_nothing(np.minimum, input, reduction_indices, keep_dims, neutral)
    return reduce(np.minimum, input, reduction_indices, keep_dims)


def _reduce_nothing(ufunc, array, indices, keep_dims, neutral):
    axes = checked_axes(numbers_of(indices), array.ndim)
    return ufunc.reduce(array, axes, None, None, keep_dims, array.dtype.type(neutral))


@Max.gradient
@Min.gradient
def _(op, grad):
    value, axes = op.inputs
    extreme = with_reduced_axes(op, op.outputs[0])
    chosen = execute(
        REGISTRY["Cast"], (execute(REGISTRY["Equal"], (value, extreme)),), {"DstT": grad.dtype}
    )
    # Ties divide the gradient equally; 1 / count is of the smaller, reduced size.
    count = execute(Sum, (chosen, axes), {"keep_dims": True})
    return chosen * (1 / count * with_reduced_axes(op, grad)), None


_LOGICAL = "input: bool, reduction_indices: Tidx -> output: bool"


@op("Any", _LOGICAL, Tidx=INDEX, shape=reduced_shape, gradient=None)
def Any(input, reduction_indices, *, keep_dims=False):
    return reduce(np.logical_or, input, reduction_indices, keep_dims)


@op("All", _LOGICAL, Tidx=INDEX, shape=reduced_shape, gradient=None)
def All(input, reduction_indices, *, keep_dims=False):
    return reduce(np.logical_and, input, reduction_indices, keep_dims)


@op("EuclideanNorm", _SIGNATURE, T=NUMERIC, Tidx=INDEX, shape=reduced_shape)
def EuclideanNorm(input, reduction_indices, *, keep_dims=False):
    if is_half(input):
        squares = np.square(input.astype(np.float32))
    elif input.dtype.kind == "c":
        squares = np.square(input.real) + np.square(input.imag)
    else:
        squares = input * input
    total = reduce(np.add, squares, reduction_indices, keep_dims, squares.dtype)
    return np.sqrt(total).astype(input.dtype)


@EuclideanNorm.gradient
def _(op, grad):
    norm = with_reduced_axes(op, op.outputs[0])
    return op.inputs[0] / (norm / with_reduced_axes(op, grad)), None


def _filled(op, grad, count):
    """grad / count broadcast to the input's shape; None where that takes operations.

    Small eager arrays reduced to a scalar are mostly the losses of a batch.
    """
    value = op.inputs[0]
    if type(value) is not Tensor or type(grad) is not Tensor or state.tapes:
        return None
    array, number = value._array, grad._array
    if state.graph is not None or number.shape or array.size > _FEW or array.dtype.kind != "f":
        return None
    result = np.empty(array.shape, array.dtype)
    result.fill(number if count == 1 else number / number.dtype.type(count))
    return Tensor(result, grad.dtype)


def _spread(op, grad):
    """Broadcast the gradient of a reduction to its input's shape."""
    grad = with_reduced_axes(op, grad)
    value = op.inputs[0]
    sizes = value.shape
    if not sizes.is_fully_defined():
        return broadcast_to(grad, shape(value))
    if grad.shape == sizes:
        return grad
    return broadcast_to(grad, tensor_of(np.array(sizes.as_list(), np.int32), int32))


def with_reduced_axes(op, result: Tensor) -> Tensor:
    """Reshape a gradient or result of a reduction as with keepdims."""
    value, axes = op.inputs
    if op.attrs["keep_dims"] or result.shape == SCALAR:
        return result
    known = constant_value(axes)
    if known is not None and value.shape.is_fully_defined():
        sizes = value.shape.as_list()
        for axis in numbers_of(known):
            sizes[axis] = 1
        return reshape(result, tensor_of(np.array(sizes, np.int32), int32))
    sizes = shape(value)
    return reshape(result, sizes - _marks_of_reduced_axes(value, axes) * (sizes - 1))


def _marks_of_reduced_axes(value, axes):
    """A vector with 1 for every reduced axis, 0 for every other."""
    if axes.dtype is not int32:
        axes = execute(REGISTRY["Cast"], (axes,), {"DstT": int32})
    count = rank(value)
    axes = execute(REGISTRY["FloorMod"], (reshape(axes, [-1]), count))
    ones = execute(REGISTRY["OnesLike"], (axes,))
    return execute(REGISTRY["UnsortedSegmentSum"], (ones, axes, count))


_ALL_AXES = [Tensor(np.arange(count, dtype=np.int32), int32) for count in range(9)]
# Arrays of rank 0: unlike NumPy scalars their values are read quickly.
_ONE_AXIS = {axis: Tensor(np.array(axis, np.int32), int32) for axis in range(-8, 8)}


def axes_tensor(axis) -> Tensor:
    """One axis or several as a tensor."""
    if type(axis) is int and state.graph is None:
        found = _ONE_AXIS.get(axis)
        if found is not None:
            return found
    return integers(axis)


def reduction_axes(value: Tensor, axis) -> Tensor:
    """The axes to reduce as a tensor: all of them for None."""
    if axis is not None:
        return axes_tensor(axis)
    if type(value) is Tensor and state.graph is None and value._array.ndim < 9:
        return _ALL_AXES[value._array.ndim]
    sizes = value._sizes
    if sizes is not None:
        return tensor_of(np.arange(len(sizes), dtype=np.int32), int32)
    return execute(REGISTRY["Range"], (axes_tensor(0), rank(value), axes_tensor(1)))


# Defaults are left out: kernels are called faster without attributes.
_KEEP: dict[str, bool] = {"keep_dims": True}
_DROP: dict[str, bool] = {}


def _reduce(op, value, axis, keepdims):
    if not isinstance(value, Tensor):
        value = convert_to_tensor(value)
    return execute(op, (value, reduction_axes(value, axis)), _KEEP if keepdims else _DROP)


def reduce_sum(input_tensor, axis=None, keepdims=False, name=None):
    """The sum of the elements over `axis`, or over all axes.

    >>> tf.reduce_sum([[1, 2], [3, 4]], axis=0)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([4, 6], dtype=int32)>
    """
    return _reduce(Sum, input_tensor, axis, keepdims)


def reduce_mean(input_tensor, axis=None, keepdims=False, name=None):
    """The mean of the elements over `axis`; for integers it is truncated.

    >>> tf.reduce_mean([[1.0, 2.0], [3.0, 4.0]], axis=1)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1.5, 3.5], dtype=float32)>
    """
    return _reduce(Mean, input_tensor, axis, keepdims)


def reduce_prod(input_tensor, axis=None, keepdims=False, name=None):
    """The product of the elements over `axis`.

    >>> tf.reduce_prod([[1, 2], [3, 4]])
    <tf.Tensor: shape=(), dtype=int32, numpy=24>
    """
    return _reduce(Prod, input_tensor, axis, keepdims)


def reduce_max(input_tensor, axis=None, keepdims=False, name=None):
    """The maximum over `axis`; NaN where there is one.

    >>> tf.reduce_max([[1, 2], [3, 4]], axis=1, keepdims=True).numpy().tolist()
    [[2], [4]]
    """
    return _reduce(Max, input_tensor, axis, keepdims)


def reduce_min(input_tensor, axis=None, keepdims=False, name=None):
    """The minimum over `axis`; NaN where there is one.

    >>> tf.reduce_min([[1, 2], [3, 4]], axis=0).numpy().tolist()
    [1, 2]
    """
    return _reduce(Min, input_tensor, axis, keepdims)


def _reduce_bool(op, value, axis, keepdims):
    if not isinstance(value, Tensor):
        value = convert_to_tensor(value, None if hasattr(value, "dtype") else dtypes.bool)
    return _reduce(op, value, axis, keepdims)


def reduce_any(input_tensor, axis=None, keepdims=False, name=None):
    """Whether any element over `axis` is True.

    >>> tf.reduce_any([[True, False], [False, False]], axis=1).numpy().tolist()
    [True, False]
    """
    return _reduce_bool(Any, input_tensor, axis, keepdims)


def reduce_all(input_tensor, axis=None, keepdims=False, name=None):
    """Whether all elements over `axis` are True.

    >>> tf.reduce_all([[True, True], [True, False]], axis=1).numpy().tolist()
    [True, False]
    """
    return _reduce_bool(All, input_tensor, axis, keepdims)


def reduce_euclidean_norm(input_tensor, axis=None, keepdims=False, name=None):
    """The square root of the sum of squares over `axis`.

    >>> tf.math.reduce_euclidean_norm([3.0, 4.0]).numpy()
    np.float32(5.0)
    """
    return _reduce(EuclideanNorm, input_tensor, axis, keepdims)


def _without_axis(inputs, attrs):
    value, dimension = inputs
    axis = constant_value(dimension)
    count = value.shape.rank
    if dimension.shape.rank not in (None, 0):
        raise ValueError(f"The axis must be one number, got shape {dimension.shape}.")
    if count is None:
        return UNKNOWN
    if axis is None:
        return TensorShape([None] * (count - 1))
    axis = normalized_axis(int(axis), count)
    return TensorShape([*value.shape[:axis], *value.shape[axis + 1 :]])


def _has_nan(array):
    if array.size <= 4096 and array.itemsize >= 4:
        # A sum of squares is NaN only if an element is: one BLAS dot instead of a reduction.
        square = np.vdot(array, array)
        return square != square
    return np.isnan(np.minimum.reduce(array, None)) if array.size else False


def _arg_extreme(name, method, instead, axis_types, result_types):
    def kernel(input, dimension, *, output_type=int64):
        if dimension.ndim:
            raise ValueError(f"The axis must be one number, got shape {list(dimension.shape)}.")
        axis = normalized_axis(int(dimension), input.ndim)
        if not input.shape[axis]:
            raise ValueError(
                f"Reduction axis {axis} is empty in shape {list(input.shape)}: it has no extreme."
            )
        if input.dtype.kind in "fV" and _has_nan(input):
            input = np.where(np.isnan(input), input.dtype.type(instead), input)
        places = getattr(input, method)(axis)
        wanted = output_type.numpy
        return places if places.dtype is wanted else places.astype(wanted)

    declared = op(
        name,
        "input: T, dimension: Tidx -> output: output_type",
        T=REAL | {dtypes.bool},
        Tidx=axis_types,
        shape=_without_axis,
        kernel=kernel,
        gradient=None,
    )

    def locate(value, dimension, output_type):
        inputs = (convert_to_tensor(value), dimension)
        if output_type is int64:
            return execute(declared, inputs)
        output_type = as_dtype(output_type)
        require_type(name, "output_type", output_type, result_types)
        return execute(declared, inputs, {"output_type": output_type})

    return declared, locate


_INTEGERS = (int, np.integer)

ArgMax, _locate_greatest = _arg_extreme(
    "ArgMax", "argmax", -np.inf, INDEX | {dtypes.int16}, INDEX | {dtypes.int16, dtypes.uint16},
)  # fmt: skip
ArgMin, _locate_least = _arg_extreme("ArgMin", "argmin", np.inf, INDEX, INDEX)


def argmax(input, axis=None, output_type=int64, name=None):
    """The index of the maximum along `axis` (0 if None); the first of ties.

    >>> tf.argmax([[1, 5, 2], [7, 3, 4]], axis=1)
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([1, 0])>
    """
    axis = 0 if axis is None else axis
    if isinstance(axis, Tensor):
        integral = axis.dtype in INTEGER
    else:
        integral = isinstance(axis, _INTEGERS)
    if not integral:
        raise TypeError(f"axis must be int or Tensor with integer datatype, got {axis!r}.")
    return _locate_greatest(input, axes_tensor(axis), output_type or int64)


def argmin(input, axis=None, output_type=int64, name=None):
    """The index of the minimum along `axis` (0 if None); the first of ties.

    >>> tf.argmin([[1, 5, 2], [7, 3, 4]], axis=1)
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([0, 1])>
    """
    return _locate_least(input, axes_tensor(0 if axis is None else axis), output_type or int64)
