"""The Sobol sequence: quasi-random points with low discrepancy in the unit cube."""

from __future__ import annotations

import numpy as np

from ...core.convert import constant_value
from ...core.dtypes import as_dtype, float32, float64
from ...core.op import execute, op
from ...core.shapes import TensorShape
from ..array.arguments import integers, require_type

_MOST = 2**31 - 1


def _sample_shape(inputs, attrs):
    for each, name in zip(inputs, ("dim", "num_results", "skip"), strict=True):
        if each.shape.rank not in (None, 0):
            raise ValueError(f"{name} must be a scalar, got shape {each.shape}.")
    dim, count = (constant_value(each) for each in inputs[:2])
    return TensorShape([None if size is None else max(int(size), 0) for size in (count, dim)])


@op(
    "SobolSample",
    "dim: int32, num_results: int32, skip: int32 -> samples: dtype",
    shape=_sample_shape,
    gradient=None,
)
def SobolSample(dim, num_results, skip, *, dtype=float32):
    from scipy.stats.qmc import Sobol

    for value, name in ((dim, "dim"), (num_results, "num_results"), (skip, "skip")):
        if np.ndim(value):
            raise ValueError(f"{name} must be a scalar, got shape {list(value.shape)}.")
    dim, num_results, skip = int(dim), int(num_results), int(skip)
    if dim < 1:
        raise ValueError(f"dim must be at least one, got {dim}.")
    if num_results < 1:
        raise ValueError(f"num_results must be at least one, got {num_results}.")
    if skip < 0:
        raise ValueError(f"skip must be non-negative, got {skip}.")
    if num_results + skip >= _MOST:
        raise ValueError(f"num_results+skip must be less than {_MOST}")
    # The original's sequence omits the point at the origin.
    sequence = Sobol(dim, scramble=False, bits=32).fast_forward(skip + 1)
    return sequence.random(num_results).astype(dtype.numpy)


def sobol_sample(dim, num_results, skip=0, dtype=float32, name=None):
    """Points of the Sobol sequence in `dim` dimensions, from index `skip` on.

    >>> tf.math.sobol_sample(2, 3).numpy().tolist()
    [[0.5, 0.5], [0.75, 0.25], [0.25, 0.75]]
    """
    dtype = as_dtype(dtype)
    require_type("SobolSample", "dtype", dtype, {float32, float64})
    numbers = tuple([integers(each) for each in (dim, num_results, skip)])
    return execute(SobolSample, numbers, {"dtype": dtype})
