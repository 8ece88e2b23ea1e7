"""Long short-term memory: all steps of a layer."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np

from .library import Library
from .primitive import (
    BIAS,
    DIFF_BIAS,
    DIFF_DST,
    DIFF_SRC,
    DIFF_WEIGHTS,
    DST,
    FORWARD_TRAINING,
    SRC,
    WEIGHTS,
    WORKSPACE,
    Primitive,
    attributes,
    cached,
    described,
)
from .reorder import reordered

_BACKWARD = 128
_FORTH = 1
_GATES = 4
# States and weights of the state follow those of the inputs in oneDNN's numbering, then carries.
_SRC_H, _SRC_C, _DST_H, _DST_C, _RECURRENT = SRC + 1, SRC + 2, DST + 1, DST + 2, WEIGHTS + 1
_DIFF_SRC_H, _DIFF_SRC_C, _DIFF_DST_H, _DIFF_DST_C = (
    kind + place for kind in (DIFF_SRC, DIFF_DST) for place in (1, 2)
)
_DIFF_RECURRENT = DIFF_WEIGHTS + 1
_OF_WEIGHTS = 131


class _Sizes(NamedTuple):
    length: int
    batch: int
    inputs: int
    units: int


class _Data(NamedTuple):
    """The descriptors of what a layer takes and gives, in plain order."""

    x: Any
    state: Any
    kernel: Any
    recurrent: Any
    bias: Any
    outputs: Any


def lstm(recurrent: Any, kernel: Any, bias: Any, x: Any, h: Any, c: Any) -> Any:
    """The outputs of all steps, the last carry, and oneDNN's workspace."""
    sizes = _sizes(x, h)
    if x.dtype != np.float32 or not _is_worth_it(sizes):
        return None
    primitive = cached(("lstm", sizes), lambda library: _forward(library, sizes))
    if primitive is None:
        return None
    weights = [_ordered(each, sizes, primitive, kind) for each, kind in _kinds(kernel, recurrent)]
    outputs = np.empty((sizes.length, sizes.batch, sizes.units), np.float32)
    last_h, last_c = np.empty(h.shape, np.float32), np.empty(h.shape, np.float32)
    workspace = np.empty(-(-primitive.size(WORKSPACE) // 4), np.float32)
    primitive.run(*_plain(x, h, c), *weights, *_plain(bias), outputs, last_h, last_c, workspace)
    return outputs, last_c, workspace


def lstm_backprop(
    recurrent: Any, kernel: Any, bias: Any, x: Any, h: Any, c: Any, outputs: Any, last_c: Any,
    kept: Any, to_outputs: Any, to_h: Any, to_c: Any, with_x: bool,
) -> Any:  # fmt: skip
    """The gradients by x, h, c, the kernel, its recurrent one and the bias."""
    sizes = _sizes(x, h)
    if x.dtype != np.float32 or not _is_worth_it(sizes):
        return None
    forward = cached(("lstm", sizes), lambda library: _forward(library, sizes))
    primitive = cached(("lstm back", sizes), lambda library: _backward(library, sizes))
    if forward is None or primitive is None or forward.size(WORKSPACE) != kept.nbytes:
        return None
    weights = [_ordered(each, sizes, primitive, kind) for each, kind in _kinds(kernel, recurrent)]
    x, h, c, bias = _plain(x, h, c, bias)
    results = [np.empty(each.shape, np.float32) for each in (x, h, c)]
    # To these oneDNN adds.
    sums = [np.zeros(each.shape, np.float32) for each in (kernel, recurrent, bias)]
    given = [
        _plain(gradient)[0] if gradient.size else np.zeros(like.shape, np.float32)
        for gradient, like in ((to_outputs, outputs), (to_h, h), (to_c, c))
    ]
    primitive.run(
        x, h, c, *weights, bias, outputs, outputs[-1], last_c, *results, *sums, *given, kept
    )
    return *results, *sums


def _sizes(x: Any, h: Any) -> _Sizes:
    length, batch, inputs = x.shape
    return _Sizes(length, batch, inputs, h.shape[1])


def _is_worth_it(sizes: _Sizes) -> bool:
    return sizes.batch >= 2


def _plain(*arrays: Any) -> list[Any]:
    return [np.ascontiguousarray(array) for array in arrays]


def _kinds(kernel: Any, recurrent: Any) -> tuple[tuple[Any, int], ...]:
    return (kernel, WEIGHTS), (recurrent, _RECURRENT)


def _ordered(weights: Any, sizes: _Sizes, primitive: Primitive, kind: int) -> Any:
    """Weights in the order that a primitive chose."""
    rows, units = weights.shape[0], sizes.units
    shape = (1, 1, rows, _GATES, units)
    strides = (rows * _GATES * units, rows * _GATES * units, _GATES * units, units, 1)
    return reordered(weights, (shape, strides), primitive, kind)


def _data(library: Library, sizes: _Sizes) -> _Data:
    length, batch, inputs, units = sizes
    shapes = (
        (length, batch, inputs), (1, 1, batch, units), (1, 1, inputs, _GATES, units),
        (1, 1, units, _GATES, units), (1, 1, _GATES, units), (length, batch, units),
    )  # fmt: skip
    return _Data(*(described(library, shape, _strides(shape)) for shape in shapes))


def _strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(np.prod(shape[place + 1 :])) for place in range(len(shape)))


def _any_weights(library: Library, sizes: _Sizes) -> tuple[Any, Any]:
    return tuple(
        described(library, (1, 1, rows, _GATES, sizes.units), None)
        for rows in (sizes.inputs, sizes.units)
    )  # type: ignore[return-value]


def _forward(library: Library, sizes: _Sizes) -> Primitive:
    data = _data(library, sizes)
    kernel, recurrent = _any_weights(library, sizes)
    descriptor = library.made(
        "dnnl_lstm_forward_primitive_desc_create",
        library.engine, FORWARD_TRAINING, _FORTH, data.x, data.state, data.state, kernel, recurrent,
        None, None, data.bias, data.outputs, data.state, data.state, 0, attributes(library),
    )  # fmt: skip
    return Primitive(library, descriptor, {**_taken(library, descriptor, data), WORKSPACE: None})


def _backward(library: Library, sizes: _Sizes) -> Primitive:
    data = _data(library, sizes)
    kernel, recurrent = _any_weights(library, sizes)
    forward = _forward(library, sizes)
    descriptor = library.made(
        "dnnl_lstm_backward_primitive_desc_create",
        library.engine, _BACKWARD, _FORTH, data.x, data.state, data.state, kernel, recurrent,
        None, None, data.bias, data.outputs, data.state, data.state,
        data.x, data.state, data.state, data.kernel, data.recurrent, None, None, data.bias,
        data.outputs, data.state, data.state, 0, forward.descriptor, attributes(library),
    )  # fmt: skip
    gradients = {
        DIFF_SRC: data.x, _DIFF_SRC_H: data.state, _DIFF_SRC_C: data.state,
        DIFF_WEIGHTS: data.kernel, _DIFF_RECURRENT: data.recurrent, DIFF_BIAS: data.bias,
        DIFF_DST: data.outputs, _DIFF_DST_H: data.state, _DIFF_DST_C: data.state,
    }  # fmt: skip
    taken = _taken(library, descriptor, data)
    return Primitive(library, descriptor, {**taken, **gradients, WORKSPACE: None})


def _taken(library: Library, descriptor: Any, data: _Data) -> dict[int, Any]:
    """The arguments that both directions have, with the orders chosen for the weights."""
    kernel, recurrent = (
        ctypes.c_void_p(library.query_md(descriptor, _OF_WEIGHTS, place)) for place in (0, 1)
    )
    return {
        SRC: data.x, _SRC_H: data.state, _SRC_C: data.state, WEIGHTS: kernel, _RECURRENT: recurrent,
        BIAS: data.bias, DST: data.outputs, _DST_H: data.state, _DST_C: data.state,
    }  # fmt: skip
