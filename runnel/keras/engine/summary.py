"""model.summary(): the table of layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import runnel as tf

from .layer_order import inputs_of


def print_summary(
    model: Any,
    line_length: int | None = None,
    positions: list[float] | None = None,
    print_fn: Callable[[str], Any] | None = None,
    expand_nested: bool = False,
    show_trainable: bool = False,
    layer_range: Any = None,
) -> None:
    """Print the layers of a model with their shapes and numbers of parameters."""
    write = print if print_fn is None else print_fn
    linear = _is_linear(model)
    if linear:
        line_length = line_length or 65
        positions = positions or [0.45, 0.85, 1.0]
        titles = ["Layer (type)", "Output Shape", "Param #"]
    else:
        line_length = line_length or 98
        positions = positions or [0.3, 0.6, 0.70, 1.0]
        titles = ["Layer (type)", "Output Shape", "Param #", "Connected to"]
    if show_trainable:
        line_length += 11
        positions = [*positions, line_length]
        titles.append("Trainable")
    columns = [int(line_length * p) if p <= 1 else int(p) for p in positions]
    write(f'Model: "{model.name}"')
    write("_" * line_length)
    _row(write, titles, columns)
    write("=" * line_length)
    for layer in _chosen(model.layers, layer_range):
        _layer_rows(write, layer, columns, line_length, linear, show_trainable, expand_nested)
    write("=" * line_length)
    trainable = _count(model.trainable_weights)
    others = _count(model.non_trainable_weights)
    for title, (count, size) in (
        ("Total", (trainable[0] + others[0], trainable[1] + others[1])),
        ("Trainable", trainable),
        ("Non-trainable", others),
    ):
        write(f"{title} params: {count} ({_bytes(size)})")
    write("_" * line_length)


def _chosen(layers: list[Any], layer_range: Any) -> list[Any]:
    if layer_range is None:
        return layers
    names = [layer.name for layer in layers]
    return layers[names.index(layer_range[0]) : names.index(layer_range[1]) + 1]


def _is_linear(model: Any) -> bool:
    if isinstance(model, tf.keras.Sequential) or not hasattr(model, "_nested_inputs"):
        return True
    return all(
        len(layer._inbound_nodes) <= 1
        and all(len(node.keras_inputs) <= 1 for node in layer._inbound_nodes)
        and len(layer._outbound_nodes) <= 1
        for layer in model.layers
    )


def _layer_rows(
    write: Any,
    layer: Any,
    columns: list[int],
    length: int,
    linear: bool,
    show_trainable: bool,
    expand: bool,
    depth: int = 0,
) -> None:
    prefix = "|" * depth + " " if depth else " "
    fields = [f"{prefix}{layer.name} ({type(layer).__name__})", _shape_text(layer), _params(layer)]
    connections = [] if linear else _connections(layer)
    if not linear:
        fields.append(f"{connections}".replace("', '", "',\n '"))
    if show_trainable:
        fields.append("Y" if layer.trainable else "N")
    _wrapped_row(write, fields, columns)
    write(" " * length)
    if expand and hasattr(layer, "layers"):
        for inner in layer.layers:
            _layer_rows(write, inner, columns, length, linear, show_trainable, expand, depth + 1)


def _shape_text(layer: Any) -> str:
    try:
        shape = layer.output_shape
    except AttributeError:
        return "multiple"
    return str(shape)


def _params(layer: Any) -> str:
    if not layer.built and not layer.weights:
        return "0 (unused)"
    return str(_count(layer.weights)[0])


def _connections(layer: Any) -> list[str]:
    names = []
    for node in layer._inbound_nodes:
        for tensor in node.keras_inputs:
            history = tensor._keras_history
            names.append(f"{history.layer.name}[{history.node_index}][{history.tensor_index}]")
    if getattr(layer, "operations", None):
        for tensor in inputs_of(layer):
            history = tensor._keras_history
            names.append(f"{history.layer.name}[{history.node_index}][{history.tensor_index}]")
    return names


def _row(write: Any, fields: list[str], columns: list[int]) -> None:
    line = " "
    for field, end in zip(fields, columns, strict=False):
        line = (line + field)[: end - 1]
        line = line.ljust(end)
    write(line)


def _wrapped_row(write: Any, fields: list[str], columns: list[int]) -> None:
    """A row whose long fields go on in the lines below."""
    starts = [0, *columns[:-1]]
    pieces = [
        _pieces(field, end - start - 2)
        for field, start, end in zip(fields, starts, columns, strict=False)
    ]
    for index in range(max(len(each) for each in pieces)):
        line = ""
        for start, each in zip(starts, pieces, strict=False):
            line = line.ljust(start) + (each[index] if index < len(each) else "")
        write(line.ljust(columns[-1]))


def _pieces(text: str, width: int) -> list[str]:
    """The lines of a field; what is too long goes on in the next line, indented by one."""
    found = []
    for line in text.split("\n"):
        found.append(line[:width])
        rest = line[width:]
        while rest:
            found.append(" " + rest[: width - 1])
            rest = rest[width - 1 :]
    return found


def _count(variables: list[Any]) -> tuple[int, int]:
    numbers = sum(variable.shape.num_elements() for variable in variables)
    size = sum(variable.shape.num_elements() * variable.dtype.size for variable in variables)
    return numbers, size


def _bytes(size: int) -> str:
    value = float(size)
    for unit in ("Byte", "KB", "MB", "GB", "TB", "PB"):
        if value < 1024 or unit == "PB":
            return f"{value:.2f} {unit}"
        value /= 1024
    return ""
