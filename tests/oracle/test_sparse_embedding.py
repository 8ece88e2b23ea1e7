"""Embeddings of sparse ids, decoding of frames and distances of sequences against TensorFlow."""

import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st

TABLE = np.linspace(0.5, 3, 12).reshape(4, 3)
INDICES, IDS = [[0, 0], [0, 1], [0, 2], [2, 0]], np.array([0, 2, 2, 1])
WEIGHTS = np.array([1.0, 2.0, 0.5, 3.0])


def sparse(tf, values, rows=3):
    return tf.SparseTensor(INDICES, tf.ensure_shape(values, [4]), [rows, 3])


@pytest.mark.parametrize("combiner", [None, "mean", "sum", "sqrtn"])
@pytest.mark.parametrize("max_norm", [None, 1.5])
def test_lookup(combiner, max_norm):
    def of(tf, table, ids, weights):
        look = tf.nn.embedding_lookup_sparse
        ids, weights = sparse(tf, ids), sparse(tf, weights)
        table = tf.ensure_shape(table, TABLE.shape)
        return [look(table, ids, w, combiner, max_norm) for w in (None, weights)]

    check(of, TABLE, IDS, WEIGHTS)


def test_lookup_of_ragged_ids():
    def of(tf, table):
        ids = tf.ragged.constant([[0, 2], [], [1]], dtype=tf.int64)
        weights = tf.ragged.constant([[1.0, 2.0], [], [3.0]], dtype=tf.float64)
        table = tf.ensure_shape(table, TABLE.shape)
        look = tf.nn.embedding_lookup_sparse
        return [look(table, ids, None), look(table, ids, weights, combiner="sqrtn")]

    check(of, TABLE)


@pytest.mark.parametrize("combiner", ["mean", "sum", "sqrtn"])
@pytest.mark.parametrize("default_id", [None, 3])
def test_safe_lookup(combiner, default_id):
    ids, weights = np.array([0, -1, 2, 1]), np.array([1.0, 2.0, -0.5, 3.0])

    def of(tf, table, ids, weights):
        look = tf.nn.safe_embedding_lookup_sparse
        table = tf.ensure_shape(table, TABLE.shape)
        ids, weights = sparse(tf, ids, 4), sparse(tf, weights, 4)
        return [look(table, ids, w, combiner, default_id) for w in (None, weights)]

    check(of, TABLE, ids, weights)


def test_safe_lookup_of_ragged_ids():
    def of(tf, table):
        ids = tf.ragged.constant([[0, -2], [], [1]], dtype=tf.int64)
        table = tf.ensure_shape(table, TABLE.shape)
        return tf.nn.safe_embedding_lookup_sparse(table, ids)

    check(of, TABLE)


@pytest.mark.parametrize(
    "function",
    [
        lambda tf, ids: tf.nn.embedding_lookup_sparse(TABLE, [[0]], None),
        lambda tf, ids: tf.nn.embedding_lookup_sparse(TABLE, ids, None, combiner="x"),
        lambda tf, ids: tf.nn.embedding_lookup_sparse(TABLE, ids, [[1.0]]),
        lambda tf, ids: tf.nn.embedding_lookup_sparse(TABLE[:1], ids, None),
        lambda tf, ids: tf.nn.safe_embedding_lookup_sparse(None, ids),
        lambda tf, ids: tf.nn.safe_embedding_lookup_sparse([], ids),
    ],
)
def test_refused_lookups(function):
    check_raises(lambda tf: function(tf, tf.SparseTensor(INDICES, tf.constant(IDS), [3, 3])))


def decoded(result):
    sparse, scores = result
    return [part for s in sparse for part in (s.indices, s.values, s.dense_shape)] + [scores]


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.sampled_from([np.float32, np.float64]))
def test_decoders(seed, dtype):
    generator = np.random.default_rng(seed)
    logits = generator.normal(size=(6, 2, 4)).astype(dtype) * 3
    lengths = np.array([6, 3], np.int32)

    def greedy(tf, x, n):
        decode = tf.nn.ctc_greedy_decoder
        return [
            *decoded(decode(x, n)), *decoded(decode(x, n, merge_repeated=False)),
            *decoded(decode(x, n, blank_index=1)),
        ]  # fmt: skip

    check(greedy, logits, lengths, gradient=False)
    check(
        lambda tf, x, n: decoded(tf.nn.ctc_beam_search_decoder(x, n, beam_width=8, top_paths=2)),
        logits,
        lengths,
        gradient=False,
        tolerance=1e-5,  # the original keeps the probabilities in float32
    )


@pytest.mark.parametrize(
    "function",
    [
        lambda tf: tf.nn.ctc_greedy_decoder(np.zeros((2, 1, 3), np.float32), [5]),
        lambda tf: tf.nn.ctc_greedy_decoder(np.zeros((2, 1, 3), np.float32), [1, 1]),
        lambda tf: tf.nn.ctc_beam_search_decoder(
            np.zeros((2, 1, 3), np.float32), [2], beam_width=1, top_paths=2
        ),
    ],
)
def test_refused_frames(function):
    check_raises(function)


@pytest.mark.parametrize("normalize", [True, False])
def test_distances(normalize):
    def of(tf):
        guess = tf.SparseTensor(
            [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 1, 0], [1, 1, 1]], list("abbca"), [2, 2, 2]
        )
        truth = tf.SparseTensor(
            [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1], [1, 1, 1]], list("aabcc"), [2, 2, 3]
        )
        return tf.edit_distance(guess, truth, normalize=normalize)

    check(of)


def test_distances_of_numbers():
    def of(tf, a, b):
        places = [[0, 0], [0, 1], [0, 2]]
        guess = tf.SparseTensor(places, tf.ensure_shape(a, [3]), [1, 3])
        truth = tf.SparseTensor(places, tf.ensure_shape(b, [3]), [1, 3])
        return tf.edit_distance(guess, truth)

    check(of, np.array([1, 2, 3]), np.array([2, 3, 4]))
    check_raises(
        lambda tf: tf.edit_distance(
            tf.SparseTensor([[0, 0]], [1], [1, 1]), tf.SparseTensor([[0, 0, 0]], [1], [1, 1, 1])
        )
    )
