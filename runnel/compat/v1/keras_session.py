"""The session that Keras models train and predict in while a graph is built."""

from __future__ import annotations

import contextlib
import weakref
from typing import Any

from ...core.context import state
from .defaults import get_default_graph, sessions
from .keys import GraphKeys
from .session import Session

_sessions: weakref.WeakKeyDictionary[Any, Session] = weakref.WeakKeyDictionary()


def get_session(op_input_list=()):
    """The default session, or one of Keras's own, with values for all variables."""
    graph = state.home or get_default_graph()
    session = sessions.innermost()
    if session is None or session.graph is not graph:
        session = _sessions.get(graph)
        if session is None:
            session = _sessions[graph] = Session(graph=graph)
    keys = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES)
    variables = [each for key in keys for each in graph.get_collection(key)]
    fresh = [each.initializer for each in variables if each._key not in session.values]
    if fresh:
        session.run(fresh)
    return session


def set_session(session):
    """Let Keras models use this session."""
    _sessions[session.graph] = session


@contextlib.contextmanager
def at_work():
    """Run a block eagerly; the variables of the graph have their values in the session."""
    with get_session()._at_work():
        yield
