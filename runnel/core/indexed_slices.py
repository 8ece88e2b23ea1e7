"""IndexedSlices: a sparse set of rows of a tensor, such as the gradient of a gather."""

from __future__ import annotations

from typing import Any

from . import dtypes
from .convert import constant_shape, convert_to_tensor, register_converter
from .dtypes import DType
from .op import REGISTRY
from .shapes import TensorShape
from .tensor import Tensor
from .type_spec import TensorSpec, TypeSpec, register_type_spec


class IndexedSlices:
    """The rows `values` of a tensor of shape `dense_shape` at `indices`; duplicate indices are
    summed.

    >>> slices = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([1]), tf.constant([3, 2]))
    >>> tf.convert_to_tensor(slices).numpy().tolist()
    [[0.0, 0.0], [1.0, 2.0], [0.0, 0.0]]
    """

    __slots__ = ("_dense_shape", "_indices", "_values", "repeated")

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape
        # The original slices, if these are the result of summing duplicate indices.
        self.repeated: IndexedSlices | None = None

    @property
    def values(self) -> Any:
        return self._values

    @property
    def indices(self) -> Any:
        return self._indices

    @property
    def dense_shape(self) -> Any:
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        if self._dense_shape is None:
            return TensorShape(None)
        return constant_shape(convert_to_tensor(self._dense_shape))

    def get_shape(self) -> TensorShape:
        """The static shape of the dense tensor."""
        return self.shape

    @property
    def dtype(self) -> DType:
        dtype: DType = self._values.dtype
        return dtype

    @property
    def device(self) -> str:
        device: str = self._values.device
        return device

    @property
    def name(self) -> str:
        name: str = self._values.name
        return name

    @property
    def op(self) -> Any:
        return self._values.op

    @property
    def graph(self) -> Any:
        return self._values.graph

    def consumers(self) -> list[Any]:
        """The operations that use it; available in graphs only."""
        consumers: list[Any] = self._values.consumers()
        return consumers

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __str__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{shape})"

    @property
    def _type_spec(self) -> IndexedSlicesSpec:
        return IndexedSlicesSpec.of(self)


class IndexedSlicesSpec(TypeSpec):
    """The type spec of IndexedSlices: the dense shape, the dtype and the dtype of the indices."""

    __slots__ = ("_dense_shape_dtype", "_dtype", "_indices_dtype", "_indices_shape", "_shape")

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        indices_dtype: Any = dtypes.int64,
        dense_shape_dtype: Any = None,
        indices_shape: Any = None,
    ) -> None:
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._indices_dtype = dtypes.as_dtype(indices_dtype)
        self._dense_shape_dtype = (
            None if dense_shape_dtype is None else dtypes.as_dtype(dense_shape_dtype)
        )
        self._indices_shape = TensorShape(indices_shape).with_rank(1)

    @classmethod
    def of(cls, value: IndexedSlices) -> IndexedSlicesSpec:
        dense = value.dense_shape
        shape_dtype = None if dense is None else dense.dtype
        return cls(value.shape, value.dtype, value.indices.dtype, shape_dtype, value.indices.shape)

    @property
    def value_type(self) -> type:
        return IndexedSlices

    def _serialize(self) -> tuple[Any, ...]:
        return (
            self._shape,
            self._dtype,
            self._indices_dtype,
            self._dense_shape_dtype,
            self._indices_shape,
        )

    @property
    def _component_specs(self) -> Any:
        rows = self._indices_shape.concatenate(self._shape[1:])
        specs = [
            TensorSpec(rows, self._dtype),
            TensorSpec(self._indices_shape, self._indices_dtype),
        ]
        if self._dense_shape_dtype is not None:
            specs.append(TensorSpec([self._shape.rank], self._dense_shape_dtype))
        return tuple(specs)

    def _to_components(self, value: Any) -> Any:
        parts = (value.values, value.indices)
        return parts if value.dense_shape is None else (*parts, value.dense_shape)

    def _from_components(self, components: Any) -> IndexedSlices:
        return IndexedSlices(*components)


def to_dense(slices: IndexedSlices, dtype: DType | None = None) -> Tensor:
    """The dense tensor; rows with equal indices are summed."""
    if dtype is not None and dtype is not slices.dtype:
        raise ValueError(
            f"Tensor conversion requested dtype {dtype.name} for IndexedSlices with dtype "
            f"{slices.dtype.name}."
        )
    if slices.dense_shape is None:
        raise ValueError(
            "Tensor conversion requested for IndexedSlices for argument `value` without "
            f"dense_shape: {slices}. Give IndexedSlices its dense_shape."
        )
    rows = convert_to_tensor(slices.dense_shape)[0]
    dense: Tensor = REGISTRY["UnsortedSegmentSum"](
        convert_to_tensor(slices.values), convert_to_tensor(slices.indices), rows
    )
    return dense


register_converter(IndexedSlices, to_dense)
register_type_spec(IndexedSlices, IndexedSlicesSpec.of)
