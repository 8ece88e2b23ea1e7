"""tf.keras.optimizers: gradient-based updates of variables."""

from ...core.suggestions import suggesting as _suggesting
from . import experimental as experimental, legacy as legacy, schedules as schedules
from .adadelta import Adadelta as Adadelta
from .adafactor import Adafactor as Adafactor
from .adagrad import Adagrad as Adagrad
from .adam import Adam as Adam, AdamW as AdamW
from .adamax import Adamax as Adamax
from .base import Optimizer as Optimizer
from .ftrl import Ftrl as Ftrl
from .lion import Lion as Lion
from .lookup import deserialize as deserialize, get as get, serialize as serialize
from .nadam import Nadam as Nadam
from .rmsprop import RMSprop as RMSprop
from .sgd import SGD as SGD

__getattr__ = _suggesting(__name__)
