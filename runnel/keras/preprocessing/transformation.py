"""Affine transforms and color changes of image arrays, random or given."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..utils.images import array_to_img, img_to_array


def apply_affine_transform(
    x: np.ndarray,
    theta: float = 0,
    tx: float = 0,
    ty: float = 0,
    shear: float = 0,
    zx: float = 1,
    zy: float = 1,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    order: int = 1,
) -> np.ndarray:
    """Rotate, translate, shear and zoom an image about its center.

    Args:
      x: The image, an array of rank 3.
      theta: Angle of rotation in degrees.
      tx: Shift along rows, in pixels.
      ty: Shift along columns, in pixels.
      shear: Angle of shear in degrees.
      zx: Zoom along rows.
      zy: Zoom along columns.
      row_axis: Axis of the rows.
      col_axis: Axis of the columns.
      channel_axis: Axis of the channels.
      fill_mode: Padding mode: "constant", "nearest", "reflect" or "wrap".
      cval: The padding value for "constant".
      order: Order of the spline interpolation: 0 nearest, 1 linear, and so on.
    """
    if {row_axis, col_axis, channel_axis} != {0, 1, 2}:
        raise ValueError(
            "`row_axis`, `col_axis`, and `channel_axis` must be the numbers 0, 1 and 2, one each. "
            f"Received: row_axis={row_axis}, col_axis={col_axis}, channel_axis={channel_axis}"
        )
    matrix = _matrix(theta, tx, ty, shear, zx, zy)
    if matrix is None:
        return x
    from scipy import ndimage

    planes = np.moveaxis(x, (channel_axis, row_axis, col_axis), (0, 1, 2))
    # x runs along the columns, yet the original takes its center from the height, and vice versa;
    # the results for non-square images match the original's.
    middle = np.array([planes.shape[1], planes.shape[2]]) / 2 - 0.5
    turn, shift = matrix[:2, :2], matrix[:2, 2]
    offset = (turn @ -middle + shift + middle)[::-1]
    turn = turn[::-1, ::-1]
    moved = np.stack(
        [
            ndimage.affine_transform(plane, turn, offset, order=order, mode=fill_mode, cval=cval)
            for plane in planes
        ]
    )
    return np.moveaxis(moved, (0, 1, 2), (channel_axis, row_axis, col_axis))


def _matrix(theta: float, tx: float, ty: float, shear: float, zx: float, zy: float) -> Any:
    """The transforms composed left to right; None if all are the identity."""
    steps = []
    if theta:
        cosine, sine = np.cos(np.deg2rad(theta)), np.sin(np.deg2rad(theta))
        steps.append([[cosine, -sine, 0], [sine, cosine, 0], [0, 0, 1]])
    if tx or ty:
        steps.append([[1, 0, tx], [0, 1, ty], [0, 0, 1]])
    if shear:
        angle = np.deg2rad(shear)
        steps.append([[1, -np.sin(angle), 0], [0, np.cos(angle), 0], [0, 0, 1]])
    if zx != 1 or zy != 1:
        steps.append([[zx, 0, 0], [0, zy, 0], [0, 0, 1]])
    if not steps:
        return None
    matrix = np.eye(3)
    for step in steps:
        matrix = matrix @ np.array(step)
    return matrix


def random_rotation(
    x: np.ndarray,
    rg: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> np.ndarray:
    """Rotate an image by a random angle of at most `rg` degrees."""
    theta = np.random.uniform(-rg, rg)
    return apply_affine_transform(
        x,
        theta=theta,
        row_axis=row_axis,
        col_axis=col_axis,
        channel_axis=channel_axis,
        fill_mode=fill_mode,
        cval=cval,
        order=interpolation_order,
    )


def random_shift(
    x: np.ndarray,
    wrg: float,
    hrg: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> np.ndarray:
    """Translate an image at random by at most these fractions of its width and height."""
    tx = np.random.uniform(-hrg, hrg) * x.shape[row_axis]
    ty = np.random.uniform(-wrg, wrg) * x.shape[col_axis]
    return apply_affine_transform(
        x,
        tx=tx,
        ty=ty,
        row_axis=row_axis,
        col_axis=col_axis,
        channel_axis=channel_axis,
        fill_mode=fill_mode,
        cval=cval,
        order=interpolation_order,
    )


def random_shear(
    x: np.ndarray,
    intensity: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> np.ndarray:
    """Shear an image by a random angle of at most `intensity` degrees."""
    shear = np.random.uniform(-intensity, intensity)
    return apply_affine_transform(
        x,
        shear=shear,
        row_axis=row_axis,
        col_axis=col_axis,
        channel_axis=channel_axis,
        fill_mode=fill_mode,
        cval=cval,
        order=interpolation_order,
    )


def random_zoom(
    x: np.ndarray,
    zoom_range: Any,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> np.ndarray:
    """Zoom both axes of an image by random factors from the range, a pair."""
    if len(zoom_range) != 2:
        raise ValueError(
            f"`zoom_range` should be a tuple or list of two floats. Received: {zoom_range}"
        )
    if zoom_range[0] == 1 and zoom_range[1] == 1:
        zx, zy = 1, 1
    else:
        zx, zy = np.random.uniform(zoom_range[0], zoom_range[1], 2)
    return apply_affine_transform(
        x,
        zx=zx,
        zy=zy,
        row_axis=row_axis,
        col_axis=col_axis,
        channel_axis=channel_axis,
        fill_mode=fill_mode,
        cval=cval,
        order=interpolation_order,
    )


def apply_channel_shift(x: np.ndarray, intensity: float, channel_axis: int = 0) -> np.ndarray:
    """Add a number to all values, clipped to their original range."""
    return np.clip(x + intensity, np.min(x), np.max(x))


def random_channel_shift(
    x: np.ndarray, intensity_range: float, channel_axis: int = 0
) -> np.ndarray:
    """Add a random number of at most `intensity_range`, clipped to the original range."""
    intensity = np.random.uniform(-intensity_range, intensity_range)
    return apply_channel_shift(x, intensity, channel_axis)


def apply_brightness_shift(x: np.ndarray, brightness: float, scale: bool = True) -> np.ndarray:
    """Make an image darker (below 1) or brighter (above 1).

    Args:
      x: The image, channels last.
      brightness: The factor.
      scale: Whether the values are rescaled to 0...255 and back.
    """
    low, high = np.min(x), np.max(x)
    outside = low < 0 or high > 255
    image = array_to_img(x, scale=outside or scale)
    from PIL import ImageEnhance

    brighter = img_to_array(ImageEnhance.Brightness(image).enhance(brightness))
    if outside and not scale:
        brighter = brighter / 255 * (high - low) + low
    return brighter


def random_brightness(x: np.ndarray, brightness_range: Any, scale: bool = True) -> np.ndarray:
    """Change the brightness by a random factor from the range, a pair."""
    if len(brightness_range) != 2:
        raise ValueError(
            f"`brightness_range should be tuple or list of two floats. Received: {brightness_range}"
        )
    factor = np.random.uniform(brightness_range[0], brightness_range[1])
    return apply_brightness_shift(x, factor, scale)
