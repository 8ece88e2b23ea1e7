"""tf.keras.applications.imagenet_utils."""

from .preprocessing import (
    decode_predictions as decode_predictions,
    preprocess_input as preprocess_input,
)
