"""Runnel: TensorFlow 2 as a small, readable, pure-Python package; `import runnel as tf`.

The functions of `tf.*` are listed here; sub-namespaces (`tf.math`, `tf.nn`, ...) load when first
used.
"""

import importlib as _importlib
import warnings as _warnings
from typing import TYPE_CHECKING as _TYPE_CHECKING

# Overflow or division by zero inside a kernel gives inf or nan silently, as in TensorFlow;
# NumPy's warnings about the user's own arrays stay as they are.
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"runnel\.")

from .core.autodiff import (
    RegisterGradient as RegisterGradient,
    custom_gradient as custom_gradient,
    grad_pass_through as grad_pass_through,
    gradients as gradients,
    hessians as hessians,
    no_gradient as no_gradient,
    recompute_grad as recompute_grad,
)
from .core.context import (
    executing_eagerly as executing_eagerly,
    get_current_name_scope as get_current_name_scope,
    init_scope as init_scope,
    name_scope as name_scope,
)
from .core.convert import (
    constant as constant,
    get_static_value as get_static_value,
    is_tensor as is_tensor,
    register_tensor_conversion_function as register_tensor_conversion_function,
)
from .core.devices import (
    DeviceSpec as DeviceSpec,
    device as device,
)
from .core.dtypes import (
    DType as DType,
    as_dtype as as_dtype,
    bfloat16 as bfloat16,
    bool as bool,
    complex64 as complex64,
    complex128 as complex128,
    double as double,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    half as half,
    int8 as int8,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    qint8 as qint8,
    qint16 as qint16,
    qint32 as qint32,
    quint8 as quint8,
    quint16 as quint16,
    resource as resource,
    string as string,
    uint8 as uint8,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
    variant as variant,
)
from .core.indexed_slices import (
    IndexedSlices as IndexedSlices,
    IndexedSlicesSpec as IndexedSlicesSpec,
)
from .core.logger import (
    get_logger as get_logger,
)
from .core.module import (
    Module as Module,
)
from .core.shapes import (
    TensorShape as TensorShape,
    broadcast_static_shape as broadcast_static_shape,
)
from .core.tape import (
    AggregationMethod as AggregationMethod,
    GradientTape as GradientTape,
    UnconnectedGradients as UnconnectedGradients,
)
from .core.tensor import (
    Tensor as Tensor,
    is_symbolic_tensor as is_symbolic_tensor,
)
from .core.type_spec import (
    NoneTensorSpec as NoneTensorSpec,
    TensorSpec as TensorSpec,
    TypeSpec as TypeSpec,
    type_spec_from_value as type_spec_from_value,
)
from .core.variable import (
    Variable as Variable,
    VariableAggregation as VariableAggregation,
    VariableSynchronization as VariableSynchronization,
    convert_to_own_tensor as convert_to_tensor,
    variable_creator_scope as variable_creator_scope,
)
from .ops import operators as _operators  # gives tensors and variables their operators
from .ops.array.creation import (
    range as range,
)
from .ops.array.joining import (
    stack as stack,
)
from .ops.array.shaping import (
    broadcast_to as broadcast_to,
    identity as identity,
    rank as rank,
    reshape as reshape,
    shape as shape,
)
from .ops.linalg.matmul import (
    matmul as matmul,
)
from .ops.math.arithmetic import (
    add as add,
    add_n as add_n,
    multiply as multiply,
)
from .ops.math.casting import (
    bitcast as bitcast,
    cast as cast,
    saturate_cast as saturate_cast,
)
from .ops.math.complex import (
    complex as complex,
)
from .ops.math.reduction import (
    reduce_sum as reduce_sum,
)
from .ops.philox import (
    fill as fill,
)

if _TYPE_CHECKING:
    from . import (
        autodiff as autodiff,
        config as config,
        debugging as debugging,
        dtypes as dtypes,
        errors as errors,
        experimental as experimental,
        linalg as linalg,
        math as math,
        nest as nest,
        nn as nn,
        random as random,
        test as test,
    )

newaxis = None
__version__ = "2.21.0"
RUNNEL_VERSION = "0.1.0"

_SUBMODULES = frozenset(
    [
        "autodiff",
        "config",
        "debugging",
        "dtypes",
        "errors",
        "experimental",
        "linalg",
        "math",
        "nest",
        "nn",
        "random",
        "test",
    ]
)


def __getattr__(name: str) -> object:
    if name in _SUBMODULES:
        return _importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'runnel' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES})
