"""Python builtins with staged arguments: `range`, `len`, `int`, `sorted`, ...

An object may override them: `__runnel_builtin__(name, *arguments, **keywords)` of the first
argument that defines it is called, and returns NotImplemented to decline (tf.data does).
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.variable import Variable
from ..ops.array.creation import range as tensor_range
from ..ops.array.shaping import shape
from ..ops.math.casting import cast
from ..ops.math.elementwise import abs as tensor_abs
from ..ops.tensor_array import TensorArray
from .values import is_staged


def _range(*arguments: Any) -> Any:
    return tensor_range(*arguments)


def _len(value: Any) -> Any:
    tensor = convert_to_tensor(value)
    rank = tensor.shape.rank
    if rank == 0:
        raise ValueError(f"len requires a non-scalar tensor, got one of shape {tensor.shape}")
    size = None if rank is None else tensor.shape[0]
    return shape(tensor)[0] if size is None else size


def _number(dtype: dtypes.DType) -> Callable[..., Any]:
    def convert(value: Any = 0, *more: Any) -> Any:
        tensor = convert_to_tensor(value)
        if tensor.dtype is dtypes.string:
            from ..ops.strings.numbers import to_number

            return to_number(tensor, dtype)
        return cast(tensor, dtype)

    return convert


def _sorted(iterable: Any, *, key: Any = None, reverse: bool = False) -> Any:
    from ..ops.math.sorting import argsort, sort

    direction = "DESCENDING" if reverse else "ASCENDING"
    tensor = convert_to_tensor(iterable)
    if key is None:
        if tensor.shape.rank not in (None, 1):
            raise ValueError(
                f"sorted() of a tensor needs one dimension, got shape {tensor.shape}. Use tf.sort."
            )
        return sort(tensor, direction=direction)
    from ..ops.array.gathering import gather
    from ..ops.mapping import map_fn

    return gather(tensor, argsort(map_fn(key, tensor), direction=direction, stable=True))


_STAGED: dict[Any, Callable[..., Any]] = {
    range: _range,
    len: _len,
    int: _number(dtypes.int32),
    float: _number(dtypes.float32),
    abs: tensor_abs,
    sorted: _sorted,
}
_ASKED = frozenset(
    {len, enumerate, zip, map, filter, any, all, next, sorted, abs, iter, sum, max, min}
)


def is_builtin(function: Any) -> bool:
    """Whether a function is a Python builtin."""
    name = getattr(function, "__name__", None)
    return isinstance(name, str) and getattr(builtins, name, None) is function


def call_builtin(function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Call a builtin function, or its replacement for these arguments."""
    if function in _ASKED:
        for argument in arguments:
            own = getattr(type(argument), "__runnel_builtin__", None)
            if own is not None:
                result = own(argument, function.__name__, *arguments, **keywords)
                if result is not NotImplemented:
                    return result
                break
    version = _STAGED.get(function)
    if version is not None and any(is_staged(each) for each in arguments):
        return version(*arguments, **keywords)
    if function is len and arguments and isinstance(arguments[0], TensorArray | Variable):
        value = arguments[0]
        return value.size() if isinstance(value, TensorArray) else len(value)
    return function(*arguments, **keywords)
