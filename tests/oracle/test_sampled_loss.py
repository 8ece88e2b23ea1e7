"""Sampled losses against TensorFlow."""

import numpy as np
import pytest
from compare import check, check_raises

random = np.random.default_rng(0)
WEIGHTS, BIASES = random.normal(size=(7, 4)).astype(np.float32), random.normal(size=7)
BIASES = BIASES.astype(np.float32)
INPUTS = random.normal(size=(3, 4)).astype(np.float32)
LABELS = np.array([[1], [2], [6]])
TWO_LABELS = np.array([[1, 2], [2, 3], [6, 0]])
SAMPLES = np.array([0, 2, 5, 1])
SAMPLE_COUNTS = np.array([0.9, 0.4, 0.1, 0.6], np.float32)


def values(num_true):
    """Samples with the expected counts of the true classes and their own."""
    counts = np.linspace(0.2, 0.5, 3 * num_true, dtype=np.float32).reshape(3, num_true)
    return SAMPLES, counts, SAMPLE_COUNTS


def loss(name, labels, num_true=1, **options):
    def call(tf, weights, biases, inputs):
        return getattr(tf.nn, name)(
            weights, biases, labels, inputs, 4, 7, num_true=num_true, **options
        )

    return call


@pytest.mark.parametrize("name", ["nce_loss", "sampled_softmax_loss"])
@pytest.mark.parametrize("remove", [True, False])
@pytest.mark.parametrize("labels", [LABELS, TWO_LABELS, LABELS.astype(np.int32)])
def test_given_samples(name, remove, labels):
    num_true = labels.shape[1]
    function = loss(
        name,
        labels,
        num_true,
        sampled_values=values(num_true),
        remove_accidental_hits=remove,
    )
    check(function, WEIGHTS, BIASES, INPUTS, tolerance=1e-4)


@pytest.mark.parametrize("name", ["nce_loss", "sampled_softmax_loss"])
def test_drawn_samples(name):
    def call(tf, *arguments):
        tf.random.set_seed(5)
        return loss(name, LABELS)(tf, *arguments)

    check(call, WEIGHTS, BIASES, INPUTS, traced=False, tolerance=1e-4, smooth=False)


def test_drawn_samples_with_seed():
    def call(tf, *arguments):
        tf.random.set_seed(5)
        return loss("sampled_softmax_loss", TWO_LABELS, 2, seed=3)(tf, *arguments)

    check(call, WEIGHTS, BIASES, INPUTS, traced=False, tolerance=1e-4, smooth=False)


def test_partitioned_weights():
    function = loss("nce_loss", LABELS, sampled_values=values(1))
    check(
        lambda tf, a, b, c, d, x: function(tf, [a, b], [c, d], x),
        WEIGHTS[:4],
        WEIGHTS[4:],
        BIASES[:4],
        BIASES[4:],
        INPUTS,
        tolerance=1e-4,
    )


def test_wrong_arguments():
    with_values = loss("nce_loss", TWO_LABELS, 1, sampled_values=values(2))
    check_raises(lambda tf: with_values(tf, WEIGHTS, BIASES, INPUTS))
    beyond = loss("nce_loss", LABELS + 5, sampled_values=values(1))
    check_raises(lambda tf: beyond(tf, WEIGHTS, BIASES, INPUTS))
    wide = loss("nce_loss", LABELS, sampled_values=values(1))
    check_raises(lambda tf: wide(tf, WEIGHTS, BIASES, INPUTS[:, :3]))
    check_raises(lambda tf: tf.nn.nce_loss(WEIGHTS, BIASES, LABELS, INPUTS, 8, 7))


@pytest.mark.parametrize(
    "true_classes, samples, num_true",
    [
        (LABELS, SAMPLES, 1),
        (TWO_LABELS, SAMPLES, 2),
        ([[1, 2]], [2, 2, 1], 2),
        ([[1, 1]], [1], 2),
        ([[1, 2]], [3], 2),
        (np.zeros((0, 2), np.int64), [3], 2),
        (TWO_LABELS, SAMPLES, 1),
        ([1, 2], [3], 2),
        ([[1]], [[1]], 1),
    ],
)
def test_accidental_hits(true_classes, samples, num_true):
    check(
        lambda tf, t, s: tf.nn.compute_accidental_hits(t, s, num_true),
        np.asarray(true_classes, np.int64),
        np.asarray(samples, np.int64),
        may_raise=True,
    )
