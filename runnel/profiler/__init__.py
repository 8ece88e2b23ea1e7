"""`tf.profiler`: where the time of a program goes."""

from . import experimental as experimental
