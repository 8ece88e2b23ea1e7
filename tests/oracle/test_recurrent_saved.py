"""Recurrent layers in SavedModels: the original runs them, with the operations that it has."""

import numpy as np
import tensorflow

import runnel as tf


class Sequences(tf.Module):
    """Layers over all steps, a GRU layer for the last, and cells that are called by hand."""

    def __init__(self):
        super().__init__()
        self.layer = tf.keras.layers.LSTM(4, return_sequences=True, return_state=True)
        self.simple = tf.keras.layers.SimpleRNN(3, return_sequences=True)
        self.rectified = tf.keras.layers.SimpleRNN(4, "relu", return_sequences=True)
        self.last = tf.keras.layers.GRU(3)
        self.cell = tf.keras.layers.LSTMCell(2)
        self.gated = tf.keras.layers.GRUCell(2)
        self.call(tf.ones([1, 2, 5]))
        layers = (self.layer, self.simple, self.rectified, self.last, self.cell, self.gated)
        self.weights = [weight for layer in layers for weight in layer.weights]

    def call(self, x):
        outputs, _, carry = self.layer(x)
        step = tf.zeros_like(carry[:, :2])
        h = [step, carry[:, :2]]
        for _ in range(3):
            step, h = self.cell(self.gated(carry, step)[0], h)
        return self.last(self.rectified(self.simple(outputs))), step

    @tf.function(input_signature=[tf.TensorSpec([None, None, 5])])
    def of_any_length(self, x):
        return self.call(x)

    @tf.function(input_signature=[tf.TensorSpec([2, 3, 5])])
    def of_known_length(self, x):
        return self.call(x)

    @tf.function(input_signature=[tf.TensorSpec([2, 3, 5])])
    def gradients(self, x):
        with tf.GradientTape() as tape:
            outputs, step = self.call(x)
            loss = tf.reduce_sum(outputs**2) + tf.reduce_sum(tf.sin(step))
        return tape.gradient(loss, self.weights)


def test_written_here_runs_there(tmp_path):
    module = Sequences()
    x = np.random.default_rng(0).normal(size=(2, 3, 5)).astype("float32")
    tf.saved_model.save(module, str(tmp_path))
    again, theirs = tf.saved_model.load(str(tmp_path)), tensorflow.saved_model.load(str(tmp_path))
    for name in ("of_any_length", "of_known_length", "gradients"):
        wanted = getattr(module, name)(tf.constant(x))
        for loaded, library in ((again, tf), (theirs, tensorflow)):
            got = getattr(loaded, name)(library.constant(x))
            assert len(got) == len(wanted)
            for a, b in zip(wanted, got, strict=True):
                np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=1e-4, atol=1e-6)
