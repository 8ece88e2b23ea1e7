"""tf.data: Input pipelines."""

from ..core.suggestions import suggesting as _suggesting
from . import experimental as experimental
from .cardinality import INFINITE as INFINITE_CARDINALITY, UNKNOWN as UNKNOWN_CARDINALITY
from .dataset import AUTOTUNE as AUTOTUNE, Dataset as Dataset
from .files import (
    FixedLengthRecordDatasetV2 as FixedLengthRecordDataset,
    TextLineDatasetV2 as TextLineDataset,
    TFRecordDatasetV2 as TFRecordDataset,
)
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
    "FixedLengthRecordDataset",
    "Iterator",
    "IteratorSpec",
    "NumpyIterator",
    "Options",
    "TFRecordDataset",
    "TextLineDataset",
    "ThreadingOptions",
    "experimental",
]

__getattr__ = _suggesting(__name__)
