"""Functions of tf.compat.v1.nn whose arguments TensorFlow 2 renamed or put in another order."""

from __future__ import annotations

import runnel as tf

from .older import either
from .rnn import static_rnn
from .scopes import variable_scope


def batch_norm_with_global_normalization(
    t=None, m=None, v=None, beta=None, gamma=None, variance_epsilon=None,
    scale_after_normalization=None, name=None, input=None, mean=None, variance=None,
):  # fmt: skip
    """(input - mean) / sqrt(variance + epsilon) · gamma + beta."""
    x = either(input, "input", t, "t")
    average, spread = either(mean, "mean", m, "m"), either(variance, "variance", v, "v")
    return tf.nn.batch_norm_with_global_normalization(
        x, average, spread, beta, gamma, variance_epsilon, scale_after_normalization, name
    )


def conv3d_transpose(
    value, filter=None, output_shape=None, strides=None, padding="SAME", data_format="NDHWC",
    name=None, input=None, filters=None, dilations=None,
):  # fmt: skip
    """The transpose of a convolution of volumes."""
    x, kernel = either(input, "input", value, "value"), either(filters, "filters", filter, "filter")
    return tf.nn.conv3d_transpose(
        x, kernel, output_shape, strides, padding, data_format, dilations, name
    )


def ctc_loss_v2(
    labels, logits, label_length, logit_length, logits_time_major=True, unique=None,
    blank_index=None, name=None,
):  # fmt: skip
    """The loss of sequences of labels, whose places in time are not known."""
    return tf.nn.ctc_loss(
        labels, logits, label_length, logit_length, logits_time_major, unique, blank_index, name
    )


def ctc_beam_search_decoder_v2(inputs, sequence_length, beam_width=100, top_paths=1):
    """The likeliest sequences of labels."""
    return tf.nn.ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths)


def dilation2d(
    input, filter=None, strides=None, rates=None, padding=None, name=None, filters=None,
    dilations=None,
):  # fmt: skip
    """The largest sum of a patch and the filter."""
    kernel, spread = (
        either(filters, "filters", filter, "filter"), either(dilations, "dilations", rates, "rates")
    )  # fmt: skip
    return tf.nn.dilation2d(input, kernel, strides, padding, "NHWC", spread, name)


def erosion2d(value, kernel, strides, rates, padding, name=None):
    """The smallest difference of a patch and the kernel."""
    return tf.nn.erosion2d(value, kernel, strides, padding, "NHWC", rates, name)


def max_pool_with_argmax(
    input, ksize, strides, padding, data_format="NHWC", Targmax=None, name=None, output_dtype=None,
    include_batch_in_index=False,
):  # fmt: skip
    """The largest element of each window, and where it was."""
    kind = either(output_dtype, "output_dtype", Targmax, "Targmax") or tf.int64
    return tf.nn.max_pool_with_argmax(
        input, ksize, strides, padding, data_format, kind, include_batch_in_index, name
    )


def pool(
    input, window_shape, pooling_type, padding, dilation_rate=None, strides=None, name=None,
    data_format=None, dilations=None,
):  # fmt: skip
    """The mean or the largest element of each window."""
    spread = either(dilations, "dilations", dilation_rate, "dilation_rate")
    return tf.nn.pool(
        input, window_shape, pooling_type, strides, padding, data_format, spread, name
    )


def _require_one_table(params, partition_strategy):
    if isinstance(params, list | tuple) and len(params) > 1 and partition_strategy == "mod":
        raise ValueError(
            "partition_strategy='mod' of several tables: join them into one, or give "
            "partition_strategy='div'."
        )


def embedding_lookup_sparse(
    params, sp_ids, sp_weights, partition_strategy="mod", name=None, combiner=None, max_norm=None,
    allow_fast_lookup=False,
):  # fmt: skip
    """Combined rows of a table, for each row of ids."""
    _require_one_table(params, partition_strategy)
    return tf.nn.embedding_lookup_sparse(
        params, sp_ids, sp_weights, combiner, max_norm, name, allow_fast_lookup
    )


def safe_embedding_lookup_sparse(
    embedding_weights, sparse_ids, sparse_weights=None, combiner="mean", default_id=None,
    name=None, partition_strategy="div", max_norm=None, allow_fast_lookup=False,
):  # fmt: skip
    """Combined rows of a table, for each row of ids; of empty rows the default."""
    _require_one_table(embedding_weights, partition_strategy)
    return tf.nn.safe_embedding_lookup_sparse(
        embedding_weights, sparse_ids, sparse_weights, combiner, default_id, max_norm, name,
        allow_fast_lookup,
    )  # fmt: skip


def space_to_batch(input, paddings, block_size=None, name=None, block_shape=None):
    """Blocks of space as elements of the batch."""
    block = either(block_shape, "block_shape", block_size, "block_size")
    return tf.space_to_batch(input, _both_sides(block), paddings, name)


def batch_to_space(input, crops, block_size, name=None, block_shape=None):
    """Elements of the batch as blocks of space."""
    block = either(block_shape, "block_shape", block_size, "block_size")
    return tf.batch_to_space(input, _both_sides(block), crops, name)


def quantize_v2(
    input, min_range, max_range, T, mode="MIN_COMBINED", name=None,
    round_mode="HALF_AWAY_FROM_ZERO", narrow_range=False, axis=None, ensure_minimum_range=0.01,
):  # fmt: skip
    """Numbers of a range as small integers, with the range they stand for."""
    return tf.quantization.quantize(
        input, min_range, max_range, T, mode, round_mode, name, narrow_range, axis,
        ensure_minimum_range,
    )  # fmt: skip


def _both_sides(block):
    return [block, block] if isinstance(block, int) else block


def static_bidirectional_rnn(
    cell_fw, cell_bw, inputs, initial_state_fw=None, initial_state_bw=None, dtype=None,
    sequence_length=None, scope=None,
):  # fmt: skip
    """The outputs of one cell forwards and one backwards, joined, and their last states."""
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as inner:
            ahead, last_ahead = static_rnn(
                cell_fw, inputs, initial_state_fw, dtype, sequence_length, inner
            )
        with variable_scope("bw") as inner:
            back, last_back = static_rnn(
                cell_bw, _reversed(inputs, sequence_length), initial_state_bw, dtype,
                sequence_length, inner,
            )  # fmt: skip
        back = _reversed(back, sequence_length)
    joined = [tf.concat([a, b], 1) for a, b in zip(ahead, back, strict=True)]
    return joined, last_ahead, last_back


def _reversed(steps, lengths):
    if lengths is None:
        return list(reversed(steps))
    whole = tf.reverse_sequence(tf.stack(list(steps)), tf.cast(lengths, tf.int32), 0, 1)
    return tf.unstack(whole, len(steps))
