"""SimpleRNN, LSTM and GRU: the built-in cells as layers."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ....ops.nn.gated import gru_layer
from ....ops.nn.recurrent import lstm_layer
from ....ops.nn.recurrent_gates import AT_ONCE
from ....ops.nn.simple_recurrent import ACTIVATIONS, simple_rnn_layer
from ... import regularizers
from ...engine.call_context import context
from ...engine.kinds import is_ragged
from ..arguments import options_config
from ..at_once import known_activation
from .at_once import has_usual_gates, is_compiled
from .cells import CONSTRAINTS, INITIALIZERS, REGULARIZERS, GRUCell, LSTMCell, SimpleRNNCell
from .dropout_masks import DropoutRNNCellMixin
from .masked_steps import masked_steps
from .of_cell import OfCell
from .ragged_rows import padded
from .rnn import RNN


class _CellLayer(RNN):
    """A recurrent layer with one of the built-in cells."""

    _shows_cell = False
    _flat_steps = True

    units = OfCell()
    activation = OfCell()
    use_bias = OfCell()
    kernel_initializer = OfCell()
    recurrent_initializer = OfCell()
    bias_initializer = OfCell()
    kernel_regularizer = OfCell()
    recurrent_regularizer = OfCell()
    bias_regularizer = OfCell()
    kernel_constraint = OfCell()
    recurrent_constraint = OfCell()
    bias_constraint = OfCell()
    dropout = OfCell()
    recurrent_dropout = OfCell()

    def _set_up(self, make: type, arguments: dict[str, Any]) -> dict[str, Any]:
        """The cell for the constructor arguments, and the arguments for RNN's constructor."""
        kwargs = arguments["kwargs"]
        others = ("self", "__class__", "kwargs", "activity_regularizer")
        options = {name: value for name, value in arguments.items() if name not in others}
        of_layer = {name: options.pop(name) for name in _OF_LAYER if name in options}
        if make is SimpleRNNCell:
            kwargs.pop("implementation", None)
        else:
            options["implementation"] = kwargs.pop("implementation", 2)
        cell = make(
            **options,
            dtype=kwargs.get("dtype"),
            trainable=kwargs.get("trainable", True),
            name=_CELL_NAMES[make],
        )
        return {
            "cell": cell,
            "activity_regularizer": regularizers.get(arguments["activity_regularizer"]),
            **of_layer,
            **kwargs,
        }

    def call(self, inputs, mask=None, training=None, initial_state=None):
        """Run all time steps: the last output or all of them, and the states if requested."""
        return self._all_steps(inputs, mask, training, initial_state)

    def _starting_states(self, inputs, initial_state):
        states = super()._starting_states(inputs, initial_state)
        batch = inputs.shape[1 if self.time_major else 0]
        if initial_state is None or self.unroll or batch in (None, 1):
            return states
        for each in states:
            if each.shape[:1] == (1,):
                raise ValueError(
                    f"Layer {self.name} was given an initial state of shape {each.shape} for "
                    f"{batch} sequences. Each needs its own: tf.repeat(state, {batch}, axis=0)."
                )
        return states

    def _plain(self) -> bool:
        """Whether all options are supported by the fused sequence op."""
        return not self.recurrent_dropout and not self.unroll and self.use_bias

    def _at_once(self, inputs, mask, states):
        cell = self.cell
        layer = _ALL_STEPS.get(type(cell))
        if layer is None or not self._plain() or inputs.dtype not in AT_ONCE:
            return None
        if context.trial or is_compiled():
            return None
        if mask is not None and (
            mask.shape.rank != 2
            or not mask.shape.is_compatible_with(inputs.shape[:2])
            or self._shows_carry(states)
        ):
            # The final carry of a shorter sequence needs the carry of every step.
            return None
        if self.go_backwards:
            inputs = tf.reverse(inputs, [0])
            mask = None if mask is None else tf.reverse(mask, [0])

        def all_steps(inputs, *states):
            weights = (cell.kernel, cell.recurrent_kernel, cell.bias)
            return layer(inputs, *states, *weights, **self._options_at_once())

        if mask is not None:
            return masked_steps(all_steps, inputs, mask, states, self.zero_output_for_mask)
        outputs, *states = all_steps(inputs, *states)
        return states[0], outputs, tuple(states)

    def _shows_carry(self, states):
        return len(states) > 1 and (self.return_state or self.stateful)

    def _options_at_once(self) -> dict[str, Any]:
        """The attributes of the fused sequence op."""
        return {}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Create a layer from its config."""
        if config.get("implementation") == 0:
            config = {**config, "implementation": 1}
        return cls(**config)


_OF_LAYER = ("return_sequences", "return_state", "go_backwards", "stateful", "unroll", "time_major")
_ALL_STEPS = {SimpleRNNCell: simple_rnn_layer, LSTMCell: lstm_layer, GRUCell: gru_layer}
_CELL_NAMES = {SimpleRNNCell: "simple_rnn_cell", LSTMCell: "lstm_cell", GRUCell: "gru_cell"}


class SimpleRNN(_CellLayer):
    """output = activation(inputs @ kernel + output_before @ recurrent_kernel + bias)

    >>> tf.keras.layers.SimpleRNN(4)(tf.ones([32, 10, 8])).shape
    TensorShape([32, 4])
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
        activity_regularizer=None,
        kernel_constraint=None,
        recurrent_constraint=None,
        bias_constraint=None,
        dropout=0.0,
        recurrent_dropout=0.0,
        return_sequences=False,
        return_state=False,
        go_backwards=False,
        stateful=False,
        unroll=False,
        **kwargs,
    ):
        super().__init__(**_CellLayer._set_up(self, SimpleRNNCell, locals()))

    def _plain(self):
        known = known_activation(self.activation) in ACTIVATIONS
        return super()._plain() and known and not self.dropout

    def _at_once(self, inputs, mask, states):
        if mask is not None and known_activation(self.activation) == "relu":
            # Wasted steps may overflow.
            return None
        return super()._at_once(inputs, mask, states)

    def _options_at_once(self):
        return {"activation": known_activation(self.activation)}

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "units": self.units,
            **options_config(self, "activation"),
            "use_bias": self.use_bias,
            **options_config(
                self, *INITIALIZERS, *REGULARIZERS, "activity_regularizer", *CONSTRAINTS
            ),
            "dropout": self.dropout,
            "recurrent_dropout": self.recurrent_dropout,
        }


class _GatedLayer(DropoutRNNCellMixin, _CellLayer):
    """LSTM and GRU: with the fused op the input dropout mask varies per time step."""

    recurrent_activation = OfCell()
    implementation = OfCell()

    def _plain(self):
        return super()._plain() and has_usual_gates(self)

    def call(self, inputs, mask=None, training=None, initial_state=None):
        """Run all time steps: the last output or all of them, and the states if requested."""
        lengths = None
        if is_ragged(inputs):
            inputs, lengths = padded(self, inputs, mask)
        if self.dropout and self._plain():
            self._reset_dropout_masks()
            masks = self.get_dropout_mask_for_cell(inputs, training, count=self.cell.gates)
            inputs = inputs * masks[0]
        return self._all_steps(inputs, mask, training, initial_state, lengths=lengths)

    def _prepared(self, inputs, training, constants):
        if self.dropout and self._plain():
            return self._projected(inputs)
        return super()._prepared(inputs, training, constants)


class LSTM(_GatedLayer):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997).

    >>> layer = tf.keras.layers.LSTM(4, return_sequences=True, return_state=True)
    >>> outputs, state, carry = layer(tf.ones([32, 10, 8]))
    >>> outputs.shape
    TensorShape([32, 10, 4])
    """

    unit_forget_bias = OfCell()

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
        activity_regularizer=None,
        kernel_constraint=None,
        recurrent_constraint=None,
        bias_constraint=None,
        dropout=0.0,
        recurrent_dropout=0.0,
        return_sequences=False,
        return_state=False,
        go_backwards=False,
        stateful=False,
        time_major=False,
        unroll=False,
        **kwargs,
    ):
        super().__init__(**_CellLayer._set_up(self, LSTMCell, locals()))

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "units": self.units,
            **options_config(self, "activation", "recurrent_activation"),
            "use_bias": self.use_bias,
            **options_config(self, *INITIALIZERS),
            "unit_forget_bias": self.unit_forget_bias,
            **options_config(self, *REGULARIZERS, "activity_regularizer", *CONSTRAINTS),
            "dropout": self.dropout,
            "recurrent_dropout": self.recurrent_dropout,
            "implementation": self.implementation,
        }


class GRU(_GatedLayer):
    """Gated recurrent units (Cho et al., 2014).

    >>> tf.keras.layers.GRU(4)(tf.ones([32, 10, 8])).shape
    TensorShape([32, 4])
    """

    reset_after = OfCell()

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
        activity_regularizer=None,
        kernel_constraint=None,
        recurrent_constraint=None,
        bias_constraint=None,
        dropout=0.0,
        recurrent_dropout=0.0,
        return_sequences=False,
        return_state=False,
        go_backwards=False,
        stateful=False,
        unroll=False,
        time_major=False,
        reset_after=True,
        **kwargs,
    ):
        super().__init__(**_CellLayer._set_up(self, GRUCell, locals()))

    def _plain(self):
        return super()._plain() and self.reset_after

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "units": self.units,
            **options_config(self, "activation", "recurrent_activation"),
            "use_bias": self.use_bias,
            **options_config(
                self, *INITIALIZERS, *REGULARIZERS, "activity_regularizer", *CONSTRAINTS
            ),
            "dropout": self.dropout,
            "recurrent_dropout": self.recurrent_dropout,
            "implementation": self.implementation,
            "reset_after": self.reset_after,
        }
