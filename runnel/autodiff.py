"""tf.autodiff: Automatic differentiation, forward and backward."""

from .core.autodiff.custom_gradient import ForwardAccumulator as ForwardAccumulator
from .core.autodiff.tape import GradientTape as GradientTape
