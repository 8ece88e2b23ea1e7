"""Named tuples of the decompositions' results."""

from __future__ import annotations

from typing import NamedTuple

from ...core.tensor import Tensor


class Qr(NamedTuple):
    """Orthonormal columns and an upper triangular factor."""

    q: Tensor
    r: Tensor


class Lu(NamedTuple):
    """The triangular factors packed into one matrix, and the row permutation."""

    lu: Tensor
    p: Tensor


class LogMatrixDeterminant(NamedTuple):
    """The sign of a determinant and the logarithm of its absolute value."""

    sign: Tensor
    log_abs_determinant: Tensor
