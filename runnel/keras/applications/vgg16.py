"""tf.keras.applications.vgg16."""

from .vgg import (
    VGG16 as VGG16,
    decode_predictions as decode_predictions,
    preprocess_input as preprocess_input,
)
