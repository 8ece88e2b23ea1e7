"""Buffer ownership: whether an array alone references its buffer and may change in place."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def is_own(array: Any) -> bool:
    """Whether no other array references the buffer of this one."""
    base = array.base
    return base is None or (
        type(base) is np.ndarray and base.flags.owndata and sys.getrefcount(base) == _LONE_BASE
    )


def _references(array: Any) -> int:
    base = array.base
    return sys.getrefcount(base)


# The reference counts that `is_own` sees.
_LONE_BASE = _references(np.empty(2)[:1])
