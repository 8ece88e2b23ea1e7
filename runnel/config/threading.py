"""`tf.config.threading`: how many threads one operation, and how many operations, may use."""

import ctypes
import operator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..core.devices import settings

_threads = {"inter": 0, "intra": 0}


def get_intra_op_parallelism_threads() -> int:
    """The number of threads one operation may use; 0 lets the machine decide.

    >>> tf.config.threading.get_intra_op_parallelism_threads()
    0
    """
    return _threads["intra"]


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Choose how many threads one operation may use: NumPy's matrix products obey it."""
    count = operator.index(num_threads)
    if settings.initialized and count != _threads["intra"]:
        raise RuntimeError("Intra op parallelism cannot be modified after initialization.")
    blas = _openblas()
    if blas is not None:
        blas.set_num_threads(count if count > 0 else blas.default_threads)
    _threads["intra"] = count


def get_inter_op_parallelism_threads() -> int:
    """The number of operations that may run at once; 0 lets the machine decide.

    >>> tf.config.threading.get_inter_op_parallelism_threads()
    0
    """
    return _threads["inter"]


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Choose how many operations may run at once.

    Operations run in program order, one after another, so every choice is kept to.
    """
    count = operator.index(num_threads)
    if settings.initialized and count != _threads["inter"]:
        raise RuntimeError("Inter op parallelism cannot be modified after initialization.")
    _threads["inter"] = count


class _OpenBlas:
    """The thread settings of the OpenBLAS library inside a NumPy wheel."""

    def __init__(self, library: ctypes.CDLL, prefix: str, suffix: str) -> None:
        self.set_num_threads: Any = library[f"{prefix}set_num_threads{suffix}"]
        self.get_num_threads: Any = library[f"{prefix}get_num_threads{suffix}"]
        self.default_threads = int(self.get_num_threads())


@lru_cache(maxsize=1)
def _openblas() -> _OpenBlas | None:
    """NumPy's own OpenBLAS, already loaded by NumPy; None where NumPy came with another BLAS."""
    package = Path(np.__file__).parent
    folders = (package.parent / "numpy.libs", package / ".dylibs")
    for path in (path for folder in folders for path in folder.glob("*openblas*")):
        try:
            library = ctypes.CDLL(str(path))
        except OSError:
            continue
        for prefix in ("scipy_openblas_", "openblas_"):
            for suffix in ("64_", ""):
                if hasattr(library, f"{prefix}set_num_threads{suffix}"):
                    return _OpenBlas(library, prefix, suffix)
    return None


def blas_threads() -> int | None:
    """The number of threads NumPy's matrix products use now, None where it cannot be asked."""
    blas = _openblas()
    return None if blas is None else int(blas.get_num_threads())


__all__ = [
    "get_inter_op_parallelism_threads",
    "get_intra_op_parallelism_threads",
    "set_inter_op_parallelism_threads",
    "set_intra_op_parallelism_threads",
]
