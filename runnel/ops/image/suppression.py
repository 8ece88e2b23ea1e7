"""Non-maximum suppression: of overlapping boxes, select the one with the highest score."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import float16, float32, int32
from ...core.op import op
from ...core.shapes import TensorShape

_SCORED = frozenset({float16, float32})


def _listed(count):
    def rule(inputs, attrs):
        boxes, scores = inputs[:2]
        if boxes.shape.rank not in (None, 2):
            raise ValueError(f"boxes must be 2-D, got the shape {boxes.shape}")
        if scores.shape.rank not in (None, 1):
            raise ValueError(f"scores must be 1-D, got the shape {scores.shape}")
        selected = TensorShape([None])
        return [selected, selected, TensorShape([])][:count] if count == 3 else selected

    return rule


def _check(boxes, scores, size, threshold):
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise ValueError(f"boxes must have the shape [count, 4], got {list(boxes.shape)}")
    if scores.shape != boxes.shape[:1]:
        raise ValueError(
            f"scores has incompatible shape {list(scores.shape)}: there are {len(boxes)} boxes"
        )
    if np.ndim(size):
        raise ValueError(f"max_output_size must be 0-D, got shape {list(np.shape(size))}")
    if size < 0:
        raise ValueError(f"output size must be non-negative, got {size}")
    if not 0 <= threshold <= 1:
        raise ValueError(f"iou_threshold must be in [0, 1], got {threshold}")


def ordered(boxes):
    """Boxes [y1, x1, y2, x2] with the minimum corner first."""
    low = np.minimum(boxes[..., :2], boxes[..., 2:])
    return np.concatenate([low, np.maximum(boxes[..., :2], boxes[..., 2:])], -1)


def _areas(boxes):
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def overlaps(boxes, areas, index):
    """Intersection over union of one box with all."""
    box = boxes[index]
    high = np.minimum(boxes[:, 2], box[2]) - np.maximum(boxes[:, 0], box[0])
    wide = np.minimum(boxes[:, 3], box[3]) - np.maximum(boxes[:, 1], box[1])
    shared = np.maximum(high, 0) * np.maximum(wide, 0)
    whole = areas + areas[index] - shared
    return np.where(whole != 0, shared / np.where(whole != 0, whole, 1), boxes.dtype.type(0))


def _positive(overlap, areas, index):
    """The overlaps, 0 for boxes without an area."""
    if areas[index] <= 0:
        return np.zeros_like(overlap)
    return np.where(areas > 0, overlap, overlap.dtype.type(0))


def select(scores, size, least, overlap_with, suppressed):
    """The indices of the best scores; each suppresses the candidates that overlap it."""
    alive = scores > least
    selected: list[int] = []
    for index in np.argsort(-scores, kind="stable").tolist():
        if len(selected) >= size:
            break
        if not alive[index]:
            continue
        selected.append(index)
        alive &= ~suppressed(overlap_with(index))
    return selected


# The number of candidates that are compared pairwise at once.
_CANDIDATES = 64


def _hard(boxes, scores, size, threshold, least):
    boxes = ordered(boxes).astype(np.float32)
    areas = _areas(boxes)

    def suppressed(some, others):
        """Which of `some` (rows) overlap which of the others (columns) beyond the threshold."""
        top, left, bottom, right = boxes[some].T[..., None]
        upper, first, lower, last = np.ascontiguousarray(boxes[others].T)
        high = np.minimum(bottom, lower) - np.maximum(top, upper)
        wide = np.minimum(right, last) - np.maximum(left, first)
        shared = np.maximum(high, 0, out=high)
        shared *= np.maximum(wide, 0, out=wide)
        whole = areas[some][:, None] + areas[others] - shared
        solid = (areas[some] > 0)[:, None] & (areas[others] > 0)
        return (shared / whole > threshold) & solid

    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > least]
    selected: list[int] = []
    for start in range(0, len(order), _CANDIDATES):
        if len(selected) >= size:
            break
        some = order[start : start + _CANDIDATES]
        if selected:
            some = some[~suppressed(some, selected).any(axis=1)]
        # Each row of flags as a bit mask in one integer.
        rows = np.packbits(suppressed(some, some), axis=1, bitorder="little")
        gone = 0
        for place, index in enumerate(some.tolist()):
            if len(selected) >= size:
                return selected
            if not gone >> place & 1:
                selected.append(index)
                gone |= int.from_bytes(rows[place].tobytes(), "little")
    return selected


@op(
    "NonMaxSuppressionV3",
    "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold,"
    " score_threshold: T_threshold -> selected_indices: int32",
    T=_SCORED,
    T_threshold=_SCORED,
    shape=_listed(1),
    gradient=None,
)
def NonMaxSuppressionV3(boxes, scores, max_output_size, iou_threshold, score_threshold):
    _check(boxes, scores, max_output_size, iou_threshold)
    found = _hard(boxes, scores, max_output_size, iou_threshold, score_threshold)
    return np.array(found, np.int32)


@op(
    "NonMaxSuppressionV5",
    "boxes: T, scores: T, max_output_size: int32, iou_threshold: T, score_threshold: T,"
    " soft_nms_sigma: T -> selected_indices: int32, selected_scores: T, valid_outputs: int32",
    T=_SCORED,
    shape=_listed(3),
    gradient=None,
)
def NonMaxSuppressionV5(
    boxes,
    scores,
    max_output_size,
    iou_threshold,
    score_threshold,
    soft_nms_sigma,
    *,
    pad_to_max_output_size=False,
):
    _check(boxes, scores, max_output_size, iou_threshold)
    if soft_nms_sigma < 0:
        raise ValueError(f"soft_nms_sigma_val must be >= 0, got {soft_nms_sigma}")
    size = int(max_output_size)
    if soft_nms_sigma:
        found, values = _soft(boxes, scores, size, score_threshold, soft_nms_sigma)
    else:
        found = _hard(boxes, scores, size, iou_threshold, score_threshold)
        values = scores[found]
    indices, kept = np.array(found, np.int32), np.array(values, scores.dtype)
    count = len(indices)
    if pad_to_max_output_size:
        indices = np.concatenate([indices, np.zeros(size - count, np.int32)])
        kept = np.concatenate([kept, np.zeros(size - count, scores.dtype)])
    return indices, kept, np.int32(count)


def _soft(boxes, scores, size, least, sigma):
    """Overlaps lower the scores instead of removing the boxes."""
    boxes = ordered(boxes).astype(np.float32)
    areas = _areas(boxes)
    scale = np.float32(-0.5) / np.float32(sigma)
    current = np.where(scores > least, scores, -np.inf).astype(np.float32)
    selected, values = [], []
    while len(selected) < size and current.size:
        index = int(np.argmax(current))
        if not current[index] > least:
            break
        selected.append(index)
        values.append(current[index])
        overlap = _positive(overlaps(boxes, areas, index), areas, index)
        current *= np.exp(scale * overlap * overlap)
        current[index] = -np.inf
        current[current <= least] = -np.inf
    return selected, values


@op(
    "NonMaxSuppressionWithOverlaps",
    "overlaps: float32, scores: float32, max_output_size: int32, overlap_threshold: float32,"
    " score_threshold: float32 -> selected_indices: int32",
    shape=_listed(1),
    gradient=None,
)
def NonMaxSuppressionWithOverlaps(
    overlaps, scores, max_output_size, overlap_threshold, score_threshold
):
    if overlaps.ndim != 2 or overlaps.shape[0] != overlaps.shape[1]:
        raise ValueError(f"overlaps must be square, got the shape {list(overlaps.shape)}")
    if scores.shape != overlaps.shape[:1]:
        raise ValueError(f"scores has incompatible shape {list(scores.shape)}")
    if max_output_size < 0:
        raise ValueError(f"output size must be non-negative, got {max_output_size}")
    found = select(
        scores,
        max_output_size,
        score_threshold,
        lambda index: overlaps[:, index],
        lambda overlap: overlap > overlap_threshold,
    )
    return np.array(found, np.int32)


def _padded_shape(inputs, attrs):
    boxes = inputs[0].shape
    batch = TensorShape(None) if boxes.rank is None else boxes[:-2]
    return [batch.concatenate([_known_count(inputs[2])]), batch]


def _known_count(count):
    value = constant_value(count)
    return int(value) if value is not None and value >= 0 else None


def _combined_shapes(inputs, attrs):
    boxes, scores, size, total = inputs[:4]
    batch, count = boxes.shape[0] if boxes.shape.rank else None, _known_count(total)
    if attrs.get("pad_per_class"):
        classes = scores.shape[2] if scores.shape.rank == 3 else None
        per_class = _known_count(size)
        known = None not in (count, classes, per_class)
        count = min(count, classes * per_class) if known else None
    return [TensorShape([batch, *rest]) for rest in ((count, 4), (count,), (count,), ())]


def _turned(boxes):
    """All boxes with their corners swapped as the very first box needs it."""
    top, left, bottom, right = boxes[0, 0]
    rows = (0, 2) if top <= bottom else (2, 0)
    columns = (1, 3) if left <= right else (3, 1)
    return boxes[..., [rows[0], columns[0], rows[1], columns[1]]]


# In TensorFlow this is a loop of many small operations over tiles of boxes.
@op(
    "NonMaxSuppressionPadded",
    "boxes: T, scores: T, max_output_size: int32, iou_threshold: float32, score_threshold: float32"
    " -> selected_indices: int32, valid_outputs: int32",
    T=_SCORED,
    shape=_padded_shape,
    gradient=None,
)
def NonMaxSuppressionPadded(
    boxes,
    scores,
    max_output_size,
    iou_threshold,
    score_threshold,
    *,
    sorted_input=False,
    canonicalized_coordinates=False,
):
    if boxes.shape[-1] != 4 or boxes.shape[:-1] != scores.shape:
        raise ValueError(
            f"boxes must have the shape [..., count, 4] and scores [..., count], got "
            f"{list(boxes.shape)} and {list(scores.shape)}"
        )
    batch, count = scores.shape[:-1], scores.shape[-1]
    size = int(max_output_size)
    flat_boxes, flat_scores = boxes.reshape(-1, count, 4), scores.reshape(-1, count)
    # The first box decides the order of all corners, unless its score excludes it.
    if boxes.size and not canonicalized_coordinates and flat_scores[0, 0] > score_threshold:
        flat_boxes = _turned(flat_boxes)
    indices = np.zeros((len(flat_scores), size), np.int32)
    valid = np.zeros(len(flat_scores), np.int32)
    for row, (some, values) in enumerate(zip(flat_boxes, flat_scores, strict=True)):
        areas = _areas(some)
        # Scores that are already sorted decide only which boxes take part.
        ranks = -np.arange(count, dtype=np.float32) if sorted_input else values
        ranks = np.where(values > score_threshold, ranks, -np.inf)
        found = select(
            ranks,
            size,
            -np.inf,
            lambda index, some=some, areas=areas: overlaps(some, areas, index),
            lambda overlap: overlap >= iou_threshold,
        )
        indices[row, : len(found)] = found
        valid[row] = len(found)
    return indices.reshape(*batch, size), valid.reshape(batch)[()]


@op(
    "CombinedNonMaxSuppression",
    "boxes: float32, scores: float32, max_output_size_per_class: int32, max_total_size: int32,"
    " iou_threshold: float32, score_threshold: float32 -> nmsed_boxes: float32,"
    " nmsed_scores: float32, nmsed_classes: float32, valid_detections: int32",
    shape=_combined_shapes,
    gradient=None,
)
def CombinedNonMaxSuppression(
    boxes,
    scores,
    max_output_size_per_class,
    max_total_size,
    iou_threshold,
    score_threshold,
    *,
    pad_per_class=False,
    clip_boxes=True,
):
    _check_combined(boxes, scores, max_output_size_per_class, max_total_size, iou_threshold)
    batch, _, classes = scores.shape
    per_class, total = int(max_output_size_per_class), int(max_total_size)
    length = min(total, per_class * classes) if pad_per_class else total
    result = np.zeros((batch, length, 4), np.float32)
    values = np.zeros((batch, length), np.float32)
    labels = np.zeros((batch, length), np.float32)
    valid = np.zeros(batch, np.int32)
    for row in range(batch):
        found = []
        for label in range(classes):
            some = boxes[row, :, label if boxes.shape[2] > 1 else 0]
            column = scores[row, :, label]
            chosen = _hard(some, column, per_class, iou_threshold, score_threshold)
            found += [(column[index], label, some[index]) for index in chosen]
        found.sort(key=lambda entry: -entry[0])
        found = found[:length]
        valid[row] = len(found)
        for place, (value, label, box) in enumerate(found):
            values[row, place], labels[row, place] = value, label
            result[row, place] = np.clip(box, 0, 1) if clip_boxes else box
    return result, values, labels, valid


def _check_combined(boxes, scores, per_class, total, threshold):
    if boxes.ndim != 4:
        raise ValueError(f"boxes must be 4-D, got the shape {list(boxes.shape)}")
    if scores.ndim != 3:
        raise ValueError(f"scores must be 3-D, got the shape {list(scores.shape)}")
    if boxes.shape[:2] != scores.shape[:2]:
        raise ValueError(
            f"boxes and scores must have same first and second dimension: {list(boxes.shape)}, "
            f"{list(scores.shape)}"
        )
    if boxes.shape[2] not in (1, scores.shape[2]):
        raise ValueError("third dimension of boxes must be either 1 or num classes")
    if boxes.shape[3] != 4:
        raise ValueError(f"boxes must have 4 columns, got the shape {list(boxes.shape)}")
    if per_class <= 0:
        raise ValueError(f"max_size_per_class must be positive, got {per_class}")
    if total <= 0:
        raise ValueError(f"max_total_size must be > 0, got {total}")
    if not 0 <= threshold <= 1:
        raise ValueError(f"iou_threshold must be in [0, 1], got {threshold}")


def _numbers(boxes, scores, max_output_size, *thresholds):
    boxes = convert_to_tensor(boxes, dtype_hint=float32)
    scores = convert_to_tensor(scores, dtype_hint=float32)
    size = convert_to_tensor(max_output_size, int32)
    return boxes, scores, size, *(convert_to_tensor(each, float32) for each in thresholds)


def non_max_suppression(
    boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"), name=None
):
    """The indices of boxes in descending order of score, without those that overlap a better one.

    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [0.0, 5.0, 1.0, 6.0]]
    >>> tf.image.non_max_suppression(boxes, [0.8, 0.9, 0.3], 3).numpy().tolist()
    [1, 2]
    """
    return NonMaxSuppressionV3(
        *_numbers(boxes, scores, max_output_size, iou_threshold, score_threshold)
    )


def non_max_suppression_with_scores(
    boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"),
    soft_nms_sigma=0.0, name=None,
):  # fmt: skip
    """The indices of the selected boxes and their scores.

    With a `soft_nms_sigma` overlaps do not remove boxes but lower their scores by exp(-overlap^2 /
    (2 sigma)).
    """
    boxes, scores, size = _numbers(boxes, scores, max_output_size)
    numbers = (
        convert_to_tensor(each, scores.dtype)
        for each in (iou_threshold, score_threshold, soft_nms_sigma)
    )
    indices, kept, _ = NonMaxSuppressionV5(boxes, scores, size, *numbers)
    return indices, kept


def non_max_suppression_overlaps(
    overlaps, scores, max_output_size, overlap_threshold=0.5, score_threshold=float("-inf"),
    name=None,
):  # fmt: skip
    """The indices by score, without those that overlap a better one in a matrix of overlaps."""
    return NonMaxSuppressionWithOverlaps(
        *_numbers(overlaps, scores, max_output_size, overlap_threshold, score_threshold)
    )


def non_max_suppression_padded(
    boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"),
    pad_to_max_output_size=False, name=None, sorted_input=False, canonicalized_coordinates=False,
    tile_size=512,
):  # fmt: skip
    """The indices of the selected boxes, padded with zeros, and the number of valid ones.

    >>> boxes = tf.constant([[0.0, 0.0, 1.0, 1.0], [0.0, 5.0, 1.0, 6.0]])
    >>> found, count = tf.image.non_max_suppression_padded(boxes, [0.8, 0.9], 3,
    ...                                                    pad_to_max_output_size=True)
    >>> found.numpy().tolist(), int(count)
    ([1, 0, 0], 2)
    """
    numbers = _numbers(boxes, scores, max_output_size, iou_threshold, score_threshold)
    if not pad_to_max_output_size and numbers[0].shape.rank not in (None, 2):
        raise ValueError(
            "'pad_to_max_output_size' (value False) must be True for batched input, got boxes of "
            f"shape {numbers[0].shape}."
        )
    indices, count = NonMaxSuppressionPadded(
        *numbers,
        sorted_input=bool(sorted_input),
        canonicalized_coordinates=bool(canonicalized_coordinates),
    )
    if pad_to_max_output_size:
        return indices, count
    indices.set_shape([None])
    return indices[:count], count


class _Combined(NamedTuple):
    """The selected boxes of every image, and the number of valid ones of each."""

    nmsed_boxes: Any
    nmsed_scores: Any
    nmsed_classes: Any
    valid_detections: Any


# The results of an op are a named tuple with the op's name.
_Combined.__name__ = "CombinedNonMaxSuppression"


def combined_non_max_suppression(
    boxes, scores, max_output_size_per_class, max_total_size, iou_threshold=0.5,
    score_threshold=float("-inf"), pad_per_class=False, clip_boxes=True, name=None,
):  # fmt: skip
    """Suppression per class of every image: boxes, scores, classes and the number of valid ones."""
    boxes, scores, size, *thresholds = _numbers(
        boxes, scores, max_output_size_per_class, iou_threshold, score_threshold
    )
    total = convert_to_tensor(max_total_size, int32)
    return _Combined(
        *CombinedNonMaxSuppression(
            boxes, scores, size, total, *thresholds,
            pad_per_class=bool(pad_per_class), clip_boxes=bool(clip_boxes),
        )
    )  # fmt: skip
