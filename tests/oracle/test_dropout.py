"""Dropout against TensorFlow: the same elements fall for the same seed."""

import ml_dtypes
import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

X = np.linspace(1.0, 2.0, 12, dtype=np.float32).reshape(3, 4)


def seeded(function, seed=5):
    def call(tf, *arguments):
        tf.random.set_seed(seed)
        return function(tf, *arguments)

    return call


@settings(max_examples=10)
@given(
    x=hnp.arrays(
        np.float32,
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5),
        elements=st.floats(-2, 2, width=32),
    ),
    rate=st.sampled_from([0, 0.0, 0.1, 0.5, 0.9]),
    seed=st.none() | st.integers(0, 9),
)
def test_dropout(x, rate, seed):
    check(seeded(lambda tf, x: tf.nn.dropout(x, rate, seed=seed)), x, smooth=False, traced=False)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float64])
def test_dtypes(dtype):
    x = X.astype(dtype)
    check(seeded(lambda tf, x: tf.nn.dropout(x, 0.4)), x, smooth=False, traced=False)


@pytest.mark.parametrize("rate", [0.0, 0.25, 1.0, 2.0])
def test_rate_as_tensor(rate):
    check(
        seeded(lambda tf, x, rate: tf.nn.dropout(x, rate)),
        X,
        np.array(rate, np.float32),
        smooth=False,
        traced=False,
        second_order=False,
        gradient=rate < 1,
    )


@pytest.mark.parametrize(
    "noise_shape", [[3, 1], [1, 4], [None, 1], [3, None], [4], [2, 3, 4], [2, 4], [None], [1, 1]]
)
def test_noise_shape(noise_shape):
    check(
        seeded(lambda tf, x: tf.nn.dropout(x, 0.5, noise_shape=noise_shape)),
        X,
        smooth=False,
        traced=False,
        may_raise=True,
    )


def test_noise_shape_as_tensor():
    check(
        seeded(lambda tf, x: tf.nn.dropout(x, 0.5, noise_shape=tf.constant([3, 1]))),
        X,
        smooth=False,
        traced=False,
    )


def test_dropped_elements_are_zero_whatever_they_were():
    x = np.array([np.nan, np.inf, -np.inf] * 8, np.float32)
    check(seeded(lambda tf, x: tf.nn.dropout(x, 0.5)), x, gradient=False, traced=False)


def test_rate_zero_returns_x_and_takes_a_seed():
    import runnel

    x = runnel.constant(X)
    assert runnel.nn.dropout(x, 0) is x

    def after(tf):
        tf.nn.dropout(X, 0.0)
        return tf.random.uniform([3])

    check(seeded(after), traced=False)


@pytest.mark.parametrize("rate", [1, 1.0, -0.1, 2, True, "a", None, [0.5]])
def test_wrong_rate(rate):
    check_raises(lambda tf: tf.nn.dropout(X, rate))


def test_wrong_arguments():
    check_raises(lambda tf: tf.nn.dropout(X, tf.constant([0.5])))
    check_raises(lambda tf: tf.nn.dropout(X, tf.constant(0.5, tf.float64)))
    check_raises(lambda tf: tf.nn.dropout(X, tf.constant(1)))
    for x in ([1, 2], [1j], [True], ["a"]):
        check_raises(lambda tf: tf.nn.dropout(x, 0.5))
        check_raises(lambda tf: tf.nn.dropout(x, 0.0))


@pytest.mark.parametrize("seed", [[1, 2], [3, 4]])
@pytest.mark.parametrize("noise_shape", [None, [3, 1]])
@pytest.mark.parametrize("algorithm", [None, "philox", "auto_select"])
def test_stateless(seed, noise_shape, algorithm):
    check(
        lambda tf, x: tf.nn.experimental.stateless_dropout(
            x, 0.5, seed=seed, rng_alg=algorithm, noise_shape=noise_shape
        ),
        X,
        smooth=False,
    )


def test_stateless_wrong_arguments():
    for options in ({"seed": [1]}, {"seed": None}, {"seed": [1, 2], "rng_alg": "dice"}):
        check_raises(lambda tf: tf.nn.experimental.stateless_dropout(X, 0.5, **options))
    check_raises(lambda tf: tf.nn.experimental.stateless_dropout(X, 1.5, seed=[1, 2]))


@pytest.mark.parametrize("noise_shape", [None, [3, 1]])
def test_general(noise_shape):
    def sampler(tf):
        def sample(shape, dtype):
            size = tf.reduce_prod(shape)
            steps = tf.range(size) / size
            return tf.reshape(tf.cast(steps, dtype), shape)

        return sample

    check(
        lambda tf, x: tf.nn.experimental.general_dropout(
            x, 0.5, uniform_sampler=sampler(tf), noise_shape=noise_shape
        ),
        X,
        smooth=False,
    )
