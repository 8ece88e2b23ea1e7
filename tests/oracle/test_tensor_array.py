"""TensorArray in eager mode, step for step as TensorFlow's."""

import pytest
from expressions import assert_same_outcome
from test_gradient_tape import both

CALLS = """
tf.TensorArray(tf.float32, size=3).write(0, 1.0).stack()
tf.TensorArray(tf.float32, size=3).write(0, 1.0).read(1)
tf.TensorArray(tf.float32, size=3).write(0, 1.0).read(5)
tf.TensorArray(tf.float32, size=3).write(5, 1.0)
tf.TensorArray(tf.float32, size=3).write(-1, 1.0)
tf.TensorArray(tf.float32, size=0, dynamic_size=True).write(5, 1.0).stack()
tf.TensorArray(tf.float32, size=0, dynamic_size=True).write(5, 1.0).size()
tf.TensorArray(tf.float32, size=2).write(0, tf.constant(1))
tf.TensorArray(tf.float32, size=2).write(0, [1.0]).write(1, [1.0, 2.0])
tf.TensorArray(tf.float32, size=2, clear_after_read=False).write(0, 1.0).read(0)
tf.TensorArray(tf.float32, 2, infer_shape=False).write(0, [1.]).write(1, [1., 2.]).concat()
tf.TensorArray(tf.float32, size=2).unstack([1.0, 2.0]).stack()
tf.TensorArray(tf.float32, size=2).unstack([1.0, 2.0, 3.0]).stack()
tf.TensorArray(tf.float32, size=2).split([1.0, 2.0, 3.0], [1, 2]).concat()
tf.TensorArray(tf.float32, size=2).split([1.0, 2.0, 3.0], [1, 1]).concat()
tf.TensorArray(tf.float32, size=3).unstack([1.0, 2.0, 3.0]).gather([2, 0])
tf.TensorArray(tf.float32, size=3).scatter([0, 2], [1.0, 2.0]).stack()
tf.TensorArray(tf.float32, size=3).element_shape
tf.TensorArray(tf.float32, size=3).write(0, [1.0, 2.0]).element_shape
tf.TensorArray(tf.float32, size=3).handle
tf.TensorArray(tf.float32, size=3).flow
tf.TensorArray(tf.float32, size=3).close()
tf.TensorArray(tf.float32, size=3).dtype
tf.TensorArray(tf.float32, size=3, element_shape=[2]).stack()
tf.TensorArray(tf.float32, size=3).stack()
tf.TensorArray(tf.float32)
tf.TensorArray(tf.float32, size=2, element_shape=[2]).write(0, [1.0])
"""


@pytest.mark.parametrize("call", [line for line in CALLS.split("\n") if line])
def test_same(call):
    assert_same_outcome(call)


def test_reading_twice():
    def program(tf):
        array = tf.TensorArray(tf.float32, size=1).write(0, 1.0)
        array.read(0)
        return array.read(0)

    both(program)


def test_gradient():
    def program(tf):
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            array = tf.TensorArray(tf.float32, size=3)
            for i in range(3):
                array = array.write(i, x * x * float(i))
            y = array.stack() + array.gather([0, 1, 1])
        return y, tape.gradient(y, x)

    both(program)
