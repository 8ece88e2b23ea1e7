"""Optimizers of tf.compat.v1.train in a Keras model."""

import numpy as np
import pytest
import tensorflow

import runnel

X = np.arange(8, dtype=np.float32).reshape(4, 2) / 8
Y = np.array([0.0, 1.0, 1.0, 0.0], np.float32)
OPTIMIZERS = {
    "GradientDescent": (0.1,), "Momentum": (0.1, 0.9), "Adam": (0.1,), "RMSProp": (0.1,),
    "Adagrad": (0.1,), "Adadelta": (0.1,), "Ftrl": (0.1,),
}  # fmt: skip


def model_of(tf):
    layers = tf.keras.layers
    return tf.keras.Sequential([
        layers.Dense(2, kernel_initializer="ones", input_shape=(2,)),
        layers.Dense(1, kernel_initializer="ones"),
    ])  # fmt: skip


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training(tmp_path, name):
    found = []
    for tf in (tensorflow, runnel):
        model = model_of(tf)
        optimizer = getattr(tf.compat.v1.train, f"{name}Optimizer")(*OPTIMIZERS[name])
        model.compile(optimizer, "mse")
        losses = model.fit(X, Y, epochs=3, batch_size=2, shuffle=False, verbose=0).history["loss"]
        path = f"{tmp_path}/{tf.__name__}"
        model.save_weights(path)
        names = sorted(name for name, _ in tf.train.list_variables(path))
        kept = model.get_weights()
        after = [model.train_on_batch(X, Y), *model.get_weights()]
        # The slots are restored, too, so that the next step is the same.
        model.load_weights(path).assert_consumed()
        again = [model.train_on_batch(X, Y), *model.get_weights()]
        for one, other in zip(after, again, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)
        found.append((losses, kept, names, int(model.optimizer.iterations)))
    (losses, weights, names, steps), (our_losses, our_weights, our_names, our_steps) = found
    np.testing.assert_allclose(our_losses, losses, rtol=2e-4)
    for expected, ours in zip(weights, our_weights, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-3, atol=1e-4)
    assert (our_names, our_steps) == (names, steps)


@pytest.mark.parametrize("tf", [tensorflow, runnel])
def test_what_it_cannot_do(tf, tmp_path):
    model = model_of(tf)
    model.compile(tf.compat.v1.train.GradientDescentOptimizer(0.1), "mse")
    assert type(model.optimizer).__name__ == "TFOptimizer"
    with pytest.raises(NotImplementedError):
        model.optimizer.get_config()
    with pytest.raises(NotImplementedError):
        _ = model.optimizer.weights
    with pytest.raises(AttributeError):
        _ = model.optimizer.lr
    with pytest.raises(TypeError):
        model.save(f"{tmp_path}/m.keras")
