"""Variables and constants: creation, reading, assignment, inspection."""

from __future__ import annotations

from typing import Any

import numpy as np

import runnel as tf

from .settings import floatx


def variable(value, dtype=None, name=None, constraint=None):
    """A variable of dtype `floatx()`, unless `dtype` is given.

    >>> tf.keras.backend.variable([1, 2])
    <tf.Variable 'Variable:0' shape=(2,) dtype=float32, numpy=array([1., 2.], dtype=float32)>
    """
    dtype = tf.as_dtype(dtype or floatx())
    return tf.Variable(value, dtype=dtype, name=name, constraint=constraint)


def constant(value, dtype=None, shape=None, name=None):
    """A tensor of dtype `floatx()`, unless `dtype` is given.

    >>> tf.keras.backend.constant(3)
    <tf.Tensor: shape=(), dtype=float32, numpy=3.0>
    """
    return tf.constant(value, dtype or floatx(), shape, name)


def zeros(shape, dtype=None, name=None):
    """A variable of zeros."""
    return variable(tf.zeros(shape, dtype or floatx()), dtype, name)


def ones(shape, dtype=None, name=None):
    """A variable of ones."""
    return variable(tf.ones(shape, dtype or floatx()), dtype, name)


def eye(size, dtype=None, name=None):
    """A variable that is an identity matrix."""
    return variable(tf.eye(size, dtype=dtype or floatx()), dtype, name)


def zeros_like(x, dtype=None, name=None):
    """Zeros in the shape of a tensor."""
    return tf.zeros_like(x, dtype)


def ones_like(x, dtype=None, name=None):
    """Ones in the shape of a tensor."""
    return tf.ones_like(x, dtype)


def get_value(x):
    """The value of a tensor or variable as a NumPy array; other values unchanged.

    >>> tf.keras.backend.get_value(tf.Variable([1.0, 2.0]))
    array([1., 2.], dtype=float32)
    """
    return x.numpy() if tf.is_tensor(x) or isinstance(x, tf.Variable) else x


def batch_get_value(tensors):
    """The values of several tensors or variables."""
    return [get_value(tensor) for tensor in tensors]


def set_value(x, value):
    """Assign a variable."""
    x.assign(np.asarray(value, dtype=x.dtype.as_numpy_dtype))


def batch_set_value(tuples):
    """Assign several variables: pairs (variable, value)."""
    for x, value in tuples:
        set_value(x, value)


def eval(x):
    """The value of a tensor or variable as a NumPy array."""
    return get_value(to_dense(x))


def update(x, new_x):
    """Assign a variable; returns it."""
    return x.assign(new_x)


def update_add(x, increment):
    """Add to a variable; returns it."""
    return x.assign_add(increment)


def update_sub(x, decrement):
    """Subtract from a variable; returns it."""
    return x.assign_sub(decrement)


def cast(x, dtype):
    """Cast to another dtype."""
    return tf.cast(x, dtype)


def cast_to_floatx(x):
    """Cast a tensor or array to `floatx()`.

    >>> tf.keras.backend.cast_to_floatx(np.array([1, 2]))
    array([1., 2.], dtype=float32)
    """
    if tf.is_tensor(x) or isinstance(x, tf.Variable):
        return tf.cast(x, floatx())
    return np.asarray(x, dtype=floatx())


def dtype(x):
    """The name of a tensor's dtype.

    >>> tf.keras.backend.dtype(tf.constant(1.0))
    'float32'
    """
    return tf.as_dtype(x.dtype).name


def shape(x):
    """The shape as a tensor."""
    return tf.shape(x)


def int_shape(x):
    """The static shape as a tuple, None for unknown sizes; None if the rank is unknown.

    >>> tf.keras.backend.int_shape(tf.ones([2, 3]))
    (2, 3)
    """
    sizes = x.shape
    if isinstance(sizes, tf.TensorShape):
        return None if sizes.rank is None else tuple(sizes.as_list())
    return tuple(sizes)


def ndim(x):
    """The number of axes."""
    return tf.TensorShape(x.shape).rank


def count_params(x):
    """The number of elements of a tensor or variable."""
    return np.prod(tf.TensorShape(x.shape).as_list())


def is_keras_tensor(x):
    """Whether x is a symbolic value of a functional model, from `tf.keras.Input` or a layer.

    >>> tf.keras.backend.is_keras_tensor(tf.ones([2]))
    False
    """
    if not (tf.is_tensor(x) or isinstance(x, tf.Variable)):
        raise ValueError(
            f"Unexpectedly found an instance of type `{type(x)}`. Expected a symbolic tensor "
            "instance."
        )
    from ..engine import keras_tensor

    return keras_tensor.is_keras_tensor(x)


def _sparse_type() -> Any:
    return getattr(tf, "SparseTensor", ())


def is_sparse(tensor):
    """Whether a tensor is sparse."""
    return isinstance(tensor, _sparse_type())


def to_dense(tensor):
    """A sparse tensor converted to dense; dense ones unchanged."""
    return tf.sparse.to_dense(tensor) if is_sparse(tensor) else tensor


def stop_gradient(variables):
    """The same values, through which no gradient is propagated; for a list, a list."""
    if isinstance(variables, list | tuple):
        return [tf.stop_gradient(each) for each in variables]
    return tf.stop_gradient(variables)


def print_tensor(x, message="", summarize=3):
    """Print a tensor after a message, and return it.

    `summarize` is the number of elements printed at both ends of each axis.
    """
    tf.print(message, x, summarize=summarize)
    return x


def map_fn(fn, elems, name=None, dtype=None):
    """Apply a function to each row, and stack the results.

    >>> tf.keras.backend.map_fn(lambda x: 2 * x, tf.constant([1, 2])).numpy().tolist()
    [2, 4]
    """
    return tf.map_fn(fn, elems, dtype=dtype, name=name)


def foldl(fn, elems, initializer=None, name=None):
    """Reduce rows with a binary function, first to last."""
    return tf.foldl(fn, elems, initializer, name=name)


def foldr(fn, elems, initializer=None, name=None):
    """Reduce rows with a binary function, last to first."""
    return tf.foldr(fn, elems, initializer, name=name)
