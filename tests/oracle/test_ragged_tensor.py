"""RaggedTensor: constructors, parts, conversion and slicing against TensorFlow."""

import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st

FLOATS = np.array([1.5, -2.0, 3.0, 0.5, 4.0, -1.0])


def parts(value):
    """The tensors that a ragged or dense result is made of."""
    if hasattr(value, "nested_row_splits"):
        return [value.flat_values, *value.nested_row_splits]
    return [value]


@st.composite
def rows(draw, depth=1):
    """Row splits, the outermost first, and as many numbers as they ask for."""
    count = draw(st.integers(0, 4))
    nested = []
    for _ in range(depth):
        lengths = draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
        nested.append(np.cumsum([0, *lengths]).astype(np.int64))
        count = int(nested[-1][-1])
    return nested, np.linspace(0.5, 2.0, count) if count else np.zeros(0)


@settings(max_examples=8)
@given(rows())
def test_from_row_splits(case):
    (splits,), values = case
    check(lambda tf, v, s: parts(tf.RaggedTensor.from_row_splits(v, s)), values, splits)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_every_way_to_say_rows(dtype):
    def of(tf, v, lengths, ids, starts, limits):
        make = tf.RaggedTensor
        return [
            *parts(make.from_row_lengths(v, lengths)),
            *parts(make.from_value_rowids(v, ids)),
            *parts(make.from_value_rowids(v, ids, nrows=7)),
            *parts(make.from_row_starts(v, starts)),
            *parts(make.from_row_limits(v, limits)),
            *parts(make.from_uniform_row_length(v, 3)),
            *parts(make.from_uniform_row_length(make.from_row_limits(v, limits), 2)),
        ]

    numbers = [[2, 0, 3, 1], [0, 0, 2, 2, 2, 3], [0, 2, 2, 5], [2, 2, 5, 6]]
    check(of, FLOATS, *[np.array(each, dtype) for each in numbers])


def test_nested():
    def of(tf, v):
        make = tf.RaggedTensor
        return [
            *parts(make.from_nested_row_splits(v, [[0, 1, 3], [0, 2, 2, 6]])),
            *parts(make.from_nested_row_lengths(v, [[1, 2], [2, 0, 4]])),
            *parts(make.from_nested_value_rowids(v, [[0, 1, 1], [0, 0, 2, 2, 2, 2]])),
            *parts(make.from_nested_value_rowids(v, [[0, 1], [0, 0, 1, 1, 1, 1]], [3, 2])),
        ]

    check(of, FLOATS)


@settings(max_examples=6)
@given(rows(depth=2))
def test_parts_of_it(case):
    nested, values = case

    def of(tf, v, *splits):
        rt = tf.RaggedTensor.from_nested_row_splits(v, splits)
        return [
            rt.nrows(), rt.nrows(tf.int32), rt.row_starts(), rt.row_limits(), rt.row_lengths(),
            rt.value_rowids(), rt.nested_row_lengths(), rt.nested_value_rowids(),
            rt.bounding_shape(), rt.bounding_shape(axis=1), rt.bounding_shape(out_type=tf.int32),
            *parts(rt.row_lengths(2)), *parts(rt.merge_dims(0, 1)), *parts(rt.merge_dims(1, 2)),
            *parts(rt.merge_dims(0, 2)), *parts(rt.with_flat_values(v * 2)),
            *parts(rt.with_row_splits_dtype(tf.int32)), *parts(rt.with_values(rt.values)),
        ]  # fmt: skip

    check(of, values, *nested)


def test_uniform_inner_dimensions():
    values = np.linspace(0, 1, 12).reshape(3, 2, 2)

    def of(tf, v):
        rt = tf.RaggedTensor.from_row_splits(v, [0, 2, 2, 3])
        return [
            rt.bounding_shape(), *parts(rt.row_lengths(2)), *parts(rt.merge_dims(1, 2)),
            *parts(rt.merge_dims(1, 3)), *parts(rt.merge_dims(2, 3)), rt.merge_dims(0, 3),
            rt.to_tensor(), rt.to_tensor(default_value=[7.0, 8.0]), *parts(rt[:, 1:, 0]),
            *parts(rt[..., 1]), *parts(rt[..., tf.newaxis]),
        ]  # fmt: skip

    check(of, values, traced=False)
    check(lambda tf, v: of(tf, tf.ensure_shape(v, [None, None, 2])), values)


@settings(max_examples=6)
@given(rows(depth=2), st.sampled_from([None, (None, None, None), (2, None, 1), (None, 4, None)]))
def test_to_tensor(case, shape):
    nested, values = case

    def of(tf, v, default, *splits):
        return tf.RaggedTensor.from_nested_row_splits(v, splits).to_tensor(default, shape=shape)

    check(of, values, np.array(9.0), *nested)


def test_to_tensor_of_integers_and_strings():
    check(lambda tf: tf.ragged.constant([[1, 2], [], [3]]).to_tensor(-1))
    check(lambda tf: tf.ragged.constant([["a"], ["b", "c"]]).to_tensor())
    check(lambda tf: tf.ragged.constant([[True], []]).to_tensor(True))


def test_from_tensor():
    matrix = np.array([[5.0, 7.0, 0.0], [0.0, 3.0, 0.0], [6.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    cube = np.linspace(1, 2, 12).reshape(2, 2, 3)

    def of(tf, m, c):
        make = tf.RaggedTensor.from_tensor
        return [
            *parts(make(m)), *parts(make(m, padding=0.0)), *parts(make(m, lengths=[1, 0, 3, 9])),
            *parts(make(m, row_splits_dtype=tf.int32)), *parts(make(c)),
            *parts(make(c, ragged_rank=2)), *parts(make(c, lengths=([2, 1], [1, 2, 3]))),
            *parts(make(c, lengths=[1, 2, 0, 3], ragged_rank=2)),
        ]  # fmt: skip

    check(of, matrix, cube, smooth=False)  # what is padding changes with the values
    check(
        lambda tf, c: parts(tf.RaggedTensor.from_tensor(c, padding=[1.0, 2.0])),
        np.array([[[5.0, 6.0], [1.0, 2.0]], [[1.0, 1.0], [2.0, 2.0]]]),
        smooth=False,
    )


def test_sparse_and_back():
    def of(tf, v):
        rt = tf.RaggedTensor.from_nested_row_splits(v, [[0, 1, 1, 3], [0, 2, 3, 6]])
        sparse = rt.to_sparse()
        flat = tf.RaggedTensor.from_row_splits(v, [0, 2, 2, 6])
        return [
            sparse.indices, sparse.values, sparse.dense_shape,
            *parts(tf.RaggedTensor.from_sparse(flat.to_sparse())),
        ]  # fmt: skip

    check(of, FLOATS)
    check(lambda tf, v: tf.RaggedTensor.from_row_splits(v, [0, 1, 3]).to_sparse().values,
          np.linspace(0, 1, 6).reshape(3, 2))  # fmt: skip


KEYS = [
    (0,), (-1,), (slice(1, None),), (slice(None, -1),), (slice(None, None, 2),),
    (slice(None, None, -1),), (slice(None), slice(1, None)), (slice(None), slice(None, -1)),
    (slice(None), slice(None, None, -1)), (slice(None), slice(2, 0, -1)),
    (slice(None), slice(None, None, 2)), (0, 1), (0, slice(1, None)), (None,),
    (slice(None), None), (Ellipsis, None), (slice(3, 1),), (slice(1, 3), slice(0, 1)),
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS)
def test_slices(key):
    splits = np.array([0, 3, 3, 5, 6])

    def of(tf, v, s):
        return parts(tf.RaggedTensor.from_row_splits(v, s)[key])

    # An ellipsis needs a known rank.
    check(of, FLOATS, splits, traced=Ellipsis not in key)


@pytest.mark.parametrize("key", [(0, 0), (slice(None), slice(1, None), slice(None, 1)), (2, 0, 1)])
def test_slices_of_two_ragged_dimensions(key):
    def of(tf, v):
        rt = tf.RaggedTensor.from_nested_row_splits(v, [[0, 2, 2, 3], [0, 2, 3, 6]])
        return parts(rt[key])

    check(of, FLOATS)


def test_uniform_rows_have_columns():
    def of(tf, v):
        rt = tf.RaggedTensor.from_uniform_row_length(v, 3)
        return [*parts(rt[:, 1]), *parts(rt[:, -1]), *parts(rt[:, :2]), *parts(rt[1:])]

    check(of, FLOATS)


@pytest.mark.parametrize(
    "function",
    [
        lambda tf, rt: rt[9],
        lambda tf, rt: rt[:, 0],
        lambda tf, rt: rt["a"],
        lambda tf, rt: rt.merge_dims(1, 0),
        lambda tf, rt: rt.row_lengths(5),
        lambda tf, rt: rt.with_values([1]),
        lambda tf, rt: rt.to_tensor(shape=[2]),
        lambda tf, rt: rt.to_tensor("x"),
        lambda tf, rt: bool(rt),
        lambda tf, rt: hash(rt),
        lambda tf, rt: tf.convert_to_tensor(rt),
        lambda tf, rt: tf.constant(rt),
        lambda tf, rt: tf.transpose(rt),
        lambda tf, rt: tf.sort(rt),
        lambda tf, rt: rt + tf.constant([[1, 2], [3, 4], [5, 6]]),
        lambda tf, rt: rt + tf.ragged.constant([[1, 2], [1], [3]]),
        lambda tf, rt: tf.RaggedTensor.from_row_splits([1, 2], [0, 3]),
        lambda tf, rt: tf.RaggedTensor.from_row_splits([1, 2], [1, 2]),
        lambda tf, rt: tf.RaggedTensor.from_row_splits([1, 2], [0, 2, 1, 2]),
        lambda tf, rt: tf.RaggedTensor.from_row_splits([1, 2], []),
        lambda tf, rt: tf.RaggedTensor.from_row_splits([1, 2], [0.0, 2.0]),
        lambda tf, rt: tf.RaggedTensor.from_row_splits([1, 2], [[0, 2]]),
        lambda tf, rt: tf.RaggedTensor.from_row_lengths([1, 2], [-1, 3]),
        lambda tf, rt: tf.RaggedTensor.from_row_lengths([1, 2], [1]),
        lambda tf, rt: tf.RaggedTensor.from_value_rowids([1, 2], [1, 0]),
        lambda tf, rt: tf.RaggedTensor.from_value_rowids([1, 2], [0, 3], nrows=2),
        lambda tf, rt: tf.RaggedTensor.from_value_rowids([1, 2], [0]),
        lambda tf, rt: tf.RaggedTensor.from_row_starts([1, 2], [1]),
        lambda tf, rt: tf.RaggedTensor.from_row_limits([1, 2], [1]),
        lambda tf, rt: tf.RaggedTensor.from_uniform_row_length([1, 2, 3], 2),
        lambda tf, rt: tf.RaggedTensor.from_uniform_row_length([1, 2], -1),
        lambda tf, rt: tf.RaggedTensor.from_nested_row_splits([1], tf.constant([0, 1])),
        lambda tf, rt: tf.RaggedTensor.from_tensor([1, 2]),
        lambda tf, rt: tf.RaggedTensor.from_tensor([[1]], ragged_rank=0),
        lambda tf, rt: tf.RaggedTensor.from_tensor([[1]], lengths=[1], padding=0),
        lambda tf, rt: tf.RaggedTensor.from_sparse(tf.SparseTensor([[0, 1]], [1], [1, 2])),
        lambda tf, rt: tf.RaggedTensor(1, 2),
        lambda tf, rt: tf.RaggedTensorSpec([3], ragged_rank=1),
        lambda tf, rt: tf.RaggedTensorSpec(),
    ],
)
def test_refused(function):
    check_raises(lambda tf: function(tf, tf.ragged.constant([[1, 2], [], [3]])))


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 2], [], [3]],
        [["a", "b"], ["c"]],
        [[1.5, 2.0], [3.25]],
        [[[1, 2], [3]], [], [[4]]],
        [[1, 2], [3, 4]],
        [[], []],
        [list(range(1200)), [1]],
        [[list(range(60))], [[1]]],
        [[True], []],
    ],
)
def test_texts_and_lists(rows):
    check(lambda tf: repr(tf.ragged.constant(rows)), traced=False)
    check(lambda tf: str(tf.ragged.constant(rows).to_list()), traced=False)
    check(lambda tf: repr(tf.ragged.constant(rows).numpy()), traced=False)
    check(lambda tf: str(tf.ragged.constant(rows)._type_spec))


def test_specs_and_structures():
    import runnel as tf

    rt = tf.ragged.constant([[[1, 2], [3]], [], [[4]]])
    flat = tf.nest.flatten({"a": rt}, expand_composites=True)
    assert [each.shape.as_list() for each in flat] == [[4], [4], [4]]
    again = tf.nest.pack_sequence_as({"a": rt}, flat, expand_composites=True)["a"]
    assert again.to_list() == rt.to_list()
    spec = tf.RaggedTensorSpec([None, None, None], tf.int32)
    assert spec.is_compatible_with(rt)
    assert not tf.RaggedTensorSpec([None, None], tf.int32).is_compatible_with(rt)
    assert tf.type_spec_from_value(rt) == tf.RaggedTensorSpec([3, None, None], tf.int32)
    uniform = tf.RaggedTensor.from_uniform_row_length(rt, 3)
    packed = tf.nest.map_structure(lambda t: t, uniform, expand_composites=True)
    assert packed.shape == uniform.shape == [1, 3, None, None]


@pytest.mark.parametrize(
    "spec",
    [
        lambda tf: tf.RaggedTensorSpec([None, None, 2], tf.int32, 1),
        lambda tf: tf.RaggedTensorSpec([3, None], tf.string, row_splits_dtype=tf.int32),
        lambda tf: tf.RaggedTensorSpec(None, tf.float32, 2),
        lambda tf: tf.RaggedTensorSpec([3, 2], tf.float32, 0),
    ],
)
def test_spec_texts(spec):
    check(lambda tf: repr(spec(tf)))
    check(lambda tf: repr(spec(tf)._component_specs))
