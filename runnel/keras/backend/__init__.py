"""tf.keras.backend: the functions that Keras itself is written on."""

from .settings import (
    backend as backend,
    epsilon as epsilon,
    floatx as floatx,
    image_data_format as image_data_format,
    set_epsilon as set_epsilon,
    set_floatx as set_floatx,
    set_image_data_format as set_image_data_format,
)
