"""tf.keras.callbacks: hooks into training."""

from ...core.suggestions import suggesting as _suggesting
from . import experimental as experimental
from .backup import BackupAndRestore as BackupAndRestore
from .base import Callback as Callback, CallbackList as CallbackList
from .checkpoint import ModelCheckpoint as ModelCheckpoint
from .history import History as History
from .learning_rate import (
    LearningRateScheduler as LearningRateScheduler,
    ReduceLROnPlateau as ReduceLROnPlateau,
)
from .logging import (
    BaseLogger as BaseLogger,
    CSVLogger as CSVLogger,
    LambdaCallback as LambdaCallback,
    RemoteMonitor as RemoteMonitor,
)
from .progress import ProgbarLogger as ProgbarLogger
from .sidecar_export import SidecarEvaluatorModelExport as SidecarEvaluatorModelExport
from .stopping import EarlyStopping as EarlyStopping, TerminateOnNaN as TerminateOnNaN
from .tensorboard import TensorBoard as TensorBoard

__getattr__ = _suggesting(__name__)
