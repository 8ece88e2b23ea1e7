"""tf.lookup: Tables from keys to values."""

from ..core.suggestions import suggesting as _suggesting
from ..ops.lookup.initializers import (
    KeyValueTensorInitializer as KeyValueTensorInitializer,
    TextFileIndex as TextFileIndex,
    TextFileInitializer as TextFileInitializer,
)
from ..ops.lookup.static import (
    StaticHashTable as StaticHashTable,
    StaticVocabularyTable as StaticVocabularyTable,
)
from . import experimental as experimental

__getattr__ = _suggesting(__name__)
