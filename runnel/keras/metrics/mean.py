"""Sums and means over batches, of values or of a function of labels and predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import runnel as tf

from ..engine.kinds import flat_rows, is_ragged
from ..losses.masks import mask_of
from ..losses.weighting import Reduction, fit_weights, squeeze_to_match, weights_with_mask
from .base import Metric


def _broadcasts(weights: tf.Tensor, values: tf.Tensor) -> bool:
    """Whether weights broadcast: a scalar, or of the same rank with compatible sizes."""
    if weights.shape.rank in (0, None) or values.shape.rank is None:
        return True
    if weights.shape.rank != values.shape.rank:
        return False
    sizes = zip(weights.shape.as_list(), values.shape.as_list(), strict=True)
    return all(one in (1, None) or other is None or one == other for one, other in sizes)


def _is_number(value: Any) -> bool:
    return isinstance(value, tf.Tensor) and value._sizes == ()


def _total(values: Any) -> Any:
    """The sum of the values; a scalar is returned unchanged."""
    return values if _is_number(values) else tf.reduce_sum(values)


def _inner_axes(weights: tf.Tensor, values: tf.Tensor) -> list[int]:
    """The axes of the values that the weights lack."""
    return list(range(len(weights.shape), len(values.shape)))


_NOTHING = (
    "The output of a metric function can only be a single Tensor. Received: None from {name}. Is "
    "a `return` missing at its end?"
)


class _Reduce(Metric):
    """The weighted sum of values, in `total`."""

    _inner_reduction: Any = staticmethod(tf.reduce_sum)

    def __init__(self, name: str | None, dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.total = self.add_weight("total", initializer="zeros")

    def _weighted(self, values: Any, sample_weight: Any) -> tuple[tf.Tensor, Any]:
        """The weighted values, and the total weight."""
        values = tf.cast(values, self._value_dtype)
        if is_ragged(values):
            values = values.flat_values
        if sample_weight is None:
            return values, None
        weights = tf.cast(sample_weight, self._value_dtype)
        if _is_number(values) and _is_number(weights):
            return values * weights, weights
        weights = fit_weights(weights, values)
        if _broadcasts(weights, values):
            weights = tf.broadcast_to(weights, tf.shape(values))
        else:
            axes = _inner_axes(weights, values)
            values = self._inner_reduction(values, axis=axes)
        return values * weights, weights

    def result(self) -> Any:
        """The sum."""
        return self.total


class Sum(_Reduce):
    """The (weighted) sum of all values.

    >>> metric = tf.keras.metrics.Sum()
    >>> metric.update_state([1, 3, 5, 7]).numpy().item()
    16.0
    """

    def __init__(self, name: str = "sum", dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)

    def update_state(self, values: Any, sample_weight: Any = None) -> Any:
        """Add values to the sum."""
        values, _ = self._weighted(values, sample_weight)
        return self.total.assign_add(_total(values))


class Mean(_Reduce):
    """The (weighted) mean of all values.

    >>> metric = tf.keras.metrics.Mean()
    >>> metric([1.0, 3.0, 5.0]).numpy().item()
    3.0
    >>> metric([7.0]).numpy().item()
    4.0
    """

    _inner_reduction = staticmethod(tf.reduce_mean)

    def __init__(self, name: str | None = "mean", dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.count = self.add_weight("count", initializer="zeros")

    def update_state(self, values: Any, sample_weight: Any = None) -> Any:
        """Accumulate values."""
        values, weights = self._weighted(values, sample_weight)
        self.total.assign_add(_total(values))
        if weights is not None:
            return self.count.assign_add(_total(weights))
        count = values.shape.num_elements()
        if count is None:
            return self.count.assign_add(tf.cast(tf.size(values), self._value_dtype))
        return self.count.assign_add(tf.constant(count, self._value_dtype))

    def result(self) -> Any:
        """The mean; 0 before the first value."""
        return tf.math.divide_no_nan(self.total, self.count)


class MeanMetricWrapper(Mean):
    """The mean of a function of labels and predictions.

    >>> metric = tf.keras.metrics.MeanMetricWrapper(lambda y_true, y_pred: abs(y_true - y_pred))
    >>> metric([1.0, 2.0], [2.0, 4.0]).numpy().item()
    1.5
    """

    def __init__(
        self, fn: Callable[..., Any], name: str | None = None, dtype: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        self._fn = fn
        self._fn_kwargs = kwargs

    def update_state(  # type: ignore[override]
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> Any:
        """Accumulate labels and predictions."""
        y_true = tf.cast(y_true, self._value_dtype)
        y_pred = tf.cast(y_pred, self._value_dtype)
        y_true, y_pred = squeeze_to_match(*flat_rows(y_true, y_pred))
        matches = self._fn(y_true, y_pred, **self._fn_kwargs)
        if matches is None:
            raise RuntimeError(_NOTHING.format(name=self.name))
        mask = mask_of(matches)
        if mask is not None:
            sample_weight = weights_with_mask(matches, sample_weight, mask, Reduction.NONE)
        return super().update_state(matches, sample_weight=sample_weight)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments and those of the function, as a dict."""
        arguments = {
            key: value.numpy() if isinstance(value, tf.Tensor | tf.Variable) else value
            for key, value in self._fn_kwargs.items()
        }
        if type(self) is MeanMetricWrapper:
            arguments["fn"] = self._fn
        return {**super().get_config(), **arguments}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Create a metric from its config."""
        config = dict(config)
        function = config.pop("fn", None)
        if cls is MeanMetricWrapper:
            return cls(tf.keras.metrics.get(function), **config)
        return super().from_config(config)


class MeanTensor(Metric):
    """The (weighted) element-wise mean of tensors over all batches.

    >>> metric = tf.keras.metrics.MeanTensor()
    >>> metric.update_state([0.0, 1.0])
    >>> metric([4.0, 3.0]).numpy().tolist()
    [2.0, 2.0]
    """

    def __init__(self, name: str = "mean_tensor", dtype: Any = None, shape: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self._shape: Any = None
        self._total: Any = None
        self._count: Any = None
        if shape is not None:
            self._make(tf.TensorShape(shape))

    def _make(self, shape: tf.TensorShape) -> None:
        self._shape = shape
        self._total = self.add_weight("total", shape=shape, initializer="zeros")
        self._count = self.add_weight("count", shape=shape, initializer="zeros")

    @property
    def total(self) -> Any:
        return self._total

    @property
    def count(self) -> Any:
        return self._count

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        """Accumulate a tensor; all must have the same shape."""
        values = tf.cast(values, self._value_dtype)
        if self._shape is None:
            self._make(values.shape)
        elif values.shape != self._shape:
            raise ValueError(
                "MeanTensor input values must always have the same shape. Expected shape (set "
                f"during the first call): {self._shape}. Got: {values.shape}."
            )
        counts = tf.ones_like(values)
        if sample_weight is not None:
            weights = fit_weights(tf.cast(sample_weight, self._value_dtype), values)
            if not _broadcasts(weights, values):
                axes = _inner_axes(weights, values)
                values = tf.reduce_mean(values, axis=axes)
            counts *= weights
            values *= weights
        self._total.assign_add(values)
        self._count.assign_add(counts)

    def result(self) -> Any:
        """The means."""
        if self._shape is None:
            raise ValueError(
                "MeanTensor does not have any value yet. Please call the MeanTensor instance or "
                "use `.update_state(value)` before retrieving the result."
            )
        return tf.math.divide_no_nan(self._total, self._count)

    def reset_state(self) -> None:
        """Reset the accumulated state, except its shape."""
        if self._shape is not None:
            super().reset_state()
