"""How many threads NumPy's own BLAS works with."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

_LIBRARIES = "*openblas*"
# By the interface that OpenBLAS was built with, its functions have other endings.
_ENDINGS = ("64_", "")
_PREFIXES = ("scipy_openblas", "openblas")


class _Threads(NamedTuple):
    most: int
    in_use: Callable[[], int]
    use: Callable[[int], None]


# The threads a product works with while BLAS has the processors; 0: as many as at the start.
_chosen = 0


def share(with_engine: bool) -> None:
    """Leave the processors to an engine, or take them back."""
    threads = _threads()
    if threads is not None:
        threads.use(1 if with_engine else _chosen or threads.most)


def use_threads(count: int, with_engine: bool) -> None:
    """Work with so many threads (0: as many as at the start) while BLAS has the processors."""
    global _chosen
    _chosen = count
    share(with_engine)


def threads_in_use() -> int | None:
    """The number of threads a product works with now; None where it cannot be asked."""
    threads = _threads()
    return None if threads is None else threads.in_use()


@lru_cache(maxsize=1)
def _threads() -> _Threads | None:
    """OpenBLAS as NumPy's wheels bring it; None where NumPy has another BLAS."""
    folder = Path(np.__file__).parent
    for place in (folder.with_name("numpy.libs"), folder / ".libs", folder / ".dylibs"):
        for path in sorted(place.glob(_LIBRARIES)):
            found = _functions(ctypes.CDLL(str(path)))
            if found is not None:
                return found
    return None


def _functions(library: ctypes.CDLL) -> _Threads | None:
    for prefix in _PREFIXES:
        for ending in _ENDINGS:
            get = getattr(library, f"{prefix}_get_num_threads{ending}", None)
            use = getattr(library, f"{prefix}_set_num_threads{ending}", None)
            if get is not None and use is not None:
                return _Threads(get(), get, use)
    return None
