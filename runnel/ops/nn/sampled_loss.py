"""Losses over many classes that evaluate only a few sampled ones."""

from __future__ import annotations

from ...core.convert import convert_to_tensor
from ...core.dtypes import int32, int64
from .. import candidate_sampling
from ..array import creation, joining, scatter, shaping
from ..linalg.matmul import matmul
from ..math import arithmetic, casting, elementwise, reduction
from .cross_entropy import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits
from .embedding import embedding_lookup


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
    name="nce_loss",
):
    """Noise-contrastive estimation: independent binary classification of true and sampled classes.

    The loss of each row of `inputs`. `sampled_values` are (candidates, expected counts of the true
    classes, expected counts of the candidates); by default log-uniform samples.
    """
    logits, targets = _sampled_logits(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits,
        None,
    )
    return reduction.reduce_sum(sigmoid_cross_entropy_with_logits(targets, logits), 1)


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
    seed=None,
    name="sampled_softmax_loss",
):
    """Softmax cross entropy over the true classes and sampled ones instead of all classes.

    The loss of each row of `inputs`, for training only: it underestimates the full loss.
    """
    logits, targets = _sampled_logits(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits,
        seed,
    )
    return softmax_cross_entropy_with_logits(elementwise.stop_gradient(targets), logits)


def _sampled_logits(
    weights,
    biases,
    labels,
    inputs,
    num_sampled,
    num_classes,
    num_true,
    sampled_values,
    remove_accidental_hits,
    seed,
):
    """The logits of the true classes, then of the samples, minus their log-counts; the targets."""
    labels = casting.cast(labels, int64)
    inputs = convert_to_tensor(inputs)
    if sampled_values is None:
        sampled_values = candidate_sampling.log_uniform_candidate_sampler(
            labels, num_true, num_sampled, True, num_classes, seed
        )
    samples, true_count, sample_count = (elementwise.stop_gradient(v) for v in sampled_values)
    samples = casting.cast(samples, int64)
    flat = shaping.reshape(labels, [-1])
    ids = joining.concat([flat, samples], 0)
    rows, bias = embedding_lookup(weights, ids), embedding_lookup(biases, ids)
    split = shaping.shape(flat)[0]
    sizes = joining.concat([[-1, num_true], shaping.shape(rows)[1:]], 0)
    true_rows = shaping.reshape(rows[:split], sizes)
    products = arithmetic.multiply(shaping.expand_dims(inputs, 1), true_rows)
    true_logits = reduction.reduce_sum(products, 2)
    true_logits += shaping.reshape(bias[:split], [-1, num_true])
    sampled_logits = matmul(inputs, rows[split:], transpose_b=True) + bias[split:]
    if remove_accidental_hits:
        sampled_logits += _hit_penalties(labels, samples, num_true, sampled_logits)
    true_logits -= elementwise.log(true_count)
    sampled_logits -= elementwise.log(sample_count)
    targets = [creation.ones_like(true_logits) / num_true, creation.zeros_like(sampled_logits)]
    return joining.concat([true_logits, sampled_logits], 1), joining.concat(targets, 1)


def _hit_penalties(labels, samples, num_true, like):
    """The most negative number where a sample is a true class of the row, 0 elsewhere."""
    rows, ids, penalties = candidate_sampling.compute_accidental_hits(labels, samples, num_true)
    places = joining.stack([rows, casting.cast(ids, int32)], 1)
    penalties = casting.cast(penalties, like.dtype)
    return scatter.tensor_scatter_nd_update(creation.zeros_like(like), places, penalties)
