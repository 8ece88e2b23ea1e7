"""The OpenBLAS of NumPy and that of SciPy: their thread pools and kernels."""

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
# The suffix of its functions depends on the interface that OpenBLAS was built with.
_ENDINGS = ("64_", "")
_PREFIXES = ("scipy_openblas", "openblas")


# The names of its AVX-512 kernels.
_WIDE = frozenset({"skylakex", "cooperlake", "sapphirerapids"})


class _Threads(NamedTuple):
    most: int
    in_use: Callable[[], int]
    use: Callable[[int], None]
    code: Callable[[], bytes] | None


# The number of threads while BLAS owns the cores; 0: the initial number.
_configured = 0
# The limit that the CPU load sets; 0: none.
_limit = 0


def set_owner(with_engine: bool) -> None:
    """Hand the cores over to an engine's pool, or back to BLAS."""
    threads = _threads()
    if threads is not None:
        threads.use(1 if with_engine else _configured or min(_limit or threads.most, threads.most))


def configure_threads(count: int, with_engine: bool) -> None:
    """Set the number of threads while BLAS owns the cores; 0: the initial number."""
    global _configured
    _configured = count
    set_owner(with_engine)


def limit_threads(count: int, with_engine: bool) -> None:
    """Use at most this many threads: other programs load the other cores."""
    global _limit
    _limit = count
    set_owner(with_engine)


def threads_in_use() -> int | None:
    """The number of threads of a GEMM now; None where it is unknown."""
    threads = _threads()
    return None if threads is None else threads.in_use()


def lacks_avx512() -> bool:
    """Whether BLAS is known to run AVX2 kernels only.

    OpenBLAS falls back to them on CPUs that are newer than itself.
    """
    threads = _threads()
    if threads is None or threads.code is None:
        return False
    return threads.code().decode().lower() not in _WIDE


@contextmanager
def single_threaded_scipy() -> Iterator[None]:
    """Run SciPy's BLAS, a second copy with a pool of its own, on one thread.

    Two pools would oversubscribe the cores.
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

    return _bundled_openblas(scipy)


@lru_cache(maxsize=1)
def _threads() -> _Threads | None:
    return _bundled_openblas(np)


def _bundled_openblas(package: ModuleType) -> _Threads | None:
    """The OpenBLAS bundled with the wheel of a package; None if it uses another BLAS."""
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
