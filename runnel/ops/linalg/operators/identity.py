"""Operators without a stored matrix: identities, multiples of them, and zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.convert import constant_value, convert_to_tensor
from ....core.dtypes import as_dtype, float32, int32
from ....core.errors import InvalidArgumentError
from ....core.shapes import TensorShape
from ....core.tensor import Tensor
from ...array.creation import eye, ones, zeros
from ...array.joining import concat
from ...array.shaping import broadcast_dynamic_shape, broadcast_to, sizes_of
from ...math.arithmetic import minimum, multiply, pow as power
from ...math.casting import cast
from ...math.complex import conj
from ...math.elementwise import abs as absolute, log, sqrt
from ..matmul import adjoint as adjoint_of
from .algebra import both, commuting_hints, hints_of, rule
from .arguments import common_batch, given, parameter
from .base import LinearOperator, vector_of_sizes
from .checks import assert_no_imaginary_part, assert_no_zeros, assert_positive_real_part
from .dense import with_diagonal_added


def _count(value: Any, what: str) -> Tensor:
    """A number of rows or columns, as a tensor."""
    tensor = convert_to_tensor(value)
    if not tensor.dtype.is_integer:
        raise TypeError(f"Argument {what} must be integer type. Found: {tensor}")
    known = constant_value(tensor)
    if tensor.shape.rank not in (0, None):
        raise ValueError(f"Argument {what} must be a 0-D Tensor. Found: {known}")
    if known is not None and known < 0:
        raise ValueError(f"Argument {what} must be non-negative. Found: {known}")
    return cast(tensor, int32)


def _batch(value: Any) -> Tensor | None:
    if value is None:
        return None
    if isinstance(value, TensorShape):
        value = value.as_list()
    if isinstance(value, list | tuple) and not value:
        return convert_to_tensor(np.zeros([0], np.int32))
    tensor = convert_to_tensor(value)
    if not tensor.dtype.is_integer:
        raise TypeError(f"Argument batch_shape must be integer type. Found: {tensor}")
    known = constant_value(tensor)
    if tensor.shape.rank not in (1, None):
        raise ValueError(f"Argument batch_shape must be a 1-D Tensor. Found: {known}")
    if known is not None and np.any(known < 0):
        raise ValueError(f"Argument batch_shape must be non-negative. Found: {known}")
    return cast(tensor, int32)


def _known(size: Tensor) -> int | None:
    value = constant_value(size)
    return None if value is None else int(value)


def _static_batch(batch: Tensor | None) -> TensorShape:
    if batch is None:
        return TensorShape([])
    known = constant_value(batch)
    if known is not None:
        return TensorShape([int(size) for size in known])
    length = batch.shape[0] if batch.shape.rank else None
    return TensorShape(None if length is None else [None] * length)


class _Batched(LinearOperator):
    """Base of operators without tensors: their batch shape is an argument."""

    _num_rows: Tensor
    _batch_shape_given: Tensor | None

    def _batch_sizes(self) -> Tensor:
        if self._batch_shape_given is None:
            return convert_to_tensor(np.zeros([0], np.int32))
        return self._batch_shape_given

    def _field(self, name: str) -> Any:
        if name == "batch_shape":
            return self._batch_shape_given
        return super()._field(name)

    def _sliced(self, slices: tuple[Any, ...], batch: Tensor) -> LinearOperator:
        sliced = sizes_of(zeros(batch)[slices])
        return type(self)(**{**self._parameters, "batch_shape": sliced})

    def _over_batch(self, x: Tensor) -> Tensor:
        """Broadcast the matrices `x` to this operator's batch shape."""
        if self._batch_shape_given is None:
            return x
        sizes = sizes_of(x)
        batch = broadcast_dynamic_shape(self._batch_sizes(), sizes[:-2])
        result = broadcast_to(x, concat([batch, sizes[-2:]], 0))
        if x.shape.rank is not None:
            static = common_batch([_static_batch(self._batch_shape_given), x.shape[:-2]])
            result.set_shape(static.concatenate(x.shape[-2:]))
        return result


class LinearOperatorIdentity(_Batched):
    """The operator of a [batch] identity matrix.

    >>> tf.linalg.LinearOperatorIdentity(2).to_dense().numpy().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    _static_fields = ("num_rows", "batch_shape")

    def __init__(
        self,
        num_rows: Any,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: bool | None = True,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = True,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str | None = "LinearOperatorIdentity",
    ) -> None:
        parameters = given(locals())
        if not is_self_adjoint:
            raise ValueError("An identity operator is always self adjoint.")
        if not is_non_singular:
            raise ValueError("An identity operator is always non-singular.")
        if not is_positive_definite:
            raise ValueError("An identity operator is always positive-definite.")
        if not is_square:
            raise ValueError("An identity operator is always square.")
        dtype = float32 if dtype is None else as_dtype(dtype)
        parameters["dtype"] = dtype
        super().__init__(
            dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=is_square,
            name=name,
            parameters=parameters,
        )
        self._num_rows = _count(num_rows, "num_rows")
        self._batch_shape_given = _batch(batch_shape)

    def _shape(self) -> TensorShape:
        rows = _known(self._num_rows)
        return _static_batch(self._batch_shape_given).concatenate([rows, rows])

    def _shape_tensor(self) -> Tensor:
        return concat([self._batch_sizes(), vector_of_sizes(self._num_rows, self._num_rows)], 0)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._over_batch(adjoint_of(x) if adjoint_arg else x)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _to_dense(self) -> Tensor:
        rows = _known(self._num_rows)
        size = self._num_rows if rows is None else rows
        return eye(size, batch_shape=self._batch_shape_given, dtype=self._dtype)

    def _diag_part(self) -> Tensor:
        return ones(self.shape_tensor()[:-1], dtype=self._dtype)

    def _trace(self) -> Tensor:
        return cast(self._num_rows, self._dtype) * ones(self.batch_shape_tensor(), self._dtype)

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Tensor:
        """`A + mat`."""
        return self._add_to_tensor(self._argument(mat))

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return with_diagonal_added(x, convert_to_tensor(1, self._dtype))

    def _determinant(self) -> Tensor:
        return ones(self.batch_shape_tensor(), self._dtype)

    def _log_abs_determinant(self) -> Tensor:
        return zeros(self.batch_shape_tensor(), self._dtype)

    def _eigvals(self) -> Tensor:
        return self._diag_part()

    def _cond(self) -> Tensor:
        return ones(self.batch_shape_tensor(), self._dtype)

    def _assert_non_singular(self) -> Any:
        return None

    _assert_self_adjoint = _assert_positive_definite = _assert_non_singular


class LinearOperatorScaledIdentity(LinearOperator):
    """The operator of a [batch] scaled identity matrix.

    >>> tf.linalg.LinearOperatorScaledIdentity(2, 3.0).to_dense().numpy().tolist()
    [[3.0, 0.0], [0.0, 3.0]]
    """

    _tensor_fields = (("multiplier", 0),)
    _static_fields = ("num_rows",)

    def __init__(
        self,
        num_rows: Any,
        multiplier: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str | None = "LinearOperatorScaledIdentity",
    ) -> None:
        parameters = given(locals())
        self._multiplier = parameter(multiplier)
        if not self._multiplier.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        if not is_square:
            raise ValueError("A ScaledIdentity operator is always square.")
        super().__init__(
            self._multiplier.dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=is_square,
            name=name,
            parameters=parameters,
        )
        self._num_rows = _count(num_rows, "num_rows")

    @property
    def multiplier(self) -> Any:
        """The scale factor."""
        return self._multiplier

    def _shape(self) -> TensorShape:
        rows = _known(self._num_rows)
        return self._multiplier.shape.concatenate([rows, rows])

    def _shape_tensor(self) -> Tensor:
        sizes = vector_of_sizes(self._num_rows, self._num_rows)
        return concat([sizes_of(self._multiplier), sizes], 0)

    def _factors(self, adjoint: bool) -> Tensor:
        multiplier = conj(self._multiplier) if adjoint else convert_to_tensor(self._multiplier)
        return multiplier[..., None, None]

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._factors(adjoint) * (adjoint_of(x) if adjoint_arg else x)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return (adjoint_of(rhs) if adjoint_arg else rhs) / self._factors(adjoint)

    def _to_dense(self) -> Tensor:
        rows = _known(self._num_rows)
        size = self._num_rows if rows is None else rows
        return self._factors(False) * eye(size, dtype=self._dtype)

    def _diag_part(self) -> Tensor:
        rows = _known(self._num_rows)
        size = vector_of_sizes(self._num_rows) if rows is None else [rows]
        return self._multiplier[..., None] * ones(size, dtype=self._dtype)

    def _trace(self) -> Tensor:
        return multiply(self._multiplier, cast(self._num_rows, self._dtype))

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Tensor:
        """`A + mat`."""
        return self._add_to_tensor(self._argument(mat))

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        sizes = sizes_of(x)
        batch = broadcast_dynamic_shape(sizes_of(self._multiplier), sizes[:-2])
        whole = broadcast_to(x, concat([batch, sizes[-2:]], 0))
        return with_diagonal_added(whole, self._multiplier[..., None])

    def _determinant(self) -> Tensor:
        return power(self._multiplier, cast(self._num_rows, self._dtype))

    def _log_abs_determinant(self) -> Tensor:
        sizes = absolute(self._multiplier)
        return cast(self._num_rows, sizes.dtype) * log(sizes)

    def _eigvals(self) -> Tensor:
        return self._diag_part()

    def _cond(self) -> Tensor:
        return ones(self.batch_shape_tensor(), self._dtype)

    def _assert_non_singular(self) -> Any:
        return assert_no_zeros(self._multiplier, "LinearOperator was singular.")

    def _assert_self_adjoint(self) -> Any:
        return assert_no_imaginary_part(self._multiplier, "LinearOperator was not self-adjoint.")

    def _assert_positive_definite(self) -> Any:
        return assert_positive_real_part(
            self._multiplier, "LinearOperator was not positive definite."
        )


class LinearOperatorZeros(_Batched):
    """The operator of a [batch] matrix of zeros.

    >>> tf.linalg.LinearOperatorZeros(2).matvec([1.0, 2.0]).numpy().tolist()
    [0.0, 0.0]
    """

    _static_fields = ("num_rows", "num_columns", "batch_shape")

    def __init__(
        self,
        num_rows: Any,
        num_columns: Any = None,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: bool | None = False,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = False,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str | None = "LinearOperatorZeros",
    ) -> None:
        parameters = given(locals())
        if is_self_adjoint is False and is_square:
            raise ValueError("A zero operator is always self adjoint.")
        if is_non_singular:
            raise ValueError("A zero operator is always singular.")
        if is_positive_definite:
            raise ValueError("A zero operator is always not positive-definite.")
        if num_columns is None:
            num_columns = num_rows
        dtype = float32 if dtype is None else as_dtype(dtype)
        parameters["dtype"] = dtype
        super().__init__(
            dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=is_square,
            name=name,
            parameters=parameters,
        )
        self._num_rows = _count(num_rows, "num_rows")
        self._num_columns = _count(num_columns, "num_columns")
        self._batch_shape_given = _batch(batch_shape)
        rows, columns = _known(self._num_rows), _known(self._num_columns)
        if is_square and None not in (rows, columns) and rows != columns:
            raise ValueError(
                f"LinearOperatorZeros initialized as is_square=True, but got num_rows({rows}) != "
                f"num_columns({columns}). Pass is_square=False and is_self_adjoint=False."
            )

    def _shape(self) -> TensorShape:
        sizes = [_known(self._num_rows), _known(self._num_columns)]
        return _static_batch(self._batch_shape_given).concatenate(sizes)

    def _shape_tensor(self) -> Tensor:
        return concat([self._batch_sizes(), vector_of_sizes(self._num_rows, self._num_columns)], 0)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        sizes = sizes_of(x)
        rows = self._num_columns if adjoint else self._num_rows
        batch = broadcast_dynamic_shape(self._batch_sizes(), sizes[:-2])
        result = zeros(concat([batch, rows[None], sizes[-1:]], 0), self._dtype)
        if x.shape.rank is not None:
            static = common_batch([_static_batch(self._batch_shape_given), x.shape[:-2]])
            result.set_shape(static.concatenate([_known(rows), x.shape[-1]]))
        return result

    def _to_dense(self) -> Tensor:
        return zeros(self.shape_tensor(), self._dtype)

    def _diag_part(self) -> Tensor:
        size = minimum(self._num_rows, self._num_columns)
        return zeros(concat([self._batch_sizes(), size[None]], 0), self._dtype)

    def _trace(self) -> Tensor:
        return zeros(self.batch_shape_tensor(), self._dtype)

    _determinant = _trace

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Tensor:
        """`A + mat`."""
        return self._add_to_tensor(self._argument(mat))

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return self._over_batch(x)

    def _eigvals(self) -> Tensor:
        return self._diag_part()

    def _assert_non_singular(self) -> Any:
        raise InvalidArgumentError(None, None, "Zero operators are always non-invertible.")

    def _assert_self_adjoint(self) -> Any:
        return None

    def _assert_positive_definite(self) -> Any:
        raise InvalidArgumentError(None, None, "Zero operators are always non-positive definite.")


@rule("adjoint", LinearOperatorIdentity)
def _(operator: LinearOperatorIdentity) -> LinearOperator:
    return operator


@rule("adjoint", LinearOperatorScaledIdentity)
def _(operator: LinearOperatorScaledIdentity) -> LinearOperator:
    return LinearOperatorScaledIdentity(
        operator._num_rows, conj(operator.multiplier), **hints_of(operator)
    )


@rule("inverse", LinearOperatorIdentity)
@rule("cholesky", LinearOperatorIdentity)
def _(operator: LinearOperatorIdentity) -> LinearOperator:
    return operator


@rule("inverse", LinearOperatorScaledIdentity)
def _(operator: LinearOperatorScaledIdentity) -> LinearOperator:
    return LinearOperatorScaledIdentity(
        operator._num_rows, 1 / operator.multiplier, **hints_of(operator)
    )


@rule("cholesky", LinearOperatorScaledIdentity)
def _(operator: LinearOperatorScaledIdentity) -> LinearOperator:
    return LinearOperatorScaledIdentity(
        operator._num_rows,
        sqrt(operator.multiplier),
        is_non_singular=True,
        is_self_adjoint=True,
        is_positive_definite=True,
        is_square=True,
    )


@rule("matmul", LinearOperatorIdentity, LinearOperator)
@rule("solve", LinearOperatorIdentity, LinearOperator)
def _(left: LinearOperatorIdentity, right: LinearOperator) -> LinearOperator:
    return right


@rule("matmul", LinearOperator, LinearOperatorIdentity)
def _(left: LinearOperator, right: LinearOperatorIdentity) -> LinearOperator:
    return left


@rule("solve", LinearOperator, LinearOperatorIdentity)
def _(left: LinearOperator, right: LinearOperatorIdentity) -> LinearOperator:
    return left.inverse()


@rule("matmul", LinearOperatorScaledIdentity, LinearOperatorScaledIdentity)
def _(left: Any, right: Any) -> LinearOperator:
    return LinearOperatorScaledIdentity(
        left._num_rows, left.multiplier * right.multiplier, **commuting_hints(left, right)
    )


@rule("solve", LinearOperatorScaledIdentity, LinearOperatorScaledIdentity)
def _(left: Any, right: Any) -> LinearOperator:
    return LinearOperatorScaledIdentity(
        left._num_rows, right.multiplier / left.multiplier, **commuting_hints(left, right)
    )


@rule("matmul", LinearOperatorZeros, LinearOperator)
@rule("matmul", LinearOperator, LinearOperatorZeros)
def _(left: LinearOperator, right: LinearOperator) -> LinearOperator:
    square = both(left.is_square, right.is_square)
    rows, columns = left.range_dimension_tensor(), right.domain_dimension_tensor()
    batch = broadcast_dynamic_shape(left.batch_shape_tensor(), right.batch_shape_tensor())
    return LinearOperatorZeros(
        rows,
        columns,
        batch,
        left.dtype,
        is_self_adjoint=square,
        is_square=square,
    )
