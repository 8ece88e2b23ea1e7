"""Methods of eager objects that are called in graph mode: they run in the graph's session."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from .. import hooks
from ..context import state

Method = TypeVar("Method", bound=Callable[..., Any])


def in_session(method: Method) -> Method:
    """Let a method of a model run eagerly in graph mode: on the values of a session."""

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        if state.home is None:
            try:
                return method(*args, **kwargs)
            except TypeError as failure:
                if not kwargs or failure.__traceback__ is None or failure.__traceback__.tb_next:
                    raise  # called from the method itself
                raise _of_keywords(method, kwargs, failure) from None
        with hooks.session_at_work():
            return method(*args, **kwargs)

    return call  # type: ignore[return-value]


def _of_keywords(method: Callable[..., Any], kwargs: Any, failure: TypeError) -> TypeError:
    """The error for a call with keywords that a method does not have."""
    from ..suggestions import keyword_advice, parameters_of

    known = parameters_of(method)
    unknown = next((name for name in kwargs if name not in known), None)
    return failure if unknown is None else TypeError(f"{failure}.{keyword_advice(method, unknown)}")
