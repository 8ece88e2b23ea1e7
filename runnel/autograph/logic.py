"""`and`, `or`, `not`, comparisons and `assert`, on tensors and on Python values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ..core.convert import convert_to_tensor
from ..core.tensor import Tensor
from ..ops import control_flow
from ..ops.array.shaping import identity
from ..ops.debugging import Assert
from ..ops.math.comparison import equal, logical_not
from .values import is_staged

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
    "!=": operator.ne, "is": operator.is_, "is not": operator.is_not,
    "in": lambda item, items: item in items, "not in": lambda item, items: item not in items,
}  # fmt: skip


def and_(a: Callable[[], Any], b: Callable[[], Any]) -> Any:
    """`a() and b()`, short-circuiting: the second operand only if the first is true."""
    left = a()
    if not is_staged(left):
        return left and b()
    first = identity(left)
    return control_flow.cond(first, lambda: convert_to_tensor(b()), lambda: first)


def or_(a: Callable[[], Any], b: Callable[[], Any]) -> Any:
    """`a() or b()`, short-circuiting: the second operand only if the first is false."""
    left = a()
    if not is_staged(left):
        return left or b()
    first = identity(left)
    return control_flow.cond(first, lambda: first, lambda: convert_to_tensor(b()))


def not_(a: Any) -> Any:
    """`not a`."""
    if isinstance(a, Tensor) and a.dtype.is_bool:
        return logical_not(a)
    if is_staged(a):
        if a.dtype.is_bool:
            return logical_not(convert_to_tensor(a))
        raise TypeError(
            f"Input 'x' of 'LogicalNot' Op has type {a.dtype.name} that does not match expected "
            "type of bool: compare it (`x != 0`) or use tf.cast."
        )
    return not a


def compare(left: Any, *parts: tuple[str, Callable[[], Any]]) -> Any:
    """A chain such as `a < f() < b`, each operand evaluated at most once."""
    sign, right = parts[0]
    value = right()
    result = _OPERATORS[sign](left, value)
    if len(parts) == 1:
        return result
    return and_(lambda: result, lambda: compare(value, *parts[1:]))


def eq(a: Any, b: Any) -> Any:
    """`a == b`, element-wise for tensors."""
    return equal(a, b) if isinstance(a, Tensor) or isinstance(b, Tensor) else a == b


def not_eq(a: Any, b: Any) -> Any:
    """`a != b`, element-wise for tensors."""
    return not_(eq(a, b)) if isinstance(a, Tensor) or isinstance(b, Tensor) else a != b


def assert_stmt(condition: Any, message: Callable[[], Any]) -> None:
    """`assert condition, message()`; in a graph, tf.debugging.Assert."""
    if not is_staged(condition):
        assert condition, message()
        return
    said = message()
    data = list(said) if isinstance(said, list | tuple) else [said]
    Assert(condition, data)
