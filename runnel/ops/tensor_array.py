"""TensorArray: a list of tensors that are written one by one and stacked at the end."""

from __future__ import annotations

import functools

import numpy as np

from ..core import errors
from ..core.context import state
from ..core.convert import constant_value, convert_to_tensor
from ..core.dtypes import as_dtype, int32, int64, variant
from ..core.shapes import TensorShape
from ..core.tensor import SymbolicTensor, Tensor
from ..core.type_spec import TensorSpec, TypeSpec, register_type_spec
from . import tensor_list as lists
from .array.creation import zeros
from .array.joining import concat, split, stack, unstack
from .math.casting import cast


class TensorArray:
    """A list of tensors of one dtype; each write returns the TensorArray to use from then on.

    >>> squares = tf.TensorArray(tf.int32, size=3)
    >>> for i in range(3):
    ...     squares = squares.write(i, i * i)
    >>> squares.stack()
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([0, 1, 4], dtype=int32)>
    """

    def __new__(cls, *args, **kwargs):
        traced = cls is TensorArray and state.graph is not None
        return object.__new__(TracedTensorArray if traced else cls)

    def __init__(
        self,
        dtype,
        size=None,
        dynamic_size=None,
        clear_after_read=None,
        tensor_array_name=None,
        handle=None,
        flow=None,
        infer_shape=True,
        element_shape=None,
        colocate_with_first_write_call=True,
        name=None,
    ):
        if size is None:
            raise ValueError(
                "Size must be declared for TensorArrays when eager execution is enabled."
            )
        if handle is not None:
            raise ValueError("TensorArray handle is not supported when eager execution is enabled.")
        self._dtype = as_dtype(dtype)
        self._dynamic_size = bool(dynamic_size)
        self._clear_after_read = clear_after_read is None or bool(clear_after_read)
        self._infer_shape = infer_shape
        self._element_shape = TensorShape(element_shape)
        try:
            self._tensors: list[Tensor | None] = [None] * int(size)
        except (MemoryError, OverflowError):
            raise errors.ResourceExhaustedError(
                None, None, f"OOM when allocating a TensorArray of size {int(size)}."
            ) from None
        self._cleared: set[int] = set()

    @property
    def dtype(self):
        return self._dtype

    @property
    def dynamic_size(self):
        return self._dynamic_size

    @property
    def element_shape(self):
        return self._element_shape

    @property
    def handle(self):
        return None

    @property
    def flow(self):
        return convert_to_tensor(np.int32(0))

    def identity(self):
        """The same array."""
        return self

    def grad(self, source, flow=None, name=None):
        """Not needed: gradients are propagated through the tensors themselves."""
        raise NotImplementedError(
            "TensorArray.grad is not supported when executing eagerly; eager's gradient "
            "implementation does not use/need this function to compute gradients of operations "
            "that use TensorArrays."
        )

    def read(self, index, name=None):
        """The tensor at an index; zeros if it was not written."""
        index = _index(index)
        if not 0 <= index < len(self._tensors):
            raise errors.OutOfRangeError(
                None,
                None,
                f"Tried to read from index {index} but array size is: {len(self._tensors)}",
            )
        tensor = self._tensors[index]
        if tensor is None:
            if index in self._cleared:
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"Could not read index {index} twice because it was cleared after a previous "
                    "read (perhaps try setting clear_after_read = false?)",
                )
            tensor = self._tensors[index] = self._zero()
        if self._clear_after_read:
            self._tensors[index] = None
            self._cleared.add(index)
        return tensor

    def _zero(self):
        return zeros(convert_to_tensor(self._element_shape), self._dtype)

    def write(self, index, value, name=None):
        """The array with a tensor written at an index."""
        self._write(_index(index), self._checked(value))
        return self

    def _checked(self, value):
        if not isinstance(value, Tensor):
            as_text = isinstance(value, str | bytes) and self._dtype.name != "string"
            value = convert_to_tensor(value, None if as_text else self._dtype)
        if value.dtype is not self._dtype:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype "
                f"{value.dtype.name}",
            )
        if not self._element_shape.is_compatible_with(value.shape):
            raise ValueError(
                f"Incompatible shape for value ({value.shape}), expected ({self._element_shape})"
            )
        if self._infer_shape:
            self._element_shape = self._element_shape.merge_with(value.shape)
        return value

    def _write(self, index, tensor):
        size = len(self._tensors)
        if index < 0:
            raise errors.OutOfRangeError(
                None, None, f"Writing to negative indices (index {index}) is not allowed."
            )
        if index >= size:
            if not self._dynamic_size:
                raise errors.OutOfRangeError(
                    None,
                    None,
                    f"Tried to write to index {index} but array is not resizeable and size is: "
                    f"{size} (set dynamic_size=True, or a larger size)",
                )
            self._tensors.extend([None] * (index + 1 - size))
        self._tensors[index] = tensor

    def stack(self, name=None):
        """All tensors stacked along a new first axis."""
        if not self._tensors:
            sizes = [0, *self._element_shape.as_list()] if self._element_shape.rank else [0]
            return zeros(sizes, self._dtype)
        return stack(self._filled())

    def _filled(self):
        for index, tensor in enumerate(self._tensors):
            if tensor is None:
                self._tensors[index] = self._zero()
        return list(self._tensors)

    def gather(self, indices, name=None):
        """The tensors at several indices, stacked."""
        positions = [int(i) for i in np.ravel(constant_value(convert_to_tensor(indices)))]
        self._filled()
        return stack([self._tensors[index] for index in positions])

    def concat(self, name=None):
        """All tensors concatenated along their first axis."""
        return concat(self._filled(), 0)

    def unstack(self, value, name=None):
        """The array filled with the rows of a tensor."""
        rows = unstack(convert_to_tensor(value, dtype_hint=self._dtype))
        if len(rows) > len(self._tensors) and not self._dynamic_size:
            raise ValueError(
                f"Cannot unstack {len(rows)} tensors into a TensorArray of static size "
                f"{len(self._tensors)}"
            )
        self._tensors = [self._checked(row) for row in rows]
        return self

    def scatter(self, indices, value, name=None):
        """The array with the rows of a tensor written at several indices."""
        positions = np.ravel(constant_value(convert_to_tensor(indices)))
        rows = unstack(convert_to_tensor(value, dtype_hint=self._dtype))
        for index, row in zip(positions, rows, strict=True):
            self._write(int(index), self._checked(row))
        return self

    def split(self, value, lengths, name=None):
        """The array filled with slices of a tensor, of the given lengths."""
        sizes = [int(n) for n in np.ravel(constant_value(convert_to_tensor(lengths)))]
        value = convert_to_tensor(value, dtype_hint=self._dtype)
        if sum(sizes) != value.shape[0]:
            raise errors.InvalidArgumentError(
                None,
                None,
                "Expected sum of lengths to be equal to the first dimension of value: lengths "
                f"{sizes}, value of shape {value.shape}.",
            )
        self._infer_shape = self._infer_shape and len(set(sizes)) == 1
        self._tensors = [self._checked(piece) for piece in split(value, sizes)]
        return self

    def size(self, name=None):
        """The number of elements."""
        return convert_to_tensor(len(self._tensors), int32)

    def close(self, name=None):
        """Release the tensors."""
        self._tensors = []


def _index(index):
    value = constant_value(index) if isinstance(index, Tensor) else index
    if np.ndim(value):
        raise errors.InvalidArgumentError(
            None, None, f"The index of a TensorArray must be a scalar, got {value}."
        )
    return int(value)


class TracedTensorArray(TensorArray):
    """A TensorArray in a graph: its tensors are in a list value passed between operations."""

    def __init__(
        self,
        dtype,
        size=None,
        dynamic_size=None,
        clear_after_read=None,
        tensor_array_name=None,
        handle=None,
        flow=None,
        infer_shape=True,
        element_shape=None,
        colocate_with_first_write_call=True,
        name=None,
    ):
        if flow is None and size is None and not dynamic_size:
            raise ValueError("Size must be declared for TensorArrays.")
        self._dtype = as_dtype(dtype)
        self._dynamic_size = bool(dynamic_size)
        self._infer_shape = infer_shape
        self._element_shape = TensorShape(element_shape)
        if flow is None:
            flow = lists.TensorListReserve(
                self._shape_tensor(),
                _int32(0 if size is None else size),
                element_dtype=self._dtype,
            )
        self._flow = flow

    @property
    def flow(self):
        return self._flow

    @property
    def handle(self):
        return self._flow

    def _shape_tensor(self):
        shape = self._element_shape
        if shape.rank is None:
            return convert_to_tensor(np.int32(-1))
        return convert_to_tensor(np.array([-1 if n is None else n for n in shape], np.int32))

    def _with(self, flow):
        made = object.__new__(TracedTensorArray)
        made.__dict__ = {**self.__dict__, "_flow": flow}
        return made

    def _known_size(self):
        return None if self._dynamic_size else _length(_origin(self._flow))

    def read(self, index, name=None):
        """The tensor at an index; zeros if it was not written."""
        return lists.TensorListGetItem(
            self._flow, _int32(index), self._shape_tensor(), element_dtype=self._dtype
        )

    def write(self, index, value, name=None):
        """The array with a tensor written at an index."""
        value = self._checked(value)
        flow = lists.TensorListSetItem(
            self._flow,
            _int32(index),
            value,
            resize_if_index_out_of_bounds=self._dynamic_size,
        )
        return self._with(flow)

    def _checked(self, value):
        tensor = convert_to_tensor(value, None if isinstance(value, Tensor) else self._dtype)
        if tensor.dtype is not self._dtype:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Invalid data type: TensorArray of {self._dtype.name}, tensor of "
                f"{tensor.dtype.name}. Use tf.cast.",
            )
        return super()._checked(tensor)

    def stack(self, name=None):
        """All tensors stacked along a new first axis."""
        stacked = lists.TensorListStack(self._flow, self._shape_tensor(), element_dtype=self._dtype)
        stacked.set_shape(TensorShape([self._known_size()]).concatenate(self._element_shape))
        return stacked

    def gather(self, indices, name=None):
        """The tensors at several indices, stacked."""
        return lists.TensorListGather(
            self._flow, _int32(indices), self._shape_tensor(), element_dtype=self._dtype
        )

    def concat(self, name=None):
        """All tensors concatenated along their first axis."""
        joined, _ = lists.TensorListConcatV2(
            self._flow,
            self._shape_tensor(),
            convert_to_tensor(np.zeros(0, np.int64)),
            element_dtype=self._dtype,
        )
        return joined

    def unstack(self, value, name=None):
        """The array filled with the rows of a tensor."""
        value = convert_to_tensor(value, dtype_hint=self._dtype)
        self._notice_rows(value)
        return self._with(lists.TensorListFromTensor(value, self._shape_tensor()))

    def _notice_rows(self, value):
        if self._infer_shape and value.shape.rank is not None:
            self._element_shape = self._element_shape.merge_with(value.shape[1:])

    def scatter(self, indices, value, name=None):
        """The array with the rows of a tensor written at several indices."""
        value = convert_to_tensor(value, dtype_hint=self._dtype)
        self._notice_rows(value)
        flow = lists.TensorListScatterIntoExistingList(self._flow, value, _int32(indices))
        return self._with(flow)

    def split(self, value, lengths, name=None):
        """The array filled with slices of a tensor, of the given lengths."""
        value = convert_to_tensor(value, dtype_hint=self._dtype)
        self._element_shape = TensorShape([None]).concatenate(value.shape[1:])
        lengths = cast(convert_to_tensor(lengths), int64)
        return self._with(lists.TensorListSplitRows(value, lengths))

    def size(self, name=None):
        """The number of elements."""
        known = self._known_size()
        if known is not None:
            return convert_to_tensor(known, int32)
        return lists.TensorListLength(self._flow)

    def close(self, name=None):
        """No effect: the list is released after its last use."""


def _origin(flow):
    """The list of which a list has the size: traced back through writes, loops and branches."""
    while isinstance(flow, SymbolicTensor):
        maker, place = flow.op, flow.index
        if maker.type in ("TensorListSetItem", "TensorListScatterIntoExistingList"):
            flow = maker.inputs[0]
        elif maker.type == "While":
            body = maker.given["body"]
            if (
                place >= maker.given["carried"]
                or _origin(body.outputs[place]) is not (body.feeds[place])
            ):
                break
            flow = maker.inputs[place]
        elif maker.type == "If":
            taken = {_place_of_origin(maker.given[name], place) for name in _BRANCHES}
            if len(taken) > 1 or None in taken:
                break
            flow = maker.inputs[1 + taken.pop()]
        else:
            break
    return flow


_BRANCHES = ("then_branch", "else_branch")


def _place_of_origin(branch, place):
    """The index of the input whose size a branch's output has; None if there is none."""
    origin = _origin(branch.outputs[place])
    return next((i for i, feed in enumerate(branch.feeds) if feed is origin), None)


def _length(flow):
    """The size of a new list, if statically known."""
    if not isinstance(flow, SymbolicTensor):
        return flow._array.size
    maker = flow.op
    if maker.type == "TensorListReserve":
        size = constant_value(maker.inputs[1])
        return None if size is None else int(size)
    if maker.type in ("TensorListFromTensor", "TensorListSplitRows"):
        rows = maker.inputs[maker.type == "TensorListSplitRows"].shape
        return rows[0] if rows.rank else None
    return None


def _int32(value):
    tensor = convert_to_tensor(value, None if isinstance(value, Tensor) else int32)
    return tensor if tensor.dtype is int32 else cast(tensor, int32)


def _of_either_kind(name):
    """A method by which the class itself, too, works on arrays in graphs."""
    eager, traced = getattr(TensorArray, name), getattr(TracedTensorArray, name)

    @functools.wraps(eager)
    def method(self, *args, **kwargs):
        chosen = traced if isinstance(self, TracedTensorArray) else eager
        return chosen(self, *args, **kwargs)

    return method


for _name in ("read", "write", "stack", "gather", "concat", "unstack", "scatter", "split"):
    setattr(TensorArray, _name, _of_either_kind(_name))
for _name in ("size", "close"):
    setattr(TensorArray, _name, _of_either_kind(_name))


class TensorArraySpec(TypeSpec):
    """The type of a TensorArray."""

    __slots__ = ("_dtype", "_dynamic_size", "_element_shape", "_infer_shape")

    def __init__(self, element_shape=None, dtype=None, dynamic_size=False, infer_shape=True):
        self._element_shape = TensorShape(element_shape)
        self._dtype = as_dtype("float32" if dtype is None else dtype)
        self._dynamic_size = dynamic_size
        self._infer_shape = infer_shape

    @classmethod
    def from_value(cls, value):
        """The spec of an array."""
        return cls(value.element_shape, value.dtype, value.dynamic_size, value._infer_shape)

    @property
    def value_type(self):
        return TensorArray

    @property
    def _component_specs(self):
        return [TensorSpec([], variant)]

    def _to_components(self, value):
        if isinstance(value, TracedTensorArray):
            return [value.flow]
        arrays = [None if each is None else each._array for each in value._tensors]
        return [Tensor(lists.TensorList.of(arrays), variant)]

    def _from_components(self, components):
        (flow,) = components
        if isinstance(flow, SymbolicTensor):
            array = object.__new__(TracedTensorArray)
            size = None
        else:
            array = object.__new__(TensorArray)
            size = flow._array.size
        array.__init__(
            self._dtype,
            size,
            dynamic_size=self._dynamic_size,
            flow=flow,
            infer_shape=self._infer_shape,
            element_shape=self._element_shape,
        )
        for index, each in flow._array.items() if size else ():
            array._tensors[index] = Tensor(each, self._dtype)
        return array

    def _serialize(self):
        return self._element_shape, self._dtype, self._dynamic_size, self._infer_shape


register_type_spec(TensorArray, TensorArraySpec.from_value)
setattr(TensorArray, "_type_spec", property(TensorArraySpec.from_value))  # noqa: B010 - no cycle
