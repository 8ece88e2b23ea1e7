"""tf.keras.models.experimental: wrappers around models."""

from .sharpness import SharpnessAwareMinimization as SharpnessAwareMinimization
