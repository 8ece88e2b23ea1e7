"""Sampled losses, with TensorFlow 1's arguments."""

from __future__ import annotations

import runnel as tf


def _whole(values, strategy):
    """One tensor; a partitioned one only with contiguous parts, the strategy 'div'."""
    is_parted = isinstance(values, list | tuple) and len(values) > 1
    if is_parted and strategy != "div":
        raise ValueError(
            f"partition_strategy={strategy!r} of several parts is not known here. Give one tensor, "
            "or parts with partition_strategy='div'."
        )
    return values


def nce_loss(
    weights,
    biases,
    labels,
    inputs,
    num_sampled,
    num_classes,
    num_true=1,
    sampled_values=None,
    remove_accidental_hits=False,
    partition_strategy="mod",
    name="nce_loss",
):
    """Noise-contrastive estimation: binary classification of true against sampled classes."""
    return tf.nn.nce_loss(
        _whole(weights, partition_strategy), biases, labels, inputs, num_sampled, num_classes,
        num_true, sampled_values, remove_accidental_hits,
    )  # fmt: skip


def sampled_softmax_loss(
    weights,
    biases,
    labels,
    inputs,
    num_sampled,
    num_classes,
    num_true=1,
    sampled_values=None,
    remove_accidental_hits=True,
    partition_strategy="mod",
    name="sampled_softmax_loss",
    seed=None,
):
    """Softmax cross entropy over the true and the sampled classes instead of all classes."""
    return tf.nn.sampled_softmax_loss(
        _whole(weights, partition_strategy), biases, labels, inputs, num_sampled, num_classes,
        num_true, sampled_values, remove_accidental_hits, seed,
    )  # fmt: skip
