"""Where arrays begin, and whose their buffers are."""

import numpy as np
import pytest

import runnel as tf
from runnel.core.ownership import is_own
from runnel.runtime import buffers

FLOATS = np.dtype(np.float32)


def place(array):
    return array.__array_interface__["data"][0]


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8", "int64", "complex128"])
@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (7,), (3, 5, 11), (40, 50, 60)])
def test_arrays_that_begin_with_a_line(shape, dtype):
    for _ in range(5):
        array = buffers.aligned(shape, np.dtype(dtype))
        assert place(array) % 64 == 0
        assert array.shape == shape and array.dtype == dtype
        assert array.flags.c_contiguous and array.flags.writeable
        array[...] = 1
        assert array.sum() == array.size


def test_zeros():
    for shape in ((3, 4), (200, 300), (0, 7), ()):
        array = buffers.zeros(shape, FLOATS)
        assert array.shape == shape and array.flags.writeable and not array.any()
    large = tf.zeros([200, 300])
    assert place(large._array) % 64 == 0
    assert large.shape == [200, 300] and not large.numpy().any()


def test_only_large_arrays_are_placed():
    assert buffers.empty((3, 4), FLOATS).base is None
    large = [buffers.empty((64, 1 + 2 * i + 128), FLOATS) for i in range(8)]
    assert all(place(array) % 64 == 0 for array in large)
    assert all(buffers.is_aligned(array) for array in [*large, np.ones(5, FLOATS)[1:]])
    assert not buffers.is_aligned(large[0].reshape(-1)[4:])
    copy = buffers.aligned_copy(np.arange(30000.0).reshape(100, 300).T)
    assert place(copy) % 64 == 0 and copy.flags.c_contiguous and copy[3, 2] == 603.0


def test_an_array_is_its_own_until_another_one_looks_at_it():
    for array in (np.ones(9), buffers.aligned((9,), FLOATS), np.ones(9).reshape(3, 3)):
        assert is_own(array)
        view = array[1:]
        if array.base is not None:
            assert not is_own(array)
        assert not is_own(view)
        del view
        assert is_own(array)
    assert not is_own(np.frombuffer(b"12345678", np.uint8))
    mine = np.ones(9)
    assert not is_own(mine[2:])


@pytest.mark.parametrize("make", [tf.keras.optimizers.Adam, tf.keras.optimizers.SGD])
def test_large_variables_are_placed_once_and_changed_there(make):
    variable, optimizer = tf.Variable(tf.ones([200, 300])), make(0.1)
    step = tf.function(lambda: optimizer.apply_gradients([(tf.ones([200, 300]), variable)]))
    step()
    first = place(variable._tensor._array)
    assert first % 64 == 0
    step()
    assert place(variable._tensor._array) == first


@pytest.mark.parametrize("look", [lambda a: a, lambda a: a[3:], lambda a: a.T, lambda a: a.ravel()])
def test_whoever_looks_at_a_variable_keeps_what_is_seen(look):
    variable, optimizer = tf.Variable(tf.ones([200, 300])), tf.keras.optimizers.Adam(0.1)

    def step():
        optimizer.apply_gradients([(tf.ones([200, 300]), variable)])

    step()
    seen = look(variable.numpy())
    before = seen.copy()
    step()
    np.testing.assert_array_equal(seen, before)
    assert (variable.numpy() < before.max()).all()


def test_results_of_sessions_may_be_changed():
    graph = tf.Graph()
    with graph.as_default():
        variable = tf.compat.v1.get_variable("v", initializer=tf.ones([200, 300]))
        product = tf.matmul(variable, tf.transpose(variable))
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            session.run(variable)[...] = 7.0
            session.run(tf.reshape(variable, [300, 200]))[...] = 7.0
            result = session.run(product)
            result[...] = 0.0
            assert (session.run(variable) == 1.0).all()
            assert (session.run(product) == 300.0).all()
