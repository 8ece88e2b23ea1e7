"""tf.sets: Sets along the last axis of tensors."""

from ..ops.sets import (
    difference as difference,
    intersection as intersection,
    size as size,
    union as union,
)
