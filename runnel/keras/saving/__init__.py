"""tf.keras.saving: saving and loading models, serialization, and object registration."""

from ..code_objects import (
    enable_unsafe_deserialization as enable_unsafe_deserialization,
    safe_mode_scope as SafeModeScope,
)
from ..object_registration import (
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
from .api import load_model as load_model, load_weights as load_weights, save_model as save_model
