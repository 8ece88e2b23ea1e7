"""The operator of a low-rank update of another operator."""

from __future__ import annotations

from typing import Any

from ....core.shapes import TensorShape, broadcast_shapes
from ....core.tensor import Tensor
from ...array.joining import concat
from ...array.shaping import sizes_of
from ...math.complex import conj
from ...math.elementwise import exp
from ...math.reduction import reduce_sum
from ..diagonal import diag
from ..functions import det, slogdet
from ..matmul import adjoint as adjoint_of, matmul
from ..solve import solve as solve_dense
from .arguments import (
    common_batch,
    common_batch_tensor,
    given,
    parameter,
    require_rank,
    require_size,
    with_common_batch,
)
from .base import LinearOperator
from .composition import require_hint
from .diagonal import LinearOperatorDiag
from .identity import LinearOperatorIdentity


class LinearOperatorLowRankUpdate(LinearOperator):
    """The operator `L + U @ D @ V^H` of an operator `L`, thin `U` and `V` and a diagonal `D`.

    Solves use the Woodbury identity: as cheap as those of `L` and of a small matrix, `inv(L) -
    inv(L) U inv(inv(D) + V^H inv(L) U) V^H inv(L)`.

    >>> base = tf.linalg.LinearOperatorIdentity(2)
    >>> operator = tf.linalg.LinearOperatorLowRankUpdate(base, [[1.0], [1.0]])
    >>> operator.to_dense().numpy().tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """

    _tensor_fields = (("base_operator", 2), ("u", 2), ("diag_update", 1), ("v", 2))

    def __init__(
        self,
        base_operator: Any,
        u: Any,
        diag_update: Any = None,
        v: Any = None,
        is_diag_update_positive: bool | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorLowRankUpdate",
    ) -> None:
        parameters = given(locals())
        self._base_operator = base_operator
        self._u = parameter(u)
        self._diag_update = None if diag_update is None else parameter(diag_update)
        self._v = self._u if v is None else parameter(v)
        if diag_update is None:
            if is_diag_update_positive is False:
                raise ValueError(
                    "Default diagonal is the identity, which is positive. However, user set "
                    "'is_diag_update_positive' to False."
                )
            is_diag_update_positive = True
        real = self._diag_update is None or not self._diag_update.dtype.is_complex
        if v is None and base_operator.is_self_adjoint and (real or is_diag_update_positive):
            is_self_adjoint = require_hint(
                is_self_adjoint,
                "A = L + UDU^H, with L self-adjoint and D real diagonal. Since UDU^H is "
                "self-adjoint, this must be a self-adjoint operator.",
            )
            if base_operator.is_positive_definite and is_diag_update_positive:
                message = "Arguments imply this is self-adjoint positive-definite operator."
                is_positive_definite = require_hint(is_positive_definite, message)
                is_non_singular = require_hint(is_non_singular, message)
        self._is_diag_update_positive = is_diag_update_positive
        self._check_shapes()
        super().__init__(
            base_operator.dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=is_square,
            name=name,
            parameters=parameters,
        )
        parameters = dict(self._parameters)
        self._parameters = {**parameters, "is_diag_update_positive": is_diag_update_positive}

    def _check_shapes(self) -> None:
        require_rank(self._u, 2, "u")
        require_rank(self._v, 2, "v")
        if self._u.shape.rank is None or self._v.shape.rank is None:
            return
        broadcast_shapes(self._u.shape, self._v.shape)
        require_size(self._base_operator._static_sizes()[1], self._u.shape[-2])
        if self._diag_update is not None:
            require_rank(self._diag_update, 1, "diag_update")
            if self._diag_update.shape.rank is not None:
                require_size(self._u.shape[-1], self._diag_update.shape[-1])

    @property
    def base_operator(self) -> LinearOperator:
        """The operator `L`."""
        return self._base_operator

    @property
    def u(self) -> Any:
        """The thin matrix `U`."""
        return self._u

    @property
    def v(self) -> Any:
        """The thin matrix `V`, by default `U`."""
        return self._v

    @property
    def diag_update(self) -> Any:
        """The diagonal of `D`, or None for the identity."""
        return self._diag_update

    @property
    def is_diag_update_positive(self) -> bool | None:
        """The hint that the diagonal of `D` is positive."""
        return self._is_diag_update_positive

    @property
    def diag_operator(self) -> LinearOperator:
        """The operator `D`."""
        if self._diag_update is None:
            size = self._u.shape[-1] if self._u.shape.rank is not None else None
            rows = sizes_of(self._u)[-1] if size is None else size
            return LinearOperatorIdentity(rows, dtype=self._dtype)
        return LinearOperatorDiag(
            self._diag_update, is_positive_definite=self._is_diag_update_positive
        )

    def _shape(self) -> TensorShape:
        base = self._base_operator.shape
        parts = [base[:-2], self._u.shape[:-2], self._v.shape[:-2]]
        if self._diag_update is not None:
            parts.append(self._diag_update.shape[:-1])
        return common_batch(parts).concatenate(base[-2:])

    def _shape_tensor(self) -> Tensor:
        base = self._base_operator.shape_tensor()
        parts = [base[:-2], sizes_of(self._u)[:-2], sizes_of(self._v)[:-2]]
        if self._diag_update is not None:
            parts.append(sizes_of(self._diag_update)[:-1])
        return concat([common_batch_tensor(parts), base[-2:]], 0)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        inner = matmul(right, x, adjoint_a=True, adjoint_b=adjoint_arg)
        inner = self.diag_operator.matmul(inner, adjoint=adjoint)
        base = self._base_operator.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        return base + matmul(left, inner)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        if self._base_operator.is_non_singular is False:
            raise ValueError(
                "Solve not implemented unless this is a perturbation of a non-singular "
                "LinearOperator."
            )
        base = self._base_operator
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        solution = base.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        small, inner = with_common_batch(
            [self._capacitance(), matmul(right, solution, adjoint_a=True)]
        )
        inner = solve_dense(small, inner, adjoint=adjoint)
        return solution - base.solve(matmul(left, inner), adjoint=adjoint)

    def _capacitance(self) -> Tensor:
        """`inv(D) + V^H inv(L) U`, a matrix of the size of the update's rank."""
        inner = matmul(self._v, self._base_operator.solve(self._u), adjoint_a=True)
        if self._diag_update is None:
            return self.diag_operator.add_to_tensor(inner)
        return inner + diag(1 / self._diag_update)

    def _to_dense(self) -> Tensor:
        right = adjoint_of(self._v)
        return self._base_operator.to_dense() + matmul(self._u, self.diag_operator.matmul(right))

    def _diag_part(self) -> Tensor:
        products = self._u * conj(self._v)
        if self._diag_update is not None:
            products = products * self._diag_update[..., None, :]
        return self._base_operator.diag_part() + reduce_sum(products, -1)

    def _determinant(self) -> Tensor:
        if self.is_positive_definite:
            return exp(self.log_abs_determinant())
        factors = det(self._capacitance()) * self.diag_operator.determinant()
        return factors * self._base_operator.determinant()

    def _log_abs_determinant(self) -> Tensor:
        terms = slogdet(self._capacitance())[1] + self._base_operator.log_abs_determinant()
        if self._diag_update is None:
            return terms
        return terms + self.diag_operator.log_abs_determinant()
