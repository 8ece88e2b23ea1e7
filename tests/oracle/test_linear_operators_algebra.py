"""Products and solutions of operators stay structured as in the original; so do bad arguments."""

import numpy as np
import pytest
import tensorflow as tf
from test_linear_operators import NAMES, animals, same

import runnel


@pytest.mark.parametrize("name", NAMES)
def test_products_and_solutions(name):
    """The class, the hints and, unless it is a mere composition, the numbers for all pairs."""
    theirs, ours = animals((), "float64")

    def of(library, which):
        return (theirs if library is tf else ours)[which]

    def lazy(value):
        return "Composition" in type(value).__name__

    for other in NAMES:
        same(lambda library: of(library, name).matmul(of(library, other)), f"@ {other}", lazy)
        same(lambda library: of(library, name).solve(of(library, other)), f"solve {other}", lazy)


A = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)


def _full(library, matrix=A, **hints):
    return library.linalg.LinearOperatorFullMatrix(np.asarray(matrix, np.float32), **hints)


def _wide(library):
    return _full(library, np.ones([2, 3]))


def _regular(library):
    return _full(library, is_non_singular=True)


def _singular(library):
    return _full(library, is_non_singular=False)


def _definite(library):
    return _full(library, np.eye(2), is_self_adjoint=True, is_positive_definite=True)


def _diag(library, values=(1.0, 2.0), **hints):
    return library.linalg.LinearOperatorDiag(np.asarray(values, np.float32), **hints)


def _triangle(library, *rows, **hints):
    return library.linalg.LinearOperatorBlockLowerTriangular(list(rows), **hints)


def _low_rank(library, base, *arguments, **hints):
    return library.linalg.LinearOperatorLowRankUpdate(base, *arguments, **hints)


ONES = np.ones([2, 1], np.float32)
CASES = {
    "singular @ regular": lambda t: _singular(t) @ _regular(t),
    "regular solve singular": lambda t: _regular(t).solve(_singular(t)),
    "wide @ tall": lambda t: _wide(t) @ _wide(t).H,
    "A @ A^H": lambda t: (lambda a: a @ a.H)(_regular(t)),
    "A^H @ A": lambda t: (lambda a: a.H @ a)(_full(t)),
    "A @ A of a self-adjoint one": lambda t: (lambda a: a @ a)(_definite(t)),
    "square @ wide": lambda t: _full(t) @ _wide(t),
    "square solve wide": lambda t: _regular(t).solve(_wide(t)),
    "wide zeros": lambda t: (
        t.linalg.LinearOperatorZeros(3, 2, is_square=False, is_self_adjoint=False).H
    ),
    "inverse of an inverse": lambda t: _regular(t).inverse().inverse(),
    "inverse of triangle": lambda t: _triangle(t, [_regular(t)], [_wide(t).H, _rows3(t)]).inverse(),
    "triangle of diagonals": lambda t: _triangle(t, [_diag(t)], [_diag(t), _diag(t)]).inverse(),
    "blocks @ blocks": lambda t: _blocks(t, _full(t), _diag(t)) @ _blocks(t, _diag(t), _diag(t)),
    "a matrix times an operator": lambda t: t.constant(A) @ _diag(t),
    "tf.matmul": lambda t: t.matmul(_full(t), A, adjoint_a=True),
    "tf.linalg.matvec": lambda t: t.linalg.matvec(_full(t), [1.0, 2.0]),
    "tf.linalg.solve": lambda t: t.linalg.solve(_full(t), A),
    "tf.linalg.adjoint": lambda t: t.linalg.adjoint(_full(t)),
    "tf.linalg.inv": lambda t: t.linalg.inv(_full(t)),
    "tf.linalg.cholesky": lambda t: t.linalg.cholesky(_definite(t)),
    "tf.linalg.diag_part": lambda t: t.linalg.diag_part(_full(t)),
    "tf.linalg.trace": lambda t: t.linalg.trace(_full(t)),
    "tf.linalg.det": lambda t: t.linalg.det(_full(t)),
    "tf.linalg.logdet": lambda t: t.linalg.logdet(_definite(t)),
    "blocks of a vector": lambda t: _blocks(t, _full(t), _diag(t)).matvec([ONES[:, 0], ONES[:, 0]]),
    "blocks of a matrix": lambda t: _triangle(t, [_full(t)], [_diag(t), _diag(t)]).matmul(
        [t.constant(ONES), t.constant(ONES)]
    ),
    "update of a definite one": lambda t: _low_rank(t, _definite(t), ONES),
    "update with V": lambda t: _low_rank(t, _definite(t), ONES, v=2 * ONES),
    "batches": lambda t: _full(t, np.ones([3, 4, 2, 2]))[1:, t.newaxis],
    "hermitian kernel": lambda t: t.linalg.LinearOperatorCirculant(
        t.constant([1.0, 2.0, 2.0])
    ).convolution_kernel(),
    "block shape": lambda t: t.linalg.LinearOperatorCirculant2D(
        t.ones([2, 3])
    ).block_shape_tensor(),
}
ERRORS = {
    "integers": lambda t: t.linalg.LinearOperatorFullMatrix([[1, 2], [3, 4]]),
    "a vector": lambda t: _full(t, [1.0, 2.0]),
    "square, said not to be": lambda t: _full(t, is_square=False).is_square,
    "definite and singular": lambda t: _full(t, is_positive_definite=True, is_non_singular=False),
    "determinant of a wide one": lambda t: _wide(t).determinant(),
    "solve of a wide one": lambda t: _wide(t).solve(A),
    "inverse of a wide one": lambda t: _wide(t).inverse(),
    "inverse of a singular one": lambda t: _singular(t).inverse(),
    "solve of a singular one": lambda t: _singular(t).solve(A),
    "eigenvalues": lambda t: _full(t).eigvals(),
    "cholesky": lambda t: _full(t).cholesky(),
    "wrong rows": lambda t: _full(t).matmul(np.ones([3, 2], np.float32)),
    "wrong vector": lambda t: _full(t).matvec(np.ones([3], np.float32)),
    "wrong right side": lambda t: _full(t).solve(np.ones([3, 2], np.float32)),
    "too few dimensions": lambda t: _full(t).matmul(np.ones([2], np.float32)),
    "wrong dtype": lambda t: _full(t).matmul(np.ones([2, 2])),
    "wrong operator": lambda t: _wide(t) @ _wide(t),
    "singular values": lambda t: _full(t, np.ones([2, 2])).solve(A),
    "assert_non_singular": lambda t: _full(t, np.ones([2, 2])).assert_non_singular(),
    "assert_non_singular of zeros": lambda t: _diag(t, [1.0, 0.0]).assert_non_singular(),
    "assert_positive_definite": lambda t: _diag(t, [1.0, -1.0]).assert_positive_definite(),
    "assert_self_adjoint": lambda t: _full(t).assert_self_adjoint(),
    "diagonal, said to be skew": lambda t: _diag(t, is_self_adjoint=False),
    "scalar diagonal": lambda t: t.linalg.LinearOperatorDiag(1.0),
    "negative size": lambda t: t.linalg.LinearOperatorIdentity(-1),
    "fractional size": lambda t: t.linalg.LinearOperatorIdentity(2.0),
    "list of sizes": lambda t: t.linalg.LinearOperatorIdentity([2]),
    "scalar batch": lambda t: t.linalg.LinearOperatorIdentity(2, batch_shape=3),
    "skew identity": lambda t: t.linalg.LinearOperatorIdentity(2, is_self_adjoint=False),
    "regular zeros": lambda t: t.linalg.LinearOperatorZeros(2, is_non_singular=True),
    "wide square zeros": lambda t: t.linalg.LinearOperatorZeros(2, 3),
    "solve of zeros": lambda t: t.linalg.LinearOperatorZeros(2).solve(A),
    "no permutation": lambda t: t.linalg.LinearOperatorPermutation([0, 0]),
    "fractional permutation": lambda t: t.linalg.LinearOperatorPermutation([1.0, 0.0]),
    "positive reflection": lambda t: t.linalg.LinearOperatorHouseholder(
        [1.0, 2.0], is_positive_definite=True
    ),
    "unknown format": lambda t: t.linalg.LinearOperatorTridiag(A, diagonals_format="x"),
    "no factors": lambda t: t.linalg.LinearOperatorKronecker([]),
    "mixed dtypes": lambda t: t.linalg.LinearOperatorComposition(
        [_full(t), t.linalg.LinearOperatorDiag(np.ones(2))]
    ),
    "no list": lambda t: t.linalg.LinearOperatorBlockDiag(_full(t)),
    "factors that do not fit": lambda t: t.linalg.LinearOperatorComposition([_wide(t)] * 2).shape,
    "blocks that differ": lambda t: _blocks(t, _diag(t)) @ _blocks(t, _diag(t, [1]), _diag(t, [1])),
    "short row": lambda t: _triangle(t, [_full(t)], [_full(t)]),
    "block that does not fit": lambda t: _triangle(t, [_full(t)], [_wide(t), _full(t)]),
    "wide block": lambda t: _triangle(t, [_wide(t)]),
    "adjoint hint": lambda t: t.linalg.LinearOperatorAdjoint(_regular(t), is_non_singular=False),
    "inverse of one said singular": lambda t: t.linalg.LinearOperatorInversion(_singular(t)),
    "update that does not fit": lambda t: _low_rank(t, _full(t), np.ones([3, 1], np.float32)),
    "update, said negative": lambda t: _low_rank(t, _full(t), ONES, is_diag_update_positive=False),
    "flat spectrum": lambda t: t.linalg.LinearOperatorCirculant2D(t.ones([2])),
    "row and column": lambda t: t.linalg.LinearOperatorToeplitz([1.0, 2.0], [1.0, 2.0, 3.0]),
    "abstract": lambda t: t.linalg.LinearOperator(t.float32),
    "logdet": lambda t: t.linalg.logdet(_full(t)),
    "of a list": lambda t: t.convert_to_tensor(_full(t)),
}


def _rows3(library):
    return _full(library, np.eye(3) * 2, is_non_singular=True)


def _blocks(library, *operators):
    return library.linalg.LinearOperatorBlockDiag(list(operators))


@pytest.mark.parametrize("name", CASES)
def test_cases(name):
    assert CASES[name](tf) is not None
    same(CASES[name], name)


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    with pytest.raises(Exception) as expected:
        ERRORS[name](tf)
    with pytest.raises(Exception) as actual:
        ERRORS[name](runnel)
    assert type(actual.value).__name__ == type(expected.value).__name__, actual.value


def test_own_subclass():
    """What an operator needs is its shape and its product; the rest follows."""

    def made(library):
        class Twice(library.linalg.LinearOperator):
            def __init__(self, matrix):
                self._matrix = library.convert_to_tensor(matrix)
                super().__init__(
                    self._matrix.dtype, is_square=True, parameters={"matrix": self._matrix}
                )

            def _shape(self):
                return self._matrix.shape

            def _matmul(self, x, adjoint=False, adjoint_arg=False):
                return 2 * library.matmul(self._matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

        return Twice(A)

    for method in ("to_dense", "determinant", "trace", "adjoint", "inverse", "log_abs_determinant"):
        same(lambda library: getattr(made(library), method)(), method)
    same(lambda library: made(library).solve(A), "solve")
    same(lambda library: made(library) @ _diag(library), "product")


def test_variables_are_followed():
    def program(library):
        variable = library.Variable([1.0, 2.0])
        operator = library.linalg.LinearOperatorDiag(variable)
        with library.GradientTape() as tape:
            target = operator.log_abs_determinant()
        gradient = tape.gradient(target, variable)
        variable.assign([3.0, 4.0])
        return gradient, operator.determinant(), len(operator.trainable_variables)

    same(program, "variable")
