"""tf.compat.v1.flags: command-line flags; absl's own where it is installed."""

from __future__ import annotations

import importlib as _importlib
import importlib.util as _importlib_util
from typing import Any as _Any

_HAS_ABSL = _importlib_util.find_spec("absl") is not None
_module: _Any = _importlib.import_module("absl.flags" if _HAS_ABSL else ".small_flags", __package__)
FLAGS = _module.FLAGS


def __getattr__(name: str) -> _Any:
    return getattr(_module, name)


def __dir__() -> list[str]:
    return [name for name in dir(_module) if not name.startswith("_")]
