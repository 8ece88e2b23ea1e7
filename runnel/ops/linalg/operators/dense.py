"""Operators of dense and lower triangular matrices."""

from __future__ import annotations

from typing import Any

from ....core.convert import convert_to_tensor
from ....core.dtypes import complex64, complex128, float16, float32, float64
from ....core.shapes import TensorShape
from ....core.tensor import Tensor
from ...array.shaping import sizes_of
from ...math.elementwise import abs as absolute, log
from ...math.reduction import reduce_prod, reduce_sum
from ..diagonal import band_part, diag_part, set_diag
from ..matmul import adjoint as adjoint_of, matmul
from ..solve import triangular_solve
from .arguments import given, parameter, require_rank, with_common_batch
from .base import LinearOperator
from .checks import assert_no_zeros

_MATRIX_DTYPES = (float16, float32, float64, complex64, complex128)


def _require_matrix(matrix: Any, what: str) -> None:
    if matrix.dtype not in _MATRIX_DTYPES:
        names = ", ".join(f"tf.{dtype.name}" for dtype in _MATRIX_DTYPES)
        raise TypeError(
            f"Argument `{what}` must have dtype in [{names}]. Received: {matrix.dtype!r}."
        )
    require_rank(matrix, 2, what)


class LinearOperatorFullMatrix(LinearOperator):
    """The operator of a dense [batch] matrix.

    >>> operator = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> operator.matvec([1.0, 1.0]).numpy().tolist()
    [3.0, 7.0]
    """

    _tensor_fields = (("matrix", 2),)

    def __init__(
        self,
        matrix: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorFullMatrix",
    ) -> None:
        parameters = given(locals())
        self._matrix = parameter(matrix)
        _require_matrix(self._matrix, "matrix")
        super().__init__(
            self._matrix.dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=is_square,
            name=name,
            parameters=parameters,
        )

    @property
    def matrix(self) -> Any:
        """The dense matrix."""
        return self._matrix

    def _shape(self) -> TensorShape:
        return self._matrix.shape

    def _shape_tensor(self) -> Tensor:
        return sizes_of(self._matrix)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return matmul(self._matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _to_dense(self) -> Tensor:
        return convert_to_tensor(self._matrix)


class LinearOperatorLowerTriangular(LinearOperator):
    """The operator of the lower triangle of a [batch] matrix; the upper one is not read.

    >>> operator = tf.linalg.LinearOperatorLowerTriangular([[1.0, 9.0], [3.0, 4.0]])
    >>> operator.to_dense().numpy().tolist()
    [[1.0, 0.0], [3.0, 4.0]]
    """

    _tensor_fields = (("tril", 2),)

    def __init__(
        self,
        tril: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorLowerTriangular",
    ) -> None:
        parameters = given(locals())
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        self._tril = parameter(tril)
        _require_matrix(self._tril, "tril")
        super().__init__(
            self._tril.dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=True,
            name=name,
            parameters=parameters,
        )

    @property
    def tril(self) -> Any:
        """The matrix given, of which only the lower triangle is read."""
        return self._tril

    def _shape(self) -> TensorShape:
        return self._tril.shape

    def _shape_tensor(self) -> Tensor:
        return sizes_of(self._tril)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return matmul(self._to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        matrix, rhs = with_common_batch([self._to_dense(), rhs])
        return triangular_solve(matrix, rhs, lower=True, adjoint=adjoint)

    def _to_dense(self) -> Tensor:
        return band_part(self._tril, -1, 0)

    def _diag_part(self) -> Tensor:
        return diag_part(self._tril)

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return self._to_dense() + x

    def _determinant(self) -> Tensor:
        return reduce_prod(self._diag_part(), -1)

    def _log_abs_determinant(self) -> Tensor:
        return reduce_sum(log(absolute(self._diag_part())), -1)

    def _eigvals(self) -> Tensor:
        return self._diag_part()

    def _assert_non_singular(self) -> Any:
        return assert_no_zeros(
            self._diag_part(), "Singular operator:  Diagonal contained zero values."
        )


def scaled_rows(diagonal: Tensor, operator: LinearOperatorLowerTriangular) -> Tensor:
    """`diag(diagonal) @ tril`."""
    return diagonal[..., None] * operator.to_dense()


def scaled_columns(operator: LinearOperatorLowerTriangular, diagonal: Tensor) -> Tensor:
    """`tril @ diag(diagonal)`."""
    return operator.to_dense() * diagonal[..., None, :]


def with_diagonal_added(matrix: Tensor, diagonal: Tensor) -> Tensor:
    """The matrix with a vector added to its main diagonal."""
    return set_diag(matrix, diag_part(matrix) + diagonal)
