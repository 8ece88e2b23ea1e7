"""Batches of images listed in a table with their targets."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np

from ..backend.settings import floatx
from .image_iterators import FileIterator

_WITH_CLASSES = ("binary", "categorical", "sparse")


class DataFrameIterator(FileIterator):
    """Batches of the images named in a column of a pandas DataFrame, or a similar table.

    The table only needs columns: `table[name]` returns the values of one.
    """

    allowed_class_modes = frozenset(
        {"binary", "categorical", "input", "multi_output", "raw", "sparse", None}
    )

    def __init__(
        self,
        dataframe: Any,
        directory: Any = None,
        image_data_generator: Any = None,
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
        data_format: str | None = "channels_last",
        save_to_dir: str | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
        interpolation: str = "nearest",
        keep_aspect_ratio: bool = False,
        dtype: Any = "float32",
        validate_filenames: bool = True,
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
        self.directory = directory or ""
        self.class_mode = class_mode
        self.dtype = dtype or floatx()
        names = list(dataframe[x_col])
        self._check(dataframe, names, x_col, y_col, weight_col, classes)
        rows = list(range(len(names)))
        if validate_filenames:
            rows = self._rows_of_files(names, x_col)
        if class_mode in _WITH_CLASSES:
            values = list(dataframe[y_col])
            rows, values, classes = _rows_of_classes(rows, values, classes)
            self.class_indices = dict(zip(classes, range(len(classes)), strict=True))
        rows = self._part(rows)
        if class_mode in _WITH_CLASSES:
            self.classes = [self._numbers(values[row]) for row in rows]
        self.filenames = [names[row] for row in rows]
        weights = None if weight_col is None else np.asarray(dataframe[weight_col])[rows]
        self._sample_weight = weights
        if class_mode == "multi_output":
            self._targets: Any = [np.array(list(dataframe[name]))[rows] for name in y_col]
        if class_mode == "raw":
            self._targets = np.asarray(dataframe[y_col])[rows]
        self.samples = len(self.filenames)
        valid = "validated" if validate_filenames else "non-validated"
        of_classes = ""
        if class_mode in _WITH_CLASSES:
            of_classes = f" belonging to {len(self.class_indices)} classes"
        print(f"Found {self.samples} {valid} image filenames{of_classes}.")
        self._filepaths = [os.path.join(self.directory, name) for name in self.filenames]
        super().__init__(self.samples, batch_size, shuffle, seed)

    def _check(
        self, table: Any, names: list[Any], x_col: Any, y_col: Any, weight_col: Any, classes: Any
    ) -> None:
        mode = self.class_mode
        if mode not in self.allowed_class_modes:
            raise ValueError(
                f"Invalid class_mode: {mode}; expected one of: {set(self.allowed_class_modes)}"
            )
        if mode == "multi_output" and not isinstance(y_col, list):
            raise TypeError(
                f'If class_mode="{mode}", y_col must be a list. Received {type(y_col).__name__}.'
            )
        if not all(isinstance(name, str) for name in names):
            raise TypeError(f"All values in column x_col={x_col} must be strings.")
        allowed: Any = (str, list, tuple)
        text = "type string, list or tuple"
        if mode in ("binary", "sparse"):
            allowed, text = str, "strings"
        if mode in _WITH_CLASSES and not all(isinstance(each, allowed) for each in table[y_col]):
            raise TypeError(
                f'If class_mode="{mode}", y_col="{y_col}" column values must be {text}.'
            )
        if mode == "binary":
            if classes and len(set(classes)) != 2:
                raise ValueError(
                    'If class_mode="binary" there must be 2 classes. '
                    f"{len(set(classes))} class/es were given."
                )
            if not classes and len(set(table[y_col])) != 2:
                raise ValueError(
                    'If class_mode="binary" there must be 2 classes. '
                    f"Found {len(set(table[y_col]))} classes."
                )
        if weight_col and np.asarray(table[weight_col]).dtype.kind not in "biuf":
            raise TypeError(f"Column weight_col={weight_col} must be numeric.")

    def _rows_of_files(self, names: list[str], x_col: str) -> list[int]:
        """The rows whose files exist and are images."""
        valid = [
            row
            for row, name in enumerate(names)
            if name.lower().endswith(self.white_list_formats)
            and os.path.isfile(os.path.join(self.directory, name))
        ]
        invalid = len(names) - len(valid)
        if invalid:
            warnings.warn(
                f'Found {invalid} invalid image filename(s) in x_col="{x_col}". These filename(s) '
                "will be ignored.",
                stacklevel=4,
            )
        return valid

    def _numbers(self, value: Any) -> Any:
        """The index of a class, or the indices of several."""
        if isinstance(value, list | tuple):
            return [self.class_indices[each] for each in value]
        return self.class_indices[value]

    @property
    def filepaths(self) -> list[str]:
        return self._filepaths

    @property
    def labels(self) -> Any:
        return self._targets if self.class_mode in ("multi_output", "raw") else self.classes

    @property
    def sample_weight(self) -> Any:
        return self._sample_weight


def _rows_of_classes(
    rows: list[int], values: list[Any], classes: Any
) -> tuple[list[int], list[Any], list[Any]]:
    """The rows of the selected classes, their class labels, and all classes."""
    if not classes:
        several = [each if isinstance(each, list | tuple) else [each] for each in values]
        return rows, values, sorted({name for each in several for name in each})
    classes = list(dict.fromkeys(classes))

    def wanted(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [each for each in value if each in classes]
        return value if value in classes else None

    values = [wanted(value) for value in values]
    return [row for row in rows if values[row]], values, classes
