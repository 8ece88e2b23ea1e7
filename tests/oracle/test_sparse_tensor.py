"""SparseTensor and tf.sparse.* against TensorFlow."""

import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

INDICES = np.array([[0, 1], [0, 3], [2, 0], [2, 2], [3, 3]])
VALUES = np.array([1.5, -2.0, 3.0, 0.5, 4.0])
SHAPE = np.array([4, 5])
OTHER = np.array([[0, 1], [1, 4], [2, 2], [3, 0], [3, 3]])


def parts(value):
    if isinstance(value, list | tuple):
        return [part for each in value for part in parts(each)]
    if hasattr(value, "dense_shape"):
        return [value.indices, value.values, value.dense_shape]
    return [value]


def on_sparse(function, *more, values=VALUES, indices=INDICES, shape=SHAPE, **options):
    """Check a function of a sparse tensor; its shape is a vector of known length."""

    def of(tf, i, v, s, *rest):
        i, s = tf.ensure_shape(i, [None, len(shape)]), tf.ensure_shape(s, [len(shape)])
        return parts(function(tf, tf.SparseTensor(i, tf.ensure_shape(v, [None]), s), *rest))

    check(of, indices, values, shape, *more, **options)


@pytest.mark.parametrize(
    "function",
    [
        lambda tf, sp: tf.sparse.to_dense(sp),
        lambda tf, sp: tf.sparse.to_dense(sp, default_value=7.0),
        lambda tf, sp: tf.sparse.reorder(sp),
        lambda tf, sp: tf.sparse.transpose(sp),
        lambda tf, sp: tf.sparse.transpose(sp, [1, 0]),
        lambda tf, sp: tf.sparse.reshape(sp, [2, 10]),
        lambda tf, sp: tf.sparse.reshape(sp, [-1]),
        lambda tf, sp: tf.sparse.reshape(sp, [2, -1, 2]),
        lambda tf, sp: tf.sparse.expand_dims(sp),
        lambda tf, sp: tf.sparse.expand_dims(sp, 0),
        lambda tf, sp: tf.sparse.expand_dims(sp, -2),
        lambda tf, sp: tf.sparse.slice(sp, [0, 1], [3, 3]),
        lambda tf, sp: tf.sparse.slice(sp, [2, 0], [9, 9]),
        lambda tf, sp: tf.sparse.retain(sp, [True, False, True, True, False]),
        lambda tf, sp: tf.sparse.reset_shape(sp, [6, 7]),
        lambda tf, sp: tf.sparse.reset_shape(sp),
        lambda tf, sp: tf.sparse.fill_empty_rows(sp, 9.0),
        lambda tf, sp: tf.sparse.reduce_sum(sp),
        lambda tf, sp: tf.sparse.reduce_sum(sp, keepdims=True),
        lambda tf, sp: tf.sparse.reduce_sum(sp, 0),
        lambda tf, sp: tf.sparse.reduce_sum(sp, -1),
        lambda tf, sp: tf.sparse.reduce_sum(sp, 1, keepdims=True),
        lambda tf, sp: tf.sparse.reduce_sum(sp, [0, 1]),
        lambda tf, sp: tf.sparse.add(sp, sp.with_values(sp.values * 3.0)),
        lambda tf, sp: tf.sparse.add(sp, tf.SparseTensor(OTHER, sp.values, sp.dense_shape)),
        lambda tf, sp: tf.sparse.map_values(tf.square, sp),
        lambda tf, sp: tf.square(sp),
        lambda tf, sp: tf.tanh(tf.negative(sp)),
        lambda tf, sp: tf.identity(sp),
    ],
)
def test_functions(function):
    on_sparse(function)


def test_softmax_and_threshold():
    on_sparse(lambda tf, sp: tf.sparse.softmax(sp), second_order=False)
    on_sparse(
        lambda tf, sp: tf.sparse.add(sp, sp.with_values(sp.values * -0.5), threshold=1.0),
        smooth=False,
    )


# Some of these have gradients here and none in TensorFlow.
@pytest.mark.parametrize(
    "function",
    [
        lambda tf, sp: tf.sparse.split(sp, 2, 0),
        lambda tf, sp: tf.sparse.split(sp, 3, 1),
        lambda tf, sp: tf.sparse.concat(0, [sp, sp]),
        lambda tf, sp: tf.sparse.concat(1, [sp, sp.with_values(sp.values * 2.0), sp]),
        lambda tf, sp: tf.sparse.concat(-1, [sp, tf.sparse.slice(sp, [0, 0], [4, 2])]),
        lambda tf, sp: tf.sparse.concat(
            0, [sp, tf.sparse.slice(sp, [0, 0], [4, 2])], expand_nonconcat_dims=True
        ),
        lambda tf, sp: sp * 2.0,
        lambda tf, sp: sp / 2.0,
        lambda tf, sp: tf.sparse.reduce_sum(sp, 1, output_is_sparse=True),
        lambda tf, sp: tf.sparse.reduce_sum(sp, 1, keepdims=True, output_is_sparse=True),
        lambda tf, sp: tf.sparse.reduce_sum(sp, output_is_sparse=True),
        lambda tf, sp: tf.sparse.reduce_max(sp),
        lambda tf, sp: tf.sparse.reduce_max(sp, 1),
        lambda tf, sp: tf.sparse.reduce_max(sp, [0], keepdims=True),
        lambda tf, sp: tf.sparse.reduce_max(sp, 0, output_is_sparse=True),
        lambda tf, sp: tf.sparse.maximum(sp, tf.SparseTensor(OTHER, sp.values, sp.dense_shape)),
        lambda tf, sp: tf.sparse.minimum(sp, tf.SparseTensor(OTHER, sp.values, sp.dense_shape)),
        lambda tf, sp: tf.shape(sp),
        lambda tf, sp: tf.rank(sp),
        lambda tf, sp: tf.cast(sp, tf.int32),
        lambda tf, sp: tf.sparse.bincount(tf.cast(tf.abs(sp), tf.int64), axis=-1),
        lambda tf, sp: tf.sparse.bincount(tf.cast(tf.abs(sp), tf.int32)),
        lambda tf, sp: tf.math.bincount(tf.cast(tf.abs(sp), tf.int32)),
        lambda tf, sp: tf.math.bincount(tf.cast(tf.abs(sp), tf.int32), axis=-1),
        lambda tf, sp: tf.sparse.to_indicator(tf.cast(tf.abs(sp), tf.int64), 6),
    ],
)
def test_without_gradients(function):
    on_sparse(function, gradient=False)


def test_unsorted():
    order = np.array([3, 0, 4, 2, 1])
    on_sparse(lambda tf, sp: tf.sparse.reorder(sp), indices=INDICES[order], values=VALUES[order])
    on_sparse(
        lambda tf, sp: tf.sparse.to_dense(sp, validate_indices=False),
        indices=INDICES[order],
        values=VALUES[order],
    )


def test_cubes():
    indices = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 0, 1]])
    for function in (
        lambda tf, sp: tf.sparse.transpose(sp, [2, 0, 1]),
        lambda tf, sp: tf.sparse.reduce_sum(sp, [0, 2]),
        lambda tf, sp: tf.sparse.to_dense(sp),
    ):
        on_sparse(function, indices=indices, values=VALUES[:4], shape=np.array([2, 2, 2]))


def test_splits_and_joins_have_gradients():
    import runnel as tf

    values = tf.constant(VALUES)
    with tf.GradientTape() as tape:
        tape.watch(values)
        sp = tf.SparseTensor(INDICES, values, SHAPE)
        first, _ = tf.sparse.split(sp, 2, 1)
        total = tf.reduce_sum(tf.sparse.concat(0, [first, first]).values ** 2)
    # Columns 0 to 2 hold the values number 0, 2 and 3, twice each.
    expected = np.where([1, 0, 1, 1, 0], 4 * VALUES, 0)
    gradient = tf.convert_to_tensor(tape.gradient(total, values))
    np.testing.assert_allclose(gradient.numpy(), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.complex64])
@pytest.mark.parametrize("shape", [(0, 3), (3, 2), (2, 2, 2), (4,)])
def test_to_and_from_dense(dtype, shape):
    dense = (np.arange(np.prod(shape)) % 3).reshape(shape).astype(dtype)

    def of(tf, d):
        sparse = tf.sparse.from_dense(d)
        return [*parts(sparse), tf.sparse.to_dense(sparse)]

    check(of, dense, smooth=False)


def test_from_dense_of_strings_and_booleans():
    check(lambda tf: parts(tf.sparse.from_dense([["a", ""], ["", "b"]])))
    check(lambda tf: parts(tf.sparse.from_dense([[True, False]])))
    check(lambda tf: tf.sparse.to_dense(tf.sparse.from_dense([["a", ""], ["", "b"]])))


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("adjoint_a", [False, True])
@pytest.mark.parametrize("adjoint_b", [False, True])
def test_products(dtype, adjoint_a, adjoint_b):
    generator = np.random.default_rng(0)

    def of_kind(shape):
        numbers = generator.normal(size=shape)
        return (numbers + 1j * generator.normal(size=shape)).astype(dtype) if (
            dtype is np.complex128
        ) else numbers.astype(dtype)  # fmt: skip

    inner = 4 if adjoint_a else 5
    dense = of_kind((3, inner) if adjoint_b else (inner, 3))

    def product(tf, sp, b):
        return tf.sparse.sparse_dense_matmul(sp, b, adjoint_a, adjoint_b)

    on_sparse(product, dense, values=of_kind(5))
    inner = 5 if adjoint_b else 4
    dense = of_kind((inner, 3) if adjoint_a else (3, inner))

    def reversed_product(tf, sp, b):
        return tf.sparse.sparse_dense_matmul(b, sp, adjoint_a, adjoint_b)

    on_sparse(reversed_product, dense, values=of_kind(5), second_order=False)


def test_matmul_takes_sparse_matrices():
    """TensorFlow wants tf.sparse.sparse_dense_matmul; layers are simpler if tf.matmul does it."""
    import runnel as tf

    sp = tf.SparseTensor(INDICES, VALUES, SHAPE)
    matrix, dense = tf.sparse.to_dense(sp).numpy(), np.linspace(0, 1, 20).reshape(4, 5)
    np.testing.assert_allclose(tf.matmul(sp, dense, transpose_b=True), matrix @ dense.T)
    np.testing.assert_allclose(tf.matmul(sp, dense, transpose_a=True), matrix.T @ dense)
    np.testing.assert_allclose(tf.matmul(dense, sp, transpose_a=True), dense.T @ matrix)


def test_large_product():
    generator = np.random.default_rng(0)
    indices = np.argwhere(generator.random((40, 30)) < 0.3)
    on_sparse(
        lambda tf, sp, b: tf.sparse.sparse_dense_matmul(sp, b),
        generator.normal(size=(30, 20)).astype(np.float32),
        indices=indices,
        values=generator.normal(size=len(indices)).astype(np.float32),
        shape=np.array([40, 30]),
        second_order=False,
        smooth=False,
    )


def test_with_dense():
    dense = np.linspace(1, 2, 20).reshape(4, 5)
    on_sparse(lambda tf, sp, d: sp * d, dense)
    on_sparse(lambda tf, sp, d: d * sp, dense)
    on_sparse(lambda tf, sp, d: sp / d, dense)
    on_sparse(lambda tf, sp, d: sp * d[0], dense)
    on_sparse(lambda tf, sp, d: tf.sparse.add(sp, d), dense)
    on_sparse(lambda tf, sp, d: tf.sparse.add(d, sp), dense)
    on_sparse(
        lambda tf, sp, a, b: tf.sparse.sampled_addmm(
            tf.cast(sp.indices, tf.int32), sp.values, [4, 5], a, b, beta=2.0, alpha=0.5,
            output_type=tf.float64
        ),
        np.linspace(0, 1, 12).reshape(4, 3),
        np.linspace(1, 2, 15).reshape(3, 5),
    )  # fmt: skip


def test_eye():
    check(lambda tf: parts(tf.sparse.eye(3)))
    check(lambda tf: parts(tf.sparse.eye(2, 4, dtype=tf.int32)))


@settings(max_examples=10)
@given(
    hnp.arrays(np.int32, st.sampled_from([(4,), (2, 3), (3, 0)]), elements=st.integers(0, 6)),
    st.sampled_from([0, -1]),
    st.sampled_from([None, 5]),
    st.sampled_from([None, 4]),
    st.booleans(),
)
def test_counts(values, axis, minlength, maxlength, binary):
    def of(tf, v):
        return parts(
            tf.sparse.bincount(v, axis=axis, minlength=minlength, maxlength=maxlength,
                               binary_output=binary)
        )  # fmt: skip

    check(of, values, traced=values.ndim == 1)


def test_counts_with_weights():
    values, weights = np.array([[1, 1, 2], [0, 0, 5]]), np.array([[1.0, 2, 3], [4, 5, 6]])
    check(
        lambda tf, v, w: parts(tf.sparse.bincount(v, weights=w, axis=-1)),
        values, weights, gradient=False, traced=False,
    )  # fmt: skip
    check(lambda tf: parts(tf.sparse.bincount(tf.ragged.constant([[1, 1], [], [2]]), axis=-1)))


@pytest.mark.parametrize("name", ["segment_sum", "segment_mean", "segment_sqrt_n"])
@pytest.mark.parametrize("number", [None, 5])
def test_segments(name, number):
    data = np.linspace(0, 1, 12).reshape(4, 3)
    indices, ids = np.array([0, 3, 1, 3]), np.array([0, 0, 1, 3])
    check(
        lambda tf, d, i, s: getattr(tf.sparse, name)(d, i, s, num_segments=number),
        data,
        indices,
        ids,
    )


def test_mask():
    def of(tf, v):
        kept = tf.sparse.mask(tf.IndexedSlices(v, tf.constant([1, 2, 5])), [2, 9])
        return [kept.values, kept.indices]

    check(of, np.linspace(0, 1, 6).reshape(3, 2))


def test_crosses():
    def of(tf):
        words = tf.SparseTensor([[0, 0], [1, 1], [1, 2]], ["a", "b", "c"], [3, 3])
        ids = tf.SparseTensor([[0, 0], [1, 1]], tf.constant([4, 5], tf.int64), [3, 2])
        dense = tf.constant([["x", "z"], ["y", "w"], ["u", "v"]])
        return parts(
            [
                tf.sparse.cross([words, dense]), tf.sparse.cross([words, ids], separator="-"),
                tf.sparse.cross_hashed([words, ids]),
                tf.sparse.cross_hashed([words, words], num_buckets=100, hash_key=7),
            ]
        )  # fmt: skip

    check(of)


def test_filled_rows():
    ids, rows = np.array([0, 0, 2]), np.array(4)
    check(
        lambda tf, i, v, n, d: list(tf.ragged_fill_empty_rows(i, v, n, d)),
        ids, VALUES[:3], rows, np.array(9.0),
    )  # fmt: skip
    check(
        lambda tf, m, g: list(tf.ragged_fill_empty_rows_grad(m, g)),
        np.array([0, 2]), VALUES, gradient=False,
    )  # fmt: skip
    on_sparse(lambda tf, sp, d: tf.sparse.fill_empty_rows(sp, d), np.array(9.0))


@pytest.mark.parametrize(
    "function",
    [
        lambda tf, sp: tf.SparseTensor([[0, 0]], [1, 2], [3, 2]),
        lambda tf, sp: tf.SparseTensor([0, 0], [1, 2], [3, 2]),
        lambda tf, sp: tf.SparseTensor([[0, 0]], [1], [3, 2, 1]),
        lambda tf, sp: tf.SparseTensor([[0.0, 0]], [1], [3, 2]),
        lambda tf, sp: tf.SparseTensor(tf.constant([[0, 0]]), [1], [3, 2]),
        lambda tf, sp: sp.with_values([1]),
        lambda tf, sp: sp + sp,
        lambda tf, sp: sp + 1,
        lambda tf, sp: -sp,
        lambda tf, sp: sp[0],
        lambda tf, sp: tf.exp(tf.cast(sp, tf.float32)),
        lambda tf, sp: tf.reduce_sum(sp),
        lambda tf, sp: tf.convert_to_tensor(sp),
        lambda tf, sp: tf.sparse.to_dense([[1]]),
        lambda tf, sp: tf.sparse.to_dense(tf.SparseTensor([[5, 0]], [1], [3, 2])),
        lambda tf, sp: tf.sparse.to_dense(tf.SparseTensor([[1], [0]], [1, 2], [3])),
        lambda tf, sp: tf.sparse.to_dense(tf.SparseTensor([[0], [0]], [1, 2], [3])),
        lambda tf, sp: tf.sparse.reshape(sp, [-1, -1]),
        lambda tf, sp: tf.sparse.reshape(sp, [4, 2]),
        lambda tf, sp: tf.sparse.reshape(sp, [-1, 4]),
        lambda tf, sp: tf.sparse.slice(sp, [0], [2]),
        lambda tf, sp: tf.sparse.split(sp, 9, 0),
        lambda tf, sp: tf.sparse.concat(2, [sp, sp]),
        lambda tf, sp: tf.sparse.concat(0, [sp, tf.SparseTensor([[0, 0]], [1], [1, 3])]),
        lambda tf, sp: tf.sparse.add(sp, tf.SparseTensor([[0, 0]], [1], [3, 3])),
        lambda tf, sp: tf.sparse.add([1], [2]),
        lambda tf, sp: tf.sparse.reduce_sum(sp, 5),
        lambda tf, sp: tf.sparse.reduce_max(sp, 5),
        lambda tf, sp: tf.sparse.retain(sp, [True]),
        lambda tf, sp: tf.sparse.reset_shape(sp, [2, 2]),
        lambda tf, sp: tf.sparse.reset_shape(sp, [9, 9, 9]),
        lambda tf, sp: tf.sparse.sparse_dense_matmul(sp, tf.ones([5, 5], tf.int32)),
        lambda tf, sp: tf.sparse.map_values(tf.add, 1, 2),
        lambda tf, sp: tf.sparse.map_values(tf.reduce_sum, sp),
        lambda tf, sp: tf.sparse.bincount([1, -1]),
        lambda tf, sp: tf.sparse.bincount([[1]], axis=1),
        lambda tf, sp: tf.sparse.segment_sum([[1.0]], [0, 5], [0, 0]),
        lambda tf, sp: tf.sparse.segment_sum([[1.0]], [0, 0], [1, 0]),
        lambda tf, sp: tf.sparse.cross([[["a"]], [["b"]]]),
        lambda tf, sp: tf.sparse.cross_hashed([[["a"]]]),
        lambda tf, sp: tf.sparse.to_indicator(sp, 2),
    ],
)
def test_refused(function):
    indices, values = [[0, 0], [0, 1], [2, 0]], [1, 2, 3]
    check_raises(lambda tf: function(tf, tf.SparseTensor(indices, values, [3, 2])))


def test_texts_and_specs():
    check(lambda tf: repr(tf.SparseTensor([[0, 1]], ["a"], [2, 2])), traced=False)
    check(lambda tf: repr(tf.SparseTensorSpec([None, 3], tf.int32)._component_specs))
    check(lambda tf: repr(tf.SparseTensor([[0, 1]], [1.5], [2, 2])._type_spec))
    import runnel as tf

    sp = tf.SparseTensor([[0, 1]], [1.5], [2, 2])
    flat = tf.nest.flatten([sp], expand_composites=True)
    assert [each.shape.as_list() for each in flat] == [[1, 2], [1], [2]]
    again = tf.nest.pack_sequence_as([sp], flat, expand_composites=True)[0]
    assert again.shape == [2, 2] and tf.is_tensor(sp)
    assert tf.SparseTensorSpec([None, 2], tf.float32).is_compatible_with(sp)
    assert not tf.SparseTensorSpec([None, 3], tf.float32).is_compatible_with(sp)


def test_inside_of_functions():
    import runnel as tf

    @tf.function
    def doubled(sp):
        return sp * 2.0, tf.sparse.reduce_sum(sp, axis=1)

    twice, sums = doubled(tf.SparseTensor([[0, 1], [2, 0]], [1.5, 2.0], [3, 2]))
    assert tf.sparse.to_dense(twice).numpy().tolist() == [[0, 3.0], [0, 0], [4.0, 0]]
    assert sums.numpy().tolist() == [1.5, 0.0, 2.0]
