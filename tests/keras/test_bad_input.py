"""What goes wrong in programs: the same exceptions as tf_keras, with messages that help."""

import os
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
from side_by_side import compare, compare_failure

import runnel

X = np.ones((8, 4), "float32")
Y = np.ones((8, 1), "float32")


def model(keras, **compiled):
    stack = keras.Sequential([keras.layers.Dense(1, input_shape=(4,))])
    if compiled:
        stack.compile(**compiled)
    return stack


def trained(keras, x=X, y=Y, fit=None, **compiled):
    compiled = {"optimizer": "sgd", "loss": "mse", **compiled}
    return model(keras, **compiled).fit(x, y, verbose=0, **(fit or {}))


def unbuilt(keras):
    return keras.Sequential([keras.layers.Dense(2)])


def called_on(name, shape, **kwargs):
    return lambda tf, k: getattr(k.layers, name)(**kwargs)(tf.ones(shape))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (called_on("Dense", [], units=2), "expected min_ndim=2, found ndim=0"),
        (called_on("Dense", [3], units=2), "expected min_ndim=2, found ndim=1"),
        (called_on("Conv1D", [3, 4], filters=2, kernel_size=3), "found ndim=2"),
        (
            called_on("Conv2D", [3, 4, 5], filters=2, kernel_size=3),
            "Full shape received: (3, 4, 5)",
        ),
        (called_on("Conv2DTranspose", [3, 4, 5], filters=2, kernel_size=3), "(3, 4, 5)"),
        (called_on("SeparableConv2D", [3, 4, 5], filters=2, kernel_size=3), "(3, 4, 5)"),
        (called_on("LSTM", [3, 4], units=2), "expected ndim=3, found ndim=2"),
        (called_on("SimpleRNN", [3, 4, 5, 6], units=2), "expected ndim=3, found ndim=4"),
        (called_on("MaxPooling2D", [3, 4, 5]), "expected ndim=4, found ndim=3"),
        (called_on("GlobalAveragePooling2D", [3, 4, 5]), "found ndim=3"),
        (called_on("ZeroPadding2D", [3, 4, 5]), "found ndim=3"),
        (called_on("RepeatVector", [3, 4, 5], n=2), "found ndim=3"),
        (called_on("Add", [2, 3]), "list of inputs"),
        (lambda tf, k: k.layers.Dense(2)(k.Input([None])), "should be defined"),
        (lambda tf, k: k.layers.Dense(2)("text"), "Inputs to a layer should be tensors"),
        (lambda tf, k: k.layers.Dense(2)(None), "Inputs to a layer should be tensors"),
        (lambda tf, k: k.layers.Dense(2)(), "must always be passed"),
        (lambda tf, k: k.layers.Add()([tf.ones([2, 3]), tf.ones([2, 4])]), "(3,) and (4,)"),
        (lambda tf, k: k.layers.Concatenate(1)([tf.ones([2, 3]), tf.ones([3, 4])]), "(3, 4)"),
        (lambda tf, k: k.layers.Reshape([5])(tf.ones([2, 4])), "8 values"),
        (lambda tf, k: k.layers.Embedding(3, 2)(tf.constant([[5]])), "5 is not in [0, 3)"),
        (lambda tf, k: model(k)(tf.ones([2, 5])), "incompatible with the layer"),
        (lambda tf, k: model(k).predict(np.ones((8, 5)), verbose=0), "incompatible with the layer"),
    ],
)
def test_inputs_that_a_layer_cannot_take(call, message):
    compare_failure(call, message=message)


@pytest.mark.parametrize("name", ["Dense", "BatchNormalization", "Conv1D", "GRU"])
def test_other_sizes_than_the_layer_was_built_for(name):
    kwargs = {
        "Dense": {"units": 2},
        "GRU": {"units": 2},
        "Conv1D": {"filters": 1, "kernel_size": 1},
    }

    def call_twice(tf, keras):
        layer = getattr(keras.layers, name)(**kwargs.get(name, {}))
        layer(tf.ones([2, 3, 4]))
        return layer(tf.ones([2, 3, 5]))

    compare_failure(call_twice, message="incompatible with the layer")


@pytest.mark.parametrize(
    "ask",
    [
        lambda m: m.weights,
        lambda m: m.trainable_weights,
        lambda m: m.non_trainable_weights,
        lambda m: m.get_weights(),
        lambda m: m.summary(),
        lambda m: m.count_params(),
        lambda m: m.input,
        lambda m: m.output_shape,
        lambda m: m.save_weights("weights.h5"),
    ],
)
def test_an_unbuilt_model_asked_for_what_it_has_not(ask, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    compare_failure(lambda tf, k: ask(unbuilt(k)))
    assert not os.listdir(tmp_path)


def test_unbuilt_subclassed_models_have_no_weights_yet():
    def asked(tf, keras):
        class Line(keras.Model):
            def __init__(self):
                super().__init__()
                self.dense = keras.layers.Dense(1)

            def call(self, inputs):
                return self.dense(inputs)

        return Line().weights, Line().get_weights(), Line()

    compare(lambda tf, k: asked(tf, k)[:2])
    compare_failure(lambda tf, k: asked(tf, k)[2].summary())
    compare_failure(lambda tf, k: asked(tf, k)[2].count_params())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda tf, k: model(k).fit(X, Y), "must compile your model"),
        (lambda tf, k: model(k).evaluate(X, Y), "must compile your model"),
        (lambda tf, k: model(k).train_on_batch(X, Y), "must compile your model"),
        (lambda tf, k: trained(k, loss=None), "No loss found"),
        (lambda tf, k: model(k, optimizer="sgd").train_on_batch(X, Y), "No loss found"),
        (lambda tf, k: trained(k, y=None), "Target data is missing"),
        (lambda tf, k: trained(k, loss={"nothing": "mse"}), "nothing"),
        (lambda tf, k: trained(k, loss_weights={"nothing": 1.0}), "nothing"),
        (lambda tf, k: trained(k, y=np.ones((8, 3, 2), "float32")), ""),
        (lambda tf, k: trained(k, x=np.ones((8, 5), "float32")), "incompatible with the layer"),
        (lambda tf, k: model(k, optimizer="sgd", losses="mse"), "losses"),
    ],
)
def test_training_that_lacks_something(call, message):
    compare_failure(call, message=message)


@pytest.mark.parametrize(
    ("call", "nearest"),
    [
        (lambda tf, k: trained(k, loss="mean_square_error"), "mean_squared_error"),
        (lambda tf, k: k.losses.get("binary_crossentropi"), "binary_crossentropy"),
        (lambda tf, k: model(k, optimizer="adm"), "adam"),
        (lambda tf, k: k.layers.Dense(1, activation="rellu"), "relu"),
        (lambda tf, k: k.layers.Dense(1, kernel_initializer="glorot_unifrom"), "glorot_uniform"),
        (lambda tf, k: k.layers.Dense(1, kernel_constraint="max_nrm"), "max_norm"),
    ],
)
def test_unknown_names_bring_the_nearest_known_one(call, nearest):
    error = compare_failure(call, message="Did you mean")
    assert f"'{nearest}'" in str(error)


def test_unknown_metrics_and_layers_bring_the_nearest_too():
    with pytest.raises(ValueError, match=r"Did you mean .*accuracy"):
        trained(runnel.keras, metrics=["acuracy"])
    with pytest.raises(ValueError, match="Did you mean 'Dense'"):
        runnel.keras.layers.deserialize({"class_name": "Densse", "config": {}})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda k: trained(k, y=Y[:5]), "x sizes: 8"),
        (lambda k: trained(k, fit={"sample_weight": np.ones(3)}), "3"),
        (lambda k: trained(k, fit={"validation_data": (X, Y[:2])}), "y sizes: 2"),
        (
            lambda k: model(k, optimizer="sgd", loss="mse").evaluate(X, Y[:3], verbose=0),
            "y sizes: 3",
        ),
        (lambda k: trained(k, X[:0], Y[:0]), ""),
        (lambda k: trained(k, fit={"validation_split": 1.0}), "validation_split"),
        (lambda k: trained(k, X[:1], Y[:1], fit={"validation_split": 0.2}), "not sufficient"),
        (
            lambda k: trained(k, iter([(X, Y)]), None, fit={"validation_split": 0.2}),
            "only supported",
        ),
        (lambda k: trained(k, iter([(X, Y)])), "`y` argument is not supported"),
        (lambda k: trained(k, fit={"batch_size": 0}), "batch_size"),
        (lambda k: trained(k, fit={"epochs": 0}), "epochs"),
        (lambda k: trained(k, fit={"class_weight": {5: 1.0}}), "class_weight"),
    ],
)
def test_data_that_does_not_fit_together(call, message):
    compare_failure(lambda tf, keras: call(keras), message=message)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda tf, k: k.layers.Dense(-1), "positive integer"),
        (lambda tf, k: k.layers.Dense(2, unit=3), "unit"),
        (lambda tf, k: k.layers.Dense(2, dtype="flot32"), "flot32"),
        (lambda tf, k: k.layers.Dropout(2.0), "between 0 and 1"),
        (lambda tf, k: k.mixed_precision.Policy("mixed_float61"), "mixed_float61"),
        (lambda tf, k: k.Model(k.Input([2]), k.layers.Dense(1)(k.Input([2]))), "disconnected"),
        (lambda tf, k: k.Model(k.Input([2]), tf.ones([2])), "KerasTensor"),
        (lambda tf, k: k.Model()(tf.ones([1, 2])), "Unimplemented"),
        (lambda tf, k: model(k).get_layer("nothing"), "No such layer"),
        (lambda tf, k: model(k).get_layer(index=7), "7"),
        (lambda tf, k: k.Sequential().add(3), "Layer"),
        (lambda tf, k: k.Sequential().pop(), "no layers"),
        (lambda tf, k: k.Sequential([k.layers.ReLU(name="a"), k.layers.ReLU(name="a")]), "unique"),
        (lambda tf, k: model(k).set_weights([np.ones((4, 1))]), "length 1"),
        (lambda tf, k: model(k).set_weights([np.ones((3, 1)), np.ones(1)]), "(3, 1)"),
        (lambda tf, k: k.models.load_model("nothing.keras"), "nothing.keras"),
    ],
)
def test_models_and_layers_that_cannot_be(call, message):
    compare_failure(call, message=message)


def test_layers_of_the_same_name():
    def connected(tf, keras):
        inputs = keras.Input([2])
        hidden = keras.layers.Dense(1, name="twice")(inputs)
        return keras.Model(inputs, keras.layers.Dense(1, name="twice")(hidden))

    compare_failure(connected, message='The name "twice" is used 2 times')


def test_a_loss_that_is_not_a_number_ends_training():
    def histories(tf, keras):
        stack = model(keras, optimizer="sgd", loss="mse")
        stop = keras.callbacks.TerminateOnNaN()
        fit = {"epochs": 5, "batch_size": 2, "verbose": 0, "callbacks": [stop]}
        bad = X.copy()
        bad[5:] = np.nan
        history = stack.fit(bad, Y, shuffle=False, **fit)
        return len(history.history["loss"]), history.epoch, np.isnan(history.history["loss"])

    compare(histories)


def test_after_a_failed_fit_the_model_goes_on():
    stack = model(runnel.keras, optimizer="sgd", loss="mse")
    with pytest.raises(ValueError, match="incompatible"):
        stack.fit(np.ones((8, 5), "float32"), Y, verbose=0)
    assert len(stack.fit(X, Y, epochs=2, verbose=0).history["loss"]) == 2

    class Failing(runnel.keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        stack.fit(X, Y, verbose=0, callbacks=[Failing()])
    assert len(stack.fit(X, Y, verbose=0).history["loss"]) == 1


PROGRAM = """
    import signal
    import sys
    import numpy as np
    import runnel as tf

    # Where the tests run in the background of a shell, the signal is ignored to begin with.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Dense(64, "relu"), layers.Dropout(0.2), layers.Dense(1)])
    model.compile("adam", "mse", metrics=["mae"], run_eagerly={eagerly})
    x = np.random.default_rng(0).normal(size=(4096, 16)).astype("float32")
    y = x[:, :1] * 2

    class Telling(tf.keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == {batch} and not self.told:
                self.told = True
                print("training", flush=True)

        def on_train_begin(self, logs=None):
            self.told = False

    for attempt in range(2):
        try:
            model.fit(x, y, batch_size=16, epochs=100000, verbose=0, callbacks=[Telling()])
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        else:
            sys.exit("fit came to its end")

    before = model.evaluate(x, y, verbose=0)[0]
    weights = model.get_weights()
    again = model.fit(x, y, batch_size=64, epochs=1, verbose=0)
    assert np.isfinite(again.history["loss"][0])
    assert np.isfinite(before)
    assert model.predict(x, verbose=0).shape == (4096, 1)
    assert model(x[:2]).shape == (2, 1)
    # Dropout is off outside of training: nothing of the interrupted call is left behind.
    assert np.array_equal(model(x[:8]), model(x[:8]))
    model.set_weights(weights)
    assert abs(model.evaluate(x, y, verbose=0)[0] - before) < 1e-5
    model.save({path!r})
    loaded = tf.keras.models.load_model({path!r})
    assert np.allclose(loaded.predict(x, verbose=0), model.predict(x, verbose=0), atol=1e-5)
    print("usable", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send on Windows")
@pytest.mark.parametrize(("eagerly", "batch"), [(False, 0), (False, 30), (True, 7)])
def test_an_interrupted_fit_leaves_the_model_usable(tmp_path, eagerly, batch):
    source = textwrap.dedent(PROGRAM).format(
        eagerly=eagerly, batch=batch, path=str(tmp_path / "model.keras")
    )
    root = os.path.dirname(os.path.dirname(runnel.__file__))
    with subprocess.Popen(
        [sys.executable, "-c", source],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
    ) as process:
        watchdog = threading.Timer(120, process.kill)
        watchdog.start()
        for _ in range(2):
            assert process.stdout.readline() == "training\n", process.stderr.read()
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted\n", process.stderr.read()
        rest, errors = process.communicate()
        watchdog.cancel()
    assert rest == "usable\n", errors
    assert process.returncode == 0
