"""tf.keras.utils: datasets of files in directories, of time series, and parts of datasets."""

from __future__ import annotations

import os

import numpy as np
import PIL.Image
import pytest
from pipelines import same, same_error

# The original leaves pools of threads behind.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    root = tmp_path_factory.mktemp("images")
    random = np.random.default_rng(0)
    for name in ("cat", "dog"):
        (root / name / "deep").mkdir(parents=True)
        for i in range(4):
            pixels = random.integers(0, 255, (10 + i, 12, 3), dtype=np.uint8)
            folder = root / name / "deep" if i == 3 else root / name
            PIL.Image.fromarray(pixels).save(folder / f"{name}{i}.png")
        (root / name / "notes.doc").write_text("not an image")
    return str(root)


def seen(root, dataset):
    parts = dataset if isinstance(dataset, list) else [dataset]
    return [
        (part.class_names, [os.path.relpath(f, root) for f in part.file_paths], list(part))
        if hasattr(part, "file_paths")
        else (part.class_names, list(part))
        for part in parts
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        {"seed": 1},
        {"shuffle": False},
        {"shuffle": False, "label_mode": "categorical", "crop_to_aspect_ratio": True},
        {"shuffle": False, "label_mode": "binary", "color_mode": "grayscale"},
        {"seed": 2, "label_mode": None, "interpolation": "nearest", "color_mode": "rgba"},
        {"seed": 3, "validation_split": 0.25, "subset": "training"},
        {"seed": 3, "validation_split": 0.25, "subset": "validation"},
        {"seed": 3, "validation_split": 0.4, "subset": "both"},
        {"shuffle": False, "labels": [0, 1, 2, 3, 4, 5, 6, 7], "batch_size": None},
        {"shuffle": False, "class_names": ["dog", "cat"]},
        {"shuffle": False, "labels": None, "label_mode": None},
    ],
)
def test_images(images, arguments):
    def program(tf):
        arguments.setdefault("batch_size", 3)
        tf.random.set_seed(1)
        make = tf.keras.utils.image_dataset_from_directory
        dataset = make(images, image_size=(8, 6), **arguments)
        return seen(images, dataset)

    same(program)


@pytest.mark.parametrize(
    "arguments",
    [
        {"label_mode": "x"},
        {"class_names": ["x"]},
        {"validation_split": 0.2},
        {"subset": "training"},
        {"validation_split": 0.2, "subset": "training"},
        {"color_mode": "cmyk"},
        {"labels": [1, 2]},
        {"unknown": 1},
    ],
)
def test_bad_arguments(images, arguments):
    same_error(lambda tf: tf.keras.utils.image_dataset_from_directory(images, **arguments))


def test_missing_directory():
    same_error(lambda tf: tf.keras.utils.image_dataset_from_directory("no/such/directory"))


def test_training_on_a_directory(images):
    def program(tf):
        tf.random.set_seed(5)
        train = tf.keras.preprocessing.image_dataset_from_directory(
            images, image_size=(4, 4), batch_size=2, seed=4
        ).map(lambda x, y: (x / 255.0, y))
        model = tf.keras.Sequential(
            [
                tf.keras.layers.Flatten(input_shape=(4, 4, 3)),
                tf.keras.layers.Dense(2, kernel_initializer="zeros"),
            ]
        )
        loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(tf.keras.optimizers.SGD(0.1), loss)
        history = model.fit(train, epochs=2, verbose=0).history
        return [round(float(each), 4) for each in history["loss"]]

    same(program)


def test_texts(tmp_path):
    for name in ("neg", "pos"):
        (tmp_path / name).mkdir()
        for i in range(3):
            (tmp_path / name / f"{i}.txt").write_text(f"{name} text {i}\n" * 3)

    def program(tf, **arguments):
        make = tf.keras.utils.text_dataset_from_directory
        return seen(tmp_path, make(str(tmp_path), batch_size=4, **arguments))

    same(lambda tf: program(tf, seed=2))
    same(lambda tf: program(tf, shuffle=False, max_length=5, label_mode="binary"))
    same(lambda tf: program(tf, seed=2, validation_split=0.5, subset="both"))


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"sequence_stride": 2, "batch_size": 2},
        {"sampling_rate": 2, "start_index": 2, "end_index": 12},
        {"shuffle": True, "seed": 3, "batch_size": 4},
        {"batch_size": None},
    ],
)
@pytest.mark.parametrize("with_targets", [False, True])
def test_time_series(arguments, with_targets):
    data = np.arange(40, dtype=np.float32).reshape(20, 2)
    targets = np.arange(20) * 10 if with_targets else None
    same(lambda tf: tf.keras.utils.timeseries_dataset_from_array(data, targets, 3, **arguments))


@pytest.mark.parametrize(
    "arguments", [{"start_index": 30}, {"sampling_rate": -1}, {"sequence_stride": 0},
                  {"start_index": 5, "end_index": 5}, {"end_index": 21}, {"sampling_rate": 20}]
)  # fmt: skip
def test_bad_time_series(arguments):
    data = np.arange(20)
    same_error(lambda tf: tf.keras.utils.timeseries_dataset_from_array(data, None, 3, **arguments))


def test_windows_longer_than_the_series():
    same(lambda tf: tf.keras.utils.timeseries_dataset_from_array(np.arange(20), None, 50))


def test_parts():
    def program(tf, *arguments, **keywords):
        rows = np.arange(20, dtype=np.float32).reshape(10, 2)
        dataset = tf.data.Dataset.from_tensor_slices((rows, np.arange(10)))
        left, right = tf.keras.utils.split_dataset(dataset, *arguments, **keywords)
        return list(left), list(right), len(left), len(right)

    same(lambda tf: program(tf, 0.7))
    same(lambda tf: program(tf, right_size=3, shuffle=True, seed=1))
    same(lambda tf: program(tf, left_size=4, right_size=2))
    same_error(lambda tf: program(tf))
    same_error(lambda tf: program(tf, 0.7, 0.7))
    same_error(lambda tf: program(tf, 20))
