"""embedding_lookup against TensorFlow."""

import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

TABLE = np.linspace(0.5, 3, 24).reshape(6, 4)


@settings(max_examples=12)
@given(
    ids=hnp.arrays(
        st.sampled_from([np.int32, np.int64]),
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
        elements=st.integers(0, 5),
    ),
    max_norm=st.sampled_from([None, 2.0, 100.0]),
)
def test_one_table(ids, max_norm):
    check(lambda tf, table: tf.nn.embedding_lookup(table, ids, max_norm=max_norm), TABLE)


@pytest.mark.parametrize("shape", [(6,), (6, 4), (6, 2, 2)])
@pytest.mark.parametrize("max_norm", [None, 1.4])
def test_embeddings_of_any_rank(shape, max_norm):
    table = np.linspace(0.5, 3, int(np.prod(shape))).reshape(shape)
    check(lambda tf, t: tf.nn.embedding_lookup(t, [[0, 5], [2, 2]], max_norm=max_norm), table)


@pytest.mark.parametrize("parts", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("max_norm", [None, 1.5])
def test_partitioned(parts, max_norm):
    tables = np.array_split(TABLE, parts)
    ids = np.array([[0, 5, 3], [2, 2, 4]])
    check(lambda tf, *ts: tf.nn.embedding_lookup(list(ts), ids, max_norm=max_norm), *tables)


def test_partitioned_scalar_id():
    check(lambda tf, *ts: tf.nn.embedding_lookup(list(ts), 3), *np.array_split(TABLE, 2))


def test_variable_gets_indexed_slices():
    import runnel

    table = runnel.Variable(TABLE)
    with runnel.GradientTape() as tape:
        rows = runnel.nn.embedding_lookup(table, [1, 3, 3])
    gradient = tape.gradient(rows, table)
    assert isinstance(gradient, runnel.IndexedSlices)
    assert gradient.indices.numpy().tolist() == [1, 3, 3]
    check(lambda tf: tf.nn.embedding_lookup(tf.Variable(TABLE), [1, 3, 3], max_norm=2.0))


@pytest.mark.parametrize(
    "params, ids",
    [
        (TABLE, [6]),
        (TABLE, [-1]),
        (TABLE, [1.0]),
        (TABLE, np.array([1], np.int8)),
        (1.0, [0]),
        (None, [0]),
        ([], [0]),
        ([TABLE[:3], TABLE[3:]], [9]),
        ([TABLE[:4], TABLE[4:]], [3, 5]),
        ([TABLE[:3], TABLE[3:, :2]], [0, 5]),
    ],
)
def test_refused(params, ids):
    check_raises(lambda tf: tf.nn.embedding_lookup(params, ids))
