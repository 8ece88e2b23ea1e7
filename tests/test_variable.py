"""Variables: cells whose past values stay as they were."""

import copy
import pickle

import numpy as np
import pytest

import runnel as tf

UPDATES = {
    "assign": lambda v: v.assign([9.0, 9.0, 9.0]),
    "assign_add": lambda v: v.assign_add([1.0, 1.0, 1.0]),
    "assign_sub": lambda v: v.assign_sub([1.0, 1.0, 1.0]),
    "slice": lambda v: v[1:].assign([7.0, 7.0]),
    "element": lambda v: v[0].assign(7.0),
    "scatter_add": lambda v: v.scatter_add(tf.IndexedSlices([1.0], [0])),
    "scatter_sub": lambda v: v.scatter_sub(tf.IndexedSlices([1.0], [0])),
    "scatter_mul": lambda v: v.scatter_mul(tf.IndexedSlices([5.0], [0])),
    "scatter_div": lambda v: v.scatter_div(tf.IndexedSlices([5.0], [0])),
    "scatter_max": lambda v: v.scatter_max(tf.IndexedSlices([50.0], [0])),
    "scatter_min": lambda v: v.scatter_min(tf.IndexedSlices([-5.0], [0])),
    "scatter_update": lambda v: v.scatter_update(tf.IndexedSlices([8.0], [0])),
    "scatter_nd_add": lambda v: v.scatter_nd_add([[0]], [1.0]),
    "scatter_nd_sub": lambda v: v.scatter_nd_sub([[0]], [1.0]),
    "scatter_nd_update": lambda v: v.scatter_nd_update([[0]], [8.0]),
}

READS = {
    "value": lambda v: v.value(),
    "read_value": lambda v: v.read_value(),
    "convert": tf.convert_to_tensor,
    "identity": tf.identity,
    "slice": lambda v: v[:],
    "reshape": lambda v: tf.reshape(v, [3, 1]),
    "asarray": np.asarray,
    "numpy": lambda v: v.numpy(),
    "view of asarray": lambda v: np.asarray(v)[1:],
}


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("read", READS)
def test_what_was_read_never_changes(read, update):
    variable = tf.Variable([1.0, 2.0, 3.0])
    seen = READS[read](variable)
    before = np.array(seen)
    for _ in range(3):
        UPDATES[update](variable)
    assert np.array(variable).tolist() != [1.0, 2.0, 3.0]
    assert np.array_equal(np.array(seen), before)


@pytest.mark.parametrize("update", [name for name in UPDATES if name != "assign"])
def test_no_copy_when_nobody_else_holds_the_buffer(update):
    variable = tf.Variable([1.0, 2.0, 3.0])
    UPDATES[update](variable)
    place = variable._tensor._array.__array_interface__["data"]
    for _ in range(3):
        UPDATES[update](variable)
    assert variable._tensor._array.__array_interface__["data"] == place


def test_two_variables_do_not_share_what_was_assigned():
    a = tf.Variable([1.0, 2.0])
    b = tf.Variable(a)
    c = tf.Variable([0.0, 0.0])
    c.assign(a)
    a.assign_add([1.0, 1.0])
    assert b.numpy().tolist() == c.numpy().tolist() == [1.0, 2.0]
    c.assign_add([5.0, 5.0])
    assert a.numpy().tolist() == [2.0, 3.0]


def test_the_tape_keeps_the_value_that_was_used():
    variable = tf.Variable([2.0, 3.0])
    with tf.GradientTape() as tape:
        y = variable * variable
    variable.assign_add([10.0, 10.0])
    assert tape.gradient(y, variable).numpy().tolist() == [4.0, 6.0]


BAD_UPDATES = {
    "shape": lambda v: v.assign([1.0, 2.0]),
    "add shape": lambda v: v.assign_add([1.0, 2.0]),
    "dtype": lambda v: v.assign(tf.constant([1, 2, 3])),
    "text": lambda v: v.assign_sub("a"),
    "index": lambda v: v.scatter_add(tf.IndexedSlices([1.0, 1.0], [0, 5])),
    "negative index": lambda v: v.scatter_update(tf.IndexedSlices([1.0, 1.0], [0, -1])),
    "nd index": lambda v: v.scatter_nd_add([[0], [7]], [1.0, 1.0]),
    "slice shape": lambda v: v[1:].assign([1.0, 2.0, 3.0]),
}


@pytest.mark.parametrize("mistake", BAD_UPDATES)
def test_a_failed_update_changes_nothing(mistake):
    variable = tf.Variable([1.0, 2.0, 3.0])
    with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)):
        BAD_UPDATES[mistake](variable)
    assert variable.numpy().tolist() == [1.0, 2.0, 3.0]


def test_pickle_and_deepcopy_make_variables_of_their_own():
    variable = tf.Variable([1.0, 2.0], name="w", trainable=False)
    for other in (pickle.loads(pickle.dumps(variable)), copy.deepcopy(variable)):
        other.assign_add([1.0, 1.0])
        assert (other.name, other.trainable) == ("w:0", False)
    assert variable.numpy().tolist() == [1.0, 2.0]


def test_creators_see_and_change_the_arguments():
    seen = []

    def creator(next_creator, **kwargs):
        seen.append(kwargs["name"])
        kwargs["initial_value"] = 5.0
        return next_creator(**kwargs)

    with tf.variable_creator_scope(creator):
        variable = tf.Variable(1.0, name="x")
    assert seen == ["x"] and float(variable) == 5.0
    assert float(tf.Variable(1.0)) == 1.0


def test_names_follow_the_scopes():
    with tf.name_scope("a"), tf.name_scope("b"):
        assert tf.Variable(1.0, name="v").name == "a/b/v:0"


def test_subclasses_convert_like_variables():
    class Counted(tf.Variable):
        pass

    whole, exact = Counted(1), Counted(np.float64(0.5))
    assert tf.convert_to_tensor([whole, 2.5], tf.float32).numpy().tolist() == [1.0, 2.5]
    assert tf.convert_to_tensor([1, exact]).dtype is tf.float64
    assert (2 + exact).dtype is tf.float64 and tf.add(2, exact).dtype is tf.float64
    assert tf.get_static_value(whole) is None
