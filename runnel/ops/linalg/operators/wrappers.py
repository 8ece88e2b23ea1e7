"""Adjoints and inverses of operators without a specific rule, and the general rules."""

from __future__ import annotations

from typing import Any

from ....core.shapes import TensorShape
from ....core.tensor import Tensor
from ...array.joining import concat
from ...math.complex import conj
from ..decomposition import cholesky
from ..matmul import adjoint as adjoint_of
from .algebra import hints_of, rule
from .arguments import given
from .base import LinearOperator
from .dense import LinearOperatorLowerTriangular


def _agreed(hint: bool | None, known: bool | None, message: str) -> bool | None:
    if hint is not None and known is not None and hint != known:
        raise ValueError(message)
    return known if hint is None else hint


class LinearOperatorAdjoint(LinearOperator):
    """The operator of the conjugate transposes of another operator's matrices.

    >>> operator = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> tf.linalg.LinearOperatorAdjoint(operator).to_dense().numpy().tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    """

    _tensor_fields = (("operator", 2),)

    def __init__(
        self,
        operator: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        parameters = given(locals())
        self._operator = operator
        message = "An operator is {0} if and only if its adjoint is {0}."
        super().__init__(
            operator.dtype,
            is_non_singular=_agreed(
                is_non_singular, operator.is_non_singular, message.format("non-singular")
            ),
            is_self_adjoint=_agreed(
                is_self_adjoint, operator.is_self_adjoint, message.format("self-adjoint")
            ),
            is_positive_definite=_agreed(
                is_positive_definite,
                operator.is_positive_definite,
                message.format("positive-definite"),
            ),
            is_square=_agreed(is_square, operator.is_square, message.format("square")),
            name=name or f"{operator.name}_adjoint",
            parameters=parameters,
        )

    @property
    def operator(self) -> LinearOperator:
        """The operator whose adjoint this is."""
        return self._operator

    def _shape(self) -> TensorShape:
        shape = self._operator.shape
        if shape.rank is None:
            return shape
        return shape[:-2].concatenate([shape[-1], shape[-2]])

    def _shape_tensor(self) -> Tensor:
        sizes = self._operator.shape_tensor()
        return concat([sizes[:-2], sizes[-1:], sizes[-2:-1]], 0)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return self._operator.matvec(x, adjoint=not adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs: Any, adjoint: bool = False) -> Any:
        return self._operator.solvevec(rhs, adjoint=not adjoint)

    def _to_dense(self) -> Tensor:
        return adjoint_of(self._operator.to_dense())

    def _diag_part(self) -> Tensor:
        return conj(self._operator.diag_part())

    def _trace(self) -> Tensor:
        return conj(self._operator.trace())

    def _determinant(self) -> Tensor:
        return conj(self._operator.determinant())

    def _log_abs_determinant(self) -> Tensor:
        return self._operator.log_abs_determinant()

    def _eigvals(self) -> Tensor:
        return conj(self._operator.eigvals())

    def _cond(self) -> Tensor:
        return self._operator.cond()

    def _assert_non_singular(self) -> Any:
        return self._operator.assert_non_singular()

    def _assert_self_adjoint(self) -> Any:
        return self._operator.assert_self_adjoint()

    def _assert_positive_definite(self) -> Any:
        return self._operator.assert_positive_definite()


class LinearOperatorInversion(LinearOperator):
    """The operator of the inverses of another operator's matrices: its matmul is a solve.

    >>> operator = tf.linalg.LinearOperatorDiag([1.0, 2.0])
    >>> tf.linalg.LinearOperatorInversion(operator).matvec([1.0, 1.0]).numpy().tolist()
    [1.0, 0.5]
    """

    _tensor_fields = (("operator", 2),)

    def __init__(
        self,
        operator: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        parameters = given(locals())
        self._operator = operator
        for what, hint in (("is_non_singular", is_non_singular), ("is_square", is_square)):
            known = getattr(operator, what)
            if hint is False or known is False:
                raise ValueError(
                    f"Argument `{what}` or argument `operator` must have supplied hint `{what}` "
                    f"equal to `True` or `None`. Found `operator.{what}`: {known}, `{what}`: "
                    f"{hint}."
                )
        message = "An operator is {0} if and only if its inverse is {0}."
        super().__init__(
            operator.dtype,
            is_non_singular=is_non_singular or operator.is_non_singular,
            is_self_adjoint=_agreed(
                is_self_adjoint, operator.is_self_adjoint, message.format("self-adjoint")
            ),
            is_positive_definite=_agreed(
                is_positive_definite,
                operator.is_positive_definite,
                message.format("positive-definite"),
            ),
            is_square=is_square or operator.is_square,
            name=name or f"{operator.name}_inv",
            parameters=parameters,
        )

    @property
    def operator(self) -> LinearOperator:
        """The operator whose inverse this is."""
        return self._operator

    def _shape(self) -> TensorShape:
        return self._operator.shape

    def _shape_tensor(self) -> Tensor:
        return self._operator.shape_tensor()

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return self._operator.solvevec(x, adjoint=adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs: Any, adjoint: bool = False) -> Any:
        return self._operator.matvec(rhs, adjoint=adjoint)

    def _determinant(self) -> Tensor:
        return 1 / self._operator.determinant()

    def _log_abs_determinant(self) -> Tensor:
        return -self._operator.log_abs_determinant()

    def _eigvals(self) -> Tensor:
        return 1 / self._operator.eigvals()

    def _cond(self) -> Tensor:
        return self._operator.cond()

    def _assert_non_singular(self) -> Any:
        return self._operator.assert_non_singular()

    def _assert_self_adjoint(self) -> Any:
        return self._operator.assert_self_adjoint()

    def _assert_positive_definite(self) -> Any:
        return self._operator.assert_positive_definite()


@rule("adjoint", LinearOperator)
def _(operator: LinearOperator) -> LinearOperator:
    return LinearOperatorAdjoint(operator, **hints_of(operator))


@rule("adjoint", LinearOperatorAdjoint)
@rule("inverse", LinearOperatorInversion)
def _(operator: Any) -> LinearOperator:
    return operator.operator


@rule("inverse", LinearOperator)
def _(operator: LinearOperator) -> LinearOperator:
    return LinearOperatorInversion(operator, **hints_of(operator))


@rule("cholesky", LinearOperator)
def _(operator: LinearOperator) -> LinearOperator:
    return LinearOperatorLowerTriangular(
        cholesky(operator.to_dense()), is_non_singular=True, is_self_adjoint=False, is_square=True
    )


@rule("solve", LinearOperatorInversion, LinearOperator)
def _(left: LinearOperatorInversion, right: LinearOperator) -> LinearOperator:
    return left.operator.matmul(right)
