"""ConvLSTM1D, ConvLSTM2D and ConvLSTM3D: LSTMs with convolutions in place of matmuls."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ... import initializers, regularizers
from ...engine.input_spec import InputSpec
from ..arguments import (
    convolved_length,
    data_format_of,
    integer_tuple,
    operation_format,
    options_config,
    padding_of,
    set_options,
)
from .cells import CONSTRAINTS, INITIALIZERS, REGULARIZERS
from .dropout_masks import DropoutRNNCellMixin
from .of_cell import OfCell
from .rnn import RNN

_OF_LAYER = ("return_sequences", "return_state", "go_backwards", "stateful")


class ConvLSTMCell(DropoutRNNCellMixin):
    """One step of a convolutional LSTM: its states are the output h and the carry c.

    i, f, g, o = split(convolution(inputs, kernel) + bias + convolution(h, recurrent_kernel))
    """

    kernel: Any
    recurrent_kernel: Any
    bias: Any
    bias_initializer: Any
    activation: Any
    recurrent_activation: Any

    def __init__(
        self,
        rank,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        data_format=None,
        dilation_rate=1,
        activation="tanh",
        recurrent_activation="hard_sigmoid",
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
        super().__init__(**kwargs)
        if rank > 3:
            raise ValueError(f"Rank {rank} convolutions are not currently implemented.")
        self.rank = rank
        self.filters = int(filters) if filters is not None else None
        self.kernel_size = integer_tuple(kernel_size, rank, "kernel_size")
        self.strides = integer_tuple(strides, rank, "strides", allow_zero=True)
        self.padding = padding_of(padding)
        self.data_format = data_format_of(data_format)
        self.dilation_rate = integer_tuple(dilation_rate, rank, "dilation_rate")
        self.use_bias = use_bias
        self.unit_forget_bias = unit_forget_bias
        set_options(
            self,
            activation=activation,
            recurrent_activation=recurrent_activation,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint,
        )
        self.dropout = min(1.0, max(0.0, dropout))
        self.recurrent_dropout = min(1.0, max(0.0, recurrent_dropout))
        self.state_size = (self.filters, self.filters)
        self._channels_axis = 1 if self.data_format == "channels_first" else rank + 1
        self._format = operation_format(self.data_format, rank)

    def build(self, input_shape):
        """Create the kernels and the bias."""
        super().build(input_shape)
        channels = input_shape[self._channels_axis]
        if channels is None:
            raise ValueError(
                "The channel dimension of the inputs (last axis) should be defined. Found None. "
                f"Full input shape received: input_shape={input_shape}"
            )
        filters = self.filters
        for name, options, shape, initializer in (
            ("kernel", "kernel", (*self.kernel_size, channels, 4 * filters), None),
            ("recurrent_kernel", "recurrent", (*self.kernel_size, filters, 4 * filters), None),
            ("bias", "bias", (4 * filters,), self._initializer_of_bias()),
        ):
            weight = None
            if self.use_bias or name != "bias":
                weight = self.add_weight(
                    name,
                    shape=shape,
                    initializer=initializer or getattr(self, f"{options}_initializer"),
                    regularizer=getattr(self, f"{options}_regularizer"),
                    constraint=getattr(self, f"{options}_constraint"),
                )
            setattr(self, name, weight)
        self.built = True

    def _initializer_of_bias(self) -> Any:
        if not self.unit_forget_bias:
            return self.bias_initializer

        def with_open_forget_gate(shape, dtype=None, **kwargs):
            ones = initializers.get("ones")
            return tf.concat(
                [
                    self.bias_initializer([self.filters], dtype=dtype, **kwargs),
                    ones([self.filters], dtype=dtype),
                    self.bias_initializer([self.filters * 2], dtype=dtype, **kwargs),
                ],
                axis=0,
            )

        return with_open_forget_gate

    def call(self, inputs, states, training=None):
        """One time step: the output, and the new h and c."""
        h, c = states
        masks = self.get_dropout_mask_for_cell(inputs, training, count=4)
        state_masks = self.get_recurrent_dropout_mask_for_cell(h, training, count=4)
        if masks is None and state_masks is None:
            return self.advance(self.project(inputs), states)
        xs = [inputs] * 4 if masks is None else [inputs * mask for mask in masks]
        hs = [h] * 4 if state_masks is None else [h * mask for mask in state_masks]
        kernels = tf.split(self.kernel, 4, self.rank + 1)
        biases = tf.split(self.bias, 4) if self.use_bias else [None] * 4
        recurrent = tf.split(self.recurrent_kernel, 4, self.rank + 1)
        parts = [
            self._convolve_inputs(x, kernel, bias) + self._convolve_state(h, kernel_of_state)
            for x, kernel, bias, h, kernel_of_state in zip(
                xs, kernels, biases, hs, recurrent, strict=True
            )
        ]
        return self._gated(parts, c)

    def project(self, inputs: Any) -> Any:
        """convolution(inputs, kernel) + bias, for one time step or all of them."""
        return self._convolve_inputs(inputs, self.kernel, self.bias)

    def advance(self, projected: Any, states: Any) -> Any:
        """One time step on projected inputs."""
        h, c = states
        total = projected + self._convolve_state(h, self.recurrent_kernel)
        return self._gated(tf.split(total, 4, self._channels_axis), c)

    def _gated(self, parts: list[Any], carry: Any) -> Any:
        i, f, g, o = parts
        gate, activation = self.recurrent_activation, self.activation
        carry = gate(f) * carry + gate(i) * activation(g)
        output = gate(o) * activation(carry)
        return output, [output, carry]

    def _convolve_inputs(self, inputs: Any, kernel: Any, bias: Any) -> Any:
        outputs = tf.nn.convolution(
            inputs,
            kernel,
            strides=self.strides,
            padding=self.padding.upper(),
            data_format=self._format,
            dilations=self.dilation_rate,
        )
        return outputs if bias is None else tf.nn.bias_add(outputs, bias, self._format)

    def _convolve_state(self, state: Any, kernel: Any) -> Any:
        return tf.nn.convolution(state, kernel, strides=1, padding="SAME", data_format=self._format)

    def shape_of_state(self, shape_of_step: Any) -> list[int | None]:
        """The state shape for a time step's input shape."""
        axes = range(2, self.rank + 2) if self._channels_axis == 1 else range(1, self.rank + 1)
        lengths = [
            convolved_length(shape_of_step[axis], window, self.padding, stride, dilation)
            for axis, window, stride, dilation in zip(
                axes, self.kernel_size, self.strides, self.dilation_rate, strict=True
            )
        ]
        if self._channels_axis == 1:
            return [shape_of_step[0], self.filters, *lengths]
        return [shape_of_step[0], *lengths, self.filters]

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), **settings_of(self)}


def settings_of(layer: Any, *more: str) -> dict[str, Any]:
    """The settings that a cell and its layer share; `more` are further regularizers."""
    return {
        **{name: getattr(layer, name) for name in ("filters", "kernel_size", "strides")},
        **{name: getattr(layer, name) for name in ("padding", "data_format", "dilation_rate")},
        **options_config(layer, "activation", "recurrent_activation"),
        "use_bias": layer.use_bias,
        **options_config(layer, *INITIALIZERS),
        "unit_forget_bias": layer.unit_forget_bias,
        **options_config(layer, *REGULARIZERS, *more, *CONSTRAINTS),
        "dropout": layer.dropout,
        "recurrent_dropout": layer.recurrent_dropout,
    }


class ConvLSTM(RNN):
    """A recurrent layer on sequences of images with `rank` spatial axes."""

    _shows_cell = False
    rank = 2

    filters = OfCell()
    kernel_size = OfCell()
    strides = OfCell()
    padding = OfCell()
    data_format = OfCell()
    dilation_rate = OfCell()
    activation = OfCell()
    recurrent_activation = OfCell()
    use_bias = OfCell()
    kernel_initializer = OfCell()
    recurrent_initializer = OfCell()
    bias_initializer = OfCell()
    unit_forget_bias = OfCell()
    kernel_regularizer = OfCell()
    recurrent_regularizer = OfCell()
    bias_regularizer = OfCell()
    kernel_constraint = OfCell()
    recurrent_constraint = OfCell()
    bias_constraint = OfCell()
    dropout = OfCell()
    recurrent_dropout = OfCell()

    def __init__(self, arguments: dict[str, Any]) -> None:
        others = ("self", "__class__", "kwargs")
        kwargs = arguments["kwargs"]
        arguments = {name: value for name, value in arguments.items() if name not in others}
        if kwargs.get("unroll"):
            raise TypeError(
                "Unrolling is not possible with convolutional RNNs. Received: "
                f"unroll={kwargs['unroll']}"
            )
        of_layer = {name: arguments.pop(name) for name in _OF_LAYER}
        activity_regularizer = regularizers.get(arguments.pop("activity_regularizer"))
        cell = ConvLSTMCell(
            type(self).rank,
            **arguments,
            name="conv_lstm_cell",
            dtype=kwargs.get("dtype"),
        )
        super().__init__(cell, activity_regularizer=activity_regularizer, **of_layer, **kwargs)
        self.input_spec = [InputSpec(ndim=cell.rank + 3)]

    def _build_cell(self, step_shape: Any) -> None:
        self.cell.build(step_shape)

    def _state_specs(self) -> list[Any]:
        shape = self.cell.shape_of_state([None] * (self.cell.rank + 2))
        return [InputSpec(shape=shape), InputSpec(shape=shape)]

    def call(self, inputs, mask=None, training=None, initial_state=None):
        """Run all time steps: the last output or all of them, and the states if requested."""
        return self._all_steps(inputs, mask, training, initial_state)

    def _prepared(self, inputs: Any, training: Any, constants: Any) -> Any:
        cell = self.cell
        shape = inputs.shape
        if cell.dropout or cell.recurrent_dropout or shape.num_elements() is None:
            return super()._prepared(inputs, training, constants)
        # One convolution for all time steps.
        projected = cell.project(tf.reshape(inputs, [-1, *shape[2:]]))
        return tf.reshape(projected, [*shape[:2], *projected.shape[1:]]), cell.advance

    def get_initial_state(self, inputs):
        """The initial states for inputs of some shape."""
        first = inputs[0] if self.time_major else inputs[:, 0]
        shape = self.cell.shape_of_state(first.shape)
        if None not in shape:
            state = tf.zeros(shape, inputs.dtype)
        else:
            channels = first.shape[self.cell._channels_axis]
            nothing = tf.zeros([*self.cell.kernel_size, channels, self.cell.filters], inputs.dtype)
            state = self.cell._convolve_inputs(tf.zeros_like(first), nothing, None)
        return [state, state]

    def _fresh_states(self, batch_size: int, dtype: Any) -> list[Any]:
        sizes = list(self._shape_of_step(tf.TensorShape(self.input_spec[0].shape)))
        shape = self.cell.shape_of_state([batch_size, *sizes[1:]])
        if None in shape:
            raise ValueError(
                "A stateful convolutional RNN needs to know the shape of its inputs. Received "
                f"inputs of shape {self.input_spec[0].shape}."
            )
        return [tf.zeros(shape, dtype), tf.zeros(shape, dtype)]

    def compute_output_shape(self, input_shape):
        """The output shape; with `return_state` a list that includes the state shapes."""
        shape = tf.TensorShape(input_shape)
        state = self.cell.shape_of_state(self._shape_of_step(shape))
        outputs = [state[0], shape[1], *state[1:]] if self.return_sequences else state
        if self.time_major and self.return_sequences:
            outputs = [shape[0], *state]
        if not self.return_state:
            return tf.TensorShape(outputs)
        return [tf.TensorShape(each) for each in (outputs, state, state)]

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), **settings_of(self, "activity_regularizer")}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Create a layer from its config."""
        return cls(**config)


class ConvLSTM1D(ConvLSTM):
    """A convolutional LSTM over one axis: inputs (batch, time, rows, channels).

    >>> tf.keras.layers.ConvLSTM1D(4, 3)(tf.ones([2, 5, 8, 3])).shape
    TensorShape([2, 6, 4])
    """

    rank = 1

    def __init__(
        self,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        data_format=None,
        dilation_rate=1,
        activation="tanh",
        recurrent_activation="hard_sigmoid",
        use_bias=True,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        unit_forget_bias=True,
        kernel_regularizer=None,
        recurrent_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        recurrent_constraint=None,
        bias_constraint=None,
        return_sequences=False,
        return_state=False,
        go_backwards=False,
        stateful=False,
        dropout=0.0,
        recurrent_dropout=0.0,
        **kwargs,
    ):
        super().__init__(locals())


class ConvLSTM2D(ConvLSTM):
    """A convolutional LSTM over two axes: inputs (batch, time, rows, columns, channels).

    >>> tf.keras.layers.ConvLSTM2D(4, 3)(tf.ones([2, 5, 8, 8, 3])).shape
    TensorShape([2, 6, 6, 4])
    """

    rank = 2

    def __init__(
        self,
        filters,
        kernel_size,
        strides=(1, 1),
        padding="valid",
        data_format=None,
        dilation_rate=(1, 1),
        activation="tanh",
        recurrent_activation="hard_sigmoid",
        use_bias=True,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        unit_forget_bias=True,
        kernel_regularizer=None,
        recurrent_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        recurrent_constraint=None,
        bias_constraint=None,
        return_sequences=False,
        return_state=False,
        go_backwards=False,
        stateful=False,
        dropout=0.0,
        recurrent_dropout=0.0,
        **kwargs,
    ):
        super().__init__(locals())


class ConvLSTM3D(ConvLSTM):
    """A convolutional LSTM over three axes: inputs (batch, time, depth, rows, columns, channels).

    >>> tf.keras.layers.ConvLSTM3D(4, 3)(tf.ones([2, 2, 4, 4, 4, 1])).shape
    TensorShape([2, 2, 2, 2, 4])
    """

    rank = 3

    def __init__(
        self,
        filters,
        kernel_size,
        strides=(1, 1, 1),
        padding="valid",
        data_format=None,
        dilation_rate=(1, 1, 1),
        activation="tanh",
        recurrent_activation="hard_sigmoid",
        use_bias=True,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        unit_forget_bias=True,
        kernel_regularizer=None,
        recurrent_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        recurrent_constraint=None,
        bias_constraint=None,
        return_sequences=False,
        return_state=False,
        go_backwards=False,
        stateful=False,
        dropout=0.0,
        recurrent_dropout=0.0,
        **kwargs,
    ):
        super().__init__(locals())
