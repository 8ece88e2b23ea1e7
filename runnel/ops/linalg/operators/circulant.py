"""Operators that the discrete Fourier transform diagonalizes: circulant and Toeplitz matrices."""

from __future__ import annotations

from math import prod
from typing import Any

from ....core.convert import convert_to_tensor
from ....core.dtypes import DType, as_dtype, complex64, complex128, float64
from ....core.shapes import TensorShape
from ....core.tensor import Tensor
from ...array.creation import ones, range as counting, zeros
from ...array.gathering import gather
from ...array.joining import concat
from ...array.ordering import reverse
from ...array.shaping import reshape, sizes_of
from ...debugging import assert_equal, assert_near
from ...math.casting import cast
from ...math.complex import conj, imag, real
from ...math.elementwise import abs as absolute, log
from ...math.reduction import reduce_max, reduce_min, reduce_prod, reduce_sum
from ...signal.fourier import fft, fft2d, fft3d, ifft, ifft2d, ifft3d
from ..matmul import adjoint as adjoint_of, matrix_transpose
from .algebra import commuting_hints, hints_of, rule
from .arguments import (
    common_batch,
    common_batch_tensor,
    given,
    parameter,
    require_rank,
    with_common_batch,
)
from .base import LinearOperator
from .checks import assert_no_imaginary_part, assert_no_zeros, assert_positive_real_part

_TRANSFORMS = {1: (fft, ifft), 2: (fft2d, ifft2d), 3: (fft3d, ifft3d)}


def _complex_of(dtype: DType) -> DType:
    return complex128 if dtype in (float64, complex128) else complex64


def _cast(value: Tensor, dtype: DType) -> Tensor:
    """Cast to another dtype; to a real one the real part."""
    return cast(value if dtype.is_complex or not value.dtype.is_complex else real(value), dtype)


class _Circulant(LinearOperator):
    """`F^-1 @ diag(spectrum) @ F` with the discrete Fourier transform F of 1 to 3 dimensions."""

    _block_depth: int

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any,
        is_non_singular: bool | None,
        is_self_adjoint: bool | None,
        is_positive_definite: bool | None,
        is_square: bool | None,
        name: str | None,
        parameters: dict[str, Any],
    ) -> None:
        self._spectrum = parameter(spectrum)
        require_rank(self._spectrum, self._block_depth, "spectrum")
        if not self._spectrum.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError(
                    "A real spectrum always corresponds to a self-adjoint operator. Expected "
                    "argument `is_self_adjoint` to be True. Received: False."
                )
            is_self_adjoint = True
        if is_square is False:
            raise ValueError(
                "A [[nested] block] circulant operator is always square. Expected argument "
                "`is_square` to be True. Received: False."
            )
        super().__init__(
            as_dtype(input_output_dtype),
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=True,
            name=name,
            parameters=parameters,
        )

    @property
    def spectrum(self) -> Any:
        """The eigenvalues: the Fourier transform of the convolution kernel."""
        return self._spectrum

    @property
    def block_depth(self) -> int:
        """The number of dimensions of the Fourier transform."""
        return self._block_depth

    @property
    def block_shape(self) -> TensorShape:
        """The trailing `block_depth` sizes of the spectrum."""
        return self._spectrum.shape[-self._block_depth :]

    def block_shape_tensor(self) -> Tensor:
        """The trailing `block_depth` sizes of the spectrum, as a tensor."""
        return sizes_of(self._spectrum)[-self._block_depth :]

    def convolution_kernel(self, name: str = "convolution_kernel") -> Tensor:
        """The convolution kernel: the inverse Fourier transform of the spectrum."""
        return _cast(_TRANSFORMS[self._block_depth][1](self._complex_spectrum()), self._dtype)

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> Any:
        """InvalidArgumentError unless the matrices are real."""
        kernel = _TRANSFORMS[self._block_depth][1](self._complex_spectrum())
        parts = imag(kernel)
        scale = 20 * self._dtype.real_dtype.as_numpy_dtype(2) ** -23
        return assert_near(
            parts, 0 * parts, rtol=scale, atol=scale, message="Spectrum was not Hermitian."
        )

    def _complex_spectrum(self) -> Tensor:
        return cast(self._spectrum, _complex_of(self._dtype))

    def _shape(self) -> TensorShape:
        shape = self._spectrum.shape
        if shape.rank is None:
            return shape
        block = shape.as_list()[-self._block_depth :]
        size = None if None in block else prod(block)
        return shape[: -self._block_depth].concatenate([size, size])

    def _shape_tensor(self) -> Tensor:
        sizes = sizes_of(self._spectrum)
        size = reduce_prod(sizes[-self._block_depth :])[None]
        return concat([sizes[: -self._block_depth], size, size], 0)

    def _filtered(self, x: Tensor, adjoint_arg: bool, factors: Tensor) -> Tensor:
        """Convolve the columns of `x` with the kernel of a spectrum."""
        x = adjoint_of(x) if adjoint_arg else x
        forward, backward = _TRANSFORMS[self._block_depth]
        rows = cast(matrix_transpose(x), _complex_of(self._dtype))
        sizes = sizes_of(rows)
        if self._block_depth > 1:
            rows = reshape(rows, concat([sizes[:-1], self.block_shape_tensor()], 0))
        axis = (..., None, *[slice(None)] * self._block_depth)
        filtered = backward(forward(rows) * factors[axis])
        if self._block_depth > 1:
            batch = sizes_of(filtered)[: -self._block_depth]
            filtered = reshape(filtered, concat([batch, sizes[-1:]], 0))
        result = _cast(matrix_transpose(filtered), self._dtype)
        if x.shape.rank is not None and self.tensor_rank is not None:
            batch_shape = common_batch([self.batch_shape, x.shape[:-2]])
            result.set_shape(batch_shape.concatenate([self._static_sizes()[0], x.shape[-1]]))
        return result

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        spectrum = self._complex_spectrum()
        return self._filtered(x, adjoint_arg, conj(spectrum) if adjoint else spectrum)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        spectrum = self._complex_spectrum()
        return self._filtered(rhs, adjoint_arg, 1 / (conj(spectrum) if adjoint else spectrum))

    def _axes(self) -> list[int]:
        return list(range(-self._block_depth, 0))

    def _trace(self) -> Tensor:
        return _cast(reduce_sum(self._spectrum, self._axes()), self._dtype)

    def _diag_part(self) -> Tensor:
        size = cast(self.domain_dimension_tensor(), self._dtype)
        return (self._trace() / size)[..., None] * ones(self.shape_tensor()[-1:], self._dtype)

    def _determinant(self) -> Tensor:
        return _cast(reduce_prod(self._spectrum, self._axes()), self._dtype)

    def _log_abs_determinant(self) -> Tensor:
        return cast(reduce_sum(log(absolute(self._spectrum)), self._axes()), self._dtype)

    def _eigvals(self) -> Tensor:
        return reshape(self._spectrum, self.shape_tensor()[:-1])

    def _cond(self) -> Tensor:
        sizes = absolute(self._spectrum)
        return reduce_max(sizes, self._axes()) / reduce_min(sizes, self._axes())

    def _assert_non_singular(self) -> Any:
        return assert_no_zeros(
            self._spectrum, "Singular operator:  Spectrum contained zero values."
        )

    def _assert_self_adjoint(self) -> Any:
        return assert_no_imaginary_part(
            self._spectrum, "Not self-adjoint:  The spectrum contained non-zero imaginary part."
        )

    def _assert_positive_definite(self) -> Any:
        return assert_positive_real_part(
            self._spectrum,
            "Not positive definite:  Real part of spectrum was not all positive.",
        )


class LinearOperatorCirculant(_Circulant):
    """The operator of a circulant matrix, a periodic convolution, given by its spectrum.

    >>> operator = tf.linalg.LinearOperatorCirculant([6.0, 0.0, 0.0], tf.float32)
    >>> operator.to_dense().numpy().tolist()
    [[2.0, 2.0, 2.0], [2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]
    """

    _tensor_fields = (("spectrum", 1),)
    _block_depth = 1

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = "LinearOperatorCirculant",
    ) -> None:
        super().__init__(**given(locals()), parameters=given(locals()))


class LinearOperatorCirculant2D(_Circulant):
    """The operator of a periodic convolution of images, given by its spectrum `[..., N0, N1]`.

    >>> tf.linalg.LinearOperatorCirculant2D([[4.0, 2.0], [2.0, 2.0]], tf.float32).shape
    TensorShape([4, 4])
    """

    _tensor_fields = (("spectrum", 2),)
    _block_depth = 2

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = "LinearOperatorCirculant2D",
    ) -> None:
        super().__init__(**given(locals()), parameters=given(locals()))


class LinearOperatorCirculant3D(_Circulant):
    """The operator of a periodic convolution of volumes, given by its spectrum.

    >>> tf.linalg.LinearOperatorCirculant3D(tf.ones([2, 2, 2]), tf.float32).shape
    TensorShape([8, 8])
    """

    _tensor_fields = (("spectrum", 3),)
    _block_depth = 3

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = "LinearOperatorCirculant3D",
    ) -> None:
        super().__init__(**given(locals()), parameters=given(locals()))


class LinearOperatorToeplitz(LinearOperator):
    """The operator of a [batch] matrix that is constant along its diagonals.

    >>> tf.linalg.LinearOperatorToeplitz([1.0, 2.0], [1.0, 3.0]).to_dense().numpy().tolist()
    [[1.0, 3.0], [2.0, 1.0]]
    """

    _tensor_fields = (("col", 1), ("row", 1))

    def __init__(
        self,
        col: Any,
        row: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorToeplitz",
    ) -> None:
        parameters = given(locals())
        self._row, self._col = parameter(row), parameter(col)
        for what, value in (("row", self._row), ("col", self._col)):
            require_rank(value, 1, what)
        if is_square is False:
            raise ValueError("Only square Toeplitz operators currently supported.")
        if self._row.shape.rank is not None and self._col.shape.rank is not None:
            sizes = {self._row.shape[-1], self._col.shape[-1]} - {None}
            if len(sizes) > 1:
                raise ValueError(
                    "Expected square matrix, got row and col with mismatched dimensions: "
                    f"{self._row.shape[-1]} and {self._col.shape[-1]}."
                )
        super().__init__(
            self._row.dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=True,
            name=name,
            parameters=parameters,
        )

    @property
    def col(self) -> Any:
        """The first column."""
        return self._col

    @property
    def row(self) -> Any:
        """The first row; its first entry is not read."""
        return self._row

    def _shape(self) -> TensorShape:
        shape = common_batch([self._row.shape, self._col.shape])
        return shape if shape.rank is None else shape.concatenate(shape[-1:])

    def _shape_tensor(self) -> Tensor:
        sizes = common_batch_tensor([sizes_of(self._row), sizes_of(self._col)])
        return concat([sizes, sizes[-1:]], 0)

    def _edges(self) -> tuple[Tensor, Tensor]:
        col, row = with_common_batch(
            [convert_to_tensor(each) for each in (self._col, self._row)], 1
        )
        return col, row

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        """The matrix is the upper left block of a circulant one of nearly twice the size."""
        x = adjoint_of(x) if adjoint_arg else x
        col, row = self._edges()
        if adjoint:
            col, row = (
                concat([conj(col[..., :1]), conj(row[..., 1:])], -1),
                conj(col),
            )
        kernel = concat([col, reverse(row[..., 1:], [-1])], -1)
        spectrum = fft(cast(kernel, _complex_of(self._dtype)))
        rows = matrix_transpose(x)
        size = sizes_of(rows)[-1]
        padding = zeros(concat([sizes_of(rows)[:-1], size[None] - 1], 0), self._dtype)
        padded = cast(concat([rows, padding], -1), spectrum.dtype)
        whole = _cast(ifft(fft(padded) * spectrum[..., None, :]), self._dtype)
        result = matrix_transpose(whole[..., :size])
        if x.shape.rank is not None and self.tensor_rank is not None:
            batch = common_batch([self.batch_shape, x.shape[:-2]])
            result.set_shape(batch.concatenate([self._static_sizes()[0], x.shape[-1]]))
        return result

    def _to_dense(self) -> Tensor:
        col, row = self._edges()
        size = sizes_of(col)[-1]
        values = concat([reverse(row[..., 1:], [-1]), col], -1)
        places = counting(size)
        dense = gather(values, places[:, None] - places + (size - 1), axis=-1)
        dense.set_shape(self.shape)
        return dense

    def _diag_part(self) -> Tensor:
        return self._edges()[0][..., :1] * ones(self.shape_tensor()[-1:], self._dtype)

    def _trace(self) -> Tensor:
        size = cast(self.domain_dimension_tensor(), self._dtype)
        return size * self._edges()[0][..., 0]

    def _assert_self_adjoint(self) -> Any:
        return assert_equal(
            self._row,
            self._col,
            "row and col are not the same, and so this operator is not self-adjoint.",
        )


@rule("adjoint", _Circulant)
def _(operator: _Circulant) -> LinearOperator:
    # As in the original, adjoints and compositions have the default dtype, complex64.
    cls: Any = type(operator)
    return cls(conj(operator.spectrum), **hints_of(operator))


@rule("inverse", _Circulant)
def _(operator: _Circulant) -> LinearOperator:
    cls: Any = type(operator)
    return cls(1 / operator.spectrum, input_output_dtype=operator.dtype, **hints_of(operator))


for _class in (LinearOperatorCirculant, LinearOperatorCirculant2D, LinearOperatorCirculant3D):

    @rule("matmul", _class, _class)
    def _(left: Any, right: Any) -> LinearOperator:
        return type(left)(left.spectrum * right.spectrum, **commuting_hints(left, right))

    @rule("solve", _class, _class)
    def _(left: Any, right: Any) -> LinearOperator:
        return type(left)(right.spectrum / left.spectrum, **commuting_hints(left, right))
