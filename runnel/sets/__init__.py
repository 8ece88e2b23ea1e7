"""tf.sets: Sets along the last axis of tensors."""

from ..core.suggestions import suggesting as _suggesting
from ..ops.sets import (
    difference as difference,
    intersection as intersection,
    size as size,
    union as union,
)

__getattr__ = _suggesting(__name__)
