"""Comparison of a monitored quantity."""

from __future__ import annotations

from typing import Any

import runnel as tf


def known_mode(mode: str, rises: bool, owner: str) -> str:
    """ "min" or "max": as given; for "auto", "max" if the quantity should rise."""
    if mode not in ("auto", "min", "max"):
        tf.get_logger().warning("%s mode %s is unknown, fallback to auto mode.", owner, mode)
        mode = "auto"
    if mode == "auto":
        return "max" if rises else "min"
    return mode


def monitored(logs: dict[str, Any] | None, monitor: str, purpose: str) -> Any:
    """The monitored value, or None with a warning that lists the available ones."""
    value = (logs or {}).get(monitor)
    if value is None:
        tf.get_logger().warning(
            "%s conditioned on metric `%s` which is not available. Available metrics are: %s",
            purpose,
            monitor,
            ",".join(logs or {}),
        )
    return value


def learning_rate_of(optimizer: Any) -> Any:
    """The variable with an optimizer's learning rate."""
    for name in ("lr", "learning_rate"):
        if hasattr(optimizer, name):
            return getattr(optimizer, name)
    raise ValueError('Optimizer must have a "lr" attribute.')


def learning_rate(optimizer: Any) -> Any:
    """The learning rate as a number."""
    rate = learning_rate_of(optimizer)
    return rate.numpy() if hasattr(rate, "numpy") else rate


def set_learning_rate(optimizer: Any, value: Any) -> None:
    """Set the optimizer's learning rate."""
    rate = learning_rate_of(optimizer)
    if callable(getattr(rate, "assign", None)):
        rate.assign(value)
    else:
        setattr(optimizer, "lr" if hasattr(optimizer, "lr") else "learning_rate", value)
