"""tf.compat.v1.logging: log messages, on the logger of the package."""

from __future__ import annotations

import logging as _logging

from ...core.logger import get_logger as _get_logger

DEBUG = _logging.DEBUG
ERROR = _logging.ERROR
FATAL = _logging.FATAL
INFO = _logging.INFO
WARN = _logging.WARN

_counts: dict[str, int] = {}


def log(level, msg, *args, **kwargs):
    """A message of this level."""
    _get_logger().log(level, msg, *args, **kwargs)


def debug(msg, *args, **kwargs):
    """Log a debug message."""
    _get_logger().debug(msg, *args, **kwargs)


def info(msg, *args, **kwargs):
    """Log an informational message."""
    _get_logger().info(msg, *args, **kwargs)


def warn(msg, *args, **kwargs):
    """Log a warning."""
    _get_logger().warning(msg, *args, **kwargs)


def warning(msg, *args, **kwargs):
    """Log a warning."""
    _get_logger().warning(msg, *args, **kwargs)


def error(msg, *args, **kwargs):
    """Log an error message."""
    _get_logger().error(msg, *args, **kwargs)


def fatal(msg, *args, **kwargs):
    """Log the message of an error that ends the program."""
    _get_logger().fatal(msg, *args, **kwargs)


def vlog(level, msg, *args, **kwargs):
    """Log a message of this level."""
    _get_logger().log(level, msg, *args, **kwargs)


def log_if(level, msg, condition, *args):
    """Log a message, if a condition holds."""
    if condition:
        log(level, msg, *args)


def log_every_n(level, msg, n, *args):
    """Log the first of equal messages, and every n-th."""
    count = _counts[msg] = _counts.get(msg, -1) + 1
    log_if(level, msg, not count % n, *args)


def log_first_n(level, msg, n, *args):
    """Log the first n of equal messages."""
    count = _counts[msg] = _counts.get(msg, -1) + 1
    log_if(level, msg, count < n, *args)


def set_verbosity(v):
    """Show messages of this level and above."""
    _get_logger().setLevel(v)


def get_verbosity():
    """The lowest level of messages that are shown."""
    return _get_logger().getEffectiveLevel()


def flush():
    """No-op: messages are written immediately."""
    for handler in _get_logger().handlers:
        handler.flush()
