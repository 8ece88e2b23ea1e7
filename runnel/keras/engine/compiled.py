"""The losses and metrics of a compiled model, for one output or a structure of them."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ...core.convert import convert_to_tensor
from ..losses.base import LossFunctionWrapper
from ..losses.weighting import fit_weights
from . import masking
from .naming import snake_case

_OTHER_COUNT = (
    "The model has {count} output(s), {names}, and {given} came: the targets, and likewise their "
    "weights, are a list with one for each output, or a dict by the outputs' names."
)


class _Container:
    """Per-output settings in output order, resolved once the outputs are known."""

    def __init__(self, output_names: list[str] | None) -> None:
        self._names = output_names
        self._structure: Any = None
        self.built = False

    def _spread(self, settings: Any, outputs: Any) -> list[Any]:
        """One setting per output, from a single one, a list, or a dict by name."""
        flat = tf.nest.flatten(outputs)
        if isinstance(outputs, dict) and isinstance(settings, dict):
            unknown = set(settings) - set(outputs)
            self._refuse(unknown, sorted(outputs))
            return [settings.get(key) for key in sorted(outputs)]
        if isinstance(settings, dict):
            names = self._names or []
            self._refuse(set(settings) - set(names), names)
            return [settings.get(name) for name in names]
        if isinstance(settings, list | tuple) and len(flat) > 1:
            if len(settings) != len(flat):
                raise ValueError(
                    f"The model has {len(flat)} outputs, but {len(settings)} were given: {settings}"
                )
            return list(settings)
        return [settings] * len(flat)

    def _refuse(self, unknown: set[str], known: Any) -> None:
        if unknown:
            raise ValueError(
                f"Found unexpected losses or metrics that do not correspond to any Model output: "
                f"{unknown}. Valid mode output names: {list(known)}. Received struct is."
            )

    def _output_names(self, outputs: Any) -> list[str]:
        count = len(tf.nest.flatten(outputs))
        if self._names and len(self._names) == count:
            return self._names
        if isinstance(outputs, dict):
            return sorted(outputs)
        return [f"output_{index + 1}" for index in range(count)]

    def _align(self, outputs: Any, given: Any, names: list[str]) -> list[Any]:
        """Targets or weights in output order."""
        if isinstance(given, dict):
            keys = sorted(outputs) if isinstance(outputs, dict) else names
            self._refuse(set(given) - set(keys), keys)
            return [given.get(key) for key in keys]
        if isinstance(given, list | tuple):
            count = len(tf.nest.flatten(outputs))
            if len(given) != count:
                raise ValueError(_OTHER_COUNT.format(count=count, names=names, given=len(given)))
            return list(given)
        return [given] * len(tf.nest.flatten(outputs))


class CompiledLoss(_Container):
    """The total loss of a model, and the mean of each component for the logs."""

    def __init__(self, losses: Any, loss_weights: Any, output_names: list[str] | None) -> None:
        super().__init__(output_names)
        self._given = losses
        self._weights_given = loss_weights
        self._total = tf.keras.metrics.Mean(name="loss")
        self._parts: list[Any] = []

    @property
    def metrics(self) -> list[Any]:
        if not self.built:
            return []
        return [self._total, *[metric for metric in self._parts if metric is not None]]

    def build(self, y_pred: Any) -> None:
        """Resolve the losses for the output structure."""
        names = self._output_names(y_pred)
        self._losses = [_loss_object(_alone(loss)) for loss in self._spread(self._given, y_pred)]
        self._weights = [_alone(each) for each in self._spread(self._weights_given, y_pred)]
        several = len(names) > 1
        self._parts = [
            tf.keras.metrics.Mean(name=f"{name}_loss") if several and loss is not None else None
            for name, loss in zip(names, self._losses, strict=True)
        ]
        self._resolved = names
        self.built = True

    def __call__(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None, regularization_losses: Any = None
    ) -> Any:
        if not self.built:
            self.build(y_pred)
        outputs = tf.nest.flatten(y_pred)
        targets = self._align(y_pred, y_true, self._resolved)
        weights = self._align(y_pred, sample_weight, self._resolved)
        terms = []
        for index, output in enumerate(outputs):
            loss, target = self._losses[index], targets[index]
            if loss is None or target is None:
                continue
            with tf.name_scope((loss.name or type(loss).__name__).strip("<>_") or "loss"):
                value = _loss_value(loss, target, output, weights[index])
            if self._parts[index] is not None:
                self._parts[index].update_state(value, sample_weight=_rows(output))
            factor = self._weights[index]
            terms.append(value if factor is None else value * factor)
        # Without targets every batch has the same weight, as in the original.
        rows = _rows(outputs[0]) if terms else None
        if regularization_losses:
            terms.extend(tf.cast(term, "float32") for term in regularization_losses)
        if not terms:
            return tf.zeros(shape=())
        total = terms[0] if len(terms) == 1 else tf.add_n(terms)
        self._total.update_state(total, sample_weight=rows)
        return total

    def reset_state(self) -> None:
        """Reset the means at the start of an epoch."""
        for metric in self.metrics:
            metric.reset_state()


class CompiledMetrics(_Container):
    """The metrics of a compiled model."""

    def __init__(self, metrics: Any, weighted_metrics: Any, output_names: list[str] | None) -> None:
        super().__init__(output_names)
        _require_different(tf.nest.flatten([metrics, weighted_metrics]))
        self._given = metrics
        self._weighted_given = weighted_metrics
        self._plain: list[list[Any]] = []
        self._weighted: list[list[Any]] = []

    @property
    def metrics(self) -> list[Any]:
        if not self.built:
            return []
        return [
            metric
            for plain, weighted in zip(self._plain, self._weighted, strict=True)
            for metric in (*plain, *weighted)
        ]

    def build(self, y_pred: Any, y_true: Any) -> None:
        """Resolve the metrics for the shapes of outputs and targets."""
        names = self._output_names(y_pred)
        outputs = tf.nest.flatten(y_pred)
        targets = self._align(y_pred, y_true, names)
        several = len(names) > 1
        self._plain, self._weighted = (
            [
                [
                    _metric_object(each, target, output)
                    for each in _listed(settings)
                    if each is not None
                ]
                for settings, target, output in zip(
                    self._spread_lists(given, y_pred), targets, outputs, strict=True
                )
            ]
            for given in (self._given, self._weighted_given)
        )
        for plain, weighted, name in zip(self._plain, self._weighted, names, strict=True):
            _tell_apart(plain, weighted, f"{name}_" if several else "")
        self._resolved = names
        self.built = True

    def _spread_lists(self, settings: Any, outputs: Any) -> list[Any]:
        # A flat list applies to every output; a nested list has one entry per output.
        count = len(tf.nest.flatten(outputs))
        listed = isinstance(settings, list | tuple)
        if listed and count == 1:
            return [tf.nest.flatten(settings)]
        if listed and not any(isinstance(each, list | tuple | dict) for each in settings):
            return [[_copied(each) if count > 1 else each for each in settings]
                    for _ in range(count)]  # fmt: skip
        return self._spread(settings, outputs)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Update the metrics with a batch."""
        if not self._given and not self._weighted_given:
            self.built = True
            return
        if not self.built:
            self.build(y_pred, y_true)
        targets = self._align(y_pred, y_true, self._resolved)
        weights = self._align(y_pred, sample_weight, self._resolved)
        for index, output in enumerate(tf.nest.flatten(y_pred)):
            if targets[index] is None:
                continue
            target, weight = _matched(targets[index], weights[index], output)
            mask = masking.mask_of(output)
            for metric in self._plain[index]:
                metric.update_state(target, output, sample_weight=mask)
            if mask is not None and self._weighted[index]:
                mask = tf.cast(mask, output.dtype)
                weight = mask if weight is None else fit_weights(weight, mask) * mask
            for metric in self._weighted[index]:
                metric.update_state(target, output, sample_weight=weight)

    def reset_state(self) -> None:
        """Reset the metrics at the start of an epoch."""
        for metric in self.metrics:
            metric.reset_state()


def _copied(metric: Any) -> Any:
    if isinstance(metric, tf.keras.metrics.Metric):
        return type(metric).from_config(metric.get_config())
    return metric


def _listed(settings: Any) -> list[Any]:
    """The metrics of one output, flattened from nested lists."""
    return tf.nest.flatten(settings) if isinstance(settings, list | tuple) else [settings]


def _alone(setting: Any) -> Any:
    """The value for one output, unwrapped from nested lists."""
    while isinstance(setting, list | tuple) and len(setting) == 1:
        setting = setting[0]
    return setting


def _rows(tensor: Any) -> Any:
    size = tensor.shape[0] if tensor.shape.rank else 1
    return tf.shape(tensor)[0] if size is None else size


def _loss_object(loss: Any) -> Any:
    if loss is None:
        return None
    found = tf.keras.losses.get(loss)
    if isinstance(found, tf.keras.losses.Loss):
        return found
    return LossFunctionWrapper(found, name=getattr(found, "__name__", None))


def _matched(target: Any, weight: Any, output: Any) -> tuple[Any, Any]:
    """Targets and weights expanded to the outputs' rank and cast to their dtype if of its kind."""
    return _like_output(convert_to_tensor(target), output), (
        None if weight is None else _like_output(convert_to_tensor(weight), output)
    )


def _like_output(value: Any, output: Any) -> Any:
    if value.shape.rank == 1 and output.shape.rank == 2:
        value = tf.expand_dims(value, -1)
    old, new = value.dtype, output.dtype
    if old is not new and (
        (old.is_floating and new.is_floating) or (old.is_integer and new.is_integer)
    ):
        value = tf.cast(value, new)
    return value


def _loss_value(loss: Any, target: Any, output: Any, weight: Any) -> Any:
    target, weight = _matched(target, weight, output)
    return loss(target, output, sample_weight=weight)


def _tell_apart(plain: list[Any], weighted: list[Any], prefix: str) -> None:
    """Give the metrics of an output unique names."""
    taken: set[str] = set()
    for metric in (*plain, *weighted):
        name = metric._name
        if metric not in plain and name in {each._name.removeprefix(prefix) for each in plain}:
            name = f"weighted_{name}"
        if not name.startswith(prefix):
            name = prefix + name
        if name in taken:
            raise ValueError(
                f'Found two metrics with the same name: "{name}". All the metrics added to the '
                "model need to have unique names."
            )
        taken.add(name)
        metric._name = name


_ACCURACIES = ("accuracy", "acc")
_CROSSENTROPIES = ("crossentropy", "ce")


def _metric_object(metric: Any, target: Any, output: Any) -> Any:
    kind = None
    if isinstance(metric, str) and metric.lower() in _ACCURACIES + _CROSSENTROPIES:
        kind = _by_shape(metric.lower(), target, output)
    found = metric if isinstance(metric, tf.keras.metrics.Metric) else None
    if found is None:
        function = kind or tf.keras.metrics.get(metric)
        if isinstance(function, tf.keras.metrics.Metric):
            found = function
        else:
            found = tf.keras.metrics.MeanMetricWrapper(function, name=_name_of(metric))
    return found


def _name_of(metric: Any) -> str:
    """The name of a loss or metric: its own, or the Python name of a callable."""
    if isinstance(metric, str):
        return metric
    name = getattr(metric, "name", None) if isinstance(metric, tf.keras.losses.Loss) else None
    return name or getattr(metric, "__name__", None) or snake_case(type(metric).__name__)


def _require_different(metrics: list[Any]) -> None:
    seen = [id(each) for each in metrics if isinstance(each, tf.keras.metrics.Metric)]
    if len(set(seen)) < len(seen):
        raise ValueError(
            "Found duplicated metrics object in the user provided metrics and weighted metrics. "
            "It would be updated several times a step: give each output a metric of its own."
        )


def _by_shape(name: str, target: Any, output: Any) -> Any:
    """The accuracy or crossentropy for the shapes of targets and outputs."""
    metrics = tf.keras.metrics
    binary = output.shape[-1] == 1
    sparse = (
        target.shape.rank is not None
        and output.shape.rank is not None
        and (
            target.shape.rank < output.shape.rank
            or (target.shape[-1] == 1 and output.shape[-1] != 1)
        )
    )
    if name in _ACCURACIES:
        if binary:
            return metrics.binary_accuracy
        return metrics.sparse_categorical_accuracy if sparse else metrics.categorical_accuracy
    if binary:
        return metrics.binary_crossentropy
    return metrics.sparse_categorical_crossentropy if sparse else metrics.categorical_crossentropy
