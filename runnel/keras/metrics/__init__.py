"""tf.keras.metrics: what training reports."""

from __future__ import annotations

from typing import Any

from ...core.suggestions import suggesting as _suggesting
from ..losses import (
    KLD as KLD,
    MAE as MAE,
    MAPE as MAPE,
    MSE as MSE,
    MSLE as MSLE,
    binary_crossentropy as binary_crossentropy,
    binary_focal_crossentropy as binary_focal_crossentropy,
    categorical_crossentropy as categorical_crossentropy,
    categorical_focal_crossentropy as categorical_focal_crossentropy,
    hinge as hinge,
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
from ..losses.functions import categorical_hinge as _categorical_hinge
from ..serialization import Registry, names_of
from . import experimental as experimental
from .accuracy import (
    Accuracy as Accuracy,
    BinaryAccuracy as BinaryAccuracy,
    CategoricalAccuracy as CategoricalAccuracy,
    SparseCategoricalAccuracy as SparseCategoricalAccuracy,
    SparseTopKCategoricalAccuracy as SparseTopKCategoricalAccuracy,
    TopKCategoricalAccuracy as TopKCategoricalAccuracy,
    accuracy as _accuracy,
    binary_accuracy as binary_accuracy,
    categorical_accuracy as categorical_accuracy,
    sparse_categorical_accuracy as sparse_categorical_accuracy,
    sparse_top_k_categorical_accuracy as sparse_top_k_categorical_accuracy,
    top_k_categorical_accuracy as top_k_categorical_accuracy,
)
from .area import AUC as AUC
from .base import Metric as Metric
from .confusion import (
    FalseNegatives as FalseNegatives,
    FalsePositives as FalsePositives,
    Precision as Precision,
    PrecisionAtRecall as PrecisionAtRecall,
    Recall as Recall,
    RecallAtPrecision as RecallAtPrecision,
    SensitivityAtSpecificity as SensitivityAtSpecificity,
    SpecificityAtSensitivity as SpecificityAtSensitivity,
    TrueNegatives as TrueNegatives,
    TruePositives as TruePositives,
)
from .f_score import F1Score as F1Score, FBetaScore as FBetaScore
from .iou import (
    BinaryIoU as BinaryIoU,
    IoU as IoU,
    MeanIoU as MeanIoU,
    OneHotIoU as OneHotIoU,
    OneHotMeanIoU as OneHotMeanIoU,
)
from .mean import (
    Mean as Mean,
    MeanMetricWrapper as MeanMetricWrapper,
    MeanTensor as MeanTensor,
    Sum as Sum,
)
from .probabilistic import (
    BinaryCrossentropy as BinaryCrossentropy,
    CategoricalCrossentropy as CategoricalCrossentropy,
    KLDivergence as KLDivergence,
    Poisson as Poisson,
    SparseCategoricalCrossentropy as SparseCategoricalCrossentropy,
)
from .regression import (
    CategoricalHinge as CategoricalHinge,
    CosineSimilarity as CosineSimilarity,
    Hinge as Hinge,
    LogCoshError as LogCoshError,
    MeanAbsoluteError as MeanAbsoluteError,
    MeanAbsolutePercentageError as MeanAbsolutePercentageError,
    MeanRelativeError as MeanRelativeError,
    MeanSquaredError as MeanSquaredError,
    MeanSquaredLogarithmicError as MeanSquaredLogarithmicError,
    R2Score as R2Score,
    RootMeanSquaredError as RootMeanSquaredError,
    SquaredHinge as SquaredHinge,
    cosine_similarity as _cosine_similarity,
)


def _known() -> dict[str, Any]:
    """Metrics by name; a function's name refers to the function, not the class of that name."""
    own = [value for name, value in globals().items() if name[0] != "_" and callable(value)]
    metrics = [each for each in own if isinstance(each, type) and issubclass(each, Metric)]
    functions = {
        name: value
        for name, value in globals().items()
        if name[0] != "_" and callable(value) and not isinstance(value, type)
    }
    for name in ("get", "serialize", "deserialize", "names_of"):
        del functions[name]
    return {
        **names_of(*metrics),
        **functions,
        "accuracy": _accuracy,
        "acc": _accuracy,
        "ACC": _accuracy,
        "bce": binary_crossentropy,
        "BCE": binary_crossentropy,
        "categorical_hinge": _categorical_hinge,
        "cosine_similarity": _cosine_similarity,
        "cosine_proximity": _cosine_similarity,
    }


_registry = Registry("metric function", _known)


def get(identifier: Any) -> Any:
    """A metric from its name or config; metrics are returned unchanged.

    >>> tf.keras.metrics.get("mse").__name__
    'mean_squared_error'
    """
    if identifier is None:
        raise ValueError(
            "Could not interpret metric identifier: None. It should be a name, a config or a "
            "metric."
        )
    return _registry.get(identifier)


def serialize(metric: Any, use_legacy_format: bool = False) -> Any:
    """The config of a metric, or the name of a metric function."""
    return _registry.serialize(metric, use_legacy_format)


def deserialize(config: Any, custom_objects: Any = None, use_legacy_format: bool = False) -> Any:
    """Create a metric from its config or name."""
    return _registry.deserialize(config, custom_objects, use_legacy_format)


__getattr__ = _suggesting(__name__)
