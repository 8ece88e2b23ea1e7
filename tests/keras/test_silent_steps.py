"""fit and evaluate whose batches nobody listens to report what they report to a listener."""

import numpy as np
import pytest
from side_by_side import compare

import runnel as tf

RNG = np.random.default_rng(0)
X = RNG.standard_normal((50, 6)).astype(np.float32)
Y = RNG.integers(0, 3, 50).astype(np.int32)


def arrays(logs):
    """Logs as arrays of their own types, which are compared with a tolerance."""
    if isinstance(logs, dict):
        return {name: np.asarray(value) for name, value in logs.items()}
    return [np.asarray(each) for each in logs]


def model_of(keras, kind=None):
    model = (kind or keras.Sequential)(
        [
            keras.layers.Dense(8, activation="relu", kernel_initializer="ones"),
            keras.layers.Dense(3, kernel_initializer="he_normal"),
        ]
    )
    model.build((None, 6))
    rng = np.random.default_rng(1)
    model.set_weights([rng.standard_normal(each.shape) * 0.3 for each in model.get_weights()])
    model.compile(
        keras.optimizers.SGD(0.05),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["sparse_categorical_accuracy"],
    )
    return model


class Listener(tf.keras.callbacks.Callback):
    """Hears of every batch."""

    def __init__(self):
        super().__init__()
        self.trained, self.tested = [], []

    def on_train_batch_end(self, batch, logs=None):
        self.trained.append(logs)

    def on_test_batch_end(self, batch, logs=None):
        self.tested.append(logs)


def test_history_is_the_originals():
    def program(tensorflow, keras):
        model = model_of(keras)
        options = {"batch_size": 8, "epochs": 3, "verbose": 0, "shuffle": False}
        history = model.fit(X, Y, validation_data=(X[:20], Y[:20]), **options).history
        evaluated = model.evaluate(X, Y, batch_size=8, verbose=0)
        return arrays(history), arrays(evaluated), model.get_weights()

    compare(program, tolerance=2e-5)


def test_many_batches_of_one_size_and_a_smaller_last_one():
    """Long enough for the steps to have programs for the size; dropout goes on where it was."""

    def program(tensorflow, keras):
        keras.utils.set_random_seed(7)
        model = keras.Sequential(
            [
                keras.layers.Dense(8, activation="relu"),
                keras.layers.Dropout(0.4),
                keras.layers.BatchNormalization(),
                keras.layers.Dense(3),
            ]
        )
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(keras.optimizers.SGD(0.05), loss, metrics=["accuracy"])
        history = model.fit(X[:-1], Y[:-1], batch_size=2, epochs=2, verbose=0, shuffle=False)
        return arrays(history.history), arrays(model.evaluate(X, Y, batch_size=2, verbose=0))

    compare(program, tolerance=2e-4)


def test_labels_out_of_range_are_refused_late_in_an_epoch():
    model = model_of(tf.keras)
    labels = np.append(Y[:-1], 9).astype(np.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="9"):
        model.fit(X, labels, batch_size=2, verbose=0, shuffle=False)


def test_a_listener_hears_of_every_batch_and_changes_nothing():
    options = {"batch_size": 8, "epochs": 2, "verbose": 0, "shuffle": False}
    silent = model_of(tf.keras).fit(X, Y, validation_split=0.4, **options).history
    listener = Listener()
    heard = model_of(tf.keras).fit(X, Y, validation_split=0.4, callbacks=[listener], **options)
    assert heard.history == silent
    assert len(listener.trained) == 8 and len(listener.tested) == 6
    assert listener.trained[-1]["loss"] == silent["loss"][-1]
    assert listener.tested[-1]["loss"] == silent["val_loss"][-1]


def test_logs_of_a_step_of_ones_own_are_kept():
    def program(tensorflow, keras):
        class Own(keras.Sequential):
            def train_step(self, data):
                return {**super().train_step(data), "rows": tensorflow.shape(data[0])[0]}

            def test_step(self, data):
                super().test_step(data)
                return {"largest": tensorflow.reduce_max(data[0])}

        model = model_of(keras, Own)
        history = model.fit(X, Y, batch_size=8, verbose=0, shuffle=False).history
        evaluated = model.evaluate(X, Y, batch_size=8, verbose=0, return_dict=True)
        return arrays(history), arrays(evaluated)

    compare(program, tolerance=2e-5)


@pytest.mark.parametrize("name", ["compute_metrics", "get_metrics_result"])
def test_metrics_of_ones_own_are_kept(name):
    def program(tensorflow, keras):
        def own(self, *batch):
            found = dict(getattr(keras.Sequential, name)(self, *batch))
            return {**found, "twice": found["loss"] * 2.0}

        model = model_of(keras, type("Own", (keras.Sequential,), {name: own}))
        return arrays(model.fit(X, Y, batch_size=8, verbose=0, shuffle=False).history)

    compare(program, tolerance=2e-5)


def test_a_step_set_on_the_model_itself():
    model = model_of(tf.keras)
    model.test_step = lambda data: {"answer": tf.constant(42.0)}
    assert model.evaluate(X, Y, batch_size=8, verbose=0, return_dict=True) == {"answer": 42.0}


def test_numbers_printed_and_returned_agree(capsys):
    model = model_of(tf.keras)
    quiet = model.evaluate(X, Y, batch_size=8, verbose=0)
    printed = model.evaluate(X, Y, batch_size=8, verbose=2)
    assert quiet == printed
    assert f"loss: {quiet[0]:.4f}" in capsys.readouterr().out


def test_training_from_within_a_tape_and_after_stopping():
    model = model_of(tf.keras)
    with tf.GradientTape():
        inside = model.evaluate(X, Y, batch_size=8, verbose=0)
    assert inside == model.evaluate(X, Y, batch_size=8, verbose=0)

    class Stop(tf.keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            self.model.stop_training = batch == 3

    history = model.fit(X, Y, batch_size=8, verbose=0, callbacks=[Stop()], epochs=5)
    assert len(history.history["loss"]) == 1
