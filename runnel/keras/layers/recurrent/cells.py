"""SimpleRNNCell, LSTMCell and GRUCell: a single time step of a recurrent layer."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ....core.arguments import require_number
from ....ops.nn.gated_gates import gru_gates
from ....ops.nn.recurrent_gates import AT_ONCE, lstm_gates
from ... import initializers
from ...engine.base_layer import Layer
from ..arguments import options_config, set_options
from .at_once import gated_step_at_once, has_usual_gates, is_compiled, step_at_once
from .dropout_masks import DropoutRNNCellMixin
from .states import zero_states

_WEIGHTS = ("kernel", "recurrent", "bias")
INITIALIZERS = tuple(f"{name}_initializer" for name in _WEIGHTS)
REGULARIZERS = tuple(f"{name}_regularizer" for name in _WEIGHTS)
CONSTRAINTS = tuple(f"{name}_constraint" for name in _WEIGHTS)


class AbstractRNNCell(Layer):
    """Base class of cells: `call(inputs, states)` returns the output and the new states.

    >>> class Sum(tf.keras.layers.AbstractRNNCell):
    ...     state_size = output_size = 1
    ...     def call(self, inputs, states):
    ...         total = states[0] + inputs
    ...         return total, [total]
    >>> layer = tf.keras.layers.RNN(Sum())
    >>> layer(tf.constant([[[1.0], [2.0], [3.0]]])).numpy().tolist()
    [[6.0]]
    """

    def call(self, inputs, states):
        """One time step; for subclasses to implement."""
        raise NotImplementedError(f"{type(self).__name__} must define `call(inputs, states)`.")

    @property
    def state_size(self):
        """The size of the state, or a structure of those of several states."""
        raise NotImplementedError(f"{type(self).__name__} must define `state_size`.")

    @property
    def output_size(self):
        """The size of the output."""
        raise NotImplementedError(f"{type(self).__name__} must define `output_size`.")

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """The initial states: zeros."""
        return zero_states(self, inputs, batch_size, dtype)


class GatedCell(DropoutRNNCellMixin):
    """What the built-in cells share: a kernel, a recurrent kernel, a bias.

    `gates` is the number of blocks of `units` columns in the kernels.
    """

    bias_initializer: Any
    gates = 1

    def __init__(self, units: int, use_bias: bool, options: dict[str, Any], kwargs: Any) -> None:
        require_number(units, "units", type(self).__name__.removesuffix("Cell"))
        if units <= 0:
            raise ValueError(
                "Received an invalid value for argument `units`, expected a positive integer, got "
                f"{units}."
            )
        dropout, recurrent_dropout = options.pop("dropout"), options.pop("recurrent_dropout")
        super().__init__(**kwargs)
        self.units = units
        self.use_bias = use_bias
        set_options(self, **options)
        self.dropout = min(1.0, max(0.0, dropout))
        self.recurrent_dropout = min(1.0, max(0.0, recurrent_dropout))
        self.state_size: Any = units
        self.output_size = units

    def build(self, input_shape):
        """Create the kernels and the bias."""
        super().build(input_shape)
        columns = self.units * self.gates
        self.kernel = self._weight("kernel", [input_shape[-1], columns], self.kernel_initializer)
        self.recurrent_kernel = self._weight(
            "recurrent_kernel", [self.units, columns], self.recurrent_initializer
        )
        self.bias = None
        if self.use_bias:
            self.bias = self._weight("bias", self._bias_shape(), self._initializer_of_bias())
        self.built = True

    def _weight(self, name: str, shape: list[int], initializer: Any) -> tf.Variable:
        prefix = "recurrent" if name == "recurrent_kernel" else name
        return self.add_weight(
            name,
            shape=shape,
            initializer=initializer,
            regularizer=getattr(self, f"{prefix}_regularizer"),
            constraint=getattr(self, f"{prefix}_constraint"),
        )

    def _bias_shape(self) -> list[int]:
        return [self.units * self.gates]

    def _initializer_of_bias(self) -> Any:
        return self.bias_initializer

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """The initial states: zeros."""
        return zero_states(self, inputs, batch_size, dtype)

    def project(self, inputs: Any) -> Any:
        """inputs @ kernel + bias, for one time step or all of them."""
        outputs = _times(inputs, self.kernel)
        return tf.nn.bias_add(outputs, self.bias) if self.use_bias else outputs

    def recurrent_weights(self) -> Any:
        """The weights that `advance` uses, constant over a sequence."""
        return tf.convert_to_tensor(self.recurrent_kernel)

    def advance(self, projected: Any, states: list[Any], weights: Any) -> Any:
        """The output and states of a time step, from inputs that `project` computed."""
        raise NotImplementedError

    def _has_gates_at_once(self, *tensors: Any) -> bool:
        """Whether the fused gates op applies: it does not broadcast a single row over a batch."""
        same_rows = len({each.shape[0] for each in tensors}) == 1
        return (
            same_rows
            and all(each.shape.rank == 2 for each in tensors)
            and tensors[0].dtype in AT_ONCE
            and has_usual_gates(self)
            and not is_compiled()
        )


def _times(inputs: Any, kernel: Any) -> Any:
    if inputs.shape.rank == 2:
        return tf.matmul(inputs, kernel)
    # One matmul for all time steps.
    flat = tf.matmul(tf.reshape(inputs, [-1, inputs.shape[-1]]), kernel)
    sizes = [*inputs.shape[:-1], flat.shape[-1]]
    if sizes.count(None) < 2:
        return tf.reshape(flat, [-1 if size is None else size for size in sizes])
    dynamic = tf.concat([tf.shape(inputs)[:-1], [flat.shape[-1]]], 0)
    return tf.ensure_shape(tf.reshape(flat, dynamic), sizes)


def _first(states: Any) -> tuple[Any, bool]:
    """The single state of a cell, and whether it came in a list."""
    if isinstance(states, list | tuple):
        return states[0], True
    return states, False


class SimpleRNNCell(GatedCell):
    """output = activation(inputs @ kernel + output_before @ recurrent_kernel + bias)

    >>> cell = tf.keras.layers.SimpleRNNCell(4)
    >>> state = cell.get_initial_state(batch_size=2, dtype=tf.float32)
    >>> output, state = cell(tf.ones([2, 3]), state)
    >>> output.shape
    TensorShape([2, 4])
    """

    def __init__(
        self,
        units,
        activation="tanh",
        use_bias=True,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        kernel_regularizer=None,
        recurrent_regularizer=None,
        bias_regularizer=None,
        kernel_constraint=None,
        recurrent_constraint=None,
        bias_constraint=None,
        dropout=0.0,
        recurrent_dropout=0.0,
        **kwargs,
    ):
        options = given(locals())
        super().__init__(units, use_bias, options, kwargs)

    def call(self, inputs, states, training=None):
        """One time step: the output is also the state."""
        before, listed = _first(states)
        mask = self.get_dropout_mask_for_cell(inputs, training)
        if mask is not None:
            inputs = inputs * mask
        state_mask = self.get_recurrent_dropout_mask_for_cell(before, training)
        if state_mask is not None:
            before = before * state_mask
        output = self.advance(self.project(inputs), [before], self.recurrent_kernel)[0]
        return output, [output] if listed else output

    def advance(self, projected, states, weights):
        """One time step on projected inputs."""
        output = projected + tf.matmul(states[0], weights)
        if self.activation is not None:
            output = self.activation(output)
        return output, [output]

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "units": self.units,
            **options_config(self, "activation"),
            "use_bias": self.use_bias,
            **options_config(self, *INITIALIZERS, *REGULARIZERS, *CONSTRAINTS),
            "dropout": self.dropout,
            "recurrent_dropout": self.recurrent_dropout,
        }


class LSTMCell(GatedCell):
    """One step of a long short-term memory: its states are the output h and the carry c.

    i, f, g, o = split(inputs @ kernel + h @ recurrent_kernel + bias)
    c = sigmoid(f) * c + sigmoid(i) * tanh(g);  h = sigmoid(o) * tanh(c)

    >>> cell = tf.keras.layers.LSTMCell(4)
    >>> states = cell.get_initial_state(batch_size=2, dtype=tf.float32)
    >>> output, states = cell(tf.ones([2, 3]), states)
    >>> [state.shape for state in states]
    [TensorShape([2, 4]), TensorShape([2, 4])]
    """

    recurrent_activation: Any
    gates = 4

    def __init__(
        self,
        units,
        activation="tanh",
        recurrent_activation="sigmoid",
        use_bias=True,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        unit_forget_bias=True,
        kernel_regularizer=None,
        recurrent_regularizer=None,
        bias_regularizer=None,
        kernel_constraint=None,
        recurrent_constraint=None,
        bias_constraint=None,
        dropout=0.0,
        recurrent_dropout=0.0,
        **kwargs,
    ):
        options = given(locals(), "unit_forget_bias")
        implementation = kwargs.pop("implementation", 2)
        super().__init__(units, use_bias, options, kwargs)
        self.unit_forget_bias = unit_forget_bias
        self.implementation = 1 if self.recurrent_dropout else implementation
        self.state_size = [units, units]

    def _initializer_of_bias(self):
        if not self.unit_forget_bias:
            return self.bias_initializer

        def with_open_forget_gate(shape, dtype=None, **kwargs):
            units = self.units
            ones = initializers.get("ones")
            return tf.concat(
                [
                    self.bias_initializer([units], dtype=dtype, **kwargs),
                    ones([units], dtype=dtype),
                    self.bias_initializer([units * 2], dtype=dtype, **kwargs),
                ],
                axis=0,
            )

        return with_open_forget_gate

    def call(self, inputs, states, training=None):
        """One time step: the output, and the new h and c."""
        if not (self.dropout or self.recurrent_dropout):
            found = step_at_once(self, inputs, states)
            if found is not None:
                return found
            return self.advance(self.project(inputs), states, self.recurrent_kernel)
        h, c = states
        masks = self.get_dropout_mask_for_cell(inputs, training, count=4)
        state_masks = self.get_recurrent_dropout_mask_for_cell(h, training, count=4)
        if self.implementation != 1:
            if masks is not None:
                inputs = inputs * masks[0]
            if state_masks is not None:
                h = h * state_masks[0]
            return self.advance(self.project(inputs), [h, c], self.recurrent_kernel)
        parts = product_of_each(inputs, masks, self.kernel, 4)
        if self.use_bias:
            biases = tf.split(self.bias, 4)
            parts = [tf.nn.bias_add(x, b) for x, b in zip(parts, biases, strict=True)]
        state_parts = product_of_each(h, state_masks, self.recurrent_kernel, 4)
        return self._gated([x + y for x, y in zip(parts, state_parts, strict=True)], c)

    def advance(self, projected, states, weights):
        """One time step on projected inputs."""
        h, c = states
        sums = projected + tf.matmul(h, weights)
        if self._has_gates_at_once(sums, c):
            output, carry = lstm_gates(sums, c)
            return output, [output, carry]
        return self._gated(tf.split(sums, 4, 1), c)

    def _compute_carry_and_output_fused(self, z: Any, c_tm1: Any) -> tuple[Any, Any]:
        """The new carry and the output gate, from the pre-activations of the four gates and the old
        carry.
        """
        _, (_, carry) = self._gated(z, c_tm1)
        return carry, self.recurrent_activation(z[3])

    def _gated(self, parts, carry):
        i, f, g, o = parts
        gate, activation = self.recurrent_activation, self.activation
        carry = gate(f) * carry + gate(i) * activation(g)
        output = gate(o) * activation(carry)
        return output, [output, carry]

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "units": self.units,
            **options_config(self, "activation", "recurrent_activation"),
            "use_bias": self.use_bias,
            **options_config(self, *INITIALIZERS),
            "unit_forget_bias": self.unit_forget_bias,
            **options_config(self, *REGULARIZERS, *CONSTRAINTS),
            "dropout": self.dropout,
            "recurrent_dropout": self.recurrent_dropout,
            "implementation": self.implementation,
        }


class GRUCell(GatedCell):
    """One step of a gated recurrent unit.

    z and r are gates; with `reset_after`, r acts on h @ recurrent_kernel, else on h:
    g = tanh(x_g + r * h_g);  h = z * h + (1 - z) * g

    >>> cell = tf.keras.layers.GRUCell(4)
    >>> state = cell.get_initial_state(batch_size=2, dtype=tf.float32)
    >>> output, state = cell(tf.ones([2, 3]), state)
    >>> state.shape
    TensorShape([2, 4])
    """

    gates = 3

    def __init__(
        self,
        units,
        activation="tanh",
        recurrent_activation="sigmoid",
        use_bias=True,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        kernel_regularizer=None,
        recurrent_regularizer=None,
        bias_regularizer=None,
        kernel_constraint=None,
        recurrent_constraint=None,
        bias_constraint=None,
        dropout=0.0,
        recurrent_dropout=0.0,
        reset_after=True,
        **kwargs,
    ):
        options = given(locals(), "reset_after")
        implementation = kwargs.pop("implementation", 2)
        super().__init__(units, use_bias, options, kwargs)
        self.implementation = 1 if self.recurrent_dropout else implementation
        self.reset_after = reset_after

    def _bias_shape(self):
        return [2, 3 * self.units] if self.reset_after else [3 * self.units]

    def project(self, inputs):
        """inputs @ kernel + the input bias."""
        outputs = _times(inputs, self.kernel)
        if not self.use_bias:
            return outputs
        return tf.nn.bias_add(outputs, self.bias[0] if self.reset_after else self.bias)

    def call(self, inputs, states, training=None):
        """One time step: the output is also the state."""
        h, listed = _first(states)
        if not (self.dropout or self.recurrent_dropout):
            output = gated_step_at_once(self, inputs, h)
            if output is not None:
                return output, [output] if listed else output
        masks = self.get_dropout_mask_for_cell(inputs, training, count=3)
        state_masks = self.get_recurrent_dropout_mask_for_cell(h, training, count=3)
        if self.implementation == 1 and (masks is not None or state_masks is not None):
            output = self._step_with_masks(inputs, h, masks, state_masks)
        else:
            if masks is not None:
                inputs = inputs * masks[0]
            if state_masks is not None:
                h = h * state_masks[0]
            output = self.advance(self.project(inputs), [h], self.recurrent_weights())[0]
        return output, [output] if listed else output

    def _step_with_masks(self, inputs, h, masks, state_masks):
        x_z, x_r, x_g = product_of_each(inputs, masks, self.kernel, 3)
        if self.use_bias:
            bias = self.bias[0] if self.reset_after else self.bias
            b_z, b_r, b_g = tf.split(bias, 3)
            x_z, x_r, x_g = x_z + b_z, x_r + b_r, x_g + b_g
        h_z, h_r, h_g = [h] * 3 if state_masks is None else [h * mask for mask in state_masks]
        k_z, k_r, k_g = tf.split(self.recurrent_kernel, 3, 1)
        y_z, y_r = tf.matmul(h_z, k_z), tf.matmul(h_r, k_r)
        if not self.reset_after:
            z, r = self.recurrent_activation(x_z + y_z), self.recurrent_activation(x_r + y_r)
            return self._mixed(z, h, x_g + tf.matmul(r * h_g, k_g))
        y_g = tf.matmul(h_g, k_g)
        if self.use_bias:
            b_z, b_r, b_g = tf.split(self.bias[1], 3)
            y_z, y_r, y_g = y_z + b_z, y_r + b_r, y_g + b_g
        z, r = self.recurrent_activation(x_z + y_z), self.recurrent_activation(x_r + y_r)
        return self._mixed(z, h, x_g + r * y_g)

    def recurrent_weights(self):
        """The recurrent kernel and bias; without `reset_after` the kernel is split in two."""
        if not self.reset_after:
            return tf.split(self.recurrent_kernel, [2 * self.units, self.units], 1)
        kernel = tf.convert_to_tensor(self.recurrent_kernel)
        return kernel, self.bias[1] if self.use_bias else None

    def advance(self, projected, states, weights):
        """One time step on projected inputs."""
        h = states[0]
        if self.reset_after:
            kernel, bias = weights
            product = tf.matmul(h, kernel)
            if bias is not None:
                product = tf.nn.bias_add(product, bias)
            if self._has_gates_at_once(projected, product, h):
                output = gru_gates(projected, product, h)
            else:
                output = self._reset_after(projected, product, h)
            return output, [output]
        of_gates, of_g = weights
        x_gates, x_g = self._gates_and_candidate(projected)
        z, r = tf.split(self.recurrent_activation(x_gates + tf.matmul(h, of_gates)), 2, -1)
        output = self._mixed(z, h, x_g + tf.matmul(r * h, of_g))
        return output, [output]

    def _reset_after(self, projected, product, h):
        x_gates, x_g = self._gates_and_candidate(projected)
        h_gates, h_g = self._gates_and_candidate(product)
        z, r = tf.split(self.recurrent_activation(x_gates + h_gates), 2, -1)
        return self._mixed(z, h, x_g + r * h_g)

    def _gates_and_candidate(self, sums):
        return tf.split(sums, [2 * self.units, self.units], -1)

    def _mixed(self, z, h, candidate):
        return z * h + (1 - z) * self.activation(candidate)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "units": self.units,
            **options_config(self, "activation", "recurrent_activation"),
            "use_bias": self.use_bias,
            **options_config(self, *INITIALIZERS, *REGULARIZERS, *CONSTRAINTS),
            "dropout": self.dropout,
            "recurrent_dropout": self.recurrent_dropout,
            "implementation": self.implementation,
            "reset_after": self.reset_after,
        }


def given(arguments: dict[str, Any], *own: str) -> dict[str, Any]:
    """The constructor options that all cells have in common."""
    others = ("self", "__class__", "units", "use_bias", "kwargs", *own)
    return {name: value for name, value in arguments.items() if name not in others}


def product_of_each(inputs: Any, masks: Any, kernel: Any, count: int) -> list[Any]:
    """inputs * mask @ kernel for each of `count` masks and kernel blocks."""
    masked = [inputs] * count if masks is None else [inputs * mask for mask in masks]
    return [
        tf.matmul(x, block) for x, block in zip(masked, tf.split(kernel, count, 1), strict=True)
    ]
