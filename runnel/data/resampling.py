"""rejection_resample: elements are dropped at random to match a class distribution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.convert import convert_to_tensor
from ..ops.array.gathering import gather
from ..ops.array.selection import one_hot
from ..ops.math.arithmetic import maximum
from ..ops.math.reduction import reduce_max, reduce_sum
from ..ops.random import uniform
from .dataset import Dataset

_TINY = float(np.finfo(np.float32).tiny)


def rejection_resample(
    dataset: Dataset,
    class_func: Callable[..., Any],
    target_dist: Any,
    initial_dist: Any,
    seed: Any,
) -> Dataset:
    """See `Dataset.rejection_resample`."""
    target = convert_to_tensor(np.asarray(target_dist, np.float32))
    classes = target.shape[0]

    def with_class(*element: Any) -> Any:
        found = convert_to_tensor(class_func(*element))
        return found, element if len(element) > 1 else element[0]

    def counted(counts: Any, pair: Any) -> Any:
        counts = counts + one_hot(pair[0], classes)
        return counts, (pair[0], counts / reduce_sum(counts), pair[1])

    def accepted(found: Any, known: Any, element: Any) -> Any:
        # All elements of the relatively rarest class are accepted.
        ratio = target / maximum(known, _TINY)
        return uniform([], seed=seed) * reduce_max(ratio) < gather(ratio, found)

    classified = dataset.map(with_class)
    if initial_dist is None:
        # Counts start at one, so that no class has probability zero.
        first = convert_to_tensor(np.ones(classes, np.float32))
        estimated = classified.scan(first, counted)
    else:
        initial = convert_to_tensor(np.asarray(initial_dist, np.float32))
        if initial.shape != target.shape:
            raise ValueError(
                f"`initial_dist` and `target_dist` must be equally long, got {initial.shape} and "
                f"{target.shape}."
            )
        estimated = classified.map(lambda found, element: (found, initial, element))
    return estimated.filter(accepted).map(lambda found, _, element: (found, element))
