"""Seeds, and the stream position of each stateful random operation.

The stream of an operation is that of Philox with the global seed as the key and the operation's
seed in the upper half of the counter.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from ..core.context import seeds, state
from . import philox

DEFAULT_GLOBAL_SEED = 87654321
_SEED_LIMIT = 2**31 - 1

_lock = threading.Lock()


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


def get_seed(op_seed):
    """The pair of seeds for an operation: (global, its own), or (None, None) if there is none."""
    seed, seed2, _ = _combined(op_seed)
    return seed, seed2


def _combined(op_seed: Any) -> tuple[Any, Any, bool]:
    """The two seeds, and whether the second was generated rather than given."""
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
        op_seed = of_graph.drawn
        of_graph.drawn += 1
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
    """The attributes of a stateful op: its seeds, and its stream if it has one of its own."""
    seed, seed2, drawn = _combined(op_seed)
    seed, seed2 = int(seed or 0), int(seed2 or 0)
    attrs: dict[str, Any] = {"seed": seed, "seed2": seed2}
    if drawn or state.graph is not None:
        attrs["_stream"] = Stream(seed, seed2, state.graph is not None)
    return attrs
