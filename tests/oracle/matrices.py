"""Random matrices for the linear algebra tests: the same for the same arguments."""

import zlib

import numpy as np


def random(*shape, dtype="float64", purpose=""):
    """Numbers between -2 and 2, complex for a complex dtype, whole for an integer one."""
    generator = np.random.default_rng(zlib.crc32(f"{shape}{purpose}".encode()))
    numbers = generator.uniform(-2, 2, shape)
    if np.dtype(dtype).kind == "c":
        numbers = numbers + 1j * generator.uniform(-2, 2, shape)
    if np.dtype(dtype).kind in "iu":
        numbers = np.round(numbers * 4)
    return np.asarray(numbers).astype(dtype)


def regular(*shape, dtype="float64", purpose=""):
    """Square matrices far from singular."""
    return random(*shape, dtype=dtype, purpose=purpose) + 4 * np.eye(shape[-1], dtype=dtype)


def positive(*shape, dtype="float64", purpose=""):
    """Positive definite (Hermitian) matrices with well separated eigenvalues."""
    factor = random(*shape, dtype=dtype, purpose=purpose)
    steps = np.diag(np.arange(1.0, shape[-1] + 1)).astype(dtype)
    return factor @ np.conj(np.swapaxes(factor, -1, -2)) / 4 + steps
