"""Conditions and loops in functions: values, gradients, shapes and refusals."""

import numpy as np
import pytest
from both import same

import runnel

X = np.array([0.5, -1.5, 2.0], np.float32)


def derivatives(function, orders=2):
    """A program: a function's value and derivatives at numbers, through tf.function."""

    def program(tf, note, *numbers):
        traced = tf.function(lambda x: function(tf, x))

        def upto(x, order):
            if not order:
                return [traced(x)]
            with tf.GradientTape() as tape:
                tape.watch(x)
                results = upto(x, order - 1)
            return [*results, tape.gradient(results[-1], x)]

        return [upto(tf.constant(number), orders) for number in numbers]

    return program


def power(tf, x):
    def body(i, product):
        return i + 1, product * x

    return tf.while_loop(lambda i, _: i < 4, body, [0, tf.constant(1.0)])[1]


def nested_loops(tf, x):
    def outer(i, total):
        inner = tf.while_loop(lambda j, y: j < i, lambda j, y: (j + 1, y * x), [0, total])
        return i + 1, inner[1] + x

    return tf.while_loop(lambda i, t: i < 3, outer, [0, x])[1]


def condition_in_loop(tf, x):
    def body(i, y):
        return i + 1, tf.cond(y < 2.0, lambda: y * x, lambda: y + x * x)

    return tf.while_loop(lambda i, y: i < 4, body, [0, x])[1]


def loop_in_condition(tf, x):
    return tf.cond(x > 0.0, lambda: power(tf, x), lambda: x * x)


FUNCTIONS = {
    "cond": lambda tf, x: tf.cond(x > 0.0, lambda: x * x * x, lambda: tf.sin(x)),
    "cond of one use": lambda tf, x: tf.cond(x > 0.0, lambda: x * x, lambda: tf.constant(1.0)),
    "case": lambda tf, x: tf.case(
        [(x > 1.0, lambda: x**3), (x > 0.0, lambda: x**2)], default=lambda: x * 5.0
    ),
    "switch_case": lambda tf, x: tf.switch_case(
        tf.cast(x, tf.int32), [lambda: x**3, lambda: x**2, lambda: tf.exp(x)]
    ),
    "power": power,
    "nested loops": nested_loops,
    "condition in loop": condition_in_loop,
    "loop in condition": loop_in_condition,
    "map_fn": lambda tf, x: tf.reduce_sum(tf.map_fn(lambda y: y * x * x, tf.constant([1.0, 2.0]))),
    "scan": lambda tf, x: tf.reduce_sum(
        tf.scan(lambda a, y: a * y + x, tf.constant([1.0, 2.0, 3.0]), x)
    ),
    "scan reversed": lambda tf, x: tf.scan(
        lambda a, y: a * y + x, tf.constant([1.0, 2.0, 3.0]), x, reverse=True
    )[0],
    "foldl": lambda tf, x: tf.foldl(lambda a, y: a * x + y, tf.constant([1.0, 2.0, 3.0])),
    "foldr": lambda tf, x: tf.foldr(lambda a, y: a * x + y, tf.constant([1.0, 2.0, 3.0]), x),
    "vectorized_map": lambda tf, x: tf.reduce_sum(
        tf.vectorized_map(lambda y: y * x * x, tf.constant([1.0, 2.0]))
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name):
    same(derivatives(FUNCTIONS[name]), *X, tolerance=1e-4)


@pytest.mark.parametrize("name", ["cond", "power"])
def test_third_derivatives(name):
    same(derivatives(FUNCTIONS[name], orders=3), *X, tolerance=1e-4)


def test_gradients_inside():
    def program(tf, note):
        @tf.function
        def f(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = condition_in_loop(tf, x)
            return y, tape.gradient(y, x), tf.gradients(power(tf, x), x)

        return [f(tf.constant(number)) for number in X]

    same(program)


def test_variables_inside():
    def program(tf, note):
        v, w = tf.Variable(2.0), tf.Variable([1.0, 2.0])

        @tf.function
        def f(x):
            y = tf.cond(x > 0.0, lambda: v * x, lambda: tf.reduce_sum(w) * x)
            return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * v), [0, y])[1]

        results = []
        for number in (1.5, -1.5):
            with tf.GradientTape() as tape:
                y = f(tf.constant(number))
            results += [y, *tape.gradient(y, [v, w], unconnected_gradients="zero")]
        return results

    same(program)


def test_assignments_inside():
    def program(tf, note):
        v = tf.Variable(0.0)

        @tf.function
        def f(n):
            def body(i):
                v.assign_add(tf.cond(i % 2 == 0, lambda: 1.0, lambda: 10.0))
                return [i + 1]

            tf.while_loop(lambda i: i < n, body, [0])
            tf.cond(v > 20.0, lambda: v.assign(0.0), lambda: v.assign_add(0.5))
            return v

        return [f(tf.constant(n)) for n in (1, 4, 5)]

    same(program)


def test_training_in_a_loop():
    def program(tf, note):
        v = tf.Variable(5.0)

        @tf.function
        def descend(steps):
            for _ in tf.range(steps):
                with tf.GradientTape() as tape:
                    loss = (v - 1.0) ** 2
                v.assign_sub(0.1 * tape.gradient(loss, v))
            return loss

        return [descend(tf.constant(20)), v]

    same(program)


def test_structures_pass_through():
    def program(tf, note):
        @tf.function
        def f(x, n):
            state = {"a": x, "b": (x * 2.0, [tf.constant(0)])}

            def body(i, s):
                return i + 1, {"a": s["b"][0], "b": (s["a"], [s["b"][1][0] + i])}

            _, state = tf.while_loop(lambda i, s: i < n, body, [0, state])
            return tf.cond(n > 2, lambda: state, lambda: {"a": x, "b": (x, [n])})

        return [f(tf.constant([1.0, 2.0]), tf.constant(n)) for n in (0, 3)]

    same(program)


def test_maximum_iterations():
    def program(tf, note, limit):
        @tf.function
        def f(limit):
            return tf.while_loop(lambda i: i < 10, lambda i: [i + 1], [0],
                                 maximum_iterations=limit)  # fmt: skip

        return f(limit), f(tf.constant(limit))

    for limit in (0, 3, 30):
        same(program, limit)


def test_shape_invariants():
    def program(tf, note):
        @tf.function
        def grow(n):
            result = tf.while_loop(
                lambda i, x: i < n,
                lambda i, x: (i + 1, tf.concat([x, x], 0)),
                [0, tf.ones([1])],
                shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
            )[1]
            note(result.shape.as_list())
            return result

        return grow(tf.constant(3))

    same(program)


def test_tensor_arrays():
    def program(tf, note):
        @tf.function
        def f(x, n):
            array = tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False)
            _, array = tf.while_loop(
                lambda i, a: i < n,
                lambda i, a: (i + 1, a.write(i, x * tf.cast(i, tf.float32))),
                [0, array],
            )
            parts = tf.TensorArray(tf.float32, size=2).split(x, [1, 2])
            rows = tf.TensorArray(tf.float32, size=3).unstack(x)
            spread = tf.TensorArray(tf.float32, size=4).scatter([0, 2, 3], x)
            return (
                array.stack(), array.size(), array.read(1), array.gather([0, 2]), array.concat(),
                parts.concat(), rows.stack(), rows.read(2), spread.read(3),
            )  # fmt: skip

        x = tf.constant([1.0, 2.0, 3.0])
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                results = f(x, tf.constant(3))
                total = tf.add_n([tf.reduce_sum(tf.cast(r, tf.float32) ** 3) for r in results])
            first = tape.gradient(total, x)
        return [*results, first, outer.gradient(first, x)]

    same(program)


@pytest.mark.parametrize(
    "call",
    [
        lambda tf, x: tf.cond(x > 0.0, lambda: 1, lambda: 2.0),
        lambda tf, x: tf.cond(x > 0.0, None, lambda: x),
        lambda tf, x: tf.while_loop(lambda i: i < 3.0, lambda i: [1], [x]),
        lambda tf, x: tf.while_loop(lambda i: i, lambda i: [i], [x]),
        lambda tf, x: tf.while_loop(lambda i: x < 3.0, lambda i: [tf.ones([2])], [x]),
        lambda tf, x: tf.while_loop(lambda i: x < 3.0, lambda i: [i, i], [x]),
        lambda tf, x: tf.switch_case(x, [lambda: x]),
        lambda tf, x: tf.TensorArray(tf.int32, 1).write(0, x).stack(),
    ],
)
def test_refusals(call):
    def program(tf, note):
        return tf.function(lambda x: call(tf, x), autograph=False)(tf.constant(1.0))

    assert same(program)[-1].startswith("raised")


@pytest.mark.parametrize(
    "call",
    [
        lambda tf, a: a.read(5),
        lambda tf, a: a.write(5, 1.0).stack(),
        lambda tf, a: a.write(0, [1.0]).write(1, [1.0, 2.0]).stack(),
    ],
)
def test_arrays_refuse_when_they_run(call):
    def program(tf, note):
        @tf.function
        def f():
            array = tf.TensorArray(tf.float32, size=2, infer_shape=False, element_shape=None)
            return call(tf, array)

        return f()

    assert same(program)[-1].startswith("raised")


def test_scalars_have_no_rows():
    """On Runnel alone: a refused map_fn leaves the original in a state that breaks later calls."""
    for over_rows in (runnel.map_fn, runnel.foldl, runnel.scan):
        with pytest.raises(ValueError, match="scalars"):
            runnel.function(lambda x, f=over_rows: f(lambda y, *_: y, x))(runnel.constant(1.0))
