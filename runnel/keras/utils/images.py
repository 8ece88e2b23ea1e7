"""Images to and from arrays and files, with Pillow, which is imported lazily."""

from __future__ import annotations

import io
import os
import warnings
from typing import Any

import numpy as np

from ..backend.settings import floatx, image_data_format

_INTERPOLATIONS = ("nearest", "bilinear", "bicubic", "hamming", "box", "lanczos")


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise ImportError(
            "Images as files need Pillow: install it with `python -m pip install pillow`."
        ) from None
    return Image


def array_to_img(
    x: Any, data_format: str | None = None, scale: bool = True, dtype: Any = None
) -> Any:
    """A Pillow image from an array of height, width and 1, 3 or 4 channels.

    Args:
      x: The array.
      data_format: "channels_last" or "channels_first"; by default the global setting.
      scale: Whether to rescale the values to 0...255.
      dtype: The dtype of the computation; by default `floatx()`.
    """
    image = _pillow()
    x = np.asarray(x, dtype=dtype or floatx())
    if x.ndim != 3:
        raise ValueError(
            f"Expected image array to have rank 3 (single image). Got array with shape: {x.shape}"
        )
    data_format = data_format or image_data_format()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Invalid data_format: {data_format}")
    if data_format == "channels_first":
        x = x.transpose(1, 2, 0)
    if scale:
        x = x - np.min(x)
        peak = np.max(x)
        if peak != 0:
            x /= peak
        x *= 255
    channels = x.shape[2]
    if channels in (3, 4):
        return image.fromarray(x.astype("uint8"))
    if channels == 1:
        # More than 8 bits need a Pillow image of mode I.
        return image.fromarray(x[:, :, 0].astype("int32" if np.max(x) > 255 else "uint8"))
    raise ValueError(f"Unsupported channel number: {channels}")


def img_to_array(img: Any, data_format: str | None = None, dtype: Any = None) -> np.ndarray:
    """An array of height, width and channels from a Pillow image, or from an array."""
    data_format = data_format or image_data_format()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format: {data_format}")
    x = np.asarray(img, dtype=dtype or floatx())
    if x.ndim == 3:
        return x.transpose(2, 0, 1) if data_format == "channels_first" else x
    if x.ndim == 2:
        return x[None] if data_format == "channels_first" else x[..., None]
    raise ValueError(f"Unsupported image shape: {x.shape}")


def save_img(
    path: Any,
    x: Any,
    data_format: str | None = None,
    file_format: str | None = None,
    scale: bool = True,
    **kwargs: Any,
) -> None:
    """Write an array as an image file; the format is inferred from the name unless given."""
    image = array_to_img(x, data_format=data_format or image_data_format(), scale=scale)
    if image.mode == "RGBA" and file_format in ("jpg", "jpeg"):
        # JPEG has no alpha channel.
        image = image.convert("RGB")
    image.save(path, format=file_format, **kwargs)


def load_img(
    path: Any,
    grayscale: bool = False,
    color_mode: str = "rgb",
    target_size: tuple[int, int] | None = None,
    interpolation: str = "nearest",
    keep_aspect_ratio: bool = False,
) -> Any:
    """Load a Pillow image from a file.

    Args:
      path: Path of the file, or an `io.BytesIO` with its content.
      grayscale: Older than `color_mode="grayscale"`.
      color_mode: "grayscale", "rgb" or "rgba".
      target_size: Height and width after resizing.
      interpolation: "nearest", "bilinear", "bicubic", "lanczos", "box" or "hamming".
      keep_aspect_ratio: Center-crop to the target aspect ratio before resizing.
    """
    image = _pillow()
    if grayscale:
        warnings.warn('grayscale is deprecated. Please use color_mode = "grayscale"', stacklevel=2)
    if isinstance(path, io.BytesIO):
        loaded = image.open(path)
    elif isinstance(path, str | bytes | os.PathLike):
        with open(path, "rb") as file:
            loaded = image.open(io.BytesIO(file.read()))
    else:
        raise TypeError(f"path should be path-like or io.BytesIO, not {type(path)}")
    loaded = _converted(loaded, "grayscale" if grayscale else color_mode)
    if target_size is not None and loaded.size != (target_size[1], target_size[0]):
        if interpolation not in _INTERPOLATIONS:
            raise ValueError(
                f"Invalid interpolation method {interpolation} specified. Supported methods are "
                f"{', '.join(_INTERPOLATIONS)}"
            )
        method = getattr(image.Resampling, interpolation.upper())
        size = (target_size[1], target_size[0])
        box = _middle(loaded.size, size) if keep_aspect_ratio else None
        loaded = loaded.resize(size, method, box=box)
    return loaded


def _converted(image: Any, color_mode: str) -> Any:
    if color_mode == "grayscale":
        # 16- and 32-bit images are grayscale already; a conversion would lose their depth.
        return image if image.mode in ("L", "I;16", "I") else image.convert("L")
    if color_mode not in ("rgb", "rgba"):
        raise ValueError('color_mode must be "grayscale", "rgb", or "rgba"')
    mode = color_mode.upper()
    return image if image.mode == mode else image.convert(mode)


def _middle(size: tuple[int, int], wanted: tuple[int, int]) -> tuple[int, int, int, int]:
    width, height = size
    target_width, target_height = wanted
    crop_height = min(height, (width * target_height) // target_width)
    crop_width = min(width, (height * target_width) // target_height)
    left, top = (width - crop_width) // 2, (height - crop_height) // 2
    return left, top, left + crop_width, top + crop_height
