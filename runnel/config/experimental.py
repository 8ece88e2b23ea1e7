"""`tf.config.experimental`: device details, memory statistics, and choices about execution."""

from typing import Any

from ..core.devices import DeviceSpec, LogicalDeviceConfiguration, PhysicalDevice, settings
from . import (
    get_logical_device_configuration as get_virtual_device_configuration,
    get_visible_devices,
    list_logical_devices,
    list_physical_devices,
    set_logical_device_configuration as set_virtual_device_configuration,
    set_visible_devices,
)

VirtualDeviceConfiguration = LogicalDeviceConfiguration

_POLICIES = ("silent", "silent_for_int32", "warn", "explicit")


class _Choices:
    """Choices that a processor has no use for; kept so that a program reads what it set."""

    device_policy = "silent"
    synchronous = True
    tensor_float_32 = True


_choices = _Choices()


def get_device_details(device: PhysicalDevice) -> dict[str, Any]:
    """What is known of a physical device beyond its name: nothing, for a processor."""
    if not isinstance(device, PhysicalDevice):
        raise ValueError(f"device must be a tf.config.PhysicalDevice, but got: {device}")
    if device not in list_physical_devices():
        raise ValueError(
            "The PhysicalDevice must be one obtained from calling "
            f"`tf.config.list_physical_devices`, but got: {device}"
        )
    return {}


def get_memory_growth(device: PhysicalDevice) -> bool:
    """Whether a GPU takes its memory bit by bit; a processor has no such setting."""
    _check_physical(device)
    raise KeyError(f"Memory growth is a setting of GPUs; {device} has none.")


def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Choose whether a GPU takes its memory bit by bit; a processor has no such setting."""
    _check_physical(device)
    if settings.logical_configuration is not None:
        raise ValueError("Cannot set memory growth on device when virtual devices configured")
    raise ValueError(
        f"Cannot set memory growth on non-GPU and non-Pluggable devices: {device} got {enable}"
    )


def _check_physical(device: Any) -> None:
    if device not in list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")


def get_memory_info(device: str) -> dict[str, int]:
    """The memory in use on a device; not counted on a processor, which is an error there."""
    _check_logical(device)
    raise ValueError(f"Allocator stats not available for device '{device}'")


def get_memory_usage(device: str) -> int:
    """The bytes in use on a device; not counted on a processor, which is an error there."""
    return get_memory_info(device)["current"]


def reset_memory_stats(device: str) -> None:
    """Forget the peak of the memory in use; not counted on a processor, so an error there."""
    _check_logical(device)
    raise ValueError(f"Cannot reset memory stats for device '{device}'")


def _check_logical(device: Any) -> None:
    if not isinstance(device, str):
        raise TypeError(f"Expected the name of a device such as 'CPU:0', got {device!r}")
    try:
        spec = DeviceSpec.from_string(device)
    except ValueError:
        spec = DeviceSpec()
    if spec.device_type is None or spec.device_index is None:
        raise ValueError(
            f"Failed parsing device name: '{device}'. Note a valid device string should at least "
            'contain a device type and a device index, like "GPU:0".'
        )
    names = [logical.name for logical in list_logical_devices()]
    if f"/device:{spec.device_type}:{spec.device_index}" not in names:
        raise ValueError(f"No matching devices found for '{device}'")


def get_device_policy() -> str:
    """What happens when an operation's input lives on another device.

    >>> tf.config.experimental.get_device_policy()
    'silent'
    """
    return _choices.device_policy


def set_device_policy(device_policy: str | None) -> None:
    """Choose what happens when an operation's input lives on another device.

    Args:
        device_policy: "silent", "silent_for_int32", "warn", "explicit", or None for "silent". All
            logical devices of a processor share its memory, so nothing ever has to be copied.
    """
    policy = "silent" if device_policy is None else device_policy
    if policy not in _POLICIES:
        raise ValueError(
            f"Invalid argument `device_policy`: {device_policy!r}. It must be one of "
            f"{', '.join(map(repr, _POLICIES))} or None."
        )
    _choices.device_policy = policy


def get_synchronous_execution() -> bool:
    """Whether an operation is done when its call returns.

    >>> tf.config.experimental.get_synchronous_execution()
    True
    """
    return _choices.synchronous


def set_synchronous_execution(enable: bool | None) -> None:
    """Allow (False) operations that are still running when their call returns.

    Operations on a processor finish before they return in either case.
    """
    _choices.synchronous = True if enable is None else bool(enable)


def tensor_float_32_execution_enabled() -> bool:
    """Whether devices that can may use TensorFloat-32 for float32 products.

    >>> tf.config.experimental.tensor_float_32_execution_enabled()
    True
    """
    return _choices.tensor_float_32


def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Allow TensorFloat-32 for float32 products; processors always use full float32."""
    if not isinstance(enabled, (bool, int)):
        raise TypeError(f"enabled must be a bool, got {enabled!r}")
    _choices.tensor_float_32 = bool(enabled)


def enable_op_determinism() -> None:
    """Demand the same results from every run; random operations then need a seed."""
    settings.op_determinism = True


__all__ = [
    "VirtualDeviceConfiguration",
    "enable_op_determinism",
    "enable_tensor_float_32_execution",
    "get_device_details",
    "get_device_policy",
    "get_memory_growth",
    "get_memory_info",
    "get_memory_usage",
    "get_synchronous_execution",
    "get_virtual_device_configuration",
    "get_visible_devices",
    "list_logical_devices",
    "list_physical_devices",
    "reset_memory_stats",
    "set_device_policy",
    "set_memory_growth",
    "set_synchronous_execution",
    "set_virtual_device_configuration",
    "set_visible_devices",
    "tensor_float_32_execution_enabled",
]
