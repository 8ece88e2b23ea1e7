"""`runnel.show_config()`: the engines, threads and versions in use."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

# Imports inside of functions keep `import runnel`, which loads this file, light.


def show_config(mode: str = "print") -> dict[str, Any] | None:
    """Print the engines, threads and versions in use.

    Args:
        mode: "print" prints a table and returns None, "dict" returns a dictionary.

    >>> tf.show_config(mode="dict")["versions"]["api"]
    '2.21.0'
    """
    if mode not in ("print", "dict"):
        raise ValueError(f'mode must be "print" or "dict", got {mode!r}.')
    config = {"versions": versions(), "engines": _engines(), "threads": _threads()}
    if mode == "dict":
        return config
    for section, entries in config.items():
        print(section)
        for name, value in entries.items():
            print(f"  {name:<9} {value}")
    return None


def versions() -> dict[str, str]:
    """The versions of Runnel, of the TensorFlow API it offers, of Python and NumPy."""
    from . import RUNNEL_VERSION, __version__

    return {
        "runnel": RUNNEL_VERSION,
        "api": __version__,
        "python": ".".join(map(str, sys.version_info[:3])),
        "numpy": np.__version__,
    }


def _engines() -> dict[str, str]:
    from .engines import in_use

    return {"in use": in_use(), "onednn": _onednn_description(), "numpy": _blas_description()}


def _onednn_description() -> str:
    from .engines.onednn import library

    found = library.load()
    if found is None:
        return "not found (pip install onednn-cpu-gomp, or libdnnl.so.3 of the system)"
    return f"oneDNN {found.version()}, {found.instructions()}, {found.path}"


def _blas_description() -> str:
    dependencies: Any = np.show_config(mode="dicts")
    blas = (dependencies or {}).get("Build Dependencies", {}).get("blas", {})
    if not blas.get("found", False):
        return "no BLAS library"
    return f"{blas.get('name', 'unknown BLAS')} {blas.get('version', '')}".strip()


def _threads() -> dict[str, Any]:
    from .config import threading
    from .engines.onednn import library
    from .runtime import blas_threads
    from .runtime.workers import available_cores, num_threads

    onednn = library.load()
    return {
        "cores": available_cores(),
        "onednn": 0 if onednn is None else num_threads(onednn.most_threads),
        "blas": blas_threads.threads_in_use() or "unknown",
        "intra_op": threading.get_intra_op_parallelism_threads() or "automatic",
        "inter_op": threading.get_inter_op_parallelism_threads() or "automatic",
    }
