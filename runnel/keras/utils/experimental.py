"""tf.keras.utils.experimental: tools that may change."""

from .dataset_creator import DatasetCreator as DatasetCreator
