"""tf.keras.optimizers.experimental: the optimizers under their earlier experimental names."""

from .adadelta import Adadelta as Adadelta
from .adafactor import Adafactor as Adafactor
from .adagrad import Adagrad as Adagrad
from .adam import Adam as Adam, AdamW as AdamW
from .adamax import Adamax as Adamax
from .base import Optimizer as Optimizer
from .ftrl import Ftrl as Ftrl
from .nadam import Nadam as Nadam
from .rmsprop import RMSprop as RMSprop
from .sgd import SGD as SGD
