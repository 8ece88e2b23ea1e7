"""The operator of a Kronecker product."""

from __future__ import annotations

from math import prod
from typing import Any

from ....core.convert import convert_to_tensor
from ....core.dtypes import int32
from ....core.shapes import TensorShape
from ....core.tensor import Tensor
from ...array.joining import concat
from ...array.shaping import reshape, sizes_of
from ...math.arithmetic import pow as power
from ...math.casting import cast
from ...math.reduction import reduce_prod
from ..matmul import adjoint as adjoint_of, matrix_transpose
from .algebra import hints_of, rule
from .arguments import common_batch, common_batch_tensor, given
from .base import LinearOperator
from .composition import implied, operator_list


def _outer(left: Tensor, right: Tensor) -> Tensor:
    """The flattened outer product of two [batch] vectors."""
    product = left[..., :, None] * right[..., None, :]
    sizes = sizes_of(product)
    flat = reshape(product, concat([sizes[:-2], sizes[-2:-1] * sizes[-1:]], 0))
    if product.shape.rank is not None and None not in product.shape.as_list()[-2:]:
        flat.set_shape(product.shape[:-2].concatenate([prod(product.shape.as_list()[-2:])]))
    return flat


class LinearOperatorKronecker(LinearOperator):
    """The operator of the Kronecker product of others.

    >>> factors = [tf.linalg.LinearOperatorDiag([1.0, 2.0]), tf.linalg.LinearOperatorIdentity(2)]
    >>> tf.linalg.LinearOperatorKronecker(factors).diag_part().numpy().tolist()
    [1.0, 1.0, 2.0, 2.0]
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
        message = "The Kronecker product of {0} operators is always {0}."
        if all(each.is_square for each in self._operators):
            is_non_singular = implied(
                self._operators, "is_non_singular", is_non_singular, message.format("non-singular")
            )
            is_self_adjoint = implied(
                self._operators, "is_self_adjoint", is_self_adjoint, message.format("self-adjoint")
            )
        is_positive_definite = implied(
            self._operators,
            "is_positive_definite",
            is_positive_definite,
            message.format("positive-definite"),
        )
        super().__init__(
            self._operators[0].dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=is_square,
            name=name or "_x_".join(each.name for each in self._operators),
            parameters=parameters,
        )

    @property
    def operators(self) -> list[LinearOperator]:
        """The factors."""
        return self._operators

    def _shape(self) -> TensorShape:
        rows, columns = zip(*[each._static_sizes() for each in self._operators], strict=True)
        batch = common_batch(each.batch_shape for each in self._operators)
        return batch.concatenate(
            [None if None in sizes else prod(sizes) for sizes in (rows, columns)]
        )

    def _shape_tensor(self) -> Tensor:
        batch = common_batch_tensor(each.batch_shape_tensor() for each in self._operators)
        sizes = self._operators[0].shape_tensor()[-2:]
        for operator in self._operators[1:]:
            sizes = sizes * operator.shape_tensor()[-2:]
        return concat([batch, sizes], 0)

    def _each_in_turn(self, x: Tensor, method: str, adjoint: bool) -> Tensor:
        """Apply matmul or solve with every factor to its own dimension of the rows of `x`.

        With the columns of `x` moved to the front, the last factor's dimension is the last.
        Multiplied and moved to the front, it makes the previous factor's dimension the last one; in
        the end all dimensions are in order again, and the columns come last.
        """
        columns = sizes_of(x)[-1:]
        x = matrix_transpose(x)
        for operator in self._operators[::-1]:
            narrows = (method == "matmul") != adjoint
            size = operator.shape_tensor()[-1 if narrows else -2]
            sizes = sizes_of(x)
            rest = reduce_prod(sizes[-2:]) // size
            x = reshape(x, concat([sizes[:-2], rest[None], size[None]], 0))
            x = getattr(operator, method)(matrix_transpose(x), adjoint=adjoint)
        sizes = sizes_of(x)
        rows = reduce_prod(sizes[-2:])[None] // columns
        return reshape(x, concat([sizes[:-2], rows, columns], 0))

    def _in_turn(self, x: Any, method: str, adjoint: bool, adjoint_arg: bool) -> Tensor:
        x = adjoint_of(x) if adjoint_arg else x
        result = self._each_in_turn(x, method, adjoint)
        rows, columns = self._static_sizes()
        if x.shape.rank is not None and self.tensor_rank is not None:
            batch = common_batch([self.batch_shape, x.shape[:-2]])
            size = rows if (method == "matmul") != adjoint else columns
            result.set_shape(batch.concatenate([size, x.shape[-1]]))
        return result

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._in_turn(x, "matmul", adjoint, adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._in_turn(rhs, "solve", adjoint, adjoint_arg)

    def _diag_part(self) -> Tensor:
        if not all(each.is_square for each in self._operators):
            return super()._diag_part()
        return self._outer_of("diag_part")

    def _outer_of(self, method: str) -> Tensor:
        result = getattr(self._operators[0], method)()
        for operator in self._operators[1:]:
            result = _outer(result, getattr(operator, method)())
        return result

    def _product_of(self, method: str) -> Tensor:
        result = getattr(self._operators[0], method)()
        for operator in self._operators[1:]:
            result = result * getattr(operator, method)()
        return result

    def _trace(self) -> Tensor:
        if not all(each.is_square for each in self._operators):
            return super()._trace()
        return self._product_of("trace")

    def _multiplicities(self) -> list[Tensor]:
        """The exponent of every factor's determinant in that of the Kronecker product."""
        sizes = [each.domain_dimension_tensor() for each in self._operators]
        total = convert_to_tensor(1, int32)
        for size in sizes:
            total = total * size
        return [total // size for size in sizes]

    def _determinant(self) -> Tensor:
        result: Any = None
        for operator, count in zip(self._operators, self._multiplicities(), strict=True):
            factor = power(operator.determinant(), cast(count, self._dtype))
            result = factor if result is None else result * factor
        return result

    def _log_abs_determinant(self) -> Tensor:
        result: Any = None
        for operator, count in zip(self._operators, self._multiplicities(), strict=True):
            logarithm = operator.log_abs_determinant()
            term = logarithm * cast(count, logarithm.dtype)
            result = term if result is None else result + term
        return result

    def _eigvals(self) -> Tensor:
        return self._outer_of("eigvals")

    def _cond(self) -> Tensor:
        return self._product_of("cond")

    def _assert_non_singular(self) -> Any:
        if all(each.is_square for each in self._operators):
            return [each.assert_non_singular() for each in self._operators][-1]
        return super()._assert_non_singular()

    def _assert_self_adjoint(self) -> Any:
        if all(each.is_square for each in self._operators):
            return [each.assert_self_adjoint() for each in self._operators][-1]
        return super()._assert_self_adjoint()


@rule("adjoint", LinearOperatorKronecker)
def _(operator: LinearOperatorKronecker) -> LinearOperator:
    factors = [each.adjoint() for each in operator.operators]
    return LinearOperatorKronecker(factors, **hints_of(operator))


@rule("inverse", LinearOperatorKronecker)
def _(operator: LinearOperatorKronecker) -> LinearOperator:
    factors = [each.inverse() for each in operator.operators]
    return LinearOperatorKronecker(factors, **hints_of(operator))


@rule("cholesky", LinearOperatorKronecker)
def _(operator: LinearOperatorKronecker) -> LinearOperator:
    factors = [each.cholesky() for each in operator.operators]
    return LinearOperatorKronecker(factors, is_non_singular=True, is_square=True)
