"""Cells, RNN, SimpleRNN, LSTM, GRU, Bidirectional, TimeDistributed, ConvLSTM, as in Keras 2."""

import inspect
import itertools

import numpy as np
import pytest
from layer_check import layer_check as plain_check, plain, random_weights
from side_by_side import assert_alike, compare, compare_failure, tensorflow, tf_keras

import runnel

SEQUENCE = (2, 4, 3)
VALUES = np.random.default_rng(5).normal(size=SEQUENCE).astype(np.float32)
STATE = np.random.default_rng(6).normal(size=(2, 2)).astype(np.float32)
MASK = np.array([[True, False, True, False], [False, True, True, True]])
NAMES = ["SimpleRNN", "LSTM", "GRU"]
OPTIONS = {
    "kernel_regularizer": "l2",
    "recurrent_regularizer": "l1",
    "bias_regularizer": "l2",
    "activity_regularizer": "l2",
    "kernel_constraint": "max_norm",
    "recurrent_constraint": "non_neg",
    "bias_constraint": "unit_norm",
    "kernel_initializer": "he_normal",
    "recurrent_initializer": "glorot_normal",
    "bias_initializer": "ones",
    "activation": "relu",
    "input_shape": (4, 3),
}


def layer_check(name, kwargs, shape):
    """As the plain one; static shapes by tuples, since recurrent layers take a list for several."""
    plain_check(name, kwargs, shape, symbolic=False)
    given = dict(kwargs(runnel, runnel.keras) if callable(kwargs) else kwargs)
    for batch in {shape[0], shape[0] if given.get("stateful") else None}:
        sizes = (shape[0], batch, *shape[2:]) if given.get("time_major") else (batch, *shape[1:])
        static = []
        for tf, keras in ((tensorflow, tf_keras), (runnel, runnel.keras)):
            given = dict(kwargs(tf, keras) if callable(kwargs) else kwargs)
            layer = getattr(keras.layers, name)(**given)
            output = layer(keras.Input(batch_shape=sizes, dtype=given.get("dtype")))
            computed = layer.compute_output_shape(sizes)
            static.append((tuple(output.shape), tuple(computed), output.dtype.name))
        assert static[1] == static[0]


def both(name, kwargs=None, build=VALUES, **call):
    """The layer in both libraries with the same weights; kwargs may be a function of keras."""
    made = []
    for tf, keras in ((tensorflow, tf_keras), (runnel, runnel.keras)):
        given = kwargs(keras) if callable(kwargs) else (kwargs or {})
        layer = getattr(keras.layers, name)(**{"name": "probe", **given})
        layer(tf.constant(build), **_tensors(tf, call))
        made.append(layer)
    values = random_weights(made[0])
    for layer in made:
        layer.set_weights(values)
    return made


def _tensors(tf, structure):
    if isinstance(structure, dict):
        return {key: _tensors(tf, value) for key, value in structure.items()}
    if isinstance(structure, list):
        return [_tensors(tf, each) for each in structure]
    return tf.constant(structure) if isinstance(structure, np.ndarray) else structure


def same_outputs(layers, inputs=VALUES, tolerance=1e-5, **call):
    """Outputs (in any structure) and gradients of both layers are alike; returns Runnel's."""
    results = []
    for tf, layer in zip((tensorflow, runnel), layers, strict=True):
        tensors = _tensors(tf, inputs)
        with tf.GradientTape() as tape:
            tape.watch(tensors)
            outputs = layer(tensors, **_tensors(tf, call))
            total = tf.add_n([tf.reduce_sum(each**2) for each in tf.nest.flatten(outputs)])
        slopes = tape.gradient(total, [tensors, *layer.trainable_weights])
        results.append((outputs, slopes))
    (want, want_slopes), (got, slopes) = results
    assert_alike(plain(want), plain(got), tolerance)
    assert_alike(plain(want_slopes), plain(slopes), 10 * tolerance)
    return got


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "kwargs",
    [
        {},
        {"return_sequences": True, "use_bias": False},
        {"go_backwards": True, "return_sequences": True},
        {"unroll": True, "activation": "sigmoid"},
        {"dtype": "float64"},
        OPTIONS,
    ],
)
def test_layers(name, kwargs):
    layer_check(name, {"units": 2, **kwargs}, SEQUENCE)


@pytest.mark.parametrize(
    ("name", "kwargs"),
    [
        ("LSTM", {"unit_forget_bias": False, "implementation": 1}),
        ("LSTM", {"recurrent_activation": "hard_sigmoid", "bias_initializer": "ones"}),
        ("LSTM", {"input_dim": 3, "input_length": 4}),
        ("LSTM", {"trainable": False}),
        ("GRU", {"reset_after": False}),
        ("GRU", {"reset_after": False, "use_bias": False, "implementation": 1}),
        ("GRU", {"recurrent_activation": "relu"}),
        ("SimpleRNN", {"zero_output_for_mask": True}),
    ],
)
def test_options_of_one_layer(name, kwargs):
    layer_check(name, {"units": 2, **kwargs}, SEQUENCE)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("return_sequences", [True, False])
def test_time_major(name, return_sequences):
    kwargs = {"units": 2, "time_major": True, "return_sequences": return_sequences}
    layers = both(name, {**kwargs, "return_state": True})
    same_outputs(layers)
    assert_alike(*[plain(layer.get_config()) for layer in layers])
    shapes = [
        [tuple(each) for each in layer.compute_output_shape((4, None, 3))] for layer in layers
    ]
    assert shapes[1] == shapes[0]


@pytest.mark.parametrize("policy", ["mixed_float16", "float16"])
@pytest.mark.parametrize("name", NAMES)
def test_low_precision(name, policy):
    ours = getattr(runnel.keras.layers, name)(2, dtype=policy)
    theirs = getattr(tf_keras.layers, name)(2, dtype=policy)
    want, got = theirs(VALUES), ours(VALUES)
    assert [w.dtype.name for w in ours.weights] == [w.dtype.name for w in theirs.weights]
    assert got.dtype.name == want.dtype.name == "float16"
    ours.set_weights(theirs.get_weights())
    np.testing.assert_allclose(ours(VALUES).numpy(), want.numpy(), atol=5e-3)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "kwargs",
    [
        {"return_sequences": True, "return_state": True},
        {"return_state": True, "go_backwards": True},
        {"return_sequences": True, "unroll": True},
        {"return_sequences": True, "zero_output_for_mask": True},
        {"zero_output_for_mask": True},
        {"return_sequences": True, "time_major": True},
    ],
)
def test_masks(name, kwargs):
    major = kwargs.get("time_major")
    values, mask = (VALUES.transpose(1, 0, 2), MASK.T) if major else (VALUES, MASK)
    layers = both(name, {"units": 2, **kwargs}, values)
    same_outputs(layers, values, mask=mask)


@pytest.mark.parametrize("name", NAMES)
def test_masks_travel(name):
    def run(tf, keras, values):
        layer = getattr(keras.layers, name)
        ones = {"kernel_initializer": "ones", "recurrent_initializer": "ones"}
        model = [
            keras.layers.Masking(),
            layer(2, return_sequences=True, **ones),
            layer(2, return_state=True, **ones),
        ]
        first = model[1](model[0](values))
        return first, first._keras_mask, list(model[2](first))

    compare(run, np.where(MASK[..., None], VALUES, 0), tolerance=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_initial_states(name):
    count = 2 if name == "LSTM" else 1
    layers = both(name, {"units": 2, "return_state": True})
    same_outputs(layers, initial_state=[STATE, 2 * STATE][:count])
    # States may follow the inputs in a list, and one state alone needs no list.
    given = [STATE, 2 * STATE][:count]
    assert_alike(
        plain(layers[0](_tensors(tensorflow, [VALUES, *given]))),
        layers[1](_tensors(runnel, [VALUES, *given])),
        1e-5,
    )
    if count == 1:
        same_outputs(layers, initial_state=STATE)


def test_initial_states_of_keras_tensors():
    outputs = []
    for tf, keras in ((tensorflow, tf_keras), (runnel, runnel.keras)):
        sequence, h, c = keras.Input((None, 3)), keras.Input((2,)), keras.Input((2,))
        layer = keras.layers.LSTM(2, return_state=True, return_sequences=True, name="lstm")
        results = layer(sequence, initial_state=[h, c])
        assert len(layer.input) == 3
        assert [tuple(each.shape) for each in results] == [(None, None, 2), (None, 2), (None, 2)]
        model = keras.Model([sequence, h, c], results)
        model.set_weights(random_weights(model))
        outputs.append(model(_tensors(tf, [VALUES, STATE, 2 * STATE])))
    assert_alike(plain(outputs[0]), outputs[1], 1e-5)


@pytest.mark.parametrize("name", [*NAMES, "ConvLSTM1D"])
def test_stateful(name):
    kwargs = {"filters": 2, "kernel_size": 2} if "Conv" in name else {"units": 2}
    values = np.stack([VALUES, VALUES], -1) if "Conv" in name else VALUES
    theirs, ours = both(name, {"stateful": True, **kwargs}, values)
    for layer in (theirs, ours):
        layer.reset_states()
    for _ in range(2):
        assert_alike(theirs(values), ours(values), 1e-5)
        assert_alike([s.numpy() for s in theirs.states], [s.numpy() for s in ours.states], 1e-5)
    assert [s.name for s in ours.states] == [s.name for s in theirs.states]
    given = [np.ones(tuple(s.shape), np.float32) for s in ours.states]
    # Given states do not count while a sequence goes on.
    call = [theirs(values, initial_state=_tensors(tensorflow, given))]
    call.append(ours(values, initial_state=_tensors(runnel, given)))
    assert_alike(*call, 1e-5)
    for layer in (theirs, ours):
        layer.reset_states(given)
    assert_alike(theirs(values), ours(values), 1e-5)
    ours.reset_states()
    assert all(not state.numpy().any() for state in ours.states)
    assert len(ours.weights) == len(theirs.weights) == 3


@pytest.mark.parametrize("name", ["SimpleRNNCell", "LSTMCell", "GRUCell"])
@pytest.mark.parametrize("listed", [True, False])
def test_cells(name, listed):
    def run(tf, keras, x):
        cell = getattr(keras.layers, name)(2, kernel_initializer="ones")
        states = cell.get_initial_state(batch_size=2, dtype=tf.float32)
        zeros = tf.nest.map_structure(tf.identity, states)
        if listed and not isinstance(states, list):
            states = [states]
        output, states = cell(x, states)
        output, states = cell(x, states)
        names = [weight.name.split("/")[-1] for weight in cell.weights]
        config = {**cell.get_config(), "name": ""}
        of_inputs = cell.get_initial_state(x)
        return zeros, output, states, names, config, cell.units, cell.output_size, of_inputs

    want = run(tensorflow, tf_keras, tensorflow.constant(VALUES[:, 0]))
    assert_alike(plain(want[4]), run(runnel, runnel.keras, runnel.constant(VALUES[:, 0]))[4])

    def step(tf, keras, x, h, weights):
        cell = getattr(keras.layers, name)(2)
        states = [h, 2 * h] if name == "LSTMCell" else [h] if listed else h
        cell(x, states)
        cell.set_weights(weights)
        return cell(x, states)

    cell = getattr(runnel.keras.layers, name)(2)
    cell.build((None, 3))
    compare(
        lambda tf, keras, x, h: step(tf, keras, x, h, random_weights(cell)),
        VALUES[:, 0],
        STATE,
        tolerance=1e-5,
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "kwargs",
    [
        {"dropout": 0.5},
        {"recurrent_dropout": 0.5},
        {"dropout": 0.3, "recurrent_dropout": 0.5},
        {"dropout": 0.5, "unroll": True},
        {"dropout": 0.5, "activation": "linear", "implementation": 1},
        {"dropout": 0.5, "use_bias": False, "return_sequences": True},
    ],
)
def test_dropout_draws_the_same_numbers(name, kwargs):
    theirs, ours = both(name, {"units": 2, **kwargs})
    outputs = []
    for tf, layer in ((tensorflow, theirs), (runnel, ours)):
        tf.random.set_seed(3)
        values = tf.constant(VALUES)
        outputs.append([layer(values, training=True), layer(values, training=True)])
        outputs[-1].append(layer(values))
    assert_alike(*outputs, 1e-5)
    assert not np.allclose(outputs[1][0], outputs[1][1])


@pytest.mark.parametrize("reset_after", [True, False])
def test_dropout_of_gru_without_reset_after(reset_after):
    kwargs = {"units": 2, "reset_after": reset_after, "recurrent_dropout": 0.5, "dropout": 0.2}
    theirs, ours = both("GRU", kwargs)
    outputs = []
    for tf, layer in ((tensorflow, theirs), (runnel, ours)):
        tf.random.set_seed(4)
        outputs.append(layer(tf.constant(VALUES), training=True))
    assert_alike(*outputs, 1e-5)


def test_a_cell_keeps_its_dropout_mask_until_reset():
    cell = runnel.keras.layers.LSTMCell(2, dropout=0.5, seed=1)
    states = cell.get_initial_state(batch_size=2, dtype="float32")
    x = runnel.ones([2, 30])
    first = cell(x, states, training=True)[0].numpy()
    np.testing.assert_array_equal(cell(x, states, training=True)[0].numpy(), first)
    assert not np.allclose(cell(x, states)[0].numpy(), first)
    cell.reset_dropout_mask()
    assert not np.allclose(cell(x, states, training=True)[0].numpy(), first)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_weights(name):
    def weights(tf, keras):
        keras.utils.set_random_seed(5)
        layer = getattr(keras.layers, name)(3)
        layer(tf.zeros(SEQUENCE))
        return layer.get_weights()

    want = weights(tensorflow, tf_keras)
    for one, other in zip(want, weights(runnel, runnel.keras), strict=True):
        np.testing.assert_allclose(other, one, atol=1e-5)


class TestRNN:
    @pytest.mark.parametrize("kwargs", [{}, {"return_sequences": True, "go_backwards": True}])
    def test_layer(self, kwargs):
        layer_check(
            "RNN", lambda tf, keras: {"cell": keras.layers.GRUCell(2, name="c"), **kwargs}, SEQUENCE
        )
        layer_check("RNN", lambda tf, keras: {"cell": _stack(keras), **kwargs}, SEQUENCE)

    def test_stacked_states(self):
        layers = both("RNN", lambda keras: {"cell": _stack(keras), "return_state": True})
        same_outputs(layers)
        same_outputs(layers, mask=MASK)
        same_outputs(layers, initial_state=[[STATE, STATE], np.ones((2, 3), np.float32)])
        want, got = (layer.compute_output_shape((None, 4, 3)) for layer in layers)
        assert_alike(plain(want), got)

    def test_cell_of_the_user(self):
        def run(tf, keras, x, more):
            class Sum(keras.layers.AbstractRNNCell):
                @property
                def state_size(self):
                    return [3, 3]

                @property
                def output_size(self):
                    return 3

                def build(self, input_shape):
                    self.factor = self.add_weight(
                        name="factor", shape=[input_shape[-1]], initializer="ones"
                    )

                def call(self, inputs, states, constants=None, training=None):
                    total = states[0] + inputs * self.factor
                    if constants is not None:
                        total += constants[0]
                    return total * (2.0 if training else 1.0), [total, states[1] + 1]

            layer = keras.layers.RNN(
                Sum(name="sum"), return_sequences=True, return_state=True, name="r"
            )
            results = [layer(x), layer(x, constants=more), layer(x, training=True)]
            assert [w.name for w in layer.weights] == ["r/sum/factor:0"]
            return results, layer.get_config()["num_constants"]

        compare(run, VALUES, VALUES[:, 0], tolerance=1e-5)

    def test_plain_object_as_cell(self):
        class Last:
            state_size = 3

            def call(self, inputs, states):
                return inputs + states[0], [inputs]

        layer = runnel.keras.layers.RNN(Last())
        np.testing.assert_allclose(layer(VALUES).numpy(), VALUES[:, 3] + VALUES[:, 2], rtol=1e-6)

    def test_structure_of_inputs(self):
        def run(tf, keras, x):
            class Pair(keras.layers.Layer):
                state_size = output_size = 3

                def call(self, inputs, states):
                    a, b = inputs
                    return a * b + states[0], [a]

            return keras.layers.RNN(Pair())((x, x))

        compare(run, VALUES, tolerance=1e-5)

    def test_functional_model_of_any_length(self):
        inputs = runnel.keras.Input((None, 3))
        sequence = runnel.keras.layers.RNN(_stack(runnel.keras), return_sequences=True)(inputs)
        assert tuple(sequence.shape) == (None, None, 3)
        model = runnel.keras.Model(inputs, runnel.keras.layers.GRU(2)(sequence))
        assert model.predict(VALUES, verbose=0).shape == (2, 2)
        assert model.predict(VALUES[:, :2], verbose=0).shape == (2, 2)

    def test_dropout_of_stacked_cells(self):
        def cells(keras):
            make = keras.layers.LSTMCell
            return {"cell": [make(2, dropout=0.5, name="a"), make(2, dropout=0.5, name="b")]}

        layers = both("RNN", cells)
        outputs = []
        for tf, layer in zip((tensorflow, runnel), layers, strict=True):
            tf.random.set_seed(3)
            outputs.append([layer(tf.constant(VALUES), training=True) for _ in range(2)])
        assert_alike(*outputs, 1e-5)


def _stack(keras):
    cells = [keras.layers.LSTMCell(2, name="one"), keras.layers.GRUCell(3, name="two")]
    return keras.layers.StackedRNNCells(cells, name="stack")


class TestBidirectional:
    @pytest.mark.parametrize("merge_mode", ["concat", "sum", "mul", "ave"])
    @pytest.mark.parametrize("return_sequences", [True, False])
    def test_layer(self, merge_mode, return_sequences):
        def arguments(tf, keras):
            layer = keras.layers.LSTM(2, return_sequences=return_sequences, name="inner")
            return {"layer": layer, "merge_mode": merge_mode}

        layer_check("Bidirectional", arguments, SEQUENCE)

    def test_backward_layer(self):
        def arguments(tf, keras):
            back = keras.layers.SimpleRNN(2, go_backwards=True, name="back")
            return {"layer": keras.layers.GRU(2, name="inner"), "backward_layer": back}

        layer_check("Bidirectional", arguments, SEQUENCE)

    @pytest.mark.parametrize("merge_mode", ["concat", None])
    def test_states_and_masks(self, merge_mode):
        def arguments(keras):
            layer = keras.layers.LSTM(2, return_sequences=True, return_state=True, name="inner")
            return {"layer": layer, "merge_mode": merge_mode}

        layers = both("Bidirectional", arguments)
        same_outputs(layers)
        same_outputs(layers, mask=MASK)
        same_outputs(layers, initial_state=[STATE, 2 * STATE, STATE, -STATE])
        shapes = [plain(layer.compute_output_shape((None, None, 3))) for layer in layers]
        assert [[tuple(s) for s in each] for each in shapes][1] == [tuple(s) for s in shapes[0]]
        masks = [
            layer.compute_mask(tf.constant(VALUES), tf.constant(MASK))
            for tf, layer in zip((tensorflow, runnel), layers, strict=True)
        ]
        assert_alike(*masks)

    def test_stateful(self):
        def arguments(keras):
            return {"layer": keras.layers.GRU(2, stateful=True, name="inner")}

        theirs, ours = both("Bidirectional", arguments)
        for layer in (theirs, ours):
            layer.reset_states()
        assert ours.stateful
        assert_alike([theirs(VALUES), theirs(VALUES)], [ours(VALUES), ours(VALUES)], 1e-5)

    def test_weights_argument(self):
        pattern = runnel.keras.layers.GRU(2)
        values = random_weights(both("Bidirectional", lambda k: {"layer": k.layers.GRU(2)})[1])
        layer = runnel.keras.layers.Bidirectional(pattern, weights=values)
        layer(VALUES)
        np.testing.assert_array_equal(layer.get_weights()[4], values[4])
        assert not pattern.built

    def test_initial_state_of_keras_tensors(self):
        for keras in (tf_keras, runnel.keras):
            sequence, one, two = keras.Input((4, 3)), keras.Input((2,)), keras.Input((2,))
            layer = keras.layers.Bidirectional(keras.layers.GRU(2))
            output = layer(sequence, initial_state=[one, two])
            assert tuple(output.shape) == (None, 4)
            assert len(layer.input) == 3
        model = keras.Model([sequence, one, two], output)
        assert tuple(model(_tensors(runnel, [VALUES, STATE, STATE])).shape) == (2, 4)


class TestTimeDistributed:
    @pytest.mark.parametrize(
        ("layer", "kwargs", "inputs"),
        [
            ("Dense", {"units": 2}, SEQUENCE),
            ("Conv1D", {"filters": 2, "kernel_size": 2}, (2, 3, 4, 2)),
            ("LSTM", {"units": 2}, (2, 3, 4, 2)),
            ("Dropout", {"rate": 0.5}, SEQUENCE),
            ("Flatten", {}, (2, 3, 4, 2)),
        ],
    )
    def test_layer(self, layer, kwargs, inputs):
        def arguments(tf, keras):
            return {"layer": getattr(keras.layers, layer)(**kwargs, name="inner")}

        layer_check("TimeDistributed", arguments, inputs)

    def test_layer_of_the_user_is_called_step_by_step(self):
        def run(tf, keras, x):
            class Shape(keras.layers.Layer):
                def call(self, inputs):
                    return inputs * float(inputs.shape[0])

                def compute_output_shape(self, input_shape):
                    return input_shape

            return keras.layers.TimeDistributed(Shape())(x)

        compare(run, VALUES)

    def test_masks(self):
        def run(tf, keras, x, mask, numbers):
            wrap = keras.layers.TimeDistributed
            embedding = wrap(keras.layers.Embedding(5, 2, mask_zero=True))(numbers)
            return (
                wrap(keras.layers.Dense(2)).compute_mask(x, mask),
                wrap(keras.layers.Masking()).compute_mask(x, None),
                embedding._keras_mask,
                wrap(keras.layers.Dense(2)).compute_mask(x, None),
            )

        compare(run, VALUES, MASK, np.array([[[1, 0], [2, 3]]]))

    def test_inner_recurrent_layer_gets_its_mask(self):
        def run(tf, keras, numbers):
            embed = keras.layers.Embedding(5, 2, mask_zero=True, embeddings_initializer="ones")
            inner = keras.layers.SimpleRNN(2, kernel_initializer="ones")
            return keras.layers.TimeDistributed(inner)(keras.layers.TimeDistributed(embed)(numbers))

        got = runnel.constant([[[1, 2, 0], [3, 0, 0]]])
        embedded = run(runnel, runnel.keras, got)
        assert tuple(embedded.shape) == (1, 2, 2)

    def test_unknown_sizes(self):
        for keras in (tf_keras, runnel.keras):
            inputs = keras.Input((None, 3))
            output = keras.layers.TimeDistributed(keras.layers.Dense(2))(inputs)
            assert tuple(output.shape) == (None, None, 2)


@pytest.mark.parametrize(
    ("name", "kwargs", "shape"),
    [
        ("ConvLSTM1D", {}, (2, 3, 5, 2)),
        ("ConvLSTM1D", {"padding": "same", "strides": 2, "return_sequences": True}, (2, 3, 5, 2)),
        ("ConvLSTM1D", {"use_bias": False, "go_backwards": True}, (2, 3, 5, 2)),
        ("ConvLSTM1D", {"dilation_rate": 2, "unit_forget_bias": False}, (2, 3, 5, 2)),
        ("ConvLSTM2D", {}, (2, 3, 4, 5, 2)),
        ("ConvLSTM2D", {"recurrent_activation": "sigmoid", "kernel_size": (2, 3)}, (2, 3, 4, 5, 2)),
        ("ConvLSTM3D", {}, (1, 2, 3, 4, 3, 2)),
        (
            "ConvLSTM1D",
            {key: value for key, value in OPTIONS.items() if key != "input_shape"},
            (2, 3, 5, 2),
        ),
    ],
)
def test_conv_lstm(name, kwargs, shape):
    layer_check(name, {"filters": 2, "kernel_size": 2, **kwargs}, shape)


def test_conv_lstm_states_masks_and_dropout():
    values = np.random.default_rng(2).normal(size=(2, 4, 5, 2)).astype(np.float32)
    kwargs = {"filters": 2, "kernel_size": 2, "return_sequences": True, "return_state": True}
    layers = both("ConvLSTM1D", kwargs, values)
    same_outputs(layers, values)
    same_outputs(layers, values, mask=MASK)
    state = np.ones((2, 4, 2), np.float32)
    same_outputs(layers, values, initial_state=[state, 2 * state])
    outputs = []
    for tf, keras in ((tensorflow, tf_keras), (runnel, runnel.keras)):
        layer = keras.layers.ConvLSTM1D(**kwargs, dropout=0.5, recurrent_dropout=0.3)
        # Built, not called: the original never forgets the masks of its first call.
        layer.build(values.shape)
        layer.set_weights(random_weights(layer))
        tf.random.set_seed(3)
        outputs.append(plain(layer(tf.constant(values), training=True)))
    assert_alike(*outputs, 1e-5)
    again = layer(runnel.constant(values), training=True)[0]
    assert not np.allclose(again, outputs[1][0])
    assert not np.allclose(layer(runnel.constant(values))[0], again)


def test_conv_lstm_channels_first():
    values = np.random.default_rng(2).normal(size=(2, 3, 5, 4, 2)).astype(np.float32)
    kwargs = {"filters": 2, "kernel_size": 2, "return_sequences": True, "return_state": True}
    last = runnel.keras.layers.ConvLSTM2D(**kwargs, data_format="channels_last")
    first = runnel.keras.layers.ConvLSTM2D(**kwargs, data_format="channels_first")
    want = last(values)
    moved = np.moveaxis(values, -1, 2)
    first(moved)
    first.set_weights(last.get_weights())
    for one, other in zip(want, first(moved), strict=True):
        axis = 2 if one.shape.rank == 5 else 1
        np.testing.assert_allclose(np.moveaxis(one.numpy(), -1, axis), other.numpy(), atol=1e-6)
    theirs = tf_keras.layers.ConvLSTM2D(**kwargs, data_format="channels_first")
    shapes = [layer.compute_output_shape((None, None, 2, 5, 4)) for layer in (theirs, first)]
    assert [tuple(s) for s in shapes[1]] == [tuple(s) for s in shapes[0]]


def test_conv_lstm_of_unknown_size():
    for keras in (tf_keras, runnel.keras):
        inputs = keras.Input((None, None, None, 3))
        outputs = keras.layers.ConvLSTM2D(2, 3, return_sequences=True, return_state=True)(inputs)
        assert tuple(outputs[0].shape)[-1] == 2
        assert [each.shape.rank for each in outputs] == [5, 4, 4]


@pytest.mark.parametrize(
    "make",
    [
        lambda tf, k, x: k.layers.LSTM(0),
        lambda tf, k, x: k.layers.GRUCell(-1),
        lambda tf, k, x: k.layers.RNN(k.layers.Dense(2)),
        lambda tf, k, x: k.layers.RNN(3),
        lambda tf, k, x: k.layers.StackedRNNCells([k.layers.Dense(2)]),
        lambda tf, k, x: k.layers.StackedRNNCells([3]),
        lambda tf, k, x: k.layers.LSTM(2)(x[0]),
        lambda tf, k, x: k.layers.LSTM(2)(x, initial_state=tf.zeros([2, 2])),
        lambda tf, k, x: k.layers.LSTM(2)(x, initial_state=[tf.zeros([2, 2])] * 3),
        lambda tf, k, x: k.layers.LSTM(2)(x, initial_state=[tf.zeros([2, 3])] * 2),
        lambda tf, k, x: k.layers.LSTM(2).reset_states(),
        lambda tf, k, x: k.layers.LSTM(2, stateful=True).reset_states(),
        lambda tf, k, x: k.layers.LSTM(2, stateful=True)(k.Input((4, 3))),
        lambda tf, k, x: _called(k.layers.LSTM(2, stateful=True), x).reset_states([x]),
        lambda tf, k, x: _called(k.layers.LSTM(2, stateful=True), x).reset_states([x, x]),
        lambda tf, k, x: _called(k.layers.LSTM(2, stateful=True), x)(x[:1]),
        lambda tf, k, x: _called(k.layers.GRU(2), x)(x[:, :, :1]),
        lambda tf, k, x: k.layers.GRU(2)(x[:, :0]),
        lambda tf, k, x: k.layers.GRU(2, unroll=True)(x[:, :0]),
        lambda tf, k, x: k.layers.GRU(2, unroll=True)(k.Input((None, 3))),
        lambda tf, k, x: k.layers.RNN(k.layers.GRUCell(2))(x, constants=x[:, 0]),
        lambda tf, k, x: k.layers.GRU(2)(
            k.Input((4, 3)), initial_state=[k.Input((2,)), tf.zeros([2])]
        ),
        lambda tf, k, x: k.layers.LSTMCell(2).get_initial_state(),
        lambda tf, k, x: k.layers.LSTMCell(2).get_initial_state(batch_size=2),
        lambda tf, k, x: k.layers.AbstractRNNCell().state_size,
        lambda tf, k, x: k.layers.AbstractRNNCell().output_size,
        lambda tf, k, x: k.layers.AbstractRNNCell()(x, [x]),
        lambda tf, k, x: k.layers.GRU(2, seeds=3),
        lambda tf, k, x: k.layers.SimpleRNN(2, seed=3),
        lambda tf, k, x: k.layers.Bidirectional(3),
        lambda tf, k, x: k.layers.Bidirectional(k.layers.GRU(2), backward_layer=3),
        lambda tf, k, x: k.layers.Bidirectional(k.layers.GRU(2), merge_mode="max"),
        lambda tf, k, x: k.layers.Bidirectional(k.layers.GRU(2), backward_layer=k.layers.GRU(2)),
        lambda tf, k, x: k.layers.Bidirectional(
            k.layers.GRU(2), backward_layer=k.layers.GRU(2, go_backwards=True, stateful=True)
        ),
        lambda tf, k, x: k.layers.Bidirectional(k.layers.GRU(2))(
            x, initial_state=[tf.zeros([2, 2])]
        ),
        lambda tf, k, x: k.layers.TimeDistributed(3),
        lambda tf, k, x: k.layers.TimeDistributed(k.layers.Dense(2))(x[0]),
        lambda tf, k, x: k.layers.TimeDistributed(k.layers.Dense(2))(k.Input((None, None))),
        lambda tf, k, x: k.layers.ConvLSTM2D(2, 3, unroll=True),
        lambda tf, k, x: k.layers.ConvLSTM2D(2, 3)(x),
        lambda tf, k, x: k.layers.ConvLSTM1D(2, 3)(k.Input((4, 5, None))),
    ],
)
def test_failures(make):
    compare_failure(make, VALUES)


def _called(layer, x):
    layer(x)
    return layer


@pytest.mark.parametrize(
    "name",
    [
        *(*NAMES, "SimpleRNNCell", "LSTMCell", "GRUCell", "StackedRNNCells", "AbstractRNNCell"),
        *("RNN", "Bidirectional", "TimeDistributed", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"),
    ],
)
def test_signatures(name):
    for method in ("__init__", "call", "compute_mask", "compute_output_shape"):
        wanted, got = (
            inspect.signature(getattr(getattr(keras.layers, name), method))
            for keras in (tf_keras, runnel.keras)
        )
        described = [
            [(p.name, p.kind, p.default) for p in list(signature.parameters.values())[1:]]
            for signature in (wanted, got)
        ]
        assert described[1] == described[0], method


def test_training_follows_the_original():
    values = np.random.default_rng(8).normal(size=(16, 5, 3)).astype(np.float32)
    labels = values.sum((1, 2))[:, None] > 0
    losses = []
    for tf, keras in ((tensorflow, tf_keras), (runnel, runnel.keras)):
        keras.utils.set_random_seed(1)
        model = keras.Sequential(
            [
                keras.layers.Bidirectional(keras.layers.LSTM(4, return_sequences=True)),
                keras.layers.GRU(4),
                keras.layers.Dense(1),
            ]
        )
        optimizer = keras.optimizers.Adam(0.05)
        loss_function = keras.losses.BinaryCrossentropy(from_logits=True)
        losses.append([])
        for _ in range(20):
            with tf.GradientTape() as tape:
                loss = loss_function(labels.astype(np.float32), model(values))
            slopes = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(slopes, model.trainable_variables, strict=True))
            losses[-1].append(float(loss))
    np.testing.assert_allclose(losses[1], losses[0], atol=1e-3)
    assert losses[1][-1] < 0.5 * losses[1][0]


def test_states_given_to_both_directions():
    def states(tf, keras, x):
        layer = keras.layers.Bidirectional(keras.layers.LSTM(2, stateful=True))
        layer(x)
        layer.reset_states([np.full((2, 2), i, np.float32) for i in range(4)])
        return [tf.identity(s) for each in ("forward", "backward")
                for s in getattr(layer, f"{each}_layer").states]  # fmt: skip

    compare(states, VALUES)

    def reset(given):
        return lambda tf, keras, x: _called(
            keras.layers.Bidirectional(keras.layers.GRU(2, stateful=True)), x
        ).reset_states(given)

    compare_failure(reset(STATE), VALUES)
    compare_failure(reset([STATE] * 3), VALUES)


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("SimpleRNN", "activation"),
        *itertools.product(
            ["LSTM", "GRU", "LSTMCell", "GRUCell"], ["activation", "recurrent_activation"]
        ),
    ],
)
def test_a_function_of_the_users_with_a_known_name_is_called(name, argument):
    def program(tf, keras, x):
        def tanh(x):
            return 0.5 * x

        def sigmoid(x):
            return 0.25 * x

        own = tanh if argument == "activation" else sigmoid
        layer = getattr(keras.layers, name)(2, **{argument: own})
        states = [tf.ones([2, 2])] * (2 if name == "LSTMCell" else 1)
        given = (x[:, 0], states) if name.endswith("Cell") else (x,)
        layer(*given)
        layer.set_weights(random_weights(layer))
        return layer(*given)

    compare(program, VALUES)
