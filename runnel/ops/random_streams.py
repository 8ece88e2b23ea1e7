"""Seeds, and the stream position of each stateful random operation.

The stream of an operation is that of Philox with the global seed as the key and the operation's
seed in the upper half of the counter.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from ..core.context import seeds, state
from . import philox

DEFAULT_GLOBAL_SEED = 87654321
_SEED_LIMIT = 2**31 - 1

_lock = threading.Lock()


class _Collected(threading.local):
    """The streams that were made since somebody began to collect them."""

    streams: list[Stream] | None = None


_collected = _Collected()


@contextmanager
def collected() -> Iterator[list[Stream]]:
    """The streams that a block makes."""
    outer = _collected.streams
    streams: list[Stream] = []
    _collected.streams = streams
    try:
        yield streams
    finally:
        _collected.streams = outer
        if outer is not None:
            outer.extend(streams)


class Stream:
    """The position of a stateful operation in the stream of its two seeds.

    `tf.random.set_seed` rewinds it. Two seeds of zero mean no seed at all. `memory` is other state
    that a kernel keeps between calls. `of_node`: it belongs to a node of a graph. `made` counts
    instances: compared before and after tracing, it shows whether a graph has any.
    """

    __slots__ = ("_counter", "_generation", "_key", "_seeds", "memory", "of_node")

    made: ClassVar[int] = 0

    _key: int
    _counter: int
    memory: Any

    def __init__(self, seed: int, seed2: int, of_node: bool = False) -> None:
        self._seeds = seed, seed2
        self._generation = -1
        self.of_node = of_node
        Stream.made += 1
        if _collected.streams is not None:
            _collected.streams.append(self)

    def again(self) -> Stream:
        """A new stream with the same seeds, for another operation."""
        return Stream(*self._seeds, self.of_node)

    def reserve(self, groups: int) -> tuple[int, int]:
        """Reserve `groups` groups for the caller: the key, and the counter of the first."""
        with _lock:
            if self._generation != seeds.generation:
                self._start()
            counter = self._counter
            self._counter = counter + groups & philox.MASK128
            return self._key, counter

    def restart(self) -> None:
        """Go back to the start of the stream."""
        self._generation = -1

    def _start(self) -> None:
        self._generation = seeds.generation
        self.memory = None
        seed, seed2 = self._seeds
        if not seed and not seed2:
            seed, seed2 = (int.from_bytes(os.urandom(8), "little") for _ in range(2))
        self._key, self._counter = seed & philox.MASK64, (seed2 & philox.MASK64) << 64


class _Renewed(threading.local):
    """Streams that currently replace those of a graph's nodes, keyed by the replaced ones."""

    streams: dict[Stream, Stream] | None = None


_renewed = _Renewed()


@contextmanager
def renewed(streams: dict[Stream, Stream]) -> Iterator[None]:
    """While it is active, nodes of graphs use `streams`, to which missing ones are added.

    An owner of such streams has random numbers that start from the seeds, independent of other
    runs.
    """
    before, _renewed.streams = _renewed.streams, streams
    try:
        yield
    finally:
        _renewed.streams = before


class _EagerStreams:
    """The streams of operations that run repeatedly with the same seeds and dtypes."""

    def __init__(self) -> None:
        self._generation = -1
        self._streams: dict[Any, Stream] = {}

    def of(self, identity: tuple[Any, ...], seed: int, seed2: int) -> Stream:
        if self._generation != seeds.generation:
            self._generation, self._streams = seeds.generation, {}
        key = (identity, seed, seed2)
        stream = self._streams.get(key)
        if stream is None:
            stream = self._streams.setdefault(key, Stream(seed, seed2))
        return stream


_eager_streams = _EagerStreams()


def stream_of(stream: Stream | None, seed: int, seed2: int, *identity: Any) -> Stream:
    """The stream of a kernel's call.

    A node of a graph has a stream of its own; eager calls of the same op, dtypes and seeds use one
    stream, as they use one kernel in the original.
    """
    if stream is None:
        return _eager_streams.of(identity, seed, seed2)
    streams = _renewed.streams
    if streams is None or not stream.of_node:
        return stream
    own = streams.get(stream)
    return streams.setdefault(stream, stream.again()) if own is None else own


def reserve(
    stream: Stream | None, seed: int, seed2: int, groups: int, *identity: Any
) -> tuple[int, int]:
    """The key and the counter for a kernel's next `groups`."""
    return stream_of(stream, seed, seed2, *identity).reserve(groups)


class _GraphSeeds:
    """The seed of a graph under construction, and how many operations have taken one from it."""

    def __init__(self, graph: Any) -> None:
        # A function uses the seed of the program that traces it.
        self.seed = None if graph.has_own_seed else seeds.seed
        self.drawn = 0


class Rounds:
    """The random operations of a loop that is written out, round by round, in a graph.

    In the body of a loop, an operation stands once: its seed is the body's own, and its numbers go
    on from one round to the next. So those of all rounds have the seeds, and the streams, that the
    operations of the first round took.
    """

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.number = 0
        self.drawn = 0
        self._attrs: list[dict[str, Any]] = []
        self._place = 0

    def each(self, step: Any) -> Any:
        """The function of a step, of which every call is a round."""

        def round_(*args: Any) -> Any:
            outer, _written_out.rounds = _written_out.rounds, self
            self._place = 0
            self.number += 1
            try:
                return step(*args)
            finally:
                _written_out.rounds = outer

        return round_

    def attrs(self, op_seed: Any) -> dict[str, Any]:
        """The attributes of the next operation of a round."""
        if self._place == len(self._attrs):
            self._attrs.append(_attrs(op_seed))
        self._place += 1
        return self._attrs[self._place - 1]

    def end(self) -> None:
        """Count the operations for the graph around: the original tries the first step there."""
        if self.drawn:
            _graph_seeds.setdefault(self.graph, _GraphSeeds(self.graph)).drawn += self.drawn


class _WrittenOut(threading.local):
    """The loop that is being written out."""

    rounds: Rounds | None = None


_written_out = _WrittenOut()


def _rounds_of(graph: Any) -> Rounds | None:
    rounds = _written_out.rounds
    return rounds if rounds is not None and graph is not None and rounds.graph is graph else None


def place() -> tuple[Any, int]:
    """Where operations would be added: the graph, and the round of a loop that is written out."""
    graph = state.graph
    rounds = _rounds_of(graph)
    return graph, 0 if rounds is None else rounds.number


_graph_seeds: weakref.WeakKeyDictionary[Any, _GraphSeeds] = weakref.WeakKeyDictionary()


def set_seed(seed):
    """Set the global seed, from which all random operations without a seed of their own are seeded.

    >>> tf.random.set_seed(1234)
    >>> tf.random.uniform([2])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0.5380393 , 0.36461866], dtype=float32)>
    """
    if not isinstance(seed, int | float | str | None):
        seed = int(np.array(seed))
    if state.graph is None:
        seeds.set(seed)
    else:
        _graph_seeds.setdefault(state.graph, _GraphSeeds(state.graph)).seed = seed


def seed_of_graph(graph: Any) -> Any:
    """The seed that was set for a graph, or None."""
    known = _graph_seeds.get(graph)
    return None if known is None else known.seed


# What gives all operations their seeds meanwhile, instead of those that are set.
_seeded_by: Callable[[], tuple[int, int]] | None = None


@contextmanager
def seeded_by(pair: Callable[[], tuple[int, int]]) -> Iterator[None]:
    """Let a function give the seeds, the global one and its own, of each random operation."""
    global _seeded_by
    before, _seeded_by = _seeded_by, pair
    try:
        yield
    finally:
        _seeded_by = before


def get_seed(op_seed):
    """The pair of seeds for an operation: (global, its own), or (None, None) if there is none."""
    seed, seed2, _ = _combined(op_seed)
    return seed, seed2


def _combined(op_seed: Any) -> tuple[Any, Any, bool]:
    """The two seeds, and whether the second was made up rather than given."""
    if _seeded_by is not None:
        seed, seed2 = (each % _SEED_LIMIT for each in _seeded_by())
        return (seed, seed2, True) if seed or seed2 else (0, _SEED_LIMIT, True)
    graph = state.graph
    if graph is None:
        global_seed = seeds.seed
    else:
        of_graph = _graph_seeds.setdefault(graph, _GraphSeeds(graph))
        global_seed = of_graph.seed
    drawn = op_seed is None
    if global_seed is None:
        if drawn:
            return None, None, False
        global_seed = DEFAULT_GLOBAL_SEED
    elif drawn and graph is None:
        op_seed = seeds.next_op_seed()
    elif drawn:
        counting = _rounds_of(graph) or of_graph
        op_seed = counting.drawn
        counting.drawn += 1
    try:
        seed, seed2 = global_seed % _SEED_LIMIT, op_seed % _SEED_LIMIT
    except TypeError:
        raise TypeError(
            "A seed must be an integer. The global one, of tf.random.set_seed, is "
            f"{global_seed!r}, that of the operation {op_seed!r}."
        ) from None
    # Two zeros would mean "no seed".
    return (seed, seed2, drawn) if seed or seed2 else (0, _SEED_LIMIT, drawn)


def seed_attrs(op_seed: Any) -> dict[str, Any]:
    """The attributes of a stateful op: its seeds, and its stream where nobody else uses it."""
    rounds = _rounds_of(state.graph)
    return _attrs(op_seed) if rounds is None else rounds.attrs(op_seed)


def _attrs(op_seed: Any) -> dict[str, Any]:
    seed, seed2, drawn = _combined(op_seed)
    seed, seed2 = int(seed or 0), int(seed2 or 0)
    attrs: dict[str, Any] = {"seed": seed, "seed2": seed2}
    if drawn or state.graph is not None:
        attrs["_stream"] = Stream(seed, seed2, state.graph is not None)
    return attrs
