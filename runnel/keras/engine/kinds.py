"""Checks for ragged and sparse values that do not import their modules."""

from __future__ import annotations

from typing import Any

from ...core.op import COMPOSITES


def is_ragged(value: Any) -> bool:
    """Whether a value is a ragged tensor."""
    return type(value) in COMPOSITES and hasattr(type(value), "row_splits")


def is_sparse(value: Any) -> bool:
    """Whether a value is a sparse tensor."""
    return type(value) in COMPOSITES and hasattr(type(value), "dense_shape")


def flat_rows(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Labels and predictions, both flattened to their values if ragged."""
    if is_ragged(y_true) and is_ragged(y_pred):
        return y_true.flat_values, y_pred.flat_values
    return y_true, y_pred
