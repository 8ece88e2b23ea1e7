"""Execution modes: operations run synchronously and in order, so these are no-ops."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def async_scope() -> Iterator[None]:
    """A block after which all of its operations have finished and raised their errors.

    >>> with tf.experimental.async_scope():
    ...     total = tf.add(1, 2)
    >>> int(total)
    3
    """
    yield


def async_clear_error() -> None:
    """Clear the errors of asynchronous operations; there are none here."""


@contextmanager
def function_executor_type(executor_type: str | None) -> Iterator[None]:
    """A block whose functions run on another executor; every name means the only one."""
    yield
