"""What counts as better, for the callbacks that watch one quantity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import runnel as tf


def comparison(mode: str, monitor: str, owner: str, counts_auc: bool = True) -> Callable:
    """np.less or np.greater, by the mode or, for "auto", by the monitored name."""
    if mode not in ("auto", "min", "max"):
        tf.get_logger().warning("%s mode %s is unknown, fallback to auto mode.", owner, mode)
        mode = "auto"
    if mode == "auto":
        rises = "acc" in monitor or monitor.startswith("fmeasure")
        mode = "max" if rises else "min"
    return np.less if mode == "min" else np.greater


def monitored(logs: dict[str, Any], monitor: str, purpose: str) -> Any:
    """The monitored value, or None with a warning that lists what there is."""
    value = logs.get(monitor)
    if value is None:
        tf.get_logger().warning(
            "%s `%s` which is not available. Available metrics are: %s",
            purpose,
            monitor,
            ",".join(logs),
        )
    return value
