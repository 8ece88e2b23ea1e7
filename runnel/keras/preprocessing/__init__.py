"""tf.keras.preprocessing: preprocessing of sequences, texts and images."""

from ...core.suggestions import suggesting as _suggesting
from ..utils.datasets import (
    image_dataset_from_directory as image_dataset_from_directory,
    text_dataset_from_directory as text_dataset_from_directory,
    timeseries_dataset_from_array as timeseries_dataset_from_array,
)
from . import image as image, sequence as sequence, text as text

__getattr__ = _suggesting(__name__)
