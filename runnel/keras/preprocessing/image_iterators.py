"""Iterators over batches of images, from arrays and files, augmented by an ImageDataGenerator.

Random numbers come from NumPy's global generator, drawn in the original's order: the same seed
gives the same batches.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterator as Generator
from typing import Any

import numpy as np

from ..backend.settings import floatx, image_data_format
from ..utils.images import array_to_img, img_to_array, load_img
from ..utils.sequences import Sequence


class Iterator(Sequence):
    """An infinite iterator over batches, also indexable; subclasses build a batch from sample
    indices.
    """

    white_list_formats = ("png", "jpg", "jpeg", "bmp", "ppm", "tif", "tiff")

    def __init__(self, n: int, batch_size: int, shuffle: bool, seed: int | None) -> None:
        self.n = n
        self.batch_size = batch_size
        self.seed = seed
        self.shuffle = shuffle
        self.batch_index = 0
        self.total_batches_seen = 0
        self.lock = threading.Lock()
        self.index_array: Any = None
        self.index_generator = self._flow_index()

    def _set_index_array(self) -> None:
        self.index_array = np.random.permutation(self.n) if self.shuffle else np.arange(self.n)

    def _seed_batch(self) -> None:
        if self.seed is not None:
            np.random.seed(self.seed + self.total_batches_seen)

    def __getitem__(self, idx: int) -> Any:
        if idx >= len(self):
            raise ValueError(
                f"Asked to retrieve element {idx}, but the Sequence has length {len(self)}"
            )
        self._seed_batch()
        self.total_batches_seen += 1
        if self.index_array is None:
            self._set_index_array()
        start = self.batch_size * idx
        return self._get_batches_of_transformed_samples(
            self.index_array[start : start + self.batch_size]
        )

    def __len__(self) -> int:
        return -(-self.n // self.batch_size)

    def on_epoch_end(self) -> None:
        """Reshuffle."""
        self._set_index_array()

    def reset(self) -> None:
        """Restart at the first batch."""
        self.batch_index = 0

    def _flow_index(self) -> Generator[np.ndarray]:
        self.reset()
        while True:
            self._seed_batch()
            if self.batch_index == 0:
                self._set_index_array()
            start = 0 if self.n == 0 else (self.batch_index * self.batch_size) % self.n
            self.batch_index = self.batch_index + 1 if self.n > start + self.batch_size else 0
            self.total_batches_seen += 1
            yield self.index_array[start : start + self.batch_size]

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        # The next indices are chosen under a lock; the batches are built concurrently.
        with self.lock:
            indices = next(self.index_generator)
        return self._get_batches_of_transformed_samples(indices)

    def next(self) -> Any:
        """The next batch."""
        return self.__next__()

    def _get_batches_of_transformed_samples(self, index_array: np.ndarray) -> Any:
        """The batch of the samples at these indices; for subclasses to implement."""
        raise NotImplementedError(
            f"{type(self).__name__} must define `_get_batches_of_transformed_samples(index_array)`."
        )


class ImageIterator(Iterator):
    """What image iterators share: an augmenting generator, and saving copies to a folder."""

    image_data_generator: Any
    data_format: str
    dtype: Any
    save_to_dir: str | None
    save_prefix: str
    save_format: str

    def _changed(self, image: np.ndarray) -> np.ndarray:
        generator = self.image_data_generator
        image = generator.apply_transform(image, generator.get_random_transform(image.shape))
        return generator.standardize(image)

    def _save_copies(self, batch: np.ndarray, index_array: np.ndarray, numbers: int) -> None:
        """Write the images of a batch to the output folder, if set."""
        if not self.save_to_dir:
            return
        for image, index in zip(batch, index_array, strict=True):
            picture = array_to_img(image, self.data_format, scale=True)
            number = np.random.randint(numbers)
            name = f"{self.save_prefix}_{index}_{number}.{self.save_format}"
            picture.save(os.path.join(self.save_to_dir, name))


class NumpyArrayIterator(ImageIterator):
    """Batches of images in an array, with their labels and weights.

    >>> generator = tf.keras.preprocessing.image.ImageDataGenerator(rescale=0.5)
    >>> images, labels = next(generator.flow(np.ones([3, 4, 4, 1]), [0, 1, 2], batch_size=2))
    >>> images.shape, float(images.max())
    ((2, 4, 4, 1), 0.5)
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        image_data_generator: Any,
        batch_size: int = 32,
        shuffle: bool = False,
        sample_weight: Any = None,
        seed: int | None = None,
        data_format: str | None = None,
        save_to_dir: str | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
        ignore_class_split: bool = False,
        dtype: Any = None,
    ) -> None:
        self.dtype = dtype or floatx()
        data_format = data_format or image_data_format()
        x, others = _images_and_others(x)
        _check_length(x, y, "`y` (labels)", "y")
        _check_length(x, sample_weight, "`sample_weight`", "sample_weight")
        if subset is not None:
            if subset not in ("training", "validation"):
                raise ValueError(
                    f'Invalid subset name: {subset}; expected "training" or "validation".'
                )
            split = int(len(x) * image_data_generator._validation_split)
            if y is not None and not ignore_class_split:
                _check_classes(np.asarray(y)[:split], np.asarray(y)[split:])
            part = slice(None, split) if subset == "validation" else slice(split, None)
            x = x[part]
            others = [each[part] for each in others]
            y = None if y is None else y[part]
            sample_weight = None if sample_weight is None else sample_weight[part]
        self.x = np.asarray(x, dtype=self.dtype)
        self.x_misc = others
        if self.x.ndim != 4:
            raise ValueError(
                "Input data in `NumpyArrayIterator` should have rank 4. You passed an array with "
                f"shape {self.x.shape}"
            )
        axis = 3 if data_format == "channels_last" else 1
        if self.x.shape[axis] not in (1, 3, 4):
            warnings.warn(
                f'NumpyArrayIterator is set to use the data format convention "{data_format}" '
                f"(channels on axis {axis}), i.e. expected either 1, 3, or 4 channels on axis "
                f"{axis}. However, it was passed an array with shape {self.x.shape} "
                f"({self.x.shape[axis]} channels).",
                stacklevel=3,
            )
        self.y = None if y is None else np.asarray(y)
        self.sample_weight = None if sample_weight is None else np.asarray(sample_weight)
        self.image_data_generator = image_data_generator
        self.data_format = data_format
        self.save_to_dir = save_to_dir
        self.save_prefix = save_prefix
        self.save_format = save_format
        super().__init__(len(self.x), batch_size, shuffle, seed)

    def _get_batches_of_transformed_samples(self, index_array: np.ndarray) -> Any:
        batch = np.zeros((len(index_array), *self.x.shape[1:]), dtype=self.dtype)
        for position, index in enumerate(index_array):
            batch[position] = self._changed(self.x[index].astype(self.dtype))
        self._save_copies(batch, index_array, 10_000)
        images = [batch, *(each[index_array] for each in self.x_misc)] if self.x_misc else batch
        if self.y is None:
            return images
        if self.sample_weight is None:
            return images, self.y[index_array]
        return images, self.y[index_array], self.sample_weight[index_array]


def _images_and_others(x: Any) -> tuple[Any, list[np.ndarray]]:
    """The images, and the other arrays passed with them."""
    if not isinstance(x, tuple | list):
        return x, []
    others = x[1] if len(x) > 1 else []
    if not isinstance(others, list | tuple):
        others = [others]
    arrays = [np.asarray(each) for each in others]
    for each in arrays:
        if len(each) != len(x[0]):
            raise ValueError(
                "All of the arrays in `x` should have the same length. Found a pair with: "
                f"len(x[0]) = {len(x[0])}, len(x[?]) = {len(each)}"
            )
    return x[0], arrays


def _check_length(x: Any, other: Any, what: str, name: str) -> None:
    if other is not None and len(x) != len(other):
        raise ValueError(
            f"`x` (images tensor) and {what} should have the same length. Found: x.shape = "
            f"{np.asarray(x).shape}, {name}.shape = {np.asarray(other).shape}"
        )


def _check_classes(some: np.ndarray, others: np.ndarray) -> None:
    if not np.array_equal(np.unique(some), np.unique(others)):
        raise ValueError(
            "Training and validation subsets have different number of classes after the split. If "
            "your numpy arrays are sorted by the label, you might want to shuffle them."
        )


class FileIterator(ImageIterator):
    """Batches of images in files; subclasses list the files and their targets."""

    class_mode: str | None
    class_indices: dict[Any, int]
    filepaths: Any
    labels: Any
    sample_weight: Any = None

    def set_processing_attrs(
        self,
        image_data_generator: Any,
        target_size: Any,
        color_mode: str,
        data_format: str | None,
        save_to_dir: str | None,
        save_prefix: str,
        save_format: str,
        subset: str | None,
        interpolation: str,
        keep_aspect_ratio: bool,
    ) -> None:
        """Set how the files are read, and which subset."""
        self.image_data_generator = image_data_generator
        self.target_size = tuple(target_size)
        self.keep_aspect_ratio = keep_aspect_ratio
        channels = {"rgb": 3, "rgba": 4, "grayscale": 1}
        if color_mode not in channels:
            raise ValueError(
                f'Invalid color mode: {color_mode}; expected "rgb", "rgba", or "grayscale".'
            )
        self.color_mode = color_mode
        self.data_format = data_format or image_data_format()
        depth = (channels[color_mode],)
        last = self.data_format == "channels_last"
        self.image_shape = (*self.target_size, *depth) if last else (*depth, *self.target_size)
        self.save_to_dir = save_to_dir
        self.save_prefix = save_prefix
        self.save_format = save_format
        self.interpolation = interpolation
        self.split = None
        if subset is not None:
            part = image_data_generator._validation_split
            parts = {"validation": (0, part), "training": (part, 1)}
            if subset not in parts:
                raise ValueError(
                    f'Invalid subset name: {subset};expected "training" or "validation"'
                )
            self.split = parts[subset]
        self.subset = subset

    def _part(self, values: Any) -> Any:
        """The requested subset of the files."""
        if self.split is None:
            return values
        return values[int(self.split[0] * len(values)) : int(self.split[1] * len(values))]

    def _get_batches_of_transformed_samples(self, index_array: np.ndarray) -> Any:
        batch = np.zeros((len(index_array), *self.image_shape), dtype=self.dtype)
        for position, index in enumerate(index_array):
            image = load_img(
                self.filepaths[index],
                color_mode=self.color_mode,
                target_size=self.target_size,
                interpolation=self.interpolation,
                keep_aspect_ratio=self.keep_aspect_ratio,
            )
            array = img_to_array(image, data_format=self.data_format)
            image.close()
            batch[position] = self._changed(array) if self.image_data_generator else array
        self._save_copies(batch, index_array, 10_000_000)
        if self.class_mode is None:
            return batch
        answers = self._answers(batch, index_array)
        if self.sample_weight is None:
            return batch, answers
        return batch, answers, self.sample_weight[index_array]

    def _answers(self, batch: np.ndarray, index_array: np.ndarray) -> Any:
        """The targets for the images of a batch."""
        if self.class_mode == "input":
            return batch.copy()
        if self.class_mode == "multi_output":
            return [output[index_array] for output in self.labels]
        if self.class_mode == "raw":
            return self.labels[index_array]
        if self.class_mode in ("binary", "sparse"):
            classes = [self.labels[index] for index in index_array]
            return np.array(classes).astype(self.dtype)
        answers = np.zeros((len(batch), len(self.class_indices)), dtype=self.dtype)
        for position, index in enumerate(index_array):
            answers[position, self.labels[index]] = 1.0
        return answers


class DirectoryIterator(FileIterator):
    """Batches of the images in a folder with one subfolder per class."""

    allowed_class_modes = frozenset({"categorical", "binary", "sparse", "input", None})

    def __init__(
        self,
        directory: Any,
        image_data_generator: Any,
        target_size: tuple[int, int] = (256, 256),
        color_mode: str = "rgb",
        classes: Any = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        data_format: str | None = None,
        save_to_dir: str | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        follow_links: bool = False,
        subset: str | None = None,
        interpolation: str = "nearest",
        keep_aspect_ratio: bool = False,
        dtype: Any = None,
    ) -> None:
        self.set_processing_attrs(
            image_data_generator,
            target_size,
            color_mode,
            data_format,
            save_to_dir,
            save_prefix,
            save_format,
            subset,
            interpolation,
            keep_aspect_ratio,
        )
        self.directory = directory
        if class_mode not in self.allowed_class_modes:
            raise ValueError(
                f"Invalid class_mode: {class_mode}; expected one of: "
                f"{set(self.allowed_class_modes)}"
            )
        self.class_mode = class_mode
        self.dtype = dtype or floatx()
        if not classes:
            classes = [
                name
                for name in sorted(os.listdir(directory))
                if os.path.isdir(os.path.join(directory, name))
            ]
        self.num_classes = len(classes)
        self.class_indices = dict(zip(classes, range(len(classes)), strict=True))
        self.filenames: list[str] = []
        numbers: list[int] = []
        for name in classes:
            found = self._files_of(name, follow_links)
            self.filenames += found
            numbers += [self.class_indices[name]] * len(found)
        self.classes = np.array(numbers, dtype="int32")
        self.samples = len(self.filenames)
        print(f"Found {self.samples} images belonging to {self.num_classes} classes.")
        self._filepaths = [os.path.join(directory, name) for name in self.filenames]
        super().__init__(self.samples, batch_size, shuffle, seed)

    def _files_of(self, name: str, follow_links: bool) -> list[str]:
        """The images of a class as relative paths, restricted to the subset."""
        top = os.path.join(self.directory, name)
        found = []
        for folder, _, files in sorted(os.walk(top, followlinks=follow_links)):
            for file in sorted(files):
                if file.lower().endswith(".tiff"):
                    warnings.warn(
                        'Using ".tiff" files with multiple bands will cause distortion. Please '
                        "verify your output.",
                        stacklevel=2,
                    )
                if file.lower().endswith(self.white_list_formats):
                    below = os.path.relpath(os.path.join(folder, file), top)
                    found.append(os.path.join(name, below))
        return self._part(found)

    @property
    def filepaths(self) -> list[str]:
        return self._filepaths

    @property
    def labels(self) -> np.ndarray:
        return self.classes

    @property
    def sample_weight(self) -> None:
        return None
