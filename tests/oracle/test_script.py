"""Python functions as operations."""

import threading

import numpy as np
import pytest
from compare import COMPUTED
from expressions import assert_same_outcome
from test_gradient_tape import both

import runnel

CALLS = """
tf.numpy_function(lambda x: x + 1, [tf.constant([1.0, 2.0])], tf.float32)
tf.numpy_function(lambda x: (x + 1, x), [1.0], [tf.float32, tf.float32])
tf.numpy_function(lambda x: None, [1.0], [])
tf.numpy_function(lambda x: 'a', [1.0], tf.string)
tf.numpy_function(lambda x: type(x).__name__, ['a'], tf.string)
tf.numpy_function(lambda x: 1 / 0, [1.0], tf.float32)
tf.numpy_function(3, [1.0], tf.float32)
tf.py_function(lambda x: x + 1, [tf.constant([1.0, 2.0])], tf.float32)
tf.py_function(lambda x: x + 1, [tf.constant([1.0, 2.0])], tf.float64)
tf.py_function(lambda x: x.numpy() + 1, [[1.0, 2.0]], [tf.float32])
tf.py_function(lambda x: (x, x), [1.0], [tf.float32, tf.float32])
tf.py_function(lambda x: None, [1.0], [])
tf.py_function(lambda x: 1 / 0, [1.0], tf.float32)
tf.py_function(lambda x: 3, [1.0], tf.float32)
tf.inside_function()
tf.CriticalSection().execute(lambda: tf.constant(3))
"""


@pytest.mark.parametrize("call", [line for line in CALLS.split("\n") if line])
def test_same(call):
    assert_same_outcome(call)


def test_gradients():
    def program(tf):
        x = tf.constant(3.0)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.py_function(lambda x: x * x, [x], tf.float32)
            z = tf.numpy_function(lambda x: x * x, [x], tf.float32)
        return tape.gradient(y, x), tape.gradient(z, x)

    both(program)


def test_in_a_graph():
    graph = runnel.core.graph.graph.Graph()
    x = graph.placeholder(runnel.float32, runnel.TensorShape([2]))
    with graph.as_default():
        y = runnel.numpy_function(np.sinh, [x], runnel.float32)
        z = runnel.py_function(lambda x: (x * 2.0, x.numpy().sum()), [x], [runnel.float32] * 2)
        assert runnel.inside_function()
    found = graph.compute([y, *z], [(x, np.array([0.0, 1.0], np.float32))])
    np.testing.assert_allclose(found[0], np.sinh([0.0, 1.0]), rtol=1e-6)
    assert found[1].tolist() == [0.0, 2.0] and found[2] == 1.0
    COMPUTED.update(operation.type for operation in graph.operations)


def test_critical_sections_do_not_overlap():
    section, counter = runnel.CriticalSection(), runnel.Variable(0)

    def work():
        for _ in range(200):
            section.execute(lambda: counter.assign(counter + 1))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert int(counter) == 800
