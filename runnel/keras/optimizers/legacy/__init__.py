"""tf.keras.optimizers.legacy: the optimizers of TensorFlow 2.0 to 2.10."""

from .adaptive import (
    Adadelta as Adadelta,
    Adagrad as Adagrad,
    Ftrl as Ftrl,
    RMSprop as RMSprop,
)
from .base import Optimizer as Optimizer
from .moments import Adam as Adam, Adamax as Adamax, Nadam as Nadam
from .sgd import SGD as SGD
