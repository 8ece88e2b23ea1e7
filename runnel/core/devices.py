"""Devices: device names, the CPU's physical and logical devices, `tf.device` and placement.

All kernels run on the CPU. It is one physical device, which a program may split into several
logical devices; they have their own names but share memory and threads.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from .context import state
from .errors import InvalidArgumentError, NotFoundError

# The device types that may appear without "device:", as in "/GPU:0".
_SHORT_TYPES = frozenset({"CPU", "GPU", "TPU", "EPU", "CUSTOM"})
_TASK = "/job:localhost/replica:0/task:0"


class DeviceSpec:
    """The fields of a device name; None is unspecified.

    >>> tf.DeviceSpec(job="worker", task=1, device_type="CPU", device_index=0).to_string()
    '/job:worker/task:1/device:CPU:0'
    """

    __slots__ = ("_device_index", "_device_type", "_job", "_replica", "_task")

    def __init__(
        self,
        job: str | None = None,
        replica: int | None = None,
        task: int | None = None,
        device_type: str | None = None,
        device_index: int | None = None,
    ) -> None:
        self._job = None if job is None else str(job)
        self._replica = None if replica is None else int(replica)
        self._task = None if task is None else int(task)
        self._device_type = None if device_type is None else str(device_type)
        if self._device_type in ("cpu", "gpu"):
            self._device_type = self._device_type.upper()
        self._device_index = None if device_index is None else int(device_index)

    @classmethod
    def from_string(cls, spec: str | None) -> DeviceSpec:
        """Parse a name such as `"/job:worker/replica:0/task:1/device:CPU:0"` or `"GPU:0"`.

        >>> tf.DeviceSpec.from_string("/cpu:1")
        <DeviceSpec(job=None, replica=None, task=None, device_type=CPU, device_index=1)>
        """
        parts: dict[str, Any] = {}
        for word in (spec or "").split("/"):
            fields = word.split(":")
            key, count = fields[0], len(fields)
            if key == "job" and count == 2:
                parts["job"] = fields[1]
            elif key in ("replica", "task") and count == 2:
                parts[key] = int(fields[1])
            elif key == "device" and count == 3:
                _add_device(parts, fields[1], fields[2], spec)
            elif key.upper() in _SHORT_TYPES and count <= 2:
                _add_device(parts, key.upper(), fields[1] if count == 2 else "*", spec)
            elif word:
                raise ValueError(
                    f"Unknown attribute '{key}' is encountered while parsing the device spec: "
                    f"'{spec}'."
                )
        return cls(**parts)

    def parse_from_string(self, spec: str | None) -> DeviceSpec:
        """Parse a name into a new spec; no field of this one is used."""
        return type(self).from_string(spec)

    def to_string(self) -> str:
        """The device name, without the unspecified fields."""
        name = "" if self._job is None else f"/job:{self._job}"
        if self._replica is not None:
            name += f"/replica:{self._replica}"
        if self._task is not None:
            name += f"/task:{self._task}"
        if self._device_type is not None:
            index = "*" if self._device_index is None else self._device_index
            name += f"/device:{self._device_type}:{index}"
        return name

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """The spec with the fields of `dev` where specified, and of this one otherwise."""
        theirs, ours = dev._parts(), self._parts()
        return type(self)(*(ours[i] if theirs[i] is None else theirs[i] for i in range(5)))

    def replace(self, **kwargs: Any) -> DeviceSpec:
        """A copy of this spec with some fields replaced.

        >>> tf.DeviceSpec(device_type="CPU", device_index=0).replace(device_index=1).to_string()
        '/device:CPU:1'
        """
        names = ("job", "replica", "task", "device_type", "device_index")
        return type(self)(**{**dict(zip(names, self._parts(), strict=True)), **kwargs})

    @property
    def job(self) -> str | None:
        return self._job

    @property
    def replica(self) -> int | None:
        return self._replica

    @property
    def task(self) -> int | None:
        return self._task

    @property
    def device_type(self) -> str | None:
        return self._device_type

    @property
    def device_index(self) -> int | None:
        return self._device_index

    def _parts(self) -> tuple[Any, ...]:
        return self._job, self._replica, self._task, self._device_type, self._device_index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpec) and self.to_string() == other.to_string()

    def __hash__(self) -> int:
        return hash(self.to_string())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._parts()

    def __repr__(self) -> str:
        return (
            f"<DeviceSpec(job={self._job}, replica={self._replica}, task={self._task}, "
            f"device_type={self._device_type}, device_index={self._device_index})>"
        )


def _add_device(parts: dict[str, Any], device_type: str, index: str, spec: str | None) -> None:
    if "device_type" in parts:
        raise ValueError(
            f"Multiple device types are not allowed while parsing the device spec: {spec}."
        )
    parts["device_type"] = device_type
    parts["device_index"] = None if index == "*" else int(index)


class PhysicalDevice(NamedTuple):
    """A device of this machine, as `tf.config.list_physical_devices` names it."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device that operations can be placed on."""

    name: str
    device_type: str


class LogicalDeviceConfiguration(NamedTuple):
    """The configuration of one logical device; CPU devices take no options."""

    memory_limit: int | None = None
    experimental_priority: int | None = None
    experimental_device_ordinal: int | None = None


CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")
PHYSICAL_DEVICES = (CPU,)


class Settings:
    """The program's settings for devices and execution; one instance per process, `settings`."""

    def __init__(self) -> None:
        self.soft_placement = True
        self.log_placement = False
        self.op_determinism = False
        self.visible_devices: list[PhysicalDevice] = list(PHYSICAL_DEVICES)
        self.logical_configuration: Sequence[LogicalDeviceConfiguration] | None = None
        # Once the logical devices were queried they cannot be reconfigured.
        self.initialized = False

    def logical_devices(self) -> list[LogicalDevice]:
        """The logical devices; after this call they are fixed."""
        if CPU not in self.visible_devices:
            raise NotFoundError(
                None,
                None,
                "No CPU devices are available in this process: make the CPU visible again with "
                "tf.config.set_visible_devices(tf.config.list_physical_devices('CPU'), 'CPU').",
            )
        self.initialized = True
        count = len(self.logical_configuration or ()) or 1
        return [LogicalDevice(f"/device:CPU:{index}", "CPU") for index in range(count)]


settings = Settings()


def device(device_name: Any) -> _DeviceScope:
    """Place the operations and variables of a block on a device.

    A partial name takes its unspecified fields from the enclosing block. `None` ignores the
    enclosing blocks. With soft placement (the default) an unavailable device is replaced by the
    CPU; without it, it is an error.

    >>> with tf.device("/CPU:0"):
    ...     x = tf.constant(1)
    >>> x.device
    '/job:localhost/replica:0/task:0/device:CPU:0'
    """
    if callable(device_name):
        raise RuntimeError("tf.device does not support functions.")
    return _DeviceScope(device_name)


class _DeviceScope:
    """The context manager of `tf.device`; reusable and reentrant."""

    def __init__(self, device_name: Any) -> None:
        self._name = device_name
        self._outer: list[str | None] = []

    def __enter__(self) -> None:
        outer = state.device
        chosen = self._choose(outer)
        self._outer.append(outer)
        state.device = chosen

    def __exit__(self, *exception: object) -> None:
        state.device = self._outer.pop()

    def _choose(self, outer: str | None) -> str | None:
        name = self._name
        if name is None:
            return None
        if isinstance(name, LogicalDevice):
            name = name.name
        elif isinstance(name, DeviceSpec):
            name = name.to_string()
        elif not isinstance(name, str):
            raise ValueError(f"Expecting a string device name. Got {type(name)}({name})")
        merged = _merge(outer or "", name)
        if state.graph is not None:
            return merged.to_string()
        return resolve(merged)


@lru_cache(maxsize=1024)
def _merge(outer: str, inner: str) -> DeviceSpec:
    return DeviceSpec.from_string(outer).make_merged_spec(DeviceSpec.from_string(inner))


def resolve(spec: DeviceSpec) -> str:
    """The full name of the device a spec resolves to; `InvalidArgumentError` if there is none."""
    available = [f"{_TASK}{logical.name}" for logical in settings.logical_devices()]
    full = DeviceSpec("localhost", 0, 0, "CPU", 0).make_merged_spec(spec)
    name = full.to_string()
    if name in available:
        return name
    if settings.soft_placement and name.startswith(f"{_TASK}/"):
        return available[0]
    raise InvalidArgumentError(
        None,
        None,
        f"Could not satisfy device specification '{name}'. "
        f"enable_soft_placement={int(settings.soft_placement)}. Supported device types [CPU]. "
        f"All available devices [{', '.join(available)}].",
    )


class _PlacementReport:
    """A listener on the tape stack that logs every operation and its device."""

    def record(self, op: Any, *operation: Any) -> None:
        """Log an executed operation."""
        device = state.device or "/job:localhost/replica:0/task:0/device:CPU:0"
        print(f"Executing op {op.name} in device {device}", file=sys.stderr)

    def variable_read(self, variable: Any) -> None:
        """A variable read is not logged as an operation."""


def set_log_device_placement(enabled: bool) -> None:
    """Choose whether the device of each operation is logged to standard error."""
    settings.log_placement = bool(enabled)
    others = tuple([each for each in state.tapes if not isinstance(each, _PlacementReport)])
    state.tapes = (*others, _PlacementReport()) if enabled else others


def get_log_device_placement() -> bool:
    """Whether the device of each operation is logged."""
    return settings.log_placement
