"""Combination of several datasets: zip, concatenate, choose and sample."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core import dtypes, errors, nest
from ..core.convert import convert_to_tensor
from ..core.tensor import SymbolicTensor, Tensor
from ..core.type_spec import TensorSpec
from . import cardinality
from .cardinality import UNKNOWN
from .dataset import Dataset
from .failures import Failed, Raising, caught
from .structure import Leaves, relaxed


class _ZipDataset(Dataset):
    """Tuples of one element from each dataset."""

    def __init__(self, datasets: Any) -> None:
        flat: list[Any] = [datasets] if isinstance(datasets, list) else nest.flatten(datasets)
        for each in flat:
            if isinstance(each, list):
                raise TypeError(
                    "Invalid input to `zip`. Inputs are expected to be (nested) structures of "
                    "`tf.data.Dataset` objects. Python `list` is not supported and you should use "
                    "`tuple` instead."
                )
            if not isinstance(each, Dataset):
                raise TypeError(
                    "Invalid input to `zip`. Inputs are expected to be (nested) structures of "
                    f"`tf.data.Dataset` objects but encountered object of type {type(each)}."
                )
        self._inputs = tuple(flat)
        self._spec = nest.pack_sequence_as(datasets, [each.element_spec for each in flat])

    def _size(self) -> int:
        return cardinality.of_zip([each._size() for each in self._inputs])

    def _elements(self) -> Iterator[Leaves]:
        each = [caught(dataset._elements()) for dataset in self._inputs]
        return Raising(map(_side_by_side, zip(*each, strict=False)))


def _side_by_side(parts: tuple[Any, ...]) -> Any:
    for part in parts:
        if type(part) is Failed:
            return part
    return [leaf for part in parts for leaf in part]


class _ConcatenateDataset(Dataset):
    """The elements of one dataset, followed by those of another."""

    def __init__(self, first: Dataset, second: Dataset) -> None:
        self._inputs = (first, second)
        self._spec = relaxed(first.element_spec, second.element_spec)

    def _size(self) -> int:
        return cardinality.of_concatenation(*[each._size() for each in self._inputs])

    def _elements(self) -> Iterator[Leaves]:
        first, second = self._inputs
        return itertools.chain(first._elements(), WhenAsked(second._elements))


class WhenAsked:
    """A lazy iteration, which begins and draws its random orders at the first request."""

    def __init__(self, begin: Callable[[], Iterator[Leaves]]) -> None:
        self._begin = begin

    def __iter__(self) -> Iterator[Leaves]:
        return self._begin()


class _DirectedInterleaveDataset(Dataset):
    """Elements from the dataset selected by the next index."""

    def __init__(self, choices: Dataset, datasets: list[Dataset], stop: bool) -> None:
        self._inputs = (choices, *datasets)
        self._stop = stop
        self._spec = datasets[0].element_spec
        for each in datasets[1:]:
            self._spec = relaxed(self._spec, each.element_spec)

    def _size(self) -> int:
        endless = any(each._size() == cardinality.INFINITE for each in self._inputs[1:])
        return cardinality.INFINITE if endless else UNKNOWN

    def _elements(self) -> Iterator[Leaves]:
        return Raising(self._chosen(*[caught(each._elements()) for each in self._inputs]))

    def _chosen(self, choices: Iterator[Any], *sources: Iterator[Any]) -> Iterator[Any]:
        open_: list[Iterator[Any] | None] = list(sources)
        for choice in choices:
            if type(choice) is Failed:
                yield choice
                continue
            number = int(choice[0])
            if not 0 <= number < len(open_):
                raise errors.InvalidArgumentError(
                    None, None,
                    f"Selector index out of range: {number} >= {len(open_)}",
                )  # fmt: skip
            source = open_[number]
            leaves = None if source is None else next(source, None)
            if leaves is not None:
                yield leaves
                continue
            open_[number] = None
            if self._stop or not any(open_):
                return


def _checked(datasets: Any) -> list[Dataset]:
    datasets = list(datasets)
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    return datasets


def choose_from_datasets(datasets: Any, choices: Any, stop: bool) -> Dataset:
    """See `Dataset.choose_from_datasets`."""
    datasets = _checked(datasets)
    spec = choices.element_spec
    if not (
        type(spec) is TensorSpec
        and spec.dtype is dtypes.int64
        and spec.shape.is_compatible_with([])
    ):
        raise TypeError(
            "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` "
            f"tensors but are {spec}."
        )
    return _DirectedInterleaveDataset(choices, datasets, stop)


def sample_from_datasets(datasets: Any, weights: Any, seed: Any, stop: bool, anew: bool) -> Dataset:
    """See `Dataset.sample_from_datasets`."""
    from ..ops.math.elementwise import log
    from ..ops.random_distributions import stateless_categorical

    datasets = _checked(datasets)
    if weights is None:
        weights = [1.0 / len(datasets)] * len(datasets)
    if not isinstance(weights, Dataset):
        weights = convert_to_tensor(weights)
        if not weights.shape.is_compatible_with([len(datasets)]):
            raise ValueError(
                "Invalid `weights`. The shape of `weights` should be compatible with "
                f"`[len(datasets)]` but is {weights.shape}."
            )
        if not isinstance(weights, SymbolicTensor):
            # A dataset with probability zero must not keep the iteration alive after all others
            # have ended.
            possible = np.flatnonzero(weights._array)
            datasets = [datasets[place] for place in possible]
            weights = Tensor(weights._array[possible], weights.dtype)
    if len(datasets) == 1:
        return datasets[0]
    pairs = Dataset.random(seed, anew).batch(2, drop_remainder=True)
    if isinstance(weights, Dataset):
        choices = Dataset.zip(pairs, weights).map(
            lambda pair, row: stateless_categorical(log(row)[None], 1, pair)[0, 0]
        )
    else:
        logits = log(weights)[None]
        choices = pairs.map(lambda pair: stateless_categorical(logits, 1, pair)[0, 0])
    return _DirectedInterleaveDataset(choices, datasets, stop)
