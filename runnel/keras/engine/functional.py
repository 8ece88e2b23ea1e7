"""Functional models: the graph of layer calls from inputs to outputs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import runnel as tf

from ...core.tensor import Tensor
from . import masking
from .added_terms import AddLoss, AddMetric
from .input_spec import InputSpec, values_by_name
from .keras_tensor import KerasTensor, Node, is_keras_tensor, note_value, parts_of, value_in
from .layer_nodes import shape_tuples
from .layer_order import ordered_layers
from .model import Model
from .naming import snake_case, unique_name
from .pickling import pickled


class Functional(Model):
    """A model of the layer graph between given inputs and outputs.

    >>> inputs = tf.keras.Input([4])
    >>> outputs = tf.keras.layers.Dense(2)(inputs)
    >>> tf.keras.Model(inputs, outputs).output_shape
    (None, 2)
    """

    supports_masking = True

    def __init__(
        self,
        inputs: Any,
        outputs: Any,
        name: str | None = None,
        trainable: bool = True,
        **kwargs: Any,
    ) -> None:
        if name is None:
            kind = type(self).__name__
            name = unique_name("model" if kind == "Functional" else snake_case(kind))
        super().__init__(name=name, trainable=trainable, **kwargs)
        self._connect(inputs, outputs)

    def _connect(self, inputs: Any, outputs: Any) -> None:
        for tensor in tf.nest.flatten([inputs, outputs]):
            if not is_keras_tensor(tensor):
                raise ValueError(
                    "Found unexpected instance while processing input tensors for keras functional "
                    "model. Expecting KerasTensor which is from tf.keras.Input() or output from "
                    f"keras layer call(). Got: {tensor}"
                )
        inputs, outputs = _from_input_layers(_alone(inputs), _alone(outputs))
        _require_different(tf.nest.flatten(inputs))
        self._nested_inputs, self._nested_outputs = inputs, outputs
        self.inputs = tf.nest.flatten(inputs)
        self.outputs = tf.nest.flatten(outputs)
        # Losses and metrics on intermediate values, computed beside the outputs.
        self._terms: list[Any] = []
        self._find_layers()
        self.input_names = [tensor.layer_name for tensor in self.inputs]
        self.output_names = _unique_names([tensor.layer_name for tensor in self.outputs])
        self.built = True
        self._build_input_shape = tf.nest.map_structure(lambda t: t.shape, inputs)
        self._input_spec, self._fitting_inputs = self._spec_of_inputs(), None

    def _find_layers(self) -> None:
        """Collect the layers between the inputs and everything that the model computes."""
        ends = [*self.outputs, *self._terms]
        self._steps = steps_between(self.inputs, ends)
        self._layers = ordered_layers(self.inputs, ends)
        _require_unique_names(self._layers)
        self._tracked[:] = list(self._layers)

    def _add_terms(self, terms: list[Any]) -> None:
        self._terms += terms
        self._find_layers()

    def __reduce__(self) -> Any:
        return pickled(self) if self.built else super().__reduce__()

    def add_loss(self, losses: Any, **kwargs: Any) -> None:
        """Add a loss term: an intermediate value of the model, a tensor, or a function.

        >>> inputs = tf.keras.Input([1])
        >>> outputs = tf.keras.layers.Dense(1, kernel_initializer="ones")(inputs)
        >>> model = tf.keras.Model(inputs, outputs)
        >>> model.add_loss(tf.reduce_mean(outputs))
        >>> model.compile()
        >>> model.evaluate(tf.constant([[1.0], [3.0]]), verbose=0)
        2.0
        """
        flat = tf.nest.flatten(losses)
        super().add_loss([each for each in flat if not is_keras_tensor(each)], **kwargs)
        inside = [AddLoss()(each) for each in flat if is_keras_tensor(each)]
        if inside:
            self._add_terms(inside)

    def add_metric(self, value: Any, name: str | None = None, **kwargs: Any) -> None:
        """Report the mean of an intermediate value of the model, or of one computed in `call`."""
        if is_keras_tensor(value):
            layer = AddMetric(kwargs.pop("aggregation", None), name)
            self._add_terms([layer(value, **kwargs)])
        else:
            super().add_metric(value, name, **kwargs)

    def _spec_of_inputs(self) -> Any:
        """The input specs, ignoring the number of inputs."""
        nested = self._nested_inputs
        if isinstance(nested, list | tuple | dict) and len(nested) != len(self.inputs):
            return None
        names = sorted(nested) if isinstance(nested, dict) else self.input_names
        return [
            InputSpec(shape=(None, *tensor.shape[1:]), allow_last_axis_squeeze=True, name=name)
            if tensor.shape.rank else None
            for tensor, name in zip(self.inputs, names, strict=True)
        ]  # fmt: skip

    @property
    def layers(self) -> list[Any]:
        return list(self._layers)

    @property
    def input(self) -> Any:
        return self._nested_inputs

    @property
    def output(self) -> Any:
        return self._nested_outputs

    @property
    def input_shape(self) -> Any:
        return shape_tuples(self._nested_inputs)

    @property
    def output_shape(self) -> Any:
        return shape_tuples(self._nested_outputs)

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Run the layers on the inputs."""
        values: dict[int, Any] = {}
        given = self._flat_inputs(inputs)
        if mask is not None:
            given = masking.masked(given, self._flat_inputs(mask))
        for tensor, value in zip(self.inputs, given, strict=True):
            note_value(values, tensor, _fitted(value, tensor))
        for step in self._steps:
            step.run(values)
        flat = [value_in(values, tensor) for tensor in self.outputs]
        return tf.nest.pack_sequence_as(self._nested_outputs, flat)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The output masks that the layers compute; None if there are none."""
        return masking.masks_of(self.call(inputs, mask=mask))

    def _pass_masks_on(self, inputs: Any, outputs: Any, mask: Any) -> None:
        # The layers of the model attached the masks to the outputs.
        pass

    def _flat_inputs(self, inputs: Any) -> list[Any]:
        if isinstance(inputs, dict):
            nested = self._nested_inputs
            names = sorted(nested) if isinstance(nested, dict) else self.input_names
            return values_by_name(inputs, names)
        flat = tf.nest.flatten(inputs)
        if len(flat) != len(self.inputs):
            raise ValueError(
                f'Layer "{self.name}" expects {len(self.inputs)} input(s), but it received '
                f"{len(flat)} input tensors. Inputs received: {flat}"
            )
        return flat

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The output shapes for the input shapes."""
        if tf.nest.map_structure(lambda t: t.shape, self._nested_inputs) == input_shape:
            return tf.nest.map_structure(lambda t: t.shape, self._nested_outputs)
        return super().compute_output_shape(input_shape)

    def get_config(self) -> dict[str, Any]:
        """The layers' configs, and how they are connected."""
        from .functional_config import functional_config

        return functional_config(self)


def steps_between(inputs: list[Any], outputs: list[Any]) -> list[Any]:
    """The calls that the outputs depend on, in creation order."""
    known = {id(part) for tensor in inputs for part in parts_of(tensor)}
    steps: dict[int, Any] = {}
    pending = [part for tensor in outputs for part in parts_of(tensor)]
    while pending:
        tensor = pending.pop()
        if id(tensor) in known:
            continue
        step: Any = tensor.op
        if id(step) in steps:
            continue
        if isinstance(step, Node) and not step.keras_inputs:
            raise ValueError(
                f"Graph disconnected: cannot obtain value for tensor {tensor!s} at layer "
                f'"{step.layer.name}". It is not among the inputs of the model.'
            )
        steps[id(step)] = step
        pending.extend(part for each in step.keras_inputs for part in parts_of(each))
    return sorted(steps.values(), key=lambda step: step.order)


def _from_input_layers(inputs: Any, outputs: Any) -> tuple[Any, Any]:
    """The inputs and outputs of a model, with new inputs in place of intermediate values."""
    flat = tf.nest.flatten(inputs)
    if all(isinstance(tensor.op.layer, tf.keras.layers.InputLayer) for tensor in flat):
        return inputs, outputs
    from .rebuilding import rebuilt

    values: dict[int, Any] = {}
    for tensor in flat:
        is_input = isinstance(tensor.op.layer, tf.keras.layers.InputLayer)
        note_value(values, tensor, tensor if is_input else _input_like(tensor))
    new = tf.nest.map_structure(lambda tensor: values[id(tensor)], inputs)
    steps = steps_between(flat, tf.nest.flatten(outputs))
    return new, rebuilt(steps, values, outputs, lambda layer: layer)


def _alone(structure: Any) -> Any:
    """A list of one element unwrapped, other values unchanged, in plain containers."""
    if isinstance(structure, list) and len(tf.nest.flatten(structure)) == 1:
        structure = structure[0]
    return tf.nest.map_structure(lambda tensor: tensor, structure)


def _require_different(inputs: list[Any]) -> None:
    if len({id(tensor) for tensor in inputs}) < len(inputs):
        raise ValueError(
            "The list of inputs passed to the model contains the same input multiple times. All "
            f"inputs should only appear once. Received inputs={inputs}"
        )


def _input_like(tensor: Any) -> Any:
    if isinstance(tensor, KerasTensor):
        return tf.keras.Input(batch_shape=tuple(tensor.shape), dtype=tensor.dtype)
    return tf.keras.Input(type_spec=tensor.type_spec)


def _require_unique_names(layers: list[Any]) -> None:
    counts = Counter(layer.name for layer in layers)
    for name, count in counts.items():
        if count > 1:
            raise ValueError(
                f'The name "{name}" is used {count} times in the model. All layer names should be '
                "unique."
            )


def _unique_names(names: list[str]) -> list[str]:
    seen: dict[str, int] = {}
    result = []
    for name in names:
        count = seen.get(name, 0)
        seen[name] = count + 1
        result.append(name if not count else f"{name}_{count}")
    return result


def _fitted(value: Any, tensor: Any) -> Any:
    """An input adapted to the rank and dtype that the model was built for."""
    if type(value) is Tensor and value.dtype is tensor.dtype:
        wanted = tensor.shape.rank
        if wanted is None or len(value._array.shape) == wanted:
            return value
    rank, wanted = value.shape.rank, tensor.shape.rank
    if rank is not None and wanted is not None:
        if not isinstance(value, tf.Tensor):
            pass
        elif rank == wanted + 1 and value.shape[-1] == 1:
            value = tf.squeeze(value, axis=-1)
        elif rank == wanted - 1 and tensor.shape[-1] == 1:
            value = tf.expand_dims(value, axis=-1)
    return value if value.dtype is tensor.dtype else masking.cast(value, tensor.dtype)
