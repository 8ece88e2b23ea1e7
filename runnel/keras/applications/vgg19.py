"""tf.keras.applications.vgg19."""

from .vgg import (
    VGG19 as VGG19,
    decode_predictions as decode_predictions,
    preprocess_input as preprocess_input,
)
