"""Memory pages that are kept: a freed large array serves the next one.

The C library asks the system for fresh pages for every large array and gives them back afterwards;
each page is then cleared and mapped again at its first touch, which takes longer than most
element-wise operations. Training makes arrays of the same sizes in every step, so the pages stay.
"""

from __future__ import annotations

import ctypes
import os
import sys

_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3
# Arrays up to this size come from pages that are kept.
_LARGEST = 256 << 20
# What is kept when nothing is in use: a share of the memory, at most what mallopt can be told.
_SHARE = 4
_MOST = (2 << 30) - 1


def keep() -> None:
    """Have the C library (glibc) keep the pages of freed arrays."""
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _LARGEST)
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        mallopt(_TRIM_THRESHOLD, min(memory // _SHARE, _MOST))
