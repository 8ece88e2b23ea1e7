"""Patches, glimpses and boxes extracted from images."""

from __future__ import annotations

import math

import numpy as np

from ...core import errors
from ...core.convert import constant_shape, convert_to_tensor
from ...core.dtypes import (
    COMPLEX,
    FLOATING,
    REAL,
    bool as bool_dtype,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
)
from ...core.op import op
from ...core.shapes import TensorShape
from ..array.shaping import shape
from ..nn.convolution_shapes import check_choice, known_rank
from ..nn.window_arguments import full_list, padding_name
from ..nn.windows import (
    computing_dtype,
    inner_taps,
    is_padded,
    pad_axes,
    place_window,
    window_view,
)

_BOXED = frozenset({uint8, uint16, int8, int16, int32, int64, float16, float32, float64})
_REAL = frozenset({float16, float32, float64})
_GRADIENTS = FLOATING | COMPLEX


def _place(dims, ksizes, strides, rates, padding):
    """The axes along which patches are taken, checked."""
    check_choice("padding", padding, ("SAME", "VALID"))
    for name, values in (("ksizes", ksizes), ("strides", strides), ("rates", rates)):
        if len(values) != 4:
            raise ValueError(f"{name} must have 4 entries, got {list(values)}.")
        if values[0] != 1 or values[3] != 1:
            raise errors.UnimplementedError(
                None, None, f"Only support {name} across space, got {list(values)}."
            )
        if min(values) < 1:
            raise errors.OutOfRangeError(
                None, None, f"{name} is out of range: {list(values)}; all must be at least 1."
            )
    if len(dims) != 4:
        raise ValueError(f"input must be 4-dimensional, got the shape {list(dims)}.")
    spatial = (tuple(values[1:3]) for values in (dims, ksizes, strides, rates))
    return place_window(*spatial, padding)


def _patched(inputs, attrs):
    dims = known_rank(inputs[0].shape, 4)
    axes = _place(dims, *(attrs[name] for name in ("ksizes", "strides", "rates", "padding")))
    depth = None if dims[3] is None else dims[3] * math.prod(attrs["ksizes"])
    return TensorShape([dims[0], *(axis.output for axis in axes), depth])


@op(
    "ExtractImagePatches",
    "images: T -> patches: T",
    T=REAL | COMPLEX | {bool_dtype},
    shape=_patched,
)
def ExtractImagePatches(images, *, ksizes, strides, rates, padding):
    axes = _place(images.shape, ksizes, strides, rates, padding)
    padded = pad_axes(images, axes) if is_padded(axes) else np.ascontiguousarray(images)
    outputs = [axis.output for axis in axes]
    depth = images.shape[3] * math.prod(axis.kernel for axis in axes)
    return window_view(padded, axes).reshape(len(images), *outputs, depth)


@ExtractImagePatches.gradient
def _(op, grad):
    return ExtractImagePatchesGrad(grad, shape(op.inputs[0]), **op.attrs)


@op(
    "ExtractImagePatchesGrad",
    "grads: T, sizes: int32 -> output: T",
    T=_GRADIENTS,
    shape=lambda inputs, attrs: constant_shape(inputs[1]).merge_with([None] * 4),
)
def ExtractImagePatchesGrad(grads, sizes, *, ksizes, strides, rates, padding):
    """For each pixel the sum of the gradients of its copies in the patches."""
    dims = tuple(sizes.tolist())
    axes = _place(dims, ksizes, strides, rates, padding)
    result = np.zeros(dims, computing_dtype(grads.dtype))
    copies = grads.reshape(*grads.shape[:3], *(axis.kernel for axis in axes), dims[3])
    for tap in inner_taps(axes):
        row, column = tap.position
        result[tap.inputs] += copies[tap.outputs][:, :, :, row, column]
    return result.astype(grads.dtype, copy=False)


@ExtractImagePatchesGrad.gradient
def _(op, grad):
    return ExtractImagePatches(grad, **op.attrs), None


def extract_patches(images, sizes, strides, rates, padding, name=None):
    """The patch in each window of the images, flattened into a vector of channels.

    >>> images = tf.reshape(tf.range(16), [1, 4, 4, 1])
    >>> tf.image.extract_patches(images, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")[0, 0, 0]
    <tf.Tensor: shape=(4,), dtype=int32, numpy=array([0, 1, 4, 5], dtype=int32)>
    """
    return ExtractImagePatches(
        convert_to_tensor(images),
        ksizes=full_list(sizes, "ksizes", "extract_image_patches"),
        strides=full_list(strides, "strides", "extract_image_patches"),
        rates=full_list(rates, "rates", "extract_image_patches"),
        padding=padding_name(padding),
    )


def _boxed(inputs, attrs):
    image, boxes, box_ind, crop_size = inputs
    for what, tensor, rank in (("image", image, 4), ("boxes", boxes, 2), ("box_ind", box_ind, 1)):
        if tensor.shape.rank not in (None, rank):
            raise ValueError(f"{what} must be {rank}-D, got the shape {tensor.shape}")
    if not boxes.shape.is_compatible_with([None, 4]):
        raise ValueError(f"boxes must have 4 columns, got the shape {boxes.shape}")
    if not crop_size.shape.is_compatible_with([2]):
        raise ValueError(f"crop_size must have two elements, got the shape {crop_size.shape}")
    count = boxes.shape[0] if boxes.shape.rank else None
    if count is None and box_ind.shape.rank:
        count = box_ind.shape[0]
    depth = image.shape[3] if image.shape.rank else None
    size = constant_shape(crop_size) if crop_size.shape.rank else TensorShape([None, None])
    return TensorShape([count, *size, depth])


def _check_boxes(image_shape, boxes, box_ind):
    if len(image_shape) != 4:
        raise ValueError(f"input image must be 4-D, got the shape {list(image_shape)}")
    if image_shape[1] <= 0 or image_shape[2] <= 0:
        raise ValueError(f"image dimensions must be positive, got {list(image_shape)}")
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise ValueError(f"boxes must have the shape [count, 4], got {list(boxes.shape)}")
    if box_ind.shape != boxes.shape[:1]:
        raise ValueError(f"box_index must have the shape [{len(boxes)}], got {list(box_ind.shape)}")
    if not np.isfinite(boxes).all():
        raise ValueError("boxes values must be finite")
    if box_ind.size and (box_ind.min() < 0 or box_ind.max() >= image_shape[0]):
        raise errors.OutOfRangeError(
            None, None, f"box_index has values outside [0, batch_size = {image_shape[0]})"
        )


def _box_places(low, high, size, count):
    """The positions of the samples of each box along an axis: [boxes, count]."""
    last = np.float32(size - 1)
    low, high = low[:, None], high[:, None]
    if count == 1:
        return np.float32(0.5) * (low + high) * last
    step = (high - low) * last / np.float32(count - 1)
    return low * last + np.arange(count, dtype=np.float32) * step


class _Samples:
    """The neighbours of each sample of boxes along both axes, and its distance to the lower."""

    def __init__(self, image_shape, boxes, box_ind, crop_size, method):
        height, width = image_shape[1:3]
        rows = _box_places(boxes[:, 0], boxes[:, 2], height, crop_size[0])
        columns = _box_places(boxes[:, 1], boxes[:, 3], width, crop_size[1])
        rows_inside = (rows >= 0) & (rows <= height - 1)
        columns_inside = (columns >= 0) & (columns <= width - 1)
        self.inside = rows_inside[:, :, None] & columns_inside[:, None, :]
        rows = np.where(rows_inside, rows, np.float32(0))
        columns = np.where(columns_inside, columns, np.float32(0))
        self.batch = box_ind[:, None, None]
        if method == "nearest":
            half = np.float32(0.5)
            self.top = np.floor(rows + half).astype(np.intp)[:, :, None]
            self.left = np.floor(columns + half).astype(np.intp)[:, None, :]
            return
        top, left = np.floor(rows), np.floor(columns)
        self.down = (rows - top)[:, :, None, None]
        self.along = (columns - left)[:, None, :, None]
        self.top, self.left = top.astype(np.intp)[:, :, None], left.astype(np.intp)[:, None, :]
        self.bottom = np.ceil(rows).astype(np.intp)[:, :, None]
        self.right = np.ceil(columns).astype(np.intp)[:, None, :]

    def corners(self, image):
        """The values of the four neighbours of each sample."""
        height, width, channels = image.shape[1:]
        flat = image.reshape(-1)
        boxes, down, across = len(self.left), self.top.shape[1], self.left.shape[2]
        # Shapes are explicit, since none could be inferred without boxes.
        row = across * channels
        columns = [
            (places[..., None] * channels + np.arange(channels)).reshape(boxes, 1, row)
            for places in (self.left, self.right)
        ]
        return [
            flat.take((self.batch * height + rows) * (width * channels) + places, mode="clip")
            .astype(np.float32, copy=False)
            .reshape(boxes, down, across, channels)
            for rows in (self.top, self.bottom)
            for places in columns
        ]


def _crop_sizes(crop_size):
    if crop_size.shape != (2,):
        raise ValueError(f"crop_size must have two elements, got the shape {crop_size.shape}")
    height, width = crop_size.tolist()
    if height <= 0 or width <= 0:
        raise ValueError(f"crop dimensions must be positive, got {height} x {width}")
    return height, width


@op(
    "CropAndResize",
    "image: T, boxes: float32, box_ind: int32, crop_size: int32 -> crops: float32",
    T=_BOXED,
    shape=_boxed,
)
def CropAndResize(image, boxes, box_ind, crop_size, *, method="bilinear", extrapolation_value=0.0):
    _check_boxes(image.shape, boxes, box_ind)
    size = _crop_sizes(crop_size)
    samples = _Samples(image.shape, boxes, box_ind, size, method)
    if method == "nearest":
        crops = image[samples.batch, samples.top, samples.left].astype(np.float32)
    else:
        crops = _between(samples, image)
    if not samples.inside.all():
        crops[~samples.inside] = extrapolation_value
    return crops


def _between(samples, image):
    """The values at the samples, interpolated between their four neighbours."""
    corners = samples.corners(image)
    shape = corners[0].shape
    boxes, height, width, channels = shape
    # The channels of a row of samples are contiguous: loops over channels alone are too short.
    row = width * channels
    top, right, bottom, far = (each.reshape(boxes, height, row) for each in corners)
    along = np.broadcast_to(samples.along, (boxes, 1, width, channels)).reshape(boxes, 1, row)
    for near, beside in ((top, right), (bottom, far)):
        beside -= near
        beside *= along
        near += beside
    bottom -= top
    bottom *= samples.down[..., 0]
    top += bottom
    return top.reshape(shape)


@CropAndResize.gradient
def _(op, grad):
    image, boxes, box_ind, _ = op.inputs
    method = op.attrs["method"]
    by_image = by_boxes = None
    if image.dtype in _REAL and op.needs(0):
        by_image = CropAndResizeGradImage(
            grad, boxes, box_ind, shape(image), T=image.dtype, method=method
        )
    if op.needs(1):
        # TensorFlow uses the bilinear derivative for both methods.
        by_boxes = CropAndResizeGradBoxes(grad, image, boxes, box_ind)
    return by_image, by_boxes, None, None


def _refuse_gradient(op, grad):
    raise LookupError(f"gradient registry has no entry for: {op.type}")


@op(
    "CropAndResizeGradImage",
    "grads: float32, boxes: float32, box_ind: int32, image_size: int32 -> output: T",
    shape=lambda inputs, attrs: constant_shape(inputs[3]).merge_with([None] * 4),
    gradient=_refuse_gradient,
)
def CropAndResizeGradImage(grads, boxes, box_ind, image_size, *, T, method="bilinear"):
    sizes = tuple(image_size.tolist())
    _check_boxes(sizes, boxes, box_ind)
    samples = _Samples(sizes, boxes, box_ind, grads.shape[1:3], method)
    result = np.zeros(sizes, np.float32)
    grads = np.where(samples.inside[..., None], grads, np.float32(0))
    if method == "nearest":
        np.add.at(result, (samples.batch, samples.top, samples.left), grads)
        return result.astype(T.numpy)
    one = np.float32(1)
    for rows, down in ((samples.top, one - samples.down), (samples.bottom, samples.down)):
        for columns, along in (
            (samples.left, one - samples.along),
            (samples.right, samples.along),
        ):
            np.add.at(result, (samples.batch, rows, columns), grads * down * along)
    return result.astype(T.numpy)


@op(
    "CropAndResizeGradBoxes",
    "grads: float32, image: T, boxes: float32, box_ind: int32 -> output: float32",
    T=_BOXED,
    shape=lambda inputs, attrs: inputs[2].shape,
    gradient=_refuse_gradient,
)
def CropAndResizeGradBoxes(grads, image, boxes, box_ind, *, method="bilinear"):
    _check_boxes(image.shape, boxes, box_ind)
    size = grads.shape[1:3]
    samples = _Samples(image.shape, boxes, box_ind, size, "bilinear")
    top_left, top_right, bottom_left, bottom_right = samples.corners(image)
    by_row = (bottom_left - top_left) * (1 - samples.along)
    by_row += (bottom_right - top_right) * samples.along
    by_column = (top_right - top_left) * (1 - samples.down)
    by_column += (bottom_right - bottom_left) * samples.down
    grads = np.where(samples.inside[..., None], grads, np.float32(0))
    result = np.empty((len(boxes), 4), np.float32)
    for axis, slope in enumerate((by_row, by_column)):
        # The derivative with respect to a sample's position, summed over the other axis and the
        # channels.
        places = (slope * grads).sum(axis=(3, 2 - axis), dtype=np.float32)
        last, count = np.float32(image.shape[1 + axis] - 1), size[axis]
        part = np.arange(count, dtype=np.float32) / np.float32(count - 1) if count > 1 else 0.5
        result[:, axis] = (places * last * (1 - part)).sum(1, dtype=np.float32)
        result[:, 2 + axis] = (places * last * part).sum(1, dtype=np.float32)
    return result


def crop_and_resize(
    image, boxes, box_indices, crop_size, method="bilinear", extrapolation_value=0.0, name=None
):
    """Boxes [y1, x1, y2, x2] in fractions of the images' sizes, cropped and resized to `crop_size`.

    >>> images = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> tf.image.crop_and_resize(images, [[0.0, 0.0, 1.0, 1.0]], [0], [2, 2]).numpy().ravel()
    array([ 0.,  3., 12., 15.], dtype=float32)
    """
    if method not in ("bilinear", "nearest"):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Value for attr 'method' of {method!r} is not in the list of allowed values: "
            '"bilinear", "nearest" [Op:CropAndResize]',
        )
    return CropAndResize(
        convert_to_tensor(image),
        convert_to_tensor(boxes, float32),
        convert_to_tensor(box_indices, int32),
        convert_to_tensor(crop_size, int32),
        method=method,
        extrapolation_value=float(extrapolation_value),
    )
