"""Whether training messages go to stdout or to Python's logging."""

from __future__ import annotations

import logging
import os
import sys
import threading


class _Interactive(threading.local):
    """A per-thread setting."""

    enabled = True


_interactive = _Interactive()


def enable_interactive_logging() -> None:
    """Write progress bars and messages to stdout (the default)."""
    _interactive.enabled = True


def disable_interactive_logging() -> None:
    """Send progress bars and messages to Python's logging, at level INFO."""
    _interactive.enabled = False


def is_interactive_logging_enabled() -> bool:
    """Whether progress bars and messages go to stdout.

    >>> tf.keras.utils.is_interactive_logging_enabled()
    True
    """
    return _interactive.enabled


def print_message(message: str, line_break: bool = True) -> None:
    """Write a message to stdout or to logging, by the setting."""
    if not _interactive.enabled:
        logging.getLogger("absl").info(message)
        return
    sys.stdout.write(message + "\n" if line_break else message)
    sys.stdout.flush()


def is_watched() -> bool:
    """Whether stdout is interactive: a terminal or a notebook, not a file or a pipe."""
    return (
        (hasattr(sys.stdout, "isatty") and sys.stdout.isatty())
        or "ipykernel" in sys.modules
        or "PYCHARM_HOSTED" in os.environ
    )


def can_rewrite_a_line() -> bool:
    """Whether stdout is assumed to support backspaces, by Keras's own rule.

    On POSIX systems always, in a pipe too; elsewhere in a terminal or a notebook.
    """
    return os.name == "posix" or is_watched()
