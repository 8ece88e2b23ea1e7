"""The engines, and the choice between them.

`RUNNEL_ENGINE=numpy` runs every kernel in NumPy; otherwise oneDNN runs those that it is faster at,
if its library is found.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ..core.devices import settings
from ..core.logger import get_logger
from ..runtime import blas_threads, cpu_load, engine_selection, workers

_NO_XLA = (
    "jit_compile=True: XLA is not installed (pip install 'runnel[xla]'); %r runs on Runnel's own "
    "plan, with equal results."
)
_NOT_IN_XLA = (
    "jit_compile=True: %r runs on Runnel's own plan, with equal results; it has operations that "
    "cannot be handed to XLA: %s."
)

ENGINES = ("onednn", "numpy")

# For each kernel, the module of `onednn` with the function of that name.
_ONEDNN = {
    "average_pool": "pooling",
    "average_pool_backprop": "pooling",
    "backprop_depthwise_filters": "convolution",
    "backprop_depthwise_images": "convolution",
    "batch_matmul": "matmul",
    "batch_norm": "normalization",
    "batch_norm_backprop": "normalization",
    "bias_add": "normalization",
    "binary": "elementwise",
    "concatenate": "concatenation",
    "convolve": "convolution",
    "convolve_backprop_filters": "convolution",
    "convolve_backprop_images": "convolution",
    "convolve_depthwise": "convolution",
    "elu": "elementwise",
    "elu_backprop": "elementwise",
    "erfc": "error_function",
    "exp": "elementwise",
    "gru": "recurrent",
    "gru_backprop": "recurrent",
    "half_bias_add": "normalization",
    "half_binary": "elementwise",
    "half_matmul": "matmul",
    "layer_norm": "normalization",
    "leaky_relu": "elementwise",
    "log_softmax": "softmax",
    "lstm": "recurrent",
    "lstm_backprop": "recurrent",
    "matmul": "matmul",
    "max_pool": "pooling",
    "max_pool_backprop": "pooling",
    "narrow": "reorder",
    "relu6_backprop": "elementwise",
    "relu_backprop": "elementwise",
    "resize_bilinear": "resampling",
    "resize_nearest": "resampling",
    "resize_nearest_backprop": "resampling",
    "scale_channels": "normalization",
    "sigmoid": "elementwise",
    "sigmoid_backprop": "elementwise",
    "softmax": "softmax",
    "tanh_backprop": "elementwise",
    "update": "updates",
}

_chosen = "onednn"


def use(name: str) -> None:
    """Run kernels in an engine from now on: "onednn" or "numpy"."""
    global _chosen
    if name not in ENGINES:
        raise ValueError(
            f"There is no engine {name!r} (RUNNEL_ENGINE); choose one of {', '.join(ENGINES)}."
        )
    _chosen = name
    engine_selection.pool.connect(None)
    engine_selection.reset_choices()


def in_use() -> str:
    """The engine that runs kernels above their thresholds."""
    if _chosen == "onednn":
        from .onednn import library

        return "numpy" if library.load() is None else "onednn"
    return _chosen


def use_threads(count: int) -> None:
    """Run each kernel on this many threads; 0: one per core."""
    from .onednn import library

    blas_threads.configure_threads(count, engine_selection.pool.owned_by_engine)
    workers.configure_threads(count)
    if library.is_loaded():
        from .onednn import primitive

        primitive.forget()


def _find(name: str) -> Callable[..., Any] | None:
    if in_use() == "numpy" or name not in _ONEDNN:
        return None
    engine_selection.pool.connect(blas_threads.set_owner, _adapt_to_load)
    found: Callable[..., Any] = getattr(import_module(f".onednn.{_ONEDNN[name]}", __name__), name)
    return found


def _adapt_to_load(owned_by_engine: bool) -> None:
    """Use the cores that other programs leave idle, unless the user has set the number of threads.

    The last digits of sums depend on the number of threads.
    """
    from .onednn import library

    loaded = library.load()
    chosen = workers.configured_threads() or "OMP_NUM_THREADS" in os.environ
    if loaded is None or chosen or settings.op_determinism:
        return
    used = workers.num_threads(loaded.most_threads)
    idle = cpu_load.cpu_load.idle_cores(loaded.most_threads, used)
    if idle != used:
        workers.limit_threads(idle)
        blas_threads.limit_threads(idle, owned_by_engine)


def _outruns_blas() -> bool:
    if in_use() == "numpy":
        return False
    from .onednn import matmul

    return matmul.outruns_blas()


def _compiled(
    name: str, operations: Sequence[Any], feeds: Sequence[Any], fetches: Sequence[Any]
) -> Callable[..., Any] | None:
    """A traced function compiled by XLA; None with a warning where XLA cannot compile it."""
    if find_spec("jax") is None:
        get_logger().warning(_NO_XLA, name)
        return None
    from . import xla

    missing = xla.missing(operations)
    if missing:
        get_logger().warning(_NOT_IN_XLA, name, ", ".join(missing))
        return None
    return xla.compiled(operations, feeds, fetches)


def _after_fork() -> None:
    # oneDNN's pool has no threads in the child, and would wait for them forever.
    use("numpy")


engine_selection.find = _find
engine_selection.compiled = _compiled
engine_selection.outruns_blas = _outruns_blas
use(os.environ.get("RUNNEL_ENGINE", "onednn"))
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
