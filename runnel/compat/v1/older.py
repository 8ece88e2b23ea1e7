"""Functions whose arguments have another order or other names in TensorFlow 1."""

from __future__ import annotations

import builtins
import contextlib

import runnel as tf

from ...core.autodiff import custom_gradient
from ...core.autodiff.tape import UnconnectedGradients
from ...core.context import state
from ...core.convert import convert_to_tensor as _convert
from ...core.dtypes import as_dtype
from ...core.indexed_slices import IndexedSlices
from ...ops.control_flow import without_list_of_one


def either(new, new_name, old, old_name):
    """The argument given under its name or its older one; ValueError where both are."""
    if old is None:
        return new
    if new is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
    return old


def _axis(axis, reduction_indices):
    return either(axis, "axis", reduction_indices, "reduction_indices")


def _kept(keepdims, keep_dims):
    return bool(either(keepdims, "keepdims", keep_dims, "keep_dims"))


def _reduction(name, summary):
    def function(
        input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None
    ):
        return reduce(
            input_tensor, _axis(axis, reduction_indices), _kept(keepdims, keep_dims), name
        )

    reduce = getattr(tf, name)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = summary
    return function


reduce_sum = _reduction("reduce_sum", "The sum over axes.")
reduce_mean = _reduction("reduce_mean", "The mean over axes.")
reduce_max = _reduction("reduce_max", "The maximum over axes.")
reduce_min = _reduction("reduce_min", "The minimum over axes.")
reduce_prod = _reduction("reduce_prod", "The product over axes.")
reduce_all = _reduction("reduce_all", "Whether all are true over axes.")
reduce_any = _reduction("reduce_any", "Whether any is true over axes.")
reduce_logsumexp = _reduction("reduce_logsumexp", "log(sum(exp(x))) over axes.")


def count_nonzero(
    input_tensor=None,
    axis=None,
    keepdims=None,
    dtype=tf.int64,
    name=None,
    reduction_indices=None,
    keep_dims=None,
    input=None,
):
    """The number of elements that are not zero, over axes."""
    return tf.math.count_nonzero(
        either(input_tensor, "input_tensor", input, "input"), _axis(axis, reduction_indices),
        _kept(keepdims, keep_dims), dtype, name,
    )  # fmt: skip


def argmax(input, axis=None, name=None, dimension=None, output_type=tf.int64):
    """The index of the largest element along an axis."""
    return tf.argmax(input, either(axis, "axis", dimension, "dimension"), output_type, name)


def argmin(input, axis=None, name=None, dimension=None, output_type=tf.int64):
    """The index of the smallest element along an axis."""
    return tf.argmin(input, either(axis, "axis", dimension, "dimension"), output_type, name)


def arg_max(input, dimension, output_type=tf.int64, name=None):
    """The index of the largest element along an axis."""
    return tf.argmax(input, dimension, output_type, name)


def arg_min(input, dimension, output_type=tf.int64, name=None):
    """The index of the smallest element along an axis."""
    return tf.argmin(input, dimension, output_type, name)


def squeeze(input, axis=None, name=None, squeeze_dims=None):
    """The tensor without dimensions of size 1."""
    return tf.squeeze(input, either(axis, "axis", squeeze_dims, "squeeze_dims"), name)


def expand_dims(input, axis=None, name=None, dim=None):
    """The tensor with a further dimension of size 1."""
    axis = either(axis, "axis", dim, "dim")
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return tf.expand_dims(input, axis, name)


def where(condition, x=None, y=None, name=None):
    """Elements of x and y selected by a condition of equal shape; rows, where it is a vector."""
    if x is None and y is None:
        return tf.where(condition, name=name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    condition, x = _convert(condition), _convert(x)
    y = _convert(y, x.dtype)
    if condition.shape.rank == 1 and (x.shape.rank or 0) > 1:
        condition = tf.reshape(condition, [-1, *[1] * (x.shape.rank - 1)])
    return tf.where(condition, x, y, name)


def gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0):
    """Slices of a tensor gathered at indices along an axis."""
    return tf.gather(params, indices, validate_indices, axis, batch_dims, name)


def gather_nd(params, indices, name=None, batch_dims=0, bad_indices_policy=""):
    """Slices of a tensor gathered at index vectors."""
    return tf.gather_nd(params, indices, batch_dims, name, bad_indices_policy)


def batch_gather(params, indices, name=None):
    """Batched gather: slices of each batch element at its own indices."""
    indices = _convert(indices)
    return tf.gather(params, indices, batch_dims=indices.shape.rank - 1, axis=-1, name=name)


def boolean_mask(tensor, mask, name="boolean_mask", axis=None):
    """The elements where a mask is true."""
    return tf.boolean_mask(tensor, mask, axis)


def pad(tensor, paddings, mode="CONSTANT", name=None, constant_values=0):
    """The tensor with padding."""
    return tf.pad(tensor, paddings, mode, constant_values, name)


def shape(input, name=None, out_type=None):
    """The shape as a tensor."""
    return tf.shape(input, tf.int32 if out_type is None else out_type, name)


def size(input, name=None, out_type=None):
    """The number of elements as a tensor."""
    return tf.size(input, tf.int32 if out_type is None else out_type, name)


def zeros_like(tensor, dtype=None, name=None, optimize=True):
    """Zeros of a tensor's shape."""
    return tf.zeros_like(tensor, dtype, name)


def ones_like(tensor, dtype=None, name=None, optimize=True):
    """Ones of a tensor's shape."""
    return tf.ones_like(tensor, dtype, name)


def transpose(a, perm=None, name="transpose", conjugate=False):
    """The tensor with its dimensions permuted."""
    return tf.transpose(a, perm, conjugate)


def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None, keep_dims=None):
    """The norm of vectors or matrices."""
    return tf.norm(tensor, ord, axis, _kept(keepdims, keep_dims), name)


def reverse_sequence(
    input, seq_lengths, seq_axis=None, batch_axis=None, name=None, seq_dim=None, batch_dim=None
):
    """Each sequence with its first elements reversed."""
    seq_axis = either(seq_axis, "seq_axis", seq_dim, "seq_dim")
    batch_axis = either(batch_axis, "batch_axis", batch_dim, "batch_dim")
    return tf.reverse_sequence(input, seq_lengths, seq_axis, batch_axis, name)


def constant(value, dtype=None, shape=None, name="Const", verify_shape=False):
    """A constant tensor; the last of fewer elements than the shape has is repeated."""
    kind = None if dtype is None else as_dtype(dtype)
    if shape is None:
        return tf.constant(value, kind)
    import math

    import numpy as np

    values = np.array(value)
    if verify_shape and list(values.shape) != list(shape):
        raise TypeError(f"Expected Tensor's shape: {list(shape)}, got {values.shape}.")
    count = math.prod(int(each) for each in shape)
    if 1 < values.size < count:
        rest = np.full(count - values.size, values.reshape(-1)[-1])
        value = np.concatenate([values.reshape(-1), rest]).reshape(shape).tolist()
    return tf.constant(value, kind, shape)


def convert_to_tensor(value, dtype=None, name=None, preferred_dtype=None, dtype_hint=None):
    """A tensor with the value of a Python number, list, NumPy array, variable or tensor."""
    hint = either(dtype_hint, "dtype_hint", preferred_dtype, "preferred_dtype")
    return tf.convert_to_tensor(value, dtype, hint)


def convert_to_tensor_or_indexed_slices(value, dtype=None, name=None):
    """IndexedSlices as they are, anything else as a tensor."""
    return value if isinstance(value, IndexedSlices) else tf.convert_to_tensor(value, dtype)


def convert_to_tensor_or_sparse_tensor(value, dtype=None, name=None):
    """A sparse tensor as it is, anything else as a tensor."""
    from .values import SparseTensorValue

    if isinstance(value, SparseTensorValue):
        return tf.SparseTensor(*value)
    return value if isinstance(value, tf.SparseTensor) else tf.convert_to_tensor(value, dtype)


def cond(pred, true_fn=None, false_fn=None, strict=False, name=None, fn1=None, fn2=None):
    """The result of one of two functions, selected by `pred`."""
    first = either(true_fn, "true_fn", fn1, "fn1")
    second = either(false_fn, "false_fn", fn2, "fn2")
    for each, title in ((first, "true_fn"), (second, "false_fn")):
        if not callable(each):
            raise TypeError(f"{title} must be callable.")
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool")
    result = tf.cond(pred, first, second)
    return result if strict or not tf.executing_eagerly() else without_list_of_one(result)


def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """The result of the first function whose predicate is true."""
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, dict) else pred_fn_pairs
    return tf.case(pairs, default, exclusive, strict)


def while_loop(
    cond,
    body,
    loop_vars,
    shape_invariants=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    name=None,
    maximum_iterations=None,
    return_same_structure=False,
):
    """Run `body` while `cond` is true; a single loop variable is returned without a list."""
    result = tf.while_loop(
        cond, body, loop_vars, shape_invariants, parallel_iterations, back_prop, swap_memory,
        maximum_iterations,
    )  # fmt: skip
    single = isinstance(result, (list, builtins.tuple)) and len(result) == 1
    return result[0] if single and not return_same_structure else result


def gradients(
    ys,
    xs,
    grad_ys=None,
    name="gradients",
    colocate_gradients_with_ops=False,
    gate_gradients=False,
    aggregation_method=None,
    stop_gradients=None,
    unconnected_gradients=UnconnectedGradients.NONE,
):
    """The derivative of the sum of `ys` with respect to each of `xs`, in a graph."""
    return custom_gradient.gradients(
        ys, xs, grad_ys, name, gate_gradients, aggregation_method, stop_gradients,
        unconnected_gradients,
    )  # fmt: skip


def hessians(
    ys,
    xs,
    name="hessians",
    colocate_gradients_with_ops=False,
    gate_gradients=False,
    aggregation_method=None,
):
    """The second derivatives of the sum of `ys` with respect to each of `xs`, in a graph."""
    return custom_gradient.hessians(ys, xs)


def tuple(tensors, name=None, control_inputs=None):
    """The tensors, after all of them and the control inputs are computed."""
    return tf.tuple(tensors, control_inputs, name)


def div(x, y, name=None):
    """x / y; for integers, floor division, as in Python 2."""
    x, y = _convert(x), _convert(y)
    return tf.math.floordiv(x, y) if x.dtype.is_integer else tf.divide(x, y)


def floor_div(x, y, name=None):
    """x / y rounded down."""
    return tf.math.floordiv(x, y, name)


def _to(dtype, name):
    def function(x, name=name):
        return tf.cast(x, dtype)

    function.__name__ = function.__qualname__ = f"to_{'float' if name == 'ToFloat' else dtype.name}"
    if name == "ToDouble":
        function.__name__ = function.__qualname__ = "to_double"
    function.__doc__ = f"The tensor as {dtype.name}."
    return function


to_float = _to(tf.float32, "ToFloat")
to_double = _to(tf.float64, "ToDouble")
to_int32 = _to(tf.int32, "ToInt32")
to_int64 = _to(tf.int64, "ToInt64")
to_bfloat16 = _to(tf.bfloat16, "ToBFloat16")
to_complex64 = _to(tf.complex64, "ToComplex64")
to_complex128 = _to(tf.complex128, "ToComplex128")


def multinomial(logits, num_samples, seed=None, name=None, output_dtype=None):
    """Samples from the categorical distributions of the rows of `logits`."""
    return tf.random.categorical(logits, num_samples, output_dtype or tf.int64, seed)


def random_poisson(lam, shape, dtype=tf.float32, seed=None, name=None):
    """Poisson-distributed random numbers."""
    return tf.random.poisson(shape, lam, dtype, seed)


def confusion_matrix(
    labels, predictions, num_classes=None, dtype=tf.int32, name=None, weights=None
):
    """The confusion matrix: how often each class was predicted as each other one."""
    return tf.math.confusion_matrix(labels, predictions, num_classes, weights, dtype)


def bincount(arr, weights=None, minlength=None, maxlength=None, dtype=tf.int32):
    """How often each number occurs."""
    return tf.math.bincount(arr, weights, minlength, maxlength, dtype)


def clip_by_average_norm(t, clip_norm, name=None):
    """The tensor, scaled down where its norm per element is larger than `clip_norm`."""
    values = _convert(t)
    count = tf.cast(tf.size(values), values.dtype)
    average = tf.sqrt(tf.reduce_sum(values * values, keepdims=True)) / count
    return values * clip_norm * tf.minimum(1.0 / average, 1.0 / clip_norm)


def setdiff1d(x, y, index_dtype=tf.int32, name=None):
    """The elements of x that are not in y, and their indices."""
    from collections import namedtuple

    x = _convert(x)
    y = _convert(y, x.dtype)
    missing = tf.logical_not(tf.reduce_any(tf.equal(x[:, None], y[None]), axis=1))
    places = tf.cast(tf.where(missing)[:, 0], index_dtype)
    return namedtuple("ListDiff", ["out", "idx"])(tf.boolean_mask(x, missing), places)


def verify_tensor_all_finite(t=None, msg=None, name=None, x=None, message=None):
    """The tensor; InvalidArgumentError where it holds a NaN or an infinity."""
    return tf.debugging.check_numerics(
        either(t, "t", x, "x"), either(msg, "msg", message, "message")
    )


def Print(input_, data, message=None, first_n=None, summarize=None, name=None):
    """The first tensor; it also prints the others when it is computed."""
    import sys

    tensor = _convert(input_)
    printed = tf.print(message or "", *data, output_stream=sys.stderr, summarize=summarize or 3)
    with tf.control_dependencies([] if printed is None else [printed]):
        return tf.identity(tensor)


def py_func(func, inp, Tout, stateful=True, name=None):
    """Call a function on NumPy arrays; its results become tensors, without gradients."""
    return tf.numpy_function(func, inp, Tout, stateful)


def string_to_number(string_tensor=None, out_type=tf.float32, name=None, input=None):
    """The numbers that strings represent."""
    return tf.strings.to_number(either(string_tensor, "string_tensor", input, "input"), out_type)


def substr(input, pos, len, name=None, unit="BYTE"):
    """Substrings."""
    return tf.strings.substr(input, pos, len, unit)


def string_split(
    source, sep=None, skip_empty=True, delimiter=None, result_type="SparseTensor", name=None
):
    """Strings split at separators, as a sparse or a ragged tensor."""
    sep = either(sep, "sep", delimiter, "delimiter")
    parts = tf.strings.split(source, " " if sep is None else sep)
    if skip_empty:
        parts = tf.ragged.boolean_mask(parts, tf.not_equal(parts, ""))
    return parts.to_sparse() if result_type == "SparseTensor" else parts


def reduce_join(
    inputs, axis=None, keep_dims=None, separator="", name=None, reduction_indices=None,
    keepdims=None,
):  # fmt: skip
    """Strings joined over axes."""
    return tf.strings.reduce_join(
        inputs, _axis(axis, reduction_indices), _kept(keepdims, keep_dims), separator
    )


def string_to_hash_bucket(string_tensor=None, num_buckets=None, name=None, input=None):
    """A number below `num_buckets` for each string."""
    return tf.strings.to_hash_bucket(
        either(string_tensor, "string_tensor", input, "input"), num_buckets
    )


def space_to_depth(input, block_size, name=None, data_format="NHWC"):
    """Blocks of an image rearranged into its channels."""
    return tf.nn.space_to_depth(input, block_size, data_format)


def depth_to_space(input, block_size, name=None, data_format="NHWC"):
    """Channels of an image rearranged into blocks."""
    return tf.nn.depth_to_space(input, block_size, data_format)


def sparse_to_dense(
    sparse_indices, output_shape, sparse_values, default_value=0, validate_indices=True, name=None
):
    """A dense tensor with values at indices, and the default elsewhere."""
    values = _convert(sparse_values)
    places = tf.cast(_convert(sparse_indices), tf.int64)
    if places.shape.rank == 0:
        places = tf.reshape(places, [1, 1])
    elif places.shape.rank == 1:
        places = places[:, None]
    if values.shape.rank == 0:
        values = tf.fill(tf.shape(places)[:1], values)
    default = _convert(default_value, values.dtype)
    return tf.tensor_scatter_nd_update(tf.fill(output_shape, default), places, values)


@contextlib.contextmanager
def colocate_with(op, ignore_existing=False):
    """Without effect: there is one device, on which all operations are colocated."""
    yield


@contextlib.contextmanager
def container(container_name):
    """Without effect: sessions hold the values of variables; there are no containers."""
    yield


def device(device_name_or_function):
    """A block of operations placed on a device."""
    if callable(device_name_or_function):
        return contextlib.nullcontext()
    return tf.device(device_name_or_function)


def executing_eagerly():
    """Whether operations run eagerly."""
    return state.graph is None
