"""Kernels give what TensorFlow gives where sizes, orders in memory and numbers are unusual."""

import numpy as np
import pytest
import tensorflow

import runnel
from runnel.engines.onednn import library


def random(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def agree(program, *arrays, tolerance=1e-3):
    """Compare `program(tf, *tensors)`, eager and traced, with what TensorFlow gives."""
    wanted = [each.numpy() for each in program(tensorflow, *map(tensorflow.constant, arrays))]
    for call in (program, runnel.function(program)):
        got = call(runnel, *map(runnel.constant, arrays))
        for found, expected in zip(got, wanted, strict=True):
            np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def with_gradients(convolve):
    """What a convolution gives, and its gradients for those of its results."""

    def program(tf, images, filters, gradients):
        with tf.GradientTape() as tape:
            tape.watch([images, filters])
            result = convolve(tf, images, filters)
        gradients = gradients[:, : result.shape[1], : result.shape[2]]
        return [result, *tape.gradient(result, [images, filters], gradients)]

    return program


IMAGES, FILTERS, GRADIENTS = (
    random(0, 2, 16, 16, 16),
    random(1, 3, 3, 16, 8),
    random(2, 2, 16, 16, 8),
)


def at_corners(array, *values):
    """A copy with some values at the first places of some channels."""
    array = array.copy()
    for channel, value in enumerate(values):
        array[(0,) * (array.ndim - 1) + (channel,)] = value
    return array


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_infinities_meet_the_zeros_around_images(engine, padding, stride):
    program = with_gradients(lambda tf, x, w: tf.nn.conv2d(x, w, stride, padding))
    broken = at_corners(FILTERS, np.inf, np.nan)
    agree(program, IMAGES, broken, GRADIENTS)
    agree(program, IMAGES, FILTERS, at_corners(GRADIENTS, np.inf, np.nan))
    agree(program, at_corners(IMAGES, np.inf, np.nan), FILTERS, GRADIENTS)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_infinities_meet_the_zeros_in_each_channel(engine, padding, stride):
    strides = [1, stride, stride, 1]
    program = with_gradients(lambda tf, x, w: tf.nn.depthwise_conv2d(x, w, strides, padding))
    filters, gradients = random(3, 3, 3, 16, 2), random(4, 2, 16, 16, 32)
    broken = filters.copy()
    broken[0, 0, 0, 0], broken[2, 2, 1, 1] = np.inf, np.nan
    agree(program, IMAGES, broken, gradients)
    agree(program, IMAGES, filters, at_corners(gradients, np.inf, np.nan))


def test_infinities_meet_zeros_that_were_padded_before(engine):
    sizes = [[0, 0], [1, 1], [1, 1], [0, 0]]

    def program(tf, images, filters):
        return [tf.nn.conv2d(tf.pad(images, sizes), filters, 1, "VALID")]

    agree(program, IMAGES, at_corners(FILTERS, np.inf, np.nan))


def test_filters_that_are_kept_may_be_infinite(engine):
    filters = runnel.constant(at_corners(FILTERS, np.nan))
    results = [runnel.nn.conv2d(IMAGES, filters, 1, "SAME").numpy() for _ in range(5)]
    for result in results:
        assert np.isnan(result[..., 0]).all() and np.isfinite(result[..., 1:]).all()


def test_filters_of_nan_alone_stay_the_engines():
    if library.load() is None:
        pytest.skip("oneDNN's library is not there")
    from runnel.engines.onednn.reorder import is_regular

    assert is_regular(FILTERS) and is_regular(np.full((3, 3), np.nan, "float32"))
    assert not is_regular(at_corners(FILTERS, np.nan)) and not is_regular(
        at_corners(FILTERS, -np.inf)
    )


@pytest.mark.parametrize("column", [np.s_[:, 1], np.s_[::-1, 0], np.s_[:, 2]])
@pytest.mark.parametrize("depthwise", [False, True])
def test_biases_that_do_not_lie_together(engine, depthwise, column):
    filters = random(5, 3, 3, 16, 1) if depthwise else random(5, 3, 3, 16, 16)

    def program(tf, images, filters, biases):
        if depthwise:
            result = tf.nn.depthwise_conv2d(images, filters, [1, 1, 1, 1], "SAME")
        else:
            result = tf.nn.conv2d(images, filters, 1, "SAME")
        return [tf.nn.relu(tf.nn.bias_add(result, biases[column]))]

    agree(program, IMAGES, filters, random(6, 16, 3))


@pytest.mark.parametrize("shape", [(1,), (3,), (17,), (1, 8), ()])
def test_biases_that_do_not_fit_are_refused(engine, shape):
    anything = runnel.TensorSpec(None)

    @runnel.function(input_signature=[anything] * 3)
    def convolved(images, filters, bias):
        return runnel.nn.relu(
            runnel.nn.bias_add(runnel.nn.conv2d(images, filters, 1, "SAME"), bias)
        )

    matrices = runnel.TensorSpec([None, None])

    @runnel.function(input_signature=[matrices, matrices, anything])
    def multiplied(a, b, bias):
        return runnel.nn.relu(runnel.nn.bias_add(runnel.matmul(a, b), bias))

    with pytest.raises(runnel.errors.InvalidArgumentError):
        convolved(IMAGES, FILTERS, runnel.zeros(shape))
    with pytest.raises(runnel.errors.InvalidArgumentError):
        multiplied(IMAGES[0, 0], FILTERS[0, 0], runnel.zeros(shape))


def test_moments_that_do_not_fit_are_refused(engine):
    anything = runnel.TensorSpec(None)

    @runnel.function(input_signature=[anything] * 6)
    def normalized(images, filters, *vectors):
        result = runnel.nn.conv2d(images, filters, 1, "SAME")
        return runnel.compat.v1.nn.fused_batch_norm(result, *vectors, is_training=False)[0]

    fitting = runnel.ones([8])
    normalized(IMAGES, FILTERS, *[fitting] * 4)
    for place in range(4):
        vectors = [runnel.ones([1]) if each == place else fitting for each in range(4)]
        with pytest.raises(runnel.errors.InvalidArgumentError):
            normalized(IMAGES, FILTERS, *vectors)


@pytest.mark.parametrize("depthwise", [False, True])
def test_a_bias_along_the_width_of_images_with_channels_first(engine, depthwise):
    filters = random(7, 3, 3, 16, 1 if depthwise else 8)

    def steps(images, bias):
        if depthwise:
            result = runnel.nn.depthwise_conv2d(
                images, filters, [1, 1, 1, 1], "SAME", data_format="NCHW"
            )
        else:
            result = runnel.nn.conv2d(images, filters, 1, "SAME", data_format="NCHW")
        return runnel.nn.bias_add(result, bias)

    images, bias = runnel.constant(random(8, 2, 16, 12, 14)), runnel.constant(random(9, 14))
    wanted = steps(images, bias)
    np.testing.assert_allclose(runnel.function(steps)(images, bias), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("mean", [10.0, 1e3, 1e5])
def test_means_of_many_deviations_leave_the_digits(engine, mean):
    images = random(10, 4, 9, 8, 16) * np.float32(0.01) + np.float32(mean)
    filters = np.eye(16, dtype="float32")[np.newaxis, np.newaxis]
    vectors = random(11, 16), random(12, 16), np.full(16, mean, "float32"), np.full(16, 1e-4, "f")

    def program(tf, images, filters, *vectors):
        normalize = tf.compat.v1.nn.fused_batch_norm
        results = [images, tf.nn.conv2d(images, filters, 1, "SAME")]
        return [normalize(x, *vectors, epsilon=1e-5, is_training=False)[0] for x in results]

    agree(program, images, filters, *vectors, tolerance=3e-4)


def test_infinite_scales_give_infinities(engine):
    scale, mean = at_corners(random(13, 16), np.inf, -np.inf, np.nan, 0), random(14, 16)
    mean[4:7] = np.inf, np.nan, 1e30
    variance = np.abs(random(15, 16)) + np.float32(0.1)
    variance[7:11] = np.inf, np.nan, 0, -1
    filters = random(16, 3, 3, 16, 16)

    def program(tf, images, filters, *vectors):
        normalize = tf.compat.v1.nn.fused_batch_norm
        results = [images, tf.nn.conv2d(images, filters, 1, "VALID")]
        normal = [normalize(x, *vectors, is_training=False)[0] for x in results]
        return [*normal, *map(tf.nn.relu, normal), *map(tf.nn.relu6, normal)]

    agree(program, IMAGES, filters, scale, random(17, 16), mean, variance)
