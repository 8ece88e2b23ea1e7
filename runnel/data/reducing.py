"""group_by_reducer: a reduction over all elements with the same key."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core import dtypes, nest
from ..core.type_spec import TensorSpec
from .cardinality import UNKNOWN
from .dataset import Dataset
from .functions import Traced
from .mapping import traced_with_state
from .structure import Leaves


class Reducer:
    """A reducer: the initial state of a key, the next state, the result of the final state.

    >>> total = tf.data.experimental.Reducer(
    ...     lambda key: np.int64(0), lambda state, x: state + x, lambda state: state)
    >>> dataset = tf.data.Dataset.range(6).apply(
    ...     tf.data.experimental.group_by_reducer(lambda x: x % 2, total))
    >>> list(dataset.as_numpy_iterator())
    [np.int64(6), np.int64(9)]
    """

    def __init__(
        self,
        init_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        finalize_func: Callable[..., Any],
    ) -> None:
        self._functions = init_func, reduce_func, finalize_func

    @property
    def init_func(self) -> Callable[..., Any]:
        """Maps a key to its initial state."""
        return self._functions[0]

    @property
    def reduce_func(self) -> Callable[..., Any]:
        """Maps a state and an element to the next state."""
        return self._functions[1]

    @property
    def finalize_func(self) -> Callable[..., Any]:
        """Maps the final state to the result."""
        return self._functions[2]


class _GroupByReducerDataset(Dataset):
    """The reduction of the elements of each key, in the order of the keys."""

    def __init__(self, dataset: Dataset, key_func: Callable[..., Any], reducer: Reducer) -> None:
        self._inputs = (dataset,)
        self._key = Traced(key_func, dataset.element_spec, "key_func")
        key = self._key.output
        if not (
            type(key) is TensorSpec
            and key.dtype is dtypes.int64
            and key.shape.is_compatible_with([])
        ):
            raise ValueError(
                "Invalid `key_func`. Expected `key_func` to return a scalar tf.int64 tensor, but "
                f"it returns {key}."
            )
        self._first = Traced(reducer.init_func, TensorSpec([], dtypes.int64), "init_func")
        self._reduce, state = traced_with_state(
            reducer.reduce_func, self._first.output, dataset.element_spec, "reduce_func",
            lambda output: output,
        )  # fmt: skip
        self._width = len(nest.flatten(state))
        self._last = Traced(reducer.finalize_func, state, "finalize_func")
        self._spec = self._last.output
        self._tensors = tuple(t for each in self._functions() for t in each.captured)

    def _functions(self) -> tuple[Traced, ...]:
        return self._key, self._first, self._reduce, self._last

    def _size(self) -> int:
        return UNKNOWN

    def _elements(self) -> Iterator[Leaves]:
        rest = iter(self._tensors)
        of_key, of_first, of_reduce, of_last = (
            [next(rest) for _ in each.captured] for each in self._functions()
        )
        states: dict[int, Leaves] = {}
        for leaves in self._inputs[0]._elements():
            key = int(self._key.call(leaves, of_key)[0])
            if key not in states:
                states[key] = self._first.call([np.int64(key)], of_first)
            states[key] = self._reduce.call([*states[key], *leaves], of_reduce)
        for key in sorted(states):
            yield self._last.call(states[key], of_last)
