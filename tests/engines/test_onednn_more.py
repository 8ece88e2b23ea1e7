"""oneDNN's activations, softmax, normalization, resizing and joining give what NumPy's give."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import runnel as tf
import runnel.ops.image.resizing  # declares thresholds
from runnel import engines
from runnel.engines.onednn import library
from runnel.ops.nn import normalization
from runnel.ops.nn.normalization import fused_batch_norm
from runnel.runtime import engine_selection

pytestmark = pytest.mark.skipif(library.load() is None, reason="oneDNN's library is not there")

HUGE = 9 << 20
SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 1e-40, 89.0, -89.0, 1000.0, -1000.0, 6.0)


def take_processors():
    """A convolution: while oneDNN has the processors its threads share large arrays."""
    tf.nn.conv2d(tf.ones([8, 9, 9, 8]), tf.ones([3, 3, 8, 8]), 1, "SAME")
    assert engine_selection.pool.owned_by_engine


def with_engine(name, compute, shared):
    """What oneDNN gives, which must have been asked for the kernel and have done it."""
    engines.use("onednn")
    if shared:
        take_processors()
    done = []

    def watched(*arguments):
        result = engine_selection.find(name)(*arguments)
        done.append(result is not None)
        return result

    for choice in engine_selection._choices:
        if choice.name == name:
            choice.fast = watched
    results = compute()
    assert any(done), f"oneDNN did nothing of {name}"
    assert engine_selection.pool.owned_by_engine == shared
    return results


def both(name, compute, shared=False, tolerance=2e-6):
    """The results with either engine, which must be alike."""
    engines.use("numpy")
    wanted = tf.nest.flatten(compute())
    for a, b in zip(wanted, tf.nest.flatten(with_engine(name, compute, shared)), strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        finite = np.abs(a.numpy()[np.isfinite(a)])
        scale = max(1.0, float(finite.max(initial=0)))
        np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance * scale)


def random(shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def shifted(array, places):
    """The same numbers at an address that no vector register's size divides."""
    room = np.empty(array.size + 32, np.float32)
    start = -room.ctypes.data // 4 % 16 + places
    moved = room[start : start + array.size].reshape(array.shape)
    moved[...] = array
    return moved


def slope(function):
    """A function that gives the gradient of another one, by given gradients of its values."""

    def compute(x, gradients):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.gradient(y, x, gradients)

    return compute


FUNCTIONS = {
    "elu": tf.nn.elu,
    "exp": tf.exp,
    "leaky_relu": tf.nn.leaky_relu,
    "sigmoid": tf.sigmoid,
}
SLOPES = {
    "elu_backprop": slope(tf.nn.elu),
    "relu6_backprop": slope(tf.nn.relu6),
    "relu_backprop": slope(tf.nn.relu),
    "sigmoid_backprop": slope(tf.sigmoid),
    "tanh_backprop": slope(tf.tanh),
}
# Those that one thread is not faster at.
SHARED = {"relu6_backprop", "relu_backprop", "sigmoid_backprop", "tanh_backprop"}


def shape_of(size, sides):
    """A shape of at least so many elements, with other sides than powers of two."""
    return (-(-size // math.prod(sides)), *sides)


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from(sorted(FUNCTIONS)),
    st.lists(st.integers(1, 7), max_size=3),
    st.integers(0, 5),
    st.booleans(),
)
def test_functions(name, sides, place, shared):
    x = tf.constant(shifted(3 * random(shape_of(engine_selection.SMALLEST[name], sides)), place))
    both(name, lambda: FUNCTIONS[name](x), shared)


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(sorted(SLOPES)), st.lists(st.integers(1, 7), max_size=3), st.integers(0, 5))
def test_slopes(name, sides, place):
    shape = shape_of(engine_selection.SMALLEST[name], sides)
    x = tf.constant(shifted(3 * random(shape), place))
    gradients = tf.constant(shifted(random(shape, 1), place))
    both(name, lambda: SLOPES[name](x, gradients), name in SHARED)


@pytest.mark.parametrize("name", sorted(SLOPES))
def test_special_values_of_slopes(name):
    values = np.array(SPECIAL, np.float32)
    size = engine_selection.SMALLEST[name] + 100
    x = tf.constant(np.resize(np.repeat(values, values.size), size))
    gradients = tf.constant(np.resize(values, size))
    both(name, lambda: SLOPES[name](x, gradients), name in SHARED)


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"exp"}))
def test_special_values(name):
    x = tf.constant(np.resize(np.array(SPECIAL, np.float32), engine_selection.SMALLEST[name]))
    both(name, lambda: FUNCTIONS[name](x))


def test_what_it_gets_wrong_numpy_does():
    size = max(
        engine_selection.SMALLEST[name] for name in ("exp", "leaky_relu", "log_softmax", "softmax")
    )
    x = tf.constant(np.resize(np.array(SPECIAL, np.float32), size * 3))
    rows = tf.reshape(x, [-1, 64])
    engines.use("onednn")
    take_processors()
    assert np.isnan(tf.exp(x)[0]) and tf.exp(x)[1] == np.inf
    assert np.isnan(tf.nn.leaky_relu(x, 0.0)[0])
    assert np.isnan(tf.nn.softmax(rows)).all() and np.isnan(tf.nn.log_softmax(rows)).all()
    for function in FUNCTIONS.values():
        gaps, doubles = x[::2], tf.cast(x, tf.float64)
        engines.use("numpy")
        wanted = function(gaps), function(doubles)
        engines.use("onednn")
        for a, b in zip(wanted, (function(gaps), function(doubles)), strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-6)


LARGE = {
    "sum": lambda x, y: x + y,
    "difference": lambda x, y: x - y,
    "product": lambda x, y: x * y,
    "sum with a number": lambda x, y: 3.0 + x,
    "less a number": lambda x, y: x - 3.0,
    "times a number": lambda x, y: x * 3.0,
    "in its own place": lambda x, y: (tf.sqrt(x) + y) * x,
    "joined": lambda x, y: tf.concat([x + y, x - y], 0),
    "once more": lambda x, y: (x - y) * (x - y),
}


def convolved(x):
    """A convolution, for which plans give oneDNN the processors."""
    images = tf.reshape(x[:12], [-1, 10, 10, 12])
    return tf.nn.conv2d(images, tf.ones([3, 3, 12, 4]), 1, "SAME")


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("name", sorted(LARGE))
def test_large_arrays_are_shared(name, known):
    """Sums and the like of large arrays in plans, to the bit, also where sizes are not known."""
    rows = -(-engine_selection.SMALLEST["binary"] // 300)
    x, y = (tf.abs(random((rows, 300), seed)) + 0.5 for seed in (0, 1))
    x = tf.constant(np.where(random((rows, 300), 2) > 4, np.inf, x).astype("float32"))
    spec = tf.TensorSpec([rows if known else None, 300], tf.float32)

    @tf.function(input_signature=[spec, spec])
    def step(x, y):
        return LARGE[name](x, y), convolved(x)

    both("binary", lambda: step(x, y)[0], shared=True, tolerance=0)


@pytest.mark.parametrize(
    "compute", [lambda x, y: 3.0 - x, lambda x, y: x + y[:, :1], lambda x, y: y[0] * x]
)
def test_large_arrays_that_numpy_adds(compute):
    """Numbers first where the order matters, and what broadcasts."""
    rows = -(-engine_selection.SMALLEST["binary"] // 300)
    x, y = tf.constant(random((rows, 300))), tf.constant(random((rows, 300), 1))
    step = tf.function(lambda x, y: (compute(x, y), convolved(x)))
    engines.use("onednn")
    np.testing.assert_array_equal(step(x, y)[0], compute(x, y))


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 200_000), st.integers(0, 5), st.sampled_from([0.1, 1, 4]), st.booleans())
def test_error_function(more, place, spread, shared):
    """Of all sizes: blocks overlap where they do not add up."""
    x = shifted(random(engine_selection.SMALLEST["erfc"] + more) * np.float32(spread), place)
    x[: len(SPECIAL)] = SPECIAL
    x = tf.constant(x)
    both("erfc", lambda: tf.math.erfc(x), shared, tolerance=4e-6)
    both("erfc", lambda: tf.math.erfc(tf.cast(x, tf.bfloat16)), shared, tolerance=2**-7)


def test_exponential_in_its_own_place():
    from runnel.engines.onednn import elementwise

    x = shifted(random((engine_selection.SMALLEST["exp"],)), 1)
    wanted = np.exp(x.astype(np.float64))
    assert elementwise.exp(x, x) is x
    np.testing.assert_allclose(x, wanted, rtol=1e-6)


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from(["softmax", "log_softmax"]),
    st.integers(32, 300),
    st.lists(st.integers(1, 4), max_size=2),
    st.floats(0, 50),
    st.integers(0, 5),
)
def test_softmax(name, classes, sides, spread, place):
    shape = (*shape_of(engine_selection.SMALLEST[name], (*sides, classes)),)
    logits = tf.constant(shifted(np.float32(spread) * random(shape), place))
    both(name, lambda: getattr(tf.nn, name)(logits))


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_of_rows_without_a_chance(name):
    logits = random((300, 40))
    logits[::2, 1::3] = -np.inf
    logits[5] = -np.inf
    logits[7] = 3e38
    both(name, lambda: getattr(tf.nn, name)(tf.constant(logits)))


def test_cross_entropy_of_many_classes():
    logits, labels = tf.constant(5 * random((70, 700))), tf.range(70)

    def compute():
        with tf.GradientTape() as tape:
            tape.watch(logits)
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        return loss, tape.gradient(loss, logits)

    both("exp", compute)


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 70), st.integers(1, 3), st.floats(1e-4, 1e-1), st.booleans())
def test_layer_normalization(columns, last, epsilon, shared):
    shape = shape_of(engine_selection.SMALLEST["layer_norm"], (columns, last))
    x = tf.constant(random(shape) + random((shape[0], 1, 1), 1))
    layer = tf.keras.layers.LayerNormalization([1, 2], epsilon=epsilon)
    layer.build(shape)
    layer.set_weights([random(w.shape, 2) for w in layer.weights])

    def compute():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer(x)
            loss = tf.reduce_sum(y * random(shape, 3))
        return y, tape.gradient(loss, [x, *layer.trainable_weights])

    # Rows of a few numbers of nearly one value have steep slopes.
    both("layer_norm", compute, shared, tolerance=2e-5 if columns * last > 8 else 1e-3)


def test_normalization_of_one_image_channels_first():
    x = tf.constant(random((1, 40, 30, 20)) * 3 + 1)
    scale, offset = random((40,), 1), random((40,), 2)

    def compute():
        return fused_batch_norm(x, scale, offset, data_format="NCHW")

    both("layer_norm", compute, tolerance=1e-5)


@settings(max_examples=12, deadline=None)
@given(st.integers(2, 12), st.integers(1, 9), st.integers(1, 9), st.booleans())
def test_batch_normalization(quarter, height, width, with_scale):
    channels = 4 * quarter
    shape = shape_of(engine_selection.SMALLEST["batch_norm"], (height, width, channels))
    images = tf.constant(random(shape) + random(shape[-1:], 1))
    scale = tf.constant(random(shape[-1:], 2) if with_scale else np.ones(channels, np.float32))
    offset = tf.constant(random(shape[-1:], 3))

    def compute():
        with tf.GradientTape() as tape:
            tape.watch([images, scale, offset])
            y, mean, variance = fused_batch_norm(images, scale, offset)
            loss = tf.reduce_sum(y * random(shape, 4))
        return y, mean, variance, tape.gradient(loss, [images, scale, offset])

    both("batch_norm", compute, shared=True, tolerance=1e-4)
    both("batch_norm_backprop", compute, shared=True, tolerance=1e-4)


@pytest.mark.parametrize("channels", [3, 10, 50])
def test_channels_that_numpy_normalizes(channels):
    """oneDNN has no code of the processor for them, and takes twice as long."""
    rows, vector = random((3000, channels)), np.ones(channels, np.float32)
    layout = normalization._Layout((1, 1, *rows.shape), "NHWC")
    engines.use("onednn")
    take_processors()
    assert engine_selection.find("batch_norm")(rows, vector, vector, 1e-3, layout) is None
    given = rows, rows, vector, vector, vector, 1e-3, layout
    assert engine_selection.find("batch_norm_backprop")(*given) is None
    assert engine_selection.find("scale_channels")(rows, None, vector, vector) is None


@settings(max_examples=12, deadline=None)
@given(st.integers(2, 12), st.integers(1, 9), st.integers(1, 9), st.booleans())
def test_normalization_by_given_moments(quarter, height, width, is_far):
    """Also where means are many deviations away, and are subtracted first."""
    shape = shape_of(engine_selection.SMALLEST["scale_channels"], (height, width, 4 * quarter))
    mean = random(shape[-1:], 1) * np.float32(1000 if is_far else 1)
    images = tf.constant(random(shape) + mean)
    scale, offset = random(shape[-1:], 2), random(shape[-1:], 3)
    variance = np.full_like(mean, 1.5)

    def compute():
        return fused_batch_norm(images, scale, offset, mean, variance, is_training=False)[0]

    both("scale_channels", compute, tolerance=1e-5)


@settings(max_examples=12, deadline=None)
@given(st.integers(2, 12), st.integers(1, 9), st.integers(0, 3))
def test_biases(quarter, width, place):
    shape = shape_of(engine_selection.SMALLEST["bias_add"], (width, 4 * quarter))
    images, bias = tf.constant(shifted(random(shape), place)), random((4 * quarter, 2), 1)[:, 0]
    both("bias_add", lambda: tf.nn.bias_add(images, bias), tolerance=0)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 3),
    st.sampled_from(["SAME", "VALID"]),
    st.integers(1, 3),
    st.integers(1, 2),
    st.integers(1, 3),
)
def test_transposed_convolution(rank, padding, stride, dilation, kernel):
    dilation = dilation if stride == 1 else 1
    sides = (7, 6, 5)[:rank]
    images = random(shape_of(engine_selection.SMALLEST["convolve_backprop_images"], (*sides, 6)))
    filters = tf.constant(random((kernel,) * rank + (4, 6), 1))
    reach = (kernel - 1) * dilation + 1
    larger = [side * stride if padding == "SAME" else (side - 1) * stride + reach for side in sides]
    transposed = (tf.nn.conv1d_transpose, tf.nn.conv2d_transpose, tf.nn.conv3d_transpose)[rank - 1]

    def compute():
        with tf.GradientTape() as tape:
            x = tf.constant(images)
            tape.watch([x, filters])
            shape = [len(images), *larger, 4]
            y = transposed(x, filters, shape, stride, padding, dilations=dilation)
            loss = tf.reduce_sum(y * y)
        return y, tape.gradient(loss, [x, filters])

    both("convolve_backprop_images", compute, shared=True, tolerance=2e-5)


@settings(max_examples=25, deadline=None)
@given(
    st.tuples(st.integers(1, 9), st.integers(1, 9)),
    st.tuples(st.sampled_from([0.5, 1, 2, 3, 4]), st.sampled_from([0.5, 1, 2, 3, 4])),
    st.integers(2, 35),
    st.booleans(),
)
def test_interpolation(size, factors, channels, shared):
    height, width = 2 * size[0], 2 * size[1]
    shape = shape_of(engine_selection.SMALLEST["resize_bilinear"], (height, width, channels))
    images = tf.constant(random(shape))
    target = [int(height * factors[0]), int(width * factors[1])]
    exact = not (height << 8) % target[0] and not (width << 8) % target[1]

    def compute():
        return tf.image.resize(images, target)

    if exact:
        both("resize_bilinear", compute, shared)
    else:
        with pytest.raises(AssertionError, match="did nothing"):
            both("resize_bilinear", compute, shared)


@settings(max_examples=25, deadline=None)
@given(
    st.tuples(st.integers(1, 9), st.integers(1, 9)),
    st.tuples(st.sampled_from([1, 2, 4]), st.sampled_from([0.5, 1, 2, 4])),
    st.integers(16, 35),
    st.booleans(),
)
def test_nearest_pixels(size, factors, channels, shared):
    height, width = 2 * size[0], 2 * size[1]
    count = engine_selection.SMALLEST["resize_nearest"]
    images = tf.constant(random(shape_of(count, (height, width, channels))))
    target = [int(height * factors[0]), int(width * factors[1])]
    both("resize_nearest", lambda: tf.image.resize(images, target, "nearest"), shared)


@settings(max_examples=20, deadline=None)
@given(
    st.tuples(st.integers(1, 9), st.integers(1, 9)),
    st.tuples(st.sampled_from([1, 2, 4]), st.sampled_from([1, 2, 8])),
    st.integers(16, 35),
    st.booleans(),
)
def test_gradients_of_nearest_pixels(size, factors, channels, shared):
    target = [size[0] * factors[0], size[1] * factors[1]]
    count = engine_selection.SMALLEST["resize_nearest_backprop"]
    gradients = tf.constant(random(shape_of(count, (*target, channels))))
    images = tf.zeros([gradients.shape[0], *size, channels])
    compute = slope(lambda x: tf.image.resize(x, target, "nearest"))
    both("resize_nearest_backprop", lambda: compute(images, gradients), shared, 2e-5)


def test_infinite_pixels():
    images = random((3, 16, 16, 8))
    images[0, 3, 4] = np.inf
    images[1, 5, 6] = np.nan
    images[2, 7, 8] = -np.inf
    engines.use("numpy")
    wanted = tf.image.resize(images, [32, 32])
    engines.use("onednn")
    np.testing.assert_array_equal(tf.image.resize(images, [32, 32]), wanted)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=3, max_size=3), st.integers(0, 3), st.data())
def test_joining(sides, axis, data):
    base = shape_of((1 << 19) // 2 + 1, tuple(sides))
    lengths = data.draw(st.lists(st.integers(1, 9), max_size=3))
    parts = [random(base)]
    for seed, length in enumerate(lengths, 1):
        parts.append(random((*base[:axis], length, *base[axis + 1 :]), seed))
    parts.append(random(base, 9))
    parts = [tf.constant(shifted(part, 1)) for part in parts]
    both("concatenate", lambda: tf.concat(parts, axis - 4), shared=True, tolerance=0)


@pytest.mark.parametrize("place", [0, 1, 4])
@pytest.mark.parametrize("shared", [False, True])
def test_huge_arrays_anywhere(monkeypatch, place, shared):
    from runnel.engines.onednn import (
        concatenation,
        elementwise,
        normalization,
        resampling,
        softmax,
    )

    engines.use("onednn")
    engine_selection.find("exp")
    engine_selection.pool.give_to_engine() if shared else engine_selection.pool.give_to_blas()
    empty = np.empty

    class Displaced:
        """NumPy with new arrays at addresses that no vector register's size divides."""

        def __getattr__(self, name):
            return getattr(np, name)

        def empty(self, shape, dtype):
            return shifted(empty(shape, dtype), place)

    for module in (elementwise, concatenation, normalization, resampling, softmax):
        monkeypatch.setattr(module, "np", Displaced())
    x = shifted(3 * np.sin(np.arange(HUGE, dtype=np.float32)), place)
    rows, images = x.reshape(-1, 512), x.reshape(-1, 8, 8, 16)
    assert elementwise.sigmoid(x)[-1] == pytest.approx(1 / (1 + math.exp(-x[-1])))
    assert elementwise.elu_backprop(x, x)[1] == pytest.approx(x[1])
    np.testing.assert_allclose(softmax.softmax(rows).sum(1), 1, rtol=1e-5)
    ones, zeros = np.ones(len(rows), np.float32), np.zeros(len(rows), np.float32)
    normal, _, _ = normalization.layer_norm(rows[np.newaxis], ones, zeros, 1e-12, None)
    np.testing.assert_allclose(normal.mean(2), 0, atol=1e-3)
    larger = resampling.resize_nearest(images, 16, 16)
    np.testing.assert_array_equal(larger[:, 1::2, ::2], images)
    np.testing.assert_array_equal(resampling.resize_nearest_backprop(larger, 8, 8), 4 * images)
    between = resampling.resize_bilinear(images, 16, 16)
    np.testing.assert_allclose(between[:, 0, 0], images[:, 0, 0], rtol=1e-6)
    joined = concatenation.concatenate(images, [images, images], 3)
    assert (joined is not None) == shared
    if shared:
        np.testing.assert_array_equal(joined[..., 16:], images)


def test_nothing():
    for engine_name in engines.ENGINES:
        engines.use(engine_name)
        assert tf.nn.softmax(tf.zeros([0, 40])).shape == [0, 40]
        assert tf.nn.log_softmax(tf.zeros([3000, 0])).shape == [3000, 0]
        assert tf.concat([tf.zeros([0, 4]), tf.zeros([0, 3])], 1).shape == [0, 7]
        assert tf.sigmoid(tf.zeros([0])).shape == [0]


def test_gradients_by_differences():
    x = random((engine_selection.SMALLEST["layer_norm"] // 64, 64))
    weights = tf.constant(random(x.shape, 1))
    layer = tf.keras.layers.LayerNormalization()

    def value(z):
        y = tf.nn.elu(layer(z)) + tf.nn.softmax(z) + tf.nn.log_softmax(z) + tf.sigmoid(z)
        return tf.reduce_sum(weights * y)

    engines.use("onednn")
    tensor = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(tensor)
        loss = value(tensor)
    found = tape.gradient(loss, tensor)
    # Along a line, and in float64, so that differences are not lost in rounding.
    direction, step = random(x.shape, 2).astype(np.float64), 1e-5
    weights = tf.cast(weights, tf.float64)
    layer = tf.keras.layers.LayerNormalization(dtype="float64")
    ahead, behind = (value(tf.constant(x + sign * step * direction)) for sign in (1, -1))
    wanted = float(ahead - behind) / (2 * step)
    got = float(np.sum(found.numpy() * direction))
    assert got == pytest.approx(wanted, rel=1e-4)


def test_blas_keeps_the_processors(outrun):
    engines.use("onednn")
    engine_selection.pool.give_to_blas()
    outrun(False)
    x = tf.constant(random((600, 600)))
    tf.nn.softmax(tf.nn.elu(x) @ x)
    tf.image.resize(tf.reshape(x, [9, 40, 25, 40]), [80, 50], "nearest")
    assert not engine_selection.pool.owned_by_engine
