"""`tf.profiler`: profiling of a program's run time."""

from . import experimental as experimental
