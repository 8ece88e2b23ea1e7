"""Plots of models as layer graphs, with pydot and Graphviz if available."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Any

import runnel as tf

from ..engine.functional import Functional
from ..engine.keras_tensor import OperationNode
from ..engine.layer_order import call_of, inputs_of, layer_of

_NO_PYDOT = "You must install pydot (`pip install pydot`) for model_to_dot to work."
_NO_GRAPHVIZ = (
    "You must install pydot (`pip install pydot`) and install graphviz (see instructions at "
    "https://graphviz.gitlab.io/download/) for plot_model to work."
)


def _pydot() -> Any:
    try:
        import pydot
    except ImportError:
        return None
    return pydot


def model_to_dot(
    model: Any,
    show_shapes: bool = False,
    show_dtype: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 96,
    subgraph: bool = False,
    layer_range: Any = None,
    show_layer_activations: bool = False,
    show_trainable: bool = False,
) -> Any:
    """A model as a pydot graph: a `pydot.Dot`, or a `pydot.Cluster` for a nested model.

    Args:
      model: The model, built.
      show_shapes: Whether to show the input and output shapes.
      show_dtype: Whether to show the dtypes of layers.
      show_layer_names: Whether to show the names of layers.
      rankdir: "TB" from top to bottom, "LR" from left to right.
      expand_nested: Whether to draw the layers of nested models.
      dpi: Dots per inch.
      subgraph: Whether to return a cluster.
      layer_range: Names of the first and the last layer to draw.
      show_layer_activations: Whether to show the activations of layers.
      show_trainable: Whether to show T or NT: trainable or not.
    """
    pydot = _pydot()
    if pydot is None:
        raise ImportError(_NO_PYDOT)
    if not model.built:
        raise ValueError(
            "This model has not yet been built. Build the model first by calling `build()` or by "
            "calling the model on a batch of data."
        )
    if subgraph:
        dot = pydot.Cluster(style="dashed", graph_name=model.name)
        dot.set("label", model.name)
        dot.set("labeljust", "l")
    else:
        dot = pydot.Dot()
        dot.set("rankdir", rankdir)
        dot.set("concentrate", True)
        dot.set("dpi", dpi)
        dot.set_node_defaults(shape="record")
    if not isinstance(model, Functional) or model.outputs is None:
        dot.add_node(pydot.Node(str(id(model)), label=model.name))
        return dot
    shown = {
        "shapes": show_shapes,
        "dtype": show_dtype,
        "names": show_layer_names,
        "activations": show_layer_activations,
        "trainable": show_trainable,
    }
    drawing = _Drawing(pydot, expand_nested, shown)
    drawing.draw(dot, model, layer_range)
    return dot


def plot_model(
    model: Any,
    to_file: Any = "model.png",
    show_shapes: bool = False,
    show_dtype: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 96,
    layer_range: Any = None,
    show_layer_activations: bool = False,
    show_trainable: bool = False,
) -> Any:
    """Plot a model to a file, in the format of its extension; needs Graphviz.

    In a notebook the image is also returned. The arguments are those of `model_to_dot`.
    """
    if not model.built:
        raise ValueError(
            "This model has not yet been built. Build the model first by calling `build()` or by "
            "calling the model on a batch of data."
        )
    if _pydot() is None or shutil.which("dot") is None:
        if "IPython.core.magics.namespace" in sys.modules:
            # A notebook continues without the image.
            print(_NO_GRAPHVIZ)
            return None
        raise ImportError(_NO_GRAPHVIZ)
    dot = model_to_dot(
        model,
        show_shapes=show_shapes,
        show_dtype=show_dtype,
        show_layer_names=show_layer_names,
        rankdir=rankdir,
        expand_nested=expand_nested,
        dpi=dpi,
        layer_range=layer_range,
        show_layer_activations=show_layer_activations,
        show_trainable=show_trainable,
    )
    to_file = os.fspath(to_file)
    extension = os.path.splitext(to_file)[1].removeprefix(".") or "png"
    dot.write(to_file, format=extension)
    if extension == "pdf":
        return None
    try:
        from IPython import display  # type: ignore[import-not-found]
    except ImportError:
        return None
    return display.Image(filename=to_file)


class _Drawing:
    """Nodes for layers, and edges for the tensors between them."""

    def __init__(self, pydot: Any, expand: bool, shown: dict[str, bool]) -> None:
        self._pydot = pydot
        self._expand = expand
        self._shown = shown
        self._drawn: set[int] = set()

    def draw(self, dot: Any, model: Any, layer_range: Any = None) -> None:
        layers = _within(model._layers, layer_range)
        for layer in layers:
            inner = self._inner_model(layer)
            if inner is None:
                dot.add_node(self._pydot.Node(str(id(layer)), label=self._label(layer)))
            elif id(inner) not in self._drawn:
                self._drawn.add(id(inner))
                dot.add_subgraph(self._cluster(inner))
        chosen = {id(layer) for layer in layers}
        edges: set[tuple[int, int]] = set()
        for call in _calls(model):
            layer = layer_of(call)
            for position, tensor in enumerate(inputs_of(call)):
                source = layer_of(call_of(tensor))
                if {id(source), id(layer)} <= chosen:
                    ends = (self._source(source, tensor), self._target(layer, position))
                    if ends not in edges:
                        edges.add(ends)
                        dot.add_edge(self._pydot.Edge(*map(str, ends)))

    def _inner_model(self, layer: Any) -> Any:
        """The model to draw in place of a layer, if it is or wraps one."""
        inner = getattr(layer, "layer", layer)
        graph = isinstance(inner, Functional) and inner.outputs is not None
        return inner if self._expand and graph else None

    def _cluster(self, model: Any) -> Any:
        cluster = self._pydot.Cluster(style="dashed", graph_name=model.name)
        cluster.set("label", model.name)
        cluster.set("labeljust", "l")
        self.draw(cluster, model)
        return cluster

    def _source(self, layer: Any, tensor: Any) -> int:
        """The tail of an edge: the layer, or the nested layer that produces the value."""
        inner = self._inner_model(layer)
        if inner is None:
            return id(layer)
        outputs = inner.outputs
        index = tensor.index if tensor.index < len(outputs) else 0
        return self._source(layer_of(call_of(outputs[index])), outputs[index])

    def _target(self, layer: Any, position: int) -> int:
        """The head of an edge: the layer, or the input layer of the nested model drawn for it."""
        inner = self._inner_model(layer)
        if inner is None:
            return id(layer)
        tensor = inner.inputs[min(position, len(inner.inputs) - 1)]
        return id(layer_of(call_of(tensor)))

    def _label(self, layer: Any) -> str:
        name, kind = layer.name, type(layer).__name__
        if isinstance(layer, tf.keras.layers.Wrapper):
            name = f"{name}({layer.layer.name})"
            kind = f"{kind}({type(layer.layer).__name__})"
        activation = getattr(layer, "activation", None)
        if self._shown["activations"] and activation is not None:
            kind = f"{{{kind}|{getattr(activation, '__name__', type(activation).__name__)}}}"
        label = f"{name}|{kind}" if self._shown["names"] else kind
        if self._shown["dtype"]:
            label += f"|{layer.dtype or '?'}"
        if self._shown["shapes"]:
            shapes = [_shape_text(layer, which) for which in ("input_shape", "output_shape")]
            label = "{%s}|{input:|output:}|{{%s}|{%s}}" % (label, *shapes)  # noqa: UP031
        if self._shown["trainable"]:
            label = f"{'T' if layer.trainable else 'NT'}|{label}"
        return label


def _calls(model: Any) -> list[Any]:
    """The calls of a model's layers, layer by layer."""
    order = {id(layer): index for index, layer in enumerate(model._layers)}
    steps = [step.layer if isinstance(step, OperationNode) else step for step in model._steps]
    calls = {id(call): call for call in steps}
    return sorted(calls.values(), key=lambda call: order.get(id(layer_of(call)), -1))


def _within(layers: list[Any], layer_range: Any) -> list[Any]:
    if layer_range is None:
        return list(layers)
    if len(layer_range) != 2:
        raise ValueError(
            "layer_range must be of shape (2,). Received: "
            f"layer_range = {layer_range} of length {len(layer_range)}"
        )
    names = [layer.name for layer in layers]
    if not all(isinstance(name, str) and name in names for name in layer_range):
        raise ValueError(
            "layer_range should contain the names of two layers of the model. Received: "
            f"{layer_range}; the layers are {names}"
        )
    first, last = sorted(names.index(name) for name in layer_range)
    return list(layers[first : last + 1])


def _shape_text(layer: Any, which: str) -> str:
    try:
        shape = getattr(layer, which)
    except AttributeError:
        return "?"
    return str(shape)
