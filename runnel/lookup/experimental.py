"""tf.lookup.experimental: Tables that change."""

from ..ops.lookup.mutable import (
    DenseHashTable as DenseHashTable,
    MutableHashTable as MutableHashTable,
)
