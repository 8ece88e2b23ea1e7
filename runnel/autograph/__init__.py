"""tf.autograph: Python control flow that tensors may decide, on the standard library's `ast`."""

from . import experimental as experimental
from .api import (
    to_code as to_code,
    to_graph as to_graph,
    trace as trace,
)
from .calls import convert as convert
from .verbosity import set_verbosity as set_verbosity
