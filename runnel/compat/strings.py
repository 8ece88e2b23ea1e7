"""Text and bytes, dimensions and dates, for programs that support several versions."""

from __future__ import annotations

import contextlib
import datetime
import numbers
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core.shapes import TensorShape

bytes_or_text_types = (bytes, str)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Text encoded as bytes; bytes are returned as they are.

    >>> tf.compat.as_bytes("é")
    b'\\xc3\\xa9'
    """
    if isinstance(bytes_or_text, bytearray):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Bytes decoded as text; text is returned as it is.

    >>> tf.compat.as_text(b"abc")
    'abc'
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_str(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """The same as `as_text`."""
    return as_text(bytes_or_text, encoding)


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """`str(value)`; of bytes, their text.

    >>> tf.compat.as_str_any(b"abc"), tf.compat.as_str_any(3)
    ('abc', '3')
    """
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """The string of a path object; any other value as it is."""
    return as_str_any(path.__fspath__()) if isinstance(path, os.PathLike) else path


def dimension_value(dimension: Any) -> int | None:
    """The size of a dimension of a shape: an int or None."""
    return dimension.value if hasattr(dimension, "value") else dimension


def dimension_at_index(shape: TensorShape, index: int) -> Any:
    """The dimension of a shape at an index; an unknown one where the rank is unknown."""
    from ..core.dimension import Dimension

    if shape.rank is None:
        return Dimension(None)
    return Dimension(shape.as_list()[index])


class _Horizon:
    """The forward compatibility horizon: unlimited, unless set."""

    def __init__(self) -> None:
        self.date = datetime.date.today()


_horizon = _Horizon()


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Whether the date is past, so that features introduced on it may be used."""
    return _horizon.date > datetime.date(year, month, day)


@contextlib.contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Iterator[None]:
    """Make `forward_compatible` use another date, in a block."""
    before, _horizon.date = _horizon.date, datetime.date(year, month, day)
    try:
        yield
    finally:
        _horizon.date = before
