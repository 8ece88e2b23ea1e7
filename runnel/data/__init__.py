"""tf.data: Input pipelines."""

from . import experimental as experimental
from .cardinality import INFINITE as INFINITE_CARDINALITY, UNKNOWN as UNKNOWN_CARDINALITY
from .dataset import AUTOTUNE as AUTOTUNE, Dataset as Dataset
from .iterators import (
    DatasetSpec as DatasetSpec,
    Iterator as Iterator,
    IteratorSpec as IteratorSpec,
    NumpyIterator as NumpyIterator,
)
from .options import Options as Options, ThreadingOptions as ThreadingOptions

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Dataset",
    "DatasetSpec",
    "Iterator",
    "IteratorSpec",
    "NumpyIterator",
    "Options",
    "ThreadingOptions",
    "experimental",
]
