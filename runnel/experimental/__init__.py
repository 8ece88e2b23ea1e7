"""tf.experimental: small number formats, ragged shapes, NumPy's API; may change without notice."""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from ..core.dtypes import (
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
    from ..data.optional import Optional as Optional
    from ..ops.ragged.dynamic_shape import DynamicRaggedShape as DynamicRaggedShape
    from ..ops.ragged.row_partition import RowPartition as RowPartition
    from . import dlpack as dlpack, extension_type as extension_type, numpy as numpy
    from .batchable import (
        BatchableExtensionType as BatchableExtensionType,
        ExtensionTypeBatchEncoder as ExtensionTypeBatchEncoder,
    )
    from .dispatch import (
        dispatch_for_api as dispatch_for_api,
        dispatch_for_binary_elementwise_apis as dispatch_for_binary_elementwise_apis,
        dispatch_for_binary_elementwise_assert_apis as dispatch_for_binary_elementwise_assert_apis,
        dispatch_for_unary_elementwise_apis as dispatch_for_unary_elementwise_apis,
        unregister_dispatch_for as unregister_dispatch_for,
    )
    from .executing import (
        async_clear_error as async_clear_error,
        async_scope as async_scope,
        function_executor_type as function_executor_type,
    )
    from .extensions import ExtensionType as ExtensionType, ExtensionTypeSpec as ExtensionTypeSpec
    from .strict_mode import enable_strict_mode as enable_strict_mode
    from .structured_tensor import StructuredTensor as StructuredTensor

# Datasets and ragged tensors are loaded lazily.
_LATER = {
    "BatchableExtensionType": "experimental.batchable",
    "DynamicRaggedShape": "ops.ragged.dynamic_shape",
    "ExtensionType": "experimental.extensions",
    "ExtensionTypeBatchEncoder": "experimental.batchable",
    "ExtensionTypeSpec": "experimental.extensions",
    "Optional": "data.optional",
    "RowPartition": "ops.ragged.row_partition",
    "StructuredTensor": "experimental.structured_tensor",
    "async_clear_error": "experimental.executing",
    "async_scope": "experimental.executing",
    "dispatch_for_api": "experimental.dispatch",
    "dispatch_for_binary_elementwise_apis": "experimental.dispatch",
    "dispatch_for_binary_elementwise_assert_apis": "experimental.dispatch",
    "dispatch_for_unary_elementwise_apis": "experimental.dispatch",
    "enable_strict_mode": "experimental.strict_mode",
    "function_executor_type": "experimental.executing",
    "unregister_dispatch_for": "experimental.dispatch",
}


_SUBMODULES = frozenset({"dlpack", "extension_type", "numpy"})


def __getattr__(name: str) -> _Any:
    if name in _SUBMODULES:
        return _importlib.import_module(f"runnel.experimental.{name}")
    if name in _LATER:
        value = getattr(_importlib.import_module(f"runnel.{_LATER[name]}"), name)
        globals()[name] = value
        return value
    from ..core.suggestions import no_attribute

    raise no_attribute(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, *_SUBMODULES})
