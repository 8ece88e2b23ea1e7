"""Whole training runs: from the same seed, losses follow tf_keras's without any copied weight.

The initializers and dropout draw the original's numbers, so equal programs have equal losses until
rounding errors have grown.
"""

import warnings

import numpy as np
import pytest
import tensorflow
import tf_keras

import runnel

STEPS = 50
BATCH = 16
FRAMEWORKS = [(tensorflow, tf_keras), (runnel, runnel.keras)]


def mlp(keras):
    return keras.Sequential(
        [
            keras.layers.Flatten(),
            keras.layers.Dense(32, activation="relu"),
            keras.layers.Dense(16, activation="tanh", kernel_initializer="he_normal"),
            keras.layers.Dense(10),
        ]
    )


def mlp_with_dropout(keras):
    return keras.Sequential(
        [
            keras.layers.Flatten(),
            keras.layers.Dropout(0.3),
            keras.layers.Dense(32, activation="relu"),
            keras.layers.Dropout(0.2),
            keras.layers.Dense(10),
        ]
    )


def cnn(keras):
    image = keras.Input(shape=(12, 12, 1))
    x = keras.layers.Conv2D(8, 3, padding="same", activation="relu")(image)
    x = keras.layers.MaxPool2D(2)(x)
    x = keras.layers.Conv2D(12, 3, activation="relu")(x)
    x = keras.layers.AveragePooling2D(2)(x)
    x = keras.layers.Flatten()(x)
    x = keras.layers.Dense(24, activation="relu", kernel_regularizer="l2")(x)
    return keras.Model(image, keras.layers.Dense(10)(x))


def normalized_cnn(keras):
    # Without a bias before the normalization: its gradient is zero but for rounding, and Adam makes
    # steps of full size of that. The losses of training do not see where it wanders; the moving
    # mean follows it with a delay, so that those of validation differ (in float32 alone).
    return keras.Sequential(
        [
            keras.layers.Conv2D(8, 3, strides=2, use_bias=False),
            keras.layers.BatchNormalization(),
            keras.layers.ReLU(),
            keras.layers.DepthwiseConv2D(3, use_bias=False),
            keras.layers.LayerNormalization(),
            keras.layers.GlobalAveragePooling2D(),
            keras.layers.Dense(10),
        ]
    )


def biased_cnn(keras):
    return keras.Sequential(
        [
            keras.layers.Conv2D(8, 3, strides=2),
            keras.layers.BatchNormalization(),
            keras.layers.ReLU(),
            keras.layers.Conv2D(8, 3),
            keras.layers.BatchNormalization(),
            keras.layers.ReLU(),
            keras.layers.GlobalAveragePooling2D(),
            keras.layers.Dense(10),
        ]
    )


def lstm(keras):
    return keras.Sequential(
        [
            keras.layers.Reshape((6, 24)),
            keras.layers.LSTM(16, return_sequences=True),
            keras.layers.LSTM(16),
            keras.layers.Dense(10),
        ]
    )


def gru(keras):
    rows = keras.Input(shape=(12, 12, 1))
    x = keras.layers.Reshape((6, 24))(rows)
    x = keras.layers.Bidirectional(keras.layers.GRU(12))(x)
    return keras.Model(rows, keras.layers.Dense(10)(x))


class Subclassed:
    """A model written as a class, the same for both frameworks."""

    def __new__(cls, keras):
        class Model(keras.Model):
            def __init__(self):
                super().__init__()
                self.flatten = keras.layers.Flatten()
                self.hidden = keras.layers.Dense(32, activation="relu")
                self.scores = keras.layers.Dense(10)

            def call(self, inputs):
                return self.scores(self.hidden(self.flatten(inputs)))

        return Model()


MODELS = {
    "mlp": mlp,
    "dropout": mlp_with_dropout,
    "cnn": cnn,
    "normalized": normalized_cnn,
    "lstm": lstm,
    "gru": gru,
    "subclassed": Subclassed,
}
OPTIMIZERS = {
    "sgd": lambda keras: keras.optimizers.SGD(0.05, momentum=0.9),
    "adam": lambda keras: keras.optimizers.Adam(0.003),
    "rmsprop": lambda keras: keras.optimizers.RMSprop(0.005),
}


def batches():
    """Images that hold a bright patch whose place is the label."""
    random = np.random.default_rng(3)
    labels = random.integers(0, 10, (STEPS, BATCH))
    images = random.uniform(0, 0.5, (STEPS, BATCH, 12, 12, 1)).astype(np.float32)
    for step in range(STEPS):
        for row, label in enumerate(labels[step]):
            images[step, row, label : label + 3, 2:8] += 0.5
    return images, labels.astype(np.int32)


def by_hand(tf, keras, model, optimizer):
    """The losses of a training loop with a tape."""
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    losses = []
    for images, labels in zip(*batches(), strict=True):
        with tf.GradientTape() as tape:
            scores = model(tf.constant(images), training=True)
            loss = tf.add_n([loss_of(labels, scores), *model.losses])
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        losses.append(loss.numpy())
    return losses


def compiled(keras, model, optimizer):
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=optimizer, loss=loss, metrics=["accuracy"])


def on_batches(tf, keras, model, optimizer):
    """The losses and accuracies of train_on_batch, after those of test_on_batch at the end."""
    compiled(keras, model, optimizer)
    images, labels = batches()
    results = [model.train_on_batch(*batch) for batch in zip(images, labels, strict=True)]
    return [*results, model.test_on_batch(images[0], labels[0])]


def with_fit(tf, keras, model, optimizer):
    """The losses of fit over batches in order, and those of validation."""
    compiled(keras, model, optimizer)
    images, labels = batches()
    losses = []
    seen = keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, logs: losses.append(logs["loss"])
    )
    history = model.fit(
        images.reshape(-1, 12, 12, 1),
        labels.reshape(-1),
        batch_size=BATCH,
        validation_data=(images[0], labels[0]),
        shuffle=False,
        callbacks=[seen],
        verbose=0,
    ).history
    return [*losses, *history["loss"], *history["val_loss"], *history["val_accuracy"]]


def run(tf, keras, make_model, make_optimizer, loop):
    keras.backend.clear_session()
    keras.utils.set_random_seed(11)
    model = make_model(keras)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.array(loop(tf, keras, model, make_optimizer(keras)), dtype=np.float64)


def assert_follows(make_model, make_optimizer, loop):
    wanted, got = [run(tf, keras, make_model, make_optimizer, loop) for tf, keras in FRAMEWORKS]
    assert wanted[0] != pytest.approx(wanted[-1], abs=0.02), "nothing was learned"
    np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("model", ["mlp", "cnn", "lstm"])
def test_a_loop_by_hand(model, optimizer):
    assert_follows(MODELS[model], OPTIMIZERS[optimizer], by_hand)


@pytest.mark.parametrize("model", ["dropout", "normalized", "gru", "subclassed"])
def test_other_models_by_hand(model):
    assert_follows(MODELS[model], OPTIMIZERS["adam"], by_hand)


@pytest.mark.parametrize(
    ("model", "loop"),
    [
        ("mlp", on_batches),
        ("cnn", on_batches),
        ("subclassed", with_fit),
        ("dropout", with_fit),
        ("normalized", with_fit),
        ("lstm", with_fit),
    ],
)
def test_the_loops_of_keras(model, loop):
    assert_follows(MODELS[model], OPTIMIZERS["adam"], loop)


def test_biases_before_a_normalization():
    """An epsilon well above rounding errors keeps Adam from following them."""
    assert_follows(biased_cnn, lambda keras: keras.optimizers.Adam(0.01, epsilon=1e-3), with_fit)


def test_losses_do_not_see_biases_before_a_normalization():
    assert_follows(biased_cnn, OPTIMIZERS["adam"], by_hand)
