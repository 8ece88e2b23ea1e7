"""Intersection over union: the overlap of predicted and true regions of a class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import runnel as tf

from .base import Metric


class _ConfusionMatrix(Metric):
    """A confusion matrix accumulated over batches."""

    def __init__(
        self,
        num_classes: int,
        name: str | None = None,
        dtype: Any = None,
        ignore_class: int | None = None,
        sparse_y_true: bool = True,
        sparse_y_pred: bool = True,
        axis: int = -1,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        self.num_classes = num_classes
        self.ignore_class = ignore_class
        self.sparse_y_true = sparse_y_true
        self.sparse_y_pred = sparse_y_pred
        self.axis = axis
        self.total_cm = self.add_weight(
            "total_confusion_matrix", shape=(num_classes, num_classes), initializer="zeros"
        )

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Accumulate true and predicted classes (indices, or one-hot where not sparse)."""
        if not self.sparse_y_true:
            y_true = tf.argmax(y_true, axis=self.axis)
        if not self.sparse_y_pred:
            y_pred = tf.argmax(y_pred, axis=self.axis)
        return self._gather(y_true, y_pred, sample_weight)

    def _gather(self, y_true: Any, y_pred: Any, sample_weight: Any) -> Any:
        y_true = tf.reshape(tf.cast(y_true, self._value_dtype), [-1])
        y_pred = tf.reshape(tf.cast(y_pred, self._value_dtype), [-1])
        weights = None
        if sample_weight is not None:
            weights = tf.reshape(tf.cast(sample_weight, self._value_dtype), [-1])
        if self.ignore_class is not None:
            counts = tf.not_equal(y_true, tf.cast(self.ignore_class, self._value_dtype))
            y_true, y_pred = tf.boolean_mask(y_true, counts), tf.boolean_mask(y_pred, counts)
            if weights is not None:
                weights = tf.boolean_mask(weights, counts)
        matrix = tf.math.confusion_matrix(
            y_true, y_pred, self.num_classes, weights=weights, dtype=self._value_dtype
        )
        return self.total_cm.assign_add(matrix)

    def _arguments(self, *names: str) -> dict[str, Any]:
        """Arguments by name, in the original's order."""
        return {name: getattr(self, name) for name in names}


class IoU(_ConfusionMatrix):
    """The mean of TP / (TP + FP + FN) over the target classes.

    >>> tf.keras.metrics.IoU(2, target_class_ids=[0])([0, 0, 1, 1], [0, 1, 0, 1]).numpy().round(4)
    np.float32(0.3333)
    """

    def __init__(
        self,
        num_classes: int,
        target_class_ids: Sequence[int],
        name: str | None = None,
        dtype: Any = None,
        ignore_class: int | None = None,
        sparse_y_true: bool = True,
        sparse_y_pred: bool = True,
        axis: int = -1,
    ) -> None:
        super().__init__(num_classes, name, dtype, ignore_class, sparse_y_true, sparse_y_pred, axis)
        if target_class_ids and max(target_class_ids) >= num_classes:
            raise ValueError(
                f"Target class id {max(target_class_ids)} is out of range, which is "
                f"[0, {num_classes})."
            )
        self.target_class_ids = list(target_class_ids)

    def result(self) -> Any:
        """The mean over the target classes that occur."""
        matrix = self.total_cm
        right = tf.linalg.diag_part(matrix)
        union = tf.reduce_sum(matrix, axis=0) + tf.reduce_sum(matrix, axis=1) - right
        right, union = (tf.gather(each, self.target_class_ids) for each in (right, union))
        occurring = tf.reduce_sum(tf.cast(tf.not_equal(union, 0), self._value_dtype))
        shares = tf.math.divide_no_nan(right, union)
        return tf.math.divide_no_nan(tf.reduce_sum(shares), occurring)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return self._arguments(
            *("name", "dtype", "num_classes", "target_class_ids", "ignore_class"),
            *("sparse_y_true", "sparse_y_pred", "axis"),
        )


class BinaryIoU(IoU):
    """IoU of two classes, separated by a threshold on the prediction.

    >>> metric = tf.keras.metrics.BinaryIoU(target_class_ids=[0, 1], threshold=0.3)
    >>> metric([0, 1, 0, 1], [0.1, 0.2, 0.4, 0.7]).numpy().round(4)
    np.float32(0.3333)
    """

    def __init__(
        self,
        target_class_ids: Sequence[int] = (0, 1),
        threshold: float = 0.5,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(2, target_class_ids, name, dtype)
        self.threshold = threshold

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Accumulate labels and predictions."""
        y_pred = tf.cast(y_pred, self._value_dtype)
        y_pred = y_pred >= tf.cast(self.threshold, self._value_dtype)
        return super().update_state(y_true, y_pred, sample_weight)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return self._arguments("target_class_ids", "threshold", "name", "dtype")


class MeanIoU(IoU):
    """The mean of TP / (TP + FP + FN) over all classes.

    >>> tf.keras.metrics.MeanIoU(num_classes=2)([0, 0, 1, 1], [0, 1, 0, 1]).numpy().round(4)
    np.float32(0.3333)
    """

    def __init__(
        self,
        num_classes: int,
        name: str | None = None,
        dtype: Any = None,
        ignore_class: int | None = None,
        sparse_y_true: bool = True,
        sparse_y_pred: bool = True,
        axis: int = -1,
    ) -> None:
        everything = range(num_classes)
        super().__init__(
            *(num_classes, everything, name, dtype, ignore_class),
            *(sparse_y_true, sparse_y_pred, axis),
        )

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return self._arguments(
            *("num_classes", "name", "dtype", "ignore_class"),
            *("sparse_y_true", "sparse_y_pred", "axis"),
        )


class OneHotIoU(IoU):
    """IoU for one-hot labels; predictions are probabilities unless `sparse_y_pred`."""

    def __init__(
        self,
        num_classes: int,
        target_class_ids: Sequence[int],
        name: str | None = None,
        dtype: Any = None,
        ignore_class: int | None = None,
        sparse_y_pred: bool = False,
        axis: int = -1,
    ) -> None:
        super().__init__(
            *(num_classes, target_class_ids, name, dtype, ignore_class, False, sparse_y_pred, axis)
        )

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return self._arguments(
            *("num_classes", "target_class_ids", "name", "dtype", "ignore_class"),
            *("sparse_y_pred", "axis"),
        )


class OneHotMeanIoU(MeanIoU):
    """MeanIoU for one-hot labels; predictions are probabilities unless `sparse_y_pred`."""

    def __init__(
        self,
        num_classes: int,
        name: str | None = None,
        dtype: Any = None,
        ignore_class: int | None = None,
        sparse_y_pred: bool = False,
        axis: int = -1,
    ) -> None:
        super().__init__(num_classes, name, dtype, ignore_class, False, sparse_y_pred, axis)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return self._arguments(
            "num_classes", "name", "dtype", "ignore_class", "sparse_y_pred", "axis"
        )
