"""The session in which Keras models train and predict while a graph is built."""

from __future__ import annotations

import contextlib

from .defaults import home_graph, sessions
from .keys import GraphKeys
from .session import Session


def get_session(op_input_list=()):
    """The default session, or Keras's own, with initialized variables."""
    graph = home_graph()
    session = sessions.innermost()
    if session is None or session.graph is not graph:
        if graph.keras_session is None:
            graph.keras_session = Session(graph=graph)
        session = graph.keras_session
    keys = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES)
    variables = [each for key in keys for each in graph.get_collection(key)]
    fresh = [each.initializer for each in variables if each._key not in session.values]
    if fresh:
        session.run(fresh)
    return session


def set_session(session):
    """Make Keras models use this session."""
    session.graph.keras_session = session


@contextlib.contextmanager
def at_work():
    """Run a block eagerly, with the values of graph variables from the session."""
    with get_session()._at_work():
        yield
