"""What a layer called inside another layer's call inherits from it."""

from __future__ import annotations

import threading
from typing import Any


class CallContext(threading.local):
    """The innermost call in progress: the value of `training`, and how deep we are."""

    training: Any = None
    depth: int = 0
    scope: str = ""
    # The float type that variables of mixed precision are read in; None: their own.
    compute_dtype: Any = None
    # Whether only the shapes and dtypes of the outputs are wanted, not their values.
    trial: bool = False
    # The graph that a layer is built for, outside of it.
    building: Any = None
    # The value set with tf.keras.backend.set_learning_phase; None: never set.
    learning_phase: Any = None
    # Whether any layer, in any thread, ever added a loss in its call: most never do.
    losses_made: bool = False


context = CallContext()
