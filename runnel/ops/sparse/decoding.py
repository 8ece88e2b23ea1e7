"""CTC decoders of label sequences, and the edit distance of sequences."""

from __future__ import annotations

import numpy as np

from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import float32, float64, int32
from ...core.errors import FailedPreconditionError
from ...core.op import execute, op
from ...core.shape_rules import require_rank
from ...core.shapes import TensorShape
from ..math import casting
from . import positions
from .sparse_tensor import SparseTensor, as_sparse


def _lengths_fit(inputs, sequence_length):
    frames, batch, _ = inputs.shape
    if len(sequence_length) != batch:
        raise FailedPreconditionError(
            None,
            None,
            f"len(sequence_length) != batch_size.  len(sequence_length):  {len(sequence_length)} "
            f"batch_size: {batch}",
        )
    if (sequence_length > frames).any():
        raise FailedPreconditionError(
            None,
            None,
            f"sequence_length holds {int(sequence_length.max())}, but there are {frames} frames.",
        )


def _as_sparse(rows):
    """Indices, values and shape of a matrix of rows of labels."""
    count = [len(row) for row in rows]
    indices = [(number, place) for number, row in enumerate(rows) for place in range(len(row))]
    return (
        np.array(indices, np.int64).reshape(-1, 2),
        np.array([label for row in rows for label in row], np.int64),
        np.array([len(rows), max(count, default=0)], np.int64),
    )


def _greedy_shape(inputs, attrs):
    frames, lengths = inputs
    require_rank(frames, 3, "inputs")
    require_rank(lengths, 1, "sequence_length")
    batch = frames.shape[1] if frames.shape.rank else None
    return [
        TensorShape([None, 2]), TensorShape([None]), TensorShape([2]), TensorShape([batch, 1])
    ]  # fmt: skip


@op(
    "CTCGreedyDecoder",
    "inputs: T, sequence_length: int32 -> decoded_indices: int64, decoded_values: int64, "
    "decoded_shape: int64, log_probability: T",
    T={float32, float64},
    shape=_greedy_shape,
    gradient=None,
)
def CTCGreedyDecoder(inputs, sequence_length, *, merge_repeated=False, blank_index=-1):
    if inputs.ndim != 3:
        raise ValueError("inputs is not a 3-Tensor")
    _lengths_fit(inputs, sequence_length)
    classes = inputs.shape[2]
    blank = blank_index + classes if blank_index < 0 else blank_index
    if not 0 <= blank < classes:
        raise ValueError(f"blank_index expected to be between {-classes} and {classes - 1}.")
    rows, score = [], np.zeros((inputs.shape[1], 1), inputs.dtype)
    for number, length in enumerate(sequence_length.tolist()):
        frames = inputs[:length, number]
        best = frames.argmax(1)
        score[number] = -np.add.reduce(frames.max(1)) if length else 0
        kept = best != blank
        if merge_repeated:
            kept[1:] &= best[1:] != best[:-1]
        rows.append(best[kept].tolist())
    return (*_as_sparse(rows), score)


def ctc_greedy_decoder(inputs, sequence_length, merge_repeated=True, blank_index=None):
    """The best class of every frame, without repeats and blanks; and -Σ of the best logits.

    >>> frames = tf.math.log([[[0.1, 0.8, 0.1]], [[0.1, 0.8, 0.1]], [[0.8, 0.1, 0.1]]])
    >>> decoded, _ = tf.nn.ctc_greedy_decoder(frames, [3])
    >>> decoded[0].values.numpy().tolist()
    [1, 0]
    """
    inputs = convert_to_tensor(inputs)
    lengths = casting.cast(convert_to_tensor(sequence_length), int32)
    attrs = {
        "merge_repeated": bool(merge_repeated),
        "blank_index": -1 if blank_index is None else int(blank_index),
    }
    *parts, score = execute(CTCGreedyDecoder, (inputs, lengths), attrs)
    return [SparseTensor(*parts)], score


def _beam_shape(inputs, attrs):
    frames, lengths = inputs
    require_rank(frames, 3, "inputs")
    require_rank(lengths, 1, "sequence_length")
    batch = frames.shape[1] if frames.shape.rank else None
    count = attrs["top_paths"]
    sizes = [TensorShape([None, 2])] * count + [TensorShape([None])] * count
    return sizes + [TensorShape([2])] * count + [TensorShape([batch, count])]


class _Beam:
    """The log-probabilities of the frames so far for a label sequence, by its last symbol."""

    __slots__ = ("blank", "label", "total")

    def __init__(self, blank=-np.inf, label=-np.inf):
        self.blank = blank
        self.label = label
        self.total = np.logaddexp(blank, label)


def _search(frames, beam_width):
    """The most probable label sequences (tuples) with their beams, in descending order."""
    blank = frames.shape[1] - 1
    shifted = frames - frames.max(1, keepdims=True)
    scores = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    beams = {(): _Beam(blank=0.0)}
    for frame in scores:
        candidates = {}
        for labels, beam in beams.items():
            label = -np.inf
            if labels:
                last, before = labels[-1], beams.get(labels[:-1])
                label = beam.label
                if before is not None:
                    repeats = len(labels) > 1 and labels[-2] == last
                    label = np.logaddexp(label, before.blank if repeats else before.total)
                label += frame[last]
            candidates[labels] = _Beam(beam.total + frame[blank], label)
        for labels, beam in beams.items():
            for label in range(blank):
                longer = (*labels, label)
                if longer in beams:
                    continue
                start = beam.blank if labels and labels[-1] == label else beam.total
                candidates[longer] = _Beam(label=start + frame[label])
        best = sorted(candidates.items(), key=lambda pair: -pair[1].total)
        beams = dict(best[:beam_width])
    return list(beams.items())


@op(
    "CTCBeamSearchDecoder",
    "inputs: T, sequence_length: int32 -> decoded_indices: top_paths*int64, "
    "decoded_values: top_paths*int64, decoded_shape: top_paths*int64, log_probability: T",
    T={float32, float64},
    shape=_beam_shape,
    gradient=None,
)
def CTCBeamSearchDecoder(inputs, sequence_length, *, beam_width, top_paths, merge_repeated=False):
    if inputs.ndim != 3:
        raise ValueError("inputs is not a 3-Tensor")
    _lengths_fit(inputs, sequence_length)
    if top_paths > beam_width:
        raise ValueError("requested more paths than the beam width.")
    paths = [[] for _ in range(top_paths)]
    score = np.zeros((inputs.shape[1], top_paths), inputs.dtype)
    for number, length in enumerate(sequence_length.tolist()):
        found = _search(inputs[:length, number].astype(np.float64), beam_width)
        if len(found) < top_paths:
            raise ValueError(
                f"Less leaves in the beam search than requested: {len(found)} < {top_paths}."
            )
        for place, (labels, beam) in enumerate(found[:top_paths]):
            if merge_repeated:
                labels = [x for i, x in enumerate(labels) if not i or x != labels[i - 1]]
            paths[place].append(list(labels))
            score[number, place] = beam.total
    parts = [_as_sparse(rows) for rows in paths]
    return [*(p[0] for p in parts), *(p[1] for p in parts), *(p[2] for p in parts), score]


def ctc_beam_search_decoder(inputs, sequence_length, beam_width=100, top_paths=1):
    """The most probable label sequences of all alignments, and their log-probabilities.

    The last class is the blank.

    >>> frames = tf.math.log([[[0.1, 0.8, 0.1]], [[0.1, 0.8, 0.1]], [[0.8, 0.1, 0.1]]])
    >>> decoded, _ = tf.nn.ctc_beam_search_decoder(frames, [3], beam_width=4)
    >>> decoded[0].values.numpy().tolist()
    [1, 0]
    """
    inputs = convert_to_tensor(inputs)
    lengths = casting.cast(convert_to_tensor(sequence_length), int32)
    attrs = {"beam_width": int(beam_width), "top_paths": int(top_paths), "merge_repeated": False}
    *parts, score = execute(CTCBeamSearchDecoder, (inputs, lengths), attrs)
    count = int(top_paths)
    columns = zip(parts[:count], parts[count : 2 * count], parts[2 * count :], strict=True)
    return [SparseTensor(*each) for each in columns], score


def _distance_shape(inputs, attrs):
    sizes = [constant_value(inputs[2]), constant_value(inputs[5])]
    if any(each is None for each in sizes):
        rank = inputs[2].shape[0] if inputs[2].shape.rank else None
        return TensorShape(None if rank is None else [None] * (rank - 1))
    return TensorShape([int(max(a, b)) for a, b in zip(*sizes, strict=True)][:-1])


@op(
    "EditDistance",
    "hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, "
    "truth_indices: int64, truth_values: T, truth_shape: int64 -> output: float32",
    shape=_distance_shape,
    gradient=None,
)
def EditDistance(
    hypothesis_indices,
    hypothesis_values,
    hypothesis_shape,
    truth_indices,
    truth_values,
    truth_shape,
    *,
    normalize=True,
):
    if len(hypothesis_shape) != len(truth_shape):
        raise ValueError(
            f"truth and hypothesis should have the same rank, got {len(truth_shape)} and "
            f"{len(hypothesis_shape)}"
        )
    positions.require_inside(hypothesis_indices, hypothesis_shape)
    positions.require_inside(truth_indices, truth_shape)
    sizes = np.maximum(hypothesis_shape, truth_shape)[:-1]
    guesses = _sequences(hypothesis_indices, hypothesis_values)
    truths = _sequences(truth_indices, truth_values)
    result = np.zeros(sizes, np.float32)
    for place in guesses.keys() | truths.keys():
        guess, truth = guesses.get(place, []), truths.get(place, [])
        distance = float(_edits(guess, truth))
        if normalize:
            distance = distance / len(truth) if truth else (np.inf if guess else 0.0)
        result[place] = distance
    return result


def _sequences(indices, values):
    found = {}
    for index, value in zip(indices.tolist(), values.tolist(), strict=True):
        found.setdefault(tuple(index[:-1]), []).append(value)
    return found


def _edits(guess, truth):
    """The minimum number of insertions, deletions and substitutions between two sequences."""
    row = list(range(len(truth) + 1))
    for i, mine in enumerate(guess, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(truth, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (mine != other))
    return row[-1]


def edit_distance(hypothesis, truth, normalize=True, name="edit_distance"):
    """The Levenshtein distance of sequences along the last axis, divided by the truth's length.

    >>> guess = tf.SparseTensor([[0, 0], [0, 1]], ["a", "b"], [1, 2])
    >>> truth = tf.SparseTensor([[0, 0], [0, 1]], ["a", "c"], [1, 2])
    >>> tf.edit_distance(guess, truth).numpy().tolist()
    [0.5]
    """
    hypothesis, truth = as_sparse(hypothesis, "hypothesis"), as_sparse(truth, "truth")
    inputs = (
        hypothesis.indices, hypothesis.values, hypothesis.dense_shape,
        truth.indices, truth.values, truth.dense_shape,
    )  # fmt: skip
    return execute(EditDistance, inputs, {"normalize": bool(normalize)})
