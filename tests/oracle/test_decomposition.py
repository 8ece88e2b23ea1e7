"""Decompositions against TensorFlow, compared through what does not depend on signs and phases."""

import numpy as np
import pytest
from compare import assert_close, assert_same_failure, check, check_raises
from hypothesis import given, settings, strategies as st
from matrices import assert_complex_derivatives, positive, random, regular

import runnel

BATCH = st.sampled_from([(), (2,), (0,), (2, 1)])
DTYPES = st.sampled_from(["float32", "float64", "complex64", "complex128"])


def symmetric(tf, a):
    return (a + tf.linalg.adjoint(a)) / 2


@settings(max_examples=15)
@given(BATCH, st.integers(0, 3), DTYPES)
def test_cholesky(batch, size, dtype):
    a = positive(*batch, size, size, dtype=dtype)
    check(lambda tf, a: tf.linalg.cholesky(symmetric(tf, a)), a)


def test_cholesky_reads_the_lower_triangle():
    a = np.tril(positive(3, 3)) + np.triu(random(3, 3), 1)
    check(lambda tf, a: tf.linalg.cholesky(a), a, smooth=False)


def test_cholesky_of_what_is_not_positive_definite():
    a = np.stack([positive(2, 2), -np.eye(2), np.zeros((2, 2)), np.full((2, 2), np.nan)])
    check(lambda tf, a: tf.linalg.band_part(tf.linalg.cholesky(a), -1, 0), a, gradient=False)


SQUARE_ONLY = ["cholesky", "eigh", "eigvalsh", "eig", "eigvals", "lu"]


@pytest.mark.parametrize("name", [*SQUARE_ONLY, "qr", "svd"])
def test_refuse_what_is_no_matrix(name):
    check_raises(lambda tf, a: getattr(tf.linalg, name)(a), random(3))
    check_raises(lambda tf, a: getattr(tf.linalg, name)(a), random())


@pytest.mark.parametrize("name", SQUARE_ONLY)
@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (0, 3), (2, 3, 0)])
def test_refuse_what_is_not_square(name, shape):
    check_raises(lambda tf, a: getattr(tf.linalg, name)(a), random(*shape))


@pytest.mark.parametrize("name", ["cholesky", "qr", "svd", "eigh", "lu"])
def test_refuse_integers(name):
    check_raises(lambda tf, a: getattr(tf.linalg, name)(a), np.eye(2, dtype=np.int32))


SHAPES = [(3, 3), (4, 3), (3, 4), (1, 2), (2, 4, 3), (0, 0), (0, 3), (3, 0), (0, 3, 3)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float64", "complex128", "float32"])
@pytest.mark.parametrize("full", [False, True])
def test_qr(shape, dtype, full):
    """With a positive diagonal of R there is only one result."""

    def function(tf, a):
        q, r = tf.linalg.qr(a, full_matrices=full)
        size = min(shape[-2:])
        turn = tf.sign(tf.linalg.diag_part(r))
        turn = tf.math.conj(turn)
        r = r[..., :size, :] * turn[..., None]
        return q[..., :size] * tf.math.conj(turn)[..., None, :], r

    differentiable = not (full and shape[-2] > shape[-1])
    a = random(*shape, dtype=dtype)
    check(function, a, gradient=differentiable and 0 not in shape, traced=not full)


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
def test_qr_multiplies_to_the_matrix(shape):
    def function(tf, a):
        q, r = tf.linalg.qr(a, full_matrices=True)
        return tf.matmul(q, r), tf.matmul(q, q, adjoint_a=True), tf.linalg.band_part(r, -1, 0) - r

    a = random(*shape, dtype="complex128")
    product, gram, above = (each.numpy() for each in function(runnel, a))
    assert_close(a, product)
    assert_close(np.eye(shape[0], dtype=a.dtype), gram)
    assert not np.tril(above, -1).any()


def test_qr_half():
    a = random(3, 3, dtype="float16")
    check(lambda tf, a: tf.abs(tf.linalg.qr(a)[1]), a, gradient=False, tolerance=1e-2)


def _gradient_failure(tf, function, a):
    a = tf.constant(a)
    try:
        with tf.GradientTape() as tape:
            tape.watch(a)
            result = function(tf, a)
        tape.gradient(result, a)
    except Exception as failure:
        return failure
    return None


@pytest.mark.parametrize("shape", [(4, 2), (3, 5)])
def test_gradients_that_have_no_rule(shape):
    import tensorflow

    a = random(*shape)
    if shape[0] > shape[1]:
        qr = lambda tf, a: tf.linalg.qr(a, full_matrices=True)[0]  # noqa: E731
        assert_same_failure(_gradient_failure(tensorflow, qr, a), _gradient_failure(runnel, qr, a))
    svd = lambda tf, a: tf.linalg.svd(a, full_matrices=True)[1]  # noqa: E731
    assert_same_failure(_gradient_failure(tensorflow, svd, a), _gradient_failure(runnel, svd, a))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float64", "complex128", "float32"])
def test_singular_values(shape, dtype):
    a = random(*shape, dtype=dtype)
    check(lambda tf, a: tf.linalg.svd(a, compute_uv=False), a, gradient=0 not in shape)


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 4), (2, 5), (2, 4, 3)])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("full", [False, True])
def test_singular_vectors(shape, dtype, full):
    """Projections on single vectors, and a product of two, have no sign or phase."""

    def function(tf, a):
        s, u, v = tf.linalg.svd(a, full_matrices=full)
        size = min(shape[-2:])
        weights = tf.cast(tf.range(1, size + 1), u.dtype)
        first, second = u[..., :size], v[..., :size]
        results = [
            s,
            tf.matmul(first * weights, first, adjoint_b=True),
            tf.matmul(second * weights, second, adjoint_b=True),
            tf.matmul(first * weights, second, adjoint_b=True),
        ]
        if full and u.shape[-1] > size:
            results.append(tf.matmul(u[..., size:], u[..., size:], adjoint_b=True))
        if full and v.shape[-1] > size:
            results.append(tf.matmul(v[..., size:], v[..., size:], adjoint_b=True))
        return results

    gradient = not full or abs(shape[-1] - shape[-2]) <= 1
    a = random(*shape, dtype=dtype)
    # The second derivatives of the original are wrong for complex matrices.
    real = dtype == "float64"
    check(function, a, gradient=gradient, second_order=real, traced=False, tolerance=1e-8)


@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (0, 2), (2, 0), (0, 2, 3)])
@pytest.mark.parametrize("full", [False, True])
def test_svd_shapes_and_product(shape, full):
    def function(tf, a):
        s, u, v = tf.linalg.svd(a, full_matrices=full)
        return s, tf.zeros_like(u), tf.zeros_like(v)

    a = random(*shape)
    check(function, a, gradient=False)
    s, u, v = (each.numpy() for each in runnel.linalg.svd(a))
    assert_close(a, u * s[..., None, :] @ np.swapaxes(v, -1, -2))


def test_svd_of_equal_singular_values_has_a_finite_gradient():
    a = runnel.constant(np.eye(3))
    with runnel.GradientTape() as tape:
        tape.watch(a)
        s, u, v = runnel.linalg.svd(a)
        total = runnel.reduce_sum(s) + runnel.reduce_sum(u) + runnel.reduce_sum(v)
    assert np.isfinite(tape.gradient(total, a)).all()


def test_svd_of_nan():
    a = np.stack([np.eye(2), np.full((2, 2), np.nan), np.diag([1.0, np.inf])])
    check(lambda tf, a: tf.linalg.svd(a, compute_uv=False), a, gradient=False)
    check(lambda tf, a: tf.abs(tf.linalg.svd(a)[1]), a, gradient=False)
    check(lambda tf, a: tf.abs(tf.linalg.svd(a, full_matrices=True)[2]), a, gradient=False)


@settings(max_examples=12)
@given(BATCH, st.integers(0, 3), DTYPES)
def test_eigvalsh(batch, size, dtype):
    a = positive(*batch, size, size, dtype=dtype)
    exact = dtype in ("float64", "complex128")
    check(lambda tf, a: tf.linalg.eigvalsh(a), a, smooth=False, second_order=exact)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3), (1, 1), (0, 0), (2, 0, 0)])
def test_eigh(shape, dtype):
    """Weighted projections on the eigenvectors have no sign or phase."""

    def function(tf, a):
        e, v = tf.linalg.eigh(symmetric(tf, a))
        weights = tf.cast(tf.range(1, shape[-1] + 1), v.dtype)
        return e, tf.matmul(v * weights, v, adjoint_b=True)

    check(function, positive(*shape, dtype=dtype), gradient=0 not in shape, tolerance=1e-8)


def test_eigh_reads_the_lower_triangle():
    a = np.tril(positive(3, 3)) + np.triu(random(3, 3), 1)
    check(lambda tf, a: tf.linalg.eigh(a)[0], a, smooth=False)
    check(lambda tf, a: tf.square(tf.linalg.eigh(a)[1]), a, smooth=False, tolerance=1e-8)


def test_eigh_of_equal_eigenvalues_has_a_finite_gradient():
    a = runnel.constant(np.eye(3))
    with runnel.GradientTape() as tape:
        tape.watch(a)
        e, v = runnel.linalg.eigh(a)
        total = runnel.reduce_sum(e) + runnel.reduce_sum(v)
    assert np.isfinite(tape.gradient(total, a)).all()


@pytest.mark.parametrize("name", ["eigh", "eigvalsh", "eig", "eigvals"])
def test_eigenvalues_of_nan(name):
    check_raises(lambda tf, a: getattr(tf.linalg, name)(a), np.full((2, 2), np.nan))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 2, 2), (1, 1), (0, 0), (0, 2, 2)])
def test_eig(shape, dtype):
    """Sums of powers of the eigenvalues, and of weighted projections, have no order."""

    def function(tf, a):
        e, v = tf.linalg.eig(a)
        values = tf.linalg.eigvals(a)
        powers = [tf.reduce_sum(x**3, axis=-1) for x in (e, values)]
        weighted = tf.math.abs(v) ** 4 * tf.math.abs(e)[..., None, :]
        return *powers, tf.reduce_sum(weighted, axis=-1)

    a = random(*shape, dtype=dtype, purpose="eig")
    tolerance = 1e-4 if dtype in ("float32", "complex64") else 1e-8
    check(function, a, gradient=0 not in shape, smooth=False, tolerance=tolerance)


def _eig(a):
    e, v = runnel.linalg.eig(a)
    return e, runnel.abs(v)


def _svd(a):
    s, u, v = runnel.linalg.svd(a)
    weights = runnel.cast(runnel.range(1, s.shape[-1] + 1), u.dtype)
    return s, runnel.matmul(u * weights, v, adjoint_b=True)


def _eigh(a):
    e, v = runnel.linalg.eigh(symmetric(runnel, a))
    weights = runnel.cast(runnel.range(1, a.shape[-1] + 1), v.dtype)
    return e, runnel.matmul(v * weights, v, adjoint_b=True)


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda a: runnel.linalg.cholesky(symmetric(runnel, a)), (3, 3)),
        (runnel.linalg.qr, (3, 3)),
        (runnel.linalg.qr, (2, 4, 3)),
        (runnel.linalg.qr, (2, 3)),
        (_svd, (3, 3)),
        (_svd, (2, 4, 3)),
        (_svd, (2, 3)),
        (_eigh, (2, 3, 3)),
        (_eig, (3, 3)),
    ],
)
def test_complex_gradients(function, shape):
    make = positive if shape[-1] == shape[-2] else random
    assert_complex_derivatives(function, *shape, make=make)


@settings(max_examples=10)
@given(BATCH, st.integers(0, 4), st.sampled_from(["float32", "float64"]))
def test_lu(batch, size, dtype):
    check(lambda tf, a: tf.linalg.lu(a), random(*batch, size, size, dtype=dtype), gradient=False)


def test_lu_index_dtype():
    check(lambda tf, a: tf.linalg.lu(a, output_idx_type="int64"), random(3, 3), gradient=False)


def test_lu_of_complex_matrices():
    """Which row is largest depends on the measure, so only the product is the same."""
    a = random(3, 3, dtype="complex128")
    lu, p = runnel.linalg.lu(a)
    lower, upper = np.tril(lu, -1) + np.eye(3), np.triu(lu)
    assert_close(a[p.numpy()], lower @ upper)


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3)])
def test_lu_gradient(shape):
    """TensorFlow has none."""
    assert_complex_derivatives(lambda a: runnel.linalg.lu(a)[0], *shape, make=regular)


@pytest.mark.parametrize("a", [np.ones((3, 3)), np.zeros((2, 2)), np.full((2, 2), np.nan)])
def test_lu_refuses_singular_matrices(a):
    check_raises(lambda tf, a: tf.linalg.lu(a), a, message="Input is not invertible.")
