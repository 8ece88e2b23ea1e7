"""Runnel: TensorFlow 2 as a small, readable, pure-Python package; `import runnel as tf`.

The functions of `tf.*` are listed here. What most programs use loads at once; the rest, and the
sub-namespaces (`tf.math`, `tf.nn`, ...), when first used.
"""

import importlib as _importlib
import warnings as _warnings
from typing import TYPE_CHECKING as _TYPE_CHECKING

from . import engines as _engines, wiring as _wiring
from .core.autodiff.tape import (
    AggregationMethod as AggregationMethod,
    GradientTape as GradientTape,
    UnconnectedGradients as UnconnectedGradients,
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
from .core.graph.graph import Operation as Operation
from .core.graph.main_graph import MainGraph as Graph
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
    eye as eye,
    fill as fill,
    linspace as linspace,
    ones as ones,
    ones_like as ones_like,
    range as range,
    zeros as zeros,
    zeros_like as zeros_like,
)
from .ops.array.gathering import (
    gather as gather,
    gather_nd as gather_nd,
)
from .ops.array.joining import (
    concat as concat,
    parallel_stack as parallel_stack,
    split as split,
    stack as stack,
    unstack as unstack,
)
from .ops.array.ordering import (
    reverse as reverse,
    reverse_sequence as reverse_sequence,
    roll as roll,
    transpose as transpose,
)
from .ops.array.padding import (
    pad as pad,
)
from .ops.array.partition import (
    dynamic_partition as dynamic_partition,
    dynamic_stitch as dynamic_stitch,
)
from .ops.array.repeating import (
    meshgrid as meshgrid,
    repeat as repeat,
    tile as tile,
)
from .ops.array.scatter import (
    scatter_nd as scatter_nd,
    tensor_scatter_nd_add as tensor_scatter_nd_add,
    tensor_scatter_nd_max as tensor_scatter_nd_max,
    tensor_scatter_nd_min as tensor_scatter_nd_min,
    tensor_scatter_nd_sub as tensor_scatter_nd_sub,
    tensor_scatter_nd_update as tensor_scatter_nd_update,
)
from .ops.array.selection import (
    boolean_mask as boolean_mask,
    one_hot as one_hot,
    sequence_mask as sequence_mask,
    where as where,
)
from .ops.array.shaping import (
    broadcast_dynamic_shape as broadcast_dynamic_shape,
    broadcast_to as broadcast_to,
    ensure_shape as ensure_shape,
    expand_dims as expand_dims,
    guarantee_const as guarantee_const,
    identity as identity,
    identity_n as identity_n,
    rank as rank,
    reshape as reshape,
    shape as shape,
    shape_n as shape_n,
    size as size,
    squeeze as squeeze,
)
from .ops.array.slicing import (
    slice as slice,
    strided_slice as strided_slice,
)
from .ops.linalg.matmul import (
    matmul as matmul,
    tensordot as tensordot,
)
from .ops.math import segment as _segment  # makes dense tensors of sparse gradients
from .ops.math.arithmetic import (
    add as add,
    add_n as add_n,
    maximum as maximum,
    minimum as minimum,
    multiply as multiply,
    pow as pow,
    scalar_mul as scalar_mul,
    subtract as subtract,
)
from .ops.math.casting import (
    bitcast as bitcast,
    cast as cast,
    saturate_cast as saturate_cast,
)
from .ops.math.comparison import (
    equal as equal,
    greater as greater,
    greater_equal as greater_equal,
    less as less,
    less_equal as less_equal,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    not_equal as not_equal,
)
from .ops.math.division import (
    divide as divide,
    realdiv as realdiv,
    truediv as truediv,
    truncatediv as truncatediv,
    truncatemod as truncatemod,
)
from .ops.math.elementwise import (
    abs as abs,
    exp as exp,
    negative as negative,
    sigmoid as sigmoid,
    sign as sign,
    sqrt as sqrt,
    square as square,
    stop_gradient as stop_gradient,
)
from .ops.math.reduction import (
    argmax as argmax,
    argmin as argmin,
    reduce_all as reduce_all,
    reduce_any as reduce_any,
    reduce_max as reduce_max,
    reduce_mean as reduce_mean,
    reduce_min as reduce_min,
    reduce_prod as reduce_prod,
    reduce_sum as reduce_sum,
)
from .release import RUNNEL_VERSION as RUNNEL_VERSION, VERSION as _VERSION

if _TYPE_CHECKING:
    from . import (
        audio as audio,
        autodiff as autodiff,
        bitwise as bitwise,
        compat as compat,
        config as config,
        data as data,
        debugging as debugging,
        dtypes as dtypes,
        errors as errors,
        experimental as experimental,
        image as image,
        io as io,
        keras as keras,
        linalg as linalg,
        lookup as lookup,
        math as math,
        nest as nest,
        nn as nn,
        quantization as quantization,
        queue as queue,
        ragged as ragged,
        random as random,
        sets as sets,
        signal as signal,
        sparse as sparse,
        strings as strings,
        summary as summary,
        sysconfig as sysconfig,
        test as test,
        types as types,
        version as version,
    )
    from .core.autodiff.custom_gradient import (
        RegisterGradient as RegisterGradient,
        custom_gradient as custom_gradient,
        grad_pass_through as grad_pass_through,
        gradients as gradients,
        hessians as hessians,
        no_gradient as no_gradient,
        recompute_grad as recompute_grad,
    )
    from .core.graph.function import function as function
    from .data.optional import (
        OptionalSpec as OptionalSpec,
    )
    from .ops.control_flow import (
        case as case,
        cond as cond,
        switch_case as switch_case,
        while_loop as while_loop,
    )
    from .ops.debugging import (
        Assert as Assert,
        assert_equal as assert_equal,
        assert_greater as assert_greater,
        assert_less as assert_less,
        assert_rank as assert_rank,
    )
    from .ops.fingerprint import (
        fingerprint as fingerprint,
    )
    from .ops.initializers import (
        constant_initializer as constant_initializer,
        ones_initializer as ones_initializer,
        random_normal_initializer as random_normal_initializer,
        random_uniform_initializer as random_uniform_initializer,
        zeros_initializer as zeros_initializer,
    )
    from .ops.linalg.eigen import (
        eig as eig,
        eigvals as eigvals,
    )
    from .ops.linalg.einsum import (
        einsum as einsum,
    )
    from .ops.linalg.functions import (
        matrix_square_root as matrix_square_root,
    )
    from .ops.linalg.norms import (
        norm as norm,
    )
    from .ops.mapping import (
        foldl as foldl,
        foldr as foldr,
        map_fn as map_fn,
        scan as scan,
        vectorized_map as vectorized_map,
    )
    from .ops.math.clipping import (
        clip_by_global_norm as clip_by_global_norm,
        clip_by_norm as clip_by_norm,
        clip_by_value as clip_by_value,
    )
    from .ops.math.complex import (
        complex as complex,
    )
    from .ops.math.counting import (
        histogram_fixed_width as histogram_fixed_width,
        histogram_fixed_width_bins as histogram_fixed_width_bins,
        unravel_index as unravel_index,
    )
    from .ops.math.cumulative import (
        cumsum as cumsum,
    )
    from .ops.math.distinct import (
        unique as unique,
        unique_with_counts as unique_with_counts,
    )
    from .ops.math.rounding import (
        floor as floor,
        round as round,
    )
    from .ops.math.sorting import (
        approx_top_k as approx_top_k,
        argsort as argsort,
        searchsorted as searchsorted,
        sort as sort,
    )
    from .ops.math.statistics import (
        reduce_logsumexp as reduce_logsumexp,
    )
    from .ops.math.trigonometry import (
        acos as acos,
        acosh as acosh,
        asin as asin,
        asinh as asinh,
        atan as atan,
        atan2 as atan2,
        atanh as atanh,
        cos as cos,
        cosh as cosh,
        sin as sin,
        sinh as sinh,
        tan as tan,
        tanh as tanh,
    )
    from .ops.nn.convolution import (
        conv as conv,
    )
    from .ops.nn.convolution_transpose import (
        conv2d_backprop_filter_v2 as conv2d_backprop_filter_v2,
        conv2d_backprop_input_v2 as conv2d_backprop_input_v2,
    )
    from .ops.nn.space_batch import (
        batch_to_space as batch_to_space,
        required_space_to_batch_paddings as required_space_to_batch_paddings,
        space_to_batch as space_to_batch,
        space_to_batch_nd as space_to_batch_nd,
    )
    from .ops.nn.volume_patches import (
        extract_volume_patches as extract_volume_patches,
    )
    from .ops.printing import (
        print as print,
    )
    from .ops.ragged.ragged_tensor import (
        RaggedTensor as RaggedTensor,
    )
    from .ops.ragged.spec import (
        RaggedTensorSpec as RaggedTensorSpec,
    )
    from .ops.random_stateless import (
        random_index_shuffle as random_index_shuffle,
    )
    from .ops.script import (
        CriticalSection as CriticalSection,
        inside_function as inside_function,
        numpy_function as numpy_function,
        py_function as py_function,
    )
    from .ops.sequencing import (
        control_dependencies as control_dependencies,
        group as group,
        no_op as no_op,
        timestamp as timestamp,
        tuple as tuple,
    )
    from .ops.signal.fourier_axes import (
        fftnd as fftnd,
        ifftnd as ifftnd,
        irfftnd as irfftnd,
        rfftnd as rfftnd,
    )
    from .ops.sparse.decoding import (
        edit_distance as edit_distance,
    )
    from .ops.sparse.shaping import (
        ragged_fill_empty_rows as ragged_fill_empty_rows,
        ragged_fill_empty_rows_grad as ragged_fill_empty_rows_grad,
    )
    from .ops.sparse.sparse_tensor import (
        SparseTensor as SparseTensor,
        SparseTensorSpec as SparseTensorSpec,
    )
    from .ops.strings.numbers import (
        as_string as as_string,
    )
    from .ops.tensor_array import (
        TensorArray as TensorArray,
        TensorArraySpec as TensorArraySpec,
    )
    from .profiler.table import profile as profile
    from .program import install_as_tensorflow as install_as_tensorflow
    from .saved_model.permissions import allow_file_operations as allow_file_operations
    from .show_config import show_config as show_config

# Overflow or division by zero inside a kernel gives inf or nan silently, as in TensorFlow;
# NumPy's warnings about the user's own arrays stay as they are.
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"runnel\.")

newaxis = None
__version__ = _VERSION

_SUBMODULES = frozenset(
    [
        "audio",
        "autodiff",
        "autograph",
        "bitwise",
        "compat",
        "config",
        "data",
        "debugging",
        "dtypes",
        "errors",
        "experimental",
        "graph_util",
        "image",
        "io",
        "keras",
        "linalg",
        "lookup",
        "math",
        "nest",
        "nn",
        "profiler",
        "quantization",
        "queue",
        "ragged",
        "random",
        "saved_model",
        "sets",
        "signal",
        "sparse",
        "strings",
        "summary",
        "sysconfig",
        "test",
        "train",
        "types",
        "version",
    ]
)

# tf.losses is tf.keras.losses, and so on.
_OF_KERAS = frozenset({"initializers", "losses", "metrics", "optimizers"})

# Functions whose modules load when they are first asked for: name -> module.
_LATER = {
    "allow_file_operations": "saved_model.permissions",
    "install_as_tensorflow": "program",
    "profile": "profiler.table",
    "show_config": "show_config",
    "RegisterGradient": "core.autodiff.custom_gradient",
    "custom_gradient": "core.autodiff.custom_gradient",
    "grad_pass_through": "core.autodiff.custom_gradient",
    "gradients": "core.autodiff.custom_gradient",
    "hessians": "core.autodiff.custom_gradient",
    "no_gradient": "core.autodiff.custom_gradient",
    "recompute_grad": "core.autodiff.custom_gradient",
    "function": "core.graph.function",
    "import_graph_def": "saved_model.graph_import",
    "make_ndarray": "saved_model.tensors",
    "make_tensor_proto": "saved_model.tensors",
    "case": "ops.control_flow",
    "cond": "ops.control_flow",
    "foldl": "ops.mapping",
    "foldr": "ops.mapping",
    "map_fn": "ops.mapping",
    "scan": "ops.mapping",
    "switch_case": "ops.control_flow",
    "vectorized_map": "ops.mapping",
    "while_loop": "ops.control_flow",
    "Assert": "ops.debugging",
    "assert_equal": "ops.debugging",
    "assert_greater": "ops.debugging",
    "assert_less": "ops.debugging",
    "assert_rank": "ops.debugging",
    "fingerprint": "ops.fingerprint",
    "constant_initializer": "ops.initializers",
    "ones_initializer": "ops.initializers",
    "random_normal_initializer": "ops.initializers",
    "random_uniform_initializer": "ops.initializers",
    "zeros_initializer": "ops.initializers",
    "eig": "ops.linalg.eigen",
    "eigvals": "ops.linalg.eigen",
    "einsum": "ops.linalg.einsum",
    "matrix_square_root": "ops.linalg.functions",
    "norm": "ops.linalg.norms",
    "clip_by_global_norm": "ops.math.clipping",
    "clip_by_norm": "ops.math.clipping",
    "clip_by_value": "ops.math.clipping",
    "complex": "ops.math.complex",
    "histogram_fixed_width": "ops.math.counting",
    "histogram_fixed_width_bins": "ops.math.counting",
    "unravel_index": "ops.math.counting",
    "cumsum": "ops.math.cumulative",
    "unique": "ops.math.distinct",
    "unique_with_counts": "ops.math.distinct",
    "floor": "ops.math.rounding",
    "round": "ops.math.rounding",
    "approx_top_k": "ops.math.sorting",
    "argsort": "ops.math.sorting",
    "searchsorted": "ops.math.sorting",
    "sort": "ops.math.sorting",
    "reduce_logsumexp": "ops.math.statistics",
    "acos": "ops.math.trigonometry",
    "acosh": "ops.math.trigonometry",
    "asin": "ops.math.trigonometry",
    "asinh": "ops.math.trigonometry",
    "atan": "ops.math.trigonometry",
    "atan2": "ops.math.trigonometry",
    "atanh": "ops.math.trigonometry",
    "cos": "ops.math.trigonometry",
    "cosh": "ops.math.trigonometry",
    "sin": "ops.math.trigonometry",
    "sinh": "ops.math.trigonometry",
    "tan": "ops.math.trigonometry",
    "tanh": "ops.math.trigonometry",
    "conv": "ops.nn.convolution",
    "conv2d_backprop_filter_v2": "ops.nn.convolution_transpose",
    "conv2d_backprop_input_v2": "ops.nn.convolution_transpose",
    "batch_to_space": "ops.nn.space_batch",
    "required_space_to_batch_paddings": "ops.nn.space_batch",
    "space_to_batch": "ops.nn.space_batch",
    "space_to_batch_nd": "ops.nn.space_batch",
    "extract_volume_patches": "ops.nn.volume_patches",
    "print": "ops.printing",
    "RaggedTensor": "ops.ragged.ragged_tensor",
    "RaggedTensorSpec": "ops.ragged.ragged_tensor",
    "OptionalSpec": "data.optional",
    "random_index_shuffle": "ops.random_stateless",
    "CriticalSection": "ops.script",
    "inside_function": "ops.script",
    "numpy_function": "ops.script",
    "py_function": "ops.script",
    "control_dependencies": "ops.sequencing",
    "group": "ops.sequencing",
    "no_op": "ops.sequencing",
    "timestamp": "ops.sequencing",
    "tuple": "ops.sequencing",
    "fftnd": "ops.signal.fourier_axes",
    "ifftnd": "ops.signal.fourier_axes",
    "irfftnd": "ops.signal.fourier_axes",
    "rfftnd": "ops.signal.fourier_axes",
    "as_string": "ops.strings.numbers",
    "edit_distance": "ops.sparse.decoding",
    "SparseTensor": "ops.sparse.sparse_tensor",
    "SparseTensorSpec": "ops.sparse.sparse_tensor",
    "ragged_fill_empty_rows": "ops.sparse.shaping",
    "ragged_fill_empty_rows_grad": "ops.sparse.shaping",
    "TensorArray": "ops.tensor_array",
    "TensorArraySpec": "ops.tensor_array",
}


def __getattr__(name: str) -> object:
    if name == "__all__":
        # What `from ... import *` takes, names that load later included.
        return [each for each in __dir__() if not each.startswith("_")]
    if name in _SUBMODULES:
        return _importlib.import_module(f".{name}", __name__)
    if name in _OF_KERAS:
        return getattr(_importlib.import_module(".keras", __name__), name)
    if name in _LATER:
        value = getattr(_importlib.import_module(f".{_LATER[name]}", __name__), name)
        globals()[name] = value
        return value
    hint = ""
    if name[:1] != "_":
        v1 = dir(_importlib.import_module(".compat.v1", __name__))
        hint = f"; in TensorFlow 2 it is tf.compat.v1.{name}" if name in v1 else ""
    raise _importlib.import_module(".core.suggestions", __name__).no_attribute(__name__, name, hint)


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES, *_OF_KERAS, *_LATER})
