"""SparseTensor: the indices and values of the elements that are not zero."""

from __future__ import annotations

from ...core.convert import constant_shape, convert_to_tensor, register_converter
from ...core.dtypes import as_dtype, float32, int64
from ...core.op import COMPOSITES, CompositeInput
from ...core.shapes import TensorShape, row_shape
from ...core.tensor import SymbolicTensor
from ...core.type_spec import TensorSpec, TypeSpec, register_type_spec


class SparseTensor:
    """The elements `values` at the rows of `indices` of a tensor of shape `dense_shape`.

    >>> eye = tf.SparseTensor(indices=[[0, 0], [1, 2]], values=[1, 2], dense_shape=[3, 4])
    >>> tf.sparse.to_dense(eye).numpy().tolist()
    [[1, 0, 0, 0], [0, 0, 2, 0], [0, 0, 0, 0]]
    """

    __array_priority__ = 100

    def __init__(self, indices, values, dense_shape):
        indices = convert_to_tensor(indices, int64)
        values = convert_to_tensor(values)
        dense_shape = convert_to_tensor(dense_shape, int64)
        sizes = indices.shape.with_rank(2)
        count, rank = values.shape.with_rank(1)[0], dense_shape.shape.with_rank(1)[0]
        _require_equal(sizes[0], count)
        _require_equal(sizes[1], rank)
        self._indices = indices
        self._values = values
        self._dense_shape = dense_shape
        # The static shape known from elsewhere, in a graph.
        self._known = None
        # Tensor subclasses may have their own sparse class.
        adopt = getattr(type(values), "_adopt", None)
        if adopt is not None:
            adopt(values, self)

    @classmethod
    def from_value(cls, sparse_tensor_value):
        """A sparse tensor from any object with indices, values and dense_shape."""
        if not all(hasattr(sparse_tensor_value, name) for name in ("indices", "values")):
            raise TypeError(f"Argument sparse_tensor_value={sparse_tensor_value} is not sparse.")
        value = sparse_tensor_value
        return cls(value.indices, value.values, value.dense_shape)

    @property
    def indices(self):
        """The positions of the elements, one row each, int64."""
        return self._indices

    @property
    def values(self):
        """The elements."""
        return self._values

    @property
    def dense_shape(self):
        """The dense shape, an int64 vector."""
        return self._dense_shape

    @property
    def shape(self):
        """The static dense shape."""
        shape = constant_shape(self._dense_shape)
        return shape if self._known is None else shape.merge_with(self._known)

    def get_shape(self):
        """The static shape, the same as `shape`."""
        return self.shape

    def set_shape(self, shape):
        """Merge a shape into the static shape; ValueError if they are incompatible."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"Shapes {self.shape} and {TensorShape(shape)} are incompatible")
        if isinstance(self._dense_shape, SymbolicTensor):
            self._known = self.shape.merge_with(shape)

    @property
    def _sizes(self):
        return self.shape._dims

    @property
    def dtype(self):
        """The dtype of the elements."""
        return self._values.dtype

    @property
    def op(self):
        """The operation that produced the values; in graphs only."""
        return self._values.op

    @property
    def graph(self):
        """The graph of its tensors; in graphs only."""
        return self._values.graph

    def consumers(self):
        """The operations that use its tensors; in graphs only."""
        parts = (self._indices, self._values, self._dense_shape)
        return [each for part in parts if hasattr(part, "consumers") for each in part.consumers()]

    def with_values(self, new_values):
        """The same indices with other values.

        >>> tf.SparseTensor([[1]], [5], [2]).with_values([7]).values.numpy().tolist()
        [7]
        """
        result = SparseTensor(self._indices, new_values, self._dense_shape)
        result._known = self._known
        return result

    def eval(self, feed_dict=None, session=None):
        """Graph mode only."""
        return self._values.eval(feed_dict, session)

    def __repr__(self):
        return (
            f"SparseTensor(indices={self._indices!s}, values={self._values!s}, "
            f"dense_shape={self._dense_shape!s})"
        )

    def __mul__(self, other):
        return arithmetic.times_dense(self, other)

    def __truediv__(self, other):
        return arithmetic.over_dense(self, other)

    __div__ = __truediv__

    @property
    def _array(self):
        raise CompositeInput(self)

    def _execute(self, op, inputs, attrs):
        return dispatch.execute_sparse(op, inputs, attrs)

    @property
    def _gradient_tensor(self):
        raise ValueError(
            "Type SparseTensor is not supported as a gradient source or gradient target. Use its "
            "`values`, or tf.sparse.to_dense."
        )

    @property
    def _type_spec(self):
        return SparseTensorSpec(self.shape, self.dtype)


def _require_equal(a, b):
    if a is not None and b is not None and a != b:
        raise ValueError(f"Dimensions {a} and {b} are not compatible")


class SparseTensorSpec(TypeSpec):
    """The shape and dtype of a sparse tensor.

    >>> tf.SparseTensorSpec([None, 3], tf.int32)
    SparseTensorSpec(TensorShape([None, 3]), tf.int32)
    """

    __slots__ = ("__weakref__", "_dtype", "_shape")

    def __init__(self, shape=None, dtype=float32):
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)

    @classmethod
    def from_value(cls, value):
        """The spec that describes a sparse tensor."""
        if isinstance(value, SparseTensor):
            return cls(value.shape, value.dtype)
        raise TypeError(f"Expected SparseTensor, got {type(value)}")

    @property
    def shape(self):
        """The static dense shape."""
        return self._shape

    @property
    def dtype(self):
        """The dtype of the elements."""
        return self._dtype

    @property
    def value_type(self):
        """SparseTensor."""
        return SparseTensor

    def _serialize(self):
        return self._shape, self._dtype

    @property
    def _component_specs(self):
        rank = self._shape.rank
        return [
            TensorSpec([None, rank], int64),
            TensorSpec([None], self._dtype),
            TensorSpec([rank], int64),
        ]

    def _to_components(self, value):
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components):
        value = SparseTensor(*components)
        value.set_shape(self._shape)
        return value

    def _batch(self, size):
        """The spec of this many tensors, stacked."""
        return SparseTensorSpec(TensorShape([size]).concatenate(self._shape), self._dtype)

    def _unbatch(self):
        """The spec of a row."""
        return SparseTensorSpec(row_shape(self._shape), self._dtype)


def as_sparse(value, name="sp_input"):
    """The given sparse tensor; TypeError for anything else."""
    if isinstance(value, SparseTensor):
        return value
    raise TypeError(f"Input must be a SparseTensor: `{name}` is {type(value).__name__}.")


def _as_input(value, dtype):
    """Public functions pass a sparse tensor through; `dispatch` handles it."""
    if dtype is not None and dtype is not value.dtype:
        raise ValueError(
            f"Tensor conversion requested dtype {dtype.name} for a SparseTensor with dtype "
            f"{value.dtype.name}. Use tf.cast to change the dtype."
        )
    return value


from . import arithmetic, dispatch  # noqa: E402  (they are written on the class)

COMPOSITES.add(SparseTensor)
register_converter(SparseTensor, _as_input)
register_type_spec(SparseTensor, SparseTensorSpec.from_value)
