"""Reading checkpoints by tensor name."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core.dtypes import DType
from ..core.errors import NotFoundError
from ..core.logger import get_logger
from ..formats.paths import local
from ..formats.tensor_bundle import BundleReader
from .state_file import latest_checkpoint


class CheckpointReader:
    """The tensors of a checkpoint by their names."""

    def __init__(self, filename: str) -> None:
        self._bundle = BundleReader(filename)

    def has_tensor(self, tensor_str: str) -> bool:
        """Whether there is a tensor with this name."""
        return tensor_str in self._bundle

    def get_tensor(self, tensor_str: str) -> Any:
        """The value of a tensor as a NumPy array, scalar, or bytes."""
        if tensor_str not in self._bundle:
            raise NotFoundError(None, None, f"Key {tensor_str} not found in checkpoint")
        value = self._bundle.read(tensor_str)
        return value[()] if value.shape == () else value

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shapes of all tensors by name."""
        return {name: self._bundle.shape(name) for name in self._bundle.names()}

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """The dtypes of all tensors by name."""
        return {name: self._bundle.dtype(name) for name in self._bundle.names()}

    def debug_string(self) -> bytes:
        """The names, dtypes and shapes of all tensors, one per line."""
        lines = [
            f"{name} (DT_{_TYPE_NAMES.get(dtype.name, dtype.name.upper())}) "
            f"[{','.join(map(str, self._bundle.shape(name)))}]\n"
            for name, dtype in self.get_variable_to_dtype_map().items()
        ]
        return "".join(lines).encode()


_TYPE_NAMES = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF"}


def load_checkpoint(ckpt_dir_or_file: Any) -> CheckpointReader:
    """A reader of a checkpoint, or of the latest one in a folder.

    >>> import tempfile
    >>> path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).save(tempfile.mkdtemp() + "/ckpt")
    >>> reader = tf.train.load_checkpoint(path)
    >>> reader.get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE").tolist()
    [1.0, 2.0]
    """
    path = local(ckpt_dir_or_file)
    if os.path.isdir(path):
        latest = latest_checkpoint(path)
        if latest is None:
            raise ValueError(
                f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}"
            )
        path = latest
    return CheckpointReader(path)


def load_variable(ckpt_dir_or_file: Any, name: str) -> np.ndarray:
    """The value of one tensor of a checkpoint."""
    value: np.ndarray = load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))
    return value


def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """The names and shapes of all tensors of a checkpoint.

    >>> import tempfile
    >>> path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(tempfile.mkdtemp() + "/v")
    >>> tf.train.list_variables(path)
    [('_CHECKPOINTABLE_OBJECT_GRAPH', []), ('v/.ATTRIBUTES/VARIABLE_VALUE', [2])]
    """
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def checkpoints_iterator(
    checkpoint_dir: Any,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], Any] | None = None,
) -> Iterator[str]:
    """Yield each new latest checkpoint of a folder.

    Waits up to `timeout` seconds for the next; then `timeout_fn` decides whether to stop.
    """
    last = None
    while True:
        path = _new_checkpoint(checkpoint_dir, last, timeout)
        if path is None:
            if timeout_fn is None:
                get_logger().info("Timed-out waiting for a checkpoint.")
                return
            if timeout_fn():
                return
            continue
        began = time.monotonic()
        last = path
        yield path
        time.sleep(max(0.0, began + min_interval_secs - time.monotonic()))


def _new_checkpoint(folder: Any, last: str | None, timeout: float | None) -> str | None:
    """The latest checkpoint once it differs from `last`; None on timeout."""
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        path = latest_checkpoint(folder)
        if path is not None and path != last:
            return path
        if end is not None and time.monotonic() >= end:
            return None
        time.sleep(1 if end is None else min(1, max(0.0, end - time.monotonic())))
