"""tf.keras.models.experimental: models around models."""

from .sharpness import SharpnessAwareMinimization as SharpnessAwareMinimization
