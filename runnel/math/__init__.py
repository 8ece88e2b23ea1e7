"""tf.math: Arithmetic, special functions, reductions and segments."""

from ..ops.math.arithmetic import (
    add as add,
    add_n as add_n,
    multiply as multiply,
)
from ..ops.math.complex import (
    angle as angle,
    conj as conj,
    imag as imag,
    real as real,
)
from ..ops.math.reduction import (
    reduce_sum as reduce_sum,
)
from . import special as special
