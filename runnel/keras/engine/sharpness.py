"""SharpnessAwareMinimization: training towards flat minima."""

from __future__ import annotations

import copy
from typing import Any

import runnel as tf

from .data_adapter import unpack_x_y_sample_weight
from .model import Model


class SharpnessAwareMinimization(Model):
    """A wrapper that trains a model with gradients at the worst point nearby.

    Each step ascends along the gradient by `rho`, computes the gradients there, restores the
    weights and applies them: w - f'(w + rho * g / |g|).

    Args:
      model: The model to train.
      rho: The step size of the ascent.
      num_batch_splits: Number of splits of a batch, each perturbed separately.
      name: Name of the model.
    """

    def __init__(
        self,
        model: Any,
        rho: float = 0.05,
        num_batch_splits: int | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name=name)
        self.model = model
        self.rho = rho
        self.num_batch_splits = num_batch_splits

    def train_step(self, data: Any) -> dict[str, Any]:
        """One training step on a batch; returns the logs."""
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        variables = self.model.trainable_variables
        outputs, gradients = [], []
        for part_x, part_y in self._parts(x, y):
            y_pred, climbed = self._climb(part_x, part_y, variables)
            outputs.append(y_pred)
            with tf.GradientTape() as tape:
                loss = self.compute_loss(part_x, part_y, self(part_x))
            gradients.append(tape.gradient(loss, variables))
            for variable, step in climbed:
                variable.assign_sub(step)
        summed = [tf.reduce_sum(tf.stack(each), axis=0) for each in zip(*gradients, strict=True)]
        self.optimizer.apply_gradients(zip(summed, variables, strict=True))
        return self.compute_metrics(x, y, tf.concat(outputs, axis=0), sample_weight)

    def _climb(self, x: Any, y: Any, variables: list[Any]) -> tuple[Any, list[tuple[Any, Any]]]:
        """Ascend along the gradient; returns the outputs before, and the variables with their
        steps.
        """
        with tf.GradientTape() as tape:
            y_pred = self(x)
            loss = self.compute_loss(x, y, y_pred)
        gradients = tape.gradient(loss, variables)
        scale = self.rho / (tf.linalg.global_norm(gradients) + 1e-12)
        steps = [
            (variable, gradient * scale)
            for variable, gradient in zip(variables, gradients, strict=True)
        ]
        for variable, step in steps:
            variable.assign_add(step)
        return y_pred, steps

    def _parts(self, x: Any, y: Any) -> list[tuple[Any, Any]]:
        if self.num_batch_splits is None:
            return [(x, y)]
        count = self.num_batch_splits
        return list(zip(tf.split(x, count), tf.split(y, count), strict=True))

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The outputs of the model."""
        return self.model(inputs)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return {
            "model": tf.keras.saving.serialize_keras_object(self.model),
            "rho": self.rho,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """Create an instance from its config."""
        config = copy.copy(config)
        model = tf.keras.saving.deserialize_keras_object(
            config.pop("model"), custom_objects=custom_objects
        )
        return cls(model=model, **config)
