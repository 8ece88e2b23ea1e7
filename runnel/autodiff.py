"""tf.autodiff: Automatic differentiation, forward and backward."""

from .core.autodiff import (
    ForwardAccumulator as ForwardAccumulator,
)
from .core.tape import (
    GradientTape as GradientTape,
)
