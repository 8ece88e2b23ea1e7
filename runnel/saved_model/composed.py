"""Operations that TensorFlow lacks, composed of TensorFlow's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.context import name_scope
from ..core.graph.graph import FuncGraph, Operation
from ..core.tensor import Tensor
from ..ops.nn.gated import composed_gru, composed_gru_gradient
from ..ops.nn.gated_gates import composed_gru_gates, composed_gru_gates_gradient
from ..ops.nn.group_normalization import composed_group_norm, composed_group_norm_gradient
from ..ops.nn.recurrent import composed_lstm, composed_lstm_gradient
from ..ops.nn.recurrent_gates import composed_gates, composed_gates_gradient
from ..ops.nn.simple_recurrent import composed_simple_rnn, composed_simple_rnn_gradient


def _lstm_layer(operation: Operation, inputs: Sequence[Tensor]) -> list[Tensor | None]:
    # The last output is for the gradient only, whose composition uses the inputs.
    return [*composed_lstm(*inputs), None]


def _lstm_layer_gradient(operation: Operation, inputs: Sequence[Tensor]) -> list[Tensor | None]:
    return list(composed_lstm_gradient(*inputs[:6], *inputs[9:]))


def _lstm_gates(operation: Operation, inputs: Sequence[Tensor]) -> list[Tensor | None]:
    return [*composed_gates(*inputs), None, None]


def _lstm_gates_gradient(operation: Operation, inputs: Sequence[Tensor]) -> list[Tensor | None]:
    return list(composed_gates_gradient(*inputs[:2], *inputs[4:]))


def _gru_gates(operation: Operation, inputs: Sequence[Tensor]) -> list[Tensor | None]:
    return [composed_gru_gates(*inputs), None, None]


def _gru_gates_gradient(operation: Operation, inputs: Sequence[Tensor]) -> list[Tensor | None]:
    return list(composed_gru_gates_gradient(*inputs[:3], *inputs[5:]))


def _gru_layer(operation: Operation, inputs: Sequence[Tensor]) -> list[Tensor | None]:
    return [*composed_gru(*inputs), None]


def _gru_layer_gradient(operation: Operation, inputs: Sequence[Tensor]) -> list[Tensor | None]:
    return list(composed_gru_gradient(*inputs[:5], *inputs[7:]))


def _simple_rnn_layer(operation: Operation, inputs: Sequence[Tensor]) -> list[Tensor | None]:
    return list(composed_simple_rnn(operation.get_attr("activation"), *inputs))


def _simple_rnn_layer_gradient(
    operation: Operation, inputs: Sequence[Tensor]
) -> list[Tensor | None]:
    activation = operation.get_attr("activation")
    return list(composed_simple_rnn_gradient(activation, *inputs[:5], *inputs[6:]))


def _group_norm(operation: Operation, inputs: Sequence[Tensor]) -> list[Tensor | None]:
    # The moments are for the gradient only.
    return [composed_group_norm(*inputs, **operation.attrs), None, None]


def _group_norm_gradient(operation: Operation, inputs: Sequence[Tensor]) -> list[Tensor | None]:
    return list(composed_group_norm_gradient(*inputs[:3], **operation.attrs))


COMPOSED: dict[str, Callable[[Operation, Sequence[Tensor]], list[Tensor | None]]] = {
    "GRUGates": _gru_gates,
    "GRUGatesGrad": _gru_gates_gradient,
    "GRULayer": _gru_layer,
    "GRULayerGrad": _gru_layer_gradient,
    "GroupNorm": _group_norm,
    "GroupNormGrad": _group_norm_gradient,
    "LSTMGates": _lstm_gates,
    "LSTMGatesGrad": _lstm_gates_gradient,
    "LSTMLayer": _lstm_layer,
    "LSTMLayerGrad": _lstm_layer_gradient,
    "SimpleRNNLayer": _simple_rnn_layer,
    "SimpleRNNLayerGrad": _simple_rnn_layer_gradient,
}


def composition(operation: Operation) -> tuple[FuncGraph, list[Any], list[Tensor | None]]:
    """A graph equivalent to an operation, its inputs there, and the results."""
    graph = FuncGraph("composition")
    with graph.building(), name_scope(f"{operation.name}/"):
        feeds = [graph.add_input(each.dtype, each.shape, "input") for each in operation.inputs]
        results = COMPOSED[operation.type](operation, feeds)
    return graph, feeds, results
