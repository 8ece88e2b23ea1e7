"""tf.compat.v1.train: optimizers, learning rates, the global step, moving averages."""

import importlib as _importlib

from ..file_writer import summary_iterator as summary_iterator
from .averages import ExponentialMovingAverage as ExponentialMovingAverage
from .optimizer import Optimizer as Optimizer
from .optimizers import (
    AdadeltaOptimizer as AdadeltaOptimizer,
    AdagradDAOptimizer as AdagradDAOptimizer,
    AdagradOptimizer as AdagradOptimizer,
    AdamOptimizer as AdamOptimizer,
    FtrlOptimizer as FtrlOptimizer,
    GradientDescentOptimizer as GradientDescentOptimizer,
    MomentumOptimizer as MomentumOptimizer,
    ProximalAdagradOptimizer as ProximalAdagradOptimizer,
    ProximalGradientDescentOptimizer as ProximalGradientDescentOptimizer,
    RMSPropOptimizer as RMSPropOptimizer,
)
from .saver import Saver as Saver
from .steps import (
    assert_global_step as assert_global_step,
    cosine_decay as cosine_decay,
    cosine_decay_restarts as cosine_decay_restarts,
    create_global_step as create_global_step,
    exponential_decay as exponential_decay,
    get_global_step as get_global_step,
    get_or_create_global_step as get_or_create_global_step,
    global_step as global_step,
    inverse_time_decay as inverse_time_decay,
    linear_cosine_decay as linear_cosine_decay,
    natural_exp_decay as natural_exp_decay,
    noisy_linear_cosine_decay as noisy_linear_cosine_decay,
    piecewise_constant as piecewise_constant,
    piecewise_constant as piecewise_constant_decay,
    polynomial_decay as polynomial_decay,
)

# Names that are the same in `tf.train`, and those from other modules.
_SAME = frozenset({
    "BytesList", "Checkpoint", "CheckpointManager", "CheckpointOptions", "ClusterDef",
    "ClusterSpec", "Coordinator", "Example", "Feature", "FeatureList",
    "FeatureLists", "Features", "FloatList", "Int64List", "SequenceExample",
    "checkpoints_iterator", "get_checkpoint_state", "latest_checkpoint", "list_variables",
    "load_checkpoint", "load_variable",
})  # fmt: skip
_OF_STATE = frozenset({"update_checkpoint_state"})
# Names of the modules here, loaded lazily.
_OWN = {
    "hooks": (
        "CheckpointSaverHook", "CheckpointSaverListener", "FeedFnHook", "FinalOpsHook",
        "GlobalStepWaiterHook", "LoggingTensorHook", "NanLossDuringTrainingError",
        "NanTensorHook", "SecondOrStepTimer", "SessionRunArgs", "SessionRunContext",
        "SessionRunHook", "SessionRunValues", "StepCounterHook", "StopAtStepHook",
        "SummarySaverHook",
    ),
    "monitored": (
        "ChiefSessionCreator", "MonitoredSession", "MonitoredTrainingSession", "Scaffold",
        "SessionCreator", "SessionManager", "SingularMonitoredSession", "WorkerSessionCreator",
    ),
    "queue_runners": (
        "QueueRunner", "add_queue_runner", "batch", "batch_join", "input_producer",
        "limit_epochs", "match_filenames_once", "maybe_batch", "range_input_producer",
        "shuffle_batch", "shuffle_batch_join", "slice_input_producer", "start_queue_runners",
        "string_input_producer",
    ),
    "meta_graph_files": ("export_meta_graph", "import_meta_graph"),
    "graph_files": (
        "checkpoint_exists", "get_checkpoint_mtimes", "remove_checkpoint", "write_graph",
    ),
    "initial_checkpoints": ("init_from_checkpoint", "warm_start"),
}  # fmt: skip
_PLACES = {name: module for module, names in _OWN.items() for name in names}


def __getattr__(name: str) -> object:
    if name == "__all__":
        # The names for `from ... import *`, including lazily loaded ones.
        return [each for each in __dir__() if not each.startswith("_")]
    if name in _PLACES:
        return getattr(_importlib.import_module(f".{_PLACES[name]}", __name__), name)
    if name == "queue_runner":
        return _importlib.import_module(".queue_runners", __name__)
    if name in _SAME:
        return getattr(_importlib.import_module("runnel.train"), name)
    if name in _OF_STATE:
        return getattr(_importlib.import_module("runnel.train.state_file"), name)
    if name == "SaverDef":
        return _importlib.import_module("tensorboard.compat.proto.saver_pb2").SaverDef
    if name == "NewCheckpointReader":
        return _importlib.import_module("runnel.train.reader").CheckpointReader
    raise AttributeError(f"module 'runnel.compat.v1.train' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES, *_SAME, *_OF_STATE, "NewCheckpointReader", "SaverDef"})
