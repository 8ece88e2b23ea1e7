"""Functional, Sequential and subclassed models: structure, summaries, training against tf_keras."""

import numpy as np
import pytest
import tensorflow
import tf_keras

import runnel

rng = np.random.default_rng(0)
X = rng.random((96, 4), dtype=np.float32)
LABELS = X[:, :3].argmax(axis=1)
TARGETS = rng.random((96, 2), dtype=np.float32)


@pytest.fixture(autouse=True)
def _fresh_names():
    tf_keras.backend.clear_session()
    runnel.keras.backend.clear_session()


def functional(keras):
    a, b = keras.Input((4,), name="a"), keras.Input((2,), name="b")
    shared = keras.layers.Dense(3, activation="tanh", name="shared")
    joined = keras.layers.concatenate([shared(a), b])
    one = keras.layers.Dense(1, name="one")(joined)
    two = keras.layers.Dense(3, name="two")(joined)
    return keras.Model([a, b], [one, two])


def sequential(keras):
    return keras.Sequential(
        [
            keras.Input((4,)),
            keras.layers.Dense(8, use_bias=False),
            keras.layers.BatchNormalization(),
            keras.layers.ReLU(),
            keras.layers.Dense(3),
        ]
    )


def subclassed(keras):
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden = keras.layers.Dense(6, activation="relu", kernel_regularizer="l2")
            self.blocks = [keras.layers.Dense(5), keras.layers.Dense(3)]

        def call(self, inputs, training=None):
            x = self.hidden(inputs)
            for block in self.blocks:
                x = block(x)
            return x

    model = Net()
    model(X[:2])
    return model


def summary_of(model):
    lines = []
    model.summary(print_fn=lambda line, **_: lines.append(line))
    return lines


@pytest.mark.parametrize("make", [functional, sequential, subclassed])
def test_the_same_names_shapes_and_summary(make):
    theirs, ours = make(tf_keras), make(runnel.keras)
    assert [w.name for w in ours.weights] == [w.name for w in theirs.weights]
    assert [w.shape.as_list() for w in ours.weights] == [w.shape.as_list() for w in theirs.weights]
    assert [layer.name for layer in ours.layers] == [layer.name for layer in theirs.layers]
    assert ours.count_params() == theirs.count_params()
    assert summary_of(ours) == summary_of(theirs)


def train(make, keras, weights, fit):
    model = make(keras)
    if weights is not None:
        model.set_weights(weights)
    return model, fit(keras, model)


def compare_training(make, fit, tolerance=2e-4):
    initial = make(tf_keras).get_weights()
    tf_keras.backend.clear_session()
    theirs, expected = train(make, tf_keras, initial, fit)
    ours, actual = train(make, runnel.keras, initial, fit)
    assert list(actual) == list(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(actual[name], values, rtol=tolerance, atol=1e-5, err_msg=name)
    for a, b in zip(theirs.get_weights(), ours.get_weights(), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-3, atol=1e-4)


def test_sequential_training_follows_the_original():
    def fit(keras, model):
        model.compile(
            keras.optimizers.Adam(0.01),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
        return model.fit(
            X, LABELS, epochs=3, batch_size=16, shuffle=False, verbose=0, validation_split=0.25
        ).history

    compare_training(sequential, fit)


def test_prediction_with_a_list_of_inputs():
    theirs, ours = functional(tf_keras), functional(runnel.keras)
    ours.set_weights(theirs.get_weights())
    inputs = [X, X[:, :2]]
    for a, b in zip(
        theirs.predict(inputs, verbose=0), ours.predict(inputs, verbose=0), strict=True
    ):
        np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-6)
    for a, b in zip(theirs.predict_on_batch(inputs), ours.predict_on_batch(inputs), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-6)


def test_functional_training_with_two_outputs():
    def fit(keras, model):
        model.compile(
            "sgd",
            loss=["mse", keras.losses.SparseCategoricalCrossentropy(from_logits=True)],
            loss_weights=[1.0, 0.5],
            metrics={"one": "mae", "two": ["accuracy"]},
        )
        return model.fit(
            [X, X[:, :2]], [TARGETS[:, :1], LABELS], epochs=2, shuffle=False, verbose=0
        ).history

    compare_training(functional, fit)


def test_subclassed_training_with_regularization_and_weights():
    def fit(keras, model):
        model.compile("rmsprop", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        weights = np.linspace(0, 2, 96).astype(np.float32)
        history = model.fit(
            X, LABELS, epochs=2, shuffle=False, verbose=0, sample_weight=weights,
            class_weight={0: 1.0, 1: 2.0, 2: 0.5},
        ).history  # fmt: skip
        return history | {"evaluate": [model.evaluate(X, LABELS, verbose=0)]}

    compare_training(subclassed, fit)


def test_on_batch_methods_and_prediction():
    def fit(keras, model):
        model.compile("sgd", "mse")
        targets = np.repeat(TARGETS[:, :1], 3, axis=1)
        return {
            "train": [model.train_on_batch(X, targets)],
            "test": [model.test_on_batch(X, targets, return_dict=True)["loss"]],
            "predict": model.predict(X, verbose=0),
            "batch": model.predict_on_batch(X[:5]),
        }

    compare_training(sequential, fit)


def test_custom_train_step():
    def make(keras):
        tf = tensorflow if keras is tf_keras else runnel

        class Custom(keras.Model):
            def __init__(self):
                super().__init__()
                self.dense = keras.layers.Dense(2)
                self.tracker = keras.metrics.Mean(name="mine")

            def call(self, inputs):
                return self.dense(inputs)

            def train_step(self, data):
                x, y = data
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(tf.square(self(x, training=True) - y))
                gradients = tape.gradient(loss, self.trainable_variables)
                self.optimizer.apply_gradients(
                    zip(gradients, self.trainable_variables, strict=True)
                )
                self.tracker.update_state(loss)
                return {"mine": self.tracker.result()}

            @property
            def metrics(self):
                return [self.tracker]

        model = Custom()
        model(X[:2])
        return model

    def fit(keras, model):
        model.compile("sgd")
        return model.fit(X, TARGETS, epochs=2, shuffle=False, verbose=0).history

    initial = make(tf_keras).get_weights()
    _, expected = train(make, tf_keras, initial, fit)
    _, actual = train(make, runnel.keras, initial, fit)
    np.testing.assert_allclose(actual["mine"], expected["mine"], rtol=1e-4)


MISTAKES = {
    "not compiled": lambda keras: sequential(keras).fit(X, LABELS),
    "cardinality": lambda keras: _compiled(keras).fit(X, LABELS[:50], verbose=0),
    "input rank": lambda keras: sequential(keras)(X[0]),
    "input width": lambda keras: sequential(keras)(X[:, :2]),
    "weights before build": lambda keras: keras.Sequential([keras.layers.Dense(2)]).weights,
    "summary before build": lambda keras: keras.Sequential([keras.layers.Dense(2)]).summary(),
    "unknown optimizer": lambda keras: sequential(keras).compile("adma", "mse"),
    "not a layer": lambda keras: sequential(keras).add(3),
    "disconnected": lambda keras: keras.Model(
        keras.Input((2,)), keras.layers.Dense(1)(keras.Input((2,)))
    ),
    "no call": lambda keras: keras.Model()(X),
    "unknown layer": lambda keras: sequential(keras).get_layer("nothing"),
}


def _compiled(keras):
    model = sequential(keras)
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_get_the_same_class_of_error(mistake):
    failures = []
    for keras in (tf_keras, runnel.keras):
        with pytest.raises(Exception) as caught:
            MISTAKES[mistake](keras)
        failures.append(caught.value)
    assert type(failures[0]).__name__ == type(failures[1]).__name__
    assert len(str(failures[1])) > 15


def test_operations_on_keras_tensors():
    def make(keras):
        tf = tensorflow if keras is tf_keras else runnel
        inputs = keras.Input((4,), name="x")
        hidden = keras.layers.Dense(3, name="d")(inputs)
        y = tf.nn.relu(hidden) * 2.0 + 1.0
        return keras.Model(inputs, tf.reduce_mean(y, axis=1) - y[:, 0])

    theirs, ours = make(tf_keras), make(runnel.keras)
    ours.set_weights(theirs.get_weights())
    assert [layer.name for layer in ours.layers] == [layer.name for layer in theirs.layers]
    np.testing.assert_allclose(ours(X).numpy(), theirs(X).numpy(), rtol=1e-5, atol=1e-6)


def test_an_interrupted_fit_leaves_the_model_usable():
    model = _compiled(runnel.keras)

    class Interrupt(runnel.keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(X, LABELS, verbose=0, callbacks=[Interrupt()])
    assert model.fit(X, LABELS, verbose=0).history["loss"]
