"""Memory limits for loading untrusted models."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _Left(threading.local):
    """The bytes that the layers of a model being loaded may still allocate; None: unlimited."""

    count: int | None = None
    file: int = 0


_left = _Left()
# The allowance for unsaved state, in bytes, and the factor for the size of the saved weights.
_ROOM = 256 << 20
_TIMES = 4


@contextmanager
def weights_of_file(size: int) -> Iterator[None]:
    """Limit the memory of layers created in the block to about the size of the file's weights."""
    outer = _left.count, _left.file
    _left.count, _left.file = _TIMES * size + _ROOM, size
    try:
        yield
    finally:
        _left.count, _left.file = outer


def claim(name: Any, shape: tuple[int | None, ...], width: int, what: str = "a weight") -> None:
    """Claim memory for a layer's items; reject it if the file is too small."""
    if _left.count is None:
        return
    needed = width * math.prod(each for each in shape if each is not None)
    if needed > _left.count:
        raise ValueError(
            f"The layer {name!r} of the model in the file wants {what} of shape {shape}, about "
            f"{needed} bytes, but the weights in the file have {_left.file} bytes in all. The file "
            "is damaged or was made to use up memory. If you trust its source, `safe_mode=False` "
            "loads it all the same."
        )
    _left.count -= needed
