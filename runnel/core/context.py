"""Thread-local state: eager or graph mode, recording tapes, name and device scopes."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

    from .graph.graph import Graph


class ThreadState(threading.local):
    """What `execute` reads for each operation; class attributes are the defaults of threads."""

    graph: Graph | None = None
    # The graph that variables belong to, and its running session; None in eager mode.
    home: Any = None
    session: Any = None
    tapes: tuple[Any, ...] = ()
    device: str | None = None
    name_scope: str = ""
    variable_creators: tuple[Callable[..., Any], ...] = ()
    # Whether loaded graphs may write files.
    trusts_files: bool = False


state = ThreadState()

# A tensor gets its key when a tape first records it; 0 means that no tape has.
next_key: Callable[[], int] = itertools.count(1).__next__


def executing_eagerly() -> bool:
    """Whether operations are executed immediately (True) or added to a graph (False).

    >>> tf.executing_eagerly()
    True
    """
    return state.graph is None


@contextmanager
def no_recording() -> Iterator[None]:
    """Hide the operations of a block from every tape."""
    tapes, state.tapes = state.tapes, ()
    try:
        yield
    finally:
        state.tapes = tapes


@contextmanager
def init_scope() -> Iterator[None]:
    """Leave the functions being traced: the block runs eagerly and is not recorded.

    In a TensorFlow 1 graph, the operations of the block are added to that graph.

    >>> with tf.init_scope():
    ...     tf.executing_eagerly()
    True
    """
    graph, tapes, scope = state.graph, state.tapes, state.name_scope
    state.graph, state.tapes = state.home, ()
    try:
        yield
    finally:
        state.graph, state.tapes, state.name_scope = graph, tapes, scope


_NO_NAME = "name for name_scope must be a string, got {!r}."


def scope_within(outer: str, name: str) -> str:
    """The name scope of a block with this name inside another scope."""
    if not isinstance(name, str):
        raise ValueError(_NO_NAME.format(name))
    if name.endswith("/"):
        return name
    if not name:
        return ""
    if state.graph is not None:
        return state.graph.unique_name(outer + name) + "/"
    return f"{outer}{name}/"


class name_scope:
    """Prefix the names of the variables and operations made in a block.

    >>> with tf.name_scope("layer"):
    ...     print(tf.Variable(1.0, name="w").name)
    layer/w:0
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ValueError(_NO_NAME.format(name))
        self._name = name
        self._outer: list[str] = []

    @property
    def name(self) -> str:
        return self._name

    def __enter__(self) -> str:
        outer = state.name_scope
        self._outer.append(outer)
        state.name_scope = scope_within(outer, self._name)
        return state.name_scope

    def __exit__(self, *exception: object) -> None:
        state.name_scope = self._outer[-1]
        self._outer.pop()


def get_current_name_scope() -> str:
    """The full current name scope, without a trailing slash.

    >>> with tf.name_scope("a"), tf.name_scope("b"):
    ...     print(tf.get_current_name_scope())
    a/b
    """
    return state.name_scope.rstrip("/")


class Tracebacks:
    """Whether the error of an operation also shows the kernel's exception that caused it."""

    def __init__(self) -> None:
        self.filtered = True

    def cause(self, failure: Exception) -> Exception | None:
        """The `__cause__` of an operation's error."""
        return None if self.filtered else failure


tracebacks = Tracebacks()


def _generator(seed: int | None) -> Random:
    import random

    return random.Random(seed)


class Seeds:
    """The program's global seed, and the op seeds drawn from it in eager mode.

    Streams begin anew with each `generation`. `drawn` is how many op seeds there were, and
    `counted_in_python` how many seeds others took that go on in Python, as a layer with a seed of
    its own takes another one for each call.
    """

    def __init__(self) -> None:
        self.generation = 0
        self.counted_in_python = 0
        self.drawn = 0
        self.set(None)

    def set(self, seed: int | None) -> None:
        self.seed = seed
        self.begin_streams_anew()
        self._op_seeds = None if seed is None else _generator(seed)

    def begin_streams_anew(self) -> None:
        """Restart the random streams of all operations."""
        self.generation += 1

    def next_op_seed(self) -> int:
        if self._op_seeds is None:
            self._op_seeds = _generator(None)
        self.drawn += 1
        return self._op_seeds.randint(0, 2**31 - 1)


seeds = Seeds()
