"""Losses and metrics of values inside of a functional model, as layers of it."""

from __future__ import annotations

from typing import Any

from .base_layer import Layer


class AddLoss(Layer):
    """Adds its input to the loss of the model."""

    def __init__(self, unconditional: bool = True, **kwargs: Any) -> None:
        kwargs["autocast"] = False
        super().__init__(**kwargs)
        self.unconditional = unconditional

    def call(self, inputs: Any) -> Any:
        """The input, which is a loss from now on."""
        self.add_loss(inputs)
        return inputs

    def get_config(self) -> dict[str, Any]:
        """The arguments of the layer."""
        return {**super().get_config(), "unconditional": self.unconditional}


class AddMetric(Layer):
    """Reports the mean of its input under a name."""

    def __init__(
        self, aggregation: str | None = None, metric_name: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.aggregation = aggregation
        self.metric_name = metric_name

    def call(self, inputs: Any) -> Any:
        """The input, which the metric has seen by then."""
        self.add_metric(inputs, name=self.metric_name, aggregation=self.aggregation)
        return inputs

    def get_config(self) -> dict[str, Any]:
        """The arguments of the layer."""
        return {
            **super().get_config(),
            "aggregation": self.aggregation,
            "metric_name": self.metric_name,
        }
