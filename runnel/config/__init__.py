"""`tf.config`: the devices of this machine and how the program uses them."""

from typing import Any

from ..core.devices import (
    PHYSICAL_DEVICES,
    LogicalDevice,
    LogicalDeviceConfiguration,
    PhysicalDevice,
    settings,
)
from ..core.graph.function import Execution
from ..core.suggestions import suggesting as _suggesting


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of this machine, all or those of one type.

    >>> tf.config.list_physical_devices("CPU")
    [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    >>> tf.config.list_physical_devices("GPU")
    []
    """
    return [device for device in PHYSICAL_DEVICES if device_type in (None, device.device_type)]


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices operations can be placed on, all or those of one type.

    From the first call on they can no longer be changed.

    >>> tf.config.list_logical_devices("CPU")
    [LogicalDevice(name='/device:CPU:0', device_type='CPU')]
    """
    devices = settings.logical_devices()
    return [device for device in devices if device_type in (None, device.device_type)]


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The physical devices this program may use, all or those of one type.

    >>> tf.config.get_visible_devices("GPU")
    []
    """
    devices = settings.visible_devices
    return [device for device in devices if device_type in (None, device.device_type)]


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Choose the physical devices this program may use.

    Args:
        devices: A `PhysicalDevice` or a list of them, as `list_physical_devices` gives them.
        device_type: Change only the choice among devices of this type.

    >>> tf.config.set_visible_devices([], "GPU")
    """
    if not isinstance(devices, list):
        devices = [devices]
    known = list_physical_devices(device_type)
    for device in devices:
        _check_known(device, known)
    kept = [] if device_type is None else settings.visible_devices
    visible = [device for device in kept if device.device_type != device_type] + devices
    if settings.initialized and visible != settings.visible_devices:
        raise RuntimeError("Visible devices cannot be modified after being initialized")
    settings.visible_devices = visible


def get_logical_device_configuration(device: PhysicalDevice) -> Any:
    """The list given to `set_logical_device_configuration`, None if there was none."""
    _check_known(device, list_physical_devices())
    return settings.logical_configuration


def set_logical_device_configuration(device: PhysicalDevice, logical_devices: Any) -> None:
    """Split a physical device into logical ones, one for each configuration given.

    The logical devices of a processor have no limits of their own, so their configurations
    must be plain `tf.config.LogicalDeviceConfiguration()`.
    """
    _check_known(device, list_physical_devices())
    for configuration in logical_devices:
        for option in LogicalDeviceConfiguration._fields:
            if getattr(configuration, option) is not None:
                raise ValueError(
                    f"Setting {option.replace('memory_limit', 'memory limit')} on CPU virtual "
                    "devices is currently not supported"
                )
    if settings.initialized and logical_devices != settings.logical_configuration:
        raise RuntimeError("Virtual devices cannot be modified after being initialized")
    settings.logical_configuration = logical_devices


def _check_known(device: Any, known: list[PhysicalDevice]) -> None:
    if device not in known:
        raise ValueError(f"Unrecognized device: {device!r}")


def get_soft_device_placement() -> bool:
    """Whether an operation placed on a missing device runs on the processor instead.

    >>> tf.config.get_soft_device_placement()
    True
    """
    return settings.soft_placement


def set_soft_device_placement(enabled: bool) -> None:
    """Choose whether an operation placed on a missing device runs on the processor instead."""
    settings.soft_placement = bool(enabled)


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Choose whether every `tf.function` runs as plain Python, for debugging."""
    Execution.eagerly = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Whether every `tf.function` runs as plain Python.

    >>> tf.config.functions_run_eagerly()
    False
    """
    return Execution.eagerly


experimental_run_functions_eagerly = run_functions_eagerly
experimental_functions_run_eagerly = functions_run_eagerly

from . import experimental, optimizer, threading  # noqa: E402 - they use the functions above

__all__ = [
    "LogicalDevice",
    "LogicalDeviceConfiguration",
    "PhysicalDevice",
    "experimental",
    "experimental_functions_run_eagerly",
    "experimental_run_functions_eagerly",
    "functions_run_eagerly",
    "get_logical_device_configuration",
    "get_soft_device_placement",
    "get_visible_devices",
    "list_logical_devices",
    "list_physical_devices",
    "optimizer",
    "run_functions_eagerly",
    "set_logical_device_configuration",
    "set_soft_device_placement",
    "set_visible_devices",
    "threading",
]

__getattr__ = _suggesting(__name__)
