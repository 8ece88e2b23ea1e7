"""tf.random: Random numbers."""

from ..ops.philox import (
    normal as normal,
    truncated_normal as truncated_normal,
    uniform as uniform,
)
from . import experimental as experimental
