"""tf.keras.utils: progress bars, files, encodings and other utilities."""

from ...core.suggestions import suggesting as _suggesting
from ..backend.random_generator import set_random_seed as set_random_seed
from ..engine.data_adapter import (
    pack_x_y_sample_weight as pack_x_y_sample_weight,
    unpack_x_y_sample_weight as unpack_x_y_sample_weight,
)
from ..object_registration import (
    custom_object_scope as CustomObjectScope,
    custom_object_scope as custom_object_scope,
    get_custom_objects as get_custom_objects,
    get_registered_name as get_registered_name,
    get_registered_object as get_registered_object,
    register_keras_serializable as register_keras_serializable,
)
from ..serialization import (
    deserialize_keras_object as deserialize_keras_object,
    serialize_keras_object as serialize_keras_object,
)
from . import experimental as experimental, legacy as legacy
from .audio import audio_dataset_from_directory as audio_dataset_from_directory
from .datasets import (
    image_dataset_from_directory as image_dataset_from_directory,
    split_dataset as split_dataset,
    text_dataset_from_directory as text_dataset_from_directory,
    timeseries_dataset_from_array as timeseries_dataset_from_array,
)
from .embeddings import warmstart_embedding_matrix as warmstart_embedding_matrix
from .encoding import (
    normalize as normalize,
    to_categorical as to_categorical,
    to_ordinal as to_ordinal,
)
from .enqueuers import (
    GeneratorEnqueuer as GeneratorEnqueuer,
    OrderedEnqueuer as OrderedEnqueuer,
    SequenceEnqueuer as SequenceEnqueuer,
)
from .feature_space import FeatureSpace as FeatureSpace
from .files import get_file as get_file
from .images import (
    array_to_img as array_to_img,
    img_to_array as img_to_array,
    load_img as load_img,
    save_img as save_img,
)
from .interactive import (
    disable_interactive_logging as disable_interactive_logging,
    enable_interactive_logging as enable_interactive_logging,
    is_interactive_logging_enabled as is_interactive_logging_enabled,
)
from .plotting import model_to_dot as model_to_dot, plot_model as plot_model
from .progbar import Progbar as Progbar
from .sequences import Sequence as Sequence, pad_sequences as pad_sequences
from .sidecar_evaluator import SidecarEvaluator as SidecarEvaluator
from .source_inputs import get_source_inputs as get_source_inputs
from .steps_tuner import StepsPerExecutionTuner as StepsPerExecutionTuner
from .timed_thread import TimedThread as TimedThread

__getattr__ = _suggesting(__name__)
