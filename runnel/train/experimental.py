"""tf.train.experimental: state of the program's own in checkpoints."""

from .python_state import PythonState as PythonState
