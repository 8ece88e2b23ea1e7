"""The logger that warnings for the user go to, under the name TensorFlow programs know."""

import logging
import sys


class _CurrentStderr(logging.Handler):
    """Writes to whatever sys.stderr is at that moment."""

    def emit(self, record: logging.LogRecord) -> None:
        print(self.format(record), file=sys.stderr)


def get_logger() -> logging.Logger:
    """The logger of the library.

    >>> tf.get_logger().name
    'tensorflow'
    """
    logger = logging.getLogger("tensorflow")
    if not logger.handlers and not logging.getLogger().handlers:
        handler = _CurrentStderr()
        handler.setFormatter(logging.Formatter("%(levelname)s:%(name)s:%(message)s"))
        logger.addHandler(handler)
        logger.propagate = False
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)
    return logger
