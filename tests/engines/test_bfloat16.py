"""bfloat16 by oneDNN, where the processor has instructions for it, and by way of float32."""

import ml_dtypes
import numpy as np
import pytest
import tensorflow
from hypothesis import given, settings
from test_onednn import convolutions, results_of_both

import runnel as tf
from runnel import engines
from runnel.engines.onednn import library, primitive
from runnel.runtime import half_precision

LIBRARY = library.load()
HAS_LIBRARY = pytest.mark.skipif(LIBRARY is None, reason="oneDNN's library is not there")
HAS_BFLOAT16 = pytest.mark.skipif(
    LIBRARY is None or not LIBRARY.has_bfloat16, reason="no instructions for bfloat16"
)
# A number rounded to its neighbour instead is wrong by at most this part of it.
STEP = 2.0**-7


def random(shape, seed=0, dtype=tf.bfloat16):
    values = np.random.default_rng(seed).normal(size=shape).astype("float32")
    return tf.cast(tf.constant(values), dtype)


def exact(tensor):
    return tensor.numpy().astype(np.float64)


def same_with_either_engine(compute, lost=1e-4):
    """Sums of the same products, which are rounded once: neighbours, or the same.

    Where a sum is much smaller than what it is of, float32 has fewer digits of it: so large a part
    of the largest is `lost`.
    """
    for a, b in results_of_both(compute):
        scale = np.abs(exact(a), where=np.isfinite(exact(a)), out=np.zeros(a.shape)).max()
        np.testing.assert_allclose(exact(b), exact(a), rtol=STEP, atol=lost * scale + 1e-6)


@pytest.fixture
def used(monkeypatch):
    """The types of numbers that primitives were asked for."""
    found = []
    described = primitive.Described.__init__

    def noting(self, library, shape, strides, kind):
        found.append(kind)
        described(self, library, shape, strides, kind)

    monkeypatch.setattr(primitive.Described, "__init__", noting)
    primitive.described.cache_clear()
    primitive.forget()
    return found


def gradients(compute, *sources):
    def with_gradients():
        with tf.GradientTape() as tape:
            tape.watch(sources)
            result = compute(*sources)
            loss = tf.reduce_sum(tf.cast(result, tf.float32) ** 2)
        return result, *tape.gradient(loss, list(sources))

    return with_gradients


@HAS_LIBRARY
@settings(max_examples=40, deadline=None)
@given(convolutions())
def test_convolutions(case):
    images, filters, strides, padding, dilation = case
    images, filters = tf.cast(images, tf.bfloat16), tf.cast(filters, tf.bfloat16)
    same_with_either_engine(
        gradients(
            lambda x, w: tf.nn.convolution(x, w, strides, padding, dilations=dilation),
            images,
            filters,
        )
    )


@HAS_LIBRARY
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("stride", [1, 2])
def test_depthwise(stride, dtype):
    images, filters = random((8, 12, 13, 24), 0, dtype), random((3, 3, 24, 1), 1, dtype)
    strides = [1, stride, stride, 1]
    same_with_either_engine(
        gradients(lambda x, w: tf.nn.depthwise_conv2d(x, w, strides, "SAME"), images, filters)
    )


@HAS_LIBRARY
@pytest.mark.parametrize("orders", ["NN", "NT", "TN", "TT"])
@pytest.mark.parametrize("batch", [(), (6,), (2, 3)])
def test_products(orders, batch):
    first, second = (letter == "T" for letter in orders)
    a = random((*batch, 70, 90) if not first else (*batch, 90, 70), 1)
    b = random((*batch, 90, 80) if not second else (*batch, 80, 90), 2)
    same_with_either_engine(
        gradients(lambda a, b: tf.matmul(a, b, transpose_a=first, transpose_b=second), a, b)
    )


@HAS_LIBRARY
@pytest.mark.parametrize(
    "equation", ["abc,cde->abde", "abcd,aecd->acbe", "ab,cb->ca", "aab,bc->ac", "ab,bc->abc"]
)
def test_equations(equation):
    sizes = dict(zip("abcde", (9, 33, 9, 33, 9), strict=True))
    terms = equation.partition("->")[0].split(",")
    tensors = [random([sizes[each] for each in term], i) for i, term in enumerate(terms)]
    same_with_either_engine(gradients(lambda *values: tf.einsum(equation, *values), *tensors))


@HAS_LIBRARY
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("pool", [tf.nn.max_pool2d, tf.nn.avg_pool2d])
def test_pooling(pool, padding):
    images = random((30, 12, 13, 16))
    same_with_either_engine(gradients(lambda x: pool(x, 3, 2, padding), images))


@HAS_LIBRARY
@pytest.mark.parametrize("lowest", [float("-inf"), float(ml_dtypes.finfo("bfloat16").min)])
def test_maxima_of_nothing_above_the_lowest(lowest):
    images = exact(random((30, 12, 13, 16)))
    images[:, :6] = lowest
    images = tf.constant(images.astype(ml_dtypes.bfloat16))

    def compute():
        return tf.nn.max_pool2d(images, 2, 2, "SAME")

    engines.use("onednn")
    values = tensorflow.constant(images.numpy(), tensorflow.bfloat16)
    wanted = tensorflow.nn.max_pool2d(values, 2, 2, "SAME")
    assert wanted.dtype == tensorflow.bfloat16
    np.testing.assert_array_equal(exact(compute()), exact(wanted))


@HAS_LIBRARY
@pytest.mark.parametrize("channels", [4, 32])
def test_batch_normalization(channels):
    images, scale = random((8, 9, 10, channels)), random((channels,), 1, tf.float32)
    offset = random((channels,), 2, tf.float32)

    def normalized(x, scale, offset):
        return tf.compat.v1.nn.fused_batch_norm(x, scale, offset)[0]

    same_with_either_engine(gradients(normalized, images, scale, offset), 1e-3)


@HAS_LIBRARY
def test_infinite_filters():
    """Beside zeros around the images they make NaNs, which oneDNN would leave out."""
    filters = exact(random((3, 3, 16, 16), 1))
    filters[0, 0, 0, 0] = np.inf
    filters = tf.constant(filters.astype(ml_dtypes.bfloat16))
    images = random((4, 12, 12, 16))
    same_with_either_engine(lambda: tf.nn.conv2d(images, filters, 1, "SAME"))


@HAS_BFLOAT16
@pytest.mark.parametrize(
    "compute",
    [
        lambda x: tf.nn.conv2d(x, random((3, 3, 16, 16)), 1, "SAME"),
        lambda x: tf.nn.max_pool2d(x, 2, 2, "SAME"),
        lambda x: tf.nn.avg_pool2d(x, 2, 2, "SAME"),
        lambda x: tf.matmul(tf.reshape(x, [-1, 16]), random((16, 64))),
        lambda x: tf.compat.v1.nn.fused_batch_norm(x, tf.ones([16]), tf.zeros([16]))[0],
        lambda x: tf.cast(tf.cast(x, tf.float32), tf.bfloat16),
    ],
)
def test_numbers_stay_narrow(compute, used):
    engines.use("onednn")
    compute(random((30, 16, 16, 16)))
    assert primitive.BFLOAT16 in used


@HAS_LIBRARY
def test_without_instructions(monkeypatch, used):
    """oneDNN works in float32 then."""
    monkeypatch.setattr(LIBRARY, "has_bfloat16", False)
    images, filters = random((30, 16, 16, 16)), random((3, 3, 16, 16))
    same_with_either_engine(lambda: tf.nn.conv2d(images, filters, 1, "SAME"))
    assert primitive.BFLOAT16 not in used and primitive.FLOAT32 in used


SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 3.4e38, -3.4e38, 1e-37, 1.00390625, 1.01171875]


@pytest.mark.parametrize("size", [100, 40000])
def test_casts_round_to_the_nearest(size, engine):
    values = np.random.default_rng(0).normal(size=size).astype("float32")
    values[: len(SPECIAL)] = SPECIAL
    wanted = tensorflow.cast(values, "bfloat16").numpy()
    got = tf.cast(tf.constant(values), tf.bfloat16).numpy()
    np.testing.assert_array_equal(got.astype("float32"), wanted.astype("float32"))
    np.testing.assert_array_equal(np.signbit(got), np.signbit(wanted))


NUMBERS = {
    "add": lambda tf, x, y: x + y,
    "subtract": lambda tf, x, y: x - y,
    "multiply": lambda tf, x, y: x * y,
    "divide": lambda tf, x, y: x / y,
    "scale": lambda tf, x, y: x * 3,
    "maximum": lambda tf, x, y: tf.maximum(x, y),
    "minimum": lambda tf, x, y: tf.minimum(x, y),
    "greater": lambda tf, x, y: x > y,
    "square": lambda tf, x, y: tf.square(x),
    "root": lambda tf, x, y: tf.sqrt(tf.abs(x)),
    "negative": lambda tf, x, y: -x,
    "relu": lambda tf, x, y: tf.nn.relu(x),
    "relu6": lambda tf, x, y: tf.nn.relu6(x * 4),
    # Its own gradient is a sum, which the original rounds at every step.
    "bias": lambda tf, x, y: tf.nn.bias_add(x, tf.stop_gradient(y[0])),
}


@pytest.mark.parametrize("with_nan", [False, True])
@pytest.mark.parametrize("rows", [3, 300, 3000])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", sorted(NUMBERS))
def test_functions_round_as_the_original_does(name, dtype, rows, with_nan):
    """Eager and traced, of few numbers and of many, with gradients."""
    compute = NUMBERS[name]
    values = np.random.default_rng(1).normal(size=(2, rows, 40)).astype("float32")
    special = SPECIAL if with_nan else SPECIAL[1:]
    values[:, 0, : len(special)] = special
    with np.errstate(over="ignore"):
        values = values.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)

    def results(tf, traced):
        x, y = tf.constant(values[0]), tf.constant(values[1])

        def step(x, y):
            with tf.GradientTape() as tape:
                tape.watch([x, y])
                result = compute(tf, x, y)
            found = tape.gradient(result, [x, y]) if result.dtype.is_floating else [None]
            return [result, *[each for each in found if each is not None]]

        return [each.numpy() for each in (tf.function(step) if traced else step)(x, y)]

    wanted = results(tensorflow, False)
    for traced in (False, True):
        got = results(tf, traced)
        assert len(got) == len(wanted)
        for a, b in zip(wanted, got, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(b.astype("float32"), a.astype("float32"))


@pytest.mark.parametrize("bad", [np.nan, np.inf, None])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", ["relu", "relu6"])
def test_slopes_of_many_numbers(name, dtype, bad):
    """As those of few, whatever comes back: infinity beyond the slope is no number."""
    x, gradients = random((2, 100, 60), 3, dtype) * 5
    x = tf.concat([tf.cast([[0.0, -0.0, 6.0, np.inf, -np.inf] * 12], dtype), x], 0)
    gradients = tf.concat([gradients, gradients[:1] if bad is None else gradients[:1] * bad], 0)

    def slope(rows):
        with tf.GradientTape() as tape:
            tape.watch(part := x[rows])
            result = getattr(tf.nn, name)(part)
        return exact(tape.gradient(result, part, gradients[rows]))

    with np.errstate(invalid="ignore"):
        wanted = np.concatenate([slope(slice(i, i + 1)) for i in range(len(x))])
        np.testing.assert_array_equal(slope(slice(None)), wanted)


@pytest.fixture
def wide(monkeypatch):
    """How many numbers were made wider, by each call."""
    sizes = []
    kernel = half_precision.computed_in_float32

    def noting(function):
        def run(*arrays):
            sizes.append(max(array.size for array in arrays))
            return kernel(function)(*arrays)

        return run

    monkeypatch.setattr(half_precision, "computed_in_float32", noting)
    half_precision._in_float32.cache_clear()
    yield sizes
    half_precision._in_float32.cache_clear()


def test_plans_go_by_float32(wide):
    engines.use("numpy")
    add = tf.function(lambda x: x + x)
    add(random((100, 100)))
    add(random((10, 10)))
    assert wide == [10000]


@HAS_BFLOAT16
@pytest.mark.parametrize("compute", [
    lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y, lambda x, y: x / y,
    lambda x, y: x * 3, lambda x, y: 3 + x, lambda x, y: x - 3, lambda x, y: x / 3,
    lambda x, y: tf.square(x),
])  # fmt: skip
def test_plans_need_not_go_by_float32(compute, wide):
    engines.use("onednn")
    x, y = random((100, 100)), random((100, 100), 1)
    got = tf.function(compute)(x, y)
    assert not wide
    np.testing.assert_array_equal(exact(got), exact(compute(x, y)))


def test_plans_that_do(wide, engine):
    """Numbers first where the order matters, broadcast arrays, transposed ones, extremes."""
    x, y = random((100, 100)), random((100, 1), 1)
    for compute in (
        lambda x, y: 3 - x,
        lambda x, y: x + y,
        lambda x, y: y * x,
        lambda x, y: tf.transpose(x) + x,
        lambda x, y: tf.maximum(x, 0.5),
    ):
        wide.clear()
        got = tf.function(compute)(x, y)
        assert wide == [10000]
        np.testing.assert_array_equal(exact(got), exact(compute(x, y)))


@HAS_LIBRARY
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("channels", [4, 8, 10, 24, 32, 100])
def test_normalization_by_given_moments(channels, dtype):
    """And biases: of any number of channels, in either type, with gradients."""
    images = random((20, 9, 10, channels), dtype=dtype)
    scale, offset, mean = (random((channels,), seed, tf.float32) for seed in (1, 2, 3))
    variance, bias = tf.square(mean) + 0.1, random((channels,), 4, dtype)

    def normalized(x, scale, offset):
        return tf.compat.v1.nn.fused_batch_norm(
            x, scale, offset, mean, variance, is_training=False
        )[0]

    lost = 1e-5 if dtype == "float32" else 1e-2
    same_with_either_engine(gradients(normalized, images, scale, offset), lost)
    same_with_either_engine(gradients(tf.nn.bias_add, images, bias), lost)


@HAS_LIBRARY
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_biases_to_the_bit(dtype):
    """A sum is rounded once, whoever does it, also of what is no number."""
    values = np.random.default_rng(0).normal(size=(3000, 64)).astype("float32")
    values[0, : len(SPECIAL)] = SPECIAL
    with np.errstate(over="ignore"):
        x = tf.cast(tf.constant(values), dtype)
    bias = random((64,), 1, dtype)
    wanted = tensorflow.nn.bias_add(
        tensorflow.constant(x.numpy()), tensorflow.constant(bias.numpy())
    )
    engines.use("onednn")
    for add in (tf.nn.bias_add, tf.function(tf.nn.bias_add)):
        np.testing.assert_array_equal(exact(add(x, bias)), exact(wanted))


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
def test_training_follows_the_original(policy, engine):
    """The losses of a convolutional network with normalization, from the same weights."""

    def losses(keras):
        layers, policies = keras.layers, keras.mixed_precision
        policies.set_global_policy(policy)
        try:
            model = keras.Sequential(
                [
                    layers.Conv2D(16, 3, padding="same", input_shape=(12, 12, 3)),
                    layers.BatchNormalization(),
                    layers.ReLU(),
                    layers.MaxPool2D(),
                    layers.DepthwiseConv2D(3, padding="same", activation="relu"),
                    layers.Flatten(),
                    layers.Dense(64, "relu"),
                    layers.Dense(4, dtype="float32"),
                ]
            )
        finally:
            policies.set_global_policy("float32")
        generator = np.random.default_rng(0)
        model.set_weights(
            [
                np.ones(w.shape) if w.ndim < 2 else generator.normal(size=w.shape) / w[..., 0].size
                for w in model.get_weights()
            ]
        )
        model.compile(
            keras.optimizers.SGD(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        )
        x = generator.normal(size=(32, 12, 12, 3)).astype("float32")
        y = generator.integers(0, 4, 32)
        return [float(model.train_on_batch(x, y)) for _ in range(5)]

    wanted, got = losses(tensorflow.keras), losses(tf.keras)
    np.testing.assert_allclose(got, wanted, rtol=0.01)
    assert got[-1] < got[0]
