"""Products of matrices, vectors and tensors against TensorFlow."""

import ml_dtypes
import numpy as np
import pytest
import tensorflow
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from matrices import random

import runnel as tf

SIZES = st.sampled_from([0, 1, 2, 3])
FLAGS = st.sampled_from([{}, {"transpose_a": True}, {"adjoint_a": True}])
FLAGS_B = st.sampled_from([{}, {"transpose_b": True}, {"adjoint_b": True}])
# Batches that broadcast together.
BATCHES = st.sampled_from(
    [((), ()), ((2,), (2,)), ((2,), ()), ((), (3,)), ((2, 1), (3,)), ((1,), (2,)), ((0,), (1,))]
)


def _factors(rows, inner, columns, flags, batches, dtype):
    flipped_a = "transpose_a" in flags or "adjoint_a" in flags
    flipped_b = "transpose_b" in flags or "adjoint_b" in flags
    a = (inner, rows) if flipped_a else (rows, inner)
    b = (columns, inner) if flipped_b else (inner, columns)
    return (
        random(*batches[0], *a, dtype=dtype, purpose="a"),
        random(*batches[1], *b, dtype=dtype, purpose="b"),
    )


@settings(max_examples=30)
@given(SIZES, SIZES, SIZES, FLAGS, FLAGS_B, BATCHES, st.sampled_from(["float32", "complex64"]))
def test_matmul(rows, inner, columns, flags_a, flags_b, batches, dtype):
    flags = flags_a | flags_b
    a, b = _factors(rows, inner, columns, flags, batches, dtype)
    check(lambda tf, a, b: tf.matmul(a, b, **flags), a, b)


@pytest.mark.parametrize("dtype", ["float64", "complex128", "int32", "int64", "float16"])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_matmul_dtypes(dtype, batch):
    a = random(*batch, 3, 4, dtype=dtype)
    check(lambda tf, a, b: tf.matmul(a, b), a, random(4, 2, dtype=dtype))


def test_matmul_of_16_bits_is_rounded_once():
    a = random(4, 64).astype(ml_dtypes.bfloat16)
    b = random(64, 4).astype(ml_dtypes.bfloat16)
    check(lambda tf, a, b: tf.matmul(a, b), a, b, tolerance=1e-2)
    check(lambda tf, a: tf.matmul(a, a), np.full((1, 1), 60000, np.float16), smooth=False)


def test_matmul_of_integers_wraps_around():
    big = np.array([[2**30, 2**31 - 1]], np.int32)
    check(lambda tf, a: tf.matmul(a, a, transpose_b=True), big)
    check(lambda tf, a: tf.matmul(a[None], a[None], transpose_b=True), big.astype(np.int16))


@pytest.mark.parametrize("pair", [("int8", "int8"), ("uint8", "int8")])
def test_matmul_output_type(pair):
    a, b = (np.abs(random(2, 2, dtype=each)) for each in pair)
    check(lambda tf, a, b: tf.matmul(a, b, transpose_a=True, output_type=tf.int32), a, b)
    check(lambda tf, a, b: tf.matmul(a, b, output_type="int32"), a[None], b)


def test_matmul_output_type_same():
    a = random(2, 2, dtype="float32")
    check(lambda tf, a: tf.matmul(a, a, output_type=tf.float32), a, smooth=False)


def test_matmul_output_type_gradient():
    """TensorFlow computes this on no CPU; the gradient is that of a product in float64."""
    a, b = (tf.constant(random(2, 2, dtype="float32", purpose=each)) for each in "ab")
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        product = tf.matmul(a, b, output_type=tf.float64)
    assert product.dtype is tf.float64
    grad_a, grad_b = tape.gradient(product, [a, b])
    ones = np.ones((2, 2))
    assert grad_a.dtype is tf.float32
    np.testing.assert_allclose(grad_a, ones @ b.numpy().T, rtol=1e-6)
    np.testing.assert_allclose(grad_b, a.numpy().T @ ones, rtol=1e-6)


def test_matmul_sparse_flags_change_nothing():
    a = random(2, 2, dtype="float32")
    check(lambda tf, a: tf.matmul(a, a, a_is_sparse=True), a)
    mixed = lambda tf, a: tf.matmul(tf.cast(a, tf.bfloat16), a, b_is_sparse=True)  # noqa: E731
    check(mixed, a, smooth=False, tolerance=1e-2)


def test_matmul_converts_what_stands_beside_a_tensor():
    a = random(2, 2, dtype="float32")
    check(lambda tf, a: tf.matmul(a, [[1], [2]]), a)
    check(lambda tf, a: tf.matmul(a, np.ones((2, 2))), a)
    check(lambda tf: tf.matmul([[1, 2]], [[3], [4]]))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((2, 3), (4, 5)),
        ((3,), (3, 2)),
        ((2, 3), (3,)),
        ((), (3, 2)),
        ((3,), (3,)),
        ((2, 2, 3), (3,)),
        ((2, 2, 3), (2, 4, 5)),
        ((2, 2, 3), (3, 3, 5)),
    ],
)
def test_matmul_refuses_shapes(a, b):
    check_raises(lambda tf, a, b: tf.matmul(a, b), random(*a), random(*b))


def test_matmul_explains_sizes():
    message = "Matrix size-incompatible: In[0]: [2,3], In[1]: [4,5]"
    check_raises(lambda tf, a, b: tf.matmul(a, b), random(2, 3), random(4, 5), message=message)


def test_matmul_refuses_dtypes_and_flags():
    a = random(2, 2, dtype="float32")
    check_raises(lambda tf, a, b: tf.matmul(a, b), a, a.astype(np.float64))
    check_raises(lambda tf, a: tf.matmul(np.ones((2, 2)), a), a)
    check_raises(lambda tf, a: tf.matmul(a, a), a > 0)
    check_raises(lambda tf, a: tf.matmul(a, a), a.astype(np.int8))
    check_raises(lambda tf, a: tf.matmul(a, a, adjoint_a=True, transpose_a=True), a)
    check_raises(lambda tf, a: tf.matmul(a[None], a, adjoint_b=True, transpose_b=True), a)


@settings(max_examples=12)
@given(SIZES, SIZES, FLAGS, BATCHES, st.sampled_from(["float32", "complex64", "int32"]))
def test_matvec(rows, columns, flags, batches, dtype):
    shape = (columns, rows) if flags else (rows, columns)
    a = random(*batches[0], *shape, dtype=dtype)
    check(
        lambda tf, a, b: tf.linalg.matvec(a, b, **flags),
        a,
        random(*batches[1], columns, dtype=dtype),
    )


def test_matvec_refuses_sizes():
    check_raises(lambda tf, a, b: tf.linalg.matvec(a, b), random(2, 3), random(2))


@pytest.mark.parametrize("shape", [(2, 3), (0, 3), (2, 2, 1), (1, 2, 3, 2)])
@pytest.mark.parametrize("dtype", ["float32", "complex64", "int32"])
def test_transposes(shape, dtype):
    a = random(*shape, dtype=dtype)
    check(lambda tf, a: tf.linalg.adjoint(a), a)
    check(lambda tf, a: tf.linalg.matrix_transpose(a), a)
    check(lambda tf, a: tf.linalg.matrix_transpose(a, conjugate=True), a)


def test_transposes_refuse_vectors():
    check_raises(lambda tf, a: tf.linalg.adjoint(a), random(3))
    check_raises(lambda tf, a: tf.linalg.matrix_transpose(a), random())


@pytest.mark.parametrize(
    ("a", "b", "axes"),
    [
        ((2,), (3,), 0),
        ((), (), 0),
        ((2, 3), (3, 4), 1),
        ((2, 3, 4), (3, 4, 5), 2),
        ((2, 3, 4), (4, 3, 5), [[1, 2], [1, 0]]),
        ((2, 3, 4), (4, 3, 5), ((2, 1), (0, 1))),
        ((2, 3, 4), (4, 3, 5), [1, 1]),
        ((2, 3, 4), (4, 3), [[-1], [-2]]),
        ((3, 2), (3, 2), [[0, 1], [0, 1]]),
        ((0, 3), (3, 2), 1),
        ((2, 0), (0, 3), 1),
        ((2, 3), (4,), [[], []]),
    ],
)
def test_tensordot(a, b, axes):
    a, b = random(*a, purpose="a"), random(*b, purpose="b")
    check(lambda tf, a, b: tf.tensordot(a, b, axes), a, b)


@pytest.mark.parametrize(
    ("a", "b", "axes"),
    [
        ([None, 4, 5], [5, 3], [[2], [0]]),
        ([2, None], [None, 3], 1),
        ([None, 4], [None, 4], [[0], [-2]]),
        ([3, None, 5], [5], 1),
        ([None, 5], [5, 3], 0),
        ([None, 4, 5], None, 1),
    ],
    ids=str,
)
def test_sizes_that_tensordot_knows(a, b, axes):
    def shape(tf):
        signature = [tf.TensorSpec(a), tf.TensorSpec(b)]
        function = tf.function(lambda a, b: tf.tensordot(a, b, axes), input_signature=signature)
        return str(function.get_concrete_function().structured_outputs.shape)

    assert shape(tf) == shape(tensorflow)


def test_tensordot_axes_as_tensor():
    a, b = random(2, 3, dtype="float32"), random(2, 4, dtype="float32")
    axes = np.array([[0], [0]], np.int32)
    check(lambda tf, a, b, axes: tf.tensordot(a, b, axes), a, b, axes)
    check(lambda tf, a, b: tf.tensordot(a, b, axes=axes), a, b)
    check(
        lambda tf, a, b: tf.tensordot(a, b, 0),
        random(2, dtype="complex64"),
        random(2, dtype="complex64"),
    )


@pytest.mark.parametrize("axes", [-1, 3, [[0]], [[0, 1], [0]], 1, [[5], [0]]])
def test_tensordot_refuses_axes(axes):
    check_raises(lambda tf, a: tf.tensordot(a, a, axes), random(2, 3))


def test_tensordot_refuses_mixed_dtypes():
    a = random(2, 2, dtype="float32")
    check_raises(lambda tf, a: tf.tensordot(a, np.ones((2, 2)), 1), a)


EQUATIONS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    (" i j , j k -> i k ", (2, 3), (3, 4)),
    ("Ab,bC->AC", (2, 3), (3, 4)),
    ("ij->ji", (2, 3)),
    ("ji", (2, 3)),
    ("ii->i", (3, 3)),
    ("ii", (3, 3)),
    ("iij->ij", (2, 2, 3)),
    ("ij->", (2, 3)),
    ("ij->i", (2, 3)),
    ("ij,ij->ij", (2, 3), (2, 3)),
    ("ij,ij->", (2, 3), (2, 3)),
    ("i,j->ij", (2,), (3,)),
    ("i,j->ji", (2,), (3,)),
    ("ij,kl->il", (2, 3), (3, 2)),
    ("ij,kl->", (2, 3), (3, 4)),
    ("i,ij->", (2,), (2, 3)),
    ("aab,bcc->ac", (2, 2, 3), (3, 4, 4)),
    ("bij,bkj->bik", (2, 3, 4), (2, 5, 4)),
    ("btnh,bsnh->bnts", (2, 3, 2, 4), (2, 5, 2, 4)),
    ("abcd,cd->ba", (2, 3, 2, 4), (2, 4)),
    ("->", ()),
    (",->", (), ()),
    (",i->i", (), (3,)),
    ("...ij->...ji", (4, 2, 3)),
    ("...ij->...ji", (2, 3)),
    ("...ij,...jk->...ik", (5, 2, 3), (3, 4)),
    ("...ij,...jk->...ik", (5, 1, 2, 3), (4, 3, 2)),
    ("...ij,jk->...ik", (5, 2, 3), (3, 4)),
    ("i...,j...->ij...", (2, 5), (3, 5)),
    ("i...j->...ij", (2, 5, 3)),
    ("i...i->...", (2, 5, 2)),
    ("i...j,j->i...", (2, 5, 3), (3,)),
    ("...,...->...", (1, 3), (2, 1)),
    ("...,i", (2, 1), (3,)),
    ("...i->...", (2, 3)),
    ("...i->i", (3,)),
    ("ij,jk->ik", (0, 3), (3, 4)),
    ("ij,jk->ik", (2, 0), (0, 4)),
    ("ab,bc,cd->ad", (2, 3), (3, 4), (4, 5)),
    ("ij,jk,kl", (2, 3), (3, 4), (4, 5)),
    ("i,i,i->i", (3,), (3,), (3,)),
    ("a,b,c->abc", (2,), (3,), (4,)),
    ("...ab,...bc,cd->...ad", (2, 2, 3), (3, 4), (4, 2)),
]


@pytest.mark.parametrize(("equation", "shapes"), [(e, s) for e, *s in EQUATIONS])
def test_einsum(equation, shapes):
    arrays = [random(*shape, purpose=index) for index, shape in enumerate(shapes)]
    check(lambda tf, *arrays: tf.einsum(equation, *arrays), *arrays)


@pytest.mark.parametrize("dtype", ["complex64", "float16", "int32", "int64", "float32"])
@pytest.mark.parametrize("equation", ["ij,jk->ik", "ij,ij->i", "ij,kj->", "ij,jk->ikj"])
def test_einsum_dtypes(equation, dtype):
    a = random(3, 3, dtype=dtype)
    check(lambda tf, a, b: tf.einsum(equation, a, b), a, random(3, 3, dtype=dtype, purpose="b"))


def test_einsum_bfloat16():
    a = random(3, 3).astype(ml_dtypes.bfloat16)
    check(lambda tf, a: tf.einsum("ij,jk->ik", a, a), a, smooth=False, tolerance=5e-2)


def test_einsum_converts_and_takes_options():
    a = random(2, 2, dtype="float32")
    check(lambda tf, a: tf.einsum("ij,jk->ik", a, np.ones((2, 2))), a)
    check(lambda tf, a: tf.einsum("ij,jk->ik", a, a, optimize="optimal", name="product"), a)
    check(lambda tf, a: tf.linalg.einsum("ij,jk->ik", a, a), a)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("i->ii", [(3,)]),
        ("ij,jk->ii", [(2, 3), (3, 4)]),
        ("...i->i", [(2, 3)]),
        ("ij,jk->ikl", [(2, 3), (3, 4)]),
        ("ij,jk->ik", [(2, 3), (4, 5)]),
        ("ij,jk->ik", [(2, 3, 4), (4, 5)]),
        ("ij,jk->ik", [(1, 3), (1, 4)]),
        ("i,i->i", [(1,), (3,)]),
        ("iij->ij", [(2, 3, 3)]),
        ("ij,jk->ik", [(2, 3)]),
        ("ij->ij", []),
        ("ij;jk->ik", [(2, 3), (3, 4)]),
        ("1j,jk->ik", [(2, 3), (3, 4)]),
        ("ij->j->i", [(2, 3)]),
        ("..i->i", [(2,)]),
        ("...i,...i->...", [(2, 3), (4, 3)]),
        ("...ij,...jk", [(5, 2, 3), (5, 3, 4)]),
    ],
)
def test_einsum_refuses(equation, shapes):
    arrays = [random(*shape) for shape in shapes]
    check_raises(lambda tf, *arrays: tf.einsum(equation, *arrays), *arrays)


def test_einsum_refuses_dtypes_and_options():
    a = random(2, 2, dtype="float32")
    check_raises(lambda tf, a, b: tf.einsum("ij,jk->ik", a, b), a, a.astype(np.float64))
    check_raises(lambda tf, a: tf.einsum("ij,jk->ik", a, a, order="any"), a)
