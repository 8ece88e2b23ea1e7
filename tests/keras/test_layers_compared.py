"""Layers, losses and printouts of models in programs that once gave other results than Keras 2."""

import numpy as np
import pytest
from side_by_side import compare, compare_failure, tensorflow, tf_keras

import runnel

GENERATOR = np.random.default_rng(0)
ROWS = GENERATOR.normal(size=(4, 5)).astype("float32")


def chain(tf, keras):
    layers = keras.layers
    name = "a_name_that_is_too_long_for_its_column"
    return keras.Sequential(
        [
            layers.InputLayer((8, 8, 3)),
            layers.Conv2D(4, 3, name=name),
            layers.BatchNormalization(trainable=False),
            layers.Flatten(),
            layers.Dense(1000),
        ]
    )


def nested(tf, keras):
    layers = keras.layers
    inner = keras.Sequential([layers.Dense(3), layers.ReLU()], name="inner")
    entry = keras.Input((5,), name="entry")
    middle = keras.Model(entry, layers.Dense(2)(inner(entry)), name="middle")
    outer = keras.Input((5,), name="outer")
    return keras.Model(outer, [middle(outer), layers.Dense(3)(outer)], name="model")


def nested_last(tf, keras):
    layers = keras.layers
    inner = keras.Sequential([layers.Dense(3), layers.Dense(12, name="x" * 40)], name="inner")
    middle = keras.Sequential([layers.Dense(2), inner], name="middle")
    return keras.Sequential([layers.InputLayer((5,)), layers.Dense(7), middle], name="model")


def branching(tf, keras):
    entry = keras.Input((5,), name="entry")
    part = tf.nn.relu(entry)[:, 1:4]
    return keras.Model(entry, tf.concat([part, -part], -1), name="model")


def several_outputs(tf, keras):
    entry = keras.Input((5, 3), name="entry")
    outputs = keras.layers.LSTM(4, return_state=True, return_sequences=True)(entry)
    return keras.Model(entry, outputs, name="model")


def called_elsewhere(tf, keras):
    layer = keras.layers.Dense(2)
    layer(keras.Input((5,), name="other"))
    entry = keras.Input((5,), name="entry")
    return keras.Model(entry, layer(entry), name="model")


def with_unused(tf, keras):
    class Inner(keras.Model):
        def __init__(self):
            super().__init__(name="inner")
            self.unused = keras.layers.Dense(2)
            self.used = keras.layers.Dense(2)

        def call(self, x):
            return self.used(x)

    return keras.Sequential([keras.layers.InputLayer((5,)), Inner()], name="model")


MODELS = (chain, nested, nested_last, branching, several_outputs, called_elsewhere, with_unused)
OPTIONS = ({}, {"expand_nested": True, "show_trainable": True})
NARROW = (
    {"line_length": 50, "expand_nested": True},
    {"positions": [0.2, 0.5, 0.7, 1.0], "show_trainable": True},
)
SUMMARIES = [
    *((make, options) for make in MODELS for options in OPTIONS),
    *((make, options) for make in (chain, nested_last, with_unused) for options in NARROW),
]


def printed(tf, keras, make, **options):
    keras.backend.clear_session()
    lines = []
    make(tf, keras).summary(print_fn=lines.append, **options)
    return lines


@pytest.mark.parametrize(("make", "options"), SUMMARIES)
def test_summaries(make, options):
    wanted = printed(tensorflow, tf_keras, make, **options)
    assert printed(runnel, runnel.keras, make, **options) == wanted


@pytest.mark.parametrize(
    "names", [["flatten", "dense"], ["dense", "flatten"], ["a_n.*", "batch.*"], [".*", "flatten"]]
)
def test_parts_of_summaries(names):
    wanted = printed(tensorflow, tf_keras, chain, layer_range=names)
    assert printed(runnel, runnel.keras, chain, layer_range=names) == wanted


@pytest.mark.parametrize("names", [["nothing", "dense"], ["dense"]])
def test_parts_that_are_not_there(names):
    compare_failure(lambda tf, keras: printed(tf, keras, chain, layer_range=names))


def test_attributes_that_are_overwritten_are_tracked_no_more():
    def names(tf, keras):
        class Replaced(keras.layers.Layer):
            def __init__(self):
                super().__init__(name="replaced")
                self.first = keras.layers.Dense(4, name="first")
                self.kept = keras.layers.Dense(5, name="kept")
                self.again = self.kept
                self.gone = keras.layers.Dense(2, name="gone")
                self.gone.build((None, 5))
                self.number = tf.Variable(1.0)
                self.first, self.gone, self.number, self.again = (
                    keras.layers.Dense(3, name="second"),
                    None,
                    2.0,
                    None,
                )

            def call(self, x):
                return self.first(self.kept(x))

        layer = Replaced()
        layer(tf.constant(ROWS))
        return [weight.name for weight in layer.weights], len(layer.submodules)

    compare(names)


def test_weights_of_a_sequence_of_layers_inside_of_a_model():
    def names(tf, keras):
        class Outer(keras.Model):
            def __init__(self):
                super().__init__(name="outer")
                self.first = keras.layers.Dense(4, name="first")
                self.stack = keras.Sequential(
                    [keras.layers.Dense(3, name="second"), keras.layers.ReLU()], name="stack"
                )

            def call(self, x):
                return self.stack(self.first(x))

        eager, traced = Outer(), Outer()
        eager(tf.constant(ROWS))
        tf.function(traced)(tf.constant(ROWS))
        return [weight.name for model in (eager, traced) for weight in model.weights]

    compare(names)


def test_layers_that_make_no_graph_run_one_after_the_other():
    def outputs(tf, keras):
        class Counted(keras.layers.Layer):
            def call(self, x):
                return tf.ones([2, 3]) * float(tf.reduce_sum(tf.ones_like(x)).numpy())

        return keras.Sequential([Counted()])(tf.constant(ROWS))

    compare(outputs)


def test_names_are_texts():
    compare_failure(lambda tf, keras: keras.layers.Dense(2, name=3))


@pytest.mark.parametrize("shape", [(2, 3, 5), (2, 2, 3, 5)])
def test_attention_masks_of_numpy(shape):
    mask = np.random.default_rng(3).random(shape) > 0.4

    def outputs(tf, keras):
        keras.utils.set_random_seed(1)
        query = tf.constant(np.random.default_rng(1).normal(size=(2, 3, 4)), tf.float32)
        value = tf.constant(np.random.default_rng(2).normal(size=(2, 5, 4)), tf.float32)
        layer = keras.layers.MultiHeadAttention(2, 3)
        return layer(query, value, attention_mask=mask, return_attention_scores=True)

    compare(outputs, tolerance=1e-5)


def test_masks_set_by_hand(monkeypatch):
    # As in a program in which no layer makes masks.
    monkeypatch.setattr(runnel.keras.engine.masking.state, "in_use", False)

    def outputs(tf, keras):
        values = tf.constant(ROWS)
        values._keras_mask = tf.constant([True, False, True, True])
        steps = tf.constant(np.ones((2, 3, 4), "float32"))
        steps._keras_mask = tf.constant([[True, True, False], [True, False, False]])
        loss = keras.losses.MeanSquaredError()(tf.zeros([4, 5]), values)
        keras.utils.set_random_seed(1)
        return loss, keras.layers.GlobalAveragePooling1D()(steps), keras.layers.LSTM(2)(steps)

    compare(outputs, tolerance=1e-5)


def test_focal_losses_of_numbers_that_are_no_probabilities():
    def outputs(tf, keras):
        labels = (ROWS > 0).astype("float32")
        return keras.losses.BinaryFocalCrossentropy(reduction="none")(labels, ROWS[::-1] * 9)

    compare(outputs, tolerance=1e-5)


@pytest.mark.parametrize("mode", ["int", "one_hot", "multi_hot", "count"])
def test_one_token_without_place_for_unknown_ones(mode):
    def outputs(tf, keras):
        words = keras.layers.StringLookup(
            vocabulary=["a", "b"], num_oov_indices=0, output_mode=mode
        )
        return words(tf.constant("b"))

    compare(outputs)


def test_a_saved_model_with_given_words(tmp_path):
    keras = tf_keras
    words = keras.layers.TextVectorization(vocabulary=["a", "b", "c"], output_sequence_length=4)
    entry = keras.Input((1,), dtype="string")
    numbers = keras.layers.Embedding(6, 3, mask_zero=True)(words(entry))
    model = keras.Model(entry, keras.layers.GlobalAveragePooling1D()(numbers))
    model.save(tmp_path / "model", save_format="tf")
    texts = np.array([["a b"], ["c unknown a"]])
    loaded = runnel.keras.models.load_model(tmp_path / "model")
    np.testing.assert_allclose(
        loaded.predict(texts, verbose=0), model.predict(texts, verbose=0), rtol=1e-6
    )
