"""tf.keras.backend.experimental: how layers draw random numbers."""

from .random_generator import (
    disable_tf_random_generator as disable_tf_random_generator,
    enable_tf_random_generator as enable_tf_random_generator,
    is_tf_random_generator_enabled as is_tf_random_generator_enabled,
)
