"""Convolutions of every kind, blocks of space and patches of volumes, beside the original.

The original's CPU kernels lack channels-first layouts, gradients of dilated and of grouped
convolutions: there the same number is computed by transposing, by filters with zeros between their
taps, and group by group.
"""

import numpy as np
import pytest
from compare import check, check_raises, gradients_of
from hypothesis import assume, given, settings, strategies as st

import runnel
from runnel.ops.nn import convolution_kernels, depthwise_kernels

BATCHES = st.integers(0, 2)
PADDINGS = st.sampled_from(["SAME", "VALID"])


def numbers(draw, shape, dtype=np.float64):
    seed = draw(st.integers(0, 2**16))
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(dtype)


@st.composite
def geometries(draw, dimensions, largest=6):
    """Sizes, kernel and strides of a window that fits at least one stride beyond the input."""
    sizes = draw(st.lists(st.integers(1, largest), min_size=dimensions, max_size=dimensions))
    kernel = draw(st.lists(st.integers(1, 3), min_size=dimensions, max_size=dimensions))
    strides = draw(st.lists(st.integers(1, 3), min_size=dimensions, max_size=dimensions))
    return sizes, kernel, strides


def has_output(sizes, kernel, padding):
    """Whether any window fits: the original's gradients are garbage, or crash, where none does."""
    return padding == "SAME" or all(a <= b for a, b in zip(kernel, sizes, strict=True))


def insert_zeros(tf, filters, dilations):
    """Filters with zeros between their taps: a dense form of dilated ones."""
    for axis, rate in enumerate(dilations):
        size = filters.shape[axis]
        spread = tf.stack([filters] + [tf.zeros_like(filters)] * (rate - 1), axis + 1)
        shape = list(filters.shape)
        shape[axis] = size * rate
        filters = tf.reshape(spread, shape)
        filters = tf.split(filters, [(size - 1) * rate + 1, rate - 1], axis)[0]
    return filters


def in_groups(tf, convolve, images, filters):
    """A grouped convolution as one convolution for every group."""
    groups = images.shape[-1] // filters.shape[-2]
    parts = zip(tf.split(images, groups, -1), tf.split(filters, groups, -1), strict=True)
    return tf.concat([convolve(*part) for part in parts], -1)


def channels_last(tf, function, images, *others):
    """A channels-first call as a channels-last one between transpositions."""
    rank = len(images.shape)
    result = function(tf.transpose(images, [0, *range(2, rank), 1]), *others)
    return tf.transpose(result, [0, rank - 1, *range(1, rank - 1)])


@given(st.data())
def test_conv2d(data):
    sizes, kernel, strides = data.draw(geometries(2))
    depth, count = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    padding = data.draw(PADDINGS)
    images = numbers(data.draw, (data.draw(BATCHES), *sizes, depth))
    filters = numbers(data.draw, (*kernel, depth, count))
    check(
        lambda tf, x, w: tf.nn.conv2d(x, w, strides, padding),
        images,
        filters,
        gradient=has_output(sizes, kernel, padding),
    )


@given(st.data())
def test_conv2d_with_explicit_padding(data):
    sizes, kernel, strides = data.draw(geometries(2))
    pairs = [[0, 0], *data.draw(st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=2),
                                         min_size=2, max_size=2)), [0, 0]]  # fmt: skip
    images = numbers(data.draw, (2, *sizes, 2))
    filters = numbers(data.draw, (*kernel, 2, 3))
    padded = [size + sum(pair) for size, pair in zip(sizes, pairs[1:3], strict=True)]
    check(
        lambda tf, x, w: tf.nn.conv2d(x, w, strides, pairs),
        images,
        filters,
        gradient=has_output(padded, kernel, pairs),
    )


@given(st.data())
def test_conv2d_dilated_grouped_in_any_layout(data):
    sizes, kernel, strides = data.draw(geometries(2, largest=8))
    dilations = data.draw(st.lists(st.integers(1, 3), min_size=2, max_size=2))
    groups, padding = data.draw(st.integers(1, 3)), data.draw(PADDINGS)
    depth, count = data.draw(st.integers(1, 2)), data.draw(st.integers(1, 2))
    first = data.draw(st.booleans())
    shape = (groups * depth, *sizes) if first else (*sizes, groups * depth)
    reach = [(taps - 1) * rate + 1 for taps, rate in zip(kernel, dilations, strict=True)]
    assume(has_output(sizes, reach, padding))

    def convolve(tf, images, filters):
        if tf is runnel:
            layout = "NCHW" if first else "NHWC"
            return tf.nn.conv2d(images, filters, strides, padding, layout, dilations)
        dense = insert_zeros(tf, filters, dilations)

        def grouped(images):
            def each(x, w):
                return tf.nn.conv2d(x, w, strides, padding)

            return in_groups(tf, each, images, dense)

        return channels_last(tf, grouped, images) if first else grouped(images)

    images = numbers(data.draw, (2, *shape))
    check(convolve, images, numbers(data.draw, (*kernel, depth, groups * count)))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int32"])
@pytest.mark.parametrize("depth, count", [(3, 2), (2, 16)])
def test_conv2d_in_other_dtypes(dtype, depth, count):
    random = np.random.default_rng(0)
    kind = runnel.as_dtype(dtype).as_numpy_dtype
    images = random.integers(-4, 5, (2, 7, 6, depth)).astype(kind)
    filters = random.integers(-3, 4, (3, 2, depth, count)).astype(kind)
    check(lambda tf, x, w: tf.nn.conv2d(x, w, [2, 1], "SAME"), images, filters, second_order=False)


@pytest.mark.parametrize("strides", [1, 2])
@pytest.mark.parametrize("depth, count", [(1, 8), (8, 2), (20, 3)])
def test_large_images_are_computed_in_blocks(monkeypatch, strides, depth, count):
    monkeypatch.setattr(convolution_kernels, "BLOCK_BYTES", 3000)
    monkeypatch.setattr(depthwise_kernels, "BLOCK_BYTES", 500)
    random = np.random.default_rng(1)
    images = random.standard_normal((3, 12, 11, depth))
    filters = random.standard_normal((3, 3, depth, count))
    check(lambda tf, x, w: tf.nn.conv2d(x, w, strides, "SAME"), images, filters, traced=False)
    check(
        lambda tf, x, w: tf.nn.depthwise_conv2d(x, w, [1, strides, strides, 1], "SAME"),
        images,
        filters,
        traced=False,
    )


@pytest.mark.parametrize(
    "function, shape",
    [
        (lambda tf, x, w: tf.nn.conv2d(x, w, 1, "SAME"), (0, 4, 4, 2)),
        (lambda tf, x, w: tf.nn.conv2d(x, w, 1, "VALID"), (2, 1, 4, 2)),
        (lambda tf, x, w: tf.nn.depthwise_conv2d(x, w, [1] * 4, "SAME"), (0, 4, 4, 2)),
    ],
)
def test_an_empty_output_has_no_influence(function, shape):
    images, filters = np.ones(shape), np.ones((2, 2, 2, 3))
    check(function, images, filters, gradient=False)
    # The original leaves the filter's gradient unset.
    by_images, by_filters = gradients_of(runnel, function, [images, filters], [0, 1])
    np.testing.assert_array_equal(by_images.numpy(), np.zeros(shape))
    np.testing.assert_array_equal(by_filters.numpy(), np.zeros((2, 2, 2, 3)))


@settings(max_examples=15)
@given(st.data())
def test_conv3d(data):
    sizes, kernel, strides = data.draw(geometries(3, largest=4))
    # Windows shorter than their stride begin elsewhere in the original's 3-D kernels, and their
    # gradients disagree with them.
    strides = [min(pair) for pair in zip(strides, kernel, strict=True)]
    padding, first = data.draw(PADDINGS), data.draw(st.booleans())
    assume(has_output(sizes, kernel, padding))
    shape = (2, *sizes) if first else (*sizes, 2)

    def convolve(tf, volumes, filters):
        full = [1, *strides, 1]
        if not first:
            return tf.nn.conv3d(volumes, filters, full, padding)
        if tf is runnel:
            return tf.nn.conv3d(volumes, filters, [1, 1, *strides], padding, "NCDHW")

        def each(volumes):
            return tf.nn.conv3d(volumes, filters, full, padding)

        return channels_last(tf, each, volumes)

    check(convolve, numbers(data.draw, (2, *shape)), numbers(data.draw, (*kernel, 2, 3)))


@settings(max_examples=15)
@given(st.data())
def test_conv1d(data):
    (size,), (taps,), (stride,) = data.draw(geometries(1))
    padding, first = data.draw(PADDINGS), data.draw(st.booleans())
    assume(has_output([size], [taps], padding))

    def convolve(tf, sequences, filters):
        if not first:
            return tf.nn.conv1d(sequences, filters, stride, padding)
        if tf is runnel:
            return tf.nn.conv1d(sequences, filters, stride, padding, "NCW")

        def each(sequences):
            return tf.nn.conv1d(sequences, filters, stride, padding)

        return channels_last(tf, each, sequences)

    shape = (2, 2, size) if first else (2, size, 2)
    check(convolve, numbers(data.draw, shape), numbers(data.draw, (taps, 2, 3)))


@pytest.mark.parametrize(
    "function, rank",
    [
        (lambda tf, x, w: tf.nn.conv1d(x, w, 1, "SAME"), 1),
        (lambda tf, x, w: tf.nn.conv2d(x, w, 2, "VALID"), 2),
        (lambda tf, x, w: tf.nn.conv3d(x, w, [1] * 5, "SAME"), 3),
        (lambda tf, x, w: tf.nn.convolution(x, w, data_format="NHWC"), 2),
    ],
)
def test_several_batch_dimensions(function, rank):
    random = np.random.default_rng(2)
    images = random.standard_normal((2, 3, *(4,) * rank, 2))
    filters = random.standard_normal((*(2,) * rank, 2, 3))
    # Of an unknown rank, the usual one is assumed: one batch dimension.
    check(function, images, filters, traced=False)


@pytest.mark.parametrize(
    "call",
    [
        lambda tf, x, w: tf.nn.convolution(x, w, 2, "SAME", "NHWC"),
        lambda tf, x, w: tf.nn.convolution(x, w, [2, 1], data_format="NHWC"),
        lambda tf, x, w: tf.nn.convolution(x, w, dilations=2),
        lambda tf, x, w: tf.nn.convolution(x, w, padding="SAME", dilations=[2, 1]),
        lambda tf, x, w: tf.nn.atrous_conv2d(x, w, 2, "SAME"),
        lambda tf, x, w: tf.nn.atrous_conv2d(x, w, 3, "VALID"),
        lambda tf, x, w: tf.nn.atrous_conv2d(x, w, 1, "VALID"),
    ],
)
def test_convolution_and_atrous(call):
    random = np.random.default_rng(3)
    images, filters = random.standard_normal((2, 7, 8, 2)), random.standard_normal((2, 3, 2, 3))
    check(call, images, filters, traced=False)


@pytest.mark.parametrize(
    "call",
    [
        lambda tf, x, w: tf.conv(x, w, [1, 2, 1, 1], "SAME"),
        lambda tf, x, w: tf.conv(x, w, [1, 1, 1, 1], "EXPLICIT", [0, 0, 1, 2, 0, 1, 0, 0]),
        lambda tf, x, w: tf.conv(x, w, [1, 1, 1, 1], "VALID", dilations=[1, 2, 2, 1]),
        lambda tf, x, w: tf.conv(x[:, None], w, [1, 1, 1, 1], "VALID", batch_dims=2),
        lambda tf, x, w: tf.conv(x[0], w, [1, 1, 1, 1], "SAME", batch_dims=0),
        lambda tf, x, w: tf.conv(x[:, None], w[None], [1, 1, 2, 1, 1], "SAME"),
    ],
)
def test_conv(call):
    random = np.random.default_rng(4)
    images, filters = random.standard_normal((2, 6, 5, 2)), random.standard_normal((2, 3, 2, 3))
    check(call, images, filters, gradient=False, traced=False)


@given(st.data())
def test_conv2d_transpose(data):
    sizes, kernel, strides = data.draw(geometries(2))
    padding, first = data.draw(PADDINGS), data.draw(st.booleans())
    reach = kernel if padding == "VALID" else [1, 1]
    small = [
        max(0, (size - taps) // stride + 1) if padding == "VALID" else -(-size // stride)
        for size, taps, stride in zip(sizes, reach, strides, strict=True)
    ]
    output = [2, *sizes, 3]
    assume(all(small))

    def transpose(tf, images, filters):
        if not first:
            return tf.nn.conv2d_transpose(images, filters, output, strides, padding)
        if tf is runnel:
            return tf.nn.conv2d_transpose(images, filters, [2, 3, *sizes], strides, padding, "NCHW")

        def each(images):
            return tf.nn.conv2d_transpose(images, filters, output, strides, padding)

        return channels_last(tf, each, images)

    shape = (2, 2, *small) if first else (2, *small, 2)
    check(transpose, numbers(data.draw, shape), numbers(data.draw, (*kernel, 3, 2)))


@pytest.mark.parametrize(
    "call, shape, filters",
    [
        (lambda tf, x, w: tf.nn.conv1d_transpose(x, w, [2, 7, 3], 2), (2, 4, 2), (3, 3, 2)),
        (
            lambda tf, x, w: tf.nn.conv1d_transpose(x, w, [2, 5, 3], [2], "VALID"),
            (2, 2, 2), (3, 3, 2),
        ),
        (
            lambda tf, x, w: tf.nn.conv2d_transpose(
                x, w, [2, 5, 4, 3], 1, [[0, 0], [1, 1], [0, 1], [0, 0]]
            ),
            (2, 5, 3, 2), (3, 3, 3, 2),
        ),
        (lambda tf, x, w: tf.nn.conv2d_transpose(x, w, [6, 6], 2), (2, 3, 3, 2), (3, 3, 3, 2)),
        (
            lambda tf, x, w: tf.nn.conv3d_transpose(x, w, [1, 4, 3, 4, 3], 2),
            (1, 2, 2, 2, 2), (2, 2, 3, 3, 2),
        ),
        (lambda tf, x, w: tf.nn.conv_transpose(x, w, [2, 8, 3], 2), (2, 4, 2), (3, 3, 2)),
        (
            lambda tf, x, w: tf.nn.conv_transpose(x, w, [1, 4, 4, 3], 2, "VALID"),
            (1, 2, 2, 2), (2, 2, 3, 2),
        ),
        (
            lambda tf, x, w: tf.nn.atrous_conv2d_transpose(x, w, [1, 7, 7, 3], 2, "SAME"),
            (1, 7, 7, 2), (3, 3, 3, 2),
        ),
        (
            lambda tf, x, w: tf.nn.atrous_conv2d_transpose(x, w, [1, 8, 9, 3], 3, "VALID"),
            (1, 5, 3, 2), (2, 3, 3, 2),
        ),
    ],
)  # fmt: skip
def test_other_transposed_convolutions(call, shape, filters):
    random = np.random.default_rng(5)
    check(call, random.standard_normal(shape), random.standard_normal(filters))


@given(st.data())
def test_depthwise_conv2d(data):
    sizes, kernel, (stride, _) = data.draw(geometries(2))
    padding, first = data.draw(PADDINGS), data.draw(st.booleans())
    depth, multiplier = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    rates = data.draw(st.sampled_from([None, [1, 2], [2, 3]])) if stride == 1 else None
    reach = [(k - 1) * rate + 1 for k, rate in zip(kernel, rates or [1, 1], strict=True)]
    assume(has_output(sizes, reach, padding))
    strides = [1, stride, stride, 1]

    def convolve(tf, images, filters):
        if not first:
            return tf.nn.depthwise_conv2d(images, filters, strides, padding, dilations=rates)
        if tf is runnel:
            strided = [1, 1, stride, stride]
            return tf.nn.depthwise_conv2d(images, filters, strided, padding, "NCHW", rates)

        def each(x):
            return tf.nn.depthwise_conv2d(x, filters, strides, padding, dilations=rates)

        return channels_last(tf, each, images)

    shape = (depth, *sizes) if first else (*sizes, depth)
    images = numbers(data.draw, (2, *shape))
    check(convolve, images, numbers(data.draw, (*kernel, depth, multiplier)))


def test_depthwise_gradients_as_functions():
    random = np.random.default_rng(6)
    filters, gradients = random.standard_normal((2, 3, 2, 3)), random.standard_normal((2, 4, 3, 6))
    images = random.standard_normal((2, 7, 6, 2))
    attrs = ([1, 2, 2, 1], "SAME")
    check(
        lambda tf, w, g: tf.nn.depthwise_conv2d_backprop_input([2, 7, 6, 2], w, g, *attrs),
        filters,
        gradients,
    )
    check(
        lambda tf, x, g: tf.nn.depthwise_conv2d_backprop_filter(x, [2, 3, 2, 3], g, *attrs),
        images,
        gradients,
    )


def test_gradients_of_conv2d_as_functions():
    random = np.random.default_rng(6)
    images, filters = random.standard_normal((2, 7, 6, 2)), random.standard_normal((2, 3, 2, 3))
    gradients = random.standard_normal((2, 4, 3, 3))
    strides = [1, 2, 2, 1]

    def by_input(tf, x, w, g):
        if tf is runnel:
            return tf.conv2d_backprop_input_v2(x, w, g, strides, "SAME")
        return tf.nn.conv2d_transpose(g, w, x.shape, strides, "SAME")

    def by_filter(tf, x, w, g):
        if tf is runnel:
            return tf.conv2d_backprop_filter_v2(x, w, g, strides, "SAME")
        with tf.GradientTape() as tape:
            tape.watch(w)
            result = tf.nn.conv2d(x, w, strides, "SAME")
        return tape.gradient(result, w, g)

    check(by_input, images, filters, gradients, gradient=False)
    check(by_filter, images, filters, gradients, gradient=False)


@pytest.mark.parametrize(
    "strides, padding, dilations",
    [
        ([1, 1, 1, 1], "SAME", [2, 2]),
        ([1, 1, 1, 1], "VALID", [2, 2]),
        ([1, 2, 2, 1], "SAME", None),
        ([1, 2, 2, 1], [[0, 0], [1, 0], [2, 1], [0, 0]], None),
    ],
)
def test_separable_conv2d(strides, padding, dilations):
    random = np.random.default_rng(7)
    images, depthwise = random.standard_normal((2, 6, 7, 2)), random.standard_normal((2, 3, 2, 2))
    check(
        lambda tf, x, d, p: tf.nn.separable_conv2d(x, d, p, strides, padding, dilations=dilations),
        images,
        depthwise,
        random.standard_normal((1, 1, 4, 3)),
    )


REFUSED = """
tf.nn.conv2d(ones(1, 2, 2, 1), ones(4, 4, 1, 1), 1, 'VALID')
tf.nn.conv2d(ones(1, 2, 2, 1), ones(0, 2, 1, 1), 1, 'VALID')
tf.nn.conv2d(ones(1, 2, 2, 0), ones(1, 1, 0, 1), 1, 'VALID')
tf.nn.conv2d(ones(1, 4, 4, 3), ones(2, 2, 2, 1), 1, 'SAME')
tf.nn.conv2d(ones(1, 4, 4, 4), ones(2, 2, 2, 3), 1, 'SAME')
tf.nn.conv2d(ones(4, 4, 4), ones(2, 2, 4, 3), 1, 'SAME')
tf.nn.conv2d(ones(1, 4, 4, 4), ones(2, 4, 3), 1, 'SAME')
tf.nn.conv2d(ones(1, 4, 4, 4), ones(2, 2, 4, 3), 1, 'same')
tf.nn.conv2d(ones(1, 4, 4, 4), ones(2, 2, 4, 3), 1, 'EXPLICIT')
tf.nn.conv2d(ones(1, 4, 4, 4), ones(2, 2, 4, 3), 1, 'SAME', 'NHW')
tf.nn.conv2d(ones(1, 4, 4, 1), ones(2, 2, 1, 3), 0, 'SAME')
tf.nn.conv2d(ones(1, 4, 4, 1), ones(2, 2, 1, 3), [1, 2, 3], 'SAME')
tf.nn.conv2d(ones(1, 4, 4, 1), ones(2, 2, 1, 3), [2, 1, 1, 1], 'SAME')
tf.nn.conv2d(ones(1, 4, 4, 1), ones(2, 2, 1, 3), 1, 'SAME', dilations=[1, 1, 1, 2])
tf.nn.conv2d(ones(1, 4, 4, 1), ones(2, 2, 1, 3), 1, 'SAME', dilations=0)
tf.nn.conv2d(ones(1, 4, 4, 1), ones(2, 2, 1, 3), 1, [[1, 1], [1, 1]])
tf.nn.conv2d(ones(1, 4, 4, 1), ones(2, 2, 1, 3), 1, [[0, 0], [-1, 1], [1, 1], [0, 0]])
tf.nn.conv2d(ones(1, 4, 4, 1), ones(2, 2, 1, 3), 1, [[1, 0], [1, 1], [1, 1], [0, 0]])
tf.nn.conv2d(ones(1, 4, 4, 1, type='int64'), ones(2, 2, 1, 3, type='int64'), 1, 'SAME')
tf.nn.conv2d(ones(1, 4, 4, 1), ones(2, 2, 1, 3, type='float64'), 1, 'SAME')
tf.nn.conv1d(ones(1, 5, 1), ones(2, 1, 1), [1, 2], 'SAME')
tf.nn.conv1d(ones(1, 5, 1), ones(2, 1, 1), 1, 'SAME', 'CNW')
tf.nn.conv1d(ones(1, 5, 1), ones(2, 1, 1), 1, 'CAUSAL')
tf.nn.conv1d(ones(1, 5, 1), ones(2, 1, 1), 1, [[1, 1]])
tf.nn.conv3d(ones(1, 3, 3, 3, 1), ones(2, 2, 2, 1, 1), 2, 'SAME')
tf.nn.conv3d(ones(1, 3, 3, 3, 1), ones(2, 2, 2, 1, 1), [1, 1, 1], 'SAME')
tf.nn.conv3d(ones(1, 3, 3, 3, 1), ones(2, 2, 2, 1, 1), [2, 1, 1, 1, 1], 'SAME')
tf.nn.conv3d(ones(1, 3, 3, 3, 1, type='int8'), ones(2, 2, 2, 1, 1, type='int8'), [1] * 5, 'SAME')
tf.nn.convolution(ones(1, 5, 5, 1), ones(2, 2, 1, 1), 2, dilations=2)
tf.nn.convolution(ones(5, 1), ones(1, 1))
tf.nn.atrous_conv2d(ones(1, 5, 5, 1), ones(2, 2, 1, 1), 2, 'FULL')
tf.nn.atrous_conv2d(ones(1, 5, 5, 1), ones(2, 2, 1, 1), 0, 'SAME')
tf.conv(ones(1, 5, 5, 1), ones(2, 2, 1, 1), [1, 2], 'SAME')
tf.conv(ones(1, 5, 1), ones(2, 1, 1), [1, 1, 1], 'SAME')
tf.conv(ones(1, 5, 5, 4), ones(2, 2, 2, 4), [1] * 4, 'SAME')
tf.conv(ones(1, 5, 5, 1), ones(2, 2, 1, 1), [1] * 4, 'SAME', data_format='NHWC')
tf.nn.conv2d_transpose(ones(1, 5, 5, 3), ones(2, 2, 4, 3), [1, 11, 11, 4], 2)
tf.nn.conv2d_transpose(ones(1, 5, 5, 3), ones(2, 2, 4, 3), [2, 10, 10, 4], 2)
tf.nn.conv2d_transpose(ones(1, 5, 5, 3), ones(2, 2, 4, 3), [1, 10, 10, 5], 2)
tf.nn.conv2d_transpose(ones(1, 5, 5, 2), ones(2, 2, 4, 3), [1, 10, 10, 4], 2)
tf.nn.conv2d_transpose(ones(1, 5, 5, 3), ones(2, 2, 4, 3), [1, 10, 10], 2)
tf.nn.conv2d_transpose(ones(1, 5, 5, 3), ones(2, 2, 4, 3), [1, -10, 10, 4], 2)
tf.nn.conv2d_transpose(ones(1, 5, 5, 3), ones(2, 2, 4, 3), ones(4, type='int64'), 2)
tf.nn.conv_transpose(ones(1, 5, 5, 3), ones(2, 2, 4, 3), [10], 2)
tf.nn.atrous_conv2d_transpose(ones(1, 7, 7, 4), ones(3, 3, 2, 4), [1, 9, 9, 2], 0, 'SAME')
tf.nn.atrous_conv2d_transpose(ones(1, 9, 9, 4), ones(3, 3, 2, 4), [1, 9, 9, 3], 2, 'SAME')
tf.nn.atrous_conv2d_transpose(ones(1, 9, 9, 3), ones(3, 3, 2, 4), [1, 9, 9, 2], 2, 'SAME')
tf.nn.depthwise_conv2d(ones(1, 5, 5, 3), ones(2, 2, 4, 1), [1] * 4, 'SAME')
tf.nn.depthwise_conv2d(ones(1, 5, 5, 4), ones(2, 2, 4, 1), 2, 'SAME')
tf.nn.depthwise_conv2d(ones(1, 5, 5, 4), ones(2, 2, 4, 1), [2, 2], 'SAME')
tf.nn.depthwise_conv2d(*[ones(1, 2, 2, 1, type='int8')] * 2, [1] * 4, 'SAME')
tf.nn.depthwise_conv2d_backprop_input([5] * 4, ones(2, 2, 5, 1), ones(5, 4, 5, 5), [1] * 4, 'SAME')
tf.nn.separable_conv2d(ones(1, 5, 5, 2), ones(2, 2, 2, 1), ones(2, 1, 2, 3), [1] * 4, 'SAME')
tf.nn.separable_conv2d(ones(1, 5, 5, 2), ones(2, 2, 2, 1), ones(1, 2, 3), [1] * 4, 'SAME')
tf.space_to_batch(ones(1, 4, 4, 1), [3, 2], [[0, 0]] * 2)
tf.space_to_batch(ones(1, 4, 4, 1), [2, 2], [[-1, 1], [0, 0]])
tf.space_to_batch(ones(1, 4, 4, 1), [0, 2], [[0, 0], [0, 0]])
tf.space_to_batch(ones(1, 4, 4, 1), 2, [[0, 0], [0, 0]])
tf.space_to_batch(ones(1, 4, 4, 1), [1] * 4, [[0, 0]] * 4)
tf.space_to_batch(ones(1, 4, 4, 1), [2, 2], [[0, 0]])
tf.batch_to_space(ones(4, 2, 2, 1), [3, 2], [[0, 0]] * 2)
tf.batch_to_space(ones(4, 2, 2, 1), [2, 2], [[3, 3], [0, 0]])
tf.batch_to_space(ones(4, 2, 2, 1), [2, 2], [[-1, 0], [0, 0]])
tf.required_space_to_batch_paddings([5, 6], [2])
tf.nn.space_to_depth(ones(1, 4, 4, 1), 3)
tf.nn.depth_to_space(ones(1, 4, 4, 3), 2)
tf.nn.depth_to_space(ones(1, 4, 4, 4), 1)
tf.nn.space_to_depth(ones(4, 4, 4), 2)
tf.nn.space_to_depth(ones(1, 4, 4, 4), 2, 'HWC')
tf.extract_volume_patches(ones(1, 4, 4, 4, 1), [2, 2, 2], [1] * 5, 'VALID')
tf.extract_volume_patches(ones(1, 4, 4, 4, 1), [2, 2, 2, 2, 1], [1] * 5, 'VALID')
tf.extract_volume_patches(ones(1, 4, 4, 4, 1), [1, 6, 2, 2, 1], [1] * 5, 'VALID')
tf.extract_volume_patches(ones(1, 4, 4, 4, 1), [1, 0, 2, 2, 1], [1] * 5, 'VALID')
tf.extract_volume_patches(ones(1, 4, 4, 4, 1, type='bool'), [1, 2, 2, 2, 1], [1] * 5, 'VALID')
tf.nn.with_space_to_batch(ones(1, 4, 4, 1), [2, 2], 'SAME', lambda x, *_: x)
tf.nn.with_space_to_batch(ones(1, 4, 4, 1), [2, 2], 'SAME', lambda x, *_: x, [2, 2], [2, 1])
tf.nn.with_space_to_batch(ones(1, 4, 4, 1), [0, 1], 'VALID', lambda x, *_: x)
"""


@pytest.mark.parametrize("expression", REFUSED.strip().splitlines())
def test_refused_calls(expression):
    def call(tf):
        def ones(*shape, type="float32"):
            return tf.ones(shape, type)

        return eval(expression, {"tf": tf, "ones": ones})

    check_raises(call)


@given(st.data())
def test_space_and_batch(data):
    block = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=2))
    pairs = data.draw(st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=2),
                               min_size=len(block), max_size=len(block)))  # fmt: skip
    sizes = [data.draw(st.integers(1, 5)) for _ in block]
    values = numbers(data.draw, (2, *sizes, 2))
    check(lambda tf, x: tf.space_to_batch(x, block, pairs), values, may_raise=True)
    check(
        lambda tf, x: tf.space_to_batch_nd(x, tf.constant(block), tf.constant(pairs)),
        values,
        may_raise=True,
    )
    grown = numbers(data.draw, (int(np.prod(block)), *sizes, 2))
    check(lambda tf, x: tf.batch_to_space(x, block, pairs), grown, may_raise=True)
    check(
        lambda tf: tf.required_space_to_batch_paddings(sizes, block), gradient=False, may_raise=True
    )
    check(
        lambda tf: tf.required_space_to_batch_paddings(sizes, block, pairs),
        gradient=False,
        may_raise=True,
    )


@pytest.mark.parametrize("dtype", ["float32", "int32", "bool", "bfloat16"])
def test_space_and_depth(dtype):
    values = np.random.default_rng(8).integers(0, 9, (2, 4, 6, 8))
    values = values.astype(runnel.as_dtype(dtype).as_numpy_dtype)
    check(lambda tf, x: tf.nn.space_to_depth(x, 2), values)
    check(lambda tf, x: tf.nn.depth_to_space(x, 2), values)
    for name in ("space_to_depth", "depth_to_space"):

        def moved(tf, images, name=name):
            function = getattr(tf.nn, name)
            if tf is runnel:
                return function(images, 2, "NCHW")
            return channels_last(tf, lambda images: function(images, 2), images)

        check(moved, np.moveaxis(values, 3, 1))


def test_space_and_depth_of_nothing():
    check(lambda tf, x: tf.nn.space_to_depth(x, 2), np.ones((0, 4, 4, 3), np.float32))
    check(lambda tf, x: tf.nn.depth_to_space(x, 2), np.ones((0, 4, 4, 8), np.float32))


@settings(max_examples=10)
@given(st.data())
def test_extract_volume_patches(data):
    sizes, kernel, strides = data.draw(geometries(3, largest=4))
    strides = [min(pair) for pair in zip(strides, kernel, strict=True)]
    padding = data.draw(PADDINGS)
    assume(has_output(sizes, kernel, padding))
    check(
        lambda tf, x: tf.extract_volume_patches(x, [1, *kernel, 1], [1, *strides, 1], padding),
        numbers(data.draw, (2, *sizes, 2)),
        # The channels must be known for the gradient.
        traced=False,
    )


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "uint8", "int64"])
def test_extract_volume_patches_in_other_dtypes(dtype):
    volumes = np.random.default_rng(8).integers(0, 9, (2, 3, 4, 3, 2))
    volumes = volumes.astype(runnel.as_dtype(dtype).as_numpy_dtype)
    check(
        lambda tf, x: tf.extract_volume_patches(x, [1, 2, 2, 2, 1], [1, 1, 2, 1, 1], "SAME"),
        volumes,
        gradient=False,
    )


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(
    "rates, dims", [([2, 2], None), ([1, 3], None), ([2], [2]), ([1, 1], None)]
)
def test_with_space_to_batch(padding, rates, dims):
    images = np.random.default_rng(9).standard_normal((2, 7, 6, 2))

    def pooled(tf, x):
        return tf.nn.with_space_to_batch(
            x,
            rates,
            padding,
            lambda x, count, padding: tf.nn.avg_pool2d(x, 2, 1, padding) * float(count),
            filter_shape=[2, 2],
            spatial_dims=dims,
        )

    check(pooled, images)
