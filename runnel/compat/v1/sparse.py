"""tf.compat.v1.sparse: `tf.sparse` with TensorFlow 1's arguments."""

import runnel as _tf

from .building import sparse_placeholder as placeholder
from .older_sparse import (
    sparse_add as add,
    sparse_concat as concat,
    sparse_reduce_max as reduce_max,
    sparse_reduce_max_sparse as reduce_max_sparse,
    sparse_reduce_sum as reduce_sum,
    sparse_reduce_sum_sparse as reduce_sum_sparse,
    sparse_segment_mean as segment_mean,
    sparse_segment_sqrt_n as segment_sqrt_n,
    sparse_segment_sum as segment_sum,
    sparse_split as split,
)


def __getattr__(name: str) -> object:
    return getattr(_tf.sparse, "sparse_dense_matmul" if name == "matmul" else name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_tf.sparse), "matmul"})


__all__ = [
    "add", "concat", "placeholder", "reduce_max", "reduce_max_sparse", "reduce_sum",
    "reduce_sum_sparse", "segment_mean", "segment_sqrt_n", "segment_sum", "split",
]  # fmt: skip
