"""Assertions about the entries of operators."""

from __future__ import annotations

from typing import Any

from ....core.convert import convert_to_tensor
from ...array.creation import zeros_like
from ...debugging import assert_equal, assert_less, assert_positive
from ...math.complex import imag, real
from ...math.elementwise import abs as absolute


def assert_no_zeros(values: Any, message: str) -> Any:
    """InvalidArgumentError if an entry is zero."""
    sizes = absolute(convert_to_tensor(values))
    return assert_less(zeros_like(sizes), sizes, message)


def assert_no_imaginary_part(values: Any, message: str) -> Any:
    """InvalidArgumentError if an entry is not real; None for real dtypes."""
    values = convert_to_tensor(values)
    if not values.dtype.is_complex:
        return None
    parts = imag(values)
    return assert_equal(zeros_like(parts), parts, message)


def assert_positive_real_part(values: Any, message: str) -> Any:
    """InvalidArgumentError if an entry's real part is not positive."""
    values = convert_to_tensor(values)
    return assert_positive(real(values) if values.dtype.is_complex else values, message)
