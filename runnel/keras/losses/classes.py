"""Losses as objects, each wrapping the function of the same name."""

from __future__ import annotations

from typing import Any

import runnel as tf

from . import functions
from .base import LossFunctionWrapper
from .weighting import Reduction, is_plain_mean


class MeanSquaredError(LossFunctionWrapper):
    """mean((y_true - y_pred)²).

    >>> loss = tf.keras.losses.MeanSquaredError()
    >>> loss([[0.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 0.0]]).numpy().item()
    0.5
    """

    def __init__(self, reduction: str = Reduction.AUTO, name: str = "mean_squared_error") -> None:
        super().__init__(functions.mean_squared_error, reduction=reduction, name=name)

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> tf.Tensor:
        if (
            sample_weight is None
            and isinstance(y_pred, tf.Tensor)
            and isinstance(y_true, tf.Tensor)
            and type(self) is MeanSquaredError
            and is_plain_mean(y_true, y_pred, self.reduction)
        ):
            # Equals the mean of row means, at half the cost.
            return tf.reduce_mean(tf.math.squared_difference(y_pred, y_true))
        return super().__call__(y_true, y_pred, sample_weight)


class MeanAbsoluteError(LossFunctionWrapper):
    """mean(|y_true - y_pred|)."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str = "mean_absolute_error") -> None:
        super().__init__(functions.mean_absolute_error, reduction=reduction, name=name)


class MeanAbsolutePercentageError(LossFunctionWrapper):
    """100 mean(|y_true - y_pred| / |y_true|)."""

    def __init__(
        self, reduction: str = Reduction.AUTO, name: str = "mean_absolute_percentage_error"
    ) -> None:
        super().__init__(functions.mean_absolute_percentage_error, reduction=reduction, name=name)


class MeanSquaredLogarithmicError(LossFunctionWrapper):
    """mean((log(y_true + 1) - log(y_pred + 1))²)."""

    def __init__(
        self, reduction: str = Reduction.AUTO, name: str = "mean_squared_logarithmic_error"
    ) -> None:
        super().__init__(functions.mean_squared_logarithmic_error, reduction=reduction, name=name)


class Huber(LossFunctionWrapper):
    """mean(e²/2 where |e| <= delta, else delta |e| - delta²/2) for errors e."""

    def __init__(
        self, delta: float = 1.0, reduction: str = Reduction.AUTO, name: str = "huber_loss"
    ) -> None:
        super().__init__(functions.huber, reduction=reduction, name=name, delta=delta)


class LogCosh(LossFunctionWrapper):
    """mean(log(cosh(y_pred - y_true)))."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str = "log_cosh") -> None:
        super().__init__(functions.log_cosh, reduction=reduction, name=name)


class Hinge(LossFunctionWrapper):
    """mean(max(1 - y_true y_pred, 0)) for labels -1 and 1 (or 0 and 1)."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str = "hinge") -> None:
        super().__init__(functions.hinge, reduction=reduction, name=name)


class SquaredHinge(LossFunctionWrapper):
    """mean(max(1 - y_true y_pred, 0)²) for labels -1 and 1 (or 0 and 1)."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str = "squared_hinge") -> None:
        super().__init__(functions.squared_hinge, reduction=reduction, name=name)


class CategoricalHinge(LossFunctionWrapper):
    """max(neg - pos + 1, 0): pos = sum(y_true y_pred), neg = max((1 - y_true) y_pred)."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str = "categorical_hinge") -> None:
        super().__init__(functions.categorical_hinge, reduction=reduction, name=name)


class KLDivergence(LossFunctionWrapper):
    """sum(y_true log(y_true / y_pred))."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str = "kl_divergence") -> None:
        super().__init__(functions.kl_divergence, reduction=reduction, name=name)


class Poisson(LossFunctionWrapper):
    """mean(y_pred - y_true log(y_pred))."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str = "poisson") -> None:
        super().__init__(functions.poisson, reduction=reduction, name=name)


class CosineSimilarity(LossFunctionWrapper):
    """The negative cosine similarity of labels and predictions."""

    def __init__(
        self, axis: int = -1, reduction: str = Reduction.AUTO, name: str = "cosine_similarity"
    ) -> None:
        super().__init__(functions.cosine_similarity, reduction=reduction, name=name, axis=axis)


class BinaryCrossentropy(LossFunctionWrapper):
    """-mean(y_true log(p) + (1 - y_true) log(1 - p)) for probabilities p or their logits.

    >>> loss = tf.keras.losses.BinaryCrossentropy(from_logits=True)
    >>> loss([[0.0], [1.0]], [[0.0], [0.0]]).numpy().round(4)
    np.float32(0.6931)
    """

    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: str = Reduction.AUTO,
        name: str = "binary_crossentropy",
    ) -> None:
        super().__init__(
            functions.binary_crossentropy,
            reduction=reduction,
            name=name,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
            axis=axis,
        )
        self.from_logits = from_logits


class BinaryFocalCrossentropy(LossFunctionWrapper):
    """Binary cross entropy times (1 - p)^gamma, p the predicted probability of the label."""

    def __init__(
        self,
        apply_class_balancing: bool = False,
        alpha: float = 0.25,
        gamma: float = 2.0,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: str = Reduction.AUTO,
        name: str = "binary_focal_crossentropy",
    ) -> None:
        super().__init__(
            functions.binary_focal_crossentropy,
            reduction=reduction,
            name=name,
            apply_class_balancing=apply_class_balancing,
            alpha=alpha,
            gamma=gamma,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
            axis=axis,
        )
        self.from_logits = from_logits
        self.apply_class_balancing = apply_class_balancing
        self.alpha = alpha
        self.gamma = gamma


class CategoricalCrossentropy(LossFunctionWrapper):
    """-sum(y_true log(p)) for probabilities p of the classes or their logits; one-hot labels.

    >>> loss = tf.keras.losses.CategoricalCrossentropy()
    >>> loss([[0.0, 1.0]], [[0.5, 0.5]]).numpy().round(4)
    np.float32(0.6931)
    """

    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: str = Reduction.AUTO,
        name: str = "categorical_crossentropy",
    ) -> None:
        super().__init__(
            functions.categorical_crossentropy,
            reduction=reduction,
            name=name,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
            axis=axis,
        )


class CategoricalFocalCrossentropy(LossFunctionWrapper):
    """-sum(alpha (1 - p)^gamma y_true log(p)); `alpha` may be one per class."""

    def __init__(
        self,
        alpha: Any = 0.25,
        gamma: float = 2.0,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: str = Reduction.AUTO,
        name: str = "categorical_focal_crossentropy",
    ) -> None:
        super().__init__(
            functions.categorical_focal_crossentropy,
            reduction=reduction,
            name=name,
            alpha=alpha,
            gamma=gamma,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
            axis=axis,
        )
        self.from_logits = from_logits
        self.alpha = alpha
        self.gamma = gamma


class SparseCategoricalCrossentropy(LossFunctionWrapper):
    """-log(p) of the class index in each label, for probabilities p or their logits.

    >>> loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    >>> loss([0, 1], [[0.0, 0.0], [2.0, 2.0]]).numpy().round(4)
    np.float32(0.6931)
    """

    def __init__(
        self,
        from_logits: bool = False,
        ignore_class: int | None = None,
        reduction: str = Reduction.AUTO,
        name: str = "sparse_categorical_crossentropy",
    ) -> None:
        super().__init__(
            functions.sparse_categorical_crossentropy,
            reduction=reduction,
            name=name,
            from_logits=from_logits,
            ignore_class=ignore_class,
        )
