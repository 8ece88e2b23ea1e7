"""Dimension: a possibly unknown size of a shape, as in TensorFlow 1."""

from __future__ import annotations

from typing import Any


class Dimension:
    """A size, or None if unknown; arithmetic with an unknown dimension gives an unknown one."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        if isinstance(value, Dimension):
            value = value.value
        self._value = None if value is None else int(value)
        if self._value is not None and self._value < 0:
            raise ValueError(f"Dimension {self._value} must be >= 0")

    @property
    def value(self) -> int | None:
        return self._value

    def is_compatible_with(self, other: Any) -> bool:
        """Whether the two dimensions can be equal."""
        other = Dimension(other)
        return self._value is None or other._value is None or self._value == other._value

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise ValueError unless the two dimensions can be equal."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: Any) -> Dimension:
        """The dimension that combines what is known from both."""
        other = Dimension(other)
        self.assert_is_compatible_with(other)
        return other if self._value is None else self

    def _with(self, other: Any, operation: Any) -> Dimension:
        other = Dimension(other)
        if self._value is None or other._value is None:
            return Dimension(None)
        return Dimension(operation(self._value, other._value))

    def __add__(self, other: Any) -> Dimension:
        return self._with(other, lambda x, y: x + y)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Dimension:
        return self._with(other, lambda x, y: x - y)

    def __rsub__(self, other: Any) -> Dimension:
        return self._with(other, lambda x, y: y - x)

    def __mul__(self, other: Any) -> Dimension:
        return self._with(other, lambda x, y: x * y)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Dimension:
        return self._with(other, lambda x, y: x // y)

    def __rfloordiv__(self, other: Any) -> Dimension:
        return self._with(other, lambda x, y: y // x)

    def __mod__(self, other: Any) -> Dimension:
        return self._with(other, lambda x, y: x % y)

    def __eq__(self, other: object) -> Any:
        try:
            known = Dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or known._value is None:
            return None
        return self._value == known._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __int__(self) -> Any:
        return self._value

    def __index__(self) -> Any:
        return self._value

    def __repr__(self) -> str:
        return f"Dimension({self._value})"

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)
