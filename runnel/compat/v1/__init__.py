"""tf.compat.v1: programs written for TensorFlow 1.

`import runnel.compat.v1 as tf`, and `tf.disable_v2_behavior()` to build graphs; or build one in
`with tf.Graph().as_default():`. Names with the same meaning in TensorFlow 2 are those of `runnel`.
"""

import importlib as _importlib

import runnel as _runnel

from ...core.context import init_scope as init_scope
from ...core.dimension import Dimension as Dimension
from ...core.graph.main_graph import MainGraph as Graph
from ...ops.random_streams import get_seed as get_seed, set_seed as set_random_seed
from .. import dimension_at_index as dimension_at_index, dimension_value as dimension_value
from .assertions import (
    assert_equal as assert_equal,
    assert_greater as assert_greater,
    assert_greater_equal as assert_greater_equal,
    assert_integer as assert_integer,
    assert_less as assert_less,
    assert_less_equal as assert_less_equal,
    assert_near as assert_near,
    assert_negative as assert_negative,
    assert_non_negative as assert_non_negative,
    assert_non_positive as assert_non_positive,
    assert_none_equal as assert_none_equal,
    assert_positive as assert_positive,
    assert_rank as assert_rank,
    assert_rank_at_least as assert_rank_at_least,
    assert_rank_in as assert_rank_in,
    assert_scalar as assert_scalar,
    assert_type as assert_type,
)
from .building import (
    add_check_numerics_ops as add_check_numerics_ops,
    add_to_collection as add_to_collection,
    add_to_collections as add_to_collections,
    all_variables as all_variables,
    assert_variables_initialized as assert_variables_initialized,
    assign as assign,
    assign_add as assign_add,
    assign_sub as assign_sub,
    count_up_to as count_up_to,
    get_collection as get_collection,
    get_collection_ref as get_collection_ref,
    global_variables as global_variables,
    global_variables_initializer as global_variables_initializer,
    group as group,
    initialize_all_tables as initialize_all_tables,
    initialize_all_variables as initialize_all_variables,
    initialize_local_variables as initialize_local_variables,
    initialize_variables as initialize_variables,
    is_variable_initialized as is_variable_initialized,
    local_variables as local_variables,
    local_variables_initializer as local_variables_initializer,
    model_variables as model_variables,
    moving_average_variables as moving_average_variables,
    placeholder as placeholder,
    placeholder_with_default as placeholder_with_default,
    report_uninitialized_variables as report_uninitialized_variables,
    scatter_add as scatter_add,
    scatter_div as scatter_div,
    scatter_max as scatter_max,
    scatter_min as scatter_min,
    scatter_mul as scatter_mul,
    scatter_nd_add as scatter_nd_add,
    scatter_nd_sub as scatter_nd_sub,
    scatter_nd_update as scatter_nd_update,
    scatter_sub as scatter_sub,
    scatter_update as scatter_update,
    sparse_placeholder as sparse_placeholder,
    tables_initializer as tables_initializer,
    trainable_variables as trainable_variables,
    variables_initializer as variables_initializer,
)
from .defaults import (
    control_flow_v2_enabled as control_flow_v2_enabled,
    disable_control_flow_v2 as disable_control_flow_v2,
    disable_eager_execution as disable_eager_execution,
    disable_resource_variables as disable_resource_variables,
    disable_v2_behavior as disable_v2_behavior,
    disable_v2_tensorshape as disable_v2_tensorshape,
    enable_control_flow_v2 as enable_control_flow_v2,
    enable_eager_execution as enable_eager_execution,
    enable_resource_variables as enable_resource_variables,
    enable_tensor_equality as enable_tensor_equality,
    enable_v2_behavior as enable_v2_behavior,
    enable_v2_tensorshape as enable_v2_tensorshape,
    executing_eagerly_outside_functions as executing_eagerly_outside_functions,
    get_default_graph as get_default_graph,
    reset_default_graph as reset_default_graph,
    resource_variables_enabled as resource_variables_enabled,
)
from .initializers import (
    constant_initializer as constant_initializer,
    glorot_normal_initializer as glorot_normal_initializer,
    glorot_uniform_initializer as glorot_uniform_initializer,
    ones_initializer as ones_initializer,
    orthogonal_initializer as orthogonal_initializer,
    random_normal_initializer as random_normal_initializer,
    random_uniform_initializer as random_uniform_initializer,
    truncated_normal_initializer as truncated_normal_initializer,
    uniform_unit_scaling_initializer as uniform_unit_scaling_initializer,
    variance_scaling_initializer as variance_scaling_initializer,
    zeros_initializer as zeros_initializer,
)
from .keys import (
    GraphKeys as GraphKeys,
)
from .older import (
    Print as Print,
    arg_max as arg_max,
    arg_min as arg_min,
    argmax as argmax,
    argmin as argmin,
    batch_gather as batch_gather,
    bincount as bincount,
    boolean_mask as boolean_mask,
    case as case,
    clip_by_average_norm as clip_by_average_norm,
    colocate_with as colocate_with,
    cond as cond,
    confusion_matrix as confusion_matrix,
    constant as constant,
    container as container,
    convert_to_tensor as convert_to_tensor,
    convert_to_tensor_or_indexed_slices as convert_to_tensor_or_indexed_slices,
    convert_to_tensor_or_sparse_tensor as convert_to_tensor_or_sparse_tensor,
    count_nonzero as count_nonzero,
    depth_to_space as depth_to_space,
    device as device,
    div as div,
    executing_eagerly as executing_eagerly,
    expand_dims as expand_dims,
    floor_div as floor_div,
    gather as gather,
    gather_nd as gather_nd,
    gradients as gradients,
    hessians as hessians,
    multinomial as multinomial,
    norm as norm,
    ones_like as ones_like,
    pad as pad,
    py_func as py_func,
    random_poisson as random_poisson,
    reduce_all as reduce_all,
    reduce_any as reduce_any,
    reduce_join as reduce_join,
    reduce_logsumexp as reduce_logsumexp,
    reduce_max as reduce_max,
    reduce_mean as reduce_mean,
    reduce_min as reduce_min,
    reduce_prod as reduce_prod,
    reduce_sum as reduce_sum,
    reverse_sequence as reverse_sequence,
    setdiff1d as setdiff1d,
    shape as shape,
    size as size,
    space_to_depth as space_to_depth,
    sparse_to_dense as sparse_to_dense,
    squeeze as squeeze,
    string_split as string_split,
    string_to_hash_bucket as string_to_hash_bucket,
    string_to_number as string_to_number,
    substr as substr,
    to_bfloat16 as to_bfloat16,
    to_complex64 as to_complex64,
    to_complex128 as to_complex128,
    to_double as to_double,
    to_float as to_float,
    to_int32 as to_int32,
    to_int64 as to_int64,
    transpose as transpose,
    tuple as tuple,
    verify_tensor_all_finite as verify_tensor_all_finite,
    where as where,
    while_loop as while_loop,
    zeros_like as zeros_like,
)
from .older_nn import (
    batch_to_space as batch_to_space,
    quantize_v2 as quantize_v2,
    space_to_batch as space_to_batch,
)
from .older_sparse import (
    batch_scatter_update as batch_scatter_update,
    batch_to_space_nd as batch_to_space_nd,
    extract_image_patches as extract_image_patches,
    serialize_many_sparse as serialize_many_sparse,
    serialize_sparse as serialize_sparse,
    sparse_add as sparse_add,
    sparse_concat as sparse_concat,
    sparse_matmul as sparse_matmul,
    sparse_reduce_max as sparse_reduce_max,
    sparse_reduce_max_sparse as sparse_reduce_max_sparse,
    sparse_reduce_sum as sparse_reduce_sum,
    sparse_reduce_sum_sparse as sparse_reduce_sum_sparse,
    sparse_segment_mean as sparse_segment_mean,
    sparse_segment_sqrt_n as sparse_segment_sqrt_n,
    sparse_segment_sum as sparse_segment_sum,
    sparse_split as sparse_split,
)
from .parsing import (
    decode_csv as decode_csv,
    decode_raw as decode_raw,
    parse_example as parse_example,
    parse_single_example as parse_single_example,
)
from .protos import (
    ConfigProto as ConfigProto,
    GPUOptions as GPUOptions,
    GraphOptions as GraphOptions,
    OptimizerOptions as OptimizerOptions,
    RunMetadata as RunMetadata,
    RunOptions as RunOptions,
)
from .scopes import (
    AUTO_REUSE as AUTO_REUSE,
    VariableScope as VariableScope,
    get_local_variable as get_local_variable,
    get_variable as get_variable,
    get_variable_scope as get_variable_scope,
    make_template as make_template,
    name_scope as name_scope,
    no_regularizer as no_regularizer,
    op_scope as op_scope,
    variable_op_scope as variable_op_scope,
    variable_scope as variable_scope,
)
from .session import (
    InteractiveSession as InteractiveSession,
    Session as Session,
    get_default_session as get_default_session,
)
from .values import (
    SparseTensorValue as SparseTensorValue,
)
from .variables import VariableV1 as Variable
from .wrapping import wrap_function as wrap_function

# Names with the same meaning in TensorFlow 2; those that exist there exist here.
_SAME = frozenset({
    "AggregationMethod", "Assert", "CriticalSection", "DType", "DeviceSpec", "GradientTape",
    "IndexedSlices", "IndexedSlicesSpec", "Module", "NoneTensorSpec", "Operation",
    "OptionalSpec", "RaggedTensor", "RaggedTensorSpec", "RegisterGradient", "SparseTensor",
    "SparseTensorSpec", "Tensor", "TensorArray", "TensorArraySpec", "TensorShape", "TensorSpec",
    "TypeSpec", "UnconnectedGradients", "VariableAggregation", "VariableSynchronization", "abs",
    "acos", "acosh", "add", "add_n", "approx_top_k", "argsort", "as_dtype", "as_string", "asin",
    "asinh", "atan", "atan2", "atanh", "bfloat16", "bitcast", "bool", "broadcast_dynamic_shape",
    "broadcast_static_shape", "broadcast_to", "cast", "check_pinned", "clip_by_global_norm",
    "clip_by_norm", "clip_by_value", "complex", "complex128", "complex64", "concat",
    "control_dependencies", "conv", "conv2d_backprop_filter_v2", "conv2d_backprop_input_v2",
    "cos", "cosh", "cumsum", "custom_gradient", "divide", "double", "dynamic_partition",
    "dynamic_stitch", "edit_distance", "einsum", "ensure_shape", "equal", "exp",
    "extract_volume_patches", "eye", "fftnd", "fill", "fingerprint", "float16", "float32",
    "float64", "floor", "foldl", "foldr", "function", "get_logger", "get_static_value",
    "grad_pass_through", "greater", "greater_equal", "guarantee_const", "half",
    "histogram_fixed_width", "histogram_fixed_width_bins", "identity", "identity_n", "ifftnd",
    "import_graph_def", "int16", "int32", "int64", "int8", "irfftnd", "is_symbolic_tensor",
    "is_tensor", "less", "less_equal", "linspace", "load_library", "load_op_library",
    "logical_and", "logical_not", "logical_or", "make_ndarray", "make_tensor_proto", "map_fn",
    "matmul", "matrix_square_root", "maximum", "meshgrid", "minimum", "multiply", "negative",
    "newaxis", "no_gradient", "no_op", "nondifferentiable_batch_function", "not_equal",
    "numpy_function", "one_hot", "ones", "parallel_stack", "pow", "print", "py_function",
    "qint16", "qint32", "qint8", "quint16", "quint8", "ragged_fill_empty_rows",
    "ragged_fill_empty_rows_grad", "random_index_shuffle", "range", "rank", "realdiv",
    "recompute_grad", "register_tensor_conversion_function", "repeat",
    "required_space_to_batch_paddings", "reshape", "resource", "reverse", "rfftnd", "roll",
    "round", "saturate_cast", "scalar_mul", "scan", "scatter_nd", "searchsorted",
    "sequence_mask", "shape_n", "sigmoid", "sign", "sin", "sinh", "slice", "sort",
    "space_to_batch_nd", "split", "sqrt", "square", "stack", "stop_gradient", "strided_slice",
    "string", "subtract", "switch_case", "tan", "tanh", "tensor_scatter_nd_add",
    "tensor_scatter_nd_max", "tensor_scatter_nd_min", "tensor_scatter_nd_sub",
    "tensor_scatter_nd_update", "tensordot", "tile", "timestamp", "truediv", "truncatediv",
    "truncatemod", "type_spec_from_value", "uint16", "uint32", "uint64", "uint8", "unique",
    "unique_with_counts", "unravel_index", "unstack", "variable_creator_scope", "variant",
    "vectorized_map", "zeros"
})  # fmt: skip

# Names that TensorFlow 2 has in a namespace, or under another name.
_ELSEWHERE = {
    "FIFOQueue": "queue.FIFOQueue",
    "FixedLenFeature": "io.FixedLenFeature",
    "FixedLenSequenceFeature": "io.FixedLenSequenceFeature",
    "NoGradient": "no_gradient",
    "NotDifferentiable": "no_gradient",
    "OpError": "errors.OpError",
    "PaddingFIFOQueue": "queue.PaddingFIFOQueue",
    "PriorityQueue": "queue.PriorityQueue",
    "QUANTIZED_DTYPES": "dtypes.QUANTIZED_DTYPES",
    "QueueBase": "queue.QueueBase",
    "RandomShuffleQueue": "queue.RandomShuffleQueue",
    "SparseFeature": "io.SparseFeature",
    "VarLenFeature": "io.VarLenFeature",
    "accumulate_n": "math.accumulate_n",
    "angle": "math.angle",
    "assert_proper_iterable": "debugging.assert_proper_iterable",
    "assert_same_float_dtype": "debugging.assert_same_float_dtype",
    "betainc": "math.betainc",
    "ceil": "math.ceil",
    "check_numerics": "debugging.check_numerics",
    "cholesky": "linalg.cholesky",
    "cholesky_solve": "linalg.cholesky_solve",
    "conj": "math.conj",
    "cross": "linalg.cross",
    "cumprod": "math.cumprod",
    "decode_base64": "io.decode_base64",
    "decode_compressed": "io.decode_compressed",
    "decode_json_example": "io.decode_json_example",
    "dequantize": "quantization.dequantize",
    "deserialize_many_sparse": "io.deserialize_many_sparse",
    "diag": "linalg.tensor_diag",
    "diag_part": "linalg.tensor_diag_part",
    "digamma": "math.digamma",
    "div_no_nan": "math.divide_no_nan",
    "encode_base64": "io.encode_base64",
    "erf": "math.erf",
    "erfc": "math.erfc",
    "expm1": "math.expm1",
    "fake_quant_with_min_max_args": "quantization.fake_quant_with_min_max_args",
    "fake_quant_with_min_max_args_gradient": "quantization.fake_quant_with_min_max_args_gradient",
    "fake_quant_with_min_max_vars": "quantization.fake_quant_with_min_max_vars",
    "fake_quant_with_min_max_vars_gradient": "quantization.fake_quant_with_min_max_vars_gradient",
    "fake_quant_with_min_max_vars_per_channel": (
        "quantization.fake_quant_with_min_max_vars_per_channel"
    ),
    "fake_quant_with_min_max_vars_per_channel_gradient": (
        "quantization.fake_quant_with_min_max_vars_per_channel_gradient"
    ),
    "fft": "signal.fft",
    "fft2d": "signal.fft2d",
    "fft3d": "signal.fft3d",
    "floordiv": "math.floordiv",
    "floormod": "math.mod",
    "global_norm": "linalg.global_norm",
    "ifft": "signal.ifft",
    "ifft2d": "signal.ifft2d",
    "ifft3d": "signal.ifft3d",
    "igamma": "math.igamma",
    "igammac": "math.igammac",
    "imag": "math.imag",
    "invert_permutation": "math.invert_permutation",
    "is_finite": "math.is_finite",
    "is_inf": "math.is_inf",
    "is_nan": "math.is_nan",
    "is_non_decreasing": "math.is_non_decreasing",
    "is_numeric_tensor": "debugging.is_numeric_tensor",
    "is_strictly_increasing": "math.is_strictly_increasing",
    "lbeta": "math.lbeta",
    "lgamma": "math.lgamma",
    "lin_space": "linspace",
    "log": "math.log",
    "log1p": "math.log1p",
    "log_sigmoid": "math.log_sigmoid",
    "logical_xor": "math.logical_xor",
    "matching_files": "io.matching_files",
    "matrix_band_part": "linalg.band_part",
    "matrix_determinant": "linalg.det",
    "matrix_diag": "linalg.diag",
    "matrix_diag_part": "linalg.diag_part",
    "matrix_inverse": "linalg.inv",
    "matrix_set_diag": "linalg.set_diag",
    "matrix_solve": "linalg.solve",
    "matrix_solve_ls": "linalg.lstsq",
    "matrix_transpose": "linalg.matrix_transpose",
    "matrix_triangular_solve": "linalg.triangular_solve",
    "mod": "math.mod",
    "parse_single_sequence_example": "io.parse_single_sequence_example",
    "parse_tensor": "io.parse_tensor",
    "polygamma": "math.polygamma",
    "qr": "linalg.qr",
    "quantize": "quantization.quantize",
    "quantized_concat": "quantization.quantized_concat",
    "random_crop": "image.random_crop",
    "random_gamma": "random.gamma",
    "random_normal": "random.normal",
    "random_shuffle": "random.shuffle",
    "random_uniform": "random.uniform",
    "read_file": "io.read_file",
    "real": "math.real",
    "reciprocal": "math.reciprocal",
    "regex_replace": "strings.regex_replace",
    "reverse_v2": "reverse",
    "rint": "math.rint",
    "rsqrt": "math.rsqrt",
    "segment_max": "math.segment_max",
    "segment_mean": "math.segment_mean",
    "segment_min": "math.segment_min",
    "segment_prod": "math.segment_prod",
    "segment_sum": "math.segment_sum",
    "self_adjoint_eig": "linalg.eigh",
    "self_adjoint_eigvals": "linalg.eigvalsh",
    "serialize_tensor": "io.serialize_tensor",
    "sparse_fill_empty_rows": "sparse.fill_empty_rows",
    "sparse_mask": "sparse.mask",
    "sparse_maximum": "sparse.maximum",
    "sparse_minimum": "sparse.minimum",
    "sparse_reorder": "sparse.reorder",
    "sparse_reset_shape": "sparse.reset_shape",
    "sparse_reshape": "sparse.reshape",
    "sparse_retain": "sparse.retain",
    "sparse_slice": "sparse.slice",
    "sparse_softmax": "sparse.softmax",
    "sparse_tensor_dense_matmul": "sparse.sparse_dense_matmul",
    "sparse_tensor_to_dense": "sparse.to_dense",
    "sparse_to_indicator": "sparse.to_indicator",
    "sparse_transpose": "sparse.transpose",
    "squared_difference": "math.squared_difference",
    "string_join": "strings.join",
    "string_strip": "strings.strip",
    "string_to_hash_bucket_fast": "strings.to_hash_bucket_fast",
    "string_to_hash_bucket_strong": "strings.to_hash_bucket_strong",
    "svd": "linalg.svd",
    "tensor_scatter_add": "tensor_scatter_nd_add",
    "tensor_scatter_sub": "tensor_scatter_nd_sub",
    "tensor_scatter_update": "tensor_scatter_nd_update",
    "trace": "linalg.trace",
    "truncated_normal": "random.truncated_normal",
    "unsorted_segment_max": "math.unsorted_segment_max",
    "unsorted_segment_mean": "math.unsorted_segment_mean",
    "unsorted_segment_min": "math.unsorted_segment_min",
    "unsorted_segment_prod": "math.unsorted_segment_prod",
    "unsorted_segment_sqrt_n": "math.unsorted_segment_sqrt_n",
    "unsorted_segment_sum": "math.unsorted_segment_sum",
    "where_v2": "where",
    "write_file": "io.write_file",
    "zeta": "math.zeta",
    "COMPILER_VERSION": "version.COMPILER_VERSION",
    "GIT_VERSION": "version.GIT_VERSION",
    "GRAPH_DEF_VERSION": "version.GRAPH_DEF_VERSION",
    "GRAPH_DEF_VERSION_MIN_CONSUMER": "version.GRAPH_DEF_VERSION_MIN_CONSUMER",
    "GRAPH_DEF_VERSION_MIN_PRODUCER": "version.GRAPH_DEF_VERSION_MIN_PRODUCER",
    "VERSION": "version.VERSION",
}

# Namespaces of this package's own, and those of TensorFlow 2.
_OWN_SPACES = frozenset({
    "app", "data", "debugging", "flags", "gfile", "graph_util", "image", "initializers", "io",
    "keras", "layers", "linalg", "logging", "losses", "manip", "math", "metrics", "nn",
    "python_io", "ragged", "random", "saved_model", "sets", "sparse", "spectral", "strings",
    "summary", "train",
})  # fmt: skip
_SPACES = frozenset({
    "audio", "autograph", "bitwise", "config", "distribute", "dtypes", "errors",
    "experimental", "feature_column", "lookup", "mlir", "nest", "quantization",
    "queue", "signal", "test", "version", "xla", "sysconfig", "types", "raw_ops"
})  # fmt: skip
# Protocol messages, by module.
_MESSAGES = {
    "AttrValue": "attr_value_pb2",
    "Event": "event_pb2",
    "GraphDef": "graph_pb2",
    "HistogramProto": "summary_pb2",
    "LogMessage": "event_pb2",
    "MetaGraphDef": "meta_graph_pb2",
    "NameAttrList": "attr_value_pb2",
    "NodeDef": "node_def_pb2",
    "SessionLog": "event_pb2",
    "Summary": "summary_pb2",
    "SummaryMetadata": "summary_pb2",
    "TensorInfo": "meta_graph_pb2",
}


def __getattr__(name: str) -> object:
    if name == "__all__":
        # The names for `from ... import *`, including lazily loaded ones.
        return [each for each in __dir__() if not each.startswith("_")]
    if name in _OWN_SPACES:
        return _importlib.import_module(f".{name}", __name__)
    if name in _MESSAGES:
        module = _importlib.import_module(f"tensorboard.compat.proto.{_MESSAGES[name]}")
        return getattr(module, name)
    if name == "compat":
        return _importlib.import_module("..", __name__)
    if name in _SAME or name in _SPACES:
        value = getattr(_runnel, name, None)
    elif name in _ELSEWHERE:
        value = _runnel
        for part in _ELSEWHERE[name].split("."):
            value = getattr(value, part, None)
    else:
        value = None
    if value is None and name != "newaxis":
        raise AttributeError(f"module 'runnel.compat.v1' has no attribute {name!r}")
    globals()[name] = value
    return value


def _exists(path: str) -> bool:
    value: object = _runnel
    for part in path.split("."):
        if part not in dir(value):
            return False
        value = getattr(value, part)
    return True


def __dir__() -> list[str]:
    known = {name for name in _SAME | _SPACES if _exists(name)}
    known |= {name for name, path in _ELSEWHERE.items() if _exists(path)}
    return sorted({*globals(), *known, *_OWN_SPACES, *_MESSAGES})
