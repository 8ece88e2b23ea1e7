"""tf.experimental: small number formats, shapes of ragged tensors; may change without notice."""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from .core.dtypes import (
    float4_e2m1fn as float4_e2m1fn,
    float8_e4m3b11fnuz as float8_e4m3b11fnuz,
    float8_e4m3fn as float8_e4m3fn,
    float8_e4m3fnuz as float8_e4m3fnuz,
    float8_e5m2 as float8_e5m2,
    float8_e5m2fnuz as float8_e5m2fnuz,
    int2 as int2,
    int4 as int4,
    uint2 as uint2,
    uint4 as uint4,
)

if _TYPE_CHECKING:
    from .data.optional import Optional as Optional
    from .ops.ragged.dynamic_shape import DynamicRaggedShape as DynamicRaggedShape
    from .ops.ragged.row_partition import RowPartition as RowPartition

# Datasets and ragged tensors load when first used.
_LATER = {
    "DynamicRaggedShape": "ops.ragged.dynamic_shape",
    "Optional": "data.optional",
    "RowPartition": "ops.ragged.row_partition",
}


def __getattr__(name: str) -> _Any:
    if name in _LATER:
        value = getattr(_importlib.import_module(f"runnel.{_LATER[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'runnel.experimental' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
