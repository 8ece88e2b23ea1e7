"""tf.random: Random numbers."""

from ..ops.array.joining import (
    split as split,
)
from . import experimental as experimental
