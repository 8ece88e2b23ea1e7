"""Updates of parts of variables: in place when nobody looks, never under a reader's eyes."""

import numpy as np
import pytest

import runnel as tf


def rows(values, indices):
    return tf.IndexedSlices(tf.constant(values), tf.constant(indices))


# Every way to change a part of a variable of shape [3, 2], and what it changes it to.
START = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
UPDATES = {
    "row": (lambda v: v[0].assign([9.0, 9.0]), [[9, 9], [3, 4], [5, 6]]),
    "element": (lambda v: v[1, 1].assign(9.0), [[1, 2], [3, 9], [5, 6]]),
    "backwards": (lambda v: v[::-1, 0].assign([7.0, 8.0, 9.0]), [[9, 2], [8, 4], [7, 6]]),
    "broadcast": (lambda v: v[1:].assign(0.0), [[1, 2], [0, 0], [0, 0]]),
    "new axis": (lambda v: v[None, :1].assign([[[9.0, 8.0]]]), [[9, 8], [3, 4], [5, 6]]),
    "slice plus": (lambda v: v[:1].assign_add([[1.0, 1.0]]), [[2, 3], [3, 4], [5, 6]]),
    "slice minus": (lambda v: v[:1].assign_sub([[1.0, 1.0]]), [[0, 1], [3, 4], [5, 6]]),
    "add": (lambda v: v.scatter_add(rows([[1.0, 1.0]], [2])), [[1, 2], [3, 4], [6, 7]]),
    "add twice": (
        lambda v: v.scatter_add(rows([[1.0, 1.0], [2.0, 2.0]], [0, 0])),
        [[4, 5], [3, 4], [5, 6]],
    ),
    "add a number": (lambda v: v.scatter_add(rows(1.0, [0, 1])), [[2, 3], [4, 5], [5, 6]]),
    "sub": (lambda v: v.scatter_sub(rows([[1.0, 1.0]], [2])), [[1, 2], [3, 4], [4, 5]]),
    "mul": (lambda v: v.scatter_mul(rows([[2.0, 3.0]], [2])), [[1, 2], [3, 4], [10, 18]]),
    "div": (lambda v: v.scatter_div(rows([[5.0, 2.0]], [2])), [[1, 2], [3, 4], [1, 3]]),
    "max": (lambda v: v.scatter_max(rows([[9.0, 2.0]], [2])), [[1, 2], [3, 4], [9, 6]]),
    "min": (lambda v: v.scatter_min(rows([[9.0, 2.0]], [2])), [[1, 2], [3, 4], [5, 2]]),
    "update": (lambda v: v.scatter_update(rows([[9.0, 2.0]], [2])), [[1, 2], [3, 4], [9, 2]]),
    "batch": (
        lambda v: v.batch_scatter_update(rows([[7.0], [8.0], [9.0]], [[0], [1], [0]])),
        [[7, 2], [3, 8], [9, 6]],
    ),
    "nd add": (lambda v: v.scatter_nd_add([[0, 1]], [1.0]), [[1, 3], [3, 4], [5, 6]]),
    "nd sub": (lambda v: v.scatter_nd_sub([[0, 1]], [1.0]), [[1, 1], [3, 4], [5, 6]]),
    "nd max": (lambda v: v.scatter_nd_max([[0, 1]], [9.0]), [[1, 9], [3, 4], [5, 6]]),
    "nd min": (lambda v: v.scatter_nd_min([[0, 1]], [0.0]), [[1, 0], [3, 4], [5, 6]]),
    "nd update": (lambda v: v.scatter_nd_update([[0]], [[8.0, 9.0]]), [[8, 9], [3, 4], [5, 6]]),
}
READS = {
    "value": lambda v: v.value(),
    "tensor": tf.convert_to_tensor,
    "row": lambda v: v[0],
    "slice": lambda v: v[::-1],
    "transposed": tf.transpose,
    "reshaped": lambda v: tf.reshape(v, [-1]),
    "broadcast": lambda v: tf.broadcast_to(v, [2, 3, 2]),
    "split": lambda v: tf.split(v, 3)[2],
    "unstacked": lambda v: tf.unstack(v, axis=1)[0],
    "squeezed": lambda v: tf.squeeze(v),
    "expanded": lambda v: tf.expand_dims(v, 0),
    "reversed": lambda v: tf.reverse(v, [0]),
    "slice of a view": lambda v: tf.transpose(v)[:, 1:],
}
updates = pytest.mark.parametrize("update", UPDATES)


@pytest.mark.parametrize("read", READS)
@updates
def test_what_was_read_stays(read, update):
    v = tf.Variable(START)
    change, after = UPDATES[update]
    before = READS[read](v)
    kept = before.numpy().copy()
    change(v)
    np.testing.assert_array_equal(before.numpy(), kept)
    np.testing.assert_array_equal(v.numpy(), np.array(after, np.float32))


@updates
def test_no_copy_when_nobody_else_holds_the_buffer(update):
    v = tf.Variable(START)
    # The first value is the caller's array or a constant; from the second on it is v's own.
    v.assign_add(tf.zeros([3, 2]))
    place = v._tensor._array.ctypes.data
    UPDATES[update][0](v)
    assert v._tensor._array.ctypes.data == place
    np.testing.assert_array_equal(v.numpy(), np.array(UPDATES[update][1], np.float32))


@updates
def test_a_reader_makes_the_update_copy(update):
    v = tf.Variable(START)
    v.assign_add(tf.zeros([3, 2]))
    reader = v.value()
    place = v._tensor._array.ctypes.data
    UPDATES[update][0](v)
    assert v._tensor._array.ctypes.data != place
    del reader


@updates
def test_the_result_is_the_variable(update):
    v = tf.Variable(START)
    result = UPDATES[update][0](v)
    assert isinstance(result, tf.Variable)
    v.assign(tf.zeros([3, 2]))
    assert result.numpy().tolist() == [[0.0, 0.0]] * 3


@updates
def test_a_tape_keeps_the_value_it_saw(update):
    v = tf.Variable(START)
    with tf.GradientTape() as tape:
        y = v * v
        UPDATES[update][0](v)
    np.testing.assert_allclose(tape.gradient(y, v).numpy(), 2 * np.array(START))


MISTAKES = {
    "row": lambda v: v[7].assign([9.0, 9.0]),
    "shape": lambda v: v[1:].assign([1.0, 2.0, 3.0]),
    "dtype": lambda v: v[1:].assign(tf.constant([1, 2])),
    "index": lambda v: v.scatter_add(rows([[1.0, 1.0], [1.0, 1.0]], [0, 3])),
    "negative": lambda v: v.scatter_update(rows([[1.0, 1.0], [1.0, 1.0]], [0, -1])),
    "values": lambda v: v.scatter_sub(rows([[1.0, 1.0, 1.0]], [0])),
    "not slices": lambda v: v.scatter_add([1.0, 1.0]),
    "vector": lambda v: v.scatter_nd_update([[0], [3]], [[1.0, 1.0], [2.0, 2.0]]),
    "vector shape": lambda v: v.scatter_nd_add([[0, 0, 0]], [1.0]),
    "batch": lambda v: v.batch_scatter_update(rows([[7.0], [8.0], [9.0]], [[0], [1], [2]])),
}


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("watched", [False, True])
def test_a_failed_update_changes_nothing(mistake, watched):
    v = tf.Variable(START)
    v.assign_add(tf.zeros([3, 2]))
    reader = v.value() if watched else None
    with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)):
        MISTAKES[mistake](v)
    assert v.numpy().tolist() == START
    del reader


def test_updates_of_a_transposed_value():
    v = tf.Variable(tf.transpose(tf.constant([[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]])))
    v.scatter_add(rows([[10.0, 10.0]], [1]))
    v.scatter_nd_add([[2, 0]], [100.0])
    assert v.numpy().tolist() == [[1.0, 2.0], [13.0, 14.0], [105.0, 6.0]]


def test_a_variable_scattered_into_itself():
    v = tf.Variable([1.0, 2.0, 3.0])
    v.scatter_add(tf.IndexedSlices(v, tf.constant([2, 1, 0])))
    assert v.numpy().tolist() == [4.0, 4.0, 4.0]
    v[1:].assign(v[:2])
    assert v.numpy().tolist() == [4.0, 4.0, 4.0]


def test_overlapping_slices():
    v = tf.Variable([1.0, 2.0, 3.0, 4.0])
    v[1:].assign(v[:-1])
    assert v.numpy().tolist() == [1.0, 1.0, 2.0, 3.0]


def test_scalars():
    v = tf.Variable(1.0)
    v[...].assign(2.0)
    assert float(v) == 2.0
    v.scatter_add(tf.IndexedSlices(tf.constant(1.0), tf.constant(0)))
    assert float(v) == 3.0
    text = tf.Variable("a")
    text[...].assign("b")
    assert text.numpy() == b"b"
