"""Ownership: whether nobody else can see the buffer of an array, so that it may change in place."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def is_own(array: Any) -> bool:
    """Whether no other array looks at the buffer of this one."""
    base = array.base
    return base is None or (
        type(base) is np.ndarray and base.flags.owndata and sys.getrefcount(base) == _LONE_BASE
    )


def _references(array: Any) -> int:
    base = array.base
    return sys.getrefcount(base)


# As `is_own` counts them.
_LONE_BASE = _references(np.empty(2)[:1])
