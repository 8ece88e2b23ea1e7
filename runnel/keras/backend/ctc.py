"""Connectionist temporal classification: sequences with unaligned labels."""

from __future__ import annotations

import runnel as tf

from .settings import epsilon


def ctc_batch_cost(y_true, y_pred, input_length, label_length):
    """-log of the probability of each label sequence; the last class is the blank.

    `y_true` is (samples, maximum label length), `y_pred` (samples, time steps, classes) the output
    of a softmax; the lengths are (samples, 1), and so is the result.

    >>> y_pred = tf.constant([[[0.5, 0.5], [0.5, 0.5]]])
    >>> cost = tf.keras.backend.ctc_batch_cost([[0]], y_pred, [[2]], [[1]])
    >>> tf.exp(-cost).numpy().round(4).tolist()
    [[0.75]]
    """
    y_pred = tf.convert_to_tensor(y_pred)
    label_length = tf.cast(tf.squeeze(label_length, -1), tf.int32)
    input_length = tf.cast(tf.squeeze(input_length, -1), tf.int32)
    logits = tf.math.log(tf.transpose(y_pred, [1, 0, 2]) + epsilon())
    cost = tf.nn.ctc_loss(
        labels=tf.cast(y_true, tf.int32),
        logits=logits,
        label_length=label_length,
        logit_length=input_length,
        blank_index=-1,
    )
    return tf.expand_dims(cost, 1)


def ctc_label_dense_to_sparse(labels, label_lengths):
    """Padded labels as a SparseTensor without the padding.

    >>> sparse = tf.keras.backend.ctc_label_dense_to_sparse([[1, 2], [3, 0]], [2, 1])
    >>> sparse.values.numpy().tolist()
    [1, 2, 3]
    """
    labels = tf.convert_to_tensor(labels)
    lengths = tf.cast(tf.convert_to_tensor(label_lengths), tf.int64)
    shape = tf.shape(labels, out_type=tf.int64)
    counts = tf.range(shape[1])[tf.newaxis, :] < lengths[:, tf.newaxis]
    indices = tf.where(counts)
    return tf.SparseTensor(indices, tf.gather_nd(labels, indices), shape)


def ctc_decode(y_pred, input_length, greedy=True, beam_width=100, top_paths=1):
    """The most probable label sequences for softmax outputs over time, and their log probabilities.

    `y_pred` is (samples, time steps, classes), the last class the blank. The labels are padded with
    -1 to the number of time steps; a beam search returns `top_paths` of them.

    >>> y_pred = tf.constant([[[0.9, 0.0, 0.1], [0.1, 0.8, 0.1], [0.1, 0.0, 0.9]]])
    >>> (labels,), _ = tf.keras.backend.ctc_decode(y_pred, [3])
    >>> labels.numpy().tolist()
    [[0, 1, -1]]
    """
    y_pred = tf.convert_to_tensor(y_pred)
    sizes = tf.shape(y_pred, out_type=tf.int64)
    logits = tf.math.log(tf.transpose(y_pred, [1, 0, 2]) + epsilon())
    lengths = tf.cast(input_length, tf.int32)
    if greedy:
        decoded, scores = tf.nn.ctc_greedy_decoder(logits, lengths)
    else:
        decoded, scores = tf.nn.ctc_beam_search_decoder(
            logits, lengths, beam_width=beam_width, top_paths=top_paths
        )
    whole = [
        tf.sparse.to_dense(tf.SparseTensor(each.indices, each.values, sizes[:2]), default_value=-1)
        for each in decoded
    ]
    return whole if greedy else [_merged(each) for each in whole], scores


def _merged(labels):
    """Labels with consecutive repeats collapsed."""
    before = tf.pad(labels[:, :-1], [[0, 0], [1, 0]], constant_values=-2)
    kept = tf.where((labels != before) & (labels != -1))
    places = tf.cumsum(tf.cast((labels != before) & (labels != -1), tf.int64), axis=1) - 1
    targets = tf.stack([kept[:, 0], tf.gather_nd(places, kept)], axis=1)
    shape = tf.shape(labels, out_type=tf.int64)
    return tf.scatter_nd(targets, tf.gather_nd(labels, kept) + 1, shape) - 1
