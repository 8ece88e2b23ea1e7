"""Each rewrite of graphs does what it is for, and none changes a result."""

import numpy as np
import pytest

import runnel as tf
from runnel.compiler import passes
from runnel.core.op import REGISTRY


@pytest.fixture(autouse=True)
def default_options():
    yield
    tf.config.optimizer.set_experimental_options(dict.fromkeys(name for name, _ in passes.PASSES))
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False})


def lines(function, *arguments):
    """The plan of a function, after it was called."""
    traced = tf.function(function)
    traced(*arguments)
    return traced.code()


X = tf.constant(np.linspace(-2, 2, 12).reshape(3, 4).astype("float32"))


def test_prune():
    def f(x):
        tf.exp(x)
        return x * 2.0

    assert "Exp" not in lines(f, X)


def test_effects_are_kept():
    v = tf.Variable(0.0)

    def f(x):
        v.assign_add(tf.reduce_sum(x))
        return x

    assert "AssignAdd" in lines(f, X)


def test_fold():
    code = lines(lambda x: x * (tf.constant(2.0) * 3.0 + tf.cast(tf.shape(x)[0], tf.float32)), X)
    assert code.count("(") == 3 and "Mul(" in code


def test_tidy():
    def f(x):
        x = tf.transpose(tf.transpose(x))
        x = tf.reshape(tf.reshape(x, [4, 3]), [2, 6])
        return tf.negative(tf.negative(tf.cast(x, tf.float32)))

    code = lines(f, X)
    assert "Transpose" not in code and code.count("Reshape(") == 1 and "Neg" not in code


def test_rows_are_looked_up_in_the_order_of_their_use():
    table = tf.constant(np.arange(12.0).reshape(4, 3))
    places = tf.constant([[0, 3, 1], [2, 2, 0]])

    def f(places):
        rows = tf.gather(table, places)
        hot = tf.one_hot(tf.stack([places, places + 1]), 4)
        return tf.transpose(rows, [1, 0, 2]), tf.transpose(hot, [2, 0, 1, 3])

    code = lines(f, places)
    assert "Transpose(" not in code
    for wanted, got in zip(f(places), tf.function(f)(places), strict=True):
        np.testing.assert_array_equal(got, wanted)
        assert got.shape == wanted.shape and got.dtype == wanted.dtype
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0,2\] = 4 is not in"):
        tf.function(f)(tf.constant([[0, 1, 4], [0, 1, 2]]))


@pytest.mark.parametrize(
    "look_up",
    [
        lambda places: tf.transpose(tf.gather(X, places), [0, 2, 1]),
        lambda places: tf.transpose(tf.gather(X, places, axis=1), [1, 0, 2]),
        lambda places: tf.transpose(tf.gather(X, places, axis=1, batch_dims=1), [1, 0]),
        lambda places: tf.transpose(tf.one_hot(places, 4), [2, 0, 1]),
        lambda places: tf.transpose(tf.one_hot(places, 4, axis=0), [1, 0, 2]),
        lambda places: tf.transpose(tf.one_hot(places, 4, axis=1), [1, 0, 2]),
    ],
)
def test_lookups_whose_rows_are_transposed_themselves(look_up):
    places = tf.constant([[0, 2, 1], [2, 2, 0], [1, 0, 0]])
    np.testing.assert_array_equal(tf.function(look_up)(places), look_up(places))


def test_products_take_transposed_factors():
    stack = tf.reshape(tf.range(24.0), [2, 3, 4])

    def f(x, stack):
        flat = tf.matmul(tf.transpose(x), x) + tf.matmul(x, tf.transpose(x), transpose_a=True,
                                                         transpose_b=True)  # fmt: skip
        return flat, tf.matmul(stack, tf.transpose(stack, [0, 2, 1]))

    assert "Transpose(" not in lines(f, X, stack)
    for got, wanted in zip(tf.function(f)(X, stack), f(X, stack), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-5)


def test_other_orders_of_factors_stay():
    stack = tf.reshape(tf.range(24.0), [2, 3, 4])
    x = tf.complex(X, 2 * X)
    cases = (
        (lambda x: tf.matmul(x, tf.transpose(x, [1, 2, 0])), tf.reshape(tf.range(27.0), [3, 3, 3])),
        (lambda x: tf.matmul(tf.transpose(x, [0, 2, 1]), x, adjoint_b=False), stack),
        (lambda x: tf.matmul(tf.transpose(x), x), x),
        (lambda x: tf.matmul(x, tf.transpose(x)[tf.newaxis]), x),
    )
    for function, value in cases:
        np.testing.assert_allclose(tf.function(function)(value), function(value), rtol=1e-5)


def test_share():
    code = lines(lambda x: tf.exp(x) * 2.0 + tf.exp(x) * 2.0, X)
    assert code.count("Exp(") == 1 and code.count("Mul(") == 1


def test_reads_are_shared_only_between_writes():
    v = tf.Variable(1.0)

    @tf.function
    def f():
        before = v + v
        v.assign(10.0)
        return before, v + 0.0

    assert [float(each) for each in f()] == [2.0, 10.0]


def test_random_operations_are_not_shared():
    first, second = tf.function(lambda: (tf.random.uniform([3]), tf.random.uniform([3])))()
    assert not np.allclose(first, second)


def test_products():
    w = tf.Variable(np.ones((4, 2), np.float32))

    @tf.function
    def f(*xs):
        with tf.GradientTape() as tape:
            y = tf.add_n([tf.reduce_sum(tf.tanh(x @ w)) for x in xs])
        return tape.gradient(y, w)

    xs = [X * float(n) for n in range(5)]
    joined = f(*xs)
    assert f.code().count("transpose_a=True") == 1
    tf.config.optimizer.set_experimental_options({"loop_optimization": False})
    np.testing.assert_allclose(joined, tf.function(f.python_function)(*xs), rtol=1e-5)


def test_fuse():
    w, b = tf.Variable(tf.ones([4, 2])), tf.Variable([0.5, -9.0])
    code = lines(lambda x: tf.nn.relu(tf.nn.bias_add(x @ w, b)), X)
    assert "_FusedMatMul" in code and "Relu" not in code and "BiasAdd" not in code


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_activations_of_many_numbers_are_fused_as_well(dtype):
    values = np.random.default_rng(0).normal(size=(60, 4)).astype(dtype)
    values[7] = np.nan
    w, b = tf.ones([4, 40], dtype), tf.constant(np.linspace(-3, 3, 40).astype(dtype))

    def f(x):
        return tf.nn.relu(tf.nn.bias_add(x @ w, b))

    assert "_FusedMatMul" in lines(f, tf.constant(values))
    wanted = np.maximum(values @ w.numpy() + b.numpy(), 0)
    assert np.isnan(wanted[7]).all() and (wanted[6] == 0).any()
    for function in (f, tf.function(f)):
        result = function(tf.constant(values))
        assert result.dtype == dtype
        np.testing.assert_allclose(result, wanted, rtol=1e-6)


def test_sums_of_truth_values_count():
    labels = tf.constant([3, 0, 1, 2, 2])

    def matches(kind, **options):
        def f(guesses):
            return tf.reduce_sum(tf.cast(guesses == labels, kind), **options)

        return f

    guesses = tf.constant([3, 1, 1, 0, 2])
    total = tf.function(matches(tf.float32))(guesses)
    assert total.dtype == tf.float32 and total.shape == () and float(total) == 3
    assert "_CountTrue" in lines(matches(tf.float32), guesses)
    # Other numbers, and parts of the sum, are summed.
    for function in (
        matches(tf.int32),
        matches(tf.float32, keepdims=True),
        lambda x: tf.reduce_sum(tf.cast(tf.stack([x == labels, x > 1]), tf.float32), axis=1),
        lambda x: tf.reduce_sum(tf.cast(x, tf.float32)),
    ):
        assert "_CountTrue" not in lines(function, guesses)
        traced = tf.function(function)(guesses)
        np.testing.assert_array_equal(traced, function(guesses))
    unknown = tf.function(
        lambda x: tf.reduce_sum(tf.cast(x > 1, tf.float32)),
        input_signature=[tf.TensorSpec([None], tf.int32)],
    )
    assert float(unknown(guesses)) == 2 and "_CountTrue" not in unknown.code()


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_places_are_compared_as_integers(dtype):
    logits = tf.constant(np.random.default_rng(0).normal(size=(300, 7)).astype("float32"))
    labels = tf.cast(np.random.default_rng(1).integers(0, 7, 300), dtype)
    if dtype == "int64":
        # As float32 they would be others, but no place.
        labels = tf.where(labels == 2, tf.constant(2**53 + 1, tf.int64), labels)

    def matches(logits, labels, kind=tf.float32):
        return tf.cast(labels, kind) == tf.cast(tf.argmax(logits, -1), kind)

    assert "_EqualIntegers" in lines(matches, logits, labels)
    wanted = matches(logits, labels).numpy()
    assert 20 < wanted.sum() < 80
    np.testing.assert_array_equal(tf.function(matches)(logits, labels), wanted)
    for other in (
        lambda x, y: matches(x, y, tf.float64),
        lambda x, y: tf.cast(y, tf.float32) == tf.cast(y + 1, tf.float32),
        lambda x, y: matches(x, tf.cast(y, tf.float64)),
        lambda x, y: matches(x, y[:1]),
    ):
        assert "_EqualIntegers" not in lines(other, logits, labels)
        np.testing.assert_array_equal(tf.function(other)(logits, labels), other(logits, labels))


def test_quotients_that_are_multiplied_back():
    x = tf.constant([3.0, 1e-3, np.inf, np.nan, -7.7])

    def back(by, factor=None, divide=tf.math.divide_no_nan):
        return lambda x: divide(x, by) * (by if factor is None else factor)

    for rounds_nothing in (back(32.0), back(0.25), back(64.0, divide=tf.divide)):
        assert "Mul" not in lines(rounds_nothing, x)
        np.testing.assert_array_equal(tf.function(rounds_nothing)(x), rounds_nothing(x))
    for rounds in (back(50.0), back(32.0, 16.0), back(0.0), back(-2.5)):
        assert "Mul" in lines(rounds, x)
        np.testing.assert_array_equal(tf.function(rounds)(x), rounds(x))


def test_what_others_use_is_not_fused_away():
    w, b = tf.Variable(tf.ones([4, 2])), tf.Variable([0.5, -9.0])

    def f(x):
        product = x @ w
        return product, tf.nn.relu(tf.nn.bias_add(product, b))

    product, activated = tf.function(f)(X)
    np.testing.assert_allclose(product, (X @ w))
    np.testing.assert_allclose(activated, tf.nn.relu(tf.nn.bias_add(X @ w, b)))


def test_buffers_are_written_again():
    big = tf.constant(np.linspace(0, 1, 10_000).astype("float32"))
    code = lines(lambda x: ((x * 2.0 + 1.0) * x - 3.0) / 2.0, big)
    assert code.count("out=") == 4


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("activation", [tf.nn.relu, tf.nn.relu6])
def test_activations_write_into_normalized_images(activation, training):
    images = tf.constant(np.random.default_rng(0).normal(size=(4, 8, 8, 16)).astype("float32") * 5)
    vectors = [tf.Variable(tf.range(16.0) / 8 + i) for i in range(4)]

    def normalized(x):
        scale, offset, mean, variance = vectors
        given = {} if training else {"mean": mean, "variance": variance}
        return tf.compat.v1.nn.fused_batch_norm(x, scale, offset, is_training=training, **given)[0]

    def alone(x):
        return activation(normalized(x))

    def beside(x):
        y = normalized(x)
        return activation(y), y

    def of_the_argument(x):
        return activation(x), x * 1.0

    for function in (alone, beside, of_the_argument):
        assert ("out=" in lines(function, images)) is (function is alone)
        before = images.numpy().copy(), [vector.numpy() for vector in vectors]
        for wanted, got in zip(
            tf.nest.flatten(function(images)),
            tf.nest.flatten(tf.function(function)(images)),
            strict=True,
        ):
            np.testing.assert_array_equal(got, wanted)
        np.testing.assert_array_equal(images, before[0])
        for vector, value in zip(vectors, before[1], strict=True):
            np.testing.assert_array_equal(vector, value)


def test_what_others_see_is_not_written_again():
    big = tf.constant(np.linspace(0, 1, 10_000).astype("float32"))
    variable = tf.Variable(big)

    def f(x):
        doubled = x * 2.0
        view = tf.reshape(doubled, [100, 100])
        return doubled + 1.0, view, x + 1.0, variable + 1.0, tf.identity(doubled)

    doubled = np.asarray(big) * 2
    got = tf.function(f)(big)
    want = [doubled + 1, doubled.reshape(100, 100), big + 1.0, big + 1.0, doubled]
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b)
    np.testing.assert_array_equal(big, np.linspace(0, 1, 10_000).astype("float32"))
    np.testing.assert_array_equal(variable, big)


def small_models():
    layers = tf.keras.layers
    return {
        "dense": [layers.Dense(5, "relu"), layers.Dense(3)],
        "conv": [
            layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(),
            layers.MaxPooling2D(), layers.Flatten(), layers.Dense(3),
        ],
        "lstm": [layers.LSTM(6), layers.Dense(3)],
    }  # fmt: skip


SHAPES = {"dense": (6, 4), "conv": (6, 8, 8, 2), "lstm": (6, 5, 4)}


@pytest.mark.parametrize("name", SHAPES)
def test_training_is_the_same_without_passes(name):
    x = np.random.default_rng(1).normal(size=SHAPES[name]).astype("float32")
    y = np.arange(6) % 3
    losses = []
    for off in (False, True):
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": off})
        tf.keras.utils.set_random_seed(3)
        model = tf.keras.Sequential(small_models()[name])
        loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile("adam", loss)
        losses.append([model.train_on_batch(x, y) for _ in range(5)])
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)


def unrolled(steps):
    """A recurrent network whose steps multiply their inputs by the same weights."""

    def f(x, weights, again, bias):
        state = tf.zeros([3, 8])
        for step in range(steps):
            state = tf.tanh(tf.nn.bias_add(x[:, step] @ weights, bias) + state @ again)
        return state

    return f


@pytest.fixture
def recurrent_arguments():
    generator = np.random.default_rng(3)
    shapes = [(3, 5, 4), (4, 8), (8, 8), (8,)]
    return [tf.constant(generator.normal(size=each).astype("float32")) for each in shapes]


def test_products_of_one_factor_are_stacked(recurrent_arguments):
    code = lines(unrolled(5), *recurrent_arguments)
    # One product for all inputs, five for the states, each of which needs the one before.
    assert code.count("_FusedMatMul(") == 1 and code.count(" MatMul(") == 5
    few = lines(unrolled(2), *recurrent_arguments)
    assert few.count("_FusedMatMul(") == 2


def test_stacked_products_keep_the_order_of_effects():
    w = tf.Variable(np.eye(2, dtype="float32"))
    x = tf.constant([[1.0, 2.0]])

    @tf.function
    def f():
        results = []
        for step in range(4):
            results.append(tf.matmul(x * float(step + 1), w))
            if step == 1:
                w.assign_add(tf.ones([2, 2]))
        return results

    expected = [[1.0, 2.0], [2.0, 4.0], [12.0, 15.0], [16.0, 20.0]]
    assert [each.numpy().tolist()[0] for each in f()] == expected


def test_stacked_products_that_read_what_is_written_meanwhile():
    counter = tf.Variable([[1.0, 1.0]])
    w = tf.constant([[1.0, 2.0], [3.0, 4.0]])

    @tf.function
    def f():
        results = []
        for _ in range(4):
            results.append(tf.matmul(counter + 0.0, w))
            counter.assign(counter * 2.0)
        return results

    assert [float(each[0, 0]) for each in f()] == [4.0, 8.0, 16.0, 32.0]


def test_gradients_through_stacked_products(recurrent_arguments):
    def gradients(*arguments):
        with tf.GradientTape() as tape:
            tape.watch(arguments)
            loss = tf.reduce_sum(unrolled(5)(*arguments))
        return tape.gradient(loss, arguments)

    for eager, traced in zip(
        gradients(*recurrent_arguments), tf.function(gradients)(*recurrent_arguments), strict=True
    ):
        np.testing.assert_allclose(eager, traced, rtol=1e-4, atol=1e-5)


def test_parts_are_written_where_they_are_joined():
    x = tf.constant(np.random.default_rng(0).normal(size=(64, 40)).astype("float32"))

    def f(x):
        first, second = x + 1.0, tf.concat([x[:, :20] * 2.0, x[:, 20:]], axis=1)
        return tf.concat([first, x, second, first], 0), first * 2.0, tf.concat([second, second], 0)

    code = lines(f, x)
    assert code.count("out=b") == 2
    for eager, traced in zip(f(x), tf.function(f)(x), strict=True):
        np.testing.assert_array_equal(eager, traced)


def test_buffers_are_written_again_in_another_shape():
    x = tf.constant(np.random.default_rng(0).normal(size=(64, 80)).astype("float32"))

    def f(x):
        return tf.reshape(tf.exp(x), [80, 64]) * 2.0

    def seen_twice(x):
        y = tf.exp(x)
        return tf.reshape(y, [80, 64]) * 2.0, y, tf.reshape(x, [80, 64]) + 1.0

    def reshaped_twice(x):
        y = tf.exp(x)
        return tf.reshape(y, [80, 64]) * 2.0 + tf.reshape(y, [80, 64]) * 3.0, tf.reshape(y, [-1])

    assert "out=" in lines(f, x)
    before = x.numpy().copy()
    for function in (f, seen_twice, reshaped_twice):
        for eager, traced in zip(
            tf.nest.flatten(function(x)), tf.nest.flatten(tf.function(function)(x)), strict=True
        ):
            np.testing.assert_allclose(eager, traced, rtol=1e-6)
    np.testing.assert_array_equal(before, x)


def test_what_is_kept_for_a_gradient_is_discarded_without_one():
    layer = tf.keras.layers.LSTM(2)
    x = tf.ones([3, 4, 5])

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer(x)
        return tape.gradient(y, x)

    assert "keep=False" in lines(lambda x: layer(x), x)
    assert "keep=True" in lines(gradient, x)


def padded_step(images, kernel, paddings, depthwise=False, strides=2, dilation=1):
    """A padded convolution and its gradients by the images and by the filters."""
    depth = images.shape[-1] + sum(paddings[-1])
    filters = tf.reshape(
        tf.linspace(-1.0, 1.0, kernel * kernel * depth * 2), [kernel, kernel, depth, 2]
    )
    with tf.GradientTape() as tape:
        tape.watch([images, filters])
        padded = tf.pad(images * 2.0, paddings)
        if depthwise:
            steps = [1, strides, strides, 1]
            result = tf.nn.depthwise_conv2d(
                padded, filters, steps, "VALID", dilations=[dilation, dilation]
            )
        else:
            result = tf.nn.conv2d(padded, filters, strides, "VALID", dilations=dilation)
        loss = tf.reduce_sum(result * result)
    return result, *tape.gradient(loss, [images, filters])


IMAGES = tf.constant(np.random.default_rng(5).normal(size=(3, 9, 11, 8)).astype("float32"))


@pytest.mark.parametrize("depthwise", [False, True])
@pytest.mark.parametrize(
    "kernel, spatial, strides, dilation",
    [
        (3, [[0, 1], [0, 1]], 2, 1),
        (3, [[1, 1], [2, 0]], 2, 1),
        (5, [[4, 2], [0, 3]], 3, 1),
        (2, [[2, 1], [1, 2]], 1, 2),
        (3, [[0, 0], [1, 0]], 1, 1),
    ],
)
@pytest.mark.parametrize("known", [(3, 9, 11, 8), (None, 9, 11, 8), (None, None, None, 8)])
def test_paddings_are_joined_with_convolutions(
    depthwise, kernel, spatial, strides, dilation, known
):
    paddings = [[0, 0], *spatial, [0, 0]]

    def f(images):
        return padded_step(images, kernel, paddings, depthwise, strides, dilation)

    traced = tf.function(f, input_signature=[tf.TensorSpec(known, tf.float32)])
    for got, wanted in zip(traced(IMAGES), f(IMAGES), strict=True):
        assert got.shape == wanted.shape
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-2)
    code = traced.code()
    assert "Pad(" not in code and "Slice(" not in code and code.count("EXPLICIT") == 3


@pytest.mark.parametrize(
    "paddings",
    [
        # Windows with nothing but zeros, other axes than the images' own.
        [[0, 0], [3, 0], [0, 0], [0, 0]],
        [[0, 0], [0, 0], [0, 4], [0, 0]],
        [[1, 0], [1, 1], [1, 1], [0, 0]],
        [[0, 0], [1, 1], [1, 1], [0, 2]],
    ],
)
def test_paddings_that_convolutions_do_not_have_stay(paddings):
    traced = tf.function(lambda images: padded_step(images, 3, paddings))
    for got, wanted in zip(traced(IMAGES), padded_step(IMAGES, 3, paddings), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-2)
    assert "Pad(" in traced.code() and "EXPLICIT" not in traced.code()


def test_other_values_than_zeros_are_not_joined():
    def f(images):
        padded = tf.pad(images, [[0, 0], [1, 1], [1, 1], [0, 0]], constant_values=1.0)
        mirrored = tf.pad(images, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT")
        filters = tf.ones([3, 3, 8, 2])
        return tf.nn.conv2d(padded, filters, 2, "VALID"), tf.nn.conv2d(
            mirrored, filters, 2, "VALID"
        )

    traced = tf.function(f)
    for got, wanted in zip(traced(IMAGES), f(IMAGES), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-3)
    assert "EXPLICIT" not in traced.code()


def test_what_others_see_of_a_padding_stays():
    """Padded images, and a gradient by all of them, are there for who else wants them."""

    def f(images):
        filters = tf.ones([3, 3, 8, 2])
        with tf.GradientTape() as tape:
            padded = tf.pad(images, [[0, 0], [1, 1], [1, 1], [0, 0]])
            tape.watch(padded)
            loss = tf.reduce_sum(tf.nn.conv2d(padded, filters, 2, "VALID") ** 2)
        whole = tape.gradient(loss, padded)
        part = tf.slice(whole, [0, 1, 1, 0], tf.shape(images))
        return padded, whole, part, tf.slice(whole, [0, 1, 1, 0], [2, 9, 11, 8])

    traced = tf.function(f)
    for got, wanted in zip(traced(IMAGES), f(IMAGES), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-3)
    assert traced.code().count("Conv2DBackpropInput(") == 1


def test_a_part_of_the_batch_is_not_a_padding():
    def f(gradients):
        filters = tf.ones([3, 3, 8, 2])
        whole = tf.nn.conv2d_transpose(gradients, filters, [3, 9, 11, 8], 2, "VALID")
        return tf.slice(whole, [0, 1, 1, 0], [2, 7, 9, 8])

    gradients = tf.ones([3, 4, 5, 2])
    traced = tf.function(f)
    np.testing.assert_allclose(traced(gradients), f(gradients), rtol=1e-5)
    assert "Slice(" in traced.code()


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.float16])
@pytest.mark.parametrize("sparse", [True, False])
def test_losses_alone_are_computed_without_their_gradients(sparse, dtype):
    logits = tf.cast(tf.reshape(tf.linspace(-3.0, 3.0, 20), [4, 5]), dtype)
    labels = tf.constant([0, 3, 4, 1])

    def loss(logits):
        if sparse:
            return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        return tf.nn.softmax_cross_entropy_with_logits(tf.one_hot(labels, 5, dtype=dtype), logits)

    def both(logits):
        with tf.GradientTape() as tape:
            tape.watch(logits)
            value = loss(logits)
        return value, tape.gradient(value, logits)

    alone, with_gradient = tf.function(loss), tf.function(both)
    np.testing.assert_array_equal(alone(logits), loss(logits))
    for got, wanted in zip(with_gradient(logits), both(logits), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-3 if dtype is tf.float16 else 1e-6)
    np.testing.assert_array_equal(alone(logits), with_gradient(logits)[0])
    name = f"{'Sparse' * sparse}SoftmaxCrossEntropyWithLogits"
    for function, is_short in ((alone, True), (with_gradient, False)):
        operations = function.get_concrete_function(logits).plan.operations
        (op,) = [each.op for each in operations if each.type == name]
        assert (op.kernel is not REGISTRY[name].kernel) == is_short


def test_a_loss_alone_refuses_wrong_labels():
    loss = tf.function(tf.nn.sparse_softmax_cross_entropy_with_logits)
    with pytest.raises(tf.errors.InvalidArgumentError, match="outside the valid range"):
        loss(tf.constant([0, 5]), tf.zeros([2, 5]))


@pytest.mark.parametrize("known", [(2, 3, 4), (None, None, 4)])
@pytest.mark.parametrize("activation", [None, "relu", "tanh", "elu"])
def test_a_bias_after_a_reshape_is_fused(activation, known):
    layer = tf.keras.layers.Dense(6, activation, bias_initializer="ones")
    x = tf.constant(np.linspace(-2, 2, 24).reshape(2, 3, 4).astype("float32"))

    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer(x)
        return y, tape.gradient(y, [x, *layer.trainable_variables])

    layer(x)
    signature = [tf.TensorSpec(known, tf.float32)]
    traced, forward = (tf.function(each, input_signature=signature) for each in (f, layer.call))
    for got, wanted in zip(tf.nest.flatten(traced(x)), tf.nest.flatten(f(x)), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(forward(x), layer(x), rtol=1e-6)
    # Gradients want the shape of the product where it is not known.
    for each in (forward, traced)[: 1 if None in known else 2]:
        assert "_FusedMatMul(" in each.code() and "BiasAdd(" not in each.code()


def test_a_reshape_that_moves_channels_is_not_fused():
    a, b, bias = tf.ones([4, 6]), tf.ones([6, 6]), tf.range(3.0)

    def f(a):
        return tf.nn.bias_add(tf.reshape(a @ b, [8, 3]), bias)

    traced = tf.function(f)
    np.testing.assert_array_equal(traced(a), f(a))
    assert "BiasAdd(" in traced.code()
