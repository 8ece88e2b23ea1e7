"""NumPy's own BLAS, and SciPy's: how many threads they work with, and which code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np

_LIBRARIES = "*openblas*"
# By the interface that OpenBLAS was built with, its functions have other endings.
_ENDINGS = ("64_", "")
_PREFIXES = ("scipy_openblas", "openblas")


# The names of its code for AVX-512.
_WIDE = frozenset({"skylakex", "cooperlake", "sapphirerapids"})


class _Threads(NamedTuple):
    most: int
    in_use: Callable[[], int]
    use: Callable[[int], None]
    code: Callable[[], bytes] | None


# The threads a product works with while BLAS has the processors; 0: as many as at the start.
_chosen = 0
# The most of them that other programs leave; 0: they leave all.
_left = 0


def share(with_engine: bool) -> None:
    """Leave the processors to an engine, or take them back."""
    threads = _threads()
    if threads is not None:
        threads.use(1 if with_engine else _chosen or min(_left or threads.most, threads.most))


def use_threads(count: int, with_engine: bool) -> None:
    """Work with so many threads (0: as many as at the start) while BLAS has the processors."""
    global _chosen
    _chosen = count
    share(with_engine)


def leave(count: int, with_engine: bool) -> None:
    """Work with so many threads at the most, for other programs have the other processors."""
    global _left
    _left = count
    share(with_engine)


def threads_in_use() -> int | None:
    """The number of threads a product works with now; None where it cannot be asked."""
    threads = _threads()
    return None if threads is None else threads.in_use()


def is_narrow() -> bool:
    """Whether it is known to work without the registers of AVX-512.

    OpenBLAS takes its code for AVX2 on processors that are younger than itself.
    """
    threads = _threads()
    if threads is None or threads.code is None:
        return False
    return threads.code().decode().lower() not in _WIDE


@contextmanager
def scipy_alone() -> Iterator[None]:
    """Have SciPy's BLAS, which is another one than NumPy's, work with one thread.

    Otherwise there would be two pools, whose threads wait for each other's cores.
    """
    threads = _threads_of_scipy()
    if threads is None:
        yield
        return
    before = threads.in_use()
    threads.use(1)
    try:
        yield
    finally:
        threads.use(before)


@lru_cache(maxsize=1)
def _threads_of_scipy() -> _Threads | None:
    import scipy

    return _brought_by(scipy)


@lru_cache(maxsize=1)
def _threads() -> _Threads | None:
    return _brought_by(np)


def _brought_by(package: ModuleType) -> _Threads | None:
    """OpenBLAS as the wheels of a package bring it; None where it has another BLAS."""
    folder = Path(package.__path__[0])
    libraries = folder.with_name(f"{folder.name}.libs")
    for place in (libraries, folder / ".libs", folder / ".dylibs"):
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
            code = getattr(library, f"{prefix}_get_corename{ending}", None)
            if code is not None:
                code.restype = ctypes.c_char_p
            if get is not None and use is not None:
                return _Threads(get(), get, use, code)
    return None
