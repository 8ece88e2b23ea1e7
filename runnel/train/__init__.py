"""Checkpoints in TensorFlow's format, and tf.train's record messages."""

from ..core.suggestions import suggesting as _suggesting
from ..formats.example_messages import ClusterDef as ClusterDef, JobDef as JobDef
from ..formats.example_values import (
    BytesList as BytesList,
    Example as Example,
    Feature as Feature,
    FeatureList as FeatureList,
    FeatureLists as FeatureLists,
    Features as Features,
    FloatList as FloatList,
    Int64List as Int64List,
    SequenceExample as SequenceExample,
)
from . import experimental as experimental
from .checkpoint import Checkpoint as Checkpoint
from .cluster import ClusterSpec as ClusterSpec
from .coordinator import Coordinator as Coordinator
from .manager import CheckpointManager as CheckpointManager
from .moving_averages import ExponentialMovingAverage as ExponentialMovingAverage
from .options import CheckpointOptions as CheckpointOptions
from .reader import (
    checkpoints_iterator as checkpoints_iterator,
    list_variables as list_variables,
    load_checkpoint as load_checkpoint,
    load_variable as load_variable,
)
from .state_file import (
    get_checkpoint_state as get_checkpoint_state,
    latest_checkpoint as latest_checkpoint,
)
from .views import CheckpointView as CheckpointView, TrackableView as TrackableView

__getattr__ = _suggesting(__name__)
