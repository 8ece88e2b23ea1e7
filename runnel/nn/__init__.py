"""tf.nn: Neural-network operations."""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from ..ops.candidate_sampling import (
    all_candidate_sampler as all_candidate_sampler,
    compute_accidental_hits as compute_accidental_hits,
    fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler as learned_unigram_candidate_sampler,
)
from ..ops.math.elementwise import (
    sigmoid as sigmoid,
    softplus as softplus,
    softsign as softsign,
)
from ..ops.math.sorting import (
    approx_max_k as approx_max_k,
    approx_min_k as approx_min_k,
    in_top_k as in_top_k,
    top_k as top_k,
)
from ..ops.math.statistics import (
    l2_normalize as l2_normalize,
    zero_fraction as zero_fraction,
)
from ..ops.math.trigonometry import (
    tanh as tanh,
)
from ..ops.nn.activation import (
    crelu as crelu,
    elu as elu,
    gelu as gelu,
    leaky_relu as leaky_relu,
    relu as relu,
    relu6 as relu6,
    selu as selu,
    silu as silu,
    swish as swish,
)
from ..ops.nn.bias import (
    bias_add as bias_add,
)
from ..ops.nn.convolution import (
    atrous_conv2d as atrous_conv2d,
    conv1d as conv1d,
    conv2d as conv2d,
    conv3d as conv3d,
    convolution as convolution,
)
from ..ops.nn.convolution_transpose import (
    atrous_conv2d_transpose as atrous_conv2d_transpose,
    conv1d_transpose as conv1d_transpose,
    conv2d_transpose as conv2d_transpose,
    conv3d_transpose as conv3d_transpose,
    conv_transpose as conv_transpose,
)
from ..ops.nn.cross_entropy import (
    log_poisson_loss as log_poisson_loss,
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits,
)
from ..ops.nn.ctc import (
    collapse_repeated as collapse_repeated,
    ctc_loss as ctc_loss,
    ctc_unique_labels as ctc_unique_labels,
)
from ..ops.nn.depthwise import (
    depthwise_conv2d as depthwise_conv2d,
    depthwise_conv2d_backprop_filter as depthwise_conv2d_backprop_filter,
    depthwise_conv2d_backprop_input as depthwise_conv2d_backprop_input,
    separable_conv2d as separable_conv2d,
)
from ..ops.nn.dropout import (
    dropout as dropout,
)
from ..ops.nn.embedding import (
    embedding_lookup as embedding_lookup,
)
from ..ops.nn.fractional_pooling import (
    fractional_avg_pool as fractional_avg_pool,
    fractional_max_pool as fractional_max_pool,
)
from ..ops.nn.isotonic import (
    isotonic_regression as isotonic_regression,
)
from ..ops.nn.local_response import (
    local_response_normalization as local_response_normalization,
    lrn as lrn,
)
from ..ops.nn.losses import (
    compute_average_loss as compute_average_loss,
    l2_loss as l2_loss,
    scale_regularization_loss as scale_regularization_loss,
)
from ..ops.nn.moments import (
    moments as moments,
    normalize_moments as normalize_moments,
    sufficient_statistics as sufficient_statistics,
    weighted_moments as weighted_moments,
)
from ..ops.nn.morphology import (
    dilation2d as dilation2d,
    erosion2d as erosion2d,
)
from ..ops.nn.normalization import (
    batch_norm_with_global_normalization as batch_norm_with_global_normalization,
    batch_normalization as batch_normalization,
)
from ..ops.nn.pooling import (
    avg_pool as avg_pool,
    avg_pool1d as avg_pool1d,
    avg_pool2d as avg_pool2d,
    avg_pool3d as avg_pool3d,
    max_pool as max_pool,
    max_pool1d as max_pool1d,
    max_pool2d as max_pool2d,
    max_pool3d as max_pool3d,
    max_pool_with_argmax as max_pool_with_argmax,
    pool as pool,
)
from ..ops.nn.sampled_loss import (
    nce_loss as nce_loss,
    sampled_softmax_loss as sampled_softmax_loss,
)
from ..ops.nn.softmax import (
    log_softmax as log_softmax,
    softmax as softmax,
)
from ..ops.nn.space_batch import (
    space_to_batch as space_to_batch,
    with_space_to_batch as with_space_to_batch,
)
from ..ops.nn.space_depth import (
    depth_to_space as depth_to_space,
    space_to_depth as space_to_depth,
)
from . import experimental as experimental

if _TYPE_CHECKING:
    from ..keras.layers.rnn_wrappers import (
        DeviceWrapper as RNNCellDeviceWrapper,
        DropoutWrapper as RNNCellDropoutWrapper,
        ResidualWrapper as RNNCellResidualWrapper,
    )
    from ..ops.sparse.decoding import (
        ctc_beam_search_decoder as ctc_beam_search_decoder,
        ctc_greedy_decoder as ctc_greedy_decoder,
    )
    from ..ops.sparse.embedding import (
        embedding_lookup_sparse as embedding_lookup_sparse,
        safe_embedding_lookup_sparse as safe_embedding_lookup_sparse,
    )

# Keras and sparse tensors load when first used: the module and the name there.
_LATER = {
    "RNNCellDeviceWrapper": ("keras.layers.rnn_wrappers", "DeviceWrapper"),
    "RNNCellDropoutWrapper": ("keras.layers.rnn_wrappers", "DropoutWrapper"),
    "RNNCellResidualWrapper": ("keras.layers.rnn_wrappers", "ResidualWrapper"),
    "ctc_beam_search_decoder": ("ops.sparse.decoding", "ctc_beam_search_decoder"),
    "ctc_greedy_decoder": ("ops.sparse.decoding", "ctc_greedy_decoder"),
    "embedding_lookup_sparse": ("ops.sparse.embedding", "embedding_lookup_sparse"),
    "safe_embedding_lookup_sparse": ("ops.sparse.embedding", "safe_embedding_lookup_sparse"),
}


def __getattr__(name: str) -> _Any:
    if name in _LATER:
        path, attribute = _LATER[name]
        module = _importlib.import_module(f"runnel.{path}")
        value = globals()[name] = getattr(module, attribute)
        return value
    from ..core.suggestions import no_attribute

    raise no_attribute(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
