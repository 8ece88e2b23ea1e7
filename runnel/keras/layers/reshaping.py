"""Cropping, padding and upsampling over one, two and three axes."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ..engine.base_layer import Layer
from ..engine.input_spec import InputSpec
from .arguments import data_format_of, integer_tuple

_ORDINALS = ("1st", "2nd", "3rd")
_SYMMETRIC = {2: ("height", "width"), 3: ("dim1", "dim2", "dim3")}
_SIDES = {
    2: "((top_{0}, bottom_{0}), (left_{0}, right_{0}))",
    3: "((left_dim1_{0}, right_dim1_{0}), (left_dim2_{0}, right_dim2_{0}), "
    "(left_dim3_{0}, right_dim3_{0}))",
}


def _pairs(value: Any, rank: int, name: str, what: str) -> tuple[tuple[int, ...], ...]:
    """A pair of integers per axis, from one integer, one per axis, or all pairs."""
    if isinstance(value, int):
        return ((value, value),) * rank
    if not hasattr(value, "__len__"):
        symmetric = ", ".join(f"symmetric_{axis}_{what}" for axis in _SYMMETRIC[rank])
        raise ValueError(
            f"`{name}` should be either an int, a tuple of {rank} ints ({symmetric}), or a tuple "
            f"of {rank} tuples of 2 ints {_SIDES[rank].format(what)}. Received: {value}."
        )
    if len(value) != rank:
        count = "two" if rank == 2 else rank
        raise ValueError(f"`{name}` should have {count} elements. Received: {value}.")
    return tuple(
        integer_tuple(each, 2, f"{_ORDINALS[axis]} entry of {name}", allow_zero=True)
        for axis, each in enumerate(value)
    )


class _Spatial(Layer):
    """A layer that resizes spatial axes: subclasses define how each size changes."""

    def __init__(self, rank, data_format, **kwargs):
        super().__init__(**kwargs)
        self.data_format = data_format_of(data_format)
        self._first_axis = 2 if self.data_format == "channels_first" else 1
        self.input_spec = InputSpec(ndim=rank + 2)

    def _resized(self, input_shape: Any, sizes_for: list[Any]) -> tf.TensorShape:
        sizes = tf.TensorShape(input_shape).as_list()
        for axis, change in enumerate(sizes_for, self._first_axis):
            if sizes[axis] is not None:
                sizes[axis] = change(sizes[axis])
        return tf.TensorShape(sizes)


class _Cropping(_Spatial):
    _pairs: Any
    cropping: Any

    def call(self, inputs):
        """Crop the inputs."""
        self._check_size(inputs)
        margins = [slice(None)] * self._first_axis + [
            slice(before, None if after == 0 else -after) for before, after in self._pairs
        ]
        return inputs[tuple(margins)]

    def _check_size(self, inputs: Any) -> None:
        """Crops larger than the input give empty outputs, unless rejected."""

    def _check_larger(self, inputs: Any, message: str) -> None:
        if inputs.shape.rank is None:
            return
        for axis, pair in enumerate(self._pairs, self._first_axis):
            size = inputs.shape[axis]
            if size is not None and sum(pair) >= size:
                raise ValueError(
                    f"{message} must be greater than the input shape. Received: "
                    f"inputs.shape={inputs.shape}, and cropping={self.cropping}"
                )

    def compute_output_shape(self, input_shape):
        """The sizes minus the cropped margins."""
        return self._resized(
            input_shape, [lambda size, pair=pair: max(size - sum(pair), 0) for pair in self._pairs]
        )


class Cropping1D(_Cropping):
    """The inputs without some time steps at either end.

    >>> tf.keras.layers.Cropping1D((1, 2))(tf.ones([2, 8, 3])).shape
    TensorShape([2, 5, 3])
    """

    def __init__(self, cropping=(1, 1), **kwargs):
        super().__init__(1, "channels_last", **kwargs)
        self.cropping = integer_tuple(cropping, 2, "cropping", allow_zero=True)
        self._pairs = (self.cropping,)

    def _check_size(self, inputs: Any) -> None:
        self._check_larger(inputs, "cropping parameter of Cropping layer")

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "cropping": self.cropping}


class Cropping2D(_Cropping):
    """Images with their margins cropped.

    >>> tf.keras.layers.Cropping2D(((1, 1), (2, 0)))(tf.ones([1, 8, 8, 3])).shape
    TensorShape([1, 6, 6, 3])
    """

    def __init__(self, cropping=((0, 0), (0, 0)), data_format=None, **kwargs):
        super().__init__(2, data_format, **kwargs)
        self.cropping = self._pairs = _pairs(cropping, 2, "cropping", "crop")

    def _check_size(self, inputs: Any) -> None:
        self._check_larger(inputs, "Argument `cropping`")

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "cropping": self.cropping,
            "data_format": self.data_format,
        }


class Cropping3D(_Cropping):
    """Volumes with their margins cropped."""

    def __init__(self, cropping=((1, 1), (1, 1), (1, 1)), data_format=None, **kwargs):
        super().__init__(3, data_format, **kwargs)
        self.cropping = self._pairs = _pairs(cropping, 3, "cropping", "crop")

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "cropping": self.cropping,
            "data_format": self.data_format,
        }


class _ZeroPadding(_Spatial):
    _pairs: Any

    def call(self, inputs):
        """Pad the inputs with zeros."""
        channels = [] if self._first_axis == 2 else [[0, 0]]
        margins = [[0, 0]] * self._first_axis + [list(pair) for pair in self._pairs] + channels
        return tf.pad(inputs, margins)

    def compute_output_shape(self, input_shape):
        """The sizes plus the padding."""
        return self._resized(
            input_shape, [lambda size, pair=pair: size + sum(pair) for pair in self._pairs]
        )


class ZeroPadding1D(_ZeroPadding):
    """Zero padding before and after the time steps.

    >>> tf.keras.layers.ZeroPadding1D(2)(tf.ones([2, 8, 3])).shape
    TensorShape([2, 12, 3])
    """

    def __init__(self, padding=1, **kwargs):
        super().__init__(1, "channels_last", **kwargs)
        self.padding = integer_tuple(padding, 2, "padding", allow_zero=True)
        self._pairs = (self.padding,)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "padding": self.padding}


class ZeroPadding2D(_ZeroPadding):
    """Images with zero padding.

    >>> tf.keras.layers.ZeroPadding2D((1, 2))(tf.ones([1, 8, 8, 3])).shape
    TensorShape([1, 10, 12, 3])
    """

    def __init__(self, padding=(1, 1), data_format=None, **kwargs):
        super().__init__(2, data_format, **kwargs)
        self.padding = self._pairs = _pairs(padding, 2, "padding", "pad")

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "padding": self.padding, "data_format": self.data_format}


class ZeroPadding3D(_ZeroPadding):
    """Volumes with zero padding."""

    def __init__(self, padding=(1, 1, 1), data_format=None, **kwargs):
        super().__init__(3, data_format, **kwargs)
        self.padding = self._pairs = _pairs(padding, 3, "padding", "pad")

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "padding": self.padding, "data_format": self.data_format}


class _UpSampling(_Spatial):
    _factors: tuple[int, ...]

    def call(self, inputs):
        """The inputs repeated along each spatial axis."""
        return self._with_static_shape(self._repeated(inputs), inputs)

    def _repeated(self, inputs: Any) -> Any:
        for axis, factor in enumerate(self._factors, self._first_axis):
            if factor != 1:
                inputs = tf.repeat(inputs, factor, axis=axis)
        return inputs

    def _with_static_shape(self, outputs: Any, inputs: Any) -> Any:
        if not outputs.shape.is_fully_defined() and inputs.shape.rank is not None:
            outputs.set_shape(self.compute_output_shape(inputs.shape))
        return outputs

    def compute_output_shape(self, input_shape):
        """The sizes times the factors."""
        return self._resized(
            input_shape, [lambda size, factor=factor: size * factor for factor in self._factors]
        )


class UpSampling1D(_UpSampling):
    """Each time step repeated `size` times.

    >>> tf.keras.layers.UpSampling1D(2)(tf.constant([[[1.0], [2.0]]])).numpy().ravel().tolist()
    [1.0, 1.0, 2.0, 2.0]
    """

    def __init__(self, size=2, **kwargs):
        super().__init__(1, "channels_last", **kwargs)
        self.size = int(size)
        self._factors = (self.size,)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "size": self.size}


_INTERPOLATIONS = (
    *("bilinear", "nearest", "bicubic", "area"),
    *("lanczos3", "lanczos5", "gaussian", "mitchellcubic"),
)


class UpSampling2D(_UpSampling):
    """Upsampled images: pixels repeated, or interpolated with `interpolation`.

    >>> tf.keras.layers.UpSampling2D((2, 3))(tf.ones([1, 4, 4, 3])).shape
    TensorShape([1, 8, 12, 3])
    """

    def __init__(self, size=(2, 2), data_format=None, interpolation="nearest", **kwargs):
        super().__init__(2, data_format, **kwargs)
        self.size = self._factors = integer_tuple(size, 2, "size")
        if interpolation not in _INTERPOLATIONS:
            raise NotImplementedError(
                f"Value not recognized for `interpolation`: {interpolation}. Supported values "
                f"are: {list(_INTERPOLATIONS)}"
            )
        self.interpolation = interpolation

    def call(self, inputs):
        """Upsample the images."""
        if self.data_format == "channels_first":
            images = self._enlarged(tf.transpose(inputs, [0, 2, 3, 1]))
            outputs = tf.transpose(images, [0, 3, 1, 2])
        else:
            outputs = self._enlarged(inputs)
        return self._with_static_shape(outputs, inputs)

    def _enlarged(self, images: Any) -> Any:
        height, width = images.shape[1:3]
        if height is None or width is None:
            sizes: Any = tf.shape(images)[1:3] * self._factors
        else:
            sizes = [height * self._factors[0], width * self._factors[1]]
        return tf.image.resize(images, sizes, self.interpolation)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "size": self.size,
            "data_format": self.data_format,
            "interpolation": self.interpolation,
        }


class UpSampling3D(_UpSampling):
    """Volumes repeated along each of the three axes."""

    def __init__(self, size=(2, 2, 2), data_format=None, **kwargs):
        super().__init__(3, data_format, **kwargs)
        self.size = self._factors = integer_tuple(size, 3, "size")

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "size": self.size, "data_format": self.data_format}
