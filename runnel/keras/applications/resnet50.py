"""tf.keras.applications.resnet50."""

from .resnet import (
    ResNet50 as ResNet50,
    decode_predictions as decode_predictions,
    preprocess_input as preprocess_input,
)
