"""Checkpoints of models and optimizers: the same names as the original's, and both ways."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import pytest
import tensorflow as original

import runnel as tf

X = np.random.default_rng(0).random((8, 4)).astype(np.float32)
Y = np.random.default_rng(1).random((8, 2)).astype(np.float32)


def sequential(tf):
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            layers.Dense(3, input_shape=(4,)),
            layers.BatchNormalization(),
            layers.Dropout(0.5),
            layers.Dense(2),
        ]
    )


def late(tf):
    layers = tf.keras.layers
    return tf.keras.Sequential([layers.Dense(3), layers.Flatten(), layers.Dense(2)])


def functional(tf):
    layers = tf.keras.layers
    inputs = tf.keras.Input((4,))
    hidden = layers.Dense(3, activation="relu", name="hidden")(inputs)
    outputs = layers.Add()([layers.Dense(2)(hidden), layers.Dense(2)(hidden)])
    return tf.keras.Model(inputs, outputs)


def subclassed(tf):
    layers = tf.keras.layers

    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.scale = tf.Variable(1.0)
            self.first = layers.Dense(3)
            self.branches = [layers.Dense(2), layers.Dense(2)]
            self.named = {"k": layers.Dense(2)}
            self.inner = tf.keras.Sequential([layers.Dense(2)])
            self.seen = tf.keras.metrics.Mean(name="seen")
            self.pair = (tf.Variable([1.0, 2.0]), 3)

        def call(self, inputs):
            x = self.first(inputs)
            x = self.branches[0](x) + self.branches[1](x) + self.named["k"](x) + self.inner(x)
            return x * self.scale + self.pair[0]

    return Net()


def recurrent(tf):
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            layers.Reshape((4, 1), input_shape=(4,)),
            layers.Bidirectional(layers.LSTM(3, return_sequences=True)),
            layers.GRU(2),
        ]
    )


MODELS = [sequential, late, functional, subclassed]
OPTIMIZERS = {
    "Adam": lambda tf: tf.keras.optimizers.Adam(0.01),
    "SGD": lambda tf: tf.keras.optimizers.SGD(0.01, momentum=0.9),
    "RMSprop": lambda tf: tf.keras.optimizers.RMSprop(0.01, centered=True, momentum=0.5),
    "Nadam": lambda tf: tf.keras.optimizers.Nadam(0.01),
    "schedule": lambda tf: tf.keras.optimizers.Adam(
        tf.keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)
    ),
    "average": lambda tf: tf.keras.optimizers.SGD(0.01, use_ema=True),
    "older Adam": lambda tf: tf.keras.optimizers.legacy.Adam(0.01, decay=0.1),
    "older Nadam": lambda tf: tf.keras.optimizers.legacy.Nadam(0.01),
    "older RMSprop": lambda tf: tf.keras.optimizers.legacy.RMSprop(0.01, momentum=0.5),
}


def trained(module, make, optimizer, steps):
    model = make(module)
    # Tracing in the original takes most of the time of these tests.
    model.compile(OPTIMIZERS[optimizer](module), "mse", run_eagerly=module is original)
    for _ in range(steps):
        model.train_on_batch(X, Y)
    return model


def shapes(module, path):
    return dict(module.train.list_variables(path))


CASES = [(make, "Adam") for make in MODELS]
CASES += [(functional, name) for name in OPTIMIZERS if name != "Adam"]


@pytest.mark.parametrize("make, optimizer", CASES)
@pytest.mark.parametrize("writer, reader", [(original, tf), (tf, original)])
def test_a_trained_model_goes_on_in_the_other_program(writer, reader, make, optimizer, tmp_path):
    model = trained(writer, make, optimizer, 3)
    path = writer.train.Checkpoint(model=model).save(str(tmp_path / "ckpt"))

    again = trained(reader, make, optimizer, 1)
    names = shapes(reader, reader.train.Checkpoint(model=again).save(str(tmp_path / "names")))
    assert shapes(reader, path) == names
    checkpoint = reader.train.Checkpoint(model=again)
    checkpoint.restore(path).assert_consumed()
    one, other = model(X).numpy(), again(X).numpy()
    np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-6)
    for one, other in zip(model.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert int(again.optimizer.iterations) == 3


@pytest.mark.parametrize("make, optimizer", CASES)
def test_values_wait_for_models_that_are_not_built(make, optimizer, tmp_path):
    path = original.train.Checkpoint(model=trained(original, make, optimizer, 2)).save(
        str(tmp_path / "ckpt")
    )
    ready = trained(tf, make, optimizer, 1)
    tf.train.Checkpoint(model=ready).restore(path).assert_consumed()

    model = make(tf)
    status = tf.train.Checkpoint(model=model).restore(path)
    with pytest.raises(AssertionError):
        status.assert_consumed()
    model.compile(OPTIMIZERS[optimizer](tf), "mse")
    if make is sequential:
        # Dropout draws other numbers.
        status.expect_partial()
        model.optimizer.build(model.trainable_variables)
    else:
        np.testing.assert_array_equal(model.predict(X, verbose=0), ready.predict(X, verbose=0))
        for each in (ready, model):
            each.train_on_batch(X, Y)
    status.assert_consumed()
    for one, other in zip(ready.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert tf.Module.__setattr__ is object.__setattr__


@pytest.mark.parametrize("writer, reader", [(original, tf), (tf, original), (tf, tf)])
@pytest.mark.parametrize("make", [sequential, subclassed])
def test_save_weights_as_a_checkpoint(writer, reader, make, tmp_path):
    model = trained(writer, make, "Adam", 2)
    path = str(tmp_path / "weights")
    model.save_weights(path)
    assert writer.train.latest_checkpoint(str(tmp_path)) == path
    assert sorted(os.listdir(tmp_path)) == [
        "checkpoint",
        "weights.data-00000-of-00001",
        "weights.index",
    ]
    again = trained(reader, make, "Adam", 1)
    again.load_weights(path).assert_consumed()
    for one, other in zip(model.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_weights_load_before_the_model_is_built(tmp_path):
    model = late(original)
    expected = model(X).numpy()
    model.save_weights(str(tmp_path / "weights"))
    again = late(tf)
    again.load_weights(str(tmp_path / "weights"))
    np.testing.assert_allclose(again(X).numpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "use",
    [
        lambda model, path: model.load_weights(path + "-none"),
        lambda model, path: model.load_weights(path, by_name=True),
        lambda model, path: model.load_weights(path, skip_mismatch=True),
        lambda model, path: model.save_weights(path, save_format="unknown"),
        lambda model, path: model.save_weights(path + ".h5", save_format="tf"),
    ],
)
def test_wrong_uses_raise_as_in_the_original(use, tmp_path):
    raised = []
    for module in (original, tf):
        model = sequential(module)
        path = str(tmp_path / "weights")
        model.save_weights(path)
        with pytest.raises(Exception) as caught:
            use(model, path)
        raised.append(type(caught.value).__name__)
    assert raised[0] == raised[1]


@pytest.mark.parametrize("writer, reader", [(original, tf), (tf, original)])
def test_recurrent_layers(writer, reader, tmp_path):
    model = recurrent(writer)
    path = writer.train.Checkpoint(model=model).save(str(tmp_path / "ckpt"))
    again = recurrent(reader)
    reader.train.Checkpoint(model=again).restore(path).assert_consumed()
    for one, other in zip(model.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_weights_named_otherwise_than_their_attributes(tmp_path):
    def names(module):
        class Named(module.keras.layers.Layer):
            def build(self, input_shape):
                self.w = self.add_weight(name="kern", shape=[2])
                self.several = [self.add_weight(name=f"x{i}", shape=[1]) for i in range(2)]
                self.odd = self.add_weight(name="a/b.c", shape=[1])
                self.add_weight(name="nowhere", shape=[])

        layer = Named()
        layer(module.ones([1, 2]))
        return shapes(module, module.train.Checkpoint(layer=layer).write(str(tmp_path / "named")))

    assert names(tf) == names(original)


def test_the_order_of_a_models_weights_is_the_originals():
    def names(module):
        model = subclassed(module)
        model(X)
        found = []
        for trainable in (True, False):
            model.trainable = trainable
            for kind in ("weights", "trainable_weights", "non_trainable_weights"):
                found.append([tuple(each.shape) for each in getattr(model, kind)])
        return found

    assert names(tf) == names(original)


def test_model_checkpoint_callback_writes_checkpoints(tmp_path):
    model = late(tf)
    model.compile("sgd", "mse")
    callback = tf.keras.callbacks.ModelCheckpoint(
        str(tmp_path / "ck-{epoch}"), save_weights_only=True
    )
    model.fit(X, Y, epochs=2, verbose=0, callbacks=[callback])
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "ck-2")
    again = late(original)
    again(X)
    again.load_weights(str(tmp_path / "ck-2")).expect_partial()
    for one, other in zip(model.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
