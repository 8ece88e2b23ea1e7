"""tf.keras.utils.experimental: experimental utilities."""

from .dataset_creator import DatasetCreator as DatasetCreator
