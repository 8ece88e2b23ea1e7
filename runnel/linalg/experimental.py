"""tf.linalg.experimental: Iterative solvers."""

from ..ops.linalg.iterative import (
    conjugate_gradient as conjugate_gradient,
)
