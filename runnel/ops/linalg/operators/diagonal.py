"""The operator of diagonal matrices."""

from __future__ import annotations

from typing import Any

from ....core.shapes import TensorShape
from ....core.tensor import Tensor
from ...array.joining import concat
from ...array.shaping import sizes_of
from ...math.casting import cast
from ...math.complex import conj
from ...math.elementwise import abs as absolute, log, sqrt
from ...math.reduction import reduce_max, reduce_min, reduce_prod, reduce_sum
from ..diagonal import diag
from ..matmul import adjoint as adjoint_of
from .algebra import commuting_hints, hints_of, rule
from .arguments import given, parameter, require_rank
from .base import LinearOperator
from .checks import assert_no_imaginary_part, assert_no_zeros, assert_positive_real_part
from .dense import LinearOperatorLowerTriangular, scaled_columns, scaled_rows, with_diagonal_added
from .identity import LinearOperatorScaledIdentity


class LinearOperatorDiag(LinearOperator):
    """The operator of a [batch] diagonal matrix.

    >>> tf.linalg.LinearOperatorDiag([1.0, 2.0]).to_dense().numpy().tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """

    _tensor_fields = (("diag", 1),)

    def __init__(
        self,
        diag: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorDiag",
    ) -> None:
        parameters = given(locals())
        self._diag = parameter(diag)
        require_rank(self._diag, 1, "diag")
        if not self._diag.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        if is_square is False:
            raise ValueError("Only square diagonal operators currently supported.")
        super().__init__(
            self._diag.dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=True,
            name=name,
            parameters=parameters,
        )

    @property
    def diag(self) -> Any:
        """The diagonal."""
        return self._diag

    def _shape(self) -> TensorShape:
        shape = self._diag.shape
        return shape.concatenate(shape[-1:]) if shape.rank is not None else TensorShape(None)

    def _shape_tensor(self) -> Tensor:
        sizes = sizes_of(self._diag)
        return concat([sizes, sizes[-1:]], 0)

    def _factors(self, adjoint: bool) -> Tensor:
        return conj(self._diag) if adjoint else self._diag

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._factors(adjoint)[..., None] * (adjoint_of(x) if adjoint_arg else x)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return self._factors(adjoint) * x

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return (adjoint_of(rhs) if adjoint_arg else rhs) / self._factors(adjoint)[..., None]

    def _solvevec(self, rhs: Any, adjoint: bool = False) -> Any:
        return rhs / self._factors(adjoint)

    def _to_dense(self) -> Tensor:
        return diag(self._diag)

    def _diag_part(self) -> Tensor:
        return self._diag

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return with_diagonal_added(x, self._diag)

    def _determinant(self) -> Tensor:
        return reduce_prod(self._diag, -1)

    def _log_abs_determinant(self) -> Tensor:
        return cast(reduce_sum(log(absolute(self._diag)), -1), self._dtype)

    def _eigvals(self) -> Tensor:
        return self._diag

    def _cond(self) -> Tensor:
        sizes = absolute(self._diag)
        return reduce_max(sizes, -1) / reduce_min(sizes, -1)

    def _assert_non_singular(self) -> Any:
        return assert_no_zeros(self._diag, "Singular operator:  Diagonal contained zero values.")

    def _assert_self_adjoint(self) -> Any:
        return assert_no_imaginary_part(
            self._diag, "This diagonal operator contained non-zero imaginary values."
        )

    def _assert_positive_definite(self) -> Any:
        return assert_positive_real_part(
            self._diag,
            "Diagonal operator had diagonal entries with non-positive real part, thus was not "
            "positive definite.",
        )


@rule("adjoint", LinearOperatorDiag)
def _(operator: LinearOperatorDiag) -> LinearOperator:
    return LinearOperatorDiag(conj(operator.diag), **hints_of(operator))


@rule("inverse", LinearOperatorDiag)
def _(operator: LinearOperatorDiag) -> LinearOperator:
    return LinearOperatorDiag(1 / operator.diag, **hints_of(operator))


@rule("cholesky", LinearOperatorDiag)
def _(operator: LinearOperatorDiag) -> LinearOperator:
    return LinearOperatorDiag(
        sqrt(operator.diag),
        is_non_singular=True,
        is_self_adjoint=True,
        is_positive_definite=True,
        is_square=True,
    )


@rule("matmul", LinearOperatorDiag, LinearOperatorDiag)
def _(left: LinearOperatorDiag, right: LinearOperatorDiag) -> LinearOperator:
    return LinearOperatorDiag(left.diag * right.diag, **commuting_hints(left, right))


@rule("matmul", LinearOperatorDiag, LinearOperatorScaledIdentity)
def _(left: LinearOperatorDiag, right: LinearOperatorScaledIdentity) -> LinearOperator:
    return LinearOperatorDiag(
        left.diag * right.multiplier[..., None], **commuting_hints(left, right)
    )


@rule("matmul", LinearOperatorScaledIdentity, LinearOperatorDiag)
def _(left: LinearOperatorScaledIdentity, right: LinearOperatorDiag) -> LinearOperator:
    return LinearOperatorDiag(
        left.multiplier[..., None] * right.diag, **commuting_hints(left, right)
    )


@rule("matmul", LinearOperatorDiag, LinearOperatorLowerTriangular)
def _(left: LinearOperatorDiag, right: LinearOperatorLowerTriangular) -> LinearOperator:
    return _triangular(scaled_rows(left.diag, right), left, right)


@rule("matmul", LinearOperatorLowerTriangular, LinearOperatorDiag)
def _(left: LinearOperatorLowerTriangular, right: LinearOperatorDiag) -> LinearOperator:
    return _triangular(scaled_columns(left, right.diag), left, right)


@rule("solve", LinearOperatorDiag, LinearOperatorDiag)
def _(left: LinearOperatorDiag, right: LinearOperatorDiag) -> LinearOperator:
    return LinearOperatorDiag(right.diag / left.diag, **commuting_hints(left, right))


@rule("solve", LinearOperatorDiag, LinearOperatorScaledIdentity)
def _(left: LinearOperatorDiag, right: LinearOperatorScaledIdentity) -> LinearOperator:
    return LinearOperatorDiag(
        right.multiplier[..., None] / left.diag, **commuting_hints(left, right)
    )


@rule("solve", LinearOperatorScaledIdentity, LinearOperatorDiag)
def _(left: LinearOperatorScaledIdentity, right: LinearOperatorDiag) -> LinearOperator:
    return LinearOperatorDiag(
        right.diag / left.multiplier[..., None], **commuting_hints(left, right)
    )


@rule("solve", LinearOperatorDiag, LinearOperatorLowerTriangular)
def _(left: LinearOperatorDiag, right: LinearOperatorLowerTriangular) -> LinearOperator:
    return _triangular(scaled_rows(1 / left.diag, right), left, right)


def _triangular(tril: Tensor, left: LinearOperator, right: LinearOperator) -> LinearOperator:
    return LinearOperatorLowerTriangular(
        tril, is_non_singular=commuting_hints(left, right)["is_non_singular"], is_square=True
    )
