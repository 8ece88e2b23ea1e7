"""Connectionist temporal classification: sequences without an alignment to their labels."""

from __future__ import annotations

import runnel as tf

from .settings import epsilon


def ctc_batch_cost(y_true, y_pred, input_length, label_length):
    """-log of the probability of each label sequence; the last class is the blank.

    `y_true` is (samples, longest label), `y_pred` (samples, time steps, classes) the result of a
    softmax; the lengths are (samples, 1), and so is the result.

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
        blank_index=y_pred.shape[-1] - 1,
    )
    return tf.expand_dims(cost, 1)
