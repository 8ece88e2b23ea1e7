"""Methods of eager objects that are called while a graph is built: they run in its session."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from .. import hooks
from ..context import state

Method = TypeVar("Method", bound=Callable[..., Any])


def in_session(method: Method) -> Method:
    """Let a method of a model run eagerly while a graph is built: on the values of a session."""

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        if state.home is None:
            return method(*args, **kwargs)
        with hooks.session_at_work():
            return method(*args, **kwargs)

    return call  # type: ignore[return-value]
