"""Files in class directories: their paths, labels, and validation split."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

import runnel as tf


class LabelledFiles:
    """The files of a directory, with class indices as labels; None: without labels."""

    def __init__(self, paths: list[str], labels: Any, class_names: list[Any]) -> None:
        self.paths = paths
        self.labels = labels
        self.class_names = class_names

    def shuffled(self, seed: int) -> LabelledFiles:
        """The files in a random order determined by the seed."""
        order = list(range(len(self.paths)))
        np.random.RandomState(seed).shuffle(order)
        labels = None if self.labels is None else [self.labels[i] for i in order]
        return LabelledFiles([self.paths[i] for i in order], labels, self.class_names)

    def part(self, subset: str | None, validation_split: float | None) -> LabelledFiles:
        """The training split, the first files, or the validation split, the last ones."""
        if not validation_split:
            return self
        count = int(validation_split * len(self.paths))
        if subset == "training":
            print(f"Using {len(self.paths) - count} files for training.")
            chosen = slice(0, len(self.paths) - count)
        else:
            print(f"Using {count} files for validation.")
            chosen = slice(len(self.paths) - count, None)
        labels = None if self.labels is None else self.labels[chosen]
        return LabelledFiles(self.paths[chosen], labels, self.class_names)


def index_directory(
    directory: Any,
    labels: Any,
    formats: Sequence[str],
    class_names: Any = None,
    shuffle: bool = True,
    seed: int | None = None,
    follow_links: bool = False,
) -> LabelledFiles:
    """List the files of a directory and their classes."""
    directory = os.fspath(directory)
    if not os.path.isdir(directory):
        raise tf.errors.NotFoundError(None, None, f"Could not find directory {directory}")
    if labels == "inferred":
        found = sorted(
            name for name in os.listdir(directory) if os.path.isdir(os.path.join(directory, name))
        )
        if not class_names:
            class_names = found
        elif set(class_names) != set(found):
            raise ValueError(
                "The `class_names` passed did not match the names of the subdirectories of the "
                f"target directory. Expected: {found}, but received: {class_names}"
            )
        folders = [(name, os.path.join(directory, name)) for name in found]
    else:
        folders = [("", directory)]
        if labels is None:
            class_names = [""]
    paths, numbers = [], []
    for name, folder in folders:
        for path in _files_below(folder, formats, follow_links):
            paths.append(path)
            numbers.append(class_names.index(name) if labels == "inferred" else 0)
    if labels is None:
        numbers = []
    elif labels != "inferred":
        if len(labels) != len(paths):
            raise ValueError(
                "Expected the lengths of `labels` to match the number of files in the target "
                f"directory. len(labels) is {len(labels)} while we found {len(paths)} files in "
                f"directory {directory}."
            )
        class_names = [int(each) for each in sorted(set(labels))]
        numbers = list(labels)
    print(f"Found {len(paths)} files belonging to {len(class_names)} classes.")
    files = LabelledFiles(paths, None if labels is None else numbers, class_names)
    if not shuffle:
        return files
    return files.shuffled(int(1e6) if seed is None else seed)


def _files_below(folder: str, formats: Sequence[str], follow_links: bool) -> list[str]:
    found = []
    walked = sorted(os.walk(folder, followlinks=follow_links), key=lambda each: each[0])
    for root, _, names in walked:
        found += [
            os.path.join(root, name)
            for name in sorted(names)
            if name.lower().endswith(tuple(formats))
        ]
    return found


def check_label_mode(labels: Any, label_mode: Any, class_names: Any) -> Any:
    """The effective label mode, after the arguments are checked for consistency."""
    if labels not in ("inferred", None):
        if not isinstance(labels, list | tuple):
            raise ValueError(
                "`labels` argument should be a list/tuple of integer labels, of the same size as "
                "the number of files in the target directory. If you wish to infer the labels from "
                'the subdirectory names in the target directory, pass `labels="inferred"`. If you '
                f"wish to get a dataset that only contains files (no labels), pass `labels=None`. "
                f"Received: labels={labels}"
            )
        if class_names:
            raise ValueError(
                "You can only pass `class_names` if `labels` is 'inferred'. Received: "
                f"labels={labels}, and class_names={class_names}"
            )
    if label_mode not in ("int", "categorical", "binary", None):
        raise ValueError(
            '`label_mode` argument must be one of "int", "categorical", "binary", or None. '
            f"Received: label_mode={label_mode}"
        )
    return None if label_mode is None else labels


def check_split(validation_split: Any, subset: Any, shuffle: bool, seed: Any) -> None:
    """Raise ValueError unless the validation split arguments are consistent."""
    if validation_split and not 0 < validation_split < 1:
        raise ValueError(
            f"`validation_split` must be between 0 and 1, received: {validation_split}"
        )
    if (validation_split or subset) and not (validation_split and subset):
        raise ValueError("If `subset` is set, `validation_split` must be set, and inversely.")
    if subset not in ("training", "validation", "both", None):
        raise ValueError(
            '`subset` must be either "training", "validation" or "both", received: '
            f"{subset}"
        )  # fmt: skip
    if validation_split and shuffle and seed is None:
        raise ValueError(
            "If using `validation_split` and shuffling the data, you must provide a `seed` "
            "argument, to make sure that there is no overlap between the training and validation "
            "subset."
        )


def label_dataset(files: LabelledFiles, label_mode: str) -> Any:
    """The labels as indices, as one-hot rows or as 0.0 and 1.0."""
    if label_mode == "binary" and len(files.class_names) != 2:
        raise ValueError(
            'When passing `label_mode="binary"`, there must be exactly 2 class_names. Received: '
            f"class_names={files.class_names}"
        )
    labels: Any = np.asarray(files.labels, np.int32)
    if label_mode == "binary":
        labels = labels.astype(np.float32)[:, None]
    elif label_mode == "categorical":
        labels = np.eye(len(files.class_names), dtype=np.float32)[labels]
    return tf.data.Dataset.from_tensor_slices(labels)
