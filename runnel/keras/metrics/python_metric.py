"""Metrics computed in Python on NumPy values."""

from __future__ import annotations

from typing import Any

from .base import Metric


class PyMetric(Metric):
    """A metric with arbitrary Python in `update_state`; subclasses implement it, `result` and
    `reset_state`, which is called first.

    >>> class Spread(tf.keras.metrics.experimental.PyMetric):
    ...     def reset_state(self):
    ...         self.seen = []
    ...     def update_state(self, y_true, y_pred, sample_weight=None):
    ...         self.seen.extend(y_pred.numpy())
    ...     def result(self):
    ...         return float(max(self.seen) - min(self.seen))
    >>> Spread()(tf.constant([0.0, 0.0]), tf.constant([1.0, 3.0])).numpy().item()
    2.0
    """

    def __init__(self, name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(name=name, dtype=dtype, **kwargs)
        self.reset_state()

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Update the state with a batch; for subclasses to implement."""
        raise NotImplementedError("Subclasses should implement `update_state`")

    def result(self) -> Any:
        """The value of the metric; for subclasses to implement."""
        raise NotImplementedError("Subclasses should implement `result`")

    def merge_state(self, metrics: Any) -> None:
        """Merge the state of other metrics; for subclasses to implement."""
        raise NotImplementedError("Subclasses should implement `merge_state`")

    def reset_state(self) -> None:
        """Reset the accumulated state; for subclasses to implement."""
        raise NotImplementedError("Subclasses should implement `reset_state`")
