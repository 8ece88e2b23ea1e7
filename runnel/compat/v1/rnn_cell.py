"""tf.compat.v1.nn.rnn_cell: single steps of recurrent networks."""

from __future__ import annotations

import collections

import runnel as tf

from .initializers import constant_initializer, zeros_initializer
from .scopes import get_variable, variable_scope

LSTMStateTuple = collections.namedtuple("LSTMStateTuple", ["c", "h"])
LSTMStateTuple.__doc__ = "The two parts of the state of an LSTM: the memory and the output."


class RNNCell:
    """One step of a recurrent network: `cell(inputs, state)` returns the output and the new state.

    A subclass defines the sizes of both, creates its variables in `build` and computes in `call`.
    """

    def __init__(self, trainable=True, name=None, dtype=None, **kwargs):
        self._trainable = trainable
        self._name = name
        self._dtype = dtype
        self._reuse = kwargs.pop("_reuse", None)
        self._variables = []
        self._scope = None
        self.built = False

    @property
    def state_size(self):
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self):
        raise NotImplementedError("Abstract method")

    @property
    def name(self):
        return self._name or _snake_case(type(self).__name__)

    @property
    def variables(self):
        return list(self._variables)

    weights = trainable_weights = trainable_variables = variables

    def build(self, inputs_shape):
        """Create the variables, given the shape of the inputs."""

    def call(self, inputs, state):
        """The output and the new state."""
        raise NotImplementedError("Abstract method")

    def __call__(self, inputs, state, scope=None):
        inputs = tf.convert_to_tensor(inputs)
        self.prepare(inputs.shape, scope)
        return self.call(inputs, state)

    def prepare(self, shape, scope=None):
        """Create the variables, in a scope of the cell's name, unless they exist."""
        if self.built:
            return
        with variable_scope(scope or self._name, default_name=self.name, reuse=self._reuse):
            self.build(shape)
        self.built = True

    def _weight(self, name, shape, initializer=None):
        variable = get_variable(
            name, shape, self._dtype, initializer=initializer, trainable=self._trainable
        )
        self._variables.append(variable)
        return variable

    def zero_state(self, batch_size, dtype):
        """A state of zeros."""
        return tf.nest.map_structure(
            lambda size: tf.zeros([batch_size, size], dtype), self.state_size
        )


def _snake_case(name):
    import re

    name = re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def _activation(activation):
    if activation is None:
        return tf.tanh
    return activation if callable(activation) else tf.keras.activations.get(activation)


def _depth(shape):
    size = shape.as_list()[-1]
    if size is None:
        raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {shape}")
    return size


class BasicRNNCell(RNNCell):
    """output = state = activation([inputs, state] · kernel + bias)."""

    def __init__(self, num_units, activation=None, reuse=None, name=None, dtype=None, **kwargs):
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **kwargs)
        self._num_units = num_units
        self._activation = _activation(activation)

    @property
    def state_size(self):
        return self._num_units

    @property
    def output_size(self):
        return self._num_units

    def build(self, inputs_shape):
        """Create the kernel and the bias."""
        units = self._num_units
        self._kernel = self._weight("kernel", [_depth(inputs_shape) + units, units])
        self._bias = self._weight("bias", [units], zeros_initializer())

    def call(self, inputs, state):
        """The output, which is the new state, too."""
        output = tf.matmul(tf.concat([inputs, state], 1), self._kernel)
        output = self._activation(tf.nn.bias_add(output, self._bias))
        return output, output


class GRUCell(RNNCell):
    """A gated recurrent unit: gates control how much of the state is used and retained."""

    def __init__(
        self,
        num_units,
        activation=None,
        reuse=None,
        kernel_initializer=None,
        bias_initializer=None,
        name=None,
        dtype=None,
        **kwargs,
    ):
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **kwargs)
        self._num_units = num_units
        self._activation = _activation(activation)
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    @property
    def state_size(self):
        return self._num_units

    @property
    def output_size(self):
        return self._num_units

    def build(self, inputs_shape):
        """Create the kernels and biases of the gates and of the candidate."""
        units, make = self._num_units, self._bias_initializer
        rows = _depth(inputs_shape) + units
        kernel = self._kernel_initializer
        self._gate_kernel = self._weight("gates/kernel", [rows, 2 * units], kernel)
        self._gate_bias = self._weight("gates/bias", [2 * units], make or constant_initializer(1.0))
        self._kernel = self._weight("candidate/kernel", [rows, units], kernel)
        self._bias = self._weight("candidate/bias", [units], make or zeros_initializer())

    def call(self, inputs, state):
        """The output, which is the new state, too."""
        gates = tf.matmul(tf.concat([inputs, state], 1), self._gate_kernel)
        gates = tf.sigmoid(tf.nn.bias_add(gates, self._gate_bias))
        reset, update = tf.split(gates, 2, axis=1)
        candidate = tf.matmul(tf.concat([inputs, reset * state], 1), self._kernel)
        candidate = self._activation(tf.nn.bias_add(candidate, self._bias))
        state = update * state + (1 - update) * candidate
        return state, state


class BasicLSTMCell(RNNCell):
    """A basic LSTM, without peepholes or projection."""

    def __init__(
        self,
        num_units,
        forget_bias=1.0,
        state_is_tuple=True,
        activation=None,
        reuse=None,
        name=None,
        dtype=None,
        **kwargs,
    ):
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **kwargs)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = _activation(activation)

    @property
    def state_size(self):
        units = self._num_units
        return LSTMStateTuple(units, units) if self._state_is_tuple else 2 * units

    @property
    def output_size(self):
        return self._num_units

    def build(self, inputs_shape):
        """Create the kernel and the bias."""
        units = self._num_units
        self._kernel = self._weight("kernel", [_depth(inputs_shape) + units, 4 * units])
        self._bias = self._weight("bias", [4 * units], zeros_initializer())

    def call(self, inputs, state):
        """The output and the new state."""
        c, h = state if self._state_is_tuple else tf.split(state, 2, axis=1)
        gates = tf.matmul(tf.concat([inputs, h], 1), self._kernel)
        i, j, f, o = tf.split(tf.nn.bias_add(gates, self._bias), 4, axis=1)
        c = c * tf.sigmoid(f + self._forget_bias) + tf.sigmoid(i) * self._activation(j)
        h = self._activation(c) * tf.sigmoid(o)
        return h, LSTMStateTuple(c, h) if self._state_is_tuple else tf.concat([c, h], 1)


class LSTMCell(RNNCell):
    """An LSTM with peepholes, clipping and a projection of the output."""

    def __init__(
        self,
        num_units,
        use_peepholes=False,
        cell_clip=None,
        initializer=None,
        num_proj=None,
        proj_clip=None,
        num_unit_shards=None,
        num_proj_shards=None,
        forget_bias=1.0,
        state_is_tuple=True,
        activation=None,
        reuse=None,
        name=None,
        dtype=None,
        **kwargs,
    ):
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **kwargs)
        self._num_units = num_units
        self._peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = _activation(activation)

    @property
    def state_size(self):
        sizes = LSTMStateTuple(self._num_units, self.output_size)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self):
        return self._num_proj or self._num_units

    def build(self, inputs_shape):
        """Create the kernel, the bias and the optional variables."""
        units, make = self._num_units, self._initializer
        rows = _depth(inputs_shape) + self.output_size
        self._kernel = self._weight("kernel", [rows, 4 * units], make)
        self._bias = self._weight("bias", [4 * units], zeros_initializer())
        if self._peepholes:
            self._diagonals = [
                self._weight(f"w_{gate}_diag", [units], make) for gate in ("f", "i", "o")
            ]
        if self._num_proj:
            self._projection = self._weight("projection/kernel", [units, self._num_proj], make)

    def call(self, inputs, state):
        """The output and the new state."""
        sizes = [self._num_units, self.output_size]
        c, h = state if self._state_is_tuple else tf.split(state, sizes, axis=1)
        gates = tf.matmul(tf.concat([inputs, h], 1), self._kernel)
        i, j, f, o = tf.split(tf.nn.bias_add(gates, self._bias), 4, axis=1)
        f = f + self._forget_bias
        if self._peepholes:
            forget, take, give = self._diagonals
            f, i = f + forget * c, i + take * c
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * self._activation(j)
        if self._cell_clip is not None:
            c = tf.clip_by_value(c, -self._cell_clip, self._cell_clip)
        if self._peepholes:
            o = o + give * c
        h = tf.sigmoid(o) * self._activation(c)
        if self._num_proj:
            h = tf.matmul(h, self._projection)
            if self._proj_clip is not None:
                h = tf.clip_by_value(h, -self._proj_clip, self._proj_clip)
        return h, LSTMStateTuple(c, h) if self._state_is_tuple else tf.concat([c, h], 1)


class MultiRNNCell(RNNCell):
    """Stacked cells: the output of one is the input of the next."""

    def __init__(self, cells, state_is_tuple=True):
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not isinstance(cells, list | tuple):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        if not state_is_tuple:
            raise ValueError("The state of several cells is a tuple here: state_is_tuple=True.")
        self._cells = list(cells)

    @property
    def state_size(self):
        return tuple([cell.state_size for cell in self._cells])

    @property
    def output_size(self):
        return self._cells[-1].output_size

    @property
    def variables(self):
        return [variable for cell in self._cells for variable in cell.variables]

    def build(self, inputs_shape):
        """Create the variables of the cells, each in a scope of its own."""
        for index, cell in enumerate(self._cells):
            with variable_scope(f"cell_{index}"):
                cell.prepare(inputs_shape)
            inputs_shape = tf.TensorShape([None, cell.output_size])

    def call(self, inputs, state):
        """The output of the last cell and the new states of all."""
        states = []
        for cell, each in zip(self._cells, state, strict=True):
            inputs, after = cell(inputs, each)
            states.append(after)
        return inputs, tuple(states)


class _Wrapper(RNNCell):
    """Base class of cells that wrap another one."""

    def __init__(self, cell, **kwargs):
        super().__init__(**kwargs)
        self._cell = cell

    @property
    def wrapped_cell(self):
        return self._cell

    @property
    def state_size(self):
        return self._cell.state_size

    @property
    def output_size(self):
        return self._cell.output_size

    @property
    def variables(self):
        return self._cell.variables

    def prepare(self, shape, scope=None):
        """Create the variables of the wrapped cell, which has the scope."""
        self._cell.prepare(shape, scope)

    def zero_state(self, batch_size, dtype):
        """The zero state of the wrapped cell."""
        return self._cell.zero_state(batch_size, dtype)


class DropoutWrapper(_Wrapper):
    """A cell with dropout of its inputs, its outputs and its state."""

    def __init__(
        self,
        cell,
        input_keep_prob=1.0,
        output_keep_prob=1.0,
        state_keep_prob=1.0,
        variational_recurrent=False,
        input_size=None,
        dtype=None,
        seed=None,
        dropout_state_filter_visitor=None,
        **kwargs,
    ):
        if variational_recurrent or dropout_state_filter_visitor is not None:
            raise ValueError(
                "Each step drops anew, and all of the state but an LSTM's memory: leave out "
                "variational_recurrent and dropout_state_filter_visitor."
            )
        super().__init__(cell, dtype=dtype, **kwargs)
        self._shares = input_keep_prob, output_keep_prob, state_keep_prob
        self._seed = seed

    def _dropped(self, value, keep):
        if isinstance(keep, float | int) and keep == 1:
            return value
        return tf.nn.dropout(value, rate=1 - keep, seed=self._seed)

    def call(self, inputs, state):
        """The output and the new state, with dropout."""
        taken, given, kept = self._shares
        output, state = self._cell(self._dropped(inputs, taken), state)
        return self._dropped(output, given), self._dropped_state(state, kept)

    def _dropped_state(self, state, keep):
        if isinstance(state, LSTMStateTuple):
            return LSTMStateTuple(state.c, self._dropped(state.h, keep))
        if isinstance(state, tuple):
            return tuple([self._dropped_state(each, keep) for each in state])
        return self._dropped(state, keep)


class ResidualWrapper(_Wrapper):
    """A cell whose inputs are added to its outputs."""

    def __init__(self, cell, residual_fn=None, **kwargs):
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    def call(self, inputs, state):
        """The sum of the inputs and the output, and the new state."""
        output, state = self._cell(inputs, state)
        if self._residual_fn is not None:
            return self._residual_fn(inputs, output), state
        return tf.nest.map_structure(lambda x, y: x + y, inputs, output), state


class DeviceWrapper(_Wrapper):
    """A cell placed on a device."""

    def __init__(self, cell, device, **kwargs):
        super().__init__(cell, **kwargs)
        self._device = device

    def call(self, inputs, state):
        """The output and the new state of the cell."""
        with tf.device(self._device):
            return self._cell(inputs, state)
