"""Loss, the base class, and the wrapper that turns a function into a loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import runnel as tf

from ...core.convert import convert_to_tensor
from ..keywords import RefusesUnknownKeywords
from ..object_registration import get_registered_name
from .masks import mask_of
from .mismatch import explained, nothing_returned
from .weighting import (
    Reduction,
    reduce_losses,
    squeeze_to_match,
    weighted_loss,
    weights_with_mask,
)


class Loss(RefusesUnknownKeywords):
    """Labels and predictions to a scalar; subclasses implement `call`, a loss per sample.

    >>> class Quartic(tf.keras.losses.Loss):
    ...     def call(self, y_true, y_pred):
    ...         return tf.reduce_mean((y_true - y_pred) ** 4, axis=-1)
    >>> Quartic()(tf.constant([[0.0], [1.0]]), tf.constant([[2.0], [1.0]])).numpy().item()
    8.0
    """

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = None) -> None:
        Reduction.validate(reduction)
        self.reduction = reduction
        self.name = name

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """The loss of each sample; for subclasses to implement."""
        raise NotImplementedError(
            f"{type(self).__name__}.call(y_true, y_pred) must be implemented in subclasses: it "
            "gives the loss of every sample."
        )

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> tf.Tensor:
        try:
            losses = self.call(y_true, y_pred)
        except (ValueError, tf.errors.InvalidArgumentError) as failure:
            better = explained(failure, self, y_true, y_pred)
            if better is failure:
                raise
            raise better from failure
        if not isinstance(losses, tf.Tensor):
            if losses is None:
                raise ValueError(nothing_returned(self))
            losses = convert_to_tensor(losses)
        for mask in (mask_of(y_pred), mask_of(losses)):
            if mask is not None:
                sample_weight = weights_with_mask(losses, sample_weight, mask, self.reduction)
        if sample_weight is None:
            return reduce_losses(losses, self.reduction)
        return weighted_loss(losses, sample_weight, self.reduction)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return {"reduction": self.reduction, "name": self.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Create a loss from its config."""
        return cls(**config)


class LossFunctionWrapper(Loss):
    """A loss that wraps a function of labels and predictions."""

    def __init__(
        self,
        fn: Callable[..., Any],
        reduction: str = Reduction.AUTO,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(reduction=reduction, name=name)
        self.fn = fn
        self._fn_kwargs = kwargs

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """The function's value for the labels and predictions."""
        if isinstance(y_pred, tf.Tensor) and isinstance(y_true, tf.Tensor):
            y_true, y_pred = squeeze_to_match(y_true, y_pred)
        return self.fn(y_true, y_pred, **self._fn_kwargs)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments and the name of the function, as a dict."""
        name = get_registered_name(self.fn) if hasattr(self.fn, "__name__") else self.fn
        arguments = {
            key: value.numpy() if isinstance(value, tf.Tensor | tf.Variable) else value
            for key, value in self._fn_kwargs.items()
        }
        return {**super().get_config(), **arguments, "fn": name}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Create a loss from its config."""
        config = dict(config)
        function = config.pop("fn", None)
        if function is not None and cls is LossFunctionWrapper:
            config["fn"] = tf.keras.losses.get(function)
        return cls(**config)
