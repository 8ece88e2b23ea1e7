"""Losses and metrics on intermediate values of a functional model, as layers."""

from __future__ import annotations

from typing import Any

from .base_layer import Layer


class AddLoss(Layer):
    """A layer that adds its input to the model's loss."""

    def __init__(self, unconditional: bool = True, **kwargs: Any) -> None:
        kwargs["autocast"] = False
        super().__init__(**kwargs)
        self.unconditional = unconditional

    def call(self, inputs: Any) -> Any:
        """Register the input as a loss, and return it."""
        self.add_loss(inputs)
        return inputs

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "unconditional": self.unconditional}


class AddMetric(Layer):
    """A layer that reports the mean of its input as a named metric."""

    def __init__(
        self, aggregation: str | None = None, metric_name: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.aggregation = aggregation
        self.metric_name = metric_name

    def call(self, inputs: Any) -> Any:
        """Update the metric with the input, and return it."""
        self.add_metric(inputs, name=self.metric_name, aggregation=self.aggregation)
        return inputs

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "aggregation": self.aggregation,
            "metric_name": self.metric_name,
        }
