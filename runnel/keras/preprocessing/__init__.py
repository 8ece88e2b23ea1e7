"""tf.keras.preprocessing: sequences, texts and images made ready for models."""

from . import image as image, sequence as sequence, text as text
