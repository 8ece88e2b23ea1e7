"""tf.keras.saving: configs of objects, and the names under which they are found again."""

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
