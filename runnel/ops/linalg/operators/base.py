"""LinearOperator: a matrix, or a batch of them, defined by its matmul."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Any

import numpy as np

from ....core.convert import constant_value, convert_to_tensor
from ....core.dtypes import DType, as_dtype, int32
from ....core.module import Module
from ....core.shapes import TensorShape
from ....core.tensor import Tensor
from ....core.variable import Variable
from ...array.creation import eye
from ...array.joining import concat
from ...array.shaping import broadcast_to, expand_dims, sizes_of, squeeze
from ...debugging import assert_equal, assert_less, assert_positive
from ...math.elementwise import exp, log
from ...math.reduction import reduce_max, reduce_min, reduce_sum
from ..decomposition import cholesky as cholesky_of
from ..diagonal import diag_part
from ..eigen import eigvalsh, svd
from ..functions import det, slogdet
from ..matmul import adjoint as adjoint_of
from ..solve import cholesky_solve, solve as solve_dense
from . import algebra
from .arguments import require_size, size_at, with_common_batch
from .spec import LinearOperatorSpec, spec_of_field


class LinearOperator(Module, metaclass=ABCMeta):
    """A [batch] of structured matrices `A` of the shape `[B1, ..., Bb, M, N]`.

    A subclass defines `_shape`, `_shape_tensor` and `_matmul`; everything else defaults to the
    dense matrix, unless the subclass overrides it (`_solve`, `_to_dense`, `_determinant`,
    `_log_abs_determinant`, `_diag_part`, `_trace`, ...). The hints `is_*` are promises of the
    caller that select cheaper algorithms; only the `assert_*` methods check them.

    >>> operator = tf.linalg.LinearOperatorDiag([1.0, 2.0])
    >>> operator.matmul([[3.0], [4.0]]).numpy().tolist()
    [[3.0], [8.0]]
    >>> operator.determinant().numpy().item()
    2.0
    """

    # The constructor's tensors and operators, each with the rank of its event dimensions; and those
    # that stay out of graphs if their value is statically known.
    _tensor_fields: tuple[tuple[str, int], ...] = ()
    _static_fields: tuple[str, ...] = ()
    _spec_class: type[LinearOperatorSpec]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        members = {"_operator_class": cls, "__module__": cls.__module__}
        cls._spec_class = type(f"{cls.__name__}Spec", (LinearOperatorSpec,), members)

    def __init__(
        self,
        dtype: Any,
        graph_parents: Any = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
        parameters: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(name=name or type(self).__name__)
        if is_positive_definite:
            if is_non_singular is False:
                raise ValueError("A positive definite matrix is always non-singular.")
            is_non_singular = True
        if is_non_singular:
            if is_square is False:
                raise ValueError("A non-singular matrix is always square.")
            is_square = True
        self._dtype = as_dtype(dtype)
        self._graph_parents = list(graph_parents or [])
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._is_square_set = is_square
        self._parameters = dict(parameters or {})

    # Hints and static properties

    @property
    def dtype(self) -> DType:
        """The dtype of the matrices."""
        return self._dtype

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments with which this operator was constructed."""
        return dict(self._parameters)

    @property
    def graph_parents(self) -> list[Any]:
        """The tensors given as `graph_parents`; deprecated."""
        return self._graph_parents

    @property
    def is_non_singular(self) -> bool | None:
        """The hint that the matrices are invertible (True), singular (False), or None."""
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> bool | None:
        """The hint that the matrices are (not) equal to their conjugate transposes, or None."""
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> bool | None:
        """The hint that `x^H A x` has a positive real part for all `x`, or not, or None."""
        return self._is_positive_definite

    @property
    def is_square(self) -> bool | None:
        """Whether the matrices are square, by the hint or the static shape, or None."""
        rows, columns = self._static_sizes()
        if rows is None or columns is None:
            return self._is_square_set
        if self._is_square_set is False and rows == columns:
            raise ValueError("User set is_square hint to False, but the operator was square.")
        return rows == columns if self._is_square_set is None else self._is_square_set

    @property
    def shape(self) -> TensorShape:
        """The static shape, `[B1, ..., Bb, M, N]`."""
        return self._shape()

    @property
    def batch_shape(self) -> TensorShape:
        """The static shape without its last two dimensions."""
        return self.shape[:-2]

    @property
    def tensor_rank(self) -> int | None:
        """The number of dimensions of `shape`."""
        return self.shape.rank

    @property
    def range_dimension(self) -> Any:
        """The static size of the results of `matvec`: the number of rows."""
        from ....core.dimension import Dimension

        return Dimension(self._static_sizes()[0])

    @property
    def domain_dimension(self) -> Any:
        """The static size of the arguments of `matvec`: the number of columns."""
        from ....core.dimension import Dimension

        return Dimension(self._static_sizes()[1])

    def _static_sizes(self) -> tuple[int | None, int | None]:
        shape = self._shape()
        return (None, None) if shape.rank is None else (shape[-2], shape[-1])

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        """The shape as an int32 tensor, a constant where it is statically known."""
        static = self.shape
        if static.is_fully_defined():
            return convert_to_tensor(np.array(static.as_list(), np.int32))
        return self._shape_tensor()

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """The shape without its last two dimensions, as a tensor."""
        return self.shape_tensor()[:-2]

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        """The number of dimensions, as a tensor."""
        if self.tensor_rank is not None:
            return convert_to_tensor(np.int32(self.tensor_rank))
        return sizes_of(self.shape_tensor())[0]

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Tensor:
        """The number of rows, as a tensor."""
        return self.shape_tensor()[-2]

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        """The number of columns, as a tensor."""
        return self.shape_tensor()[-1]

    @abstractmethod
    def _shape(self) -> TensorShape: ...

    def _shape_tensor(self) -> Tensor:
        raise NotImplementedError(f"_shape_tensor is not implemented by {type(self).__name__}.")

    # Matmuls and solves

    @abstractmethod
    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any: ...

    def matmul(
        self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul"
    ) -> Any:
        """`A @ x` for a matrix; for an operator the composition.

        >>> tf.linalg.LinearOperatorIdentity(2).matmul([[1.0], [2.0]]).numpy().tolist()
        [[1.0], [2.0]]
        """
        if isinstance(x, LinearOperator):
            left = self.adjoint() if adjoint else self
            right = x.adjoint() if adjoint_arg else x
            _require_match(left._static_sizes()[1], right._static_sizes()[0])
            return algebra.applied("matmul", left, right)
        x = self._argument(x)
        rows, columns = self._static_sizes()
        require_size(rows if adjoint else columns, size_at(x.shape, -1 if adjoint_arg else -2))
        return self._matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def __matmul__(self, other: Any) -> Any:
        return self.matmul(other)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        """`A @ x` for a vector, or a batch of vectors."""
        x = self._argument(x)
        rows, columns = self._static_sizes()
        require_size(rows if adjoint else columns, size_at(x.shape, -1))
        return self._matvec(x, adjoint=adjoint)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return squeeze(self._matmul(expand_dims(x, -1), adjoint=adjoint), -1)

    def solve(
        self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve"
    ) -> Any:
        """The `X` with `A @ X = rhs`, for a matrix or an operator.

        >>> tf.linalg.LinearOperatorDiag([1.0, 2.0]).solve([[3.0], [4.0]]).numpy().tolist()
        [[3.0], [2.0]]
        """
        self._require_solvable("Exact solve")
        if isinstance(rhs, LinearOperator):
            left = self.adjoint() if adjoint else self
            right = rhs.adjoint() if adjoint_arg else rhs
            _require_match(left._static_sizes()[0], right._static_sizes()[0])
            return algebra.applied("solve", left, right)
        rhs = self._argument(rhs)
        rows, columns = self._static_sizes()
        require_size(columns if adjoint else rows, size_at(rhs.shape, -1 if adjoint_arg else -2))
        return self._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        matrix, rhs = with_common_batch([self.to_dense(), rhs])
        if self._can_use_cholesky():
            return cholesky_solve(cholesky_of(matrix), rhs)
        return solve_dense(matrix, rhs, adjoint=adjoint)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Any:
        """The `x` with `A @ x = rhs`, for a vector or a batch of vectors."""
        self._require_solvable("Exact solve")
        rhs = self._argument(rhs)
        rows, columns = self._static_sizes()
        require_size(columns if adjoint else rows, size_at(rhs.shape, -1))
        return self._solvevec(rhs, adjoint=adjoint)

    def _solvevec(self, rhs: Any, adjoint: bool = False) -> Any:
        return squeeze(self._solve(expand_dims(rhs, -1), adjoint=adjoint), -1)

    def _require_solvable(self, what: str) -> None:
        if self.is_non_singular is False:
            raise NotImplementedError(
                f"{what} not implemented for an operator that is expected to be singular."
            )
        self._require_square(what)

    def _require_square(self, what: str) -> None:
        if self.is_square is False:
            raise NotImplementedError(
                f"{what} not implemented for an operator that is expected to not be square."
            )

    def _argument(self, value: Any) -> Tensor:
        value = convert_to_tensor(value)
        if value.dtype is not self._dtype:
            raise TypeError(
                f"Expected argument to have dtype {self._dtype!r}. Found: {value.dtype!r} in "
                f"tensor {value}. Cast it with tf.cast."
            )
        return value

    def _can_use_cholesky(self) -> bool:
        return bool(self.is_self_adjoint and self.is_positive_definite)

    # Operators derived from this one

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """The operator of the conjugate transposes."""
        return self if self.is_self_adjoint else algebra.applied("adjoint", self)

    # The original uses this name.
    H = property(adjoint, doc="The operator of the conjugate transposes.")

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """The operator of the inverses."""
        if self.is_square is False:
            raise ValueError(
                "Cannot take the Inverse: This operator represents a non square matrix."
            )
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        return algebra.applied("inverse", self)

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """The operator of the lower triangular `L` with `L @ L^H = A`."""
        if not self._can_use_cholesky():
            raise ValueError(
                "Cannot take the Cholesky decomposition: Not a positive definite self adjoint "
                "matrix. Set is_positive_definite=True and is_self_adjoint=True if it is one."
            )
        return algebra.applied("cholesky", self)

    # Values derived from this operator

    def to_dense(self, name: str = "to_dense") -> Tensor:
        """The dense matrices."""
        return self._to_dense()

    def _to_dense(self) -> Tensor:
        columns = self._static_sizes()[1]
        size = self.domain_dimension_tensor() if columns is None else columns
        identity = eye(size, dtype=self._dtype)
        dense = self._matmul(identity)
        if dense.shape.rank != self.tensor_rank:
            dense = broadcast_to(dense, self.shape_tensor())
        return dense

    def diag_part(self, name: str = "diag_part") -> Tensor:
        """The main diagonals."""
        return self._diag_part()

    def _diag_part(self) -> Tensor:
        return diag_part(self.to_dense())

    def trace(self, name: str = "trace") -> Tensor:
        """The sums of the main diagonals."""
        return self._trace()

    def _trace(self) -> Tensor:
        return reduce_sum(self.diag_part(), -1)

    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Tensor:
        """`A + x`."""
        return self._add_to_tensor(self._argument(x))

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return self.to_dense() + x

    def determinant(self, name: str = "det") -> Tensor:
        """The determinants."""
        self._require_square("Determinant")
        return self._determinant()

    def _determinant(self) -> Tensor:
        if self._can_use_cholesky():
            return exp(self.log_abs_determinant())
        return det(self.to_dense())

    def log_abs_determinant(self, name: str = "log_abs_det") -> Tensor:
        """The logarithms of the absolute values of the determinants."""
        self._require_square("Determinant")
        return self._log_abs_determinant()

    def _log_abs_determinant(self) -> Tensor:
        if self._can_use_cholesky():
            return 2 * reduce_sum(log(diag_part(cholesky_of(self.to_dense()))), -1)
        return slogdet(self.to_dense())[1]

    def eigvals(self, name: str = "eigvals") -> Tensor:
        """The eigenvalues, of self-adjoint operators only."""
        if not self.is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported.")
        return self._eigvals()

    def _eigvals(self) -> Tensor:
        return eigvalsh(self.to_dense())

    def cond(self, name: str = "cond") -> Tensor:
        """The condition numbers: the largest singular values over the smallest."""
        return self._cond()

    def _cond(self) -> Tensor:
        values = svd(self.to_dense(), compute_uv=False)
        return reduce_max(values, -1) / reduce_min(values, -1)

    # Assertions of the hints

    def assert_non_singular(self, name: str = "assert_non_singular") -> Any:
        """InvalidArgumentError if a matrix is singular, or nearly so."""
        return self._assert_non_singular()

    def _assert_non_singular(self) -> Any:
        epsilon = np.finfo(self._dtype.real_dtype.as_numpy_dtype).eps
        condition = self.cond()
        limit = convert_to_tensor(0.01 / epsilon, condition.dtype)
        return assert_less(condition, limit, "Singular matrix up to precision epsilon.")

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Any:
        """InvalidArgumentError if a matrix differs from its conjugate transpose."""
        return self._assert_self_adjoint()

    def _assert_self_adjoint(self) -> Any:
        dense = self.to_dense()
        return assert_equal(dense, adjoint_of(dense), "Matrix was not equal to its adjoint.")

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Any:
        """InvalidArgumentError if a matrix is not positive definite."""
        return self._assert_positive_definite()

    def _assert_positive_definite(self) -> Any:
        if not self.is_self_adjoint:
            raise NotImplementedError("assert_positive_definite is not implemented.")
        pivots = diag_part(cholesky_of(self.to_dense()))
        if pivots.dtype.is_complex:
            from ...math.complex import real

            pivots = real(pivots)
        return assert_positive(pivots, "Matrix was not positive definite.")

    # Batches, and structures

    def __getitem__(self, slices: Any) -> LinearOperator:
        slices = slices if isinstance(slices, tuple) else (slices,)
        return self._sliced(slices, self.batch_shape_tensor())

    def _sliced(self, slices: tuple[Any, ...], batch: Tensor) -> LinearOperator:
        """This operator, broadcast to the batch shape `batch`, with its batch dimensions sliced."""

        def sliced(value: Any, rank: int) -> Any:
            if isinstance(value, list | tuple):
                return [sliced(each, rank) for each in value]
            if isinstance(value, LinearOperator):
                return value._sliced(slices, batch)
            value = convert_to_tensor(value)
            if value.shape.rank == rank and constant_value(sizes_of(batch)[0]) != 0:
                return value
            sizes = sizes_of(value)
            event = sizes[sizes_of(sizes)[0] - rank :]
            key = slices if any(each is Ellipsis for each in slices) else (*slices, Ellipsis)
            whole = broadcast_to(value, concat([batch, event], 0))
            return whole[(*key, *[slice(None)] * rank)]

        fields = {
            name: sliced(self._field(name), rank)
            for name, rank in self._tensor_fields
            if self._parameters.get(name) is not None
        }
        return type(self)(**{**self._parameters, **fields})

    def _field(self, name: str) -> Any:
        return getattr(self, f"_{name}") if hasattr(self, f"_{name}") else self._parameters[name]

    @property
    def _type_spec(self) -> LinearOperatorSpec:
        tensors: dict[str, Any] = {}
        others = {key: value for key, value in self._parameters.items() if key != "name"}
        for hint, value in algebra.hints_of(self).items():
            if hint in others:
                others[hint] = value
        for name in (*dict(self._tensor_fields), *self._static_fields):
            value = self._field(name)
            known = constant_value(value) if isinstance(value, Tensor) else None
            if value is None:
                others[name] = None
            elif name in self._static_fields and known is not None:
                others[name] = TensorShape(known) if known.ndim else int(known)
            elif name in self._static_fields and not isinstance(value, Tensor):
                others[name] = value
            else:
                others.pop(name, None)
                tensors[name] = spec_of_field(value)
        if not self._tensor_fields:
            tensors.update(
                (name, spec_of_field(others.pop(name)))
                for name, value in list(others.items())
                if isinstance(value, Tensor | Variable | LinearOperator)
            )
        return self._spec_class(tensors, others, self._static_fields)


def _require_match(left: int | None, right: int | None) -> None:
    if left is not None and right is not None and left != right:
        raise ValueError(
            f"Operators are incompatible. Expected `x` to have dimension {left} but got {right}."
        )


def vector_of_sizes(*sizes: Any) -> Tensor:
    """An int32 vector of sizes that are ints or scalar tensors."""
    from ...array.joining import stack

    return stack([convert_to_tensor(size, int32) for size in sizes])
