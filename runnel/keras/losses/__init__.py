"""tf.keras.losses: the objectives of training."""

from __future__ import annotations

from typing import Any

from ...core.suggestions import suggesting as _suggesting
from ..serialization import Registry
from . import classes as _classes, functions as _functions
from .base import Loss as Loss, LossFunctionWrapper as LossFunctionWrapper
from .classes import (
    BinaryCrossentropy as BinaryCrossentropy,
    BinaryFocalCrossentropy as BinaryFocalCrossentropy,
    CategoricalCrossentropy as CategoricalCrossentropy,
    CategoricalFocalCrossentropy as CategoricalFocalCrossentropy,
    CategoricalHinge as CategoricalHinge,
    CosineSimilarity as CosineSimilarity,
    Hinge as Hinge,
    Huber as Huber,
    KLDivergence as KLDivergence,
    LogCosh as LogCosh,
    MeanAbsoluteError as MeanAbsoluteError,
    MeanAbsolutePercentageError as MeanAbsolutePercentageError,
    MeanSquaredError as MeanSquaredError,
    MeanSquaredLogarithmicError as MeanSquaredLogarithmicError,
    Poisson as Poisson,
    SparseCategoricalCrossentropy as SparseCategoricalCrossentropy,
    SquaredHinge as SquaredHinge,
)
from .functions import (
    KLD as KLD,
    MAE as MAE,
    MAPE as MAPE,
    MSE as MSE,
    MSLE as MSLE,
    binary_crossentropy as binary_crossentropy,
    binary_focal_crossentropy as binary_focal_crossentropy,
    categorical_crossentropy as categorical_crossentropy,
    categorical_focal_crossentropy as categorical_focal_crossentropy,
    categorical_hinge as categorical_hinge,
    cosine_similarity as cosine_similarity,
    hinge as hinge,
    huber as huber,
    kl_divergence as kl_divergence,
    kld as kld,
    kullback_leibler_divergence as kullback_leibler_divergence,
    log_cosh as log_cosh,
    logcosh as logcosh,
    mae as mae,
    mape as mape,
    mean_absolute_error as mean_absolute_error,
    mean_absolute_percentage_error as mean_absolute_percentage_error,
    mean_squared_error as mean_squared_error,
    mean_squared_logarithmic_error as mean_squared_logarithmic_error,
    mse as mse,
    msle as msle,
    poisson as poisson,
    sparse_categorical_crossentropy as sparse_categorical_crossentropy,
    squared_hinge as squared_hinge,
)
from .weighting import Reduction as Reduction

_registry = Registry(
    "loss function",
    {
        **{
            name: value
            for module in (_classes, _functions)
            for name, value in vars(module).items()
            if getattr(value, "__module__", None) == module.__name__ and not name.startswith("_")
        },
        "Loss": Loss,
        "LossFunctionWrapper": LossFunctionWrapper,
        "bce": binary_crossentropy,
        "BCE": binary_crossentropy,
        "huber_loss": huber,
    },
)


def get(identifier: Any) -> Any:
    """A loss from its name or config; losses are returned unchanged.

    >>> tf.keras.losses.get("mse").__name__
    'mean_squared_error'
    """
    return _registry.get(identifier)


def serialize(loss: Any, use_legacy_format: bool = False) -> Any:
    """The config of a loss, or the name of a loss function."""
    return _registry.serialize(loss, use_legacy_format)


def deserialize(name: Any, custom_objects: Any = None, use_legacy_format: bool = False) -> Any:
    """Create a loss from its config or name."""
    return _registry.deserialize(name, custom_objects, use_legacy_format)


__getattr__ = _suggesting(__name__)
