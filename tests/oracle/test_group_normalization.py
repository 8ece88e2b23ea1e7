"""Group normalization as one operation, against its formula in the original's operations."""

import numpy as np
import pytest
import tensorflow
from compare import check
from hypothesis import given, settings, strategies as st

import runnel
from runnel.ops.nn import group_normalization


def numbers(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(dtype)


def normalized(groups, axis, epsilon):
    """A function of an image, a scale and an offset, for both sides."""

    def normalize(tf, x, scale, offset):
        if tf is runnel:
            return group_normalization.group_norm(x, scale, offset, groups, axis, epsilon)
        front = tf.experimental.numpy.moveaxis(x, axis, 1)
        grouped = tf.reshape(front, [tf.shape(x)[0], groups, -1])
        mean = tf.reduce_mean(grouped, 2, keepdims=True)
        variance = tf.math.reduce_variance(grouped, 2, keepdims=True)
        normal = tf.reshape((grouped - mean) / tf.sqrt(variance + epsilon), tf.shape(front))
        return tf.experimental.numpy.moveaxis(normal, 1, -1) * scale + offset

    def with_channels_back(tf, x, scale, offset):
        result = normalize(tf, x, scale, offset)
        if tf is runnel:
            return result
        return tf.experimental.numpy.moveaxis(result, -1, axis)

    return with_channels_back


@st.composite
def images(draw):
    axis = draw(st.integers(1, 3))
    rank = draw(st.integers(axis + 1, 4))
    groups, width = draw(st.sampled_from([(1, 1), (1, 4), (2, 1), (2, 3), (4, 2)]))
    sizes = [draw(st.integers(1, 5)) for _ in range(rank)]
    sizes[axis] = groups * width
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    return sizes, groups, axis, dtype


@settings(max_examples=12, deadline=None)
@given(case=images(), seed=st.integers(0, 99))
def test_small(case, seed):
    sizes, groups, axis, dtype = case
    x = numbers(*sizes, seed=seed, dtype=dtype)
    vectors = [numbers(sizes[axis], seed=seed + each, dtype=dtype) for each in (1, 2)]
    check(normalized(groups, axis, 0.1), x, *vectors, tolerance=1e-4)


@pytest.mark.parametrize(
    ("shape", "groups", "axis"),
    [
        ((3, 64, 64, 32), 8, 3),
        ((2, 300, 200, 6), 2, 3),
        ((2, 24, 33, 65), 3, 1),
        ((70, 12, 64), 32, 2),
        ((2, 30, 16, 20), 4, 2),
        ((300, 96), 6, 1),
    ],
    ids=str,
)
def test_blocks(shape, groups, axis):
    """More than pass by at once, joined rows or not, and means far from zero."""
    x = numbers(*shape) * 3 + np.arange(shape[axis]).reshape([-1] + [1] * (len(shape) - axis - 1))
    vectors = [numbers(shape[axis], seed=each) for each in (1, 2)]
    function = normalized(groups, axis, 1e-3)
    assert np.prod(shape) < group_normalization._BLOCK or shape[0] > 1
    check(function, x.astype(np.float32), *vectors, second_order=False, smooth=False,
          tolerance=1e-4)  # fmt: skip


def test_nothing():
    vector = np.ones(4, np.float32)
    function = normalized(2, 2, 1e-3)
    check(function, np.zeros((0, 3, 4), np.float32), vector, vector, smooth=False)
    check(function, np.zeros((2, 0, 4), np.float32), vector, vector, gradient=False)


@pytest.mark.parametrize("options", [{}, {"scale": False}, {"center": False}, {"axis": 1}], ids=str)
def test_of_any_size(options):
    """In a function that knows the channels alone, with the gradients, and at half precision."""
    x = numbers(3, 8, 5, 8)

    def gradients(tf, dtype):
        layer = tf.keras.layers.GroupNormalization(4, dtype=dtype, **options)
        layer.build([None, 8, None, 8])

        @tf.function(input_signature=[tf.TensorSpec([None, 8, None, 8])])
        def step(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                result = layer(x)
                loss = tf.reduce_sum(tf.cast(result, tf.float32) ** 3)
            return [result, *tape.gradient(loss, [x, *layer.trainable_variables])]

        return [tf.cast(each, tf.float32).numpy() for each in step(tf.constant(x))]

    for dtype, tolerance in (("float32", 1e-4), ("mixed_float16", 2e-2)):
        for wanted, got in zip(gradients(tensorflow, dtype), gradients(runnel, dtype), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * 20)


class Normal(runnel.Module):
    """A layer in a module, and its gradients."""

    def __init__(self):
        super().__init__()
        self.layer = runnel.keras.layers.GroupNormalization(2)
        self.layer.build([None, None, 6])
        self.layer.set_weights([numbers(6, seed=1), numbers(6, seed=2)])
        self.weights = self.layer.weights

    @runnel.function(input_signature=[runnel.TensorSpec([None, None, 6])])
    def call(self, x):
        with runnel.GradientTape() as tape:
            tape.watch(x)
            result = self.layer(x)
            loss = runnel.reduce_sum(result**3)
        return [result, *tape.gradient(loss, [x, *self.weights])]


def test_saved(tmp_path):
    """The original runs a saved layer and its gradients, with the operations that it has."""
    module, x = Normal(), numbers(2, 5, 6)
    runnel.saved_model.save(module, str(tmp_path))
    wanted = module.call(runnel.constant(x))
    for library in (runnel, tensorflow):
        loaded = library.saved_model.load(str(tmp_path))
        got = loaded.call(library.constant(x))
        for a, b in zip(wanted, got, strict=True):
            np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=1e-3, atol=1e-4)
