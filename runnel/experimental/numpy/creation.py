"""Array creation: from values, shapes and ranges."""

from __future__ import annotations

from typing import Any

import numpy as np

import runnel as tf

from ...core.tensor import Tensor
from .binary import power
from .conversion import known, sizes_of, to_array
from .promotion import as_dtype, behaviour, default_float, shared_type
from .shaping import at_least, moveaxis


def array(val: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """A tensor of a value, in the given dtype or in the one that NumPy would choose.

    >>> tf.experimental.numpy.array([1, 2.5])
    <tf.Tensor: shape=(2,), dtype=float64, numpy=array([1. , 2.5])>
    """
    result = to_array(val, dtype)
    if copy and result is val:
        result = tf.identity(result)
    return at_least(result, ndmin)


def asarray(a: Any, dtype: Any = None) -> Tensor:
    """A tensor of a value; a tensor of that dtype is returned as it is."""
    return to_array(a, dtype)


def asanyarray(a: Any, dtype: Any = None) -> Tensor:
    """A tensor of a value; a tensor of that dtype is returned as it is."""
    return to_array(a, dtype)


def ascontiguousarray(a: Any, dtype: Any = None) -> Tensor:
    """A tensor of a value with at least one dimension."""
    return array(a, dtype, ndmin=1)


def copy(a: Any) -> Tensor:
    """A tensor with the same elements."""
    return array(a, copy=True)


def zeros(shape: Any, dtype: Any = float) -> Tensor:
    """An array of zeros.

    >>> tf.experimental.numpy.zeros(2)
    <tf.Tensor: shape=(2,), dtype=float64, numpy=array([0., 0.])>
    """
    return tf.zeros(sizes_of(shape), _chosen(dtype))


def ones(shape: Any, dtype: Any = float) -> Tensor:
    """An array of ones."""
    return tf.ones(sizes_of(shape), _chosen(dtype))


def empty(shape: Any, dtype: Any = float) -> Tensor:
    """An uninitialized array; tensors are immutable, so it is zeros."""
    return zeros(shape, dtype)


def _chosen(dtype: Any) -> Any:
    return as_dtype(dtype) if dtype is not None and dtype is not float else default_float()


def zeros_like(a: Any, dtype: Any = None) -> Tensor:
    """Zeros of an array's shape, in its dtype or another one."""
    return tf.zeros_like(to_array(a), None if dtype is None else as_dtype(dtype))


def ones_like(a: Any, dtype: Any = None) -> Tensor:
    """Ones of an array's shape, in its dtype or another one."""
    return tf.ones_like(to_array(a), None if dtype is None else as_dtype(dtype))


def empty_like(a: Any, dtype: Any = None) -> Tensor:
    """An uninitialized array of another's shape; tensors are immutable, so it is zeros."""
    return zeros_like(a, dtype)


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """An array of that shape, filled with one value or with values broadcast to it.

    >>> tf.experimental.numpy.full((2, 2), [1, 2])
    <tf.Tensor: shape=(2, 2), dtype=int64, numpy=
    array([[1, 2],
           [1, 2]])>
    """
    return tf.broadcast_to(to_array(fill_value, dtype), sizes_of(shape))


def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
) -> Tensor:
    """An array of another's shape, filled with a value, of the other's dtype by default."""
    if order != "K":
        raise ValueError(f"full_like: an order other than 'K' is not supported, got {order!r}.")
    if not subok:
        raise ValueError(f"full_like: subok=False is not supported, got {subok!r}.")
    if shape:
        raise ValueError(f"full_like: another shape is not supported, got {shape!r}; use full.")
    a = to_array(a)
    return tf.broadcast_to(to_array(fill_value, dtype or a.dtype), tf.shape(a))


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = float) -> Tensor:
    """A matrix with ones on its k-th diagonal.

    >>> tf.experimental.numpy.eye(2, k=1)
    <tf.Tensor: shape=(2, 2), dtype=float64, numpy=
    array([[0., 1.],
           [0., 0.]])>
    """
    rows, columns = known(N, "N"), known(N if M is None else M, "M")
    dtype = _chosen(dtype)
    if k == 0:
        return tf.eye(rows, columns, dtype=dtype)
    return tf.constant(np.eye(rows, columns, known(k, "k")).astype(dtype.numpy))


def identity(n: int, dtype: Any = float) -> Tensor:
    """The identity matrix."""
    return eye(n, n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Tensor:
    """A matrix with ones on and below its k-th diagonal.

    >>> tf.experimental.numpy.tri(2, 3)
    <tf.Tensor: shape=(2, 3), dtype=float64, numpy=
    array([[1., 0., 0.],
           [1., 1., 0.]])>
    """
    rows, columns = known(N, "N"), known(N if M is None else M, "M")
    if not isinstance(rows, int | np.integer):
        kind = TypeError if isinstance(rows, float | complex) else tf.errors.InvalidArgumentError
        message = f"tri: N is a number of rows, got {rows!r}."
        raise TypeError(message) if kind is TypeError else kind(None, None, message)
    return tf.constant(np.tri(int(rows), columns, known(k, "k")).astype(_chosen(dtype).numpy))


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Tensor:
    """The numbers from start up to stop, exclusive, spaced by step.

    >>> tf.experimental.numpy.arange(1, 2, 0.5)
    <tf.Tensor: shape=(2,), dtype=float64, numpy=array([1. , 1.5])>
    """
    if not isinstance(step, Tensor) and not step:
        raise ValueError("arange: step must be non-zero, got 0.")
    given = (start, step) if stop is None else (start, stop, step)
    if dtype is None:
        dtype = shared_type(*given, []) if behaviour.is_lattice else shared_type(*given)
    dtype = as_dtype(dtype)
    begin, end = (0, start) if stop is None else (start, stop)
    is_known = not any(isinstance(each, Tensor) for each in given)
    if is_known and ((step > 0 and begin >= end) or (step < 0 and begin <= end)):
        return tf.zeros([0], dtype)
    return tf.range(to_array(begin, dtype), to_array(end, dtype), to_array(step, dtype))


def _float_type(*values: Any) -> Any:
    """The common dtype of values and a Python float."""
    return shared_type(*values, [0.0])


def _spaced(start: Any, stop: Any, num: int, endpoint: bool, axis: int) -> tuple[Tensor, Tensor]:
    """`num` numbers from start to stop along a new axis, and the step between them."""
    working = _float_type(start, stop)
    start, stop = to_array(start, working), to_array(stop, working)
    parts = max(num - 1, 0) if endpoint else num
    step = (stop - start) / tf.constant(parts or np.nan, start.dtype)
    if not endpoint and num > 0:
        # Without the end point, the last number is one step before stop.
        stop = start + step * tf.constant(num - 1, start.dtype)
    if num == 0:
        shape = tf.broadcast_dynamic_shape(tf.shape(start), tf.shape(stop))
        return tf.zeros(tf.concat([[0], shape], 0), start.dtype), step
    return tf.linspace(start, stop, num, axis=axis), step


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = float,
    axis: int = 0,
) -> Any:
    """`num` evenly spaced numbers from start to stop.

    >>> tf.experimental.numpy.linspace(0, 1, 3)
    <tf.Tensor: shape=(3,), dtype=float64, numpy=array([0. , 0.5, 1. ])>
    """
    dtype = None if dtype is None or dtype is float else as_dtype(dtype)
    result, step = _spaced(start, stop, num, endpoint, axis)
    result = result if dtype is None else tf.cast(result, dtype)
    return (result, step) if retstep else result


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: float = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Tensor:
    """`num` powers of base, with exponents evenly spaced from start to stop.

    >>> tf.experimental.numpy.logspace(0, 2, 3)
    <tf.Tensor: shape=(3,), dtype=float64, numpy=array([  1.,  10., 100.])>
    """
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    result = power(to_array(base, exponents.dtype), exponents)
    return result if dtype is None else tf.cast(result, as_dtype(dtype))


def geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> Tensor:
    """`num` numbers from start to stop in a geometric progression.

    >>> tf.experimental.numpy.geomspace(1, 100, 3)
    <tf.Tensor: shape=(3,), dtype=float64, numpy=array([  1.,  10., 100.])>
    """
    dtype = None if dtype is None else as_dtype(dtype)
    working = _float_type(start, stop)
    dtype = working if dtype is None else dtype
    start, stop = to_array(start, working), to_array(stop, working)
    negative = tf.logical_and(
        tf.less(start, tf.zeros([], working)), tf.less(stop, tf.zeros([], working))
    )
    sign = tf.where(negative, -tf.ones([], working), tf.ones([], working))
    first, last = tf.math.log(start * sign), tf.math.log(stop * sign)
    result = tf.exp(_spaced(first, last, num, endpoint, 0)[0]) * sign
    if axis != 0:
        result = moveaxis(result, 0, axis)
    return tf.cast(result, dtype)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Tensor:
    """The Vandermonde matrix, whose columns are the powers of a vector.

    >>> tf.experimental.numpy.vander([2, 3])
    <tf.Tensor: shape=(2, 2), dtype=int64, numpy=
    array([[2, 1],
           [3, 1]])>
    """
    x = to_array(x)
    if x.shape.rank not in (1, None):
        if x.shape.rank == 0:
            raise tf.errors.InvalidArgumentError(None, None, "vander: x must be a vector.")
        raise ValueError(f"vander: x must be a one-dimensional array, got shape {x.shape}.")
    count = tf.shape(x)[0] if N is None else known(N, "N")
    if not isinstance(count, Tensor) and count < 0:
        raise ValueError(f"vander: N must be nonnegative, got {count}.")
    powers = tf.range(count, dtype=tf.int32)
    powers = powers if increasing else powers[::-1]
    return tf.pow(tf.expand_dims(x, -1), tf.cast(powers, x.dtype))


def diag_indices(n: int, ndim: int = 2) -> tuple[Tensor, ...]:
    """The indices of the diagonal of an array with `ndim` dimensions of size n."""
    if n < 0:
        raise ValueError(f"diag_indices: n must be nonnegative, got {n}.")
    if ndim < 0:
        raise ValueError(f"diag_indices: ndim must be nonnegative, got {ndim}.")
    return (tf.range(n),) * ndim


def meshgrid(*xi: Any, **kwargs: Any) -> list[Tensor]:
    """Coordinate matrices of coordinate vectors; `indexing` is "xy" or "ij".

    >>> [grid.numpy().tolist() for grid in tf.experimental.numpy.meshgrid([1, 2], [3, 4])]
    [[[1, 2], [1, 2]], [[3, 3], [4, 4]]]
    """
    if kwargs.get("sparse"):
        raise ValueError("meshgrid: sparse=True is not supported; the matrices are always whole.")
    if not kwargs.get("copy", True):
        raise ValueError("meshgrid: copy=False is not supported; tensors share no memory.")
    indexing = kwargs.get("indexing", "xy")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', got {indexing!r}.")
    vectors = [tf.reshape(to_array(x), [-1]) for x in xi]
    order = list(range(len(vectors)))
    if indexing == "xy" and len(vectors) > 1:
        order[:2] = [1, 0]
    shape = [tf.size(vectors[position]) for position in order]
    grids = []
    for position, vector in enumerate(vectors):
        sizes = [-1 if axis == position else 1 for axis in order]
        grids.append(tf.broadcast_to(tf.reshape(vector, sizes), shape))
    return grids
