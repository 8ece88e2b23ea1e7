"""tf.compat.v1.nn: neural-network functions with TensorFlow 1's arguments."""

from __future__ import annotations

import runnel as _tf

from ...ops.nn.normalization import fused_batch_norm as fused_batch_norm
from . import rnn_cell as rnn_cell
from .older import (
    depth_to_space as depth_to_space,
    either as _either,
    space_to_depth as space_to_depth,
)
from .older_nn import (
    batch_norm_with_global_normalization as batch_norm_with_global_normalization,
    conv3d_transpose as conv3d_transpose,
    ctc_beam_search_decoder_v2 as ctc_beam_search_decoder_v2,
    ctc_loss_v2 as ctc_loss_v2,
    dilation2d as dilation2d,
    embedding_lookup_sparse as embedding_lookup_sparse,
    erosion2d as erosion2d,
    max_pool_with_argmax as max_pool_with_argmax,
    pool as pool,
    safe_embedding_lookup_sparse as safe_embedding_lookup_sparse,
    space_to_batch as space_to_batch,
    static_bidirectional_rnn as static_bidirectional_rnn,
)
from .rnn import (
    bidirectional_dynamic_rnn as bidirectional_dynamic_rnn,
    dynamic_rnn as dynamic_rnn,
    static_rnn as static_rnn,
)
from .sampling import nce_loss as nce_loss, sampled_softmax_loss as sampled_softmax_loss

# Functions of `tf.nn` with other arguments in TensorFlow 1, without an older form here.
_OTHERS = frozenset({
    "ctc_beam_search_decoder", "ctc_loss", "fractional_avg_pool", "fractional_max_pool"
})  # fmt: skip


def softmax(logits, axis=None, name=None, dim=None):
    """exp(logits) / sum(exp(logits)) along an axis."""
    axis = _either(axis, "axis", dim, "dim")
    return _tf.nn.softmax(logits, -1 if axis is None else axis, name)


def log_softmax(logits, axis=None, name=None, dim=None):
    """The logarithm of the softmax."""
    axis = _either(axis, "axis", dim, "dim")
    return _tf.nn.log_softmax(logits, -1 if axis is None else axis, name)


def _named(function, labels, logits):
    if labels is None or logits is None:
        raise ValueError(
            f"Only call `{function}` with named arguments (labels=..., logits=..., ...)"
        )


def softmax_cross_entropy_with_logits(labels=None, logits=None, dim=-1, name=None, axis=None):
    """The cross-entropy of distributions and softmax(logits); labels have no gradients."""
    _named("softmax_cross_entropy_with_logits", labels, logits)
    labels = _tf.stop_gradient(_tf.convert_to_tensor(labels, dtype_hint="float32"))
    return _tf.nn.softmax_cross_entropy_with_logits(labels, logits, dim if axis is None else axis)


def softmax_cross_entropy_with_logits_v2(labels, logits, axis=None, name=None, dim=None):
    """The cross-entropy of distributions and softmax(logits)."""
    axis = _either(axis, "axis", dim, "dim")
    return _tf.nn.softmax_cross_entropy_with_logits(labels, logits, -1 if axis is None else axis)


def sparse_softmax_cross_entropy_with_logits(labels=None, logits=None, name=None):
    """The cross-entropy of classes and softmax(logits)."""
    _named("sparse_softmax_cross_entropy_with_logits", labels, logits)
    return _tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)


def sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None):
    """The cross-entropy of probabilities and sigmoid(logits)."""
    _named("sigmoid_cross_entropy_with_logits", labels, logits)
    return _tf.nn.sigmoid_cross_entropy_with_logits(labels, logits)


def weighted_cross_entropy_with_logits(
    labels=None, logits=None, pos_weight=None, name=None, targets=None
):
    """The cross-entropy of probabilities and sigmoid(logits), positive ones with a weight."""
    labels = _either(labels, "labels", targets, "targets")
    return _tf.nn.weighted_cross_entropy_with_logits(labels, logits, pos_weight)


def dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None):
    """The tensor with some elements dropped; `keep_prob` is the fraction that is kept."""
    if keep_prob is None and rate is None:
        raise ValueError("rate must be a scalar in the range [0, 1), got None")
    if rate is None:
        rate = 1 - keep_prob
    elif keep_prob is not None:
        raise ValueError("Cannot specify both 'rate' and 'keep_prob'.")
    return _tf.nn.dropout(x, rate, noise_shape, seed)


def max_pool(value, ksize, strides, padding, data_format="NHWC", name=None, input=None):
    """The maximum of each window."""
    value = _either(value, "value", input, "input")
    return _tf.nn.max_pool2d(value, ksize, strides, padding, data_format)


def avg_pool(value, ksize, strides, padding, data_format="NHWC", name=None, input=None):
    """The mean of each window."""
    value = _either(value, "value", input, "input")
    return _tf.nn.avg_pool2d(value, ksize, strides, padding, data_format)


avg_pool2d = avg_pool


def conv1d(
    value=None,
    filters=None,
    stride=None,
    padding=None,
    use_cudnn_on_gpu=None,
    data_format=None,
    name=None,
    input=None,
    dilations=None,
):
    """Convolution of sequences."""
    value = _either(value, "value", input, "input")
    return _tf.nn.conv1d(value, filters, stride, padding, data_format or "NWC", dilations)


def conv2d(
    input,
    filter=None,
    strides=None,
    padding=None,
    use_cudnn_on_gpu=True,
    data_format="NHWC",
    dilations=[1, 1, 1, 1],  # noqa: B006 (the signature is public)
    name=None,
    filters=None,
):
    """Convolution of images."""
    filter = _either(filter, "filter", filters, "filters")
    return _tf.nn.conv2d(input, filter, strides, padding, data_format or "NHWC", dilations)


def conv3d(
    input,
    filter=None,
    strides=None,
    padding=None,
    data_format="NDHWC",
    dilations=[1, 1, 1, 1, 1],  # noqa: B006 (the signature is public)
    name=None,
    filters=None,
):
    """Convolution of volumes."""
    filter = _either(filter, "filter", filters, "filters")
    return _tf.nn.conv3d(input, filter, strides, padding, data_format, dilations)


def conv2d_transpose(
    value=None,
    filter=None,
    output_shape=None,
    strides=None,
    padding="SAME",
    data_format="NHWC",
    name=None,
    input=None,
    filters=None,
    dilations=None,
):
    """The transposed convolution of images."""
    value = _either(value, "value", input, "input")
    filter = _either(filter, "filter", filters, "filters")
    return _tf.nn.conv2d_transpose(
        value, filter, output_shape, strides, padding, data_format, dilations
    )


def convolution(
    input,
    filter,
    padding,
    strides=None,
    dilation_rate=None,
    name=None,
    data_format=None,
    filters=None,
    dilations=None,
):
    """Convolution over one to three dimensions."""
    filter = _either(filter, "filter", filters, "filters")
    dilations = _either(dilations, "dilations", dilation_rate, "dilation_rate")
    return _tf.nn.convolution(input, filter, strides, padding, data_format, dilations)


def depthwise_conv2d(
    input, filter, strides, padding, rate=None, name=None, data_format=None, dilations=None
):
    """Depthwise convolution: each channel separately."""
    dilations = _either(dilations, "dilations", rate, "rate")
    return _tf.nn.depthwise_conv2d(input, filter, strides, padding, data_format, dilations)


def depthwise_conv2d_native(
    input,
    filter,
    strides,
    padding,
    data_format="NHWC",
    dilations=[1, 1, 1, 1],  # noqa: B006 (the signature is public)
    name=None,
):
    """Depthwise convolution: each channel separately."""
    return _tf.nn.depthwise_conv2d(input, filter, strides, padding, data_format, dilations[1:3])


def separable_conv2d(
    input,
    depthwise_filter,
    pointwise_filter,
    strides,
    padding,
    rate=None,
    name=None,
    data_format=None,
    dilations=None,
):
    """Depthwise convolution followed by a pointwise one."""
    return _tf.nn.separable_conv2d(
        input, depthwise_filter, pointwise_filter, strides, padding, data_format,
        _either(dilations, "dilations", rate, "rate"),
    )  # fmt: skip


def moments(x, axes, shift=None, name=None, keep_dims=None, keepdims=None):
    """The mean and variance over axes."""
    keep = bool(_either(keepdims, "keepdims", keep_dims, "keep_dims"))
    return _tf.nn.moments(x, axes, shift, keep)


def weighted_moments(x, axes, frequency_weights, name=None, keep_dims=None, keepdims=None):
    """The weighted mean and variance over axes."""
    keep = bool(_either(keepdims, "keepdims", keep_dims, "keep_dims"))
    return _tf.nn.weighted_moments(x, axes, frequency_weights, keep)


def sufficient_statistics(x, axes, shift=None, keep_dims=None, name=None, keepdims=None):
    """The sufficient statistics of the mean and variance over axes."""
    keep = bool(_either(keepdims, "keepdims", keep_dims, "keep_dims"))
    return _tf.nn.sufficient_statistics(x, axes, shift, keep)


def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    """The tensor divided by its norm along an axis."""
    return _tf.nn.l2_normalize(x, _either(axis, "axis", dim, "dim"), epsilon)


def embedding_lookup(
    params, ids, partition_strategy="mod", name=None, validate_indices=True, max_norm=None
):
    """The rows of a matrix, or of its partitions, at ids."""
    if isinstance(params, list | tuple) and len(params) > 1:
        if partition_strategy != "mod":
            raise ValueError(
                "Several parts can be looked up with partition_strategy='mod' only; join them with "
                "tf.concat for 'div'."
            )
        ids = _tf.convert_to_tensor(ids)
        count = len(params)
        rows = max(int(part.shape[0]) for part in params)
        padded = [_tf.pad(part, [[0, rows - int(part.shape[0])], [0, 0]]) for part in params]
        whole = _tf.reshape(_tf.stack(padded, axis=1), [rows * count, -1])
        return _tf.nn.embedding_lookup(whole, ids, max_norm)
    return _tf.nn.embedding_lookup(params, ids, max_norm)


def crelu(features, name=None, axis=-1):
    """relu of the features and of their negatives, concatenated."""
    return _tf.nn.crelu(features, axis)


def in_top_k(predictions, targets, k, name=None):
    """Whether the targets are among the k largest predictions."""
    return _tf.math.in_top_k(targets, predictions, k)


def xw_plus_b(x, weights, biases, name=None):
    """x · weights + biases."""
    return _tf.nn.bias_add(_tf.matmul(x, weights), biases)


def relu_layer(x, weights, biases, name=None):
    """relu(x · weights + biases)."""
    return _tf.nn.relu(xw_plus_b(x, weights, biases))


def zero_fraction(value, name=None):
    """The fraction of zeros."""
    return _tf.nn.zero_fraction(value)


def max_pool_v2(input, ksize, strides, padding, data_format=None, name=None):
    """The maximum of each window, over any number of dimensions."""
    return _tf.nn.max_pool(input, ksize, strides, padding, data_format)


def avg_pool_v2(input, ksize, strides, padding, data_format=None, name=None):
    """The mean of each window, over any number of dimensions."""
    return _tf.nn.avg_pool(input, ksize, strides, padding, data_format)


_SAMPLERS = frozenset({"log_uniform_candidate_sampler", "uniform_candidate_sampler"})


def __getattr__(name: str) -> object:
    if name == "__all__":
        # The names for `from ... import *`, including lazily loaded ones.
        return [each for each in __dir__() if not each.startswith("_")]
    if name in _SAMPLERS:
        return getattr(_tf.random, name)
    if name in _OTHERS or name.startswith("_"):
        raise AttributeError(f"module 'runnel.compat.v1.nn' has no attribute {name!r}")
    return getattr(_tf.nn, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_tf.nn)} - _OTHERS)
