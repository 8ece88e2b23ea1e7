"""Random affine augmentation: translation, rotation and zoom."""

from __future__ import annotations

import math
from typing import Any

import runnel as tf

from ....ops.image.warping import ImageProjectiveTransformV3
from .augmentation import RandomImageLayer
from .image_sizes import height_and_width

_FILL_MODES = ("reflect", "wrap", "constant", "nearest")


class RandomWarp(RandomImageLayer):
    """In training, apply a random affine map to the pixel coordinates of each image."""

    def __init__(self, fill_mode, interpolation, seed, fill_value, **kwargs):
        if fill_mode not in _FILL_MODES:
            raise NotImplementedError(
                f"Unknown `fill_mode` {fill_mode}. Only `reflect`, `wrap`, `constant` and "
                "`nearest` are supported."
            )
        if interpolation not in ("nearest", "bilinear"):
            raise NotImplementedError(
                f"Unknown `interpolation` {interpolation}. Only `nearest` and `bilinear` are "
                "supported."
            )
        super().__init__(seed=seed, **kwargs)
        self.fill_mode = fill_mode
        self.fill_value = fill_value
        self.interpolation = interpolation

    def _changed(self, images: Any) -> Any:
        height, width = height_and_width(images)
        single = images.shape.rank == 3
        batch = tf.expand_dims(images, 0) if single else images
        count = tf.shape(batch)[0]
        maps = self._maps(count, tf.cast(height, tf.float32), tf.cast(width, tf.float32))
        warped = ImageProjectiveTransformV3(
            batch,
            maps,
            tf.stack([height, width]),
            tf.constant(self.fill_value, tf.float32),
            interpolation=self.interpolation.upper(),
            fill_mode=self.fill_mode.upper(),
        )
        return tf.squeeze(warped, 0) if single else warped

    def _maps(self, count: Any, height: Any, width: Any) -> Any:
        """The projective maps from output to input coordinates: eight parameters per image."""
        raise NotImplementedError

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            **self._factors(),
            "fill_mode": self.fill_mode,
            "fill_value": self.fill_value,
            "interpolation": self.interpolation,
            "seed": self.seed,
        }

    def _factors(self) -> dict[str, Any]:
        raise NotImplementedError


def _map(a: Any, b: Any, left: Any, c: Any, d: Any, top: Any) -> Any:
    """x' = a x + b y + left, y' = c x + d y + top for each image: rows of eight parameters."""
    known = next(each for each in (a, left) if isinstance(each, tf.Tensor))
    columns = [
        each if isinstance(each, tf.Tensor) else tf.fill(tf.shape(known), float(each))
        for each in (a, b, left, c, d, top, 0.0, 0.0)
    ]
    return tf.stack(columns, axis=1)


def _bounds(factor: Any) -> tuple[float, float]:
    if isinstance(factor, tuple | list):
        return factor[0], factor[1]
    return -factor, factor


class RandomTranslation(RandomWarp):
    """In training, translate each image by a random fraction of its height and width."""

    def __init__(
        self,
        height_factor,
        width_factor,
        fill_mode="reflect",
        interpolation="bilinear",
        seed=None,
        fill_value=0.0,
        **kwargs,
    ):
        super().__init__(fill_mode, interpolation, seed, fill_value, **kwargs)
        self.height_factor = height_factor
        self.height_lower, self.height_upper = _moves("height_factor", height_factor)
        self.width_factor = width_factor
        self.width_lower, self.width_upper = _moves("width_factor", width_factor)

    def _maps(self, count: Any, height: Any, width: Any) -> Any:
        down = self._uniform([count, 1], self.height_lower, self.height_upper)[:, 0] * height
        right = self._uniform([count, 1], self.width_lower, self.width_upper)[:, 0] * width
        return _map(1.0, 0.0, -right, 0.0, 1.0, -down)

    def _factors(self) -> dict[str, Any]:
        return {"height_factor": self.height_factor, "width_factor": self.width_factor}


def _moves(name: str, factor: Any) -> tuple[float, float]:
    lower, upper = _bounds(factor)
    if upper < lower:
        raise ValueError(f"`{name}` cannot have upper bound less than lower bound, got {factor}")
    if abs(lower) > 1.0 or abs(upper) > 1.0:
        raise ValueError(
            f"`{name}` argument must have values between [-1, 1]. Received: {name}={factor}"
        )
    return lower, upper


class RandomRotation(RandomWarp):
    """In training, rotate each image by a random fraction of a full turn."""

    def __init__(
        self,
        factor,
        fill_mode="reflect",
        interpolation="bilinear",
        seed=None,
        fill_value=0.0,
        **kwargs,
    ):
        super().__init__(fill_mode, interpolation, seed, fill_value, **kwargs)
        self.factor = factor
        self.lower, self.upper = _bounds(factor)
        if self.upper < self.lower:
            raise ValueError(
                f"`factor` argument cannot have a negative value. Received: factor={factor}"
            )

    def _maps(self, count: Any, height: Any, width: Any) -> Any:
        turn = 2.0 * math.pi
        angles = self._uniform([count], self.lower * turn, self.upper * turn)
        cosines, sines = tf.cos(angles), tf.sin(angles)
        last_row, last_column = height - 1.0, width - 1.0
        # The center of the image is fixed.
        left = (last_column - (cosines * last_column - sines * last_row)) / 2.0
        top = (last_row - (sines * last_column + cosines * last_row)) / 2.0
        return _map(cosines, -sines, left, sines, cosines, top)

    def _factors(self) -> dict[str, Any]:
        return {"factor": self.factor}


class RandomZoom(RandomWarp):
    """In training, zoom each image by a random factor: below 0 in, above 0 out.

    With `width_factor` height and width have independent factors.
    """

    def __init__(
        self,
        height_factor,
        width_factor=None,
        fill_mode="reflect",
        interpolation="bilinear",
        seed=None,
        fill_value=0.0,
        **kwargs,
    ):
        super().__init__(fill_mode, interpolation, seed, fill_value, **kwargs)
        self.height_factor = height_factor
        self.height_lower, self.height_upper = _bounds(height_factor)
        if abs(self.height_lower) > 1.0 or abs(self.height_upper) > 1.0:
            raise ValueError(
                "`height_factor` argument must have values between [-1, 1]. Received: "
                f"height_factor={height_factor}"
            )
        self.width_factor = width_factor
        if width_factor is not None:
            self.width_lower, self.width_upper = _bounds(width_factor)
            if self.width_lower < -1.0 or self.width_upper < -1.0:
                raise ValueError(
                    "`width_factor` argument must have values larger than -1. Received: "
                    f"width_factor={width_factor}"
                )

    def _maps(self, count: Any, height: Any, width: Any) -> Any:
        high = self._uniform([count, 1], 1.0 + self.height_lower, 1.0 + self.height_upper)[:, 0]
        wide = high
        if self.width_factor is not None:
            wide = self._uniform([count, 1], 1.0 + self.width_lower, 1.0 + self.width_upper)[:, 0]
        left = (width - 1.0) / 2.0 * (1.0 - wide)
        top = (height - 1.0) / 2.0 * (1.0 - high)
        return _map(wide, 0.0, left, 0.0, high, top)

    def _factors(self) -> dict[str, Any]:
        return {"height_factor": self.height_factor, "width_factor": self.width_factor}
