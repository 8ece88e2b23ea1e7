"""Labels and outputs of incompatible shapes: the likely mistake and its fix."""

from __future__ import annotations

from typing import Any

import numpy as np

import runnel as tf

_INTEGER_LABELS = (
    "The labels look like class numbers, and {loss} takes one probability for each class: use "
    "sparse_categorical_crossentropy (SparseCategoricalCrossentropy), or make the labels one-hot: "
    "tf.one_hot(labels, {classes})."
)
_ONE_HOT_LABELS = (
    "The labels look one-hot, and {loss} takes class numbers: use categorical_crossentropy "
    "(CategoricalCrossentropy), or give the numbers: tf.argmax(labels, axis=-1)."
)
_ONE_OF_TWO = (
    "There is one label per example and there are {units} outputs: with binary_crossentropy the "
    "last layer has one unit, Dense(1, activation='sigmoid'); class numbers with {units} outputs "
    "are for Dense({units}, activation='softmax') and sparse_categorical_crossentropy."
)
_EXTRA_AXES = (
    "The outputs have a prediction for each position {positions} of an example, the labels have "
    "not: a Flatten or GlobalAveragePooling layer is missing before the last Dense layer, or "
    "return_sequences=False in a recurrent one."
)
_OTHER_UNITS = (
    "The last layer gives {units} values for each example, the labels have {wanted}: give the last "
    "layer {wanted} units, or the labels {units} values."
)
_OTHER_COUNT = (
    "There are {rows} outputs and {labels} labels: the model must keep the first axis, the batch, "
    "as it is."
)
_NOTHING = (
    "The loss {loss} returned None: it must return a tensor, best with one loss for each example. "
    "Is a `return` missing at its end?"
)


def explained(failure: Exception, loss: Any, y_true: Any, y_pred: Any) -> Exception:
    """The exception for a loss that failed on labels and outputs: the failure, with advice."""
    name = getattr(loss, "name", None) or type(loss).__name__
    labels, outputs = _sizes(y_true), _sizes(y_pred)
    if labels is None or outputs is None:
        return failure
    likely = _likely_mistake(name, labels, outputs)
    if not likely:
        return failure
    text = failure.message if isinstance(failure, tf.errors.OpError) else str(failure)
    message = (
        f"{text.rstrip('.')}. The loss {name} got labels of shape {labels} and outputs of "
        f"shape {outputs}. {likely}"
    )
    if isinstance(failure, tf.errors.InvalidArgumentError):
        return tf.errors.InvalidArgumentError(None, None, message)
    return ValueError(message)


def nothing_returned(loss: Any) -> str:
    """The message for a loss function that returns None."""
    function = getattr(loss, "fn", loss)
    name = getattr(function, "__name__", None) or type(loss).__name__
    return _NOTHING.format(loss=name)


def _sizes(value: Any) -> tuple[Any, ...] | None:
    """The sizes of a tensor, an array or a list, None where unknown."""
    try:
        shape = value.shape if hasattr(value, "shape") else np.shape(value)
        return tuple(shape)
    except (TypeError, ValueError):
        return None


def _likely_mistake(loss: str, labels: tuple[Any, ...], outputs: tuple[Any, ...]) -> str:
    if not outputs:
        return ""
    sparse = "sparse" in loss
    units = outputs[-1]
    wanted = labels[-1] if labels else None
    if sparse and len(labels) == len(outputs) and wanted == units != 1:
        return _ONE_HOT_LABELS.format(loss=loss)
    extra = len(outputs) - len(labels)
    if sparse or len(labels) == 1:
        extra -= 1
    if extra > 0 or (sparse and not extra and len(outputs) > 2 and wanted == 1):
        return _EXTRA_AXES.format(positions=outputs[1:-1])
    if labels and outputs and None not in (labels[0], outputs[0]) and labels[0] != outputs[0]:
        return _OTHER_COUNT.format(rows=outputs[0], labels=labels[0])
    if sparse:
        return ""
    single = len(labels) == len(outputs) - 1 or (len(labels) == len(outputs) and wanted == 1)
    if single and units != 1:
        if "categorical" in loss:
            return _INTEGER_LABELS.format(loss=loss, classes=units)
        if "binary" in loss:
            return _ONE_OF_TWO.format(units=units)
    if len(labels) == len(outputs) and None not in (wanted, units) and wanted != units:
        return _OTHER_UNITS.format(units=units, wanted=wanted)
    return ""
