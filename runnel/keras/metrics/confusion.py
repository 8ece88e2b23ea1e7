"""Confusion-matrix metrics at thresholds: counts, precision, recall and their trade-offs."""

from __future__ import annotations

from typing import Any

import runnel as tf

from .base import Metric
from .thresholds import KINDS, NEVER, checked_thresholds, count, inner_thresholds


class _ConditionCount(Metric):
    """The weighted count of one cell of the confusion matrix, per threshold."""

    _kind: str

    def __init__(self, thresholds: Any = None, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds = thresholds
        self.thresholds = checked_thresholds(thresholds)
        self.accumulator = self.add_weight(
            "accumulator", shape=(len(self.thresholds),), initializer="zeros"
        )

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Accumulate labels and predictions."""
        counts = count(
            *(y_true, y_pred, self.thresholds),
            dtype=self._value_dtype,
            sample_weight=sample_weight,
        )
        return self.accumulator.assign_add(getattr(counts, self._kind))

    def result(self) -> Any:
        """The count; one per threshold if there are several."""
        return self.accumulator[0] if len(self.thresholds) == 1 else self.accumulator

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "thresholds": self.init_thresholds}


class TruePositives(_ConditionCount):
    """The number of positive samples predicted as positive.

    >>> tf.keras.metrics.TruePositives()([0, 1, 1, 1], [1, 0, 1, 1]).numpy().item()
    2.0
    """

    _kind = "true_positives"


class TrueNegatives(_ConditionCount):
    """The number of negative samples predicted as negative."""

    _kind = "true_negatives"


class FalsePositives(_ConditionCount):
    """The number of negative samples predicted as positive."""

    _kind = "false_positives"


class FalseNegatives(_ConditionCount):
    """The number of positive samples predicted as negative."""

    _kind = "false_negatives"


class _Share(Metric):
    """true positives / (true positives + errors of one kind)."""

    _errors: str

    def __init__(
        self,
        thresholds: Any = None,
        top_k: int | None = None,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds = thresholds
        self.top_k = top_k
        self.class_id = class_id
        self.thresholds = checked_thresholds(thresholds, 0.5 if top_k is None else NEVER)
        shape = (len(self.thresholds),)
        self.true_positives = self.add_weight("true_positives", shape=shape, initializer="zeros")
        errors = self.add_weight(self._errors, shape=shape, initializer="zeros")
        setattr(self, self._errors, errors)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Accumulate labels and predictions."""
        counts = count(
            *(y_true, y_pred, self.thresholds),
            dtype=self._value_dtype,
            sample_weight=sample_weight,
            top_k=self.top_k,
            class_id=self.class_id,
        )
        self.true_positives.assign_add(counts.true_positives)
        getattr(self, self._errors).assign_add(getattr(counts, self._errors))

    def result(self) -> Any:
        """The rate; one per threshold if there are several."""
        errors = getattr(self, self._errors)
        result = tf.math.divide_no_nan(self.true_positives, self.true_positives + errors)
        return result[0] if len(self.thresholds) == 1 else result

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "thresholds": self.init_thresholds,
            "top_k": self.top_k,
            "class_id": self.class_id,
        }


class Precision(_Share):
    """true positives / (true positives + false positives).

    >>> tf.keras.metrics.Precision()([0, 1, 1, 1], [1, 0, 1, 1]).numpy().round(4)
    np.float32(0.6667)
    """

    _errors = "false_positives"


class Recall(_Share):
    """true positives / (true positives + false negatives).

    >>> tf.keras.metrics.Recall()([0, 1, 1, 1], [1, 0, 1, 1]).numpy().round(4)
    np.float32(0.6667)
    """

    _errors = "false_negatives"


class _BestUnderConstraint(Metric):
    """The best value of one rate over the thresholds where another is at least a given value."""

    _constraint: str
    true_positives: tf.Variable
    true_negatives: tf.Variable
    false_positives: tf.Variable
    false_negatives: tf.Variable

    def __init__(
        self,
        value: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        if value < 0 or value > 1:
            raise ValueError(
                f"Argument `{self._constraint}` must be in the range [0, 1]. Received: "
                f"{self._constraint}={value}"
            )
        if num_thresholds <= 0:
            raise ValueError(
                "Argument `num_thresholds` must be an integer > 0. Received: "
                f"num_thresholds={num_thresholds}"
            )
        super().__init__(name=name, dtype=dtype)
        setattr(self, self._constraint, value)
        self.value = value
        self.class_id = class_id
        self.num_thresholds = num_thresholds
        if num_thresholds == 1:
            self.thresholds = [0.5]
        else:
            self.thresholds = [0.0, *inner_thresholds(num_thresholds), 1.0]
        shape = (num_thresholds,)
        for kind in KINDS:
            setattr(self, kind, self.add_weight(kind, shape=shape, initializer="zeros"))

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Accumulate labels and predictions."""
        counts = count(
            *(y_true, y_pred, self.thresholds),
            dtype=self._value_dtype,
            sample_weight=sample_weight,
            class_id=self.class_id,
        )
        for kind in KINDS:
            getattr(self, kind).assign_add(getattr(counts, kind))

    def _sensitivities(self) -> tf.Tensor:
        return _share(self.true_positives, self.false_negatives)

    def _specificities(self) -> tf.Tensor:
        return _share(self.true_negatives, self.false_positives)

    def _precisions(self) -> tf.Tensor:
        return _share(self.true_positives, self.false_positives)

    def _best(self, wanted: tf.Tensor, constrained: tf.Tensor) -> tf.Tensor:
        allowed = constrained >= tf.cast(self.value, constrained.dtype)
        # Rates are never below 0, the result if no threshold satisfies the constraint.
        return tf.reduce_max(tf.where(allowed, wanted, tf.zeros_like(wanted)))

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "class_id": self.class_id,
            "num_thresholds": self.num_thresholds,
            self._constraint: self.value,
        }


def _share(right: Any, wrong: Any) -> tf.Tensor:
    return tf.math.divide_no_nan(right, right + wrong)


class SensitivityAtSpecificity(_BestUnderConstraint):
    """The best TP / (TP + FN) where TN / (TN + FP) is at least `specificity`.

    >>> metric = tf.keras.metrics.SensitivityAtSpecificity(0.5)
    >>> metric([0, 0, 0, 1, 1], [0, 0.3, 0.8, 0.3, 0.8]).numpy().item()
    0.5
    """

    _constraint = "specificity"

    def __init__(
        self,
        specificity: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(specificity, num_thresholds, class_id, name, dtype)

    def result(self) -> Any:
        """The best sensitivity so far."""
        return self._best(self._sensitivities(), self._specificities())


class SpecificityAtSensitivity(_BestUnderConstraint):
    """The best TN / (TN + FP) where TP / (TP + FN) is at least `sensitivity`."""

    _constraint = "sensitivity"

    def __init__(
        self,
        sensitivity: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(sensitivity, num_thresholds, class_id, name, dtype)

    def result(self) -> Any:
        """The best specificity so far."""
        return self._best(self._specificities(), self._sensitivities())


class PrecisionAtRecall(_BestUnderConstraint):
    """The best TP / (TP + FP) where TP / (TP + FN) is at least `recall`."""

    _constraint = "recall"

    def __init__(
        self,
        recall: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(recall, num_thresholds, class_id, name, dtype)

    def result(self) -> Any:
        """The best precision so far."""
        return self._best(self._precisions(), self._sensitivities())


class RecallAtPrecision(_BestUnderConstraint):
    """The best TP / (TP + FN) where TP / (TP + FP) is at least `precision`."""

    _constraint = "precision"

    def __init__(
        self,
        precision: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(precision, num_thresholds, class_id, name, dtype)

    def result(self) -> Any:
        """The best recall so far."""
        return self._best(self._sensitivities(), self._precisions())
