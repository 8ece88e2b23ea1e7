"""Each rewrite of graphs does what it is for, and none changes a result."""

import numpy as np
import pytest

import runnel as tf
from runnel.core import passes


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
