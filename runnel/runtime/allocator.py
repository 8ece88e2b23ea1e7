"""The allocator keeps memory: freed large arrays cause no page faults when their memory is reused.

By default glibc serves every large array by `mmap` and unmaps it when it is freed; the kernel then
clears and maps each page again at its first touch, which takes longer than most element-wise
operations. Training allocates arrays of the same sizes in every step, so the heap keeps them.
"""

from __future__ import annotations

import ctypes
import os
import sys

_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3
# In bytes. Arrays up to this size come from the heap, not from `mmap`.
_LARGEST = 256 << 20
# The heap keeps up to this fraction of the memory, and at most what fits mallopt's argument.
_SHARE = 4
_MOST = (2 << 30) - 1


def keep() -> None:
    """Have glibc keep the memory of freed arrays."""
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _LARGEST)
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        mallopt(_TRIM_THRESHOLD, min(memory // _SHARE, _MOST))
