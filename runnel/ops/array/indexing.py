"""`tensor[key]` and `variable[key]`: all Python keys, and assignment to slices of variables."""

from __future__ import annotations

import functools
import numbers

import numpy as np

from ...core import errors
from ...core.convert import constant_value, convert_to_tensor, tensor_of
from ...core.dtypes import bool as bool_dtype, int16, int32, int64
from ...core.op import execute
from ...core.tensor import SymbolicTensor, Tensor
from ...core.variable import Variable
from .. import variable_updates
from ..math import arithmetic, casting
from . import joining, selection, slicing

_INDEX = (int16, int32, int64)
_PLAIN = (int, type(None))
_ONE = Tensor(np.ones(1, np.int32), int32)
_FIRST = {"shrink_axis_mask": 1}
_NOT_AN_INDEX = (
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
    "tf.int32/tf.int64 tensors are valid indices, got {!r}"
)
_GATHER = (
    ". tf.gather(x, indices) takes several rows, tf.boolean_mask(x, mask) those where a mask is "
    "True; x.numpy() gives an array, which takes all of NumPy's indices."
)
_NUMBER = ". Round it to an integer: int(i), tf.cast(i, tf.int32)."
_LIST_AS_KEY = (
    "The list {key} means an index for each axis, as x[0, 1] does: tf.gather(x, {key}) takes these "
    "rows, tf.boolean_mask those where a mask is True."
)


def getitem(tensor, key):
    """`tensor[key]` with integers, slices, ellipsis, newaxis, scalar tensors or a boolean mask."""
    if type(key) is int:
        return execute(slicing.StridedSlice, (tensor, *_integer(key)), _FIRST)
    if _is_mask(key):
        return selection.boolean_mask(tensor, key)
    (begin, end, strides), masks = _bounds(key)
    if type(key) is list:
        return _by_list(tensor, key, (begin, end, strides), masks)
    return execute(slicing.StridedSlice, (tensor, begin, end, strides), masks)


def _by_list(tensor, key, bounds, masks):
    """A list as a key is one index per axis, which is rarely intended."""
    try:
        return execute(slicing.StridedSlice, (tensor, *bounds), masks)
    except errors.InvalidArgumentError as failure:
        message = f"{failure.message} {_LIST_AS_KEY.format(key=key)}"
        raise errors.InvalidArgumentError(None, None, message) from None
    except ValueError as failure:
        raise ValueError(f"{failure} {_LIST_AS_KEY.format(key=key)}") from None


def variable_getitem(variable, key):
    """`variable[key]`: a tensor whose `assign` updates that slice of the variable."""
    tensor = variable._as_tensor()
    if _is_mask(key):
        return selection.boolean_mask(tensor, key)
    bounds, masks = (_integer(key), _FIRST) if type(key) is int else _bounds(key)
    if type(key) is list:
        return assignable(_by_list(tensor, key, bounds, masks), variable, bounds, masks)
    result = execute(slicing.StridedSlice, (tensor, *bounds), masks)
    return assignable(result, variable, bounds, masks)


def _is_mask(key):
    kind = type(key)
    if kind is bool:
        return True
    if kind is np.ndarray:
        return key.dtype == np.bool_
    return isinstance(key, Tensor) and key.dtype is bool_dtype


@functools.lru_cache(4096)
def _integer(index):
    return _same_type((_vector([index]), _vector([index + 1]), _ONE))


@functools.lru_cache(4096, typed=True)
def _range(start, stop, step):
    bounds = (
        _vector([start or 0]), _vector([stop or 0]), _ONE if step is None else _vector([step])
    )  # fmt: skip
    masks = {}
    if start is None:
        masks["begin_mask"] = 1
    if stop is None:
        masks["end_mask"] = 1
    return _same_type(bounds), masks


def _vector(values):
    dtype = int32 if all(-(2**31) <= value < 2**31 for value in values) else int64
    try:
        return Tensor(np.array(values, dtype.numpy), dtype)
    except OverflowError:
        raise ValueError(
            f"Can't convert Python sequence with out-of-range integer to Tensor: {values}"
        ) from None


def _same_type(bounds):
    if all(bound.dtype is int32 for bound in bounds):
        return bounds
    return tuple(Tensor(bound._array.astype(np.int64), int64) for bound in bounds)


def _bounds(key):
    """The begin, end and strides tensors of a key, and the masks of its strided slice."""
    if type(key) is slice:
        start, stop, step = key.start, key.stop, key.step
        if type(start) in _PLAIN and type(stop) in _PLAIN and type(step) in _PLAIN:
            return _range(start, stop, step)
    elif type(key) is tuple:
        plain = _plain(key)
        if plain is not None:
            return _plain_bounds(plain)
    return _general_bounds(key)


def _plain(key):
    """A tuple of Python ints and slices of them as a cache key; None for others."""
    parts = []
    for entry in key:
        kind = type(entry)
        if kind is slice:
            start, stop, step = entry.start, entry.stop, entry.step
            if not (type(start) in _PLAIN and type(stop) in _PLAIN and type(step) in _PLAIN):
                return None
            parts.append((start, stop, step))
        elif kind is int or entry is None or entry is Ellipsis:
            parts.append(entry)
        else:
            return None
    return tuple(parts)


@functools.lru_cache(4096)
def _plain_bounds(parts):
    return _general_bounds([slice(*part) if type(part) is tuple else part for part in parts])


def _general_bounds(key):
    entries = key if isinstance(key, list | tuple) else (key,)
    begin, end, strides, masks = [], [], [], {}

    def mark(name):
        masks[name] = masks.get(name, 0) | 1 << len(begin)

    for entry in entries:
        start, stop, step = 0, 0, 1
        if entry is None:
            mark("new_axis_mask")
        elif entry is Ellipsis:
            mark("ellipsis_mask")
        elif isinstance(entry, slice):
            if entry.start is None:
                mark("begin_mask")
            else:
                start = _index(entry.start)
            if entry.stop is None:
                mark("end_mask")
            else:
                stop = _index(entry.stop)
            if entry.step is not None:
                step = _index(entry.step)
        else:
            mark("shrink_axis_mask")
            start = _index(entry)
            stop = arithmetic.add(start, 1) if isinstance(start, Tensor) else start + 1
        begin.append(start)
        end.append(stop)
        strides.append(step)
    parts = [*begin, *end, *strides]
    if any(isinstance(part, Tensor) for part in parts):
        return _packed(begin, end, strides), masks
    if any(isinstance(part, bool) for part in begin):
        # Booleans compare equal to 0 and 1, but are rejected as indices.
        return (convert_to_tensor(begin), _vector(end), _vector(strides)), masks
    return _same_type((_vector(begin), _vector(end), _vector(strides))), masks


def _index(value):
    """A bound as a Python int, or as a tensor where its value is not statically known."""
    if isinstance(value, Variable):
        value = value._as_tensor()
    if isinstance(value, Tensor):
        if value.dtype in _INDEX and value.shape.rank != 1:
            known = constant_value(value) if value.folds_as_index else None
            return value if known is None or known.ndim else known.item()
    elif isinstance(value, numbers.Integral):
        return value if isinstance(value, bool) else int(value)
    elif isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "iu":
        return value.item()
    several = getattr(value, "shape", ()) != () or isinstance(value, list | tuple)
    number = isinstance(value, float) or getattr(value, "dtype", None) is not None
    advice = _GATHER if several else _NUMBER if number else ""
    raise TypeError(_NOT_AN_INDEX.format(value) + advice)


def _packed(*vectors):
    parts = [part for vector in vectors for part in vector]
    wide = any(
        part.dtype is int64 if isinstance(part, Tensor) else not -(2**31) <= part < 2**31
        for part in parts
    )
    dtype = int64 if wide else int32
    return tuple(
        joining.Pack(
            [
                casting.cast(part, dtype)
                if isinstance(part, Tensor)
                else tensor_of(dtype.as_numpy_dtype(part), dtype)
                for part in vector
            ]
        )
        for vector in vectors
    )


class _Assignable:
    """The methods of a variable's slice in addition to those of a tensor."""

    __slots__ = ()

    def assign(self, value, name=None):
        """Assign a (broadcast) value to this slice of the variable; returns the variable."""
        value = convert_to_tensor(value, self.dtype)
        self._let_go()
        inputs = (self._variable.handle, *self._bounds, value)
        execute(variable_updates.ResourceStridedSliceAssign, inputs, self._masks)
        return self._variable._updated()

    def assign_add(self, value, name=None):
        """Add to this slice of the variable; returns the variable."""
        return self.assign(arithmetic.add(self._current(), value))

    def assign_sub(self, value, name=None):
        """Subtract from this slice of the variable; returns the variable."""
        return self.assign(arithmetic.subtract(self._current(), value))

    def _current(self):
        inputs = (self._variable._as_tensor(), *self._bounds)
        return execute(slicing.StridedSlice, inputs, self._masks)


class VariableSlice(_Assignable, Tensor):
    """The value of a variable's slice, with `assign` to update the slice."""

    __slots__ = ("_bounds", "_masks", "_variable")

    def _let_go(self):
        # Copying the slice avoids a copy of the whole buffer in the update.
        if type(self._array) is np.ndarray:
            self._array = self._array.copy()


class SymbolicVariableSlice(_Assignable, SymbolicTensor):
    """A variable's slice in a graph, with `assign` to update the slice."""

    __slots__ = ("_bounds", "_masks", "_variable")

    def _let_go(self):
        pass  # it holds no value


def assignable(result, variable, bounds, masks):
    """The result of slicing a variable as a tensor with `assign`."""
    if isinstance(result, SymbolicTensor):
        part = SymbolicVariableSlice(result.op, result.index, result.dtype, result.shape)
        result.op.outputs[result.index] = part
    else:
        part = VariableSlice(result._array, result.dtype)
    # The same key: tapes identify it with the result.
    part._key = result._key
    part._variable, part._bounds, part._masks = variable, bounds, masks
    return part
