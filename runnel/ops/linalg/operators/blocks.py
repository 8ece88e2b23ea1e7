"""Block operators: block-diagonal and block lower triangular."""

from __future__ import annotations

from typing import Any

from ....core.convert import convert_to_tensor
from ....core.shapes import TensorShape
from ....core.tensor import Tensor
from ....core.variable import Variable
from ...array.joining import concat, split
from ...array.shaping import expand_dims, squeeze
from ...debugging import assert_proper_iterable
from ..matmul import adjoint as adjoint_of
from .algebra import hints_of, rule
from .arguments import common_batch, common_batch_tensor, given, require_size, with_common_batch
from .base import LinearOperator, vector_of_sizes
from .composition import implied, operator_list, require_hint
from .dense import LinearOperatorFullMatrix, LinearOperatorLowerTriangular
from .diagonal import LinearOperatorDiag
from .identity import (
    LinearOperatorIdentity,
    LinearOperatorScaledIdentity,
    LinearOperatorZeros,
)

# Classes that a sum with a single operator keeps; any other becomes a dense matrix.
_SIMPLE = (
    LinearOperatorFullMatrix,
    LinearOperatorLowerTriangular,
    LinearOperatorDiag,
    LinearOperatorIdentity,
    LinearOperatorScaledIdentity,
    LinearOperatorZeros,
)


def _sum(values: list[Any]) -> Any:
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


def _joined(parts: list[Tensor], axis: int) -> Tensor:
    return concat(with_common_batch(parts, -axis), axis)


class _Blockwise(LinearOperator):
    """Blockwise matmul and solve: of one tensor, which is split, or of a list of blocks."""

    def _diagonal_blocks(self) -> list[LinearOperator]:
        raise NotImplementedError

    def _matmul_blocks(self, blocks: list[Any], adjoint: bool) -> list[Any]:
        raise NotImplementedError

    def _solve_blocks(self, blocks: list[Any], adjoint: bool) -> list[Any]:
        raise NotImplementedError

    def _block_sizes(self, rows: bool) -> list[int | None]:
        return [each._static_sizes()[0 if rows else 1] for each in self._diagonal_blocks()]

    def _is_blockwise(self, value: Any) -> bool:
        return (
            isinstance(value, list | tuple)
            and len(value) == len(self._diagonal_blocks())
            and all(isinstance(each, Tensor | Variable) or hasattr(each, "shape") for each in value)
        )

    def _blocks_of(self, value: Any, axis: int, rows: bool) -> list[Tensor]:
        """The blocks of an argument given as a list."""
        blocks = [self._argument(each) for each in value]
        for block, size in zip(blocks, self._block_sizes(rows), strict=True):
            require_size(size, block.shape[axis])
        return blocks

    def _cut(self, value: Tensor, rows: bool) -> list[Tensor]:
        sizes = self._block_sizes(rows)
        if len(sizes) == 1:
            return [value]
        if None in sizes:
            index = -2 if rows else -1
            known = [each.shape_tensor()[index] for each in self._diagonal_blocks()]
            return split(value, vector_of_sizes(*known), axis=-2, num=len(sizes))
        return split(value, sizes, axis=-2)

    def matmul(
        self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul"
    ) -> Any:
        """`A @ x` for a matrix, for the list of its blocks (giving a list), or for an operator."""
        if not self._is_blockwise(x) or isinstance(x, LinearOperator):
            return super().matmul(x, adjoint, adjoint_arg)
        blocks = self._blocks_of(x, -1 if adjoint_arg else -2, rows=adjoint)
        blocks = [adjoint_of(each) for each in blocks] if adjoint_arg else blocks
        return self._matmul_blocks(blocks, adjoint)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        """`A @ x` for a vector, or for the list of its blocks (returning a list)."""
        if not self._is_blockwise(x):
            return super().matvec(x, adjoint)
        blocks = [expand_dims(each, -1) for each in self._blocks_of(x, -1, rows=adjoint)]
        return [squeeze(each, -1) for each in self._matmul_blocks(blocks, adjoint)]

    def solve(
        self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve"
    ) -> Any:
        """The `X` with `A @ X = rhs`, for a matrix, the list of its blocks, or an operator."""
        if not self._is_blockwise(rhs) or isinstance(rhs, LinearOperator):
            return super().solve(rhs, adjoint, adjoint_arg)
        self._require_solvable("Exact solve")
        blocks = self._blocks_of(rhs, -1 if adjoint_arg else -2, rows=not adjoint)
        blocks = [adjoint_of(each) for each in blocks] if adjoint_arg else blocks
        return self._solve_blocks(blocks, adjoint)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Any:
        """The `x` with `A @ x = rhs`, for a vector or the list of its blocks."""
        if not self._is_blockwise(rhs):
            return super().solvevec(rhs, adjoint)
        self._require_solvable("Exact solve")
        blocks = [expand_dims(each, -1) for each in self._blocks_of(rhs, -1, rows=not adjoint)]
        return [squeeze(each, -1) for each in self._solve_blocks(blocks, adjoint)]

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        blocks = self._cut(adjoint_of(x) if adjoint_arg else x, rows=adjoint)
        return _joined(self._matmul_blocks(blocks, adjoint), -2)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        blocks = self._cut(adjoint_of(rhs) if adjoint_arg else rhs, rows=not adjoint)
        return _joined(self._solve_blocks(blocks, adjoint), -2)

    def _all(self, method: str) -> list[Tensor]:
        return [getattr(each, method)() for each in self._diagonal_blocks()]

    def _diag_part(self) -> Tensor:
        if not all(each.is_square for each in self._diagonal_blocks()):
            return super()._diag_part()
        return _joined(self._all("diag_part"), -1)

    def _trace(self) -> Tensor:
        if not all(each.is_square for each in self._diagonal_blocks()):
            return super()._trace()
        return _sum(self._all("trace"))

    def _determinant(self) -> Tensor:
        first, *others = self._all("determinant")
        for determinant in others:
            first = first * determinant
        return first

    def _log_abs_determinant(self) -> Tensor:
        return _sum(self._all("log_abs_determinant"))

    def _eigvals(self) -> Tensor:
        return _joined(self._all("eigvals"), -1)

    def _assert_non_singular(self) -> Any:
        return [each.assert_non_singular() for each in self._diagonal_blocks()][-1]


class LinearOperatorBlockDiag(_Blockwise):
    """The block-diagonal operator of other operators.

    >>> blocks = [tf.linalg.LinearOperatorDiag([1.0]), tf.linalg.LinearOperatorIdentity(2)]
    >>> tf.linalg.LinearOperatorBlockDiag(blocks).diag_part().numpy().tolist()
    [1.0, 1.0, 1.0]
    """

    _tensor_fields = (("operators", 2),)

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ) -> None:
        parameters = given(locals())
        self._operators = operator_list(operators)
        message = "The direct sum of {0} operators is always {0}."
        hints = {
            hint: implied(self._operators, hint, said, message.format(what))
            for hint, said, what in (
                ("is_non_singular", is_non_singular, "non-singular"),
                ("is_self_adjoint", is_self_adjoint, "self-adjoint"),
                ("is_positive_definite", is_positive_definite, "positive definite"),
            )
        }
        super().__init__(
            self._operators[0].dtype,
            **hints,
            is_square=is_square,
            name=name or "_ds_".join(each.name for each in self._operators),
            parameters=parameters,
        )

    @property
    def operators(self) -> list[LinearOperator]:
        """The blocks."""
        return self._operators

    def _diagonal_blocks(self) -> list[LinearOperator]:
        return self._operators

    def _shape(self) -> TensorShape:
        batch = common_batch(each.batch_shape for each in self._operators)
        sizes = [self._block_sizes(rows) for rows in (True, False)]
        return batch.concatenate([None if None in each else sum(each) for each in sizes])

    def _shape_tensor(self) -> Tensor:
        batch = common_batch_tensor(each.batch_shape_tensor() for each in self._operators)
        return concat([batch, _sum([each.shape_tensor()[-2:] for each in self._operators])], 0)

    def _matmul_blocks(self, blocks: list[Any], adjoint: bool) -> list[Any]:
        pairs = zip(self._operators, blocks, strict=True)
        return [operator.matmul(block, adjoint=adjoint) for operator, block in pairs]

    def _solve_blocks(self, blocks: list[Any], adjoint: bool) -> list[Any]:
        pairs = zip(self._operators, blocks, strict=True)
        return [operator.solve(block, adjoint=adjoint) for operator, block in pairs]

    def _assert_self_adjoint(self) -> Any:
        return [each.assert_self_adjoint() for each in self._operators][-1]

    def _assert_positive_definite(self) -> Any:
        return [each.assert_positive_definite() for each in self._operators][-1]


class LinearOperatorBlockLowerTriangular(_Blockwise):
    """A block lower triangular operator, each block an operator.

    >>> one, two = tf.linalg.LinearOperatorDiag([1.0]), tf.linalg.LinearOperatorDiag([2.0])
    >>> operator = tf.linalg.LinearOperatorBlockLowerTriangular([[one], [two, one]])
    >>> operator.to_dense().numpy().tolist()
    [[1.0, 0.0], [2.0, 1.0]]
    """

    _tensor_fields = (("operators", 2),)

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorBlockLowerTriangular",
    ) -> None:
        parameters = given(locals())
        self._operators = _checked_rows(operators)
        if is_square is False:
            raise ValueError(
                "`LinearOperatorBlockLowerTriangular` must be square. Expected argument "
                "`is_square` to be True. Received: False."
            )
        hints = [each.is_non_singular for each in self._diagonal_blocks()]
        if all(hints):
            is_non_singular = require_hint(
                is_non_singular,
                "A blockwise lower-triangular operator with non-singular operators on the main "
                "diagonal is always non-singular.",
            )
        elif False in hints:
            if is_non_singular:
                raise ValueError(
                    "A blockwise lower-triangular operator with a singular operator on the main "
                    "diagonal is always singular."
                )
            is_non_singular = False
        super().__init__(
            self._operators[0][0].dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=True,
            name=name,
            parameters=parameters,
        )

    @property
    def operators(self) -> list[list[LinearOperator]]:
        """The rows of blocks."""
        return self._operators

    def _diagonal_blocks(self) -> list[LinearOperator]:
        return [row[-1] for row in self._operators]

    def _shape(self) -> TensorShape:
        batch = common_batch(each.batch_shape for row in self._operators for each in row)
        sizes = self._block_sizes(rows=True)
        total = None if None in sizes else sum(size for size in sizes if size is not None)
        return batch.concatenate([total, total])

    def _shape_tensor(self) -> Tensor:
        batch = common_batch_tensor(
            each.batch_shape_tensor() for row in self._operators for each in row
        )
        sizes = [each.shape_tensor()[-2:] for each in self._diagonal_blocks()]
        return concat([batch, _sum(sizes)], 0)

    def _matmul_blocks(self, blocks: list[Any], adjoint: bool) -> list[Any]:
        if adjoint:
            return [
                _sum(
                    [
                        self._operators[i][j].matmul(blocks[i], adjoint=True)
                        for i in range(j, len(blocks))
                    ]
                )
                for j in range(len(blocks))
            ]
        return [
            _sum([each.matmul(block) for each, block in zip(row, blocks, strict=False)])
            for row in self._operators
        ]

    def _solve_blocks(self, blocks: list[Any], adjoint: bool) -> list[Any]:
        count = len(blocks)
        solutions: list[Any] = [None] * count
        for i in reversed(range(count)) if adjoint else range(count):
            rest = blocks[i]
            for j in range(i + 1, count) if adjoint else range(i):
                row, column = (j, i) if adjoint else (i, j)
                block = self._operators[row][column]
                rest = rest - block.matmul(solutions[j], adjoint=adjoint)
            solutions[i] = self._operators[i][i].solve(rest, adjoint=adjoint)
        return solutions


def _checked_rows(operators: Any) -> list[list[LinearOperator]]:
    assert_proper_iterable(operators)
    for row in operators:
        assert_proper_iterable(row)
    rows = [list(row) for row in operators]
    if not rows:
        raise ValueError(f"Argument `operators` must be a list of >=1 operators. Received: {rows}.")
    for i, row in enumerate(rows):
        if len(row) != i + 1:
            raise ValueError(
                f"Argument `operators[{i}]` must contain `{i + 1}` blocks. Received: {len(row)} "
                "blocks."
            )
        if row[-1].is_square is False:
            raise ValueError(
                "Matrices on the diagonal (the final elements of each row-partition in the "
                f"`operators` list) must be square. Expected argument `operators[{i}][-1]."
                "is_square` to be True. Received: False."
            )
        if any(each.dtype is not rows[0][0].dtype for each in row):
            raise TypeError(
                f"Expected all operators to have the same dtype. Found "
                f"{[each.dtype.name for each in row]} in row {i} and {rows[0][0].dtype.name} in "
                "row 0."
            )
        height = row[-1]._static_sizes()[0]
        for j, each in enumerate(row):
            width = rows[j][-1]._static_sizes()[1]
            for what, size, expected, place in (
                ("domain_dimension", each._static_sizes()[1], width, (j, j)),
                ("range_dimension", each._static_sizes()[0], height, (i, i)),
            ):
                if None not in (size, expected) and size != expected:
                    raise ValueError(
                        f"Argument `operators[{i}][{j}].{what}` ({size}) must be the same as "
                        f"`operators[{place[0]}][{place[1]}].{what}` ({expected})."
                    )
    return rows


@rule("adjoint", LinearOperatorBlockDiag)
def _(operator: LinearOperatorBlockDiag) -> LinearOperator:
    blocks = [each.adjoint() for each in operator.operators]
    return LinearOperatorBlockDiag(blocks, **hints_of(operator))


@rule("inverse", LinearOperatorBlockDiag)
def _(operator: LinearOperatorBlockDiag) -> LinearOperator:
    blocks = [each.inverse() for each in operator.operators]
    return LinearOperatorBlockDiag(blocks, **hints_of(operator))


@rule("cholesky", LinearOperatorBlockDiag)
def _(operator: LinearOperatorBlockDiag) -> LinearOperator:
    blocks = [each.cholesky() for each in operator.operators]
    return LinearOperatorBlockDiag(blocks, is_non_singular=True, is_square=True)


@rule("matmul", LinearOperatorBlockDiag, LinearOperatorBlockDiag)
def _(left: LinearOperatorBlockDiag, right: LinearOperatorBlockDiag) -> LinearOperator:
    return _block_by_block("matmul", left, right)


@rule("solve", LinearOperatorBlockDiag, LinearOperatorBlockDiag)
def _(left: LinearOperatorBlockDiag, right: LinearOperatorBlockDiag) -> LinearOperator:
    return _block_by_block("solve", left, right)


def _block_by_block(
    method: str, left: LinearOperatorBlockDiag, right: LinearOperatorBlockDiag
) -> LinearOperator:
    if len(left.operators) != len(right.operators):
        raise ValueError(
            "Can not efficiently multiply two `LinearOperatorBlockDiag`s together when number of "
            f"blocks differ: {len(left.operators)} and {len(right.operators)}."
        )
    pairs = zip(left.operators, right.operators, strict=True)
    return LinearOperatorBlockDiag([getattr(one, method)(other) for one, other in pairs])


@rule("inverse", LinearOperatorBlockLowerTriangular)
def _(operator: LinearOperatorBlockLowerTriangular) -> LinearOperator:
    """Forward substitution: the block (i, j) is `-inv(L_ii) @ sum_k L_ik @ inverse_kj`."""
    rows: list[list[LinearOperator]] = []
    for i, row in enumerate(operator.operators):
        inverse = row[-1].inverse()
        blocks: list[LinearOperator] = []
        for j in range(i):
            terms = [row[k].matmul(rows[k][j]) for k in range(j, i)]
            total = terms[0]
            if len(terms) > 1 or not isinstance(total, _SIMPLE):
                total = LinearOperatorFullMatrix(_sum([each.to_dense() for each in terms]))
            product = inverse.matmul(total)
            minus = LinearOperatorScaledIdentity(
                product.range_dimension_tensor(), convert_to_tensor(-1, product.dtype)
            )
            blocks.append(minus.matmul(product))
        rows.append([*blocks, inverse])
    return LinearOperatorBlockLowerTriangular(
        rows,
        is_non_singular=operator.is_non_singular,
        is_self_adjoint=operator.is_self_adjoint,
        is_positive_definite=operator.is_positive_definite,
        is_square=True,
    )
