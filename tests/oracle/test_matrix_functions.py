"""Determinants, exponentials, logarithms, roots, norms and cross products against TensorFlow."""

import ml_dtypes
import numpy as np
import pytest
from compare import assert_close, check, check_raises
from hypothesis import given, settings, strategies as st
from matrices import assert_complex_derivatives, positive, random, regular

import runnel

BATCH = st.sampled_from([(), (2,), (0,), (2, 1)])
DTYPES = st.sampled_from(["float32", "float64", "complex64", "complex128"])
SIZE = st.integers(0, 3)


def _exact(dtype):
    return dtype in ("float64", "complex128")


@settings(max_examples=12)
@given(BATCH, SIZE, DTYPES)
def test_det(batch, size, dtype):
    a = regular(*batch, size, size, dtype=dtype)
    # The gradient of the original is the conjugate of the right one for complex matrices.
    real = "complex" not in dtype
    check(lambda tf, a: tf.linalg.det(a), a, gradient=real, second_order=_exact(dtype))


@settings(max_examples=12)
@given(BATCH, SIZE, DTYPES)
def test_slogdet(batch, size, dtype):
    a = regular(*batch, size, size, dtype=dtype)
    smooth = "complex" not in dtype
    check(lambda tf, a: tf.linalg.slogdet(a), a, second_order=_exact(dtype), smooth=smooth)
    check(lambda tf, a: tf.linalg.slogdet(-a), a, gradient=False)


@settings(max_examples=8)
@given(BATCH, SIZE, DTYPES)
def test_logdet(batch, size, dtype):
    a = positive(*batch, size, size, dtype=dtype)
    check(lambda tf, a: tf.linalg.logdet(a), a, smooth=False, second_order=_exact(dtype))


@pytest.mark.parametrize("a", [np.ones((3, 3)), np.zeros((2, 2)), np.full((2, 2), np.nan)])
def test_determinants_of_singular_matrices(a):
    check(lambda tf, a: tf.linalg.det(a), a, gradient=False)
    check(lambda tf, a: tf.linalg.slogdet(a), a, gradient=False)
    check(lambda tf, a: tf.linalg.logdet(a), a - np.eye(len(a)), gradient=False)


NAMES = ["det", "slogdet", "logdet", "expm", "sqrtm", "logm"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(3,), (), (2, 3), (3, 2), (2, 3, 0)])
def test_refuse_what_is_not_square(name, shape):
    a = random(*shape, dtype="complex128")
    check_raises(lambda tf, a: getattr(tf.linalg, name)(a), a)


@pytest.mark.parametrize("name", NAMES)
def test_refuse_integers(name):
    check_raises(lambda tf, a: getattr(tf.linalg, name)(a), np.eye(2, dtype=np.int32))


def test_logm_refuses_real_matrices():
    check_raises(lambda tf, a: tf.linalg.logm(a), np.eye(2))


@settings(max_examples=12)
@given(BATCH, SIZE, DTYPES, st.sampled_from([0.1, 1.0, 4.0]))
def test_expm(batch, size, dtype, scale):
    a = (scale * random(*batch, size, size, dtype=dtype)).astype(dtype)
    loose = 1e-9 if _exact(dtype) else 1e-4
    check(
        lambda tf, a: tf.linalg.expm(a),
        a,
        gradient=a.size > 0,
        second_order=_exact(dtype) and scale < 2,
        tolerance=loose,
    )


def test_expm_of_nan():
    a = np.stack([np.eye(2), np.full((2, 2), np.nan)])
    check(lambda tf, a: tf.linalg.expm(a)[1], a, gradient=False)
    assert_close(np.e * np.eye(2), runnel.linalg.expm(a)[0].numpy())


@settings(max_examples=12)
@given(BATCH, SIZE, DTYPES)
def test_sqrtm(batch, size, dtype):
    a = regular(*batch, size, size, dtype=dtype)
    loose = 1e-8 if _exact(dtype) else 1e-4
    # The gradient of the original is the conjugate of the right one for complex matrices.
    gradient = a.size > 0 and "complex" not in dtype
    check(
        lambda tf, a: tf.linalg.sqrtm(a),
        a,
        gradient=gradient,
        second_order=_exact(dtype),
        tolerance=loose,
    )
    check(lambda tf, a: tf.matrix_square_root(a), a, gradient=False, tolerance=loose)


def test_sqrtm_of_defective_matrix():
    check(lambda tf, a: tf.linalg.sqrtm(a), np.array([[4.0, 1.0], [0.0, 4.0]]))
    check(lambda tf, a: tf.linalg.sqrtm(a), np.full((2, 2), np.nan), gradient=False)
    check(lambda tf, a: tf.linalg.sqrtm(a), np.zeros((2, 2)), gradient=False)


@settings(max_examples=8)
@given(BATCH, SIZE, st.sampled_from(["complex64", "complex128"]))
def test_logm(batch, size, dtype):
    a = regular(*batch, size, size, dtype=dtype)
    loose = 1e-8 if _exact(dtype) else 1e-4
    check(lambda tf, a: tf.linalg.logm(a), a, gradient=False, tolerance=loose)


def test_logm_of_far_and_singular_matrices():
    a = np.diag([1e-6, 1.0, 1e6]).astype(np.complex128) + np.triu(np.ones((3, 3)), 1)
    check(lambda tf, a: tf.linalg.logm(a), a, gradient=False, tolerance=1e-6)
    check(lambda tf, a: tf.linalg.logm(a), np.zeros((2, 2), np.complex128), gradient=False)
    check(lambda tf, a: tf.linalg.logm(a), np.full((2, 2), np.nan, np.complex128), gradient=False)


@pytest.mark.parametrize(
    "function",
    [
        runnel.linalg.det,
        lambda a: runnel.linalg.slogdet(a)[1],
        runnel.linalg.expm,
        runnel.linalg.sqrtm,
        runnel.linalg.logm,
        runnel.linalg.norm,
        lambda a: runnel.linalg.norm(a, ord=2, axis=(0, 1)),
        lambda a: runnel.linalg.normalize(a, ord=1)[0],
    ],
)
def test_complex_gradients(function):
    assert_complex_derivatives(function, 3, 3, make=regular)


VECTOR_ORDERS = ["euclidean", 1, 2, 3, 0.5, 2.5, np.inf]
MATRIX_ORDERS = ["euclidean", "fro", 1, 2, np.inf]


@pytest.mark.parametrize("order", VECTOR_ORDERS)
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("keepdims", [None, True])
def test_vector_norms(order, axis, keepdims):
    a = random(2, 3, purpose="norm")
    check(lambda tf, a: tf.norm(a, ord=order, axis=axis, keepdims=keepdims), a)


@pytest.mark.parametrize("order", MATRIX_ORDERS)
@pytest.mark.parametrize("axis", [(0, 1), [-1, -2], (0, 2), (2, 1)])
@pytest.mark.parametrize("keepdims", [None, True])
def test_matrix_norms(order, axis, keepdims):
    a = random(2, 3, 4, purpose="norm")
    check(lambda tf, a: tf.linalg.norm(a, ord=order, axis=axis, keepdims=keepdims), a)


@pytest.mark.parametrize("order", ["euclidean", 1, 3, np.inf])
@pytest.mark.parametrize("dtype", ["complex64", "float16", "float32"])
def test_norm_dtypes(order, dtype):
    a = random(2, 3, dtype=dtype, purpose="norm")
    tolerance = 2e-2 if dtype == "float16" else None
    check(
        lambda tf, a: tf.norm(a, ord=order), a, tolerance=tolerance, second_order=dtype == "float32"
    )
    check(lambda tf, a: tf.linalg.normalize(a, ord=order), a, gradient=False, tolerance=tolerance)


def test_norm_of_complex_matrix_and_bfloat16():
    a = random(2, 3, dtype="complex128")
    check(lambda tf, a: tf.norm(a, ord=2, axis=(0, 1)), a, second_order=False)
    check(lambda tf, a: tf.norm(a), a.real.astype(ml_dtypes.bfloat16), gradient=False)


def test_norm_of_little():
    check(lambda tf, a: tf.norm(a), random())
    check(lambda tf, a: tf.norm(a), np.zeros(0))
    check(lambda tf, a: tf.norm(a, ord=np.inf), np.zeros(0))
    check(lambda tf, a: tf.norm(a), np.zeros(2), smooth=False)
    check(lambda tf: tf.norm([3.0, 4.0]))


@pytest.mark.parametrize(
    ("order", "axis"),
    [
        ("euclidean", (0, 0)),
        ("euclidean", (0, 1, 2)),
        ("euclidean", [0]),
        ("euclidean", np.array([0, 1])),
        ("fro", None),
        ("fro", 0),
        ("nuc", (0, 1)),
        (3, (0, 1)),
        (0, None),
        (-1, None),
        (-np.inf, 0),
        (None, None),
        ("euclidean", 5),
    ],
)
def test_norm_refuses(order, axis):
    check_raises(lambda tf, a: tf.norm(a, ord=order, axis=axis), random(2, 3))


def test_norm_refuses_integers():
    check_raises(lambda tf: tf.norm([1, 2]))


@pytest.mark.parametrize("order", ["euclidean", 1, np.inf, 3])
@pytest.mark.parametrize("axis", [None, 1])
def test_normalize(order, axis):
    check(lambda tf, a: tf.linalg.normalize(a, ord=order, axis=axis), random(2, 3, purpose="norm"))


def test_normalize_matrices():
    check(lambda tf, a: tf.linalg.normalize(a, ord=2, axis=(1, 2)), random(2, 3, 2))
    check(lambda tf, a: tf.linalg.normalize(a), np.zeros((2, 2)), smooth=False)


@pytest.mark.parametrize("shape", [(3,), (2, 3), (0, 3), (2, 1, 3)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "uint8", "float16"])
def test_cross(shape, dtype):
    a, b = (np.abs(random(*shape, dtype=dtype, purpose=each)) for each in "ab")
    check(lambda tf, a, b: tf.linalg.cross(a, b), a, b)


def test_cross_converts():
    check(lambda tf, a: tf.linalg.cross(a, [1, 2, 3]), random(3))
    check(lambda tf: tf.linalg.cross([1, 2, 3], [4, 5, 6]))


@pytest.mark.parametrize(("a", "b"), [((2, 3), (3,)), ((3, 2), (3, 2)), ((), ())])
def test_cross_refuses(a, b):
    check_raises(lambda tf, a, b: tf.linalg.cross(a, b), random(*a), random(*b))


def test_cross_refuses_dtypes():
    check_raises(lambda tf, a, b: tf.linalg.cross(a, b), random(3), random(3, dtype="float32"))
    check_raises(lambda tf, a: tf.linalg.cross(a, a), random(3, dtype="complex128"))
