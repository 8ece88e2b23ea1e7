"""Weights in the newer HDF5 layout: groups follow the model's attributes.

`layers/dense/vars/0` is the first variable of the first Dense among the model's layers. An object
reachable by several names is saved under the alphabetically last one, as in the original.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from ..engine.base_layer import Layer
from ..engine.model import Model
from ..engine.naming import snake_case
from ..metrics.base import Metric
from ..optimizers.base import Optimizer
from . import keras3

# Internal attributes that hold layers under names which files must not depend on.
_INSIDE = frozenset(
    {"_tracked", "_layers", "_stack", "_steps", "_metrics", "_inbound_nodes"}
    | {"_outbound_nodes", "_nested_inputs", "_nested_outputs", "inputs", "outputs", "history"}
    | {"_init_arguments", "compiled_loss", "compiled_metrics", "_compile_config", "loss"}
    | {"arguments", "operations"}
)


def save_state(group: Any, root: Any) -> None:
    """Write the variables of an object and all its children."""
    for holder, path in walk(root):
        here = group.require_group(f"{path}/vars" if path else "vars")
        if hasattr(holder, "save_own_variables"):
            holder.save_own_variables(_Store(here))


class _Store:
    """A group as a mapping that accepts arrays."""

    def __init__(self, group: Any) -> None:
        self._group = group

    def __setitem__(self, key: str, value: Any) -> None:
        self._group[key] = value

    def __getitem__(self, key: str) -> Any:
        return self._group[key]

    def keys(self) -> Any:
        """The names in the group."""
        return self._group.keys()


def load_state(group: Any, root: Any, skip_mismatch: bool = False) -> None:
    """Load what `save_state` wrote; everything is validated before any change."""
    pending: list[tuple[Any, dict[str, Any]]] = []
    for holder, path in walk(root):
        name = _found(group, f"{path}/vars" if path else "vars")
        saved = dict(group[name].items()) if name in group else {}
        problem = None
        if isinstance(holder, Layer):
            # Metric state is reset each epoch; a mismatch is not an error.
            if isinstance(holder, Metric) and len(saved) != len(holder._own_variables()):
                continue
            problem = _mismatch(holder, path, saved)
        if problem and skip_mismatch:
            warnings.warn(f"Could not load weights in object {holder}. Skipping object. {problem}",
                          stacklevel=4)  # fmt: skip
        elif problem:
            raise ValueError(problem)
        elif saved or not isinstance(holder, Optimizer):
            pending.append((holder, saved))
    for holder, saved in pending:
        if isinstance(holder, Optimizer) and keras3.load_optimizer(holder, saved):
            continue
        holder.load_own_variables(saved)
        if isinstance(holder, Layer):
            holder.finalize_state()


def _found(group: Any, path: str) -> str:
    """A path as spelled in files: some attributes have an underscore here, not in Keras 3."""
    if path in group:
        return path
    names: list[str] = []
    for name in path.split("/"):
        public = name.removeprefix("_")
        known = "/".join([*names, name]) in group or "/".join([*names, public]) not in group
        names.append(name if known else public)
    return "/".join(names)


def _mismatch(layer: Layer, path: str, saved: dict[str, Any]) -> str | None:
    if type(layer).load_own_variables is not Layer.load_own_variables:
        return None
    variables = layer._saved_variables()
    if len(saved) != len(variables):
        return (
            f"Layer '{layer.name}' expected {len(variables)} variables, but received {len(saved)} "
            f"variables during loading (at {path!r} in the file). Expected: "
            f"{[variable.name for variable in variables]}"
        )
    for index, variable in enumerate(variables):
        shape = saved[str(index)].shape
        if not variable.shape.is_compatible_with(shape):
            return (
                f"Cannot assign value to variable '{variable.name}' of layer '{layer.name}': Shape "
                f"mismatch. The variable shape {tuple(variable.shape)}, and the assigned value "
                f"shape {shape} are incompatible."
            )
    return None


def walk(root: Any) -> Iterator[tuple[Any, str]]:
    """All objects with variables below an object, each once, with its path in the file."""
    yield from _below(root, "", set())


def _below(holder: Any, path: str, visited: set[int]) -> Iterator[tuple[Any, str]]:
    visited.add(id(holder))
    yield holder, path
    prefix = f"{path}/" if path else ""
    for name, value in _attributes(holder):
        if _has_state(value):
            if id(value) not in visited:
                yield from _below(value, f"{prefix}{name}", visited)
        elif isinstance(value, list | tuple | set | dict):
            yield from _inside(value, f"{prefix}{name}", visited)


def _inside(values: Any, path: str, visited: set[int]) -> Iterator[tuple[Any, str]]:
    counts: dict[str, int] = {}
    for value in values.values() if isinstance(values, dict) else values:
        if _has_state(value) and id(value) not in visited:
            name = snake_case(type(value).__name__)
            count = counts.get(name, 0)
            counts[name] = count + 1
            name = f"{name}_{count}" if count else name
            yield from _below(value, f"{path}/{name}", visited)


def _attributes(holder: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(holder, Optimizer):
        return
    named = {name: value for name, value in vars(holder).items() if name not in _INSIDE}
    if isinstance(holder, Model):
        layers = holder.layers
        named.update(layers=layers, metrics=holder.metrics, optimizer=holder.optimizer)
    yield from sorted(named.items(), reverse=True)


def _has_state(value: Any) -> bool:
    return isinstance(value, Layer | Optimizer)
