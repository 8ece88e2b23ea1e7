"""tf.compat.v1.math: `tf.math` with TensorFlow 1's arguments."""

import runnel as _tf

from .nn import in_top_k as in_top_k, log_softmax as log_softmax, softmax as softmax
from .older import (
    argmax as argmax,
    argmin as argmin,
    bincount as bincount,
    confusion_matrix as confusion_matrix,
    count_nonzero as count_nonzero,
    reduce_all as reduce_all,
    reduce_any as reduce_any,
    reduce_logsumexp as reduce_logsumexp,
    reduce_max as reduce_max,
    reduce_mean as reduce_mean,
    reduce_min as reduce_min,
    reduce_prod as reduce_prod,
    reduce_sum as reduce_sum,
)


def __getattr__(name: str) -> object:
    return getattr(_tf.math, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_tf.math)})
