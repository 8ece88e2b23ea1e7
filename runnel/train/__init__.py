"""Checkpoints: saving and restoring variables, in TensorFlow's files."""

from .checkpoint import Checkpoint as Checkpoint
from .manager import CheckpointManager as CheckpointManager
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
