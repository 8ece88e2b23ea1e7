"""Checkpoints in graph mode: the values of variables are in sessions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from ..core import hooks
from ..core.context import state

Method = TypeVar("Method", bound=Callable[..., Any])
_NOTHING = "No checkpoint specified, so no restore ops are available (save_path=None)."


def in_default_session(method: Method) -> Method:
    """Let a method of a checkpoint use the values of the default session in graph mode.

    The save counter is created and initialized to 0 in that session first.
    """

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if state.home is None:
            return method(self, *args, **kwargs)
        session = _session(None)
        checkpoint = getattr(self, "_checkpoint", self)
        counter = checkpoint._save_counter
        if counter is None and method.__name__ == "save":
            counter = checkpoint._make_save_counter()
        if counter is not None and counter._key not in session.values:
            session.run(counter.initializer)
        with session._at_work():
            return method(self, *args, **kwargs)

    return call  # type: ignore[return-value]


def _session(given: Any) -> Any:
    """The session given, or the default one; else a new one without values."""
    if given is not None:
        return given
    session = hooks.innermost_session()
    return hooks.new_session(graph=state.home) if session is None else session


class GraphLoadStatus:
    """The status of a restoration in graph mode: `run_restore_ops` restores in a session."""

    def __init__(self, restore: Callable[[], Any], variables: Callable[[], list[Any]]) -> None:
        self._restore = restore
        self._variables = variables
        # Separate values, to compute the matches before there is a session.
        self._trial = hooks.new_session(graph=state.home)
        self._tried()

    def _tried(self) -> Any:
        with self._trial._at_work():
            return self._restore()

    def _checked(self, name: str) -> GraphLoadStatus:
        status = self._tried()
        with self._trial._at_work():
            getattr(status, name)()
        return self

    def assert_consumed(self) -> GraphLoadStatus:
        """Assert that every value was matched to an object, and every object to a value."""
        return self._checked("assert_consumed")

    def assert_existing_objects_matched(self) -> GraphLoadStatus:
        """Assert that every object with a value was matched in the checkpoint."""
        return self._checked("assert_existing_objects_matched")

    def assert_nontrivial_match(self) -> GraphLoadStatus:
        """Assert that any object other than the root was matched."""
        return self._checked("assert_nontrivial_match")

    def expect_partial(self) -> GraphLoadStatus:
        """No effect: in graph mode there are no warnings about unused values."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Restore the values in a session, by default the default one."""
        with _session(session)._at_work():
            self._restore()

    def initialize_or_restore(self, session: Any = None) -> None:
        """Restore the values in the checkpoint, and initialize the objects' other variables."""
        session = _session(session)
        session.run([each.initializer for each in self._variables()])
        self.run_restore_ops(session)


class GraphInitializationStatus:
    """The status of `restore(None)` in graph mode."""

    def __init__(self, variables: Callable[[], list[Any]]) -> None:
        self._variables = variables

    def assert_consumed(self) -> None:
        """Always an error: there is no checkpoint."""
        raise AssertionError(_NOTHING)

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def expect_partial(self) -> GraphInitializationStatus:
        """No effect."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Always an error: there is no checkpoint."""
        raise AssertionError(_NOTHING)

    def initialize_or_restore(self, session: Any = None) -> None:
        """Initialize the variables of the objects."""
        session = _session(session)
        session.run([each.initializer for each in self._variables()])
