"""Datasets from directories and time series, and splitting of datasets."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import runnel as tf

from .labelled_files import (
    LabelledFiles,
    check_label_mode,
    check_split,
    index_directory,
    label_dataset,
)

_IMAGES = (".bmp", ".gif", ".jpeg", ".jpg", ".png")
_CHANNELS = {"rgb": 3, "rgba": 4, "grayscale": 1}


def _shuffled_batches(dataset: Any, batch_size: int | None, seed: Any, padded: bool = False) -> Any:
    if seed is not None:
        dataset = dataset.shuffle(1024 if batch_size is None else batch_size * 8, seed=seed)
    if batch_size is None:
        return dataset
    return dataset.padded_batch(batch_size) if padded else dataset.batch(batch_size)


def from_directory(
    make: Callable[[LabelledFiles], Any],
    directory: Any,
    labels: Any,
    label_mode: Any,
    class_names: Any,
    formats: Any,
    batch_size: int | None,
    shuffle: bool,
    seed: Any,
    validation_split: Any,
    subset: Any,
    follow_links: bool,
    names_files: bool,
    padded: bool = False,
) -> Any:
    """Index a directory, and create a dataset of all its files, of a split, or of both splits."""
    labels = check_label_mode(labels, label_mode, class_names)
    check_split(validation_split, subset, shuffle, seed)
    if seed is None:
        seed = np.random.randint(10**6)
    found = index_directory(directory, labels, formats, class_names, shuffle, seed, follow_links)
    if label_mode == "binary" and len(found.class_names) != 2:
        raise ValueError(
            'When passing `label_mode="binary"`, there must be exactly 2 class_names. Received: '
            f"class_names={found.class_names}"
        )

    def dataset_of(part: str | None) -> Any:
        files = found.part(part, validation_split)
        if not files.paths:
            raise ValueError(
                f"No files found in directory {directory}. Allowed formats: {formats}"
            )  # fmt: skip
        dataset = make(files)
        if labels is not None:
            dataset = tf.data.Dataset.zip((dataset, label_dataset(files, label_mode)))
        # Of the two splits only the training data is reshuffled each epoch.
        again = shuffle and not (subset == "both" and part == "validation")
        if not names_files:
            dataset = dataset.prefetch(tf.data.AUTOTUNE)
        dataset = _shuffled_batches(dataset, batch_size, seed if again else None, padded)
        if names_files:
            dataset = dataset.prefetch(tf.data.AUTOTUNE)
        dataset.class_names = files.class_names
        if names_files:
            dataset.file_paths = files.paths
        return dataset

    if subset == "both":
        return [dataset_of("training"), dataset_of("validation")]
    return dataset_of(subset)


def image_dataset_from_directory(
    directory: Any,
    labels: Any = "inferred",
    label_mode: Any = "int",
    class_names: Any = None,
    color_mode: str = "rgb",
    batch_size: int | None = 32,
    image_size: Any = (256, 256),
    shuffle: bool = True,
    seed: Any = None,
    validation_split: Any = None,
    subset: Any = None,
    interpolation: str = "bilinear",
    follow_links: bool = False,
    crop_to_aspect_ratio: bool = False,
    **kwargs: Any,
) -> Any:
    """A dataset of the images in a directory with one subdirectory per class.

    Args:
      directory: The root directory of the files.
      labels: "inferred" from the subdirectories, None, or a list of numbers.
      label_mode: "int", "categorical", "binary" or None.
      class_names: The subdirectories in label order.
      color_mode: "grayscale", "rgb" or "rgba".
      batch_size: The batch size; None: unbatched.
      image_size: Height and width after resizing.
      shuffle: Whether to shuffle the files instead of sorting them.
      seed: Seed of the shuffle.
      validation_split: The fraction of validation files.
      subset: "training", "validation" or "both".
      interpolation: A method of tf.image.resize.
      follow_links: Whether symbolic links to directories are followed.
      crop_to_aspect_ratio: Crop images to the target aspect ratio instead of distorting them.
    """
    if "smart_resize" in kwargs:
        crop_to_aspect_ratio = kwargs.pop("smart_resize")
    if kwargs:
        raise TypeError(f"Unknown keywords argument(s): {tuple(kwargs)}")
    if color_mode not in _CHANNELS:
        raise ValueError(
            '`color_mode` must be one of {"rgb", "rgba", "grayscale"}. Received: '
            f"color_mode={color_mode}"
        )
    channels = _CHANNELS[color_mode]
    size = tuple(int(each) for each in image_size)
    if interpolation not in _methods():
        raise NotImplementedError(
            f"Value not recognized for `interpolation`: {interpolation}. Supported values are: "
            f"{sorted(_methods())}"
        )

    def load(path: Any) -> Any:
        image = tf.io.decode_image(
            tf.io.read_file(path), channels=channels, expand_animations=False
        )  # fmt: skip
        if crop_to_aspect_ratio:
            image = tf.keras.preprocessing.image.smart_resize(image, size, interpolation)
        else:
            image = tf.image.resize(image, size, method=interpolation)
        image.set_shape((*size, channels))
        return image

    def make(files: LabelledFiles) -> Any:
        paths = tf.data.Dataset.from_tensor_slices(files.paths)
        return paths.map(load, num_parallel_calls=tf.data.AUTOTUNE)

    return from_directory(
        make, directory, labels, label_mode, class_names, _IMAGES, batch_size, shuffle, seed,
        validation_split, subset, follow_links, names_files=True,
    )  # fmt: skip


def _methods() -> set[str]:
    return {"bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian",
            "mitchellcubic"}  # fmt: skip


def text_dataset_from_directory(
    directory: Any,
    labels: Any = "inferred",
    label_mode: Any = "int",
    class_names: Any = None,
    batch_size: int | None = 32,
    max_length: int | None = None,
    shuffle: bool = True,
    seed: Any = None,
    validation_split: Any = None,
    subset: Any = None,
    follow_links: bool = False,
) -> Any:
    """A dataset of the text files in a directory with one subdirectory per class.

    Args:
      directory: The root directory of the files.
      labels: "inferred" from the subdirectories, None, or a list of numbers.
      label_mode: "int", "categorical", "binary" or None.
      class_names: The subdirectories in label order.
      batch_size: The batch size; None: unbatched.
      max_length: Texts are truncated to this many bytes.
      shuffle: Whether to shuffle the files instead of sorting them.
      seed: Seed of the shuffle.
      validation_split: The fraction of validation files.
      subset: "training", "validation" or "both".
      follow_links: Whether symbolic links to directories are followed.
    """

    def load(path: Any) -> Any:
        text = tf.io.read_file(path)
        return text if max_length is None else tf.strings.substr(text, 0, max_length)

    def make(files: LabelledFiles) -> Any:
        paths = tf.data.Dataset.from_tensor_slices(files.paths)
        return paths.map(load, num_parallel_calls=tf.data.AUTOTUNE)

    return from_directory(
        make, directory, labels, label_mode, class_names, (".txt",), batch_size, shuffle, seed,
        validation_split, subset, follow_links, names_files=False,
    )  # fmt: skip


def timeseries_dataset_from_array(
    data: Any,
    targets: Any,
    sequence_length: int,
    sequence_stride: int = 1,
    sampling_rate: int = 1,
    batch_size: int | None = 128,
    shuffle: bool = False,
    seed: Any = None,
    start_index: int | None = None,
    end_index: int | None = None,
) -> Any:
    """Batches of sliding windows over an array, with the targets of their first rows.

    >>> windows = tf.keras.utils.timeseries_dataset_from_array(np.arange(5), None, 3)
    >>> next(iter(windows)).numpy().tolist()
    [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    """
    _check_bounds(len(data), start_index, end_index)
    steps = (("sampling_rate", sampling_rate), ("sequence_stride", sequence_stride))
    for name, value in steps:
        if value <= 0:
            raise ValueError(f"`{name}` must be higher than 0. Received: {name}={value}")
        if value >= len(data):
            raise ValueError(
                f"`{name}` must be lower than the length of the data. Received: {name}={value}, "
                f"for data of length {len(data)}"
            )
    first = start_index or 0
    last = len(data) if end_index is None else end_index
    count = last - first - (sequence_length - 1) * sampling_rate
    if targets is not None:
        count = min(count, len(targets))
    starts = np.arange(0, count, sequence_stride, dtype=np.int32 if count < 2**31 else np.int64)
    if shuffle:
        if seed is None:
            seed = np.random.randint(10**6)
        np.random.RandomState(seed).shuffle(starts)
    span = sequence_length * sampling_rate
    rows = tf.convert_to_tensor(data[first:last])
    positions = tf.convert_to_tensor(starts)
    numbers = tf.data.Dataset.range(len(starts))
    dataset = numbers.map(
        lambda i: tf.gather(rows, tf.range(positions[i], positions[i] + span, sampling_rate)),
        num_parallel_calls=tf.data.AUTOTUNE,
    )
    if targets is not None:
        wanted = tf.convert_to_tensor(targets[first:last])
        labels = numbers.map(lambda i: wanted[positions[i]])
        dataset = tf.data.Dataset.zip((dataset, labels))
    dataset = dataset.prefetch(tf.data.AUTOTUNE)
    return _shuffled_batches(dataset, batch_size, seed if shuffle else None)


def _check_bounds(count: int, start: int | None, end: int | None) -> None:
    for name, value in (("start_index", start), ("end_index", end)):
        if value is None:
            continue
        if value < 0 or (name == "end_index" and value == 0):
            raise ValueError(f"`{name}` must be 0 or greater. Received: {name}={value}")
        if value > count or (name == "start_index" and value == count):
            raise ValueError(
                f"`{name}` must be lower than the length of the data. Received: {name}={value}, "
                f"for data of length {count}"
            )
    if start and end is not None and start >= end:
        raise ValueError(
            "`end_index` must be higher than `start_index`. Received: "
            f"start_index={start}, for end_index={end}"
        )


def split_dataset(
    dataset: Any,
    left_size: Any = None,
    right_size: Any = None,
    shuffle: bool = False,
    seed: Any = None,
) -> tuple[Any, Any]:
    """Split into two in-memory datasets: the first elements, and the rest.

    >>> left, right = tf.keras.utils.split_dataset(np.ones([10, 2]), left_size=0.8)
    >>> len(left), len(right)
    (8, 2)
    """
    elements = _elements(dataset)
    if shuffle:
        random.Random(random.randint(0, 10**6) if seed is None else seed).shuffle(elements)
    left, right = _sizes(left_size, right_size, len(elements))
    parts = elements[:left], elements[len(elements) - right :]
    made = [tf.data.Dataset.from_tensor_slices(_stacked(part)) for part in parts]
    return made[0].prefetch(tf.data.AUTOTUNE), made[1].prefetch(tf.data.AUTOTUNE)


def _elements(dataset: Any) -> list[Any]:
    if isinstance(dataset, tf.data.Dataset):
        return list(dataset.as_numpy_iterator())
    if isinstance(dataset, tuple):
        arrays = [np.asarray(each) for each in dataset]
        if len({len(each) for each in arrays}) != 1:
            raise ValueError("Received a tuple of arrays of different lengths: "
                             f"{[len(each) for each in arrays]}.")  # fmt: skip
        return [tuple(row) for row in zip(*arrays, strict=True)]
    if isinstance(dataset, list | np.ndarray):
        return [np.asarray(each) for each in dataset]
    raise TypeError(
        "The `dataset` argument must be either a `tf.data.Dataset` object or a list/tuple of "
        f"arrays. Received: dataset={dataset} of type {type(dataset)}"
    )


def _stacked(elements: list[Any]) -> Any:
    return tf.nest.map_structure(lambda *leaves: np.stack(leaves), *elements)


def _sizes(left: Any, right: Any, total: int) -> tuple[int, int]:
    if left is None and right is None:
        raise ValueError(
            "At least one of the `left_size` or `right_size` must be specified. Received: "
            "left_size=None and right_size=None"
        )
    counts: list[Any] = []
    for name, size in (("left_size", left), ("right_size", right)):
        if size is not None and not isinstance(size, int | float):
            raise TypeError(
                f"Invalid `{name}` Expected: int or float or None, Received: {type(size)}. "
            )
        fits = size is None or (
            0 < size < total if isinstance(size, int) else 0 < size < 1
        )  # fmt: skip
        if not fits:
            raise ValueError(
                f"`{name}` should be either a positive integer smaller than {total}, or a float "
                f"within the range `[0, 1]`. Received: {name}={size}"
            )
        counts.append(size)
    if all(isinstance(each, float) for each in counts) and sum(counts) > 1:
        raise ValueError(
            "The sum of `left_size` and `right_size` is greater than 1. It must be less than or "
            "equal to 1."
        )
    rounded: list[Any] = [
        None if each is None else each if isinstance(each, int) else round(each * total)
        for each in counts
    ]
    first = total - rounded[1] if rounded[0] is None else rounded[0]
    second = total - first if rounded[1] is None else rounded[1]
    if first + second > total:
        raise ValueError(
            f"The sum of `left_size` and `right_size` should be smaller than the {total} elements."
        )
    if first <= 0 or second <= 0:
        raise ValueError(f"One of the parts of the {total} elements would be empty.")
    return first, second
