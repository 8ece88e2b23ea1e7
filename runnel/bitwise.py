"""tf.bitwise: Bit operations on integers."""

from .core.suggestions import suggesting as _suggesting
from .ops.math.bitwise import (
    bitwise_and as bitwise_and,
    bitwise_or as bitwise_or,
    bitwise_xor as bitwise_xor,
    invert as invert,
    left_shift as left_shift,
    right_shift as right_shift,
)

__getattr__ = _suggesting(__name__)
