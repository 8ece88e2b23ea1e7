"""The verbosity of AutoGraph's logging."""

from __future__ import annotations

import os

from ..core.logger import get_logger


class Verbosity:
    """The level of detail: 0 only warnings, 1 every conversion, 3 the converted code as well."""

    level = int(os.environ.get("AUTOGRAPH_VERBOSITY", "0"))
    also_to_stdout = False

    @classmethod
    def tell(cls, level: int, message: str) -> None:
        """Log a message at a verbosity level."""
        if level > cls.level:
            return
        get_logger().info("%s", message)
        if cls.also_to_stdout:
            print(message)


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Set AutoGraph's verbosity: from 0 (little) to 10 (everything).

    >>> tf.autograph.set_verbosity(0)
    """
    Verbosity.level = level
    Verbosity.also_to_stdout = alsologtostdout
