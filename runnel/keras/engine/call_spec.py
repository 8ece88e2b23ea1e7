"""The signature of a layer's `call`."""

from __future__ import annotations

import inspect
from typing import Any


class CallSpec:
    """The signature of a layer's `call`, analyzed."""

    def __init__(self, kind: Any) -> None:
        from .base_layer import Layer

        parameters = list(inspect.signature(kind.call).parameters.values())[1:]
        named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        self.names = [p.name for p in named]
        takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
        self.first = self.names[0] if self.names else "inputs"
        self.takes_training = "training" in self.names or takes_any
        self.takes_mask = "mask" in self.names
        # Whether the layer may create an output mask when the inputs have none.
        self.makes_masks = kind.compute_mask is not Layer.compute_mask
        owner = next(each for each in kind.__mro__ if "call" in each.__dict__)
        self.only_computes = bool(owner.__dict__.get("_only_computes")) and not (
            self.takes_training or self.takes_mask or self.makes_masks
        )
        defaults = {p.name: p.default for p in named if p.default is not p.empty}
        self.training_default = defaults.get("training")
        self._position = self.names.index("training") - 1 if "training" in self.names else -1
        self._mask_position = self.names.index("mask") - 1 if "mask" in self.names else -1

    def training_of(self, rest: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The `training` argument, by position or name."""
        if 0 <= self._position < len(rest):
            return rest[self._position]
        return kwargs.get("training")

    def has_mask_at(self, rest: tuple[Any, ...]) -> bool:
        """Whether `mask` is passed by position."""
        return 0 <= self._mask_position < len(rest)

    def mask_of(self, rest: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The `mask` argument, by position or name."""
        return rest[self._mask_position] if self.has_mask_at(rest) else kwargs.get("mask")


_call_specs: dict[Any, CallSpec] = {}


def call_spec(kind: Any) -> CallSpec:
    """The signature of a layer class's `call`, cached."""
    found = _call_specs.get(kind)
    if found is None:
        found = _call_specs[kind] = CallSpec(kind)
    return found


def graph_call(layer: Any) -> Any:
    """A layer's `call` for graphs: user code with its control flow converted by AutoGraph."""
    call = layer.call
    if getattr(type(layer).call, "__module__", "runnel").partition(".")[0] == "runnel":
        return call
    from ... import autograph

    return autograph.convert(call)
