"""Resizing and center-cropping of images."""

from __future__ import annotations

import runnel as tf

from ...engine.base_layer import Layer
from .base import as_tensor, is_ragged
from .image_sizes import cut_or_resize, method_of, resize_without_distortion, sized_shape


class Resizing(Layer):
    """Images resized to a height and a width; cropping can preserve the aspect ratio.

    >>> tf.keras.layers.Resizing(1, 2)(tf.ones([4, 4, 3])).shape
    TensorShape([1, 2, 3])
    """

    def __init__(
        self, height, width, interpolation="bilinear", crop_to_aspect_ratio=False, **kwargs
    ):
        super().__init__(**kwargs)
        self.height = height
        self.width = width
        self.interpolation = interpolation
        self.crop_to_aspect_ratio = crop_to_aspect_ratio
        self._method = method_of(interpolation)

    def call(self, inputs):
        """The resized images."""
        images = as_tensor(inputs)
        if is_ragged(images):
            dtype = self._compute_dtype_object
            spec = tf.TensorSpec([self.height, self.width, images.shape[-1]], dtype)
            return tf.map_fn(lambda image: self._resized(image.to_tensor()), images,
                             fn_output_signature=spec)  # fmt: skip
        return self._resized(images)

    def _resized(self, images):
        if self.crop_to_aspect_ratio:
            resized = resize_without_distortion(images, self.height, self.width, self._method)
        else:
            resized = tf.image.resize(images, (self.height, self.width), method=self._method)
        return tf.cast(resized, self._compute_dtype_object)

    def compute_output_shape(self, input_shape):
        """The shape of the resized images."""
        return sized_shape(input_shape, self.height, self.width)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "height": self.height,
            "width": self.width,
            "interpolation": self.interpolation,
            "crop_to_aspect_ratio": self.crop_to_aspect_ratio,
        }


class CenterCrop(Layer):
    """The center crop of images; smaller images are resized and cropped to the aspect ratio.

    >>> image = tf.reshape(tf.range(9.0), [3, 3, 1])
    >>> tf.keras.layers.CenterCrop(1, 1)(image).numpy().item()
    4.0
    """

    def __init__(self, height, width, **kwargs):
        super().__init__(**kwargs, autocast=False)
        self.height = height
        self.width = width

    def call(self, inputs):
        """Crop the images."""
        images = as_tensor(inputs, self._compute_dtype_object)
        return cut_or_resize(
            images, self.height, self.width, lambda tall, wide: (tall // 2, wide // 2)
        )

    def compute_output_shape(self, input_shape):
        """The shape of the crop."""
        return sized_shape(input_shape, self.height, self.width)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "height": self.height, "width": self.width}
