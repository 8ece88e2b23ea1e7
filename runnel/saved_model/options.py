"""How to save and to load: SaveOptions, LoadOptions, VariablePolicy."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any


class VariablePolicy(enum.Enum):
    """What is saved of variables besides their values: nothing, devices, or all replicas."""

    NONE = None
    SAVE_VARIABLE_DEVICES = "save_variable_devices"
    EXPAND_DISTRIBUTED_VARIABLES = "expand_distributed_variables"

    @staticmethod
    def from_obj(obj: Any) -> VariablePolicy:
        """The policy given by an object, a name or None."""
        if obj is None:
            return VariablePolicy.NONE
        if isinstance(obj, VariablePolicy):
            return obj
        for policy in VariablePolicy:
            if policy.value is not None and str(obj).lower() == policy.value:
                return policy
        raise ValueError(f"Received invalid VariablePolicy value: {obj}.")


class SaveOptions:
    """Options of `tf.saved_model.save`.

    Only `function_aliases` and `extra_tags` have an effect; the others are stored: there are no
    devices and no debug information to save, and one shard.
    """

    __slots__ = (
        "experimental_custom_gradients",
        "experimental_debug_stripper",
        "experimental_image_format",
        "experimental_io_device",
        "experimental_sharding_callback",
        "experimental_skip_saver",
        "experimental_variable_policy",
        "extra_tags",
        "function_aliases",
        "namespace_whitelist",
        "save_debug_info",
    )

    def __init__(
        self,
        namespace_whitelist: Sequence[str] | None = None,
        save_debug_info: bool = False,
        function_aliases: dict[str, Any] | None = None,
        experimental_debug_stripper: bool = False,
        experimental_io_device: str | None = None,
        experimental_variable_policy: Any = None,
        experimental_custom_gradients: bool = True,
        experimental_image_format: bool = False,
        experimental_skip_saver: bool = False,
        experimental_sharding_callback: Any = None,
        extra_tags: Sequence[str] | None = None,
    ) -> None:
        self.namespace_whitelist = _checked_names(namespace_whitelist)
        self.save_debug_info = save_debug_info
        self.function_aliases = function_aliases or {}
        self.experimental_debug_stripper = experimental_debug_stripper
        self.experimental_io_device = experimental_io_device
        self.experimental_variable_policy = VariablePolicy.from_obj(experimental_variable_policy)
        self.experimental_custom_gradients = experimental_custom_gradients
        self.experimental_image_format = experimental_image_format
        self.experimental_skip_saver = experimental_skip_saver
        self.experimental_sharding_callback = experimental_sharding_callback
        self.extra_tags = extra_tags


def _checked_names(names: Sequence[str] | None) -> list[str]:
    if names is None:
        return []
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise TypeError(f"`namespace_whitelist` must be a list of strings, got {names!r}.")
    return names


class LoadOptions:
    """Options of `tf.saved_model.load`.

    `allow_partial_checkpoint` leaves variables without a saved value at zero,
    `experimental_skip_checkpoint` all of them.
    """

    __slots__ = (
        "allow_partial_checkpoint",
        "experimental_io_device",
        "experimental_load_function_aliases",
        "experimental_skip_checkpoint",
        "experimental_variable_policy",
    )

    def __init__(
        self,
        allow_partial_checkpoint: bool = False,
        experimental_io_device: str | None = None,
        experimental_skip_checkpoint: bool = False,
        experimental_variable_policy: Any = None,
        experimental_load_function_aliases: bool = False,
    ) -> None:
        self.allow_partial_checkpoint = allow_partial_checkpoint
        self.experimental_io_device = experimental_io_device
        self.experimental_skip_checkpoint = experimental_skip_checkpoint
        self.experimental_variable_policy = VariablePolicy.from_obj(experimental_variable_policy)
        self.experimental_load_function_aliases = experimental_load_function_aliases
