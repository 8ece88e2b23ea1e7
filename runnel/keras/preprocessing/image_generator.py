"""ImageDataGenerator: random image augmentation while reading."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..backend.settings import floatx, image_data_format
from .dataframe_iterator import DataFrameIterator
from .image_iterators import DirectoryIterator, NumpyArrayIterator
from .transformation import (
    apply_affine_transform,
    apply_brightness_shift,
    apply_channel_shift,
)

_NOT_FIT = (
    "This ImageDataGenerator specifies `{}`, but it hasn't been fit on any training data. Fit it "
    "first by calling `.fit(numpy_data)`."
)
_OVERRIDES = "This ImageDataGenerator specifies `{}`, which overrides setting of `{}`."
_DEPRECATED = {
    "has_ext": "has_ext is deprecated, filenames in the dataframe have to match the exact "
    "filenames in disk.",
    "sort": "sort is deprecated, batches will be created in the same order than the filenames "
    "provided if shuffle is set to False.",
    "drop_duplicates": "drop_duplicates is deprecated, you can drop duplicates by using the "
    "pandas.DataFrame.drop_duplicates method.",
}


class ImageDataGenerator:
    """Generates batches of images with random rotation, translation, flips, color and scale.

    >>> images = np.arange(32.0).reshape(2, 4, 4, 1)
    >>> generator = tf.keras.preprocessing.image.ImageDataGenerator(horizontal_flip=True)
    >>> next(generator.flow(images, batch_size=2, seed=1)).shape
    (2, 4, 4, 1)
    """

    def __init__(
        self,
        featurewise_center: bool = False,
        samplewise_center: bool = False,
        featurewise_std_normalization: bool = False,
        samplewise_std_normalization: bool = False,
        zca_whitening: bool = False,
        zca_epsilon: float = 1e-6,
        rotation_range: float = 0,
        width_shift_range: Any = 0.0,
        height_shift_range: Any = 0.0,
        brightness_range: Any = None,
        shear_range: float = 0.0,
        zoom_range: Any = 0.0,
        channel_shift_range: float = 0.0,
        fill_mode: str = "nearest",
        cval: float = 0.0,
        horizontal_flip: bool = False,
        vertical_flip: bool = False,
        rescale: float | None = None,
        preprocessing_function: Any = None,
        data_format: str | None = None,
        validation_split: float = 0.0,
        interpolation_order: int = 1,
        dtype: Any = None,
    ) -> None:
        self.featurewise_center = featurewise_center
        self.samplewise_center = samplewise_center
        self.featurewise_std_normalization = featurewise_std_normalization
        self.samplewise_std_normalization = samplewise_std_normalization
        self.zca_whitening = zca_whitening
        self.zca_epsilon = zca_epsilon
        self.rotation_range = rotation_range
        self.width_shift_range = width_shift_range
        self.height_shift_range = height_shift_range
        self.shear_range = shear_range
        self.zoom_range = _zoom_factors(zoom_range)
        self.channel_shift_range = channel_shift_range
        self.fill_mode = fill_mode
        self.cval = cval
        self.horizontal_flip = horizontal_flip
        self.vertical_flip = vertical_flip
        self.rescale = rescale
        self.preprocessing_function = preprocessing_function
        self.dtype = dtype or floatx()
        self.interpolation_order = interpolation_order
        self.data_format = data_format or image_data_format()
        if self.data_format not in ("channels_last", "channels_first"):
            raise ValueError(
                '`data_format` should be `"channels_last"` (channel after row and column) or '
                f'`"channels_first"` (channel before row and column). Received: {data_format}'
            )
        first = self.data_format == "channels_first"
        self.channel_axis, self.row_axis, self.col_axis = (1, 2, 3) if first else (3, 1, 2)
        if validation_split and not 0 < validation_split < 1:
            raise ValueError(
                "`validation_split` must be strictly between 0 and 1.  Received: "
                f"{validation_split}"
            )
        self._validation_split = validation_split
        if brightness_range is not None and (
            not isinstance(brightness_range, tuple | list) or len(brightness_range) != 2
        ):
            raise ValueError(
                "`brightness_range should be tuple or list of two floats. Received: "
                f"{brightness_range}"
            )
        self.brightness_range = brightness_range
        self.mean: Any = None
        self.std: Any = None
        self.zca_whitening_matrix: Any = None
        self._settle_normalization()

    def _settle_normalization(self) -> None:
        """Enable what the chosen normalizations require, and disable what they exclude."""
        if self.zca_whitening:
            self._imply("zca_whitening", "featurewise_center")
            if self.featurewise_std_normalization:
                self.featurewise_std_normalization = False
                warnings.warn(
                    _OVERRIDES.format("zca_whitening", "featurewise_std_normalization"),
                    stacklevel=3,
                )
        if self.featurewise_std_normalization:
            self._imply("featurewise_std_normalization", "featurewise_center")
        if self.samplewise_std_normalization:
            self._imply("samplewise_std_normalization", "samplewise_center")

    def _imply(self, chosen: str, needed: str) -> None:
        if not getattr(self, needed):
            setattr(self, needed, True)
            warnings.warn(_OVERRIDES.format(chosen, needed), stacklevel=4)

    # Sources of images.

    def flow(
        self,
        x: Any,
        y: Any = None,
        batch_size: int = 32,
        shuffle: bool = True,
        sample_weight: Any = None,
        seed: int | None = None,
        save_to_dir: str | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        ignore_class_split: bool = False,
        subset: str | None = None,
    ) -> NumpyArrayIterator:
        """Batches of images in an array, with labels if given."""
        return NumpyArrayIterator(
            x,
            y,
            self,
            batch_size=batch_size,
            shuffle=shuffle,
            sample_weight=sample_weight,
            seed=seed,
            data_format=self.data_format,
            save_to_dir=save_to_dir,
            save_prefix=save_prefix,
            save_format=save_format,
            ignore_class_split=ignore_class_split,
            subset=subset,
            dtype=self.dtype,
        )

    def flow_from_directory(
        self,
        directory: Any,
        target_size: tuple[int, int] = (256, 256),
        color_mode: str = "rgb",
        classes: Any = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        save_to_dir: str | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        follow_links: bool = False,
        subset: str | None = None,
        interpolation: str = "nearest",
        keep_aspect_ratio: bool = False,
    ) -> DirectoryIterator:
        """Batches of the images in a folder with one subfolder per class."""
        return DirectoryIterator(
            directory,
            self,
            target_size=target_size,
            color_mode=color_mode,
            keep_aspect_ratio=keep_aspect_ratio,
            classes=classes,
            class_mode=class_mode,
            data_format=self.data_format,
            batch_size=batch_size,
            shuffle=shuffle,
            seed=seed,
            save_to_dir=save_to_dir,
            save_prefix=save_prefix,
            save_format=save_format,
            follow_links=follow_links,
            subset=subset,
            interpolation=interpolation,
            dtype=self.dtype,
        )

    def flow_from_dataframe(
        self,
        dataframe: Any,
        directory: Any = None,
        x_col: str = "filename",
        y_col: Any = "class",
        weight_col: str | None = None,
        target_size: tuple[int, int] = (256, 256),
        color_mode: str = "rgb",
        classes: Any = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        save_to_dir: str | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
        interpolation: str = "nearest",
        validate_filenames: bool = True,
        **kwargs: Any,
    ) -> DataFrameIterator:
        """Batches of the images named in a column of a pandas DataFrame."""
        for name, message in _DEPRECATED.items():
            if name in kwargs:
                warnings.warn(message, DeprecationWarning, stacklevel=2)
        return DataFrameIterator(
            dataframe,
            directory,
            self,
            x_col=x_col,
            y_col=y_col,
            weight_col=weight_col,
            target_size=target_size,
            color_mode=color_mode,
            classes=classes,
            class_mode=class_mode,
            data_format=self.data_format,
            batch_size=batch_size,
            shuffle=shuffle,
            seed=seed,
            save_to_dir=save_to_dir,
            save_prefix=save_prefix,
            save_format=save_format,
            subset=subset,
            interpolation=interpolation,
            validate_filenames=validate_filenames,
            dtype=self.dtype,
        )

    # Transforms of an image.

    def get_random_transform(self, img_shape: Any, seed: int | None = None) -> dict[str, Any]:
        """Sample the parameters of `apply_transform` for one image."""
        if seed is not None:
            np.random.seed(seed)
        theta = np.random.uniform(-self.rotation_range, self.rotation_range) if (
            self.rotation_range) else 0  # fmt: skip
        tx = _random_shift(self.height_shift_range, img_shape[self.row_axis - 1])
        ty = _random_shift(self.width_shift_range, img_shape[self.col_axis - 1])
        shear = np.random.uniform(-self.shear_range, self.shear_range) if self.shear_range else 0
        zx: Any = 1
        zy: Any = 1
        if not self.zoom_range[0] == self.zoom_range[1] == 1:
            zx, zy = np.random.uniform(self.zoom_range[0], self.zoom_range[1], 2)
        flip_horizontal = (np.random.random() < 0.5) * self.horizontal_flip
        flip_vertical = (np.random.random() < 0.5) * self.vertical_flip
        intensity = None
        if self.channel_shift_range != 0:
            intensity = np.random.uniform(-self.channel_shift_range, self.channel_shift_range)
        brightness = None
        if self.brightness_range is not None:
            brightness = np.random.uniform(self.brightness_range[0], self.brightness_range[1])
        return {
            "theta": theta,
            "tx": tx,
            "ty": ty,
            "shear": shear,
            "zx": zx,
            "zy": zy,
            "flip_horizontal": flip_horizontal,
            "flip_vertical": flip_vertical,
            "channel_shift_intensity": intensity,
            "brightness": brightness,
        }

    def apply_transform(self, x: np.ndarray, transform_parameters: dict[str, Any]) -> np.ndarray:
        """Transform an image with the parameters from `get_random_transform`."""
        told = transform_parameters
        channel_axis = self.channel_axis - 1
        x = apply_affine_transform(
            x,
            told.get("theta", 0),
            told.get("tx", 0),
            told.get("ty", 0),
            told.get("shear", 0),
            told.get("zx", 1),
            told.get("zy", 1),
            row_axis=self.row_axis - 1,
            col_axis=self.col_axis - 1,
            channel_axis=channel_axis,
            fill_mode=self.fill_mode,
            cval=self.cval,
            order=self.interpolation_order,
        )
        if told.get("channel_shift_intensity") is not None:
            x = apply_channel_shift(x, told["channel_shift_intensity"], channel_axis)
        if told.get("flip_horizontal", False):
            x = np.flip(x, self.col_axis - 1)
        if told.get("flip_vertical", False):
            x = np.flip(x, self.row_axis - 1)
        if told.get("brightness") is not None:
            x = apply_brightness_shift(x, told["brightness"], False)
        return x

    def random_transform(self, x: np.ndarray, seed: int | None = None) -> np.ndarray:
        """Transform an image at random."""
        return self.apply_transform(x, self.get_random_transform(x.shape, seed))

    def standardize(self, x: np.ndarray) -> np.ndarray:
        """Normalize an image, in place if possible, as configured in the constructor."""
        if self.preprocessing_function:
            x = self.preprocessing_function(x)
        if self.rescale:
            x *= self.rescale
        if self.samplewise_center:
            x -= np.mean(x, keepdims=True)
        if self.samplewise_std_normalization:
            x /= np.std(x, keepdims=True) + 1e-6
        if self.featurewise_center:
            if self.mean is None:
                warnings.warn(_NOT_FIT.format("featurewise_center"), stacklevel=2)
            else:
                x -= self.mean
        if self.featurewise_std_normalization:
            if self.std is None:
                warnings.warn(_NOT_FIT.format("featurewise_std_normalization"), stacklevel=2)
            else:
                x /= self.std + 1e-6
        if self.zca_whitening:
            if self.zca_whitening_matrix is None:
                warnings.warn(_NOT_FIT.format("zca_whitening"), stacklevel=2)
            else:
                flat = x.reshape(-1, np.prod(x.shape[-3:]))
                x = np.reshape(flat @ self.zca_whitening_matrix, x.shape)
        return x

    def fit(self, x: Any, augment: bool = False, rounds: int = 1, seed: int | None = None) -> None:
        """Compute the mean, standard deviation and whitening matrix for the normalizations."""
        x = np.array(x, dtype=self.dtype)
        if x.ndim != 4:
            raise ValueError(
                f"Input to `.fit()` should have rank 4. Got array with shape: {x.shape}"
            )
        axis = self.channel_axis
        if x.shape[axis] not in (1, 3, 4):
            warnings.warn(
                "Expected input to be images (as Numpy array) following the data format convention "
                f'"{self.data_format}" (channels on axis {axis}), i.e. expected either 1, 3 or 4 '
                f"channels on axis {axis}. However, it was passed an array with shape {x.shape} "
                f"({x.shape[axis]} channels).",
                stacklevel=2,
            )
        if seed is not None:
            np.random.seed(seed)
        if self.rescale:
            x *= self.rescale
        if augment:
            x = np.stack([self.random_transform(image) for _ in range(rounds) for image in x])
        shape = [1, 1, 1]
        shape[axis - 1] = x.shape[axis]
        if self.featurewise_center:
            self.mean = np.mean(x, axis=(0, self.row_axis, self.col_axis)).reshape(shape)
            x -= self.mean
        if self.featurewise_std_normalization:
            self.std = np.std(x, axis=(0, self.row_axis, self.col_axis)).reshape(shape)
            x /= self.std + 1e-6
        if self.zca_whitening:
            self.zca_whitening_matrix = _whitening(x.reshape(len(x), -1), self.zca_epsilon)


def _zoom_factors(zoom_range: Any) -> list[Any]:
    if isinstance(zoom_range, float | int):
        return [1 - zoom_range, 1 + zoom_range]
    numbers = isinstance(zoom_range, tuple | list) and len(zoom_range) == 2
    if not numbers or not all(isinstance(each, float | int) for each in zoom_range):
        raise ValueError(
            "`zoom_range` should be a float or a tuple or list of two floats. Received: "
            f"{zoom_range}"
        )
    return [zoom_range[0], zoom_range[1]]


def _random_shift(shifts: Any, size: int) -> Any:
    """A shift in pixels: sampled from a list, below an integer, or from an interval."""
    if not np.any(shifts):
        return 0
    if isinstance(shifts, float):
        shift = np.random.uniform(-shifts, shifts)
    else:
        shift = np.random.choice(shifts)
        shift *= np.random.choice([-1, 1])
    # Below 1 it is a fraction of the size.
    return shift * size if np.max(shifts) < 1 else shift


def _whitening(flat: np.ndarray, epsilon: float) -> np.ndarray:
    """The ZCA whitening matrix of the samples."""
    _, widths, axes = np.linalg.svd(flat, full_matrices=False)
    scales = np.sqrt(len(flat)) / (widths.astype("float64") + epsilon)
    return (axes.T * scales) @ axes
