"""tf.compat: TensorFlow 1 (`v1`), TensorFlow 2 (`v2`), and string conversions."""

import importlib as _importlib
import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING

from .strings import (
    as_bytes as as_bytes,
    as_str as as_str,
    as_str_any as as_str_any,
    as_text as as_text,
    bytes_or_text_types as bytes_or_text_types,
    complex_types as complex_types,
    dimension_at_index as dimension_at_index,
    dimension_value as dimension_value,
    forward_compatibility_horizon as forward_compatibility_horizon,
    forward_compatible as forward_compatible,
    integral_types as integral_types,
    path_to_str as path_to_str,
    real_types as real_types,
)

if _TYPE_CHECKING:
    from . import v1 as v1


def __getattr__(name: str) -> object:
    if name == "v1":
        return _importlib.import_module(".v1", __name__)
    if name == "v2":
        module = _sys.modules[__name__.partition(".")[0]]
        # So that `import runnel.compat.v2 as tf` finds it, too.
        _sys.modules[f"{__name__}.v2"] = module
        globals()["v2"] = module
        return module
    from ..core.suggestions import no_attribute

    raise no_attribute(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), "v1", "v2"})
