"""Losses and metrics that a layer adds in its call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import runnel as tf

from ...core.context import state
from ...core.graph.graph import Operation
from ...core.graph.main_graph import depends, main_graph_being_built
from .call_context import CallContext, context
from .kinds import is_ragged
from .layer_weights import LayerWeights, set_plainly


class LayerLosses(LayerWeights):
    """The methods of a layer that add losses and metrics to its model."""

    _activity_regularizer: Any
    _loss_functions: list[Callable[[], Any]]
    _eager_losses: list[Any]
    _losses: list[Any]
    # For a graph that a session runs in parts: the updates, and the inputs of the call.
    _own_updates: Sequence[Any] = ()
    _graph_inputs: Sequence[Any] = ()
    trainable: Any
    stateful: bool

    def add_loss(self, losses: Any, **kwargs: Any) -> None:
        """Add a loss term: a tensor computed in `call`, or a function."""
        kwargs.pop("inputs", None)
        if kwargs:
            raise TypeError(f"Unknown keyword arguments: {list(kwargs)}")
        for loss in tf.nest.flatten(losses):
            if loss is None:
                continue
            if callable(loss):
                self._loss_functions.append(loss)
            elif context.trial:
                self._losses.append(loss)
            else:
                value = loss if tf.is_tensor(loss) else tf.convert_to_tensor(
                    loss, dtype_hint=tf.keras.backend.floatx()
                )  # fmt: skip
                self._eager_losses.append(value)
                CallContext.losses_made = True

    @property
    def losses(self) -> list[Any]:
        found: list[Any] = []
        for layer in self._flatten_layers():
            if layer._eager_losses:
                found.extend(layer._eager_losses)
            elif state.graph is None:
                # Symbolic losses are excluded: no function can compute with them.
                found.extend(layer._losses)
            for function in layer._loss_functions:
                loss = function()
                if loss is not None:
                    found.append(loss)
        return found

    def _clear_losses(self) -> None:
        for layer in self._flatten_layers():
            layer._eager_losses = []

    def add_metric(self, value: Any, name: str | None = None, **kwargs: Any) -> None:
        """Report the mean of a value computed in `call` under a name."""
        aggregation = kwargs.pop("aggregation", None)
        if kwargs:
            raise TypeError(f"Unknown keyword arguments: {list(kwargs)}")
        if name is None and not hasattr(value, "_metric_obj"):
            raise ValueError(
                "Please provide a name for your metric like `self.add_metric(tf.reduce_sum(inputs)"
                ", name='mean_activation')`"
            )
        del aggregation
        known = {metric.name: metric for metric in self._metrics}
        if name not in known:
            known[name] = tf.keras.metrics.Mean(name=name, dtype=value.dtype)
            self._metrics.append(known[name])
        known[name](value)

    @property
    def metrics(self) -> list[Any]:
        found = []
        for layer in self._flatten_layers():
            found.extend(layer._metrics)
        return found

    @property
    def updates(self) -> list[Any]:
        """The graph operations that a session runs after each training batch."""
        layers = [each for each in self._flatten_layers() if each.trainable or each.stateful]
        return [each for layer in layers for each in layer._own_updates]

    def add_update(self, updates: Any) -> None:
        """Run an update given as a function; eager updates have already run.

        In a graph, which a session runs in parts, `updates` collects them.
        """
        graph = main_graph_being_built()
        for update in tf.nest.flatten(updates):
            start = 0 if graph is None else len(graph.operations)
            given = update() if callable(update) else update
            if graph is None or given is None:
                continue
            if not isinstance(given, Operation):
                if callable(update) and graph.effects_since(start):
                    given = graph.one_for_all_since(start, "update")
                else:
                    given = getattr(given, "op", None)
            if isinstance(given, Operation):
                set_plainly(self, "_own_updates", [*self._own_updates, given])

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """The updates that depend on given graph tensors; with None, on no input of the layer."""
        return self._that_depend(self.updates, inputs)

    def get_losses_for(self, inputs: Any) -> list[Any]:
        """The losses that depend on given graph tensors; with None, on no input of the layer."""
        return self._that_depend(self.losses, inputs)

    def _that_depend(self, values: list[Any], inputs: Any) -> list[Any]:
        called = [each for layer in self._flatten_layers() for each in layer._graph_inputs]
        if inputs is None:
            return [each for each in values if not depends(each, called)]
        given = tf.nest.flatten(inputs)
        return [each for each in values if depends(each, called) and depends(each, given)]

    def _has_losses(self) -> bool:
        return any(layer._eager_losses for layer in self._flatten_layers())

    def _regularize_activity(self, inputs: Any, outputs: Any) -> None:
        for output in tf.nest.flatten(outputs):
            loss = tf.convert_to_tensor(self._activity_regularizer(output))
            count = output.nrows() if is_ragged(output) else tf.shape(output)[0]
            self.add_loss(tf.math.divide_no_nan(loss, tf.cast(count, loss.dtype)))
