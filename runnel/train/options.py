"""CheckpointOptions: options of reading and writing checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


class CheckpointOptions:
    """Options of a `tf.train.Checkpoint`.

    `enable_async` copies the values and writes them in a background thread; `sync()` of the
    checkpoint waits for it. `experimental_write_callbacks` are called after writing, with the path
    if they take an argument. The device and sharding options have no effect on a single machine.

    >>> tf.train.CheckpointOptions(enable_async=True).enable_async
    True
    """

    __slots__ = (
        "enable_async",
        "experimental_enable_async_checkpoint",
        "experimental_io_device",
        "experimental_sharding_callback",
        "experimental_skip_slot_variables",
        "experimental_write_callbacks",
    )

    def __init__(
        self,
        experimental_io_device: str | None = None,
        experimental_enable_async_checkpoint: bool = False,
        experimental_write_callbacks: Sequence[Callable[..., Any]] | None = None,
        enable_async: bool = False,
        experimental_skip_slot_variables: bool = False,
        experimental_sharding_callback: Any = None,
    ) -> None:
        self.experimental_io_device = experimental_io_device
        self.enable_async = experimental_enable_async_checkpoint or enable_async
        self.experimental_enable_async_checkpoint = self.enable_async
        self.experimental_write_callbacks = experimental_write_callbacks
        self.experimental_skip_slot_variables = experimental_skip_slot_variables
        self.experimental_sharding_callback = experimental_sharding_callback
