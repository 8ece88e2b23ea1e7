"""tf.keras.backend.experimental: which random number generator layers use."""

from .random_generator import (
    disable_tf_random_generator as disable_tf_random_generator,
    enable_tf_random_generator as enable_tf_random_generator,
    is_tf_random_generator_enabled as is_tf_random_generator_enabled,
)
