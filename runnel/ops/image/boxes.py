"""Boxes in images: drawing them, and choosing random ones."""

from __future__ import annotations

import numpy as np

from ...core import errors
from ...core.convert import convert_to_tensor
from ...core.dtypes import float16, float32, int8, int16, int32, int64, uint8
from ...core.op import op
from ...core.shape_rules import unchanged
from ...core.shapes import TensorShape
from .. import philox
from ..random_stateless import scrambled
from ..random_streams import get_seed, reserve

_DRAWN = frozenset({float16, float32})
_SIZES = frozenset({uint8, int8, int16, int32, int64})
_INDEX = frozenset({int32, int64})
# Yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia; in grey images all white.
_PALETTE = np.array(
    [
        (1, 1, 0, 1),
        (0, 0, 1, 1),
        (1, 0, 0, 1),
        (0, 1, 0, 1),
        (0.5, 0, 0.5, 1),
        (0.5, 0.5, 0, 1),
        (0.5, 0, 0, 1),
        (0, 0, 0.5, 1),
        (0, 1, 1, 1),
        (1, 0, 1, 1),
    ],
    np.float32,
)


def _check_drawing(images, boxes):
    if images.ndim != 4:
        raise ValueError(f"The rank of the images should be 4, got the shape {images.shape}")
    if boxes.ndim != 3 or boxes.shape[2] != 4:
        raise ValueError(
            f"The boxes should have the shape [batch, count, 4], got {list(boxes.shape)}"
        )
    if len(images) != len(boxes):
        raise ValueError(f"The batch sizes should be the same: {len(images)} and {len(boxes)}")
    if images.shape[3] not in (1, 3, 4):
        raise ValueError("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)")


def _draw(images, boxes, palette):
    _check_drawing(images, boxes)
    result = images.copy()
    height, width = images.shape[1:3]
    corners = boxes * np.array([height - 1, width - 1, height - 1, width - 1], np.float32)
    corners = np.nan_to_num(np.trunc(corners)).astype(np.int64)
    for image, places in zip(result, corners.tolist(), strict=True):
        for index, (top, left, bottom, right) in enumerate(places):
            if top > bottom or left > right:
                continue
            if top >= height or left >= width or bottom < 0 or right < 0:
                continue
            colour = palette[index % len(palette)]
            rows = slice(max(top, 0), min(bottom, height - 1) + 1)
            columns = slice(max(left, 0), min(right, width - 1) + 1)
            for row in (top, bottom):
                if 0 <= row < height:
                    image[row, columns] = colour
            for column in (left, right):
                if 0 <= column < width:
                    image[rows, column] = colour
    return result


@op(
    "DrawBoundingBoxes",
    "images: T, boxes: float32 -> output: T",
    T=_DRAWN,
    shape=unchanged,
    gradient=None,
)
def DrawBoundingBoxes(images, boxes):
    depth = images.shape[-1]
    palette = np.ones((1, 1), np.float32) if depth == 1 else _PALETTE[:, :depth]
    return _draw(images, boxes, palette)


@op(
    "DrawBoundingBoxesV2",
    "images: T, boxes: float32, colors: float32 -> output: T",
    T=_DRAWN,
    shape=unchanged,
    gradient=None,
)
def DrawBoundingBoxesV2(images, boxes, colors):
    if colors.ndim != 2:
        raise ValueError(f"colors must be a 2-D matrix, got the shape {list(colors.shape)}")
    if not len(colors):
        return DrawBoundingBoxes.kernel(images, boxes)
    _check_drawing(images, boxes)
    if colors.shape[1] < images.shape[3]:
        raise ValueError(
            f"colors must have equal or more channels than the image provided: {colors.shape}"
        )
    return _draw(images, boxes, colors[:, : images.shape[3]])


def draw_bounding_boxes(images, boxes, colors, name=None):
    """Draw boxes [y1, x1, y2, x2], in fractions of the images' sizes, cycling through the colours.

    >>> image = tf.image.draw_bounding_boxes(tf.zeros([1, 3, 3, 1]), [[[0.0, 0.0, 1.0, 1.0]]],
    ...                                      [[5.0]])
    >>> image[0, :, :, 0].numpy().tolist()
    [[5.0, 5.0, 5.0], [5.0, 0.0, 5.0], [5.0, 5.0, 5.0]]
    """
    hint = None if getattr(images, "dtype", None) == np.float16 else float32
    images = convert_to_tensor(images, dtype_hint=hint)
    boxes = convert_to_tensor(boxes, float32)
    if colors is None:
        return DrawBoundingBoxes(images, boxes)
    return DrawBoundingBoxesV2(images, boxes, convert_to_tensor(colors, float32))


class _Words:
    """Consecutive words of a stream of random numbers."""

    def __init__(self, key, counter):
        self._key, self._counter = key, counter
        self._group = []

    def next(self) -> int:
        if not self._group:
            self._group = list(philox.philox(self._key, self._counter))[::-1]
            self._counter = self._counter + 1 & philox.MASK128
        return self._group.pop()

    def below(self, limit: int) -> int:
        """A number in [0, limit)."""
        return self.next() % limit

    def fraction(self) -> np.float32:
        """A number in [0, 1)."""
        bits = np.uint32(self.next() & 0x7FFFFF | 127 << 23)
        return bits.view(np.float32) - np.float32(1)


def _rounded(value) -> int:
    return int(np.rint(np.float32(value)))


def _random_box(width, height, area_range, ratio, words):
    """A box of the given aspect ratio as (left, top, right, bottom), or None if none fits."""
    if ratio <= 0 or width <= 0 or height <= 0 or area_range[1] <= 0:
        return None
    if area_range[0] > area_range[1]:
        return None
    least, most = (np.float32(part) * np.float32(width) * np.float32(height) for part in area_range)
    high = _rounded(np.sqrt(least / ratio))
    highest = _rounded(np.sqrt(most / ratio))
    if _rounded(highest * ratio) > width:
        highest = int((width + 0.5 - 1e-7) / float(ratio))
        if _rounded(highest * ratio) > width:
            highest -= 1
    highest = min(highest, height)
    high = min(high, highest)
    if high < highest:
        high += words.below(highest - high + 1)
    wide = _rounded(high * ratio)
    # Rounding must not carry the area out of its range.
    if wide * high < least:
        high += 1
        wide = _rounded(high * ratio)
    if wide * high > most:
        high -= 1
        wide = _rounded(high * ratio)
    fits = least <= wide * high <= most and 0 < wide <= width and 0 < high <= height
    if not fits:
        return None
    top = words.below(height - high) if high < height else 0
    left = words.below(width - wide) if wide < width else 0
    return left, top, left + wide, top + high


def _covers(box, objects, least):
    """Whether the box covers enough of some object."""
    left, top, right, bottom = box
    for x0, y0, x1, y1 in objects:
        area = (x1 - x0) * (y1 - y0)
        if area <= 0:
            continue
        wide, high = min(right, x1) - max(left, x0), min(bottom, y1) - max(top, y0)
        shared = wide * high if wide > 0 and high > 0 else 0
        if np.float32(shared) / np.float32(area) >= least:
            return True
    return False


def _check_sampling(image_size, boxes, least, ratios, areas, attempts):
    if image_size.shape != (3,):
        raise ValueError(f"image_size must contain 3 elements, got {list(image_size.shape)}")
    if boxes.ndim != 3 or boxes.shape[2] != 4:
        raise ValueError(
            "input boxes must be 3-dimensional [batch, num_boxes, coords], got the shape "
            f"{list(boxes.shape)}"
        )
    if np.ndim(least):
        raise ValueError("min_object_covered must be 0-D")
    if least < 0:
        raise ValueError(f"Min object covered must be non-negative: {least}")
    if len(ratios) != 2:
        raise ValueError("Aspect ratio range field must specify 2 dimensions")
    if min(ratios) <= 0:
        raise ValueError(f"Aspect ratio range must be non-negative: {list(ratios)}")
    if len(areas) != 2:
        raise ValueError("Area range field must specify 2 dimensions")
    if min(areas) <= 0:
        raise ValueError(f"Area range must be non-negative: {list(areas)}")
    if max(areas) > 1:
        raise ValueError(f"Area range must be less then or equal to 1.0: {list(areas)}")
    if attempts <= 0:
        raise ValueError(f"Max attempts must be non-negative: {attempts}")


def _sample(image_size, boxes, least, words, ratios, areas, attempts, whole_image):
    height, width = (int(size) for size in image_size[:2])
    objects = []
    for top, left, bottom, right in boxes.reshape(-1, 4):
        for place in (top, left, bottom, right):
            if not 0 <= place <= 1:
                raise ValueError(f"All bounding box coordinates must be in [0.0, 1.0]: {place:.8g}")
        objects.append((int(left * width), int(top * height), int(right * width),
                        int(bottom * height)))  # fmt: skip
    if not objects:
        if not whole_image:
            raise ValueError(
                "No bounding boxes provided as input. One must enable "
                "use_image_if_no_bounding_boxes if you wish to not provide any bounding boxes."
            )
        objects.append((0, 0, width, height))
    low, high = (np.float32(ratio) for ratio in ratios)
    chosen = (0, 0, width, height)
    for _ in range(attempts):
        ratio = words.fraction() * (high - low) + low
        box = _random_box(width, height, areas, ratio, words)
        if box is not None and _covers(box, objects, least):
            chosen = box
            break
    left, top, right, bottom = chosen
    begin = np.array([top, left, 0], image_size.dtype)
    size = np.array([bottom - top, right - left, -1]).astype(image_size.dtype)
    place = np.array([top, left, bottom, right], np.float32)
    place /= np.array([height, width, height, width], np.float32)
    return begin, size, place.reshape(1, 1, 4)


def _sampled(inputs, attrs):
    return [TensorShape([3]), TensorShape([3]), TensorShape([1, 1, 4])]


@op(
    "SampleDistortedBoundingBoxV2",
    "image_size: T, bounding_boxes: float32, min_object_covered: float32"
    " -> begin: T, size: T, bboxes: float32",
    T=_SIZES,
    shape=_sampled,
    gradient=None,
    stateful=True,
)
def SampleDistortedBoundingBoxV2(
    image_size,
    bounding_boxes,
    min_object_covered,
    *,
    seed=0,
    seed2=0,
    aspect_ratio_range=(0.75, 1.33),
    area_range=(0.05, 1.0),
    max_attempts=100,
    use_image_if_no_bounding_boxes=False,
    _stream=None,
):
    ranges = aspect_ratio_range, area_range, max_attempts
    _check_sampling(image_size, bounding_boxes, min_object_covered, *ranges)
    identity = ("SampleDistortedBoundingBoxV2", image_size.dtype, *map(str, ranges))
    place = reserve(_stream, seed, seed2, max_attempts, *identity)
    return _sample(
        image_size, bounding_boxes, min_object_covered, _Words(*place), *ranges,
        use_image_if_no_bounding_boxes,
    )  # fmt: skip


@op(
    "StatelessSampleDistortedBoundingBox",
    "image_size: T, bounding_boxes: float32, min_object_covered: float32, seed: Tseed"
    " -> begin: T, size: T, bboxes: float32",
    T=_SIZES,
    Tseed=_INDEX,
    shape=_sampled,
    gradient=None,
)
def StatelessSampleDistortedBoundingBox(
    image_size,
    bounding_boxes,
    min_object_covered,
    seed,
    *,
    aspect_ratio_range=(0.75, 1.33),
    area_range=(0.05, 1.0),
    max_attempts=100,
    use_image_if_no_bounding_boxes=False,
):
    ranges = aspect_ratio_range, area_range, max_attempts
    _check_sampling(image_size, bounding_boxes, min_object_covered, *ranges)
    return _sample(
        image_size, bounding_boxes, min_object_covered, _Words(*scrambled(seed)), *ranges,
        use_image_if_no_bounding_boxes,
    )  # fmt: skip


def _attrs(aspect_ratio_range, area_range, max_attempts, use_image):
    return {
        "aspect_ratio_range": tuple(aspect_ratio_range or (0.75, 1.33)),
        "area_range": tuple(area_range or (0.05, 1.0)),
        "max_attempts": 100 if max_attempts is None else int(max_attempts),
        "use_image_if_no_bounding_boxes": bool(use_image),
    }


def sample_distorted_bounding_box(
    image_size, bounding_boxes, seed=0, min_object_covered=0.1, aspect_ratio_range=None,
    area_range=None, max_attempts=None, use_image_if_no_bounding_boxes=None, name=None,
):  # fmt: skip
    """A random part of an image that covers enough of one of the boxes.

    Returns (begin, size) for tf.slice, and the part as a box for `draw_bounding_boxes`.
    """
    first, second = get_seed(seed) if seed else (0, 0)
    begin, size, boxes = SampleDistortedBoundingBoxV2(
        convert_to_tensor(image_size),
        convert_to_tensor(bounding_boxes, float32),
        convert_to_tensor(min_object_covered, float32),
        seed=first,
        seed2=second,
        **_attrs(aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes),
    )
    return begin, size, boxes


def stateless_sample_distorted_bounding_box(
    image_size, bounding_boxes, seed, min_object_covered=0.1, aspect_ratio_range=None,
    area_range=None, max_attempts=None, use_image_if_no_bounding_boxes=None, name=None,
):  # fmt: skip
    """A random part of an image that covers enough of one of the boxes, determined by the seed.

    >>> begin, size, _ = tf.image.stateless_sample_distorted_bounding_box(
    ...     [50, 60, 3], [[[0.1, 0.1, 0.6, 0.7]]], seed=(1, 2))
    >>> begin.numpy().tolist(), size.numpy().tolist()
    ([0, 4, 0], [44, 55, -1])
    """
    begin, size, boxes = StatelessSampleDistortedBoundingBox(
        convert_to_tensor(image_size),
        convert_to_tensor(bounding_boxes, float32),
        convert_to_tensor(min_object_covered, float32),
        convert_to_tensor(seed, dtype_hint=int32),
        **_attrs(aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes),
    )
    return begin, size, boxes


def generate_bounding_box_proposals(
    scores, bbox_deltas, image_info, anchors, nms_threshold=0.7, pre_nms_topn=6000, min_size=16,
    post_nms_topn=300, name=None,
):  # fmt: skip
    """Regions of interest from a network's scores and deltas: a GPU-only operation.

    On a CPU it is a `tf.errors.NotFoundError`, as in TensorFlow.
    """
    raise errors.NotFoundError(
        None,
        None,
        "Could not find device for node GenerateBoundingBoxProposals: it has a kernel for GPUs "
        "only. On a CPU, decode the boxes and use tf.image.combined_non_max_suppression "
        "[Op:GenerateBoundingBoxProposals]",
    )
