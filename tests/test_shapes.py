"""TensorShape's algebra beside TensorFlow's own, over generated shapes."""

import itertools
import pickle

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, strategies as st
from parameter_names import stable_repr

from runnel.core import shapes

dimensions = st.none() | st.integers(0, 4)
shape_values = st.none() | st.lists(dimensions, max_size=4)


def similar(count):
    """As many shapes as asked for, mostly of one rank, with dimensions that often agree."""
    few = st.sampled_from([None, 0, 1, 2])
    same_rank = st.lists(st.tuples(*[few] * count), max_size=3).map(
        lambda columns: tuple([column[i] for column in columns] for i in range(count))
    )
    return same_rank | same_rank | st.tuples(*[shape_values] * count)


indices = st.none() | st.integers(-5, 5)


class Indexed:
    def __index__(self):
        return 3


CONVERTIBLE = [
    *(None, 3, 0, -1, 2.0, "ab", "", [2, None], (2,), [], [2, -1], [2.0], ["2"], [[2]], {}, {2: 3}),
    *(range(3), np.array([2, 3]), np.array(3), np.int32(3), np.zeros([2, 2], int), [np.int64(3)]),
    *([np.float32(3)], [Indexed()], Indexed(), object(), b"ab", np.array([1.0])),
]


def comparable(value):
    """A result as something that can be equal in both libraries."""
    return repr(value), type(value).__name__


def outcome(function, *args):
    try:
        return comparable(function(*args))
    except Exception as error:
        return type(error).__name__


def agree(expression, *values):
    """The same expression gives the same result or the same error in both libraries."""
    ours = outcome(expression, *map(shapes.TensorShape, values))
    theirs = outcome(expression, *map(tf.TensorShape, values))
    assert ours == theirs


@pytest.mark.parametrize("value", CONVERTIBLE, ids=stable_repr)
def test_constructor(value):
    assert outcome(shapes.TensorShape, value) == outcome(tf.TensorShape, value)


def test_constructor_takes_iterators_and_tensors():
    assert shapes.TensorShape(iter([1, 2])) == [1, 2]
    assert shapes.TensorShape(tf.constant([2, 3])) == [2, 3]
    assert shapes.TensorShape([tf.constant(2), None]) == [2, None]
    known = shapes.TensorShape([2, None])
    assert shapes.TensorShape(known) == known
    assert shapes.as_shape(known) is known


@given(shape_values)
def test_what_one_shape_knows(value):
    agree(repr, value)
    agree(str, value)
    agree(bool, value)
    agree(len, value)
    agree(list, value)
    agree(tuple, value)
    agree(lambda shape: shape.rank, value)
    agree(lambda shape: shape.ndims, value)
    agree(lambda shape: shape.as_list(), value)
    agree(lambda shape: shape.num_elements(), value)
    agree(lambda shape: shape.is_fully_defined(), value)
    agree(lambda shape: shape.assert_is_fully_defined(), value)
    agree(lambda shape: pickle.loads(pickle.dumps(shape)), value)
    agree(lambda shape: [shape.flatten(), shape.to_tensors(shape), shape.from_tensors([])], value)
    agree(lambda shape: shape.cast(None, None), value)
    agree(lambda shape: shape.cast([2], None), [3])
    agree(lambda shape: np.zeros(shape).shape, value)


@given(shape_values)
def test_dims_are_plain_integers(value):
    assert shapes.TensorShape(value).dims == value


@given(shape_values)
def test_of_makes_the_same_shape(value):
    dims = None if value is None else tuple(value)
    assert shapes.TensorShape.of(dims) == shapes.TensorShape(value)
    assert type(shapes.TensorShape.of(dims)) is shapes.TensorShape


@given(shape_values, indices, indices)
def test_indexing(value, start, stop):
    agree(lambda shape: shape[start:stop], value)
    agree(lambda shape: shape[start:], value)
    agree(lambda shape: shape[:stop], value)
    if start is not None:
        agree(lambda shape: shape[start], value)
    if stop:
        agree(lambda shape: shape[start::stop], value)


@pytest.mark.parametrize("key", ["a", 1.0, np.int64(1), None], ids=repr)
def test_odd_indices(key):
    agree(lambda shape: shape[key], [2, 3])


@given(similar(2))
def test_two_shapes(pair):
    first, second = pair
    agree(lambda a, b: a == b, first, second)
    agree(lambda a, b: a != b, first, second)
    agree(lambda a, b: (hash(a) == hash(b)) >= (a == b), first, second)
    agree(lambda a, b: a + b, first, second)
    agree(lambda a, b: a.concatenate(b), first, second)
    agree(lambda a, b: a.merge_with(b), first, second)
    agree(lambda a, b: a.is_compatible_with(b), first, second)
    agree(lambda a, b: a.is_subtype_of(b), first, second)
    agree(lambda a, b: a.most_specific_compatible_shape(b), first, second)
    agree(lambda a, b: a.most_specific_common_supertype([b]), first, second)
    agree(lambda a, b: a.assert_same_rank(b), first, second)
    agree(lambda a, b: a.assert_is_compatible_with(b), first, second)


@given(similar(3))
def test_three_shapes(three):
    agree(lambda a, b, c: a.most_specific_common_supertype([b, c]), *three)


@given(shape_values, shape_values | st.integers(0, 4))
def test_a_shape_beside_what_converts_to_one(first, other):
    agree(lambda a: a == other, first)
    agree(lambda a: a != other, first)
    agree(lambda a: a + other, first)
    agree(lambda a: other + a, first)
    agree(lambda a: a.merge_with(other), first)
    agree(lambda a: a.is_compatible_with(other), first)
    agree(lambda a: a.is_subtype_of(other), first)
    agree(lambda a: a.most_specific_compatible_shape(other), first)
    agree(lambda a: a.most_specific_common_supertype([other]), first)


@pytest.mark.parametrize("other", CONVERTIBLE, ids=stable_repr)
def test_a_shape_beside_odd_values(other):
    for value in (None, [2, None], [3], []):
        agree(lambda a: a == other, value)
        agree(lambda a: a != other, value)
        agree(lambda a: a.is_compatible_with(other), value)


@given(shape_values, st.integers(-1, 5))
def test_ranks(value, rank):
    agree(lambda shape: shape.with_rank(rank), value)
    agree(lambda shape: shape.with_rank(None), value)
    agree(lambda shape: shape.with_rank_at_least(rank), value)
    agree(lambda shape: shape.with_rank_at_most(rank), value)
    agree(lambda shape: shape.assert_has_rank(rank), value)


@given(st.lists(st.integers(0, 4), max_size=4))
def test_hash_is_that_of_the_tuple(dims):
    assert hash(shapes.TensorShape(dims)) == hash(tf.TensorShape(dims)) == hash(tuple(dims))


DIMENSION_PAIRS = list(itertools.product([None, 0, 1, 2, 3], repeat=2))


def check_broadcasting(first, second):
    for function in (shapes.broadcast_static_shape, shapes.broadcast_shapes):
        ours = outcome(function, shapes.TensorShape(first), shapes.TensorShape(second))
        theirs = outcome(tf.broadcast_static_shape, tf.TensorShape(first), tf.TensorShape(second))
        assert ours == theirs


@pytest.mark.parametrize("pair", DIMENSION_PAIRS, ids=repr)
def test_two_dimensions(pair):
    first, second = pair
    check_broadcasting([first], [second])
    check_broadcasting([2, first], [second])
    check_broadcasting([first], [2, second])
    agree(lambda a, b: a.is_subtype_of(b), [first], [second])
    agree(lambda a, b: a.is_compatible_with(b), [first], [second])
    agree(lambda a, b: a.merge_with(b), [first], [second])
    agree(lambda a, b: a.most_specific_compatible_shape(b), [first], [second])


@given(similar(2))
def test_broadcasting(pair):
    first, second = pair
    check_broadcasting(first, second)
    if first is not None:
        check_broadcasting(first[1:], second)
        check_broadcasting(second, first[1:])


MESSAGES = {
    "merge": lambda make: make([2]).merge_with([3, 4]),
    "rank": lambda make: make([2]).with_rank(2),
    "at least": lambda make: make([2]).with_rank_at_least(2),
    "at most": lambda make: make([2]).with_rank_at_most(0),
    "has rank": lambda make: make([2]).assert_has_rank(2),
    "same rank": lambda make: make([2]).assert_same_rank([3, 4]),
    "compatible": lambda make: make([2]).assert_is_compatible_with([3]),
    "fully defined": lambda make: make([None]).assert_is_fully_defined(),
    "negative": lambda make: make([-1]),
    "length": lambda make: len(make(None)),
    "iteration": lambda make: list(make(None)),
    "list": lambda make: make(None).as_list(),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_messages(name):
    texts = []
    for make in (shapes.TensorShape, tf.TensorShape):
        with pytest.raises(ValueError) as caught:
            MESSAGES[name](make)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_broadcasting_message():
    arguments = [2, 3], [4, 3]
    with pytest.raises(ValueError) as theirs:
        tf.broadcast_static_shape(*map(tf.TensorShape, arguments))
    with pytest.raises(ValueError) as ours:
        shapes.broadcast_static_shape(*map(shapes.TensorShape, arguments))
    assert str(ours.value) == str(theirs.value)


def test_broadcasting_keeps_the_order_of_the_shapes_in_its_message():
    with pytest.raises(ValueError, match=r"Received: \(3,\) and \(4, 2\)"):
        shapes.broadcast_static_shape([3], [4, 2])


def test_shapes_have_no_room_for_other_attributes():
    with pytest.raises(AttributeError):
        shapes.TensorShape([2]).other = 1


@pytest.mark.parametrize("dims", [None, [], [2], [None, 3], [0, None]])
def test_as_a_message(dims):
    messages = [library.TensorShape(dims).as_proto() for library in (tf, shapes)]
    assert messages[0].SerializeToString() == messages[1].SerializeToString()
