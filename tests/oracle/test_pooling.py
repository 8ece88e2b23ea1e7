"""Pooling of every kind, morphology and local response normalization, beside the original.

The original's CPU kernels lack channels-first layouts: there the same number is computed between
transpositions.
"""

import numpy as np
import pytest
import tensorflow
from compare import assert_same, check, check_raises, gradients_of
from hypothesis import assume, given, settings, strategies as st

import runnel

PADDINGS = st.sampled_from(["SAME", "VALID"])


@st.composite
def windows(draw, dimensions, largest=6):
    sizes = draw(st.lists(st.integers(1, largest), min_size=dimensions, max_size=dimensions))
    kernel = draw(st.lists(st.integers(1, 3), min_size=dimensions, max_size=dimensions))
    strides = draw(st.lists(st.integers(1, 3), min_size=dimensions, max_size=dimensions))
    return sizes, kernel, strides


def has_output(sizes, kernel, padding):
    """Whether any window fits: the original leaves gradients unset where none does."""
    return padding == "SAME" or all(a <= b for a, b in zip(kernel, sizes, strict=True))


def distinct(draw, shape, dtype=np.float64):
    """Numbers that differ by more than the steps of finite differences."""
    seed = draw(st.integers(0, 2**16))
    values = np.random.default_rng(seed).permutation(int(np.prod(shape)))
    return (values / 8 - 3).reshape(shape).astype(dtype)


def tied(draw, shape, dtype):
    """Few different numbers, so that windows have several maxima."""
    seed = draw(st.integers(0, 2**16))
    return np.random.default_rng(seed).integers(0, 3, shape).astype(dtype)


def channels_last(tf, function, images):
    """A channels-first call as a channels-last one between transpositions."""
    rank = len(images.shape)
    result = function(tf.transpose(images, [0, *range(2, rank), 1]))
    return tf.transpose(result, [0, rank - 1, *range(1, rank - 1)])


def pooled_in_layout(name, first, kernel, strides, padding):
    """A pooling function of (tf, images) in either layout, whatever the original can do."""
    layout = "NC" + "DHW"[-len(kernel) :]

    def pool(tf, images):
        function = getattr(tf.nn, name)
        if first and tf is runnel:
            return function(images, kernel, strides, padding, layout)

        def each(images):
            return function(images, kernel, strides, padding)

        return channels_last(tf, each, images) if first else each(images)

    return pool


@given(st.data())
def test_max_pool2d(data):
    sizes, kernel, strides = data.draw(windows(2))
    padding, first = data.draw(PADDINGS), data.draw(st.booleans())
    shape = (2, *sizes) if first else (*sizes, 2)
    pool = pooled_in_layout("max_pool2d", first, kernel, strides, padding)
    images = distinct(data.draw, (data.draw(st.integers(0, 2)), *shape))
    check(pool, images, gradient=has_output(sizes, kernel, padding))


@pytest.mark.parametrize(
    "dtype", ["float32", "float16", "bfloat16", "float64", "int32", "int64", "int8", "uint8"]
)
@settings(max_examples=8)
@given(st.data())
def test_ties_of_max_pool2d(dtype, data):
    sizes, kernel, strides = data.draw(windows(2))
    padding = data.draw(PADDINGS)
    images = tied(data.draw, (2, *sizes, 2), runnel.as_dtype(dtype).as_numpy_dtype)
    check(
        lambda tf, x: tf.nn.max_pool2d(x, kernel, strides, padding),
        images,
        gradient=has_output(sizes, kernel, padding),
        smooth=False,
    )


@settings(max_examples=15)
@given(st.data())
def test_max_pool2d_with_explicit_padding(data):
    sizes, kernel, strides = data.draw(windows(2))
    pairs = [[data.draw(st.integers(0, k - 1)), data.draw(st.integers(0, k - 1))] for k in kernel]
    padded = [size + sum(pair) for size, pair in zip(sizes, pairs, strict=True)]
    assume(has_output(padded, kernel, pairs))
    check(
        lambda tf, x: tf.nn.max_pool2d(x, kernel, strides, [[0, 0], *pairs, [0, 0]]),
        distinct(data.draw, (2, *sizes, 2)),
    )


@pytest.mark.parametrize("first", [[np.nan, 1, 2, 3], [1, np.nan, 3, 2], [np.nan] * 4])
@pytest.mark.parametrize("other", [[-np.inf] * 4, [-np.inf, 1, np.inf, 0]])
def test_max_pool2d_of_what_is_not_finite(first, other):
    images = np.array([first, other], np.float32).reshape(2, 2, 2, 1)
    check(lambda tf, x: tf.nn.max_pool2d(x, 2, 2, "VALID"), images, gradient=False)


def test_gradient_of_max_pool2d_where_all_is_nan_or_minus_infinity():
    images = np.array([[np.nan] * 4, [-np.inf] * 4], np.float32).reshape(2, 2, 2, 1)

    def pool(tf, x):
        return tf.nn.max_pool2d(x, 2, 2, "VALID")

    expected = gradients_of(tensorflow, pool, [images], [0])
    assert_same(expected, gradients_of(runnel, pool, [images], [0]))


def test_infinite_gradients_stay_where_the_maximum_is():
    images = np.array([1, 4, 3, 2], np.float32).reshape(1, 2, 2, 1)

    def gradient(tf, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.max_pool2d(x, 2, 2, "VALID")
        return tape.gradient(y, x, tf.fill([1, 1, 1, 1], float("inf")))

    check(gradient, images, gradient=False)


@pytest.mark.parametrize("window", [1, 2, 3, 6])
def test_max_pool2d_over_channels(window):
    images = np.random.default_rng(0).permutation(48).reshape(2, 2, 2, 6) / 4

    def pool(tf, x):
        return tf.nn.max_pool2d(x, [1, 1, 1, window], [1, 1, 1, window], "VALID")

    check(pool, images, gradient=False)
    if window > 1:
        # The original has no gradient here: all of it goes to the greatest channel.
        (gradient,) = gradients_of(runnel, pool, [images], [0])
        grouped = images.reshape(2, 2, 2, -1, window)
        greatest = (grouped == grouped.max(-1, keepdims=True)).reshape(images.shape)
        np.testing.assert_array_equal(gradient.numpy() != 0, greatest)


@given(st.data())
def test_avg_pool2d(data):
    sizes, kernel, strides = data.draw(windows(2))
    padding, first = data.draw(PADDINGS), data.draw(st.booleans())
    shape = (2, *sizes) if first else (*sizes, 2)
    pool = pooled_in_layout("avg_pool2d", first, kernel, strides, padding)
    images = distinct(data.draw, (data.draw(st.integers(0, 2)), *shape))
    check(pool, images, gradient=has_output(sizes, kernel, padding))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_avg_pool2d_in_other_dtypes(dtype):
    images = np.random.default_rng(0).integers(0, 9, (2, 5, 6, 3))
    images = images.astype(runnel.as_dtype(dtype).as_numpy_dtype)
    check(lambda tf, x: tf.nn.avg_pool2d(x, 3, 2, "SAME"), images, second_order=False)


@settings(max_examples=15)
@given(st.data())
def test_pooling_in_three_dimensions(data):
    sizes, kernel, strides = data.draw(windows(3, largest=4))
    # Windows shorter than their stride begin elsewhere in the original's 3-D kernels.
    strides = [min(pair) for pair in zip(strides, kernel, strict=True)]
    padding, first = data.draw(PADDINGS), data.draw(st.booleans())
    assume(has_output(sizes, kernel, padding))
    shape = (2, 2, *sizes) if first else (2, *sizes, 2)
    pool = pooled_in_layout("avg_pool3d", first, kernel, strides, padding)
    check(pool, distinct(data.draw, shape, np.float32))
    pool = pooled_in_layout("max_pool3d", first, kernel, strides, padding)
    check(pool, distinct(data.draw, shape, np.float32))
    if not first:
        check(pool, tied(data.draw, shape, np.float32), second_order=False)


@settings(max_examples=15)
@given(st.data())
def test_pooling_in_one_dimension(data):
    (size,), (taps,), (stride,) = data.draw(windows(1))
    padding, first = data.draw(PADDINGS), data.draw(st.booleans())
    assume(has_output([size], [taps], padding))
    shape = (2, 3, size) if first else (2, size, 3)
    for name in ("max_pool1d", "avg_pool1d"):
        pool = pooled_in_layout(name, first, [taps], [stride], padding)
        check(pool, distinct(data.draw, shape))


@pytest.mark.parametrize("name", ["max_pool", "avg_pool"])
@pytest.mark.parametrize("rank", [3, 4, 5])
def test_pooling_by_rank(name, rank):
    images = np.random.default_rng(1).permutation(5 ** (rank - 2) * 4) / 8
    images = images.reshape(2, *(5,) * (rank - 2), 2).astype(np.float32)

    def pool(layout):
        return lambda tf, x: getattr(tf.nn, name)(x, 2, 2, "SAME", layout)

    check(pool(("NWC", "NHWC", "NDHWC")[rank - 3]), images)
    # Without a layout the original's gradient of three dimensions fails.
    check(pool(None), images, gradient=False, traced=rank == 4)


@given(st.data())
def test_max_pool_with_argmax(data):
    sizes, kernel, strides = data.draw(windows(2))
    padding, batch = data.draw(PADDINGS), data.draw(st.booleans())
    assume(has_output(sizes, kernel, padding))
    dtype = data.draw(st.sampled_from(["int32", "int64"]))
    images = tied(data.draw, (2, *sizes, 2), np.float32)
    images[data.draw(st.integers(0, 1)), 0, 0] = data.draw(st.sampled_from([1, np.nan, -np.inf]))

    def pool(tf, x):
        return tf.nn.max_pool_with_argmax(
            x,
            kernel,
            strides,
            padding,
            output_dtype=dtype,
            include_batch_in_index=batch,
        )

    # The original's gradient takes 64-bit positions only.
    check(pool, images, gradient=dtype == "int64", smooth=False, traced=False)


def test_derivatives_of_max_pool_with_argmax():
    images = np.random.default_rng(2).permutation(72).reshape(2, 6, 3, 2) / 8
    check(lambda tf, x: tf.nn.max_pool_with_argmax(x, 2, 1, "SAME")[0], images)


@pytest.mark.parametrize(
    "call",
    [
        lambda tf, x: tf.nn.pool(x, [2, 2], "MAX"),
        lambda tf, x: tf.nn.pool(x, [2, 3], "AVG", [2, 1], "SAME"),
        lambda tf, x: tf.nn.pool(x, [2, 2], "MAX", dilations=[2, 1]),
        lambda tf, x: tf.nn.pool(x, [3, 2], "AVG", dilations=[2, 3]),
        lambda tf, x: tf.nn.pool(x, [2, 2], "MAX", padding=[[0, 0], [1, 0], [1, 1], [0, 0]]),
        lambda tf, x: tf.nn.pool(tf.reshape(x, [2, 42, 2]), [2], "MAX", [2]),
    ],
)
def test_pool(call):
    images = np.random.default_rng(3).permutation(168).reshape(2, 7, 6, 2) / 8
    check(call, images)


def test_pool_in_three_dimensions():
    volumes = np.random.default_rng(3).permutation(168).reshape(2, 7, 3, 2, 2).astype(np.float32)
    check(lambda tf, x: tf.nn.pool(x, [2, 2, 1], "AVG", data_format="NDHWC"), volumes)
    check(lambda tf, x: tf.nn.pool(x, [2, 1, 2], "MAX", data_format="NDHWC"), volumes)


@given(st.data())
def test_dilation2d(data):
    sizes, kernel, strides = data.draw(windows(2))
    padding = data.draw(PADDINGS)
    rates = data.draw(st.lists(st.integers(1, 2), min_size=2, max_size=2))
    # Gaps can keep every tap off a small image: the original invents a gradient then.
    assume(all(rate == 1 or rate < size for rate, size in zip(rates, sizes, strict=True)))
    images = distinct(data.draw, (2, *sizes, 2))
    # Sums with these differ from each other, too.
    filters = distinct(data.draw, (*kernel, 2)) / 64
    check(
        lambda tf, x, w: tf.nn.dilation2d(x, w, [1, *strides, 1], padding, "NHWC", [1, *rates, 1]),
        images,
        filters,
        may_raise=True,
    )


@settings(max_examples=10)
@given(st.data())
def test_erosion2d(data):
    sizes, kernel, strides = data.draw(windows(2))
    padding = data.draw(PADDINGS)
    check(
        lambda tf, x, w: tf.nn.erosion2d(x, w, [1, *strides, 1], padding, "NHWC", [1] * 4),
        distinct(data.draw, (2, *sizes, 2)),
        distinct(data.draw, (*kernel, 2)) / 64,
    )


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8", "int64"])
def test_ties_of_dilation2d(dtype):
    random = np.random.default_rng(4)
    images = random.integers(0, 3, (2, 5, 4, 2)).astype(dtype)
    filters = random.integers(0, 2, (2, 3, 2)).astype(dtype)

    def dilate(tf, x, w):
        return tf.nn.dilation2d(x, w, [1, 1, 2, 1], "SAME", "NHWC", [1, 2, 1, 1])

    check(dilate, images, filters, smooth=False, second_order=False)


def test_dilation2d_of_what_is_not_finite():
    images = np.random.default_rng(6).normal(size=(1, 6, 5, 2)).astype(np.float32)
    images[0, 1, 1] = np.nan, np.inf
    images[0, 4:, 3:] = -np.inf
    images[0, :2, 4] = np.finfo(np.float32).min
    check(
        lambda tf, x: tf.nn.dilation2d(x, tf.zeros([2, 2, 2]), [1] * 4, "SAME", "NHWC", [1] * 4),
        images,
        gradient=False,
    )


@settings(max_examples=15)
@given(st.data())
def test_local_response_normalization(data):
    shape = (data.draw(st.integers(0, 2)), 2, 2, data.draw(st.integers(1, 7)))
    radius = data.draw(st.integers(0, 4))
    bias, alpha = data.draw(st.sampled_from([(1, 1), (2.0, 0.5), (1.5, 1e-3)]))
    beta = data.draw(st.sampled_from([0.5, 0.75, 1]))
    check(
        lambda tf, x: tf.nn.local_response_normalization(x, radius, bias, alpha, beta),
        distinct(data.draw, shape, np.float32),
    )


def test_second_derivative_of_local_response_normalization():
    # The original has none; its own first derivative is differentiated numerically.
    random = np.random.default_rng(5)
    images, slope, direction = random.uniform(-1, 1, (3, 1, 2, 2, 5)).astype(np.float32)

    def gradient(tf, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.lrn(x, 1, 1.5, 0.7, 0.6)
        return tape.gradient(y, x, tf.constant(slope))

    step = np.float32(1e-2)
    ahead = gradient(tensorflow, tensorflow.constant(images + step * direction))
    behind = gradient(tensorflow, tensorflow.constant(images - step * direction))
    x = runnel.constant(images)
    with runnel.GradientTape() as tape:
        tape.watch(x)
        along = runnel.reduce_sum(gradient(runnel, x) * direction)
    exact = tape.gradient(along, x).numpy()
    np.testing.assert_allclose(exact, (ahead - behind).numpy() / (2 * step), atol=1e-3)


@pytest.mark.parametrize("name", ["fractional_max_pool", "fractional_avg_pool"])
@settings(max_examples=15)
@given(st.data())
def test_fractional_pooling(name, data):
    sizes = [data.draw(st.integers(2, 12)) for _ in range(2)]
    ratios = [data.draw(st.floats(1, min(size, 3))) for size in sizes]
    pseudo_random, overlapping = data.draw(st.booleans()), data.draw(st.booleans())
    seed, global_seed = data.draw(st.integers(1, 99)), data.draw(st.sampled_from([None, 5, 2**40]))

    def pool(tf, x):
        tf.random.set_seed(global_seed)
        return getattr(tf.nn, name)(x, [1.0, *ratios, 1.0], pseudo_random, overlapping, seed)

    try:
        check(pool, distinct(data.draw, (2, *sizes, 2)))
        check(pool, tied(data.draw, (2, *sizes, 2), np.int32), gradient=False, traced=False)
    finally:
        tensorflow.random.set_seed(None)
        runnel.random.set_seed(None)


@pytest.mark.parametrize("name", ["fractional_max_pool", "fractional_avg_pool"])
def test_second_derivative_of_fractional_pooling(name):
    images = np.random.default_rng(3).permutation(72).reshape(1, 6, 6, 2).astype(np.float64)
    ratios = [1.0, 1.5, 1.5, 1.0]
    check(lambda tf, x: tf.square(getattr(tf.nn, name)(x / 72, ratios, seed=7)[0]), images)


POOLINGS = {
    "avg_pool2d": lambda nn, x: nn.avg_pool2d(x, 2, 2, "SAME"),
    "avg_pool3d": lambda nn, x: nn.avg_pool3d(x[..., None], 2, 2, "SAME"),
    "max_pool2d": lambda nn, x: nn.max_pool2d(x, 2, 2, "SAME"),
    "max_pool3d": lambda nn, x: runnel.cast(
        nn.max_pool3d(runnel.cast(x[..., None], "float32"), 2, 2, "SAME"), "float64"
    ),
    "max_pool_with_argmax": lambda nn, x: nn.max_pool_with_argmax(x, 2, 2, "SAME")[0],
    "dilation2d": lambda nn, x: nn.dilation2d(
        x, x[0, :2, :2], [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1]
    ),
    "fractional_max_pool": lambda nn, x: nn.fractional_max_pool(x, 1.5, seed=7)[0],
    "fractional_avg_pool": lambda nn, x: nn.fractional_avg_pool(x, [1.0, 1.5, 1.5, 1.0], seed=7)[0],
}


@pytest.mark.parametrize("name", POOLINGS)
def test_third_derivatives(name):
    """What the second derivatives are made of can be differentiated, too."""
    images = np.random.default_rng(4).random((1, 5, 5, 1)) + 0.1

    def second(x):
        with runnel.GradientTape() as outer:
            outer.watch(x)
            with runnel.GradientTape() as inner:
                inner.watch(x)
                pooled = POOLINGS[name](runnel.nn, x)
                y = runnel.reduce_sum(pooled * pooled * pooled)
            slope = runnel.reduce_sum(inner.gradient(y, x) * x)
        return outer.gradient(slope, x)

    (exact,), (numeric,) = runnel.test.compute_gradient(second, [images], delta=1e-4)
    assert np.abs(exact).max() > 1e-3
    # In three dimensions the maximum is there for single precision only.
    tolerance = 1e-2 if name == "max_pool3d" else 1e-6
    np.testing.assert_allclose(exact, numeric, rtol=tolerance, atol=tolerance)


def test_fractional_pooling_without_a_seed_differs_from_call_to_call():
    images = np.random.default_rng(8).permutation(900).reshape(1, 30, 30, 1).astype(np.float32)
    sequences = {
        tuple(runnel.nn.fractional_max_pool(images, 1.5).row_pooling_sequence.numpy().tolist())
        for _ in range(5)
    }
    assert len(sequences) > 1
    for sequence in sequences:
        assert sequence[0] == 0
        assert sequence[-1] == 30
        assert set(np.diff(sequence)) <= {1, 2}


REFUSED = """
tf.nn.max_pool2d(ones(1, 2, 2, 1), 4, 1, 'VALID')
tf.nn.max_pool2d(ones(1, 2, 2, 1), 0, 1, 'VALID')
tf.nn.max_pool2d(ones(1, 2, 2, 1), 1, 0, 'VALID')
tf.nn.max_pool2d(ones(2, 2, 1), 1, 1, 'VALID')
tf.nn.max_pool2d(ones(1, 1, 2, 2, 1), 1, 1, 'VALID')
tf.nn.max_pool2d(ones(1, 2, 2, 1), [1, 2, 3], 1, 'VALID')
tf.nn.max_pool2d(ones(1, 2, 2, 4), [1, 1, 1, 2], [1, 1, 1, 1], 'VALID')
tf.nn.max_pool2d(ones(1, 2, 2, 4), [1, 2, 2, 2], [1, 2, 2, 2], 'VALID')
tf.nn.max_pool2d(ones(1, 2, 2, 4), [1, 1, 1, 3], [1, 1, 1, 3], 'VALID')
tf.nn.max_pool2d(ones(2, 2, 2, 1), [2, 1, 1, 1], [2, 1, 1, 1], 'VALID')
tf.nn.max_pool2d(ones(2, 2, 2, 1), 2, 2, 'same')
tf.nn.max_pool2d(ones(2, 2, 2, 1), 2, 2, 'SAME', 'NWHC')
tf.nn.max_pool2d(ones(2, 4, 4, 1), 2, 2, [[0, 0], [3, 0], [1, 1], [0, 0]])
tf.nn.max_pool2d(ones(2, 4, 4, 1), 2, 2, [[1, 0], [1, 0]])
tf.nn.max_pool2d(ones(2, 4, 4, 1, dtype='complex64'), 2, 2, 'SAME')
tf.nn.avg_pool2d(ones(1, 2, 2, 1), 4, 1, 'VALID')
tf.nn.avg_pool2d(ones(1, 2, 2, 1), 0, 1, 'VALID')
tf.nn.avg_pool2d(ones(1, 2, 2, 4), [1, 1, 1, 2], [1, 1, 1, 2], 'VALID')
tf.nn.avg_pool2d(ones(1, 2, 2, 4), 2, 2, [[0, 0], [1, 0], [1, 1], [0, 0]])
tf.nn.avg_pool2d(ones(1, 2, 2, 4, dtype='int32'), 2, 2, 'SAME')
tf.nn.avg_pool2d(ones(1, 2, 2, 4), 2, 2, 'EXPLICIT')
tf.nn.max_pool3d(ones(1, 2, 2, 4), 2, 2, 'SAME')
tf.nn.max_pool3d(ones(1, 2, 2, 2, 4, dtype='float64'), 2, 2, 'SAME')
tf.nn.max_pool3d(ones(1, 2, 2, 2, 4), 2, 2, [[0, 0]] * 5)
tf.nn.avg_pool3d(ones(1, 2, 2, 4), 2, 2, 'SAME')
tf.nn.max_pool1d(ones(1, 2, 2, 4), 2, 2, 'SAME')
tf.nn.max_pool1d(ones(1, 4, 2), [1, 2], 2, 'SAME')
tf.nn.avg_pool1d(ones(1, 4, 2), 2, 2, [[0, 0], [1, 1], [0, 0]])
tf.nn.max_pool(ones(1, 1, 4, 4, 4, 2), 2, 2, 'SAME')
tf.nn.avg_pool(ones(4, 2), 2, 2, 'SAME')
tf.nn.max_pool_with_argmax(ones(1, 4, 4, 2), 2, 2, 'SAME', 'NCHW')
tf.nn.max_pool_with_argmax(ones(1, 4, 4, 2), 2, 2, [[0, 0]] * 4)
tf.nn.max_pool_with_argmax(ones(1, 2, 2, 2), 4, 1, 'VALID')
tf.nn.pool(ones(1, 9, 9, 2), [2, 2], 'SUM')
tf.nn.pool(ones(1, 9, 9, 2), [2, 2], 'MAX', dilations=[2, 2], padding='SAME')
tf.nn.pool(ones(1, 9, 9, 2), [2, 2], 'MAX', strides=[2, 2], dilations=[2, 2])
tf.nn.pool(ones(1, 9, 9, 2), [2, 2], 'MAX', strides=[3, 3])
tf.nn.pool(ones(1, 9, 9, 2), 2, 'MAX')
tf.nn.pool(ones(1, 9, 9, 2), [2], 'MAX')
tf.nn.dilation2d(ones(1, 4, 4, 2), ones(2, 2, 3), [1] * 4, 'SAME', 'NHWC', [1] * 4)
tf.nn.dilation2d(ones(1, 4, 4, 2), ones(2, 2, 2), [1] * 4, 'SAME', 'NCHW', [1] * 4)
tf.nn.dilation2d(ones(1, 2, 2, 2), ones(4, 4, 2), [1] * 4, 'VALID', 'NHWC', [1] * 4)
tf.nn.dilation2d(ones(1, 4, 4, 2), ones(2, 2, 2), [1, 1], 'SAME', 'NHWC', [1] * 4)
tf.nn.dilation2d(ones(1, 4, 4, 2), ones(2, 2, 2), [2, 1, 1, 1], 'SAME', 'NHWC', [1] * 4)
tf.nn.dilation2d(ones(1, 4, 4, 2), ones(2, 2, 2), [1, 0, 1, 1], 'SAME', 'NHWC', [1] * 4)
tf.nn.dilation2d(ones(4, 4, 2), ones(2, 2, 2), [1] * 4, 'SAME', 'NHWC', [1] * 4)
tf.nn.dilation2d(ones(1, 4, 4, 2), ones(2, 2, 2, 1), [1] * 4, 'SAME', 'NHWC', [1] * 4)
tf.nn.dilation2d(ones(1, 4, 4, 2), ones(2, 2, 2), [1] * 4, 'FULL', 'NHWC', [1] * 4)
tf.nn.erosion2d(ones(1, 4, 4, 2), ones(2, 2, 2), [1] * 4, 'SAME', 'NCHW', [1] * 4)
tf.nn.lrn(ones(2, 3))
tf.nn.lrn(ones(1, 1, 2, 3, dtype='float64'))
tf.nn.lrn(ones(1, 1, 2, 3), -1)
tf.nn.fractional_max_pool(ones(1, 4, 4, 1), 0.5)
tf.nn.fractional_max_pool(ones(1, 4, 4, 1), [1.5, 1.4])
tf.nn.fractional_max_pool(ones(1, 4, 4, 1), [2, 1.5, 1.5, 1])
tf.nn.fractional_max_pool(ones(1, 4, 4, 1), 'half')
tf.nn.fractional_max_pool(ones(1, 4, 4, 1), 5.0)
tf.nn.fractional_max_pool(ones(4, 4, 1), 1.5)
tf.nn.fractional_max_pool(ones(1, 4, 4, 1, dtype='float16'), 1.5)
tf.nn.fractional_avg_pool(ones(1, 4, 4, 1), 1.5)
tf.nn.fractional_avg_pool(ones(1, 4, 4, 1), [1.0, 0.5, 1.0, 1.0])
tf.nn.fractional_avg_pool(ones(1, 4, 4, 1), [1.0, 1.0, 1.0, 1.5])
"""


@pytest.mark.parametrize("expression", REFUSED.strip().splitlines())
def test_refused_calls(expression):
    def call(tf):
        def ones(*shape, dtype="float32"):
            return tf.cast(tf.ones(shape), dtype)

        return eval(expression, {"tf": tf, "ones": ones})

    check_raises(call)
