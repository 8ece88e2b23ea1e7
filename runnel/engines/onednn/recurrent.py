"""Recurrent layers over all steps: LSTM, and GRU with `reset_after`."""

from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...runtime.buffers import CACHE_LINE, empty, zeros
from ...runtime.engine_selection import here, pool
from ...runtime.workers import num_threads, parallel_region, run_parallel
from .library import Library
from .primitive import (
    BIAS,
    DIFF_BIAS,
    DIFF_DST,
    DIFF_SRC,
    DIFF_WEIGHTS,
    DST,
    FLOAT32,
    FORWARD_INFERENCE,
    FORWARD_TRAINING,
    SRC,
    WEIGHTS,
    WORKSPACE,
    Primitive,
    attributes,
    cached,
    described,
    prepared_library,
)
from .reorder import Layout, filters
from .sync_latency import sharing

_BACKWARD = 128
_FORTH = 1
_OF_WEIGHTS = 131
# In oneDNN's numbering the recurrent weights follow the input weights, and states their layer.
_RECURRENT = WEIGHTS + 1
# In elements of the output: oneDNN's workspace has 80 bytes for each, and as many of scratchpad.
_MOST_OUTPUTS = 1 << 22
# A batch is divided (`_count_of_parts`) where that was faster: with at least so many rows, and a
# layer of so many multiplications. docs/benchmarks.md has the figures.
_LEAST_ROWS, _LEAST_WORK = 16, 1 << 25
# oneDNN processes eight rows at a time. So few extra rows are better off in another part.
_ROWS_AT_ONCE, _FEW_ROWS = 8, 1
# Gradients with respect to weights overwrite the output instead of accumulating.
_OVERWRITE = 1


class _Kind(NamedTuple):
    """A kind of layer: oneDNN's names for it, and the number of gates, states and biases."""

    name: str
    gates: int
    biases: int
    states: int
    # Optional weights that are not used here.
    others: int
    # With more weights, which every part reads at each step, a divided batch is not faster: at low
    # synchronization latency, and at high.
    most_in_parts: tuple[int, int]


_LSTM = _Kind("lstm", gates=4, biases=4, states=2, others=2, most_in_parts=(1 << 18, 1 << 19))
_GRU = _Kind("lbr_gru", gates=3, biases=4, states=1, others=0, most_in_parts=(1 << 19, 1 << 19))


class _Sizes(NamedTuple):
    length: int
    batch: int
    inputs: int
    units: int


class _Part(NamedTuple):
    """Some rows of a batch, as a layer of their own."""

    sizes: _Sizes
    rows: slice

    def of(self, *arrays: Any) -> list[Any]:
        """The part of arrays of (time, batch, features) or (batch, features)."""
        return _plain(*(array[..., self.rows, :] for array in arrays))

    def room_in(self, array: Any) -> Any:
        """Where to write the part of an array: into it, if that is contiguous."""
        place = array[..., self.rows, :]
        return place if place.flags.c_contiguous else empty(place.shape, array.dtype)

    def zeros_like(self, array: Any) -> Any:
        """Zeros into the part of an array."""
        return _zeros(array[..., self.rows, :].shape)

    def put(self, values: Any, array: Any) -> None:
        """Copy the part into its rows, unless it was written there."""
        place = array[..., self.rows, :]
        if not place.flags.c_contiguous:
            place[...] = values


class _Data(NamedTuple):
    """The descriptors of a layer's inputs and outputs, in plain layout."""

    x: Any
    state: Any
    kernel: Any
    recurrent: Any
    bias: Any
    outputs: Any


def lstm(recurrent: Any, kernel: Any, bias: Any, x: Any, h: Any, c: Any, keep: bool) -> Any:
    """The outputs of all steps, the final carry, and if `keep` oneDNN's workspace."""
    found = _there(_LSTM, (kernel, recurrent, bias), x, (h, c), keep)
    if found is None:
        return None
    outputs, (_, last_c), kept = found
    return outputs, last_c, kept


def lstm_backprop(
    recurrent: Any, kernel: Any, bias: Any, x: Any, h: Any, c: Any, outputs: Any, last_c: Any,
    kept: Any, to_outputs: Any, to_h: Any, to_c: Any, with_x: bool,
) -> Any:  # fmt: skip
    """The gradients with respect to x, h, c, the kernel, the recurrent kernel and the bias."""
    weights, gradients = (kernel, recurrent, bias), (to_outputs, to_h, to_c)
    last = (outputs[-1], last_c)
    return _back(_LSTM, weights, x, (h, c), outputs, last, kept, gradients, with_x)


def gru(recurrent: Any, kernel: Any, bias: Any, x: Any, h: Any, keep: bool) -> Any:
    """The outputs of all steps, and if `keep` oneDNN's workspace."""
    if bias.shape != (2, _GRU.gates * h.shape[1]):
        return None
    found = _there(_GRU, (kernel, recurrent, _joined(bias)), x, (h,), keep)
    if found is None:
        return None
    outputs, _, kept = found
    return outputs, kept


def gru_backprop(
    recurrent: Any, kernel: Any, bias: Any, x: Any, h: Any, outputs: Any, kept: Any,
    to_outputs: Any, to_h: Any, with_x: bool,
) -> Any:  # fmt: skip
    """The gradients with respect to x, h, the kernel, the recurrent kernel and the bias."""
    weights, gradients = (kernel, recurrent, _joined(bias)), (to_outputs, to_h)
    found = _back(_GRU, weights, x, (h,), outputs, (outputs[-1],), kept, gradients, with_x)
    if found is None:
        return None
    *rest, to_bias = found
    units = h.shape[1]
    of_state = np.concatenate([to_bias[: 2 * units], to_bias[3 * units :]])
    return *rest, np.stack([to_bias[: 3 * units], of_state])


def _joined(bias: Any) -> Any:
    """The biases of both matmuls, summed where they are added, then those of the candidate."""
    units = bias.shape[-1] // 3
    both = bias[0, : 2 * units] + bias[1, : 2 * units]
    return np.concatenate([both, bias[0, 2 * units :], bias[1, 2 * units :]])


def _there(kind: _Kind, weights: Any, x: Any, states: Sequence[Any], keep: bool) -> Any:
    """The outputs, the final states, and the workspace of each part of the batch."""
    sizes = _sizes(x, states)
    if not _fits(kind, sizes, weights, x, states):
        return None
    parts = _parts(sizes, _count_of_parts(kind, sizes) if keep else 1)
    outputs = empty((sizes.length, sizes.batch, sizes.units), x.dtype)
    last = [np.empty(each.shape, np.float32) for each in states]
    pool.give_to_engine()
    with parallel_region(len(parts)):
        first = _forward_of(kind, parts[0].sizes, keep)
    if first is None:
        return None
    kept = empty((len(parts), _numbers_kept(first) if keep else 0), x.dtype)

    def run(place: int) -> None:
        part = parts[place]
        primitive = _forward_of(kind, part.sizes, keep) if place else first
        ordered = _ordered(weights, kind, primitive)
        own = part.room_in(outputs)
        given = (*part.of(x, *states), *ordered, own, *part.of(*last))
        primitive.run(*given, *([kept[place]] if keep else []))
        part.put(own, outputs)

    run_parallel(run, len(parts))
    return outputs, last, kept


def _back(
    kind: _Kind, weights: Any, x: Any, states: Sequence[Any], outputs: Any, last: Sequence[Any],
    kept: Any, gradients: Sequence[Any], with_x: bool,
) -> Any:  # fmt: skip
    """The gradients with respect to x, the states and the weights; those given may be empty.

    Without x the first of them is zero: oneDNN computes it, but without the kernel.
    """
    sizes = _sizes(x, states)
    if not _fits(kind, sizes, weights, x, states) or not kept.size:
        return None
    likes = list(zip(gradients, (outputs, *states), strict=True))
    if any(gradient.size and gradient.shape != like.shape for gradient, like in likes):
        return None
    parts = _parts(sizes, len(kept))
    pool.give_to_engine()
    with parallel_region(len(parts)):
        first = _backward_of(kind, parts[0].sizes)
    if first is None or _numbers_kept(first) != len(kept[0]):
        return None
    results = [empty(each.shape, x.dtype) for each in (x, *states)]

    def run(place: int) -> list[Any]:
        part = parts[place]
        primitive = _backward_of(kind, part.sizes) if place else first
        ordered = _ordered(weights, kind, primitive, with_x)
        own = [part.room_in(result) for result in results]
        sums = [empty(each.shape, x.dtype) for each in weights]
        given = [
            part.of(gradient)[0] if gradient.size else part.zeros_like(like)
            for gradient, like in likes
        ]
        primitive.run(
            *part.of(x, *states), *ordered, *part.of(outputs, *last), *own, *sums, *given,
            kept[place],
        )  # fmt: skip
        for values, result in zip(own, results, strict=True):
            part.put(values, result)
        return sums

    sums, *others = run_parallel(run, len(parts))
    for other in others:
        for total, more in zip(sums, other, strict=True):
            total += more
    return *results, *sums


def _numbers_kept(primitive: Primitive) -> int:
    """The elements of a part's workspace, in whole cache lines."""
    lines = -(-primitive.size(WORKSPACE) // CACHE_LINE)
    return lines * CACHE_LINE // 4


_nothing = np.zeros(0, np.float32)


def _zeros(shape: tuple[int, ...]) -> Any:
    """Shared zeros; they are read only."""
    global _nothing
    size, found = math.prod(shape), _nothing
    if found.size < size:
        found = zeros((size,), found.dtype)
        found.flags.writeable = False
        _nothing = found
    return found[:size].reshape(shape)


def _count_of_parts(kind: _Kind, sizes: _Sizes) -> int:
    """The number of parts of a batch, one per thread.

    oneDNN's threads synchronize after each step. Rows are independent: threads with rows of their
    own run through all steps and synchronize once.
    """
    if here.in_parallel_region:
        return 1
    length, batch, inputs, units = sizes
    weights = (inputs + units) * kind.gates * units
    threads = num_threads(prepared_library().most_threads)
    if batch < threads * _LEAST_ROWS or length * batch * weights < _LEAST_WORK:
        return 1
    quickly, slowly = kind.most_in_parts
    is_profitable = weights <= quickly or (weights <= slowly and not sharing.is_low())
    return threads if is_profitable else 1


@lru_cache(maxsize=1024)
def _parts(sizes: _Sizes, count: int) -> list[_Part]:
    """Parts of about equal size; the first, whose thread starts sooner, has the remainder."""
    rows = sizes.batch // count
    over = rows % _ROWS_AT_ONCE
    if over * (count - 1) <= _FEW_ROWS:
        rows -= over
    edges = [0, *(sizes.batch - rows * after for after in reversed(range(count)))]
    return [
        _Part(sizes._replace(batch=stop - start), slice(start, stop))
        for start, stop in itertools.pairwise(edges)
    ]


def _forward_of(kind: _Kind, sizes: _Sizes, keep: bool) -> Any:
    """The calling thread's primitive for the forward pass of a layer; None if there is none."""
    return cached(("steps", kind, sizes, keep), lambda each: _forward(each, kind, sizes, keep))


def _backward_of(kind: _Kind, sizes: _Sizes) -> Any:
    """The calling thread's primitive for the backward pass of a layer; None if there is none."""
    return cached(("steps back", kind, sizes), lambda each: _backward(each, kind, sizes))


def _sizes(x: Any, states: Sequence[Any]) -> _Sizes:
    length, batch, inputs = x.shape
    return _Sizes(length, batch, inputs, states[0].shape[1])


def _fits(kind: _Kind, sizes: _Sizes, weights: Any, x: Any, states: Sequence[Any]) -> bool:
    """Whether arrays have the shapes that oneDNN assumes: it checks none."""
    arrays = (*weights, x, *states)
    alike = [each.shape for each in arrays] == _shapes(kind, sizes)
    return alike and all(each.dtype == np.float32 for each in arrays)


@lru_cache(maxsize=1024)
def _shapes(kind: _Kind, sizes: _Sizes) -> list[tuple[int, ...]] | None:
    """The shapes of the weights, the inputs and the states; None where oneDNN has no such layer."""
    length, batch, inputs, units = sizes
    if not 0 < length * batch * units <= _MOST_OUTPUTS or not inputs:
        return None
    columns, state = kind.gates * units, (batch, units)
    of_weights = [(inputs, columns), (units, columns), (kind.biases * units,)]
    return [*of_weights, (length, batch, inputs), *[state] * kind.states]


def _plain(*arrays: Any) -> list[Any]:
    return [np.ascontiguousarray(array) for array in arrays]


def _ordered(weights: Any, kind: _Kind, primitive: Primitive, with_x: bool = True) -> list[Any]:
    """Weights in the layouts that a primitive chose, and the bias; without x zeros as kernel."""
    kernel, recurrent, bias = weights

    def ordered(each: Any, place: int) -> Any:
        return filters.reordered(each, _layout(each.shape, kind.gates), primitive, place)

    first = ordered(kernel, WEIGHTS) if with_x else _zeros((primitive.size(WEIGHTS) // 4,))
    return [first, ordered(recurrent, _RECURRENT), *_plain(bias)]


@lru_cache(maxsize=1024)
def _layout(shape: tuple[int, int], gates: int) -> Layout:
    """The weights of all gates as oneDNN sees them: layers, directions, inputs, gates, units."""
    rows, columns = shape
    of_gates = (1, 1, rows, gates, columns // gates)
    return of_gates, _strides(of_gates), FLOAT32


def _data(library: Library, kind: _Kind, sizes: _Sizes) -> _Data:
    length, batch, inputs, units = sizes
    shapes = (
        (length, batch, inputs), (1, 1, batch, units), (1, 1, inputs, kind.gates, units),
        (1, 1, units, kind.gates, units), (1, 1, kind.biases, units), (length, batch, units),
    )  # fmt: skip
    return _Data(*(described(library, shape, _strides(shape)) for shape in shapes))


def _strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(shape[place + 1 :]) for place in range(len(shape)))


def _layer(kind: _Kind, data: _Data, kernel: Any, recurrent: Any) -> list[Any]:
    """The descriptors of a layer, or of its gradients, in the order of oneDNN's calls."""
    states, nothing = [data.state] * kind.states, [None] * kind.others
    return [data.x, *states, kernel, recurrent, *nothing, data.bias, data.outputs, *states]


def _any_weights(library: Library, kind: _Kind, sizes: _Sizes) -> list[Any]:
    return [
        described(library, (1, 1, rows, kind.gates, sizes.units), None)
        for rows in (sizes.inputs, sizes.units)
    ]


def _forward(library: Library, kind: _Kind, sizes: _Sizes, keep: bool) -> Primitive:
    data = _data(library, kind, sizes)
    descriptor = library.made(
        f"dnnl_{kind.name}_forward_primitive_desc_create",
        library.engine, FORWARD_TRAINING if keep else FORWARD_INFERENCE, _FORTH,
        *_layer(kind, data, *_any_weights(library, kind, sizes)), 0, attributes(library),
    )  # fmt: skip
    taken = _taken(library, descriptor, kind, data)
    return Primitive(library, descriptor, {**taken, WORKSPACE: None} if keep else taken)


def _backward(library: Library, kind: _Kind, sizes: _Sizes) -> Primitive:
    data = _data(library, kind, sizes)
    forward = _forward(library, kind, sizes, True)
    descriptor = library.made(
        f"dnnl_{kind.name}_backward_primitive_desc_create",
        library.engine, _BACKWARD, _FORTH,
        *_layer(kind, data, *_any_weights(library, kind, sizes)),
        *_layer(kind, data, data.kernel, data.recurrent),
        _OVERWRITE, forward.descriptor, attributes(library),
    )  # fmt: skip
    gradients = {
        **_with_states(DIFF_SRC, data.x, kind, data),
        DIFF_WEIGHTS: data.kernel,
        DIFF_WEIGHTS + 1: data.recurrent,
        DIFF_BIAS: data.bias,
        **_with_states(DIFF_DST, data.outputs, kind, data),
    }
    taken = _taken(library, descriptor, kind, data)
    return Primitive(library, descriptor, {**taken, **gradients, WORKSPACE: None})


def _taken(library: Library, descriptor: Any, kind: _Kind, data: _Data) -> dict[int, Any]:
    """The arguments that both directions have, with the layouts chosen for the weights."""
    kernel, recurrent = (
        ctypes.c_void_p(library.query_md(descriptor, _OF_WEIGHTS, place)) for place in (0, 1)
    )
    return {
        **_with_states(SRC, data.x, kind, data),
        WEIGHTS: kernel,
        _RECURRENT: recurrent,
        BIAS: data.bias,
        **_with_states(DST, data.outputs, kind, data),
    }


def _with_states(first: int, of_first: Any, kind: _Kind, data: _Data) -> dict[int, Any]:
    """An argument by its index, followed by as many states as there are."""
    return {first: of_first, **{first + 1 + place: data.state for place in range(kind.states)}}
