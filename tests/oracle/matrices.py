"""Random matrices for the linear algebra tests: the same for the same arguments."""

import zlib

import numpy as np

import runnel as tf


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


def assert_complex_derivatives(function, *shape, purpose="", make=random):
    """First and second derivatives by complex numbers against finite differences.

    `function(a)` gives tensors. A change d of a changes the sum of their real parts, weighted, by
    the real part of the sum of d times the conjugate of the gradient.
    """
    a = make(*shape, dtype="complex128", purpose=purpose)
    way = random(*shape, dtype="complex128", purpose="way")

    def total(x):
        weighted = [
            tf.reduce_sum(tf.math.real(y * random(*y.shape, dtype=y.dtype.name, purpose="weights")))
            for y in tf.nest.flatten(function(x))
        ]
        return tf.add_n(weighted)

    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            result = total(x)
        return tf.reduce_sum(tf.math.real(tf.math.conj(tape.gradient(result, x)) * way))

    def curvature(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            result = slope(x)
        return tf.reduce_sum(tf.math.real(tf.math.conj(tape.gradient(result, x)) * way))

    step = 1e-6
    for value, derivative in ((total, slope), (slope, curvature)):
        after, before = (float(value(tf.constant(a + s * way))) for s in (step, -step))
        exact, numeric = float(derivative(tf.constant(a))), (after - before) / (2 * step)
        scale = max(1.0, abs(exact))
        assert abs(exact - numeric) < 1e-5 * scale, f"{derivative.__name__}: {exact}, {numeric}"
