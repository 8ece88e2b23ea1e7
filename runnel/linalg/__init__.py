"""tf.linalg: Linear algebra."""

from ..ops.linalg.diagonal import (
    band_part as band_part,
    diag as diag,
    diag_part as diag_part,
    set_diag as set_diag,
    tensor_diag as tensor_diag,
    tensor_diag_part as tensor_diag_part,
    trace as trace,
)
from ..ops.linalg.matmul import (
    matmul as matmul,
)
from . import experimental as experimental
