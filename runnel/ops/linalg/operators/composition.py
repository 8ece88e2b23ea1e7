"""The composition of operators, and its general rules."""

from __future__ import annotations

from typing import Any

from ....core.shapes import TensorShape
from ....core.tensor import Tensor
from ...array.joining import concat
from ...debugging import assert_proper_iterable
from .algebra import both, rule
from .arguments import common_batch, common_batch_tensor, given, require_size
from .base import LinearOperator
from .wrappers import LinearOperatorAdjoint, LinearOperatorInversion


def operator_list(operators: Any) -> list[LinearOperator]:
    """A non-empty list of operators of the same dtype."""
    assert_proper_iterable(operators)
    operators = list(operators)
    if not operators:
        raise ValueError(f"Expected a non-empty list of operators. Found: {operators}")
    if any(each.dtype is not operators[0].dtype for each in operators):
        found = ", ".join(f"{each.name}: {each.dtype.name}" for each in operators)
        raise TypeError(f"Expected all operators to have the same dtype. Found {found}")
    return operators


def require_hint(hint: bool | None, message: str) -> bool:
    """True, which the operators imply; ValueError if the hint is False."""
    if hint is False:
        raise ValueError(message)
    return True


def implied(
    operators: list[LinearOperator], hint: str, said: bool | None, message: str
) -> bool | None:
    """The given hint, or True where all operators have it and so imply it."""
    return require_hint(said, message) if all(getattr(each, hint) for each in operators) else said


def _is_gram(left: LinearOperator, right: LinearOperator) -> bool:
    """Whether `left @ right` is of the form `A @ A^H`."""
    if left is right:
        return bool(left.is_self_adjoint)
    if isinstance(left, LinearOperatorAdjoint) and left.operator is right:
        return True
    return isinstance(right, LinearOperatorAdjoint) and right.operator is left


class LinearOperatorComposition(LinearOperator):
    """The operator `A1 @ A2 @ ...`, whose dense matrix is never computed.

    >>> double = tf.linalg.LinearOperatorScaledIdentity(2, 2.0)
    >>> full = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> tf.linalg.LinearOperatorComposition([double, full]).to_dense().numpy().tolist()
    [[2.0, 4.0], [6.0, 8.0]]
    """

    _tensor_fields = (("operators", 2),)

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        parameters = given(locals())
        self._operators = operator_list(operators)
        message = "The composition of non-singular operators is always non-singular."
        is_non_singular = implied(self._operators, "is_non_singular", is_non_singular, message)
        if len(self._operators) == 2 and _is_gram(*self._operators):
            form = "have the form A @ A.H, hence it must be"
            wrong = "The user provided an incorrect `False` hint."
            is_self_adjoint = require_hint(
                is_self_adjoint, f"The composition was determined to {form} self-adjoint. {wrong}"
            )
            if is_non_singular:
                is_positive_definite = require_hint(
                    is_positive_definite,
                    "The composition was determined to be non-singular and "
                    f"{form} positive-definite. {wrong}",
                )
        super().__init__(
            self._operators[0].dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=is_square,
            name=name or "_o_".join(each.name for each in self._operators),
            parameters=parameters,
        )

    @property
    def operators(self) -> list[LinearOperator]:
        """The factors."""
        return self._operators

    def _shape(self) -> TensorShape:
        for left, right in zip(self._operators, self._operators[1:], strict=False):
            require_size(left._static_sizes()[1], right._static_sizes()[0])
        batch = common_batch(each.batch_shape for each in self._operators)
        rows, columns = (
            self._operators[0]._static_sizes()[0],
            self._operators[-1]._static_sizes()[1],
        )
        return batch.concatenate([rows, columns])

    def _shape_tensor(self) -> Tensor:
        batch = common_batch_tensor(each.batch_shape_tensor() for each in self._operators)
        rows = self._operators[0].range_dimension_tensor()
        return concat([batch, rows[None], self._operators[-1].domain_dimension_tensor()[None]], 0)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        for operator in self._operators if adjoint else self._operators[::-1]:
            x = operator.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
            adjoint_arg = False
        return x

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        for operator in self._operators[::-1] if adjoint else self._operators:
            rhs = operator.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
            adjoint_arg = False
        return rhs

    def _determinant(self) -> Tensor:
        if not all(each.is_square for each in self._operators):
            return super()._determinant()
        result = self._operators[0].determinant()
        for operator in self._operators[1:]:
            result = result * operator.determinant()
        return result

    def _log_abs_determinant(self) -> Tensor:
        if not all(each.is_square for each in self._operators):
            return super()._log_abs_determinant()
        result = self._operators[0].log_abs_determinant()
        for operator in self._operators[1:]:
            result = result + operator.log_abs_determinant()
        return result

    def _assert_non_singular(self) -> Any:
        if all(each.is_square for each in self._operators):
            return [each.assert_non_singular() for each in self._operators][-1]
        return super()._assert_non_singular()


def _hints(left: LinearOperator, right: LinearOperator) -> dict[str, Any]:
    """The hints of a composition, of which only the hints of its factors are known."""
    hints: dict[str, Any] = {
        "is_non_singular": both(left.is_non_singular, right.is_non_singular),
    }
    if left.is_square and right.is_square:
        hints["is_square"] = True
    elif None not in (left.is_square, right.is_square) and left.is_square != right.is_square:
        names = "is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square"
        hints = dict.fromkeys(names, False)
    return hints


@rule("matmul", LinearOperator, LinearOperator)
def _(left: LinearOperator, right: LinearOperator) -> LinearOperator:
    return LinearOperatorComposition([left, right], **_hints(left, right))


@rule("solve", LinearOperator, LinearOperator)
def _(left: LinearOperator, right: LinearOperator) -> LinearOperator:
    inverse = LinearOperatorInversion(left)
    return LinearOperatorComposition([inverse, right], **_hints(left, right))
