"""model.summary(): the table of layers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

from .layer_order import call_of, inputs_of, layer_of, model_calls


def print_summary(
    model: Any,
    line_length: int | None = None,
    positions: list[float] | None = None,
    print_fn: Callable[[str], Any] | None = None,
    expand_nested: bool = False,
    show_trainable: bool = False,
    layer_range: Any = None,
) -> None:
    """Print a model's layers with output shapes and parameter counts."""
    layers = _chosen(model.layers, layer_range)
    calls = model_calls(model)
    linear = _is_linear(calls)
    if linear:
        line_length = line_length or 65
        positions = positions or [0.45, 0.85, 1.0]
        titles = ["Layer (type)", "Output Shape", "Param #"]
    else:
        line_length = line_length or 98
        positions = positions or [0.3, 0.6, 0.70, 1.0]
        titles = ["Layer (type)", "Output Shape", "Param #", "Connected to"]
    width = line_length if positions[-1] <= 1 else 1
    ends = [int(width * position) for position in positions]
    if show_trainable:
        line_length += 11
        ends.append(line_length)
        titles.append("Trainable")
    write = print if print_fn is None else print_fn
    table = _Table(write, line_length, ends[: len(titles)])
    connections = None if linear else _connections(calls)
    table.write(f'Model: "{model.name}"')
    table.write("_" * line_length)
    table.row(titles)
    table.write("=" * line_length)
    _layer_rows(table, layers, connections, show_trainable, expand_nested)
    table.write("=" * line_length)
    trainable = _count(model.trainable_weights)
    others = _count(model.non_trainable_weights)
    for title, (count, size) in (
        ("Total", (trainable[0] + others[0], trainable[1] + others[1])),
        ("Trainable", trainable),
        ("Non-trainable", others),
    ):
        table.write(f"{title} params: {count} ({_bytes(size)})")
    table.write("_" * line_length)


class _Table:
    """Rows of fields in columns; nested models are framed by bars."""

    def __init__(self, write: Callable[[str], Any], length: int, ends: list[int]) -> None:
        self.write = write
        self.length = length
        self.ends = ends

    def row(self, fields: list[str], depth: int = 0) -> None:
        """Write the fields; long ones wrap onto the next lines."""
        bars = "|" * depth
        starts = [depth + 1, *self.ends[:-1]]
        gaps = [2, *[3] * (len(fields) - 2), 0]
        columns = [
            _pieces(field, end - start - gap)
            for field, start, end, gap in zip(fields, starts, self.ends, gaps, strict=True)
        ]
        for pieces in itertools.zip_longest(*columns, fillvalue=""):
            line = bars
            for start, piece in zip(starts, pieces, strict=True):
                line = line.ljust(start) + piece
            self.write(line.ljust(self.ends[-1] - depth) + bars)

    def space(self, depth: int, filling: str = " ") -> None:
        """Write the line after a row: empty, or the top or bottom of a frame."""
        self.write("|" * depth + filling * (self.length - 2 * depth) + "|" * depth)


def _chosen(layers: list[Any], layer_range: Any) -> list[Any]:
    """The layers between those whose names match two patterns, in either order."""
    if layer_range is None:
        return layers
    if len(layer_range) != 2:
        raise ValueError(
            f"layer_range must be a list or tuple of length 2. Received: layer_range = "
            f"{layer_range} of length {len(layer_range)}"
        )
    found = [
        [index for index, layer in enumerate(layers) if re.match(pattern, layer.name)]
        for pattern in layer_range
    ]
    if not all(found):
        raise ValueError(
            "Passed layer_names do not match the layer names in the model. Received: "
            f"{layer_range}. The layers are named {[layer.name for layer in layers]}."
        )
    first, last = found
    if min(first) > max(last):
        first, last = last, first
    return layers[min(first) : max(last) + 1]


def _is_linear(calls: list[Any]) -> bool:
    """Whether the calls form a chain in which each layer is called once."""
    if not calls:
        return True
    sources = [id(call_of(tensor)) for call in calls for tensor in inputs_of(call)]
    layers = {id(layer_of(call)) for call in calls}
    return (
        len(layers) == len(calls)
        and len(sources) == len(set(sources)) == len(calls) - 1
        and all(len(inputs_of(call)) <= 1 for call in calls)
    )


def _layer_rows(
    table: _Table,
    layers: list[Any],
    connections: dict[int, list[str]] | None,
    show_trainable: bool,
    expand: bool,
    depth: int = 0,
) -> None:
    for index, layer in enumerate(layers):
        fields = [f"{layer.name} ({type(layer).__name__})", _shape_text(layer), _params(layer)]
        if connections is not None:
            fields.append(f"{connections.get(id(layer), [])}".replace("', '", "',\n '"))
        if show_trainable:
            fields.append("Y" if layer.trainable else "N")
        table.row(fields, depth)
        inner = layer.layers if expand and hasattr(layer, "layers") else None
        if inner:
            table.space(depth + 1, "¯")
            _layer_rows(table, inner, connections, show_trainable, expand, depth + 1)
            table.space(depth, "¯")
        elif index < len(layers) - 1 or not depth:
            table.space(depth)


def _shape_text(layer: Any) -> str:
    try:
        shape = layer.output_shape
    except AttributeError:
        return "multiple"
    return str(shape).replace("), (", "),\n (")


def _params(layer: Any) -> str:
    if not layer.built and not layer.weights:
        return "0 (unused)"
    return str(_count(layer.weights)[0])


def _connections(calls: list[Any]) -> dict[int, list[str]]:
    """The layer outputs that each layer of a model takes."""
    names: dict[int, list[str]] = {}
    for call in calls:
        taken = names.setdefault(id(layer_of(call)), [])
        for tensor in inputs_of(call):
            history = tensor._keras_history
            taken.append(f"{history.layer.name}[{history.node_index}][{history.tensor_index}]")
    return names


def _pieces(text: str, width: int) -> list[str]:
    """A field wrapped to the width of its column."""
    width = max(width, 1)
    return [
        line[start : start + width]
        for line in text.split("\n")
        for start in range(0, len(line) or 1, width)
    ]


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
