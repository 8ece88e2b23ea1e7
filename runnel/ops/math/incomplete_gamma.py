"""The derivative of the incomplete gamma function with respect to its order."""

from __future__ import annotations

import functools

import numpy as np


def derivative_by_order(a, x):
    """The derivative of P(a, x) = γ(a, x) / Γ(a) with respect to a, element-wise."""
    order, point = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(x, np.float64))
    result = np.full(order.shape, np.nan)
    valid = (order > 0) & (point >= 0)
    result[valid & ((point == 0) | np.isinf(point))] = 0.0
    inside = valid & (point > 0) & np.isfinite(point) & np.isfinite(order)
    far = inside & (point > order + 40 + 12 * np.sqrt(np.maximum(order, 0)))
    near = inside & ~far
    if near.any():
        result[near] = _by_series(order[near], point[near])
    if far.any():
        result[far] = _by_quadrature(order[far], point[far])
    return result.astype(x.dtype)


def _by_series(a, x):
    """P(a, x) is the sum of x^(a+n) exp(-x) / Γ(a+n+1); each term is differentiated."""
    from scipy import special

    log_x = np.log(x)
    term = np.exp(a * log_x - x - special.gammaln(a + 1))
    slope = log_x - special.digamma(a + 1)
    total = term * slope
    n = a + 1
    while True:
        term = term * x / n
        slope = slope - 1 / n
        n = n + 1
        change = term * slope
        total = total + change
        # Terms grow until n reaches x; only then does a small one bound the remainder.
        if ((n > x) & (np.abs(change) <= 1e-17 * np.abs(total)) | (term == 0)).all():
            return total


@functools.cache
def _laguerre():
    return np.polynomial.laguerre.laggauss(64)


def _by_quadrature(a, x):
    """The right tail, where 1 - P is an integral from x on that decays like exp(-rate s)."""
    from scipy import special

    nodes, weights = _laguerre()
    rate = 1 - np.maximum(a - 1, 0) / x
    stretch = nodes / (rate * x)[:, None]
    exponent = (a - 1)[:, None] * np.log1p(stretch) - nodes * ((1 - rate) / rate)[:, None]
    density = weights * np.exp(exponent)
    scale = np.exp((a - 1) * np.log(x) - x - special.gammaln(a)) / rate
    whole = density.sum(-1)
    tilted = (density * np.log1p(stretch)).sum(-1)
    return -scale * (whole * (np.log(x) - special.digamma(a)) + tilted)
