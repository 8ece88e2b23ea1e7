"""A trace for inputs of any size, specialized for inputs of known shapes, computes the same."""

import numpy as np
import pytest

import runnel as tf

ANY = tf.TensorSpec([None, 3], tf.float32)
X = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)


def pair_of(function, *specs, shapes):
    general = tf.function(function).get_concrete_function(*specs)
    return general, general.specialized([tf.TensorShape(shape) for shape in shapes])


def test_what_follows_from_the_shapes_is_constant():
    def mean_and_size(x):
        total = tf.reduce_sum(x * 2.0)
        return total / tf.cast(tf.size(x), tf.float32), tf.shape(x)[0]

    general, special = pair_of(mean_and_size, ANY, shapes=[(4, 3)])
    mean, rows = special.call([tf.constant(X)])
    np.testing.assert_allclose(mean, X.mean() * 2, rtol=1e-5)
    assert rows.numpy() == 4
    assert "Size(" in general.code() and "Shape(" in general.code()
    assert "Size(" not in special.code() and "Shape(" not in special.code()
    assert general.call([tf.constant(X[:2])])[1].numpy() == 2


def test_variables_branches_and_loops():
    count = tf.Variable(0.0)

    def program(x):
        count.assign_add(tf.cast(tf.shape(x)[0], tf.float32))
        if tf.reduce_sum(x) > 0.0:
            y = x + 1.0
        else:
            y = x - 1.0
        for row in y:
            count.assign_add(row[0])
        return {"y": y, "count": count.read_value()}

    general, special = pair_of(program, ANY, shapes=[(4, 3)])
    found = []
    for function in (general, special):
        count.assign(0.0)
        found.append(function.call([tf.constant(X)]))
    np.testing.assert_array_equal(found[0]["y"], found[1]["y"])
    assert found[0]["count"].numpy() == found[1]["count"].numpy() != 0


def test_captured_tensors_and_variables_are_those_of_the_call():
    scale, weight = tf.constant([2.0, 3.0, 4.0]), tf.Variable([1.0, 1.0, 1.0])
    _, special = pair_of(lambda x: x * scale * weight, ANY, shapes=[(4, 3)])
    np.testing.assert_allclose(special.call([tf.constant(X)]), X * [2, 3, 4], rtol=1e-6)
    weight.assign([0.0, 1.0, 0.0])
    np.testing.assert_allclose(special.call([tf.constant(X)]), X * [0, 3, 0], rtol=1e-6)


def test_gradients_go_through():
    weight = tf.Variable([1.0, 2.0, 3.0])
    _, special = pair_of(lambda x: tf.reduce_mean((x * weight) ** 2), ANY, shapes=[(4, 3)])
    special.call([tf.constant(X)])
    with tf.GradientTape() as tape:
        loss = special.call([tf.constant(X)])
    expected = 2 * (X * X * [1, 2, 3]).sum(0) / X.size
    np.testing.assert_allclose(tape.gradient(loss, weight), expected, rtol=1e-5)


def test_random_numbers_go_on_where_they_were():
    def numbers():
        tf.random.set_seed(5)
        return pair_of(lambda x: x + tf.random.uniform(tf.shape(x), seed=1), ANY, shapes=[(4, 3)])

    zeros = tf.zeros([4, 3])
    general, _ = numbers()
    expected = [general.call([zeros]).numpy() for _ in range(4)]
    general, special = numbers()
    found = [each.call([zeros]).numpy() for each in (general, special, special, general)]
    np.testing.assert_array_equal(found, expected)


def test_effects_alone():
    seen = tf.Variable(0)

    def program(x):
        seen.assign_add(tf.shape(x)[0])
        return tf.linalg.det(tf.matmul(x, x, transpose_a=True))

    for function in pair_of(program, ANY, shapes=[(4, 3)]):
        assert function.run_effects([tf.constant(X)]) is None
        assert "Determinant" not in function._effects.source
    assert seen.numpy() == 8


def test_shapes_that_do_not_fit_fail_as_in_the_general_program():
    specs = ANY, tf.TensorSpec([None, 3], tf.float32)
    general, special = pair_of(lambda x, y: x + y, *specs, shapes=[(4, 3), (2, 3)])
    messages = []
    for function in (general, special):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            function.call([tf.ones([4, 3]), tf.ones([2, 3])])
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_an_error_shows_the_line_of_the_user():
    def program(x, index):
        return tf.gather(x, index)  # the line at fault

    specs = ANY, tf.TensorSpec([None], tf.int32)
    _, special = pair_of(program, *specs, shapes=[(4, 3), (1,)])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"test_specializing\.py"):
        special.call([tf.constant(X), tf.constant([7])])
