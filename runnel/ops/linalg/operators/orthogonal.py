"""Orthogonal operators: permutations and Householder reflections."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.convert import constant_value
from ....core.dtypes import as_dtype, float32
from ....core.errors import InvalidArgumentError
from ....core.shapes import TensorShape
from ....core.tensor import Tensor
from ...array.creation import ones, range as counting, zeros
from ...array.gathering import gather
from ...array.joining import concat
from ...array.selection import one_hot
from ...array.shaping import expand_dims, sizes_of, squeeze
from ...math.casting import cast
from ...math.comparison import equal
from ...math.complex import conj
from ...math.reduction import reduce_sum
from ...math.sorting import argsort
from ...math.statistics import l2_normalize
from ..diagonal import band_part
from ..matmul import adjoint as adjoint_of, matmul
from .algebra import rule
from .arguments import given, parameter, require_rank, with_common_batch
from .base import LinearOperator
from .dense import with_diagonal_added


def _square(shape: TensorShape) -> TensorShape:
    return shape if shape.rank is None else shape.concatenate(shape[-1:])


class LinearOperatorPermutation(LinearOperator):
    """A permutation of rows: row `i` of the result is row `perm[i]` of the argument.

    >>> tf.linalg.LinearOperatorPermutation([1, 2, 0]).matvec([5.0, 6.0, 7.0]).numpy().tolist()
    [6.0, 7.0, 5.0]
    """

    _tensor_fields = (("perm", 1),)

    def __init__(
        self,
        perm: Any,
        dtype: Any = float32,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorPermutation",
    ) -> None:
        parameters = given(locals())
        for what, hint in (("non-singular", is_non_singular), ("square", is_square)):
            if hint is False:
                raise ValueError(
                    f"A Permutation operator is always {what}. Expected argument "
                    f"`is_{what.replace('-', '_')}` to be True. Received: False."
                )
        self._perm = parameter(perm)
        if not self._perm.dtype.is_integer:
            raise TypeError(f"Argument `perm` must be integer dtype. Received: {self._perm}.")
        require_rank(self._perm, 1, "perm")
        known = constant_value(self._perm) if isinstance(self._perm, Tensor) else None
        if known is not None and np.any(np.sort(known, -1) != np.arange(known.shape[-1])):
            raise ValueError(
                "Argument `perm` must be a vector of unique integers from 0 to "
                f"{known.shape[-1] - 1}."
            )
        super().__init__(
            as_dtype(dtype),
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=is_square,
            name=name,
            parameters=parameters,
        )

    @property
    def perm(self) -> Any:
        """The permutation: the argument's row indices, in the order of the result."""
        return self._perm

    def _shape(self) -> TensorShape:
        return _square(self._perm.shape)

    def _shape_tensor(self) -> Tensor:
        sizes = sizes_of(self._perm)
        return concat([sizes, sizes[-1:]], 0)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        perm = argsort(self._perm) if adjoint else self._perm
        if perm.shape.rank == 1:
            return gather(x, perm, axis=-2)
        perm, x = with_common_batch([expand_dims(perm, -1), x])
        return gather(x, squeeze(perm, -1), axis=-2, batch_dims=x.shape.rank - 2)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _to_dense(self) -> Tensor:
        size = self._perm.shape[-1] if self._perm.shape.rank is not None else None
        depth = sizes_of(self._perm)[-1] if size is None else size
        return one_hot(self._perm, depth, dtype=self._dtype)

    def _diag_part(self) -> Tensor:
        places = counting(sizes_of(self._perm)[-1])
        return cast(equal(cast(self._perm, places.dtype), places), self._dtype)

    def _determinant(self) -> Tensor:
        """The sign of the permutation: 1 for an even one, -1 for an odd one."""
        swapped = cast(self._perm[..., :, None] > self._perm[..., None, :], self._perm.dtype)
        count = reduce_sum(band_part(swapped, 0, -1), [-2, -1])
        return cast(1 - 2 * (count % 2), self._dtype)

    def _log_abs_determinant(self) -> Tensor:
        return zeros(self.batch_shape_tensor(), self._dtype)

    def _cond(self) -> Tensor:
        return ones(self.batch_shape_tensor(), self._dtype)

    def _assert_non_singular(self) -> Any:
        return None


class LinearOperatorHouseholder(LinearOperator):
    """The reflection `I - 2 v v^H` at the hyperplane orthogonal to a vector `v`.

    >>> tf.linalg.LinearOperatorHouseholder([0.0, 2.0]).matvec([3.0, 4.0]).numpy().tolist()
    [3.0, -4.0]
    """

    _tensor_fields = (("reflection_axis", 1),)

    def __init__(
        self,
        reflection_axis: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorHouseholder",
    ) -> None:
        parameters = given(locals())
        self._reflection_axis = parameter(reflection_axis)
        require_rank(self._reflection_axis, 1, "reflection_axis")
        if is_self_adjoint is False:
            raise ValueError("A Householder operator is always self adjoint.")
        if is_positive_definite:
            raise ValueError("A Householder operator is always non-positive definite.")
        if is_square is False:
            raise ValueError("A Householder operator is always square.")
        super().__init__(
            self._reflection_axis.dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=True,
            is_positive_definite=False,
            is_square=True,
            name=name,
            parameters=parameters,
        )

    @property
    def reflection_axis(self) -> Any:
        """The vector that the reflection negates."""
        return self._reflection_axis

    def _shape(self) -> TensorShape:
        return _square(self._reflection_axis.shape)

    def _shape_tensor(self) -> Tensor:
        sizes = sizes_of(self._reflection_axis)
        return concat([sizes, sizes[-1:]], 0)

    def _column(self) -> Tensor:
        return l2_normalize(self._reflection_axis, axis=-1)[..., None]

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        column = self._column()
        return x - 2 * column * matmul(column, x, adjoint_a=True)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _to_dense(self) -> Tensor:
        column = self._column()
        reflected = -2 * matmul(column, column, adjoint_b=True)
        return with_diagonal_added(reflected, ones(sizes_of(reflected)[-1:], self._dtype))

    def _diag_part(self) -> Tensor:
        column = squeeze(self._column(), -1)
        return 1 - 2 * column * conj(column)

    def _trace(self) -> Tensor:
        size = cast(self.domain_dimension_tensor(), self._dtype)
        return (size - 2) * ones(self.batch_shape_tensor(), self._dtype)

    def _determinant(self) -> Tensor:
        return -ones(self.batch_shape_tensor(), self._dtype)

    def _log_abs_determinant(self) -> Tensor:
        return zeros(self.batch_shape_tensor(), self._dtype)

    def _eigvals(self) -> Tensor:
        positive = ones(self.shape_tensor()[:-1], self._dtype)
        return concat([-positive[..., :1], positive[..., 1:]], -1)

    def _cond(self) -> Tensor:
        return ones(self.batch_shape_tensor(), self._dtype)

    def _assert_non_singular(self) -> Any:
        return None

    def _assert_self_adjoint(self) -> Any:
        return None

    def _assert_positive_definite(self) -> Any:
        raise InvalidArgumentError(
            None, None, "Householder operators are always non-positive definite."
        )


@rule("inverse", LinearOperatorHouseholder)
def _(operator: LinearOperatorHouseholder) -> LinearOperator:
    return operator
