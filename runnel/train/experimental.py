"""tf.train.experimental: custom Python state in checkpoints."""

from .python_state import PythonState as PythonState
