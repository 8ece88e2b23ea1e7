"""Programs whose results must not depend on how a graph is rewritten, or on where it is traced."""

import numpy as np
import pytest
from both import same


def _numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


# Gradients by tensors from outside of the function, branch or loop that computes them.


def _of_a_function(tf, x, factor):
    with tf.GradientTape() as tape:
        tape.watch([x, factor])
        y = factor * factor * x
    return tape.gradient(y, [x, factor])


def _of_a_branch(tf, x, factor):
    return tf.cond(x > 0.0, lambda: _of_a_function(tf, x, factor), lambda: [x, x])


def _of_a_loop(tf, x, factor):
    total = tf.constant(0.0)
    constant = tf.constant(7.0)
    for _ in tf.range(2):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, factor, constant])
            y = x * x * factor * constant
        by_x, by_factor, by_constant = tape.gradient(y, [x, factor, constant])
        total += by_x + 2.0 * by_factor + 3.0 * by_constant + tape.jacobian(y, x)
    return total


def _of_a_gradient(tf, x, factor):
    with tf.GradientTape() as outer:
        outer.watch(factor)
        (gradient,) = _of_a_function(tf, x, factor)[1:]
    return gradient, outer.gradient(gradient, factor)


def _of_the_tensor_itself(tf, x, factor):
    with tf.GradientTape() as tape:
        tape.watch(factor)
    return tape.gradient(factor, factor)


def _forwards(tf, x, factor):
    with tf.autodiff.ForwardAccumulator([factor, x], [tf.constant(2.0), tf.constant(1.0)]) as sums:
        y = factor**3 * x
    return sums.jvp(y)


def _forwards_in_a_branch(tf, x, factor):
    return tf.cond(x > 0.0, lambda: _forwards(tf, x, factor), lambda: x)


@pytest.mark.parametrize(
    "gradients",
    [
        _of_a_function,
        _of_a_branch,
        _of_a_loop,
        _of_a_gradient,
        _of_the_tensor_itself,
        _forwards,
        _forwards_in_a_branch,
    ],
)
def test_gradients_by_tensors_from_outside(gradients):
    def program(tf, note):
        factor = tf.constant(5.0)
        return tf.function(lambda x: gradients(tf, x, factor))(tf.constant(3.0))

    same(program)


def test_a_tape_from_outside_is_asked_inside():
    def program(tf, note):
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tf.function(lambda: (x * 2.0, tape.gradient(y, x)))()

    same(program)


# Sessions that are fed what a pass would look through.


def _constant(tf):
    fed = tf.constant([1.0, 2.0])
    return [fed * 2.0, tf.reshape(fed, [1, 2])], {fed: [5.0, 6.0]}


def _order(tf):
    fed = tf.constant([0, 1])
    return [tf.transpose(_numbers(2, 3), fed)], {fed: [1, 0]}


def _pairs_that_cancel(tf):
    x = tf.compat.v1.placeholder(tf.float32, [2, 3])
    negative, transposed, reshaped = -x, tf.transpose(x), tf.reshape(x, [6])
    results = [-negative, tf.transpose(transposed), tf.reshape(reshaped, [3, 2])]
    feeds = [_numbers(2, 3), _numbers(3, 2), _numbers(6)]
    return results, dict(zip([negative, transposed, reshaped], feeds, strict=True))


def _product_with_bias(tf):
    x = tf.compat.v1.placeholder(tf.float32, [4, 3])
    product = tf.matmul(x, tf.constant(_numbers(3, 5)))
    return [tf.nn.relu(tf.nn.bias_add(product, tf.ones([5])))], {product: _numbers(4, 5, seed=1)}


def _padded_images(tf):
    x = tf.compat.v1.placeholder(tf.float32, [1, 8, 8, 3])
    padded = tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]])
    convolved = tf.nn.conv2d(padded, tf.constant(_numbers(3, 3, 3, 4)), 1, "VALID")
    other = tf.pad(convolved, [[0, 0], [1, 1], [1, 1], [0, 0]])
    return [convolved, other], {padded: _numbers(1, 10, 10, 3)}


@pytest.mark.parametrize(
    "build", [_constant, _order, _pairs_that_cancel, _product_with_bias, _padded_images]
)
def test_what_is_fed_is_not_looked_through(build):
    def program(tf, note):
        with tf.Graph().as_default():
            fetches, feeds = build(tf)
            with tf.compat.v1.Session() as session:
                return session.run(fetches, feeds)

    same(program)


# What an assignment gives back is the variable: it is read anew after every further one.


@pytest.mark.parametrize("compiled", [False, True])
def test_what_assignments_give_back_is_read_when_it_is_used(compiled):
    def program(tf, note):
        variable = tf.Variable(_numbers(3, 3))

        @tf.function(jit_compile=compiled)
        def step(x):
            first = variable.assign_add(x)
            results = [first * 2.0]
            second = variable.assign_sub(x * 3.0)
            results += [first * 2.0, second * 2.0]
            second.assign(x).assign_add(x)
            return [*results, first * 2.0, second * 2.0, variable * 2.0]

        return step(tf.constant(_numbers(3, 3, seed=1))), variable.read_value()

    same(program)


def test_variables_that_datasets_change_are_read_again():
    def program(tf, note):
        variable = tf.Variable(1.0)

        def change(total, number):
            variable.assign_add(1.0)
            return total + number

        @tf.function
        def step():
            before = variable * 2.0
            numbers = tf.data.Dataset.range(4)
            return before, numbers.reduce(tf.constant(0, tf.int64), change), variable * 2.0

        return step(), step()

    same(program)
