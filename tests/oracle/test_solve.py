"""Linear equations, inverses, least squares and banded matrices against TensorFlow."""

import numpy as np
import pytest
from compare import assert_close, assert_same_failure, check, check_raises
from hypothesis import given, settings, strategies as st
from matrices import assert_complex_derivatives, positive, random, regular

import runnel

BATCH = st.sampled_from([(), (2,), (0,), (2, 1)])
DTYPES = st.sampled_from(["float32", "float64", "complex64", "complex128"])
SIZE = st.integers(0, 3)
# Batches of matrices and right-hand sides that broadcast together.
BATCHES = st.sampled_from(
    [((), ()), ((2,), (2,)), ((2,), ()), ((), (3,)), ((2, 1), (3,)), ((1,), (0,))]
)


def _exact(dtype):
    return dtype in ("float64", "complex128")


@settings(max_examples=12)
@given(BATCH, SIZE, DTYPES, st.booleans())
def test_inv(batch, size, dtype, adjoint):
    a = regular(*batch, size, size, dtype=dtype)
    check(lambda tf, a: tf.linalg.inv(a, adjoint=adjoint), a, second_order=_exact(dtype))


def test_inv_half():
    a = regular(2, 2, dtype="float16")
    check(lambda tf, a: tf.linalg.inv(a), a, gradient=False, tolerance=1e-2)


@settings(max_examples=15)
@given(BATCH, SIZE, SIZE, DTYPES, st.booleans())
def test_solve(batch, size, columns, dtype, adjoint):
    check(
        lambda tf, a, b: tf.linalg.solve(a, b, adjoint=adjoint),
        regular(*batch, size, size, dtype=dtype),
        random(*batch, size, columns, dtype=dtype),
        second_order=_exact(dtype),
    )


def test_solve_converts():
    check(lambda tf, a: tf.linalg.solve(a, [[1], [2]]), regular(2, 2))
    check(lambda tf, b: tf.linalg.solve([[2, 1], [0, 1]], b), random(2, 1))


SINGULAR = [np.ones((3, 3)), np.zeros((2, 2)), np.full((2, 2), np.nan)]


@pytest.mark.parametrize("a", SINGULAR)
def test_refuse_singular_matrices(a):
    message = "Input is not invertible."
    check_raises(lambda tf, a: tf.linalg.inv(a), a, message=message)
    message = "not invertible."
    check_raises(lambda tf, a: tf.linalg.solve(a, a), a, message=message)


@pytest.mark.parametrize("shape", [(3,), (), (2, 3), (3, 2), (0, 2)])
def test_inv_refuses(shape):
    check_raises(lambda tf, a: tf.linalg.inv(a), random(*shape))


MISFITS = [
    ((3, 3), (3,)),
    ((3,), (3, 1)),
    ((2, 3), (2, 1)),
    ((3, 2), (3, 1)),
    ((3, 3), (2, 1)),
    ((2, 3, 3), (3, 3, 1)),
]


@pytest.mark.parametrize(("a", "b"), [*MISFITS, ((1, 3, 3), (2, 3, 1)), ((3, 3), (2, 3, 1))])
def test_solve_refuses(a, b):
    check_raises(lambda tf, a, b: tf.linalg.solve(a, b), random(*a), random(*b))


@pytest.mark.parametrize(("a", "b"), MISFITS)
def test_triangular_solve_refuses(a, b):
    check_raises(lambda tf, a, b: tf.linalg.triangular_solve(a, b), random(*a), random(*b))
    check_raises(lambda tf, a, b: tf.linalg.cholesky_solve(a, b), random(*a), random(*b))


@pytest.mark.parametrize("name", ["inv", "solve", "triangular_solve", "cholesky_solve"])
def test_refuse_dtypes(name):
    rest = () if name == "inv" else (np.eye(2, dtype=np.int32),)
    check_raises(lambda tf, *a: getattr(tf.linalg, name)(*a), np.eye(2, dtype=np.int32), *rest)
    if rest:
        check_raises(
            lambda tf, a, b: getattr(tf.linalg, name)(a, b), np.eye(2), np.eye(2, dtype="f")
        )


@settings(max_examples=20)
@given(BATCHES, SIZE, st.integers(0, 2), DTYPES, st.booleans(), st.booleans())
def test_triangular_solve(batches, size, columns, dtype, lower, adjoint):
    check(
        lambda tf, a, b: tf.linalg.triangular_solve(a, b, lower=lower, adjoint=adjoint),
        regular(*batches[0], size, size, dtype=dtype),
        random(*batches[1], size, columns, dtype=dtype),
        second_order=_exact(dtype),
    )


def test_triangular_solve_of_a_singular_matrix():
    a = np.array([[0.0, 0.0], [1.0, 1.0]])
    check(lambda tf, a: tf.linalg.triangular_solve(a, np.ones((2, 1))), a, gradient=False)


@settings(max_examples=8)
@given(BATCHES, SIZE, st.sampled_from(["float64", "complex128"]))
def test_cholesky_solve(batches, size, dtype):
    check(
        lambda tf, a, b: tf.linalg.cholesky_solve(tf.linalg.cholesky(a + tf.linalg.adjoint(a)), b),
        positive(*batches[0], size, size, dtype=dtype),
        random(*batches[1], size, 2, dtype=dtype),
    )


@pytest.mark.parametrize("weight", [0.0, 0.5])
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((4, 2), (4, 1)),
        ((2, 4), (2, 3)),
        ((3, 3), (3, 2)),
        ((2, 4, 2), (2, 4, 1)),
        ((1, 2, 3), (2, 2, 1)),
        ((0, 0), (0, 2)),
    ],
)
def test_lstsq(a, b, weight):
    function = lambda tf, a, b: tf.linalg.lstsq(a, b, l2_regularizer=weight)  # noqa: E731
    a, b = random(*a), random(*b)
    check(function, a, b, traced=False, tolerance=1e-8)
    if a.shape[:-2] == b.shape[:-2]:
        check(function, a, b, gradient=False, tolerance=1e-8)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_lstsq_dtypes(dtype):
    a, b = random(4, 2, dtype=dtype), random(4, 1, dtype=dtype)
    loose = 1e-3 if dtype == "float32" else 1e-8
    check(
        lambda tf, a, b: tf.linalg.lstsq(a, b),
        a,
        b,
        traced=False,
        tolerance=loose,
        second_order=False,
    )


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((4, 2), (4, 1)),
        ((2, 4), (2, 3)),
        ((2, 4, 2), (2, 4, 1)),
        ((3, 3), (3, 0)),
        ((0, 3, 2), (0, 3, 1)),
    ],
)
def test_lstsq_slow(a, b):
    slow = lambda tf, a, b: tf.linalg.lstsq(a, b, l2_regularizer=0.5, fast=False)  # noqa: E731
    check(slow, random(*a), random(*b), gradient=False)


def test_lstsq_without_full_rank():
    slow = lambda tf, a, b: tf.linalg.lstsq(a, b, fast=False)  # noqa: E731
    check(slow, np.ones((3, 3)), random(3, 2), gradient=False)
    check(slow, np.ones((2, 3), np.complex128), random(2, 2, dtype="complex128"), gradient=False)
    zeros, rhs = np.zeros((2, 2)), random(2, 1)
    check(lambda tf, a, b: tf.linalg.lstsq(a, b), zeros, rhs, gradient=False, traced=False)


@pytest.mark.parametrize(("a", "b"), [((3, 3), (2, 1)), ((3, 3), (3,)), ((2, 3, 2), (3, 3, 1))])
@pytest.mark.parametrize("fast", [True, False])
def test_lstsq_refuses(a, b, fast):
    check_raises(lambda tf, a, b: tf.linalg.lstsq(a, b, fast=fast), random(*a), random(*b))


def test_lstsq_slow_has_no_gradient():
    import tensorflow

    def failure(tf):
        a = tf.constant(random(3, 2))
        try:
            with tf.GradientTape() as tape:
                tape.watch(a)
                x = tf.linalg.lstsq(a, random(3, 1), fast=False)
            tape.gradient(x, a)
        except Exception as error:
            return error

    assert_same_failure(failure(tensorflow), failure(runnel))


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 3), (2, 4, 2), (0, 3), (3, 0), (0, 2, 2)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pinv(shape, dtype):
    gradient = 0 not in shape
    loose = 1e-4 if dtype == "float32" else 1e-8
    a = random(*shape, dtype=dtype)
    check(
        lambda tf, a: tf.linalg.pinv(a),
        a,
        gradient=gradient,
        tolerance=loose,
        second_order=_exact(dtype),
    )


def test_pinv_cuts_small_singular_values():
    a = np.diag([1.0, 0.5, 0.001])
    check(lambda tf, a: tf.linalg.pinv(a, rcond=0.6), a, gradient=False)
    check(lambda tf, a: tf.linalg.pinv(a, rcond=0.1, validate_args=True), a, gradient=False)
    check(lambda tf, a: tf.linalg.pinv(a, rcond=[0.6, 1e-9]), np.stack([a, a]), gradient=False)
    check(lambda tf, a: tf.linalg.pinv(a), np.ones((2, 2)), gradient=False)
    check(lambda tf, a: tf.linalg.pinv(a), np.zeros((2, 2)), gradient=False)
    check(lambda tf, a: tf.linalg.pinv(a), np.full((2, 2), np.nan), gradient=False)


@pytest.mark.parametrize("name", ["pinv", "matrix_rank"])
def test_pinv_and_rank_refuse(name):
    check_raises(lambda tf, a: getattr(tf.linalg, name)(a), random(3))
    check_raises(lambda tf, a: getattr(tf.linalg, name)(a), random(2, 2, dtype="complex128"))
    check_raises(lambda tf, a: getattr(tf.linalg, name)(a), np.eye(2, dtype=np.int32))


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 3, 2), (0, 2), (0, 2, 2)])
def test_matrix_rank(shape):
    check(lambda tf, a: tf.linalg.matrix_rank(a), random(*shape))
    check(lambda tf, a: tf.linalg.matrix_rank(a, tol=1.0), random(*shape))
    check(lambda tf, a: tf.linalg.matrix_rank(a), np.ones(shape, np.float32))


def test_matrix_rank_with_several_limits():
    check(lambda tf, a: tf.linalg.matrix_rank(a, tol=[1.0, 100.0]), np.ones((2, 3, 2)))


@settings(max_examples=10)
@given(BATCHES, st.integers(1, 3), st.sampled_from(["float64", "complex128"]))
def test_lu_solve(batches, size, dtype):
    a = regular(*batches[0], size, size, dtype=dtype)
    b = random(*batches[1], size, 2, dtype=dtype)

    def function(tf, a, b):
        return tf.linalg.lu_solve(*tf.linalg.lu(a), b)

    check(function, a, b, gradient=False)
    check(lambda tf, a: tf.linalg.lu_reconstruct(*tf.linalg.lu(a)), a, gradient=False)
    check(lambda tf, a: tf.linalg.lu_matrix_inverse(*tf.linalg.lu(a)), a, gradient=False)


def test_lu_solve_gradient():
    lu = np.array([[4.0, 1.0, 2.0], [0.5, 3.0, 1.0], [0.25, 0.5, 2.0]])
    p = np.array([2, 0, 1], np.int32)
    check(lambda tf, lu, p, b: tf.linalg.lu_solve(lu, p, b), lu, p, random(3, 2))
    check(lambda tf, lu, p: tf.linalg.lu_reconstruct(lu, p), lu, p)
    check(lambda tf, lu, p: tf.linalg.lu_matrix_inverse(lu, p), lu, p)


@pytest.mark.parametrize(
    ("lu", "p", "rhs"),
    [
        ((3, 3), (3,), (3,)),
        ((3, 3), (3,), (2, 1)),
        ((3,), (3,), (3, 1)),
        ((3, 3), (), (3, 1)),
        ((3, 2), (3,), (3, 1)),
        ((3, 3), (2,), (3, 1)),
    ],
)
def test_lu_solve_refuses(lu, p, rhs):
    p = np.zeros(p, np.int32)
    check_raises(lambda tf, *a: tf.linalg.lu_solve(*a), random(*lu), p, random(*rhs))


def test_lu_reconstruct_refuses():
    p = np.zeros(3, np.int32)
    check_raises(lambda tf, lu, p: tf.linalg.lu_reconstruct(lu, p), random(3), p)
    check_raises(lambda tf, lu, p: tf.linalg.lu_reconstruct(lu, p), random(2, 3), p[:2])
    check_raises(lambda tf, lu, p: tf.linalg.lu_matrix_inverse(lu, p), random(3), p)


def _bands(*shape, dtype, lower):
    bands = random(*shape, dtype=dtype)
    bands[..., 0 if lower else -1, :] += 4
    return bands


@settings(max_examples=15)
@given(
    st.sampled_from([((), ()), ((2,), (2,)), ((2,), ()), ((), (3,)), ((2, 1), (3,))]),
    st.integers(1, 4),
    st.integers(1, 3),
    DTYPES,
    st.booleans(),
    st.booleans(),
)
def test_banded_triangular_solve(batches, count, size, dtype, lower, adjoint):
    check(
        lambda tf, a, b: tf.linalg.banded_triangular_solve(a, b, lower=lower, adjoint=adjoint),
        _bands(*batches[0], count, size, dtype=dtype, lower=lower),
        random(*batches[1], size, 2, dtype=dtype),
        # The gradient of the original has the wrong shape for one band, and none for too many.
        gradient=1 < count <= size,
        second_order=_exact(dtype),
    )


@pytest.mark.parametrize(
    ("bands", "rhs"),
    [
        ((2, 3), (3,)),
        ((2, 3), (4, 1)),
        ((3,), (3, 1)),
        ((0, 3), (3, 1)),
        ((2, 3), (3, 0)),
        ((2, 2, 3), (3, 3, 1)),
    ],
)
def test_banded_triangular_solve_refuses(bands, rhs):
    check_raises(
        lambda tf, a, b: tf.linalg.banded_triangular_solve(a, b), random(*bands), random(*rhs)
    )


def test_banded_triangular_solve_refuses_singular_matrices():
    check_raises(
        lambda tf, a, b: tf.linalg.banded_triangular_solve(a, b),
        np.zeros((2, 3)),
        random(3, 1),
        message="Input matrix is not invertible.",
    )


def _diagonals(*batch, size, dtype="float64"):
    diagonals = random(*batch, 3, size, dtype=dtype)
    diagonals[..., 1, :] += 5
    return diagonals


@settings(max_examples=15)
@given(
    st.sampled_from([(), (2,), (0,), (2, 1)]),
    st.integers(0, 4),
    st.integers(0, 2),
    DTYPES,
    st.booleans(),
)
def test_tridiagonal_solve(batch, size, columns, dtype, pivoting):
    check(
        lambda tf, a, b: tf.linalg.tridiagonal_solve(a, b, partial_pivoting=pivoting),
        _diagonals(*batch, size=size, dtype=dtype),
        random(*batch, size, columns, dtype=dtype),
        second_order=_exact(dtype),
        # The gradient of the original is the conjugate of the right one for complex diagonals.
        gradient=size > 0 and "complex" not in dtype,
    )


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("conjugate", [False, True])
def test_tridiagonal_solve_right_hand_sides(transpose, conjugate):
    flags = {"transpose_rhs": transpose, "conjugate_rhs": conjugate}
    solve = lambda tf, a, b: tf.linalg.tridiagonal_solve(a, b, **flags)  # noqa: E731
    shape = (2, 2, 3) if transpose else (2, 3, 2)
    a = _diagonals(2, size=3, dtype="complex128")
    check(solve, a, random(*shape, dtype="complex128"), gradient=False)
    check(solve, a, random(2, 3, dtype="complex128"), gradient=False, traced=False)
    a = _diagonals(2, size=3)
    check(solve, a, random(*shape))
    check(solve, a, random(2, 3), traced=False)


def test_tridiagonal_formats():
    a, b = _diagonals(size=4), random(4, 2)
    for name in ("tridiagonal_solve", "tridiagonal_matmul"):
        check(
            lambda tf, a, b: getattr(tf.linalg, name)(tuple(a[i] for i in range(3)), b, "sequence"),
            a,
            b,
        )
        check(lambda tf, a, b: getattr(tf.linalg, name)(a, b, "matrix"), regular(4, 4), b)
    check(
        lambda tf, a, b: tf.linalg.tridiagonal_solve([a[0, :3], a[1], a[2, 1:]], b, "sequence"),
        a,
        b,
        traced=False,
    )


def test_tridiagonal_solve_of_singular_matrices():
    solve = lambda tf, a, b: tf.linalg.tridiagonal_solve(a, b)  # noqa: E731
    check(solve, np.zeros((3, 3)), np.ones(3), gradient=False, traced=False)
    check(solve, np.zeros((3, 1)), np.ones((1, 1)), gradient=False)
    for flags in ({"partial_pivoting": False}, {"perturb_singular": True}):
        check(
            lambda tf, a, b: tf.linalg.tridiagonal_solve(a, b, **flags),
            np.zeros((3, 3), np.float32),
            np.ones((3, 1), np.float32),
            gradient=False,
        )


def test_tridiagonal_solve_needs_exchanges():
    a = np.array([[2.0, 3.0, 1.0, 0.0], [0.0, 1.0, 0.0, 2.0], [0.0, 4.0, 1.0, 5.0]])
    check(lambda tf, a, b: tf.linalg.tridiagonal_solve(a, b), a, random(4, 2))
    check(
        lambda tf, a, b: tf.linalg.tridiagonal_solve(a, b, perturb_singular=True),
        a,
        random(4, 2),
        gradient=False,
    )


def _call(name, *rest):
    return lambda tf, a, b: getattr(tf.linalg, name)(a, b, *rest)


@pytest.mark.parametrize(
    ("a", "b"),
    [((3, 3), (2, 3, 2)), ((2, 3), (3,)), ((3, 3), (4,)), ((3, 3), (4, 1)), ((3,), (3,))],
)
def test_tridiagonal_solve_refuses(a, b):
    check_raises(_call("tridiagonal_solve"), random(*a), random(*b))


def test_tridiagonal_solve_refuses_formats():
    a, b = random(3, 3), random(3)
    check_raises(_call("tridiagonal_solve", "rows"), a, b)
    check_raises(_call("tridiagonal_matmul", "rows"), a, b)
    check_raises(_call("tridiagonal_solve", "matrix"), random(3, 2), b)
    check_raises(lambda tf, a, b: tf.linalg.tridiagonal_solve((a[0], a[1]), b, "sequence"), a, b)
    check_raises(
        lambda tf, a, b: tf.linalg.tridiagonal_solve((a[0], a[1], a[2, :1]), b, "sequence"), a, b
    )
    check_raises(
        lambda tf, a, b: tf.linalg.tridiagonal_solve(
            a, b, perturb_singular=True, partial_pivoting=False
        ),
        a,
        b,
    )


@settings(max_examples=12)
@given(st.sampled_from([(), (2,), (0,), (2, 1)]), st.integers(0, 4), st.integers(0, 2), DTYPES)
def test_tridiagonal_matmul(batch, size, columns, dtype):
    check(
        lambda tf, a, b: tf.linalg.tridiagonal_matmul(a, b),
        random(*batch, 3, size, dtype=dtype),
        random(*batch, size, columns, dtype=dtype),
    )


@pytest.mark.parametrize(
    ("a", "b"), [((3, 3), (4, 2)), ((3, 3), (3,)), ((3, 3), (2, 3, 2)), ((2, 3), (3, 2))]
)
def test_tridiagonal_matmul_refuses(a, b):
    check_raises(_call("tridiagonal_matmul"), random(*a), random(*b))


@pytest.mark.parametrize(
    "select",
    [{}, {"select": "i", "select_range": (1, 2)}, {"select": "v", "select_range": (0.0, 4.0)}],
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_eigh_tridiagonal(select, dtype):
    alpha, beta = random(4, dtype=dtype).real.astype(dtype) * 3, random(3, dtype=dtype)
    check(lambda tf, a, b: tf.linalg.eigh_tridiagonal(a, b, **select), alpha, beta, gradient=False)

    def projections(tf, a, b):
        e, v = tf.linalg.eigh_tridiagonal(a, b, eigvals_only=False, **select)
        return tf.matmul(v * tf.cast(e, v.dtype), v, adjoint_b=True)

    check(projections, alpha, beta, gradient=False, tolerance=1e-5)


def test_eigh_tridiagonal_gradient():
    """The original differentiates its iterations, which gives other numbers."""
    alpha, beta = runnel.constant(random(4)), runnel.constant(random(3))
    with runnel.GradientTape() as tape:
        tape.watch([alpha, beta])
        total = runnel.reduce_sum(runnel.linalg.eigh_tridiagonal(alpha, beta) ** 2)
    by_alpha, by_beta = tape.gradient(total, [alpha, beta])
    # The sum of the squared eigenvalues is that of the squared elements.
    assert_close(2 * alpha.numpy(), by_alpha.numpy())
    assert_close(4 * beta.numpy(), by_beta.numpy())


def test_eigh_tridiagonal_of_small_matrices():
    check(lambda tf, a, b: tf.linalg.eigh_tridiagonal(a, b), random(1), random(0), gradient=False)
    check(
        lambda tf, a, b: tf.linalg.eigh_tridiagonal(a, b),
        random(0),
        random(0),
        gradient=False,
        traced=False,
    )


def test_eigh_tridiagonal_refuses():
    a, b = random(4), random(3)

    def call(**options):
        return lambda tf, a, b: tf.linalg.eigh_tridiagonal(a, b, **options)

    check_raises(call(select="x"), a, b)
    check_raises(call(select="i"), a, b)
    check_raises(call(select="i", select_range=(2, 1)), a, b)
    check_raises(call(select="v", select_range=(5.0, 0.0)), a, b)
    check_raises(call(), a, a)
    check_raises(call(), a, b.astype(np.float32))


@pytest.mark.parametrize(
    "function",
    [
        runnel.linalg.inv,
        lambda a: runnel.linalg.inv(a, adjoint=True),
        lambda a: runnel.linalg.solve(a, a[:, :1], adjoint=True),
        lambda a: runnel.linalg.triangular_solve(a, a[:, :1], adjoint=True),
        lambda a: runnel.linalg.banded_triangular_solve(a[:2], a[:, 1:], adjoint=True),
        lambda a: runnel.linalg.tridiagonal_solve(a, a[:, 1:]),
        lambda a: runnel.linalg.tridiagonal_matmul(a, a),
        lambda a: runnel.linalg.lstsq(a, a[:, 1:]),
    ],
)
def test_complex_gradients(function):
    assert_complex_derivatives(function, 3, 3, make=regular)


def test_gradient_of_bands_outside_of_the_matrix():
    """One band, and more bands than the matrix has rows: those outside count for nothing."""
    for count in (1, 3):
        bands, rhs = _bands(count, 2, dtype="float64", lower=True), random(2, 1)
        inside = runnel.constant(bands[:2])
        bands = runnel.constant(bands)
        with runnel.GradientTape() as tape:
            tape.watch([bands, inside])
            results = [runnel.linalg.banded_triangular_solve(each, rhs) for each in (bands, inside)]
        whole, part = tape.gradient(results, [bands, inside])
        assert whole.shape == bands.shape
        assert_close(part.numpy(), whole.numpy()[:2])
        assert not whole.numpy()[2:].any()


class Operator:
    """What conjugate gradients ask of a matrix."""

    is_self_adjoint = is_positive_definite = True

    def __init__(self, matrix):
        self.matrix = matrix

    def matvec(self, x):
        return runnel.linalg.matvec(self.matrix, x)


def _operator(tf, matrix):
    if tf is runnel:
        return Operator(matrix)
    return tf.linalg.LinearOperatorFullMatrix(
        matrix, is_self_adjoint=True, is_positive_definite=True
    )


@pytest.mark.parametrize(
    ("a", "b"), [((4, 4), (4,)), ((3, 3), (2, 3)), ((2, 3, 3), (2, 3)), ((2, 3, 3), (3,))]
)
def test_conjugate_gradient(a, b):
    def function(tf, a, b):
        state = tf.linalg.experimental.conjugate_gradient(_operator(tf, a), b)
        return state.i, state.x

    check(function, positive(*a), random(*b), gradient=False, traced=False, tolerance=1e-7)


def test_conjugate_gradient_of_complex_operators():
    """The original takes real ones only."""
    a, b = positive(4, 4, dtype="complex128"), random(4, dtype="complex128")
    state = runnel.linalg.experimental.conjugate_gradient(Operator(runnel.constant(a)), b)
    assert_close(np.linalg.solve(a, b), state.x.numpy(), 1e-7)


@pytest.mark.parametrize(
    "options", [{"max_iter": 2}, {"max_iter": 0}, {"tol": 0.1}, {"tol": 100.0}]
)
def test_conjugate_gradient_options(options):
    def function(tf, a, b):
        solve = tf.linalg.experimental.conjugate_gradient
        state = solve(_operator(tf, a), b, **options)
        better = solve(_operator(tf, a), b, x=b, preconditioner=_operator(tf, tf.linalg.inv(a)))
        return *state, better.i, better.x

    check(function, positive(4, 4), random(4), traced=False, second_order=False, tolerance=1e-7)


def test_conjugate_gradient_refuses_other_operators():
    operator = Operator(np.eye(2))
    operator.is_positive_definite = None
    with pytest.raises(ValueError, match="self-adjoint, positive definite"):
        runnel.linalg.experimental.conjugate_gradient(operator, np.ones(2))
