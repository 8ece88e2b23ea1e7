"""The checkpoint children of Keras objects, named as in Keras 2."""

from __future__ import annotations

from typing import Any

from ...core.variable import Variable
from ...ops.lookup.static import LookupTable
from ..engine.functional import Functional
from ..engine.layer_weights import UNTRACKED, LayerWeights
from ..engine.sequential import Sequential
from ..optimizers.base import Optimizer
from ..optimizers.legacy.base import Optimizer as OlderOptimizer
from ..optimizers.loss_scale import LossScaleOptimizer
from ..optimizers.tf_optimizer import TFOptimizer

# Attributes that `compile` and `fit` set on a model. Metrics are not saved, as in the original.
_OF_TRAINING = frozenset(
    {"_init_arguments", "_traced_steps", "history", "compiled_loss", "compiled_metrics", "loss"}
    | {"_compile_config", "input_names", "output_names", "_resume_at"}
    | {"_steps_per_execution", "_counters"}
)
_OF_LAYERS = UNTRACKED | _OF_TRAINING | {"_name", "_name_scope", "_input_spec", "input_spec"}
_OF_OPTIMIZERS = frozenset({"_index_dict", "_numbers"})
_OF_OLDER = frozenset({"_hyper", "_slots", "_slot_names", "_weights", "_iterations"})
# Attributes of older optimizers with another name in checkpoints.
_OLDER_NAMES = {"_m_cache": "momentum_cache"}


def children_function(value: Any) -> Any:
    """The function that returns the children of an object; None for non-Keras objects."""
    if isinstance(value, LayerWeights):
        return _layer_children
    if isinstance(value, TFOptimizer):
        return TFOptimizer._checkpoint_children
    if isinstance(value, LossScaleOptimizer):
        return _loss_scale_children
    if isinstance(value, Optimizer):
        return _optimizer_children
    if isinstance(value, OlderOptimizer):
        return _older_children
    return None


def watched_methods() -> list[tuple[type, str, str]]:
    """The methods that add children to objects, and the children that each call adds."""
    return [
        *[(kind, "__setattr__", "attribute") for kind in (LayerWeights, Optimizer, OlderOptimizer)],
        (LayerWeights, "add_weight", "parts"),
        (Sequential, "add", "parts"),
        (Optimizer, "add_variable", "variable"),
        (Optimizer, "add_variable_from_reference", "variable"),
        (OlderOptimizer, "add_slot", "parts"),
        (OlderOptimizer, "_create_hypers", "parts"),
    ]


def _held(value: Any, left_out: frozenset[str]) -> dict[str, Any]:
    """The attributes that hold state; empty containers are skipped."""
    from ...train.trackables import is_trackable

    return {
        name: each
        for name, each in vars(value).items()
        if name not in left_out and is_trackable(each) and _has_parts(each)
    }


def _has_parts(value: Any) -> bool:
    from ...train.trackables import is_trackable

    if isinstance(value, list | tuple):
        return any(is_trackable(each) and _has_parts(each) for each in value)
    if isinstance(value, dict):
        return any(is_trackable(each) and _has_parts(each) for each in value.values())
    return True


def _layer_children(layer: Any) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    if isinstance(layer, Functional):
        with_weights = 0
        for i, each in enumerate(layer.layers):
            if _holds_variables(each):
                parts[f"layer_with_weights-{with_weights}"] = each
                with_weights += 1
            parts[f"layer-{i}"] = each
    for each in layer._tracked:
        if isinstance(each, Variable) and each._weight_name:
            parts[each._weight_name] = each
    parts.update(_held(layer, _OF_LAYERS))
    if isinstance(parts.get("lookup_table"), LookupTable) and hasattr(layer, "get_vocabulary"):
        # A layer's vocabulary is saved in its assets; the original's checkpoints exclude it.
        del parts["lookup_table"]
    return parts


def _holds_variables(layer: Any) -> bool:
    return any(each._own_variables() or _learns_words(each) for each in layer._flatten_layers())


def _learns_words(layer: Any) -> bool:
    """Whether a layer has a learnt vocabulary: that counts as a weight."""
    return hasattr(layer, "lookup_table") and layer.input_vocabulary is None


def _optimizer_children(optimizer: Any) -> dict[str, Any]:
    return _held(optimizer, _OF_OPTIMIZERS)


def _loss_scale_children(optimizer: Any) -> dict[str, Any]:
    from ...train.trackables import children_of

    parts = children_of(optimizer.inner_optimizer)
    scale = vars(optimizer).get("_scale")
    if isinstance(scale, Variable):
        parts["loss_scale"] = {"current_loss_scale": scale, "good_steps": optimizer._good_steps}
    return parts


def _older_children(optimizer: Any) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    if optimizer._iterations is not None:
        parts["iter"] = optimizer._iterations
    for name, value in sorted(optimizer._hyper.items()):
        if isinstance(value, Variable):
            parts[name] = value
    for name, value in _held(optimizer, _OF_OLDER).items():
        if isinstance(value, Variable):
            parts[_OLDER_NAMES.get(name, name)] = value
    return parts
