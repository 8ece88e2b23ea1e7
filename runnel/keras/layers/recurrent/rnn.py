"""RNN: a cell applied to each time step of a sequence."""

from __future__ import annotations

from typing import Any

import numpy as np

import runnel as tf

from ...backend.recurrence import rnn
from ...engine.base_layer import Layer
from ...engine.call_context import context
from ...engine.input_spec import InputSpec
from ...engine.keras_tensor import KerasTensor, apply_symbolically, is_keras_tensor
from ...engine.kinds import is_ragged
from ...serialization import deserialize_keras_object, serialize_keras_object
from .cells import GRUCell, LSTMCell, SimpleRNNCell
from .dropout_masks import DropoutRNNCellMixin
from .ragged_rows import padded, ragged_again
from .stacked import StackedRNNCells, initial_state_of, takes
from .states import as_list

# Cells whose input projection is computed for all time steps at once.
_PROJECTING = (SimpleRNNCell, LSTMCell, GRUCell)

_NO_BATCH_SIZE = (
    "If a RNN is stateful, it needs to know its batch size. Specify the batch size of your input "
    "tensors: \n- If using a Sequential model, specify the batch size by passing a "
    "`batch_input_shape` argument to your first layer.\n- If using the functional API, specify the "
    "batch size by passing a `batch_shape` argument to your Input layer."
)


class RNN(Layer):
    """A layer that runs a cell over the time steps of a sequence.

    Inputs are (batch, time, ...), or (time, batch, ...) with `time_major`.

    >>> layer = tf.keras.layers.RNN([tf.keras.layers.LSTMCell(4), tf.keras.layers.GRUCell(2)])
    >>> layer(tf.ones([8, 10, 3])).shape
    TensorShape([8, 2])
    """

    def __init__(
        self,
        cell,
        return_sequences=False,
        return_state=False,
        go_backwards=False,
        stateful=False,
        unroll=False,
        time_major=False,
        **kwargs,
    ):
        if isinstance(cell, list | tuple):
            cell = StackedRNNCells(cell)
        _check_cell(cell)
        self.zero_output_for_mask = kwargs.pop("zero_output_for_mask", False)
        if "input_shape" not in kwargs and ("input_dim" in kwargs or "input_length" in kwargs):
            length, size = kwargs.pop("input_length", None), kwargs.pop("input_dim", None)
            kwargs["input_shape"] = (length, size)
        super().__init__(**kwargs)
        self.cell = cell
        self.return_sequences = return_sequences
        self.return_state = return_state
        self.go_backwards = go_backwards
        self.stateful = stateful
        self.unroll = unroll
        self.time_major = time_major
        self.supports_masking = True
        self.input_spec = [InputSpec(ndim=3)] if type(self)._flat_steps else None
        self.state_spec = None
        self._states: Any = None
        self._num_constants = 0

    # Whether the inputs of a step are statically known to be vectors.
    _flat_steps = False

    # States.

    @property
    def states(self):
        """The states carried over by a stateful layer; None before they are created."""
        if self._states is None:
            empty = tf.nest.map_structure(lambda _: None, self.cell.state_size)
            return empty if isinstance(empty, list | tuple) else [empty]
        return self._states

    @states.setter
    def states(self, states):
        self._states = states

    def get_initial_state(self, inputs):
        """The initial states for some batch size."""
        first = tf.nest.flatten(inputs)[0]
        axis = 1 if self.time_major else 0
        size = first.shape[axis]
        size = tf.shape(first)[axis] if size is None else size
        return as_list(initial_state_of(self.cell, None, size, first.dtype))

    def reset_states(self, states=None):
        """Reset the states of a stateful layer to zero or to given values."""
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        batch_size = self._known_batch_size()
        flat = tf.nest.flatten(self.states)
        if flat[0] is None:
            dtype = self.compute_dtype or tf.keras.backend.floatx()
            # Variables outlive the graph that the layer may be built in.
            with tf.init_scope():
                fresh = self._fresh_states(batch_size, dtype)
                self._states = tf.nest.map_structure(tf.Variable, fresh)
            flat = tf.nest.flatten(self._states)
            if states is None:
                return
        if states is None:
            values = [tf.zeros(variable.shape, variable.dtype) for variable in flat]
        else:
            values = tf.nest.flatten(states)
            if len(values) != len(flat):
                raise ValueError(
                    f"Layer {self.name} expects {len(flat)} states, but it received {len(values)} "
                    f"state values. States received: {states}"
                )
        for index, (variable, value) in enumerate(zip(flat, values, strict=True)):
            if tuple(np.shape(value)) != tuple(variable.shape):
                raise ValueError(
                    f"State {index} is incompatible with layer {self.name}: expected "
                    f"shape={tuple(variable.shape)} but found shape={tuple(np.shape(value))}"
                )
        for variable, value in zip(flat, values, strict=True):
            variable.assign(tf.cast(value, variable.dtype))

    def _fresh_states(self, batch_size: int, dtype: Any) -> list[Any]:
        return as_list(initial_state_of(self.cell, None, batch_size, dtype))

    def _known_batch_size(self) -> int:
        spec = tf.nest.flatten(self.input_spec)[0]
        size = None
        if spec is not None and spec.shape is not None:
            size = spec.shape[1 if self.time_major else 0]
        if size is None:
            raise ValueError(_NO_BATCH_SIZE)
        return size

    # Building.

    def build(self, input_shape):
        """Build the cell for the inputs of one step."""
        super().build(input_shape)
        if isinstance(input_shape, list):
            input_shape = input_shape[0]
        shapes = _shapes(input_shape)
        specs = tf.nest.map_structure(self._spec_of, shapes)
        self.input_spec = [specs] if isinstance(specs, InputSpec) else specs
        step_shape = tf.nest.map_structure(self._shape_of_step, shapes)
        if isinstance(self.cell, Layer) and not self.cell.built:
            self._build_cell(step_shape)
            self.cell._build_input_shape = step_shape
            self.cell.built = True
        if self.state_spec is None:
            self.state_spec = self._state_specs()
        if self.stateful:
            self.reset_states()
        self.built = True

    def _build_cell(self, step_shape: Any) -> None:
        with tf.name_scope(self.cell.name):
            self.cell.build(step_shape)

    def _spec_of(self, shape: Any) -> InputSpec:
        sizes = shape.as_list()
        batch, time = (1, 0) if self.time_major else (0, 1)
        sizes[time] = None
        if not self.stateful:
            sizes[batch] = None
        return InputSpec(shape=tuple(sizes))

    def _shape_of_step(self, shape: Any) -> tuple[Any, ...]:
        sizes = shape.as_list()
        return (sizes[1 if self.time_major else 0], *sizes[2:])

    def _state_specs(self) -> list[Any]:
        return tf.nest.map_structure(
            lambda size: InputSpec(shape=[None, *tf.TensorShape(size).as_list()]),
            as_list(self.cell.state_size),
        )

    def _check_shapes(self, states: list[Any]) -> None:
        """Reject initial states of incompatible shapes before weights are created."""
        wanted = tf.nest.flatten(self._state_specs())
        for spec, state in zip(wanted, tf.nest.flatten(states), strict=False):
            if not tf.TensorShape(spec.shape).is_compatible_with(np.shape(state)):
                raise ValueError(
                    "An `initial_state` was passed that is not compatible with `cell.state_size`. "
                    f"Received a state of shape {tuple(np.shape(state))}; however "
                    f"`cell.state_size` is {self.cell.state_size}"
                )

    # Calling.

    def __call__(self, inputs, initial_state=None, constants=None, **kwargs):
        """Call the layer; initial states and constants may follow the inputs in a list."""
        inputs, initial_state, constants = split_inputs(
            inputs, initial_state, constants, self._num_constants
        )
        if constants is not None:
            self._num_constants = len(constants)
        more = checked_alike(initial_state, constants)
        if more and is_keras_tensor(tf.nest.flatten(more)[0]):
            return apply_symbolically(self, [inputs, *more], (), kwargs)
        if initial_state is not None:
            if not self.built:
                self._check_shapes(initial_state)
            kwargs["initial_state"] = initial_state
        if constants is not None:
            kwargs["constants"] = constants
        return super().__call__(inputs, **kwargs)

    def call(self, inputs, mask=None, training=None, initial_state=None, constants=None):
        """Run all time steps: the last output or all of them, and the states if requested."""
        return self._all_steps(inputs, mask, training, initial_state, constants)

    def _all_steps(
        self,
        inputs: Any,
        mask: Any,
        training: Any,
        initial_state: Any,
        constants: Any = None,
        lengths: Any = None,
    ) -> Any:
        if is_ragged(inputs):
            inputs, lengths = padded(self, inputs, mask)
        self._check_length(inputs)
        states = self._starting_states(inputs, initial_state)
        self._reset_dropout_masks()
        if isinstance(mask, list | tuple):
            mask = mask[0]
        if isinstance(mask, np.ndarray):
            mask = tf.constant(mask)
        if not self.time_major:
            inputs = time_first(inputs)
            mask = None if mask is None else time_first(mask)
        length = tf.nest.flatten(inputs)[0].shape[0]
        if context.trial:
            # Only shapes and dtypes are needed: a single step determines them.
            inputs = tf.nest.map_structure(lambda each: each[0][tf.newaxis], inputs)
            mask = None
        at_once = None if lengths is not None else self._at_once(inputs, mask, states)
        if at_once is None:
            inputs, step = self._prepared(inputs, training, constants)
            at_once = rnn(
                step,
                inputs,
                states,
                go_backwards=self.go_backwards,
                mask=mask,
                unroll=self.unroll and lengths is None,
                input_length=None if context.trial else lengths,
                time_major=True,
                zero_output_for_mask=self.zero_output_for_mask,
                return_all_outputs=self.return_sequences,
            )
        last, outputs, states = at_once
        if self.stateful and not context.trial:
            flat = zip(tf.nest.flatten(self.states), tf.nest.flatten(states), strict=True)
            for variable, value in flat:
                variable.assign(value)
        if not self.return_sequences:
            outputs = last
        else:
            if context.trial:
                outputs = tf.nest.map_structure(lambda each: _lengthened(each, length), outputs)
            if not self.time_major:
                outputs = time_first(outputs)
            if lengths is not None:
                outputs = ragged_again(outputs, lengths, self.go_backwards)
        return [outputs, *states] if self.return_state else outputs

    def _at_once(self, inputs: Any, mask: Any, states: list[Any]) -> Any:
        """The result of `rnn` by the fused sequence op, or None."""
        return None

    def _prepared(self, inputs: Any, training: Any, constants: Any) -> Any:
        """The preprocessed inputs, and the step function."""
        cell = self.cell
        more: dict[str, Any] = {}
        if constants is not None:
            if not takes(cell, "constants"):
                raise ValueError(
                    f"RNN cell {cell} does not support constants. Received: constants={constants}"
                )
            more["constants"] = constants
        if type(cell) in _PROJECTING and not (cell.dropout or cell.recurrent_dropout):
            return self._projected(inputs)
        if takes(cell, "training"):
            more["training"] = training
        call = cell if callable(cell) else cell.call

        def step(value: Any, states: list[Any]) -> Any:
            output, new_states = call(value, states, **more)
            return output, as_list(new_states)

        return inputs, step

    def _projected(self, inputs: Any) -> Any:
        cell = self.cell
        weights, advance = cell.recurrent_weights(), cell.advance
        return cell.project(inputs), lambda value, states: advance(value, states, weights)

    def _starting_states(self, inputs: Any, initial_state: Any) -> list[Any]:
        if self.stateful:
            recorded = tf.nest.map_structure(tf.convert_to_tensor, as_list(self.states))
            if initial_state is None:
                states = recorded
            else:
                # Given states apply at the start of a sequence: while the recorded ones are all
                # zero.
                flat = tf.nest.flatten(recorded)
                going_on = tf.add_n([tf.math.count_nonzero(each) for each in flat]) > 0
                states = tf.nest.map_structure(
                    lambda old, new: tf.where(going_on, old, tf.cast(new, old.dtype)),
                    recorded,
                    as_list(initial_state),
                )
        elif initial_state is None:
            states = self.get_initial_state(inputs)
        else:
            dtype = tf.nest.flatten(inputs)[0].dtype
            states = tf.nest.map_structure(
                lambda state: tf.cast(state, dtype), as_list(initial_state)
            )
        if len(states) != len(self.states):
            raise ValueError(
                f"Layer has {len(self.states)} states but was passed {len(states)} initial "
                f"states. Received: initial_state={initial_state}"
            )
        return list(states)

    def _check_length(self, inputs: Any) -> None:
        shape = tf.nest.flatten(inputs)[0].shape
        length = shape[0 if self.time_major else 1]
        if self.unroll and not length:
            raise ValueError(
                "Unrolling requires a fixed number of timesteps. Received inputs of shape "
                f"{shape}. If using the functional API, give `Input` the number, or leave out "
                "`unroll=True`."
            )
        if length == 0:
            raise tf.errors.InvalidArgumentError(
                None, None, f"A recurrent layer needs at least one time step, got shape {shape}."
            )

    def _reset_dropout_masks(self) -> None:
        for cell in (self, self.cell, *getattr(self.cell, "cells", ())):
            if isinstance(cell, DropoutRNNCellMixin):
                cell.reset_dropout_mask()
                cell.reset_recurrent_dropout_mask()

    # Shapes, masks, configuration.

    def compute_output_shape(self, input_shape):
        """The output shape; with `return_state` a list that includes the state shapes."""
        if isinstance(input_shape, list) and not _is_shape(input_shape):
            input_shape = input_shape[0]
        shape = tf.nest.flatten(_shapes(input_shape))[0]
        batch, time = (shape[1], shape[0]) if self.time_major else (shape[0], shape[1])

        def full(size: Any) -> tf.TensorShape:
            sizes = tf.TensorShape(size).as_list()
            if not self.return_sequences:
                return tf.TensorShape([batch, *sizes])
            first = [time, batch] if self.time_major else [batch, time]
            return tf.TensorShape([*first, *sizes])

        size = getattr(self.cell, "output_size", None)
        state_sizes = as_list(self.cell.state_size)
        outputs = tf.nest.map_structure(full, state_sizes[0] if size is None else size)
        if not self.return_state:
            return outputs
        states = [
            tf.TensorShape([batch, *tf.TensorShape(each).as_list()])
            for each in tf.nest.flatten(state_sizes)
        ]
        return [outputs, *states]

    def compute_mask(self, inputs, mask):
        """The inputs' mask for output sequences; None for the last output and states."""
        mask = tf.nest.flatten(mask)[0] if self.return_sequences else None
        return [mask, *[None for _ in self.states]] if self.return_state else mask

    def get_config(self):
        """The constructor arguments, as a dict."""
        config = {
            **super().get_config(),
            "return_sequences": self.return_sequences,
            "return_state": self.return_state,
            "go_backwards": self.go_backwards,
            "stateful": self.stateful,
            "unroll": self.unroll,
            "time_major": self.time_major,
        }
        if self._num_constants:
            config["num_constants"] = self._num_constants
        if self.zero_output_for_mask:
            config["zero_output_for_mask"] = self.zero_output_for_mask
        if type(self)._shows_cell:
            config["cell"] = serialize_keras_object(self.cell)
        return config

    # Whether the cell is a constructor argument.
    _shows_cell = True

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Create a layer from its config."""
        config = dict(config)
        constants = config.pop("num_constants", 0)
        cell = deserialize_keras_object(config.pop("cell"), custom_objects=custom_objects)
        layer = cls(cell, **config)
        layer._num_constants = constants
        return layer


def time_first(structure: Any) -> Any:
    """Transpose tensors between batch-major and time-major."""

    def exchange(tensor: Any) -> Any:
        return tf.transpose(tensor, [1, 0, *range(2, tensor.shape.rank)])

    return tf.nest.map_structure(exchange, structure)


def _check_cell(cell: Any) -> None:
    if "call" not in dir(cell):
        raise ValueError(
            f"Argument `cell` should have a `call` method. The RNN was passed: cell={cell}"
        )
    if "state_size" not in dir(cell):
        raise ValueError(
            "The RNN cell should have a `state_size` attribute (tuple of integers, one integer per "
            f"RNN state). Received: cell={cell}"
        )


def split_inputs(inputs: Any, initial_state: Any, constants: Any, num_constants: int) -> Any:
    """Split inputs, initial states and constants, which may follow the inputs in a list."""
    if isinstance(inputs, list):
        if num_constants:
            inputs, constants = inputs[:-num_constants], inputs[-num_constants:]
        if len(inputs) > 1:
            initial_state = inputs[1:]
        inputs = inputs[0]
    return (
        inputs,
        None if initial_state is None else as_list(initial_state),
        None if constants is None else as_list(constants),
    )


def checked_alike(initial_state: Any, constants: Any) -> list[Any]:
    """The given states and constants, either all KerasTensors or none."""
    more = [*(initial_state or ()), *(constants or ())]
    kinds = {isinstance(each, KerasTensor) for each in tf.nest.flatten(more)}
    if len(kinds) > 1:
        raise ValueError(
            "The initial state or constants of an RNN layer cannot be specified via a mix of "
            'Keras tensors and non-Keras tensors (a "Keras tensor" is a tensor that was returned '
            "by a Keras layer or by `Input` during Functional model construction). Received: "
            f"initial_state={initial_state}, constants={constants}"
        )
    return more


def _is_shape(value: Any) -> bool:
    return isinstance(value, tf.TensorShape) or (
        isinstance(value, list | tuple)
        and all(size is None or isinstance(size, int | np.integer) for size in value)
    )


def _shapes(structure: Any) -> Any:
    """Nested shapes given as tuples of sizes, as TensorShapes."""
    if _is_shape(structure):
        return tf.TensorShape(structure)
    if isinstance(structure, dict):
        return {key: _shapes(value) for key, value in structure.items()}
    return tuple(_shapes(each) for each in structure)


def _lengthened(output: Any, length: int | None) -> Any:
    """A step's output broadcast to `length` time steps, for shape inference only."""
    # A value unknown before execution.
    repeats = tf.math.count_nonzero(output, dtype=tf.int32) if length is None else length
    many = tf.repeat(output, repeats, axis=0)
    return tf.ensure_shape(many, [length, *output.shape[1:]])
