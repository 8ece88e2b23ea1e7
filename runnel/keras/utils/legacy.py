"""tf.keras.utils.legacy: serialization in the format of Keras before 2.13."""

from ..serialization import (
    legacy_deserialize_keras_object as deserialize_keras_object,
    legacy_serialize_keras_object as serialize_keras_object,
)

__all__ = ["deserialize_keras_object", "serialize_keras_object"]
