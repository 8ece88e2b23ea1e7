"""The named tuples that decompositions return."""

from __future__ import annotations

from typing import NamedTuple

from ...core.tensor import Tensor


class Qr(NamedTuple):
    """Orthonormal columns and an upper triangle."""

    q: Tensor
    r: Tensor


class Lu(NamedTuple):
    """A lower and an upper triangle packed into one matrix, and the order of the rows."""

    lu: Tensor
    p: Tensor


class LogMatrixDeterminant(NamedTuple):
    """The sign of a determinant and the logarithm of its absolute value."""

    sign: Tensor
    log_abs_determinant: Tensor
