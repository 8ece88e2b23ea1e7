"""The logger of user warnings, under the name that TensorFlow programs use."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import logging


class _CurrentStderr:
    """A stream that resolves to the current `sys.stderr` at each write."""

    def write(self, text: str) -> None:
        sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


def get_logger() -> logging.Logger:
    """The logger of the library.

    >>> tf.get_logger().name
    'tensorflow'
    """
    import logging

    logger = logging.getLogger("tensorflow")
    if not logger.handlers and not logging.getLogger().handlers:
        handler = logging.StreamHandler(_CurrentStderr())
        handler.setFormatter(logging.Formatter("%(levelname)s:%(name)s:%(message)s"))
        logger.addHandler(handler)
        logger.propagate = False
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)
    return logger
