"""Lists of tensors as values in graphs; TensorArray is built on them.

A list is immutable: writing returns another list. Both use one buffer as long as each index is
written once (a persistent data structure), so that filling a list of n elements takes O(n).
"""

from __future__ import annotations

import numpy as np

from ..core.convert import constant_value
from ..core.errors import InvalidArgumentError
from ..core.op import op
from ..core.shape_rules import UNKNOWN, scalar
from ..core.shapes import TensorShape


def _each_row(array):
    """The rows of an array; scalar strings stay arrays, as kernels expect."""
    if array.ndim > 1 or array.dtype != object:
        return list(array)
    return [array[i, ...] for i in range(len(array))]


class TensorList:
    """Arrays by index; None where nothing was written.

    An index holds (version, array) pairs: this list sees those written up to its own version.
    """

    __slots__ = ("_buffer", "_version", "shape", "size")

    def __init__(self, size, buffer=None, version=0):
        self._buffer = {"version": 0} if buffer is None else buffer
        self._version = version
        self.size = size
        self.shape = ()

    @classmethod
    def of(cls, arrays):
        """The list of these arrays."""
        made = cls(len(arrays))
        made._buffer.update(enumerate((0, array) for array in arrays))
        return made

    def get(self, index):
        """The array at an index, or None."""
        entry = self._buffer.get(index)
        return None if entry is None or entry[0] > self._version else entry[1]

    def items(self):
        """The arrays written, with their indices."""
        for index in range(self.size):
            array = self.get(index)
            if array is not None:
                yield index, array

    def set(self, index, array, size=None):
        """The list with an array at an index."""
        buffer, version = self._buffer, self._version
        if buffer["version"] != version or buffer.get(index) is not None:
            buffer = {"version": version, **{i: (version, a) for i, a in self.items()}}
        if array is None:
            buffer.pop(index, None)
        else:
            buffer[index] = (version + 1, array)
        buffer["version"] = version + 1
        return TensorList(self.size if size is None else size, buffer, version + 1)

    def resized(self, size):
        """The list with another size."""
        made = TensorList(size)
        made._buffer.update((i, (0, a)) for i, a in self.items() if i < size)
        return made

    def plus(self, other):
        """The element-wise sum, for gradients: unwritten elements are zero."""
        longer, shorter = (self, other) if self.size >= other.size else (other, self)
        few, many = sorted((longer, shorter), key=lambda each: len(each._buffer))
        for index, array in few.items():
            known = many.get(index)
            many = many.set(index, array if known is None else known + array)
        return many if many.size == longer.size else many.resized(longer.size)

    def arrays(self, shape, dtype):
        """All arrays; zeros where nothing was written."""
        found = [self.get(index) for index in range(self.size)]
        if any(array is None for array in found):
            zero = np.zeros(self._element_shape(shape, found), dtype.numpy)
            found = [zero if array is None else array for array in found]
        return found

    def _element_shape(self, shape, found):
        for array in found:
            if array is not None:
                return array.shape
        return known_sizes(shape)

    def __repr__(self):
        return f"<TensorList of {self.size}>"


def zeros_of(like):
    """Zeros like a list of tensors, the lists that loops collect, or an array."""
    if isinstance(like, TensorList):
        return TensorList(like.size)
    if isinstance(like, list):
        return [zeros_of(each) for each in like]
    return np.zeros_like(like)[()]


def sum_of(x, y):
    """The element-wise sum of two lists of gradients."""
    if isinstance(x, TensorList):
        return x.plus(y)
    if isinstance(x, list):
        return [sum_of(a, b) for a, b in zip(x, y, strict=True)]
    return x + y


def known_sizes(shape):
    """The shape of an unwritten element, from the declared shape."""
    sizes = [] if shape is None else [int(n) for n in np.ravel(shape)]
    if shape is None or any(n < 0 for n in sizes):
        raise InvalidArgumentError(
            None,
            None,
            "Tried to read an element that was never written, and the element shape "
            f"{sizes or 'is unknown'} is not fully defined. Give the TensorArray an "
            "element_shape, or write every element first.",
        )
    return tuple(sizes)


def _checked_index(list_value, index):
    index = int(index)
    if not 0 <= index < list_value.size:
        raise InvalidArgumentError(
            None,
            None,
            f"Tried to read from index {index} but array size is: {list_value.size}",
        )
    return index


def _element(inputs, attrs, position=-1):
    """The static shape of an element, from the `element_shape` input."""
    value = constant_value(inputs[position])
    if value is None or (np.ndim(value) == 0 and value < 0):
        return UNKNOWN
    return TensorShape([None if n < 0 else int(n) for n in np.ravel(value)])


def _rows(inputs, attrs):
    return TensorShape([None]).concatenate(_element(inputs, attrs))


def _shape_argument(shape):
    return None if np.ndim(shape) == 0 else shape


@op(
    "TensorListReserve",
    "element_shape: int32, num_elements: int32 -> handle: variant",
    shape=scalar,
    gradient=None,
)
def TensorListReserve(element_shape, num_elements, *, element_dtype):
    if num_elements < 0:
        raise ValueError(f"The size of a TensorArray must not be negative, got {num_elements}.")
    return TensorList(int(num_elements))


@op("TensorListLength", "input_handle: variant -> length: int32", shape=scalar, gradient=None)
def TensorListLength(input_handle):
    return np.int32(input_handle.size)


@op(
    "TensorListSetItem",
    "input_handle: variant, index: int32, item: element_dtype -> output_handle: variant",
    shape=scalar,
)
def TensorListSetItem(input_handle, index, item, *, resize_if_index_out_of_bounds=False):
    index = int(index)
    size = input_handle.size
    if index < 0 or (index >= size and not resize_if_index_out_of_bounds):
        raise InvalidArgumentError(
            None,
            None,
            f"Tried to write to index {index} but array is not resizeable and size is: {size} "
            "(set dynamic_size=True, or a larger size)",
        )
    return input_handle.set(index, item, max(size, index + 1))


@TensorListSetItem.gradient
def _(op, gradient):
    handle, index, item = op.inputs
    rest = TensorListClear(gradient, index, handle)
    return rest, None, TensorListGetLike(gradient, index, item)


@op(
    "TensorListClear",
    "input_handle: variant, index: int32, like: variant -> output_handle: variant",
    shape=scalar,
)
def TensorListClear(input_handle, index, like):
    cleared = input_handle.set(int(index), None)
    return cleared if cleared.size == like.size else cleared.resized(like.size)


@TensorListClear.gradient
def _(op, gradient):
    handle, index, _ = op.inputs
    return TensorListClear(gradient, index, handle), None, None


@op(
    "TensorListGetLike",
    "input_handle: variant, index: int32, like: element_dtype -> item: element_dtype",
    shape=lambda inputs, attrs: inputs[2].shape,
)
def TensorListGetLike(input_handle, index, like):
    array = input_handle.get(int(index))
    return np.zeros_like(like)[()] if array is None else array


@TensorListGetLike.gradient
def _(op, gradient):
    handle, index, _ = op.inputs
    return TensorListOnly(handle, index, gradient), None, None


@op(
    "TensorListOnly",
    "like: variant, index: int32, item: element_dtype -> handle: variant",
    shape=scalar,
)
def TensorListOnly(like, index, item):
    return TensorList(like.size).set(int(index), item)


@TensorListOnly.gradient
def _(op, gradient):
    _, index, item = op.inputs
    return None, None, TensorListGetLike(gradient, index, item)


TensorListZeros = op(
    "TensorListZeros", "like: variant -> zeros: variant", shape=scalar, kernel=zeros_of,
    gradient=None,
)  # fmt: skip


@op(
    "TensorListGetItem",
    "input_handle: variant, index: int32, element_shape: int32 -> item: element_dtype",
    shape=_element,
)
def TensorListGetItem(input_handle, index, element_shape, *, element_dtype):
    array = input_handle.get(_checked_index(input_handle, index))
    if array is not None:
        return array
    return input_handle.arrays(_shape_argument(element_shape), element_dtype)[int(index)]


@TensorListGetItem.gradient
def _(op, gradient):
    handle, index, _ = op.inputs
    return TensorListOnly(handle, index, gradient), None, None


@op(
    "TensorListStack",
    "input_handle: variant, element_shape: int32 -> tensor: element_dtype",
    shape=_rows,
)
def TensorListStack(input_handle, element_shape, *, element_dtype, num_elements=-1):
    shape = _shape_argument(element_shape)
    if not input_handle.size:
        return np.zeros((0, *known_sizes(shape)), element_dtype.numpy)
    arrays = input_handle.arrays(shape, element_dtype)
    try:
        return np.stack(arrays)
    except ValueError:
        raise ValueError(
            "Tried to stack list which only contains elements of different shapes: "
            f"{sorted({array.shape for array in arrays})}."
        ) from None


@TensorListStack.gradient
def _(op, gradient):
    return TensorListUnstack(gradient), None


@op("TensorListUnstack", "tensor: element_dtype -> handle: variant", shape=scalar)
def TensorListUnstack(tensor):
    return TensorList.of(_each_row(tensor))


@TensorListUnstack.gradient
def _(op, gradient):
    (tensor,) = op.inputs
    return TensorListStackLike(gradient, tensor)


@op(
    "TensorListStackLike",
    "input_handle: variant, like: element_dtype -> tensor: element_dtype",
    shape=lambda inputs, attrs: inputs[1].shape,
)
def TensorListStackLike(input_handle, like):
    """The rows stacked; unwritten ones are zero."""
    result = np.zeros_like(like)
    for index, array in input_handle.items():
        result[index] = array
    return result


@TensorListStackLike.gradient
def _(op, gradient):
    return TensorListUnstack(gradient), None


@op(
    "TensorListFromTensor",
    "tensor: element_dtype, element_shape: int32 -> output_handle: variant",
    shape=scalar,
)
def TensorListFromTensor(tensor, element_shape):
    return TensorList.of(_each_row(tensor))


@TensorListFromTensor.gradient
def _(op, gradient):
    return TensorListStackLike(gradient, op.inputs[0]), None


def _gathered(inputs, attrs):
    return inputs[1].shape.with_rank(1).concatenate(_element(inputs, attrs))


@op(
    "TensorListGather",
    "input_handle: variant, indices: int32, element_shape: int32 -> values: element_dtype",
    shape=_gathered,
)
def TensorListGather(input_handle, indices, element_shape, *, element_dtype):
    arrays = input_handle.arrays(_shape_argument(element_shape), element_dtype)
    places = [_checked_index(input_handle, i) for i in np.ravel(indices)]
    if not places:
        return np.zeros((0, *known_sizes(_shape_argument(element_shape))), element_dtype.numpy)
    return np.stack([arrays[i] for i in places])


@TensorListGather.gradient
def _(op, gradient):
    handle, indices, _ = op.inputs
    return TensorListScatterLike(handle, indices, gradient), None, None


@op(
    "TensorListScatterLike",
    "like: variant, indices: int32, rows: element_dtype -> handle: variant",
    shape=scalar,
)
def TensorListScatterLike(like, indices, rows):
    """A list of rows scattered to the indices, summed at duplicate indices."""
    made = TensorList(like.size)
    for index, row in zip(np.ravel(indices).tolist(), _each_row(rows), strict=True):
        known = made.get(index)
        made = made.set(index, row if known is None else known + row)
    return made


@TensorListScatterLike.gradient
def _(op, gradient):
    _, indices, rows = op.inputs
    return None, None, TensorListGatherLike(gradient, indices, rows)


@op(
    "TensorListGatherLike",
    "input_handle: variant, indices: int32, like: element_dtype -> values: element_dtype",
    shape=lambda inputs, attrs: inputs[2].shape,
)
def TensorListGatherLike(input_handle, indices, like):
    result = np.zeros_like(like)
    for place, index in enumerate(np.ravel(indices).tolist()):
        array = input_handle.get(index)
        if array is not None:
            result[place] = array
    return result


@TensorListGatherLike.gradient
def _(op, gradient):
    handle, indices, _ = op.inputs
    return TensorListScatterLike(handle, indices, gradient), None, None


@op(
    "TensorListScatterIntoExistingList",
    "input_handle: variant, tensor: element_dtype, indices: int32 -> output_handle: variant",
    shape=scalar,
)
def TensorListScatterIntoExistingList(input_handle, tensor, indices):
    made = input_handle
    for index, row in zip(np.ravel(indices).tolist(), _each_row(tensor), strict=True):
        made = made.set(index, row, max(made.size, index + 1))
    return made


@TensorListScatterIntoExistingList.gradient
def _(op, gradient):
    _, tensor, indices = op.inputs
    return gradient, TensorListGatherLike(gradient, indices, tensor), None


@op(
    "TensorListConcatV2",
    "input_handle: variant, element_shape: int32, leading_dims: int64"
    " -> tensor: element_dtype, lengths: int64",
    shape=lambda inputs, attrs: [
        TensorShape([None]).concatenate(_element(inputs, attrs, 1)[1:]),
        TensorShape([None]),
    ],
)
def TensorListConcatV2(input_handle, element_shape, leading_dims, *, element_dtype):
    arrays = input_handle.arrays(_shape_argument(element_shape), element_dtype)
    lengths = np.array([array.shape[0] for array in arrays], np.int64)
    if not arrays:
        return np.zeros(0, element_dtype.numpy), lengths
    return np.concatenate(arrays), lengths


@TensorListConcatV2.gradient
def _(op, gradient, _):
    return TensorListSplitRows(gradient, op.outputs[1]), None, None


@op(
    "TensorListSplitRows",
    "tensor: element_dtype, lengths: int64 -> output_handle: variant",
    shape=scalar,
)
def TensorListSplitRows(tensor, lengths):
    ends = np.cumsum(lengths)
    if len(lengths) and ends[-1] != tensor.shape[0]:
        raise ValueError(
            "Expected sum of lengths to be equal to the first dimension of value: lengths "
            f"{lengths.tolist()}, value of shape {tensor.shape}."
        )
    return TensorList.of(np.split(tensor, ends[:-1]) if len(lengths) else [])


@TensorListSplitRows.gradient
def _(op, gradient):
    tensor, lengths = op.inputs
    return TensorListJoinLike(gradient, lengths, tensor), None


@op(
    "TensorListJoinLike",
    "input_handle: variant, lengths: int64, like: element_dtype -> tensor: element_dtype",
    shape=lambda inputs, attrs: inputs[2].shape,
)
def TensorListJoinLike(input_handle, lengths, like):
    result = np.zeros_like(like)
    start = 0
    for index, length in enumerate(lengths.tolist()):
        array = input_handle.get(index)
        if array is not None:
            result[start : start + length] = array
        start += length
    return result


@TensorListJoinLike.gradient
def _(op, gradient):
    return TensorListSplitRows(gradient, op.inputs[1]), None, None
