"""The operator of tridiagonal matrices."""

from __future__ import annotations

from typing import Any

from ....core.convert import convert_to_tensor
from ....core.shapes import TensorShape
from ....core.tensor import Tensor
from ...array.creation import zeros_like
from ...array.joining import concat, stack
from ...array.shaping import sizes_of
from ...debugging import assert_equal
from ...math.complex import conj
from ..banded import tridiagonal_solve
from ..diagonal import diag, diag_part
from ..matmul import adjoint as adjoint_of
from .arguments import common_batch, common_batch_tensor, given, parameter, with_common_batch
from .base import LinearOperator
from .checks import assert_no_imaginary_part

_FORMATS = ("compact", "matrix", "sequence")


class LinearOperatorTridiag(LinearOperator):
    """The operator of a [batch] tridiagonal matrix, given by its three diagonals.

    `diagonals` is a tensor `[..., 3, N]` ("compact"), three of `[..., N]` ("sequence"), from the
    upper one to the lower, or a matrix ("matrix"). The last entry of the upper diagonal and the
    first of the lower one are not read.

    >>> diagonals = [[1.0, 0.0], [5.0, 6.0], [0.0, 2.0]]
    >>> tf.linalg.LinearOperatorTridiag(diagonals).to_dense().numpy().tolist()
    [[5.0, 1.0], [2.0, 6.0]]
    """

    _tensor_fields = (("diagonals", 2),)

    def __init__(
        self,
        diagonals: Any,
        diagonals_format: str = "compact",
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorTridiag",
    ) -> None:
        parameters = given(locals())
        if diagonals_format not in _FORMATS:
            raise ValueError(
                "Argument `diagonals_format` must be one of compact, matrix, or sequence. "
                f"Received : {diagonals_format}."
            )
        if diagonals_format == "sequence":
            self._diagonals: Any = [parameter(each) for each in diagonals]
            dtype = self._diagonals[0].dtype
        else:
            self._diagonals = parameter(diagonals)
            dtype = self._diagonals.dtype
        self._diagonals_format = diagonals_format
        super().__init__(
            dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=is_square,
            name=name,
            parameters=parameters,
        )
        if diagonals_format == "sequence":
            self._tensor_fields = (("diagonals", 1),)

    @property
    def diagonals(self) -> Any:
        """The diagonals as given."""
        return self._diagonals

    @property
    def diagonals_format(self) -> str:
        """The format in which the diagonals were given."""
        return self._diagonals_format

    def _shape(self) -> TensorShape:
        if self._diagonals_format == "matrix":
            return self._diagonals.shape
        if self._diagonals_format == "sequence":
            shape = common_batch(each.shape for each in self._diagonals)
            return shape if shape.rank is None else shape.concatenate(shape[-1:])
        shape = self._diagonals.shape
        if shape.rank is None:
            return shape
        return shape[:-2].concatenate([shape[-1], shape[-1]])

    def _shape_tensor(self) -> Tensor:
        if self._diagonals_format == "matrix":
            return sizes_of(self._diagonals)
        if self._diagonals_format == "sequence":
            sizes = common_batch_tensor(sizes_of(each) for each in self._diagonals)
            return concat([sizes, sizes[-1:]], 0)
        sizes = sizes_of(self._diagonals)
        return concat([sizes[:-2], sizes[-1:], sizes[-1:]], 0)

    def _three(self, adjoint: bool = False) -> list[Any]:
        """The upper, the main and the lower diagonal, zero-padded to equal length."""
        if self._diagonals_format == "sequence":
            above, middle, below = with_common_batch(
                [convert_to_tensor(each) for each in self._diagonals], 1
            )
        elif self._diagonals_format == "compact":
            above, middle, below = (self._diagonals[..., i, :] for i in range(3))
        else:
            bands = diag_part(self._diagonals, k=(-1, 1), align="LEFT_RIGHT")
            above, middle, below = (bands[..., i, :] for i in range(3))
        zero = zeros_like(middle[..., :1])
        above = concat([above[..., :-1], zero], -1)
        below = concat([zero, below[..., 1:]], -1)
        if adjoint:
            upper = concat([below[..., 1:], zero], -1)
            lower = concat([zero, above[..., :-1]], -1)
            return [conj(upper), conj(middle), conj(lower)]
        return [above, middle, below]

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        above, middle, below = self._three(adjoint)
        zero = zeros_like(x[..., :1, :])
        later = concat([x[..., 1:, :], zero], -2)
        earlier = concat([zero, x[..., :-1, :]], -2)
        return middle[..., None] * x + above[..., None] * later + below[..., None] * earlier

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        diagonals, rhs = with_common_batch([stack(self._three(adjoint), -2), rhs])
        return tridiagonal_solve(diagonals, rhs, diagonals_format="compact")

    def _to_dense(self) -> Tensor:
        if self._diagonals_format == "matrix":
            return convert_to_tensor(self._diagonals)
        return diag(stack(self._three(), -2), k=(-1, 1), align="LEFT_RIGHT")

    def _diag_part(self) -> Tensor:
        return self._three()[1]

    def _assert_self_adjoint(self) -> Any:
        above, middle, below = self._three()
        assert_no_imaginary_part(middle, "This tridiagonal operator contained complex diagonal.")
        return assert_equal(
            above[..., :-1],
            conj(below[..., 1:]),
            "This tridiagonal operator has non-conjugate subdiagonal and superdiagonal.",
        )
