"""Cross-entropies of targets and outputs, per element or per sample."""

from __future__ import annotations

import runnel as tf


def binary_crossentropy(target, output, from_logits=False):
    """-target * log(p) - (1 - target) * log(1 - p), element-wise.

    >>> target, output = tf.constant([1.0, 0.0]), tf.constant([0.5, 0.5])
    >>> tf.keras.backend.binary_crossentropy(target, output).numpy().round(4)
    array([0.6931, 0.6931], dtype=float32)
    """
    # The mean of a scalar is the scalar itself.
    return tf.keras.losses.binary_crossentropy(target, output, from_logits, axis=[])


def binary_focal_crossentropy(
    target, output, apply_class_balancing=False, alpha=0.25, gamma=2.0, from_logits=False
):
    """Binary cross-entropy that down-weights well-classified examples, element-wise."""
    return tf.keras.losses.binary_focal_crossentropy(
        target, output, apply_class_balancing, alpha, gamma, from_logits, axis=[]
    )


def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """-sum(target * log(p)) along the class axis, `axis`.

    >>> target, output = tf.constant([[0.0, 1.0]]), tf.constant([[0.5, 0.5]])
    >>> tf.keras.backend.categorical_crossentropy(target, output).numpy().round(4)
    array([0.6931], dtype=float32)
    """
    return tf.keras.losses.categorical_crossentropy(target, output, from_logits, axis=axis)


def categorical_focal_crossentropy(
    target, output, alpha=0.25, gamma=2.0, from_logits=False, axis=-1
):
    """Categorical cross-entropy that down-weights well-classified examples."""
    return tf.keras.losses.categorical_focal_crossentropy(
        target, output, alpha, gamma, from_logits, axis=axis
    )


def sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1, ignore_class=None):
    """-log(p) of the class whose index is the target.

    >>> output = tf.constant([[0.5, 0.5]])
    >>> tf.keras.backend.sparse_categorical_crossentropy([1], output).numpy().round(4)
    array([0.6931], dtype=float32)
    """
    return tf.keras.losses.sparse_categorical_crossentropy(
        target, output, from_logits, axis, ignore_class
    )
