"""Creating tensors: filled, ranges, like another."""

from __future__ import annotations

import builtins
import contextlib
import math

import numpy as np

from ...core.context import state
from ...core.convert import constant_shape, constant_value, convert_to_tensor, tensor_of
from ...core.dtypes import (
    NUMERIC,
    REAL,
    as_dtype,
    bfloat16,
    bool as bool_dtype,
    float16,
    float32,
    float64,
    int32,
    int64,
    string,
    uint8,
)
from ...core.errors import InvalidArgumentError
from ...core.op import REGISTRY, execute, op
from ...core.shape_rules import UNKNOWN, dimensions_text, unchanged
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ...runtime import buffers
from ..math import arithmetic, casting, division, reduction
from . import indexing, joining
from .arguments import INDEX, integers, number, plain_integers, sizes_tensor
from .shaping import broadcast_dynamic_shape, broadcast_to, expand_dims, rank, reshape, shape

# A larger identity matrix is computed when its graph runs.
_LARGEST_CONSTANT = 1 << 20

_range = builtins.range


def _like(fill):
    def kernel(x):
        if x.dtype == object:
            return np.full(x.shape, b"", object)
        return np.full(x.shape, fill, x.dtype) if fill else np.zeros(x.shape, x.dtype)

    return kernel


ZerosLike = op(
    "ZerosLike", "x: T -> y: T", shape=unchanged, kernel=_like(0), gradient=None, batchable=True
)

OnesLike = op(
    "OnesLike", "x: T -> y: T", T=NUMERIC | {bool_dtype}, shape=unchanged, kernel=_like(1),
    gradient=None,
    batchable=True,
)  # fmt: skip


def _filled(inputs, attrs):
    dims, value = inputs
    if dims.shape.rank not in (None, 0, 1):
        raise ValueError(f"dims must represent a vector, got shape {dimensions_text(dims.shape)}")
    if value.shape.num_elements() not in (None, 1):
        raise ValueError(f"value must represent a scalar, got shape {dimensions_text(value.shape)}")
    known = constant_value(dims)
    if known is None:
        return constant_shape(dims) if dims.shape.rank == 1 else UNKNOWN
    return TensorShape(_checked_sizes(np.atleast_1d(known).tolist()))


def _checked_sizes(sizes):
    for size in sizes:
        if size < 0:
            raise ValueError(f"Dimension {size} must be >= 0")
    return sizes


@op("Fill", "dims: index_type, value: T -> output: T", index_type=INDEX, shape=_filled)
def Fill(dims, value):
    if dims.ndim > 1 or value.size != 1:
        raise ValueError("dims must be a vector and value a scalar")
    sizes = _checked_sizes(np.atleast_1d(dims).tolist())
    return np.full(sizes, value if value.dtype != object else value.item(), value.dtype)


@Fill.gradient
def _(op, grad):
    return None, reshape(reduction.reduce_sum(grad), shape(op.inputs[1]))


def fill(dims, value, name=None, layout=None) -> Tensor:
    """A tensor of shape `dims` filled with one value.

    >>> tf.fill([2, 3], 9).numpy().tolist()
    [[9, 9, 9], [9, 9, 9]]
    """
    _refuse_layout(layout)
    return execute(Fill, (integers(dims), convert_to_tensor(value)))


def _refuse_layout(layout):
    if layout is not None:
        raise NotImplementedError(f"Only layout=None is supported (no DTensor), got {layout!r}.")


def _constant_filled(sizes, value, dtype):
    """A tensor filled with 0 or 1 of the dtype."""
    if dtype is string and not value:
        value = b""
    elif dtype is bool_dtype:
        value = bool(value)
    if not isinstance(sizes, Tensor):
        sizes = sizes_tensor(sizes)
    if type(sizes) is Tensor and state.graph is None and not value and dtype is not string:
        # np.zeros allocates zeroed pages without writing to them.
        dims = sizes._array.tolist() if sizes._array.ndim == 1 else [-1]
        if sizes.dtype in INDEX and min(dims, default=0) >= 0 and dtype in NUMERIC:
            # On a MemoryError fall through to the op, which reports it.
            with contextlib.suppress(MemoryError, ValueError):
                return Tensor(buffers.zeros(dims, np.dtype(dtype.numpy)), dtype)
    return execute(Fill, (sizes, number(value, dtype)))


def zeros(shape, dtype=float32, name=None, layout=None) -> Tensor:
    """A tensor of zeros (empty strings, False).

    >>> tf.zeros([2, 3], tf.int32).numpy().tolist()
    [[0, 0, 0], [0, 0, 0]]
    """
    _refuse_layout(layout)
    return _constant_filled(shape, 0, as_dtype(dtype))


def ones(shape, dtype=float32, name=None, layout=None) -> Tensor:
    """A tensor of ones.

    >>> tf.ones([2], tf.int32).numpy().tolist()
    [1, 1]
    """
    _refuse_layout(layout)
    return _constant_filled(shape, 1, as_dtype(dtype))


def zeros_like(input, dtype=None, name=None, layout=None) -> Tensor:
    """A tensor of zeros with the shape of another, and its dtype unless one is given.

    >>> tf.zeros_like([1.5, 2.5]).numpy().tolist()
    [0.0, 0.0]
    """
    _refuse_layout(layout)
    return _filled_like(input, dtype, 0, ZerosLike)


def ones_like(input, dtype=None, name=None, layout=None) -> Tensor:
    """A tensor of ones with the shape of another, and its dtype unless one is given.

    >>> tf.ones_like([1.5, 2.5]).numpy().tolist()
    [1.0, 1.0]
    """
    _refuse_layout(layout)
    return _filled_like(input, dtype, 1, OnesLike)


def _filled_like(value, dtype, number, op):
    value = convert_to_tensor(value)
    dtype = value.dtype if dtype is None else as_dtype(dtype)
    if dtype is value.dtype:
        return execute(op, (value,))
    if hasattr(value, "with_flat_values"):
        return value.with_flat_values(_filled_like(value.flat_values, dtype, number, op))
    return _constant_filled(shape(value), number, dtype)


def eye(num_rows, num_columns=None, batch_shape=None, dtype=float32, name=None) -> Tensor:
    """The identity matrix, or a batch of it.

    >>> tf.eye(2, 3).numpy().tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    dtype = as_dtype(dtype)
    if num_columns is None:
        num_columns = num_rows
    counts = [_count(each, num_rows, num_columns) for each in (num_rows, num_columns)]
    convert_to_tensor(True if dtype is bool_dtype else 1, dtype)
    batch = [] if batch_shape is None else batch_shape
    if not isinstance(batch, Tensor):
        batch = sizes_tensor(list(batch))
    known = all(isinstance(count, int) for count in counts)
    for count in counts if known else ():
        if count < 0:
            raise InvalidArgumentError(None, None, f"Dimension {count} must be >= 0 [Op:Fill]")
    # While a graph is made, a large matrix is not made with it.
    if known and (state.graph is None or math.prod(counts) <= _LARGEST_CONSTANT):
        try:
            matrix = tensor_of(np.eye(*counts, dtype=dtype.numpy), dtype)
        except (MemoryError, ValueError) as failure:
            raise Fill.explain(MemoryError(str(failure)), (), {}) from failure
    else:
        rows, columns = (casting.cast(range(count), int32) for count in counts)
        matrix = casting.cast(REGISTRY["Equal"](expand_dims(rows, 1), columns), dtype)
    if batch.shape == [0]:
        return matrix
    return broadcast_to(matrix, joining.concat([batch, shape(matrix, batch.dtype)], 0))


def _count(value, num_rows, num_columns):
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, Tensor) and value.dtype.is_integer:
        known = constant_value(value)
        return value if known is None else int(known)
    raise TypeError(
        "Arguments `num_rows` and `num_columns` must be positive integer values. Received: "
        f"num_rows={num_rows}, num_columns={num_columns}"
    )


def linspace(start, stop, num, name=None, axis=0) -> Tensor:
    """`num` evenly spaced numbers from `start` to `stop`, along a new axis.

    >>> tf.linspace(10.0, 12.0, 3).numpy().tolist()
    [10.0, 11.0, 12.0]
    """
    start = convert_to_tensor(start)
    stop = convert_to_tensor(stop, start.dtype)
    num = convert_to_tensor(num, dtype_hint=int32)
    if not num.dtype.is_integer:
        raise TypeError(
            "Argument `tensor` (name: num) must be of type integer. Received `tensor` = "
            f"{num} of dtype: {num.dtype!r}"
        )
    num = casting.cast(reshape(num, []), int32)
    if start.dtype.is_integer:
        wide = float32 if start.dtype.size <= 2 else float64
        start, stop = casting.cast(start, wide), casting.cast(stop, wide)
    common = broadcast_dynamic_shape(shape(start), shape(stop))
    start = expand_dims(broadcast_to(start, common), axis)
    stop = expand_dims(broadcast_to(stop, common), axis)
    steps = arithmetic.maximum(arithmetic.subtract(num, 1), 1)
    delta = division.divide(arithmetic.subtract(stop, start), casting.cast(steps, start.dtype))
    # The interior points; start and stop are concatenated so that both are exact.
    limit = REGISTRY["SelectV2"](REGISTRY["GreaterEqual"](num, convert_to_tensor(0)), steps, num)
    inner = casting.cast(range(1, limit), start.dtype)
    inner = arithmetic.add(start, arithmetic.multiply(delta, _along(inner, start, axis)))
    whole = joining.concat([start, inner, stop], axis)
    key = [slice(None)] * axis if axis >= 0 else [Ellipsis]
    after = [slice(None)] * (-axis - 1) if axis < 0 else []
    return indexing.getitem(whole, (*key, slice(None, num), *after))


def _along(vector, like, axis):
    """Reshape a vector to broadcast along one axis of another tensor."""
    if axis < 0:
        return reshape(vector, [-1] + [1] * (-axis - 1))
    if like.shape.rank is not None:
        return reshape(vector, [-1] + [1] * (like.shape.rank - axis - 1))
    trailing = fill(reshape(arithmetic.subtract(rank(like), axis + 1), [1]), 1)
    return reshape(vector, joining.concat([[-1], trailing], 0))


def _range_shape(inputs, attrs):
    for what, each in zip(("start", "limit", "delta"), inputs, strict=True):
        if each.shape.rank not in (None, 0) and each.shape != [1]:
            raise ValueError(f"{what} must be a scalar, not shape {dimensions_text(each.shape)}")
    bounds = [constant_value(each) for each in inputs]
    if any(bound is None for bound in bounds):
        return TensorShape([None])
    return TensorShape([_range_size(*(np.asarray(bound).reshape(())[()] for bound in bounds))])


def _range_size(start, limit, delta):
    """The length of a range; ValueError where the sign of delta is wrong."""
    if delta == 0:
        raise ValueError(f"Requires delta != 0: {delta}")
    if delta > 0:
        if not start <= limit:
            raise ValueError(f"Requires start <= limit when delta > 0: {start}/{limit}")
    elif not start >= limit:
        raise ValueError(f"Requires start >= limit when delta < 0: {start}/{limit}")
    elif not delta < 0:
        raise ValueError(f"Requires delta to be a number: {delta}")
    if start.dtype.kind in "iu":
        start, limit, delta = int(start), int(limit), int(delta)
        return -(-abs(limit - start) // abs(delta))
    count = float(abs((limit - start) / delta))
    if not count < 2**63:
        raise ValueError("Requires ((limit - start) / delta) <= 9223372036854775807")
    return math.ceil(count)


def _number(value):
    # A vector of one element is accepted as a scalar, as in the original.
    if value.ndim > 1 or value.size != 1:
        raise ValueError("start, limit and delta must be scalars")
    return value.reshape(())[()]


@op(
    "Range",
    "start: Tidx, limit: Tidx, delta: Tidx -> output: Tidx",
    Tidx=REAL - {uint8},
    shape=_range_shape,
    gradient=None,
)
def Range(start, limit, delta):
    start, limit, delta = (_number(each) for each in (start, limit, delta))
    count = _range_size(start, limit, delta)
    numbers = np.arange(count, dtype=np.int64).astype(start.dtype)
    return numbers * delta + start


_RANGE_TYPES = (int32, int64, float16, bfloat16, float32, float64)


def range(start, limit=None, delta=1, dtype=None, name="range") -> Tensor:
    """The numbers from `start` to `limit` (exclusive) in steps of `delta`.

    >>> tf.range(3)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([0, 1, 2], dtype=int32)>
    >>> tf.range(3, 18, 3).numpy().tolist()
    [3, 6, 9, 12, 15]
    """
    if limit is None:
        start, limit = 0, start
    if dtype is not None:
        dtype = as_dtype(dtype)
        bounds = [
            casting.cast(bound, dtype)
            if isinstance(bound, Tensor)
            else convert_to_tensor(bound, dtype)
            for bound in (start, limit, delta)
        ]
        return execute(Range, bounds)
    bounds = [_bound(each) for each in (start, limit, delta)]
    for bound in bounds:
        if bound.dtype not in _RANGE_TYPES:
            raise AssertionError(
                "tf.range takes start, limit and delta of the dtypes "
                f"{', '.join(each.name for each in _RANGE_TYPES)}, got {bound.dtype.name}. Name "
                "the dtype wanted: tf.range(..., dtype=...)."
            )
    common = max((bound.dtype for bound in bounds), key=_RANGE_TYPES.index)
    return execute(Range, [b if b.dtype is common else casting.cast(b, common) for b in bounds])


def _bound(value):
    quick = plain_integers(value) if type(value) is int else None
    return convert_to_tensor(value) if quick is None else quick
