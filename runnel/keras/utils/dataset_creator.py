"""DatasetCreator: a function that creates the dataset for training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import runnel as tf


class InputContext:
    """The context of a dataset function: the number of input pipelines and replicas."""

    num_input_pipelines = 1
    input_pipeline_id = 0
    num_replicas_in_sync = 1

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The batch size per replica; there is one replica."""
        return global_batch_size

    def __str__(self) -> str:
        return (
            f"tf.distribute.InputContext(input pipeline id {self.input_pipeline_id}, "
            f"total: {self.num_input_pipelines})"
        )


class DatasetCreator:
    """A function from a context to a dataset, for `x` of fit, evaluate and predict.

    The context has `num_input_pipelines`, `input_pipeline_id`, `num_replicas_in_sync` and
    `get_per_replica_batch_size(global_batch_size)`. The number of steps must be given.

    >>> creator = tf.keras.utils.experimental.DatasetCreator(
    ...     lambda context: tf.data.Dataset.from_tensors(([1.0], [2.0])).repeat().batch(2))
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> _ = model.fit(creator, steps_per_epoch=3, epochs=2, verbose=0)
    """

    def __init__(self, dataset_fn: Callable[..., Any], input_options: Any = None) -> None:
        if not callable(dataset_fn):
            raise TypeError(
                f"`dataset_fn` for `DatasetCreator` must be a `callable`. Received: {dataset_fn}"
            )
        if input_options is not None:
            raise TypeError(
                "`input_options` for `DatasetCreator` must be a `tf.distribute.InputOptions`, "
                f"or None where nothing is distributed. Received: {input_options}"
            )
        self.dataset_fn = dataset_fn
        self.input_options = input_options

    def __call__(self, *args: Any, **kwargs: Any) -> tf.data.Dataset:
        dataset = self.dataset_fn(*args, **kwargs)
        if not isinstance(dataset, tf.data.Dataset):
            raise TypeError(
                "The `callable` provided to `DatasetCreator` must return a Dataset. It returns "
                f'"{dataset}"'
            )
        return dataset

    def _for_steps(self, steps: int | None) -> tf.data.Dataset:
        """The dataset for a run of a given number of steps."""
        if steps is None:
            raise ValueError(
                "When using a `tf.keras.utils.experimental.DatasetCreator`, `steps_per_epoch`, "
                "`validation_steps` or `steps` argument must be provided in `Model.fit`, "
                "`Model.evaluate`, or `Model.predict`."
            )
        return self(InputContext())
