"""`tf.config.threading`: how many threads one operation, and how many operations, may use."""

import operator

from ..core.devices import settings
from ..engines import use_threads

_threads = {"inter": 0, "intra": 0}


def get_intra_op_parallelism_threads() -> int:
    """The number of threads one operation may use; 0 lets the machine decide.

    >>> tf.config.threading.get_intra_op_parallelism_threads()
    0
    """
    return _threads["intra"]


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Choose how many threads one operation may use: NumPy's BLAS and oneDNN obey it."""
    count = operator.index(num_threads)
    if settings.initialized and count != _threads["intra"]:
        raise RuntimeError("Intra op parallelism cannot be modified after initialization.")
    use_threads(max(count, 0))
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


__all__ = [
    "get_inter_op_parallelism_threads",
    "get_intra_op_parallelism_threads",
    "set_inter_op_parallelism_threads",
    "set_intra_op_parallelism_threads",
]
