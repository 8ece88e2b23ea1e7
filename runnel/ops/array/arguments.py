"""Converting arguments that hold sizes, axes or counts to integer tensors."""

from __future__ import annotations

import numpy as np

from ...core.context import state
from ...core.convert import convert_to_tensor, tensor_of
from ...core.dtypes import FLOATING, NUMERIC, int16, int32, int64
from ...core.errors import InvalidArgumentError
from ...core.op import type_text
from ...core.shapes import TensorShape
from ...core.tensor import Tensor

INDEX = frozenset({int32, int64})
INDICES = INDEX | {int16}
_INT = {int}
_ROWS = {list, tuple}
_SMALLEST, _LARGEST = -(2**31), 2**31 - 1


def integers(value) -> Tensor:
    """Sizes or axes as a tensor: int32 unless the value is a tensor or overflows it.

    A scalar must be an integer; a list of other numbers keeps its dtype, for the op to reject.
    """
    if isinstance(value, Tensor):
        return value
    quick = plain_integers(value)
    if quick is not None:
        return quick
    if isinstance(value, float | complex | bool):
        return convert_to_tensor(value, int32)
    return convert_to_tensor(value, dtype_hint=None if _are_long(value) else int32)


def sizes_tensor(value) -> Tensor:
    """Sizes converted as by `integers`; an error for other numbers."""
    quick = plain_integers(value)
    if quick is not None:
        return quick
    if isinstance(value, Tensor):
        return value
    return convert_to_tensor(value, int64 if _are_long(value) else int32)


def _are_long(value) -> bool:
    """Whether any of the integers overflows int32."""
    if isinstance(value, int | np.integer):
        return not _SMALLEST <= value <= _LARGEST
    if isinstance(value, np.ndarray):
        long = value.dtype.kind in "iu" and value.dtype.itemsize >= 4 and value.size
        return bool(long) and not (value.min() >= _SMALLEST and value.max() <= _LARGEST)
    if isinstance(value, TensorShape):
        return value.is_fully_defined() and _are_long(value.as_list())
    return isinstance(value, list | tuple) and any(map(_are_long, value))


def plain_integers(value) -> Tensor | None:
    """An int32 tensor of Python integers in a list or in nested lists; None for all else."""
    kind = type(value)
    if kind is int:
        return tensor_of(np.int32(value), int32) if _SMALLEST <= value <= _LARGEST else None
    if kind is not list and kind is not tuple:
        return None
    inner = set(map(type, value))
    if inner == _INT:
        fits = min(value) >= _SMALLEST and max(value) <= _LARGEST
        return tensor_of(np.array(value, np.int32), int32) if fits else None
    if not inner or not inner <= _ROWS or len(set(map(len, value))) != 1:
        return None
    if any(set(map(type, row)) != _INT for row in value):
        return None
    array = np.array(value)
    fits = array.min() >= _SMALLEST and array.max() <= _LARGEST
    return tensor_of(array.astype(np.int32), int32) if fits else None


def number(value, dtype) -> Tensor:
    """A Python number as a scalar tensor of the dtype; TypeError where it is out of range."""
    plain = type(value) is float and dtype in FLOATING
    if plain or (type(value) is int and value in (0, 1) and dtype in NUMERIC):
        return tensor_of(dtype.as_numpy_dtype(value), dtype)
    return convert_to_tensor(value, dtype)


def alike(values, dtype=None) -> list[Tensor]:
    """Convert a list argument to one dtype: that of the first tensor, or of the first value.

    Tensors are unchanged, for the op to reject mixed dtypes.
    """
    if dtype is None:
        for value in values:
            if isinstance(value, Tensor):
                dtype = value.dtype
                break
    tensors = []
    for value in values:
        if not isinstance(value, Tensor):
            quick = plain_integers(value) if dtype is None or dtype is int32 else None
            if quick is not None:
                value = quick
            elif type(value) is float and dtype in FLOATING:
                value = tensor_of(dtype.as_numpy_dtype(value), dtype)
            else:
                value = convert_to_tensor(value, dtype)
            if dtype is None:
                dtype = value.dtype
        tensors.append(value)
    return tensors


def require_type(op: str, attr: str, dtype, allowed) -> None:
    """Reject a dtype attribute that the op does not support."""
    if dtype not in allowed:
        names = ", ".join(sorted(type_text(each) for each in allowed))
        raise _bad_attribute(
            TypeError,
            f"Value for attr '{attr}' of {type_text(dtype)} is not in the list of allowed values: "
            f"{names} [Op:{op}]",
        )


def require_positive(op: str, attr: str, value: int) -> None:
    """Reject a count attribute below 1."""
    if value < 1:
        raise _bad_attribute(
            ValueError, f"Value for attr '{attr}' of {value} must be at least minimum 1 [Op:{op}]"
        )


def require_choice(op: str, attr: str, value, allowed) -> None:
    """Reject a string attribute that is not one of the op's choices."""
    if value not in allowed:
        names = ", ".join(f'"{each}"' for each in allowed)
        raise _bad_attribute(
            ValueError,
            f"Value for attr '{attr}' of {value!r} is not in the list of allowed values: {names} "
            f"[Op:{op}]",
        )


def _bad_attribute(kind: type[Exception], message: str) -> Exception:
    """An error of the operation, or of this class if it is raised while a graph is built."""
    return InvalidArgumentError(None, None, message) if state.graph is None else kind(message)


def axis_number(axis) -> int:
    """An axis given as a Python number or a scalar tensor."""
    try:
        return int(axis + 0)
    except (TypeError, ValueError):
        raise TypeError(f"Expected int for argument 'axis' not {axis!r}.") from None
