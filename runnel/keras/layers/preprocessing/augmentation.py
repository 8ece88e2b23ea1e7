"""Random image augmentation: flips, crops, brightness, contrast and size."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ..dropout import BaseRandomLayer
from .base import as_tensor
from .image_sizes import (
    cut_or_resize,
    height_and_width,
    method_of,
    resize_without_distortion,
    sized_shape,
)


class RandomImageLayer(BaseRandomLayer):
    """A layer that augments images in training with its own random generator."""

    def __init__(self, seed=None, **kwargs):
        # Augmentation always uses the stateful generator, whatever a config says.
        kwargs.pop("rng_type", None)
        super().__init__(seed=seed, force_generator=True, **kwargs)
        self.seed = seed

    def call(self, inputs, training=True):
        """The images, augmented in training."""
        if isinstance(inputs, dict):
            raise ValueError(
                "This layer can only process a tensor representing an image or a batch of images. "
                f"Received: type(inputs)={type(inputs)}, with the keys {list(inputs)}. Call the "
                "layer on the images alone."
            )
        images = self._images(inputs)
        if isinstance(training, tf.Tensor | tf.Variable):
            return tf.cond(
                tf.cast(training, tf.bool),
                lambda: self._changed(images),
                lambda: self._unchanged(images),
            )
        changed = self._changed(images) if training else self._unchanged(images)
        changed.set_shape(self.compute_output_shape(images.shape))
        return changed

    def _images(self, inputs: Any) -> Any:
        return as_tensor(inputs, self._compute_dtype_object)

    def _changed(self, images: Any) -> Any:
        raise NotImplementedError

    def _unchanged(self, images: Any) -> Any:
        return images

    def _uniform(self, shape: Any, lower: float, upper: float) -> Any:
        return self._random_generator.random_uniform(shape=shape, minval=lower, maxval=upper)

    def compute_output_shape(self, input_shape):
        """The shape of the images."""
        return input_shape

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "rng_type": "stateful"}


class RandomFlip(RandomImageLayer):
    """In training, flip each image horizontally, vertically, or both, with probability 1/2.

    >>> image = tf.reshape(tf.range(4.0), [2, 2, 1])
    >>> flip = tf.keras.layers.RandomFlip("horizontal", seed=1)
    >>> flip(image, training=False).numpy()[..., 0].tolist()
    [[0.0, 1.0], [2.0, 3.0]]
    """

    def __init__(self, mode="horizontal_and_vertical", seed=None, **kwargs):
        super().__init__(seed=seed, **kwargs)
        self.mode = mode
        if mode not in ("horizontal", "vertical", "horizontal_and_vertical"):
            raise ValueError(
                f"RandomFlip layer {self.name} received an unknown mode argument {mode}. It can be "
                "'horizontal', 'vertical' or 'horizontal_and_vertical'."
            )
        self.horizontal = mode != "vertical"
        self.vertical = mode != "horizontal"

    def _changed(self, images: Any) -> Any:
        generator = self._random_generator
        if self.horizontal:
            seed = generator.seed_for_stateless_op()
            images = tf.image.stateless_random_flip_left_right(images, seed)
        if self.vertical:
            seed = generator.seed_for_stateless_op()
            images = tf.image.stateless_random_flip_up_down(images, seed)
        return images

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "mode": self.mode, "seed": self.seed}


class RandomCrop(RandomImageLayer):
    """In training, a random crop, the same for the whole batch; in inference, images resized."""

    def __init__(self, height, width, seed=None, **kwargs):
        super().__init__(seed=seed, **kwargs)
        self.height = height
        self.width = width

    def _changed(self, images: Any) -> Any:
        def place(tall: Any, wide: Any) -> tuple[Any, Any]:
            drawn = self._random_generator.random_uniform(
                shape=[2], minval=0, maxval=tf.int32.max, dtype=tf.int32
            )
            return drawn[0] % (tall + 1), drawn[1] % (wide + 1)

        return cut_or_resize(images, self.height, self.width, place)

    def _unchanged(self, images: Any) -> Any:
        resized = resize_without_distortion(images, self.height, self.width, "bilinear")
        return tf.cast(resized, self._compute_dtype_object)

    def compute_output_shape(self, input_shape):
        """The shape of the crops."""
        return sized_shape(input_shape, self.height, self.width)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "height": self.height,
            "width": self.width,
            "seed": self.seed,
        }


class RandomContrast(RandomImageLayer):
    """In training, scale the difference of pixels from their mean by a random factor around 1."""

    def __init__(self, factor, seed=None, **kwargs):
        super().__init__(seed=seed, **kwargs)
        self.factor = factor
        self.lower, self.upper = factor if isinstance(factor, tuple | list) else (factor, factor)
        if self.lower < 0.0 or self.upper < 0.0 or self.lower > 1.0:
            raise ValueError(
                "`factor` argument cannot have negative values or values greater than 1. Received: "
                f"factor={factor}"
            )

    def _changed(self, images: Any) -> Any:
        seed = self._random_generator.seed_for_stateless_op()
        changed = tf.image.stateless_random_contrast(
            images, 1.0 - self.lower, 1.0 + self.upper, seed
        )
        return tf.clip_by_value(changed, tf.cast(0, images.dtype), tf.cast(255, images.dtype))

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "factor": self.factor, "seed": self.seed}


class RandomBrightness(RandomImageLayer):
    """In training, add a random number to each image; `value_range` is the range of the pixels."""

    def __init__(self, factor, value_range=(0, 255), seed=None, **kwargs):
        super().__init__(seed=seed, **kwargs)
        self._factor = _brightness_factor(factor)
        if not isinstance(value_range, tuple | list) or len(value_range) != 2:
            raise ValueError(
                f"The `value_range` argument should be a list of two numbers. Got {value_range}"
            )
        self._value_range = sorted(value_range)

    def _changed(self, images: Any) -> Any:
        rank = images.shape.rank
        if rank not in (3, 4):
            raise ValueError(
                "Expected the input image to be rank 3 or 4. Got inputs.shape = "
                f"{tuple(images.shape)}"
            )
        shape = [1, 1, 1] if rank == 3 else [tf.shape(images)[0], 1, 1, 1]
        lowest, highest = self._value_range
        delta = self._uniform(shape, *self._factor) * (highest - lowest)
        changed = images + tf.cast(delta, images.dtype)
        return tf.clip_by_value(
            changed, tf.cast(lowest, images.dtype), tf.cast(highest, images.dtype)
        )

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "factor": self._factor,
            "value_range": self._value_range,
            "seed": self.seed,
        }


def _brightness_factor(factor: Any) -> list[float]:
    values = factor if isinstance(factor, tuple | list) else (factor, factor)
    for value in values:
        number = isinstance(value, int | float) and -1.0 <= value <= 1.0
        if not number or len(values) != 2:
            raise ValueError(
                "The `factor` argument should be a number (or a list of two numbers) in the range "
                f"[-1.0, 1.0]. Got {factor}"
            )
    if isinstance(factor, tuple | list):
        return sorted(factor)
    return [-abs(factor), abs(factor)]


class _RandomSize(RandomImageLayer):
    """In training, scale one size of the images by a random factor."""

    _axis: int

    def __init__(self, factor, interpolation="bilinear", seed=None, **kwargs):
        super().__init__(seed=seed, **kwargs)
        self.factor = factor
        lower, upper = factor if isinstance(factor, tuple | list) else (-factor, factor)
        if upper < lower:
            raise ValueError(
                "`factor` argument cannot have an upper bound lesser than the lower bound. "
                f"Received: factor={factor}"
            )
        if lower < -1.0 or upper < -1.0:
            raise ValueError(
                f"`factor` argument must have values larger than -1. Received: factor={factor}"
            )
        self._bounds = (lower, upper)
        self.interpolation = interpolation
        self._method = method_of(interpolation)

    def _images(self, inputs: Any) -> Any:
        # Not cast: in inference integers are passed through unchanged.
        return as_tensor(inputs)

    def _changed(self, images: Any) -> Any:
        sizes = list(height_and_width(images))
        lower, upper = self._bounds
        factor = self._uniform([], 1.0 + lower, 1.0 + upper)
        old = tf.cast(sizes[self._axis], factor.dtype)
        sizes[self._axis] = tf.cast(factor * old, tf.int32)
        resized = tf.image.resize(images, tf.stack(sizes), method=self._method)
        return tf.cast(resized, self._compute_dtype_object)

    def compute_output_shape(self, input_shape):
        """The shape of the images, with one size unknown."""
        sizes = tf.TensorShape(input_shape).as_list()
        sizes[self._axis - 3] = None
        return tf.TensorShape(sizes)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "factor": self.factor,
            "interpolation": self.interpolation,
            "seed": self.seed,
        }


class RandomHeight(_RandomSize):
    """In training, scale the height of a batch of images by a random factor."""

    _axis = 0

    @property
    def height_lower(self) -> float:
        return self._bounds[0]

    @property
    def height_upper(self) -> float:
        return self._bounds[1]


class RandomWidth(_RandomSize):
    """In training, scale the width of a batch of images by a random factor."""

    _axis = 1

    @property
    def width_lower(self) -> float:
        return self._bounds[0]

    @property
    def width_upper(self) -> float:
        return self._bounds[1]
