"""tf.cond, loops and maps in eager mode."""

import pytest
from expressions import assert_same_outcome
from test_gradient_tape import both

CALLS = """
tf.cond(tf.constant(True), lambda: tf.constant(1), lambda: tf.constant(2))
tf.cond(False, lambda: tf.constant(1), lambda: [tf.constant(2)])
tf.cond(tf.constant([[True]]), lambda: tf.constant(1), lambda: tf.constant(2))
tf.cond(tf.constant([True, False]), lambda: tf.constant(1), lambda: tf.constant(2))
tf.cond(True, 1, 2)
tf.case([(tf.constant(False), lambda: 1), (tf.constant(True), lambda: tf.constant(2))])
tf.case([(tf.constant(False), lambda: 1)], default=lambda: tf.constant(3))
tf.case([(tf.constant(False), lambda: tf.constant(1))])
tf.case([(True, lambda: tf.constant(1))])
tf.case([(tf.constant(True), lambda: 1), (tf.constant(True), lambda: 2)], exclusive=True)
tf.case([1])
tf.switch_case(1, [lambda: tf.constant(10)])
tf.switch_case(tf.constant(1), [lambda: tf.constant(10), lambda: tf.constant(20)])
tf.switch_case(tf.constant(7), [lambda: tf.constant(10), lambda: tf.constant(20)])
tf.switch_case(tf.constant(7), {0: lambda: tf.constant(1)}, default=lambda: tf.constant(2))
tf.while_loop(lambda i: i < 10, lambda i: [i * 2], [tf.constant(1)])
tf.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s + i), (tf.constant(0), tf.constant(0)))
tf.while_loop(lambda i: True, lambda i: [i + 1], [tf.constant(0)], maximum_iterations=3)
tf.while_loop(lambda i: i < 3, lambda i: i + 1, [])
tf.while_loop(lambda i, j: i < 2, lambda i, j: (i + 1, j), [0, 1])
tf.while_loop(lambda i, j: i < 2, lambda i, j: [i + 1, j], (0, 1))
tf.while_loop(lambda i, j: i < 0, lambda i, j: (i + 1, j), [0, 1])
tf.while_loop(lambda i: i < 2, lambda i: [i + 1], (0,))
tf.while_loop(lambda i, j: i < 2, lambda i, j: (i + 1, (j[0],)), [0, [1]])
tf.while_loop(lambda i, j: i < 2, lambda i, j: (i + 1, j, j), [0, 1])
tf.while_loop(1, lambda i: i + 1, [1])
tf.map_fn(lambda x: x * x, tf.constant([1, 2, 3]))
tf.map_fn(lambda x: (x, x * 2), tf.constant([1, 2]), fn_output_signature=(tf.int32, tf.int32))
tf.map_fn(lambda t: t[0] * t[1], (tf.constant([1, 2]), tf.constant([3, 4])), dtype=tf.int32)
tf.map_fn(lambda x: x, tf.constant(1))
tf.vectorized_map(lambda x: x * x, tf.constant([1, 2, 3]))
tf.foldl(lambda a, x: a + x, tf.constant([1, 2, 3]))
tf.foldl(lambda a, x: a + x, tf.constant([1, 2, 3]), initializer=10)
tf.foldr(lambda a, x: a - x, tf.constant([1, 2, 3]))
tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3]))
tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3]), initializer=10, reverse=True)
tf.scan(lambda a, x: (a[0] + x, a[1] * x), tf.constant([1, 2, 3]), initializer=(0, 1))
"""


@pytest.mark.parametrize("call", [line for line in CALLS.split("\n") if line])
def test_same(call):
    assert_same_outcome(call)


def test_gradients_through_loops():
    def program(tf):
        x = tf.constant([1.0, 2.0, 3.0])
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            a = tf.map_fn(lambda e: e * e, x)
            b = tf.scan(lambda s, e: s * e, x)
            c = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, x))[1]
            d = tf.foldl(lambda s, e: s + e * e, x)
        return [tape.gradient(y, x) for y in (a, b, c, d)]

    both(program)
