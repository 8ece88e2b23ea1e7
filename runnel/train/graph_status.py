"""Checkpoints of objects whose variables belong to a graph: their values are in sessions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from ..core import hooks
from ..core.context import state

Method = TypeVar("Method", bound=Callable[..., Any])
_NOTHING = "No checkpoint specified, so no restore ops are available (save_path=None)."


def in_default_session(method: Method) -> Method:
    """Let a method of a checkpoint see the values of the default session, while a graph is built.

    The counter of saves is made, and begins at 0 in that session, before.
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
    """The session given, or the default one; else one without any values."""
    if given is not None:
        return given
    session = hooks.innermost_session()
    return hooks.new_session(graph=state.home) if session is None else session


class GraphLoadStatus:
    """What restoring gives while a graph is built: a session restores by `run_restore_ops`."""

    def __init__(self, restore: Callable[[], Any], variables: Callable[[], list[Any]]) -> None:
        self._restore = restore
        self._variables = variables
        # Values of its own, to see what matches before there is a session.
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
        """Assert that every value has found its object, and every object its value."""
        return self._checked("assert_consumed")

    def assert_existing_objects_matched(self) -> GraphLoadStatus:
        """Assert that every object with a value has one in the checkpoint."""
        return self._checked("assert_existing_objects_matched")

    def assert_nontrivial_match(self) -> GraphLoadStatus:
        """Assert that anything besides the root has been matched."""
        return self._checked("assert_nontrivial_match")

    def expect_partial(self) -> GraphLoadStatus:
        """Say nothing when values are left that no object has taken: in graphs nobody does."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Restore the values in a session, by default the default one."""
        with _session(session)._at_work():
            self._restore()

    def initialize_or_restore(self, session: Any = None) -> None:
        """Restore what the checkpoint has, and initialize the other variables of the objects."""
        session = _session(session)
        session.run([each.initializer for each in self._variables()])
        self.run_restore_ops(session)


class GraphInitializationStatus:
    """What `restore(None)` gives while a graph is built."""

    def __init__(self, variables: Callable[[], list[Any]]) -> None:
        self._variables = variables

    def assert_consumed(self) -> None:
        """Always an error: there is no checkpoint."""
        raise AssertionError(_NOTHING)

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def expect_partial(self) -> GraphInitializationStatus:
        """Nothing to do."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Always an error: there is no checkpoint."""
        raise AssertionError(_NOTHING)

    def initialize_or_restore(self, session: Any = None) -> None:
        """Initialize the variables of the objects."""
        session = _session(session)
        session.run([each.initializer for each in self._variables()])
