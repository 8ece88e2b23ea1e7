"""The state of the running thread: eager or graph, recording tapes, name and device scopes."""

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
    """What `execute` asks for at every operation; class attributes are each thread's defaults."""

    graph: Graph | None = None
    # The graph that variables belong to, and its session at work; None: they are eager.
    home: Any = None
    session: Any = None
    tapes: tuple[Any, ...] = ()
    device: str | None = None
    name_scope: str = ""
    variable_creators: tuple[Callable[..., Any], ...] = ()
    # Whether graphs that are loaded may write files.
    trusts_files: bool = False


state = ThreadState()

# Tensors get a key when a tape first sees them; 0 means "no tape has".
next_key: Callable[[], int] = itertools.count(1).__next__


def executing_eagerly() -> bool:
    """Whether operations run at once (True) or are added to a graph (False).

    >>> tf.executing_eagerly()
    True
    """
    return state.graph is None


@contextmanager
def no_recording() -> Iterator[None]:
    """Hide the computations of a block from every tape."""
    tapes, state.tapes = state.tapes, ()
    try:
        yield
    finally:
        state.tapes = tapes


@contextmanager
def init_scope() -> Iterator[None]:
    """Leave the functions under construction: the block runs eagerly and unrecorded.

    In the graph of a whole program, as TensorFlow 1 had it, it builds there.

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
    """The name scope that a block of this name has inside of another one."""
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
    """The full name scope of this place, without a trailing slash.

    >>> with tf.name_scope("a"), tf.name_scope("b"):
    ...     print(tf.get_current_name_scope())
    a/b
    """
    return state.name_scope.rstrip("/")


class Tracebacks:
    """Whether an operation's error also shows the failure inside the kernel that led to it."""

    def __init__(self) -> None:
        self.filtered = True

    def cause(self, failure: Exception) -> Exception | None:
        """What an operation's error names as its cause."""
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
        """Let all operations draw the first numbers of their seeds again."""
        self.generation += 1

    def next_op_seed(self) -> int:
        if self._op_seeds is None:
            self._op_seeds = _generator(None)
        self.drawn += 1
        return self._op_seeds.randint(0, 2**31 - 1)


seeds = Seeds()
