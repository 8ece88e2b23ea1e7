"""tf.compat.v1.sparse: `tf.sparse` with TensorFlow 1's arguments."""

import runnel as _tf

from .building import sparse_placeholder as placeholder

# Functions of `tf.sparse` with other arguments in TensorFlow 1, without an older form here.
_OTHERS = frozenset(
    {"add", "concat", "reduce_max", "reduce_sum", "segment_mean", "segment_sqrt_n", "segment_sum",
     "split"}
)  # fmt: skip


def __getattr__(name: str) -> object:
    if name in _OTHERS:
        raise AttributeError(f"module 'runnel.compat.v1.sparse' has no attribute {name!r}")
    return getattr(_tf.sparse, "sparse_dense_matmul" if name == "matmul" else name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_tf.sparse), "matmul"} - _OTHERS)


__all__ = ["placeholder"]
