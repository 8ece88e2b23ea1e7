"""Gradients through concrete functions, from outside and inside."""

import numpy as np
from both import same

import runnel

W = np.linspace(-1, 1, 6).reshape(3, 2).astype("float32")


def test_from_outside_to_any_order():
    def program(tf, note):
        v = tf.Variable([1.0, 2.0])
        captured = tf.constant([3.0, -1.0])

        @tf.function
        def f(x, y):
            return tf.reduce_sum(x**3 * v * captured) + y, x * 2.0

        x, y = tf.constant([0.5, 1.5]), tf.constant(2.0)
        with tf.GradientTape(persistent=True) as outer:
            outer.watch([x, captured])
            with tf.GradientTape(persistent=True) as tape:
                tape.watch([x, y, captured])
                total, doubled = f(x, y)
            first = tape.gradient(total, [x, y, v, captured])
            both = tape.gradient([total, doubled], x)
            of_doubled = tape.gradient(doubled, [x, y])
        second = outer.gradient(first[0], [x, v, captured])
        note(of_doubled[1] is None)
        return [total, doubled, *first, both, of_doubled[0], *second]

    same(program)


def test_embedding_gradients_are_sparse():
    def program(tf, note):
        table = tf.Variable(W)

        @tf.function
        def f(rows):
            return tf.reduce_sum(tf.gather(table, rows) ** 2)

        with tf.GradientTape() as tape:
            y = f(tf.constant([0, 2, 0]))
        gradient = tape.gradient(y, table)
        note(type(gradient).__name__)
        return y, gradient.values, gradient.indices

    same(program)


def test_custom_gradients_inside():
    def program(tf, note):
        @tf.custom_gradient
        def clipped(x):
            return x * 5.0, lambda upstream: tf.clip_by_value(upstream, -1.0, 1.0)

        @tf.function
        def f(x):
            return clipped(x) * 3.0, tf.gradients(clipped(x) * 0.25, x)

        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y, inside = f(x)
        return y, inside, tape.gradient(y, x)

    same(program)


def test_recomputed_gradients_inside():
    v = runnel.Variable(3.0)

    @runnel.function
    def f(x):
        with runnel.GradientTape() as tape:
            tape.watch(x)
            y = runnel.recompute_grad(lambda z: z * z * v)(x)
        return [y, *tape.gradient(y, [x, v])]

    # y = x * x * v, its derivatives 2 * x * v and x * x
    assert [float(each) for each in f(runnel.constant(2.0))] == [12.0, 12.0, 4.0]


def test_python_functions_have_gradients():
    def cube(x):
        return x * x * x

    def program(tf, note):
        @tf.function
        def f(x):
            return tf.py_function(cube, [x], tf.float32) * 2.0

        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return y, tape.gradient(y, x)

    same(program)


def test_forward_mode():
    def program(tf, note):
        f = tf.function(lambda x: tf.sin(x) * x)
        x = tf.constant([1.0, 2.0])
        with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.5])) as accumulator:
            y = f(x)
        return y, accumulator.jvp(y)

    same(program)


def test_jacobians():
    def program(tf, note):
        f = tf.function(lambda x: tf.stack([x[0] * x[1], tf.sin(x[0])]))
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.jacobian(y, x)

    same(program)


def test_the_backward_part_is_traced_once():
    f = runnel.function(lambda x: runnel.reduce_sum(x * x))
    x = runnel.constant([1.0, 2.0])
    concrete = f.get_concrete_function(x)

    def gradient():
        with runnel.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    gradient()
    kept = concrete._differentiable[1]._backward
    before = dict(kept)
    gradient()
    assert kept == before and len(kept) == 1


def test_only_what_is_needed_is_kept():
    f = runnel.function(lambda x: runnel.reduce_sum(runnel.exp(x + 1.0) + 2.0))
    x = runnel.constant([1.0, 2.0])
    with runnel.GradientTape() as tape:
        tape.watch(x)
        f(x)
    saved = f.get_concrete_function(x)._differentiable[1].saved
    assert [tensor.op.type for tensor in saved] == ["Exp"]


def test_custom_gradients_of_functions_in_functions():
    def program(tf, note):
        @tf.custom_gradient
        def scaled(x):
            def gradient(upstream):
                return tf.clip_by_norm(upstream, 0.5) * x

            return x * 2.0, gradient

        inner = tf.function(lambda x: scaled(x))
        outer = tf.function(lambda x: inner(x) + 1.0)

        @tf.function
        def whole(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = inner(x)
            return tape.gradient(y, x)

        x = tf.constant([3.0, 4.0])
        note(whole(x))
        for function in (inner, outer):
            with tf.GradientTape(persistent=True) as second:
                second.watch(x)
                with tf.GradientTape() as first:
                    first.watch(x)
                    y = function(x)
                gradient = first.gradient(y, x)
            note(gradient, second.gradient(gradient, x))

    same(program)


def test_constants_that_a_tape_watches_inside():
    def program(tf, note):
        @tf.function
        def by_loop():
            v = tf.constant([1.0, 2.0])
            with tf.GradientTape() as tape:
                tape.watch(v)
                _, y = tf.while_loop(
                    lambda i, total: i < 2, lambda i, total: (i + 1, total + v[i]), (0, 0.0)
                )
            return tape.gradient(y, v)

        @tf.function
        def by_branch(flag):
            v = tf.constant([1.0, 2.0])
            with tf.GradientTape() as tape:
                tape.watch(v)
                y = tf.cond(flag, lambda: v * 2.0, lambda: v * 3.0)
            return tape.gradient(y, v)

        @tf.function
        def by_rows():
            rows = tf.ragged.constant([[1.0, 2.0], [3.0, 4.0, 5.0]])
            with tf.GradientTape() as tape:
                tape.watch(rows.flat_values)
                y = tf.map_fn(tf.reduce_max, rows, fn_output_signature=tf.float32)
            return tape.gradient(y, rows.flat_values)

        note(by_loop(), by_branch(tf.constant(False)), by_rows())

    same(program)
