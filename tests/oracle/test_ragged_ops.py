"""Public functions on ragged tensors, and tf.ragged.*, against TensorFlow."""

import numpy as np
import pytest
from compare import check, check_raises, noted
from hypothesis import given, settings, strategies as st

FLOATS = np.array([1.5, -2.0, 3.0, 0.5, 4.0, -1.0])
MATRIX = np.linspace(0.5, 2, 12).reshape(6, 2)
SPLITS = np.array([0, 2, 2, 5, 6])


def parts(value):
    if isinstance(value, list | tuple):
        return [part for each in value for part in parts(each)]
    if hasattr(value, "nested_row_splits"):
        return [value.flat_values, *value.nested_row_splits]
    return [value]


def ranked(tf, rt):
    """The ragged tensor with flat values that are known to be a vector."""
    return rt.with_flat_values(tf.ensure_shape(rt.flat_values, [None]))


def on_rows(function, values=FLOATS, splits=SPLITS, **options):
    """Check a function of a ragged tensor of the values in rows."""
    check(
        lambda tf, v, s: parts(function(tf, tf.RaggedTensor.from_row_splits(v, s))),
        values,
        splits,
        **options,
    )


def on_nested(function, **options):
    """Check a function of a ragged tensor of two ragged dimensions."""
    nested = [np.array([0, 2, 2, 3]), np.array([0, 2, 3, 6])]
    check(
        lambda tf, v, *s: parts(function(tf, tf.RaggedTensor.from_nested_row_splits(v, s))),
        FLOATS,
        *nested,
        **options,
    )


@pytest.mark.parametrize(
    "function",
    [
        lambda tf, rt: rt + 1.0,
        lambda tf, rt: 1.0 - rt,
        lambda tf, rt: rt * rt / (rt * rt + 1.0),
        lambda tf, rt: -abs(rt),
        lambda tf, rt: tf.square(rt) - tf.exp(rt),
        lambda tf, rt: tf.maximum(rt, 0.7),
        lambda tf, rt: tf.where(rt > 0.0, rt, rt * rt),
        lambda tf, rt: tf.where(rt > 0.0, rt, tf.constant(0.0, tf.float64)),
        lambda tf, rt: tf.add_n([rt, rt, rt]),
        lambda tf, rt: tf.clip_by_value(rt, -1.5, 2.5),
        lambda tf, rt: tf.nn.sigmoid(rt),
        lambda tf, rt: tf.nn.gelu(rt),
        lambda tf, rt: tf.zeros_like(rt) + tf.ones_like(rt),
        lambda tf, rt: tf.identity(rt),
        lambda tf, rt: tf.nn.sigmoid_cross_entropy_with_logits(rt, rt),
        lambda tf, rt: tf.ragged.map_flat_values(tf.square, rt),
        lambda tf, rt: tf.ragged.map_flat_values(lambda a, b: a * b, rt, rt),
    ],
)
def test_element_wise(function):
    on_rows(function)


def test_casts_and_softmax():
    on_rows(lambda tf, rt: tf.cast(rt, tf.float32), smooth=False)
    on_rows(lambda tf, rt: tf.nn.softmax(ranked(tf, rt)))


@pytest.mark.parametrize(
    "function",
    [
        lambda tf, rt: rt < 1.0,
        lambda tf, rt: (rt >= 1.0) & (rt != 3.0),
        lambda tf, rt: ~(rt == rt),
        lambda tf, rt: tf.size(rt),
        lambda tf, rt: tf.rank(rt),
        lambda tf, rt: tf.where(rt > 0.0),
        lambda tf, rt: tf.math.is_finite(rt),
        lambda tf, rt: tf.reduce_any(rt > 3.0, axis=1),
        lambda tf, rt: tf.reduce_all(rt > 0.0, axis=1),
        lambda tf, rt: tf.reduce_all(rt > 0.0),
        lambda tf, rt: tf.one_hot(tf.cast(tf.abs(rt), tf.int32), 3),
        lambda tf, rt: tf.math.bincount(tf.cast(tf.abs(rt), tf.int32)),
        lambda tf, rt: tf.math.bincount(tf.cast(tf.abs(rt), tf.int32), axis=-1),
        lambda tf, rt: tf.math.bincount(tf.cast(rt * rt, tf.int32), axis=-1, maxlength=4),
    ],
)
def test_without_gradients(function):
    on_rows(function, gradient=False)


def test_of_matrices_in_rows():
    on_rows(lambda tf, rt: rt + tf.constant([10.0, 20.0], tf.float64), MATRIX, traced=False)
    on_rows(lambda tf, rt: [tf.reduce_sum(rt), tf.reduce_sum(rt, axis=1)], MATRIX)
    on_rows(lambda tf, rt: tf.reduce_mean(rt, axis=[0, 2]), MATRIX, traced=False)
    on_rows(lambda tf, rt: tf.concat([rt, rt * 2.0], axis=2), MATRIX, traced=False)
    on_rows(lambda tf, rt: tf.split(rt, 2, axis=2), MATRIX, traced=False)
    on_rows(lambda tf, rt: tf.gather(rt, [1, 0, 1], axis=2), MATRIX)
    on_rows(lambda tf, rt: tf.nn.softmax(rt), MATRIX, traced=False)
    on_rows(lambda tf, rt: tf.tile(rt, [1, 2, 2]), MATRIX, traced=False)
    batch = np.linspace(-1, 1, 16).reshape(4, 2, 2)
    on_rows(lambda tf, rt: tf.linalg.matmul(rt, tf.constant(batch)), MATRIX, traced=False)


BROADCASTS = [
    (SPLITS, (4, 1)), (SPLITS, (1, 1)), (SPLITS, (1,)), (SPLITS, ()), (SPLITS, (1, 4, 1)),
    (SPLITS, (2, 4, 1)), (np.array([0, 3, 6]), (2, 3)), (np.array([0, 6]), (5, 1)),
]  # fmt: skip


@pytest.mark.parametrize("splits, shape", BROADCASTS)
def test_broadcasting_with_a_tensor(splits, shape):
    dense = np.linspace(1, 2, int(np.prod(shape))).reshape(shape)

    def of(tf, v, s, d):
        d = tf.ensure_shape(d, shape)
        v = tf.ensure_shape(v, [None])
        rt = tf.RaggedTensor.from_row_splits(v, s)
        return [*parts(rt * d), *parts(d - rt)]

    check(of, FLOATS, splits, dense)


def test_broadcasting_of_uniform_rows():
    def of(tf, v, s):
        v = tf.ensure_shape(v, [None])
        rt = tf.RaggedTensor.from_row_splits(v, s)
        column = tf.RaggedTensor.from_uniform_row_length(v[:4], 1)
        outer = tf.RaggedTensor.from_uniform_row_length(rt, 2)
        return [
            *parts(rt + column), *parts(tf.expand_dims(rt, 0) * rt), *parts(outer * outer),
            *parts(tf.expand_dims(rt, 2) + tf.constant([[[1.0, 2.0]]], tf.float64)),
        ]  # fmt: skip

    check(of, FLOATS, SPLITS)


REDUCTIONS = ["reduce_sum", "reduce_mean", "reduce_prod", "reduce_max", "reduce_min"]


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions(name, keepdims):
    def of(tf, rt):
        reduce = getattr(tf, name)
        return [reduce(rt[::2], axis=axis, keepdims=keepdims) for axis in (0, 1)]

    on_rows(of)
    on_rows(lambda tf, rt: getattr(tf, name)(rt, keepdims=keepdims))


@pytest.mark.parametrize("axis", [0, 1, 2, [0, 1], [0, 2], [1, 2], [0, 1, 2], -1])
def test_reductions_of_two_ragged_dimensions(axis):
    on_nested(lambda tf, rt: tf.reduce_sum(rt, axis=axis), traced=axis != -1)
    # The greatest of an empty row is the least number there is: no differences there.
    on_nested(lambda tf, rt: tf.reduce_max(rt, axis=axis), traced=axis != -1, smooth=False)


def test_statistics():
    two = np.array([0, 2, 6])
    on_rows(lambda tf, rt: tf.math.reduce_variance(ranked(tf, rt), axis=1), splits=two)
    on_rows(lambda tf, rt: tf.math.reduce_std(ranked(tf, rt), axis=1), splits=two)
    on_rows(lambda tf, rt: tf.math.unsorted_segment_sum(rt, [1, 0, 1, 2], 3))
    on_rows(lambda tf, rt: tf.math.unsorted_segment_mean(rt, [1, 0, 1, 2], 3))
    on_rows(lambda tf, rt: tf.math.unsorted_segment_max(rt, [1, 0, 1, 2], 3))
    on_rows(lambda tf, rt: tf.math.cumsum(rt, axis=0), traced=False)
    on_rows(lambda tf, rt: tf.math.cumsum(rt, axis=1), traced=False)


@pytest.mark.parametrize(
    "function",
    [
        lambda tf, rt: tf.concat([rt, rt * 2.0], axis=0),
        lambda tf, rt: tf.concat([rt, rt * 2.0, rt], axis=1),
        lambda tf, rt: tf.stack([rt, rt * 2.0]),
        lambda tf, rt: tf.stack([rt, rt * 2.0], axis=1),
        lambda tf, rt: tf.stack([rt, rt * 2.0], axis=2),
        lambda tf, rt: tf.ragged.stack([rt, rt[1:]]),
        lambda tf, rt: tf.expand_dims(rt, 0),
        lambda tf, rt: tf.expand_dims(rt, 1),
        lambda tf, rt: tf.expand_dims(rt, 2),
        lambda tf, rt: tf.squeeze(tf.expand_dims(rt, 1), 1),
        lambda tf, rt: tf.squeeze(tf.expand_dims(rt, 0), 0),
        lambda tf, rt: tf.gather(rt, [3, 0, 0]),
        lambda tf, rt: tf.gather(rt, [[3, 0], [2, 1]]),
        lambda tf, rt: tf.gather(rt, 2),
        lambda tf, rt: tf.gather(rt, tf.ragged.constant([[0], [1, 3]])),
        lambda tf, rt: tf.gather(rt, tf.ragged.constant([[1], [], [2, 0], []]), batch_dims=1),
        lambda tf, rt: tf.gather(rt.flat_values, tf.ragged.constant([[0], [1, 3]])),
        lambda tf, rt: tf.nn.embedding_lookup(rt.flat_values, tf.ragged.constant([[0], [1, 3]])),
        lambda tf, rt: tf.gather_nd(rt, [[0, 1], [2, 2]]),
        lambda tf, rt: tf.gather_nd(rt, [[0], [2]]),
        lambda tf, rt: tf.reverse(rt, [0]),
        lambda tf, rt: tf.reverse(rt, [1]),
        lambda tf, rt: tf.reverse(rt, [0, 1]),
        lambda tf, rt: tf.tile(rt, [2, 1]),
        lambda tf, rt: tf.tile(rt, [1, 2]),
        lambda tf, rt: tf.tile(rt, [2, 3]),
        lambda tf, rt: tf.reshape(rt, [-1]),
        lambda tf, rt: tf.dynamic_partition(rt, [1, 0, 1, 1], 2),
        lambda tf, rt: tf.ragged.stack_dynamic_partitions(rt, [1, 0, 1, 1], 3),
        lambda tf, rt: tf.ragged.stack_dynamic_partitions(rt.flat_values, [1, 0, 1, 1, 0, 0], 3),
        lambda tf, rt: tf.ragged.boolean_mask(rt, [True, False, True, True]),
        lambda tf, rt: tf.ragged.boolean_mask(rt, rt > 0.0),
        lambda tf, rt: tf.ragged.boolean_mask(rt.flat_values, rt.flat_values > 0.0),
    ],
)
def test_joined_and_picked(function):
    on_rows(lambda tf, rt: function(tf, ranked(tf, rt)), smooth=False)


def test_splits_of_rows():
    on_rows(lambda tf, rt: tf.split(rt, 2), traced=False)
    on_rows(lambda tf, rt: tf.split(rt, [1, 3]), traced=False)


def test_two_ragged_dimensions():
    for function in (
        lambda tf, rt: tf.concat([rt, rt], axis=0),
        lambda tf, rt: tf.concat([rt, rt], axis=1),
        lambda tf, rt: tf.concat([rt, rt], axis=2),
        lambda tf, rt: tf.gather(rt, [2, 0]),
        lambda tf, rt: tf.reverse(rt, [2]),
        lambda tf, rt: tf.tile(rt, [1, 2, 1]),
        lambda tf, rt: tf.tile(rt, [2, 1, 3]),
        lambda tf, rt: tf.gather_nd(rt, [[0, 1, 0], [2, 0, 1]]),
        lambda tf, rt: tf.nn.softmax(rt),
        lambda tf, rt: tf.ragged.stack([rt, rt], axis=1),
    ):
        on_nested(lambda tf, rt, f=function: f(tf, ranked(tf, rt)))


def test_ragged_beside_dense():
    def of(tf, v, s, d):
        v, d = tf.ensure_shape(v, [None]), tf.ensure_shape(d, [4, 1])
        rt = tf.RaggedTensor.from_row_splits(v, s)
        return [*parts(tf.concat([rt, d], 1)), *parts(tf.concat([d, rt], 0))]

    check(of, FLOATS, SPLITS, np.ones((4, 1)))


@settings(max_examples=12)
@given(
    st.lists(st.tuples(st.integers(-3, 5), st.integers(-3, 8)), min_size=1, max_size=4),
    st.sampled_from([1, 2, -1]),
    st.sampled_from([np.int32, np.int64, np.float32]),
)
def test_ranges(pairs, delta, dtype):
    starts, limits = np.array(pairs, dtype).T.copy()
    step = np.array(delta, dtype)
    check(lambda tf, a, b, d: parts(tf.ragged.range(a, b, d)), starts, limits, step, gradient=False)
    check(lambda tf, b: parts(tf.ragged.range(b)), limits, gradient=False)


def test_segment_ids():
    splits = np.array([0, 3, 3, 5])
    check(lambda tf, s: tf.ragged.row_splits_to_segment_ids(s), splits)
    check(lambda tf, s: tf.ragged.segment_ids_to_row_splits(s), np.array([0, 0, 2, 3]))
    check(lambda tf, s: tf.ragged.segment_ids_to_row_splits(s, 6), np.array([0, 0, 2, 3]))


@pytest.mark.parametrize(
    "arguments",
    [
        ([[1, 2], [3]],), ([],), ([[]],), (3,), ([1, 2],), ([["a"], []],), ([[1], [2.5]],),
        ([[[1, 2], [3, 4]], []], None, 1), ([[[1, 2], [3, 4]], []], None, None, (2,)),
        ([[], []], "int32"), ([[[], []], []],), ([[1], [2]], "float64"),
        (np.array([[1, 2], [3, 4]]),), ([[True], []],),
    ],
)  # fmt: skip
def test_constants(arguments):
    check(lambda tf: parts(tf.ragged.constant(*arguments)))


@pytest.mark.parametrize(
    "function",
    [
        lambda tf, rt: tf.ragged.constant([1, [2]]),
        lambda tf, rt: tf.ragged.constant([[1, 2], [3]], ragged_rank=2),
        lambda tf, rt: tf.ragged.constant([[[1, 2], [3]], []], ragged_rank=1),
        lambda tf, rt: tf.ragged.constant([["a"], [1]]),
        lambda tf, rt: tf.ragged.constant([[1], [2.5]], dtype=tf.int32),
        lambda tf, rt: tf.ragged.constant([[1]], row_splits_dtype=tf.int16),
        lambda tf, rt: tf.ragged.range([1], [5], 0),
        lambda tf, rt: tf.ragged.range([1, 2], [3]),
        lambda tf, rt: tf.ragged.range([[1]]),
        lambda tf, rt: tf.ragged.stack([]),
        lambda tf, rt: tf.ragged.stack([rt, rt], axis=5),
        lambda tf, rt: tf.concat([rt, rt], 2),
        lambda tf, rt: tf.concat([rt, rt[1:]], 1),
        lambda tf, rt: tf.concat([rt, tf.expand_dims(rt, 0)], 0),
        lambda tf, rt: tf.concat([rt, rt.with_row_splits_dtype(tf.int32)], 0),
        lambda tf, rt: tf.expand_dims(rt, 5),
        lambda tf, rt: tf.squeeze(rt),
        lambda tf, rt: tf.squeeze(rt, 1),
        lambda tf, rt: tf.gather(rt, [9]),
        lambda tf, rt: tf.gather_nd(rt, [[0, 7]]),
        lambda tf, rt: tf.split(rt, 2, 1),
        lambda tf, rt: tf.reduce_sum(rt, axis=2),
        lambda tf, rt: tf.ragged.boolean_mask(rt, True),
        lambda tf, rt: tf.ragged.boolean_mask(rt, tf.ragged.constant([[True], [], [True]])),
        lambda tf, rt: tf.ragged.map_flat_values(tf.reduce_sum, rt),
        lambda tf, rt: tf.matmul(rt, rt),
        lambda tf, rt: rt + rt.with_row_splits_dtype(tf.int32),
    ],
)
def test_refused(function):
    check_raises(lambda tf: function(tf, tf.ragged.constant([[1, 2], [], [3]])))


@pytest.mark.parametrize(
    "function",
    [
        lambda tf, rt: tf.map_fn(lambda row: row * row + 1.0, rt),
        lambda tf, rt: tf.map_fn(tf.reduce_sum, rt, fn_output_signature=tf.float64),
        lambda tf, rt: tf.map_fn(
            lambda row: tf.concat([row, row], 0),
            rt,
            fn_output_signature=tf.RaggedTensorSpec([None], tf.float64),
        ),
        lambda tf, rt: tf.map_fn(
            lambda pair: (pair[0] * pair[1], tf.reduce_sum(pair[0])),
            (rt, tf.constant([1.0, 2.0, 3.0, 4.0], tf.float64)),
            fn_output_signature=(tf.RaggedTensorSpec([None], tf.float64), tf.float64),
        ),
    ],
)
def test_map_fn(function):
    on_rows(lambda tf, rt: function(tf, ranked(tf, rt)), second_order=False)


def test_map_fn_of_two_ragged_dimensions():
    on_nested(lambda tf, rt: tf.map_fn(lambda rows: rows * 2.0, ranked(tf, rt)), traced=False)
    spec = lambda tf: tf.RaggedTensorSpec([None], tf.int32)  # noqa: E731
    check(lambda tf, n: parts(tf.map_fn(tf.range, n, fn_output_signature=spec(tf))),
          np.array([1, 3, 0], np.int32))  # fmt: skip
    check_raises(lambda tf: tf.map_fn(tf.reduce_sum, tf.ragged.constant([[1], []])))


def test_strings():
    def of(tf):
        rs = tf.ragged.constant([["a b", "Cd"], [], ["e"]])
        return [
            *parts(tf.strings.upper(rs)), *parts(tf.strings.length(rs)),
            *parts(tf.strings.join([rs, "x"])), *parts(rs == "e"),
            *parts(tf.strings.regex_replace(rs, "[a-z]", "_")),
            tf.strings.reduce_join(rs, axis=1, separator=","),
        ]  # fmt: skip

    check(of)


def test_crosses():
    words = [["a", "b"], ["c"], []]

    def of(tf):
        rs, numbers = tf.ragged.constant(words), tf.ragged.constant([[1], [2, 3], [4]])
        cross, hashed = tf.ragged.cross, tf.ragged.cross_hashed
        return [
            *parts(cross([rs, [["x"], ["y"], ["z"]]])), *parts(cross([rs, numbers, rs])),
            *parts(hashed([rs, numbers])), *parts(hashed([numbers, numbers], num_buckets=1000)),
            *parts(hashed([rs, [["x"], ["y"], ["z"]]], num_buckets=10, hash_key=3)),
        ]  # fmt: skip

    check(of)


def test_printing(capsys):
    import sys

    import runnel as tf

    with noted():
        words, numbers = tf.ragged.constant([["a"], []]), tf.ragged.range([20, 2])
        tf.print(words, numbers, output_stream=sys.stdout)
        floats, truth = tf.ragged.constant([[1.5], []]), tf.ragged.constant([[True]])
        tf.print(floats, 3, truth, output_stream=sys.stdout)
    shown = capsys.readouterr().out
    assert shown == (
        "[['a'], []] [[0, 1, 2, ..., 17, 18, 19], [0, 1]]\n[[1.500000], []] 3 [[true]]\n"
    )
    rows = [[1, 2], []]
    check(lambda tf: tf.strings.format("{}, {}", [tf.ragged.constant(rows), 3]), traced=False)


def test_assertions():
    import runnel as tf

    rt = tf.ragged.constant([[1, 2], [], [3]])
    tf.debugging.assert_equal(rt, rt)
    check_raises(lambda tf: tf.debugging.assert_equal(tf.ragged.constant([[1]]), 2))


def test_gradients_are_ragged():
    def of(tf, function, **options):
        rt = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
        with tf.GradientTape() as tape:
            tape.watch(rt)
            result = function(tf, rt)
        return parts(tape.gradient(result, rt, **options))

    check(lambda tf: of(tf, lambda tf, rt: rt * rt))
    check(lambda tf: of(tf, lambda tf, rt: tf.reduce_sum(rt * rt, axis=1)))
    check(lambda tf: of(tf, lambda tf, rt: tf.gather(rt, [2, 0, 0])))
    check(lambda tf: of(tf, lambda tf, rt: tf.constant(1.0)))
    weights = [[1.0, 2.0], [], [3.0]]
    check(lambda tf: of(tf, lambda tf, rt: rt * rt, output_gradients=tf.ragged.constant(weights)))

    def of_sparse(tf):
        with tf.GradientTape() as tape:
            sparse = tf.SparseTensor([[0]], [1.0], [1])
        return tape.gradient(tf.constant(1.0), sparse)

    check_raises(of_sparse)


def test_inside_of_functions():
    import runnel as tf

    @tf.function
    def doubled(rt):
        return {"rows": rt * 2.0, "sums": tf.reduce_sum(rt, axis=1)}

    rt = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
    result = doubled(rt)
    assert result["rows"].to_list() == [[2.0, 4.0], [], [6.0]]
    assert result["sums"].numpy().tolist() == [3.0, 0.0, 3.0]
    with tf.GradientTape() as tape:
        tape.watch(rt.flat_values)
        total = tf.reduce_sum(doubled(rt)["rows"] ** 2)
    assert tape.gradient(total, rt.flat_values).numpy().tolist() == [8.0, 16.0, 24.0]
