"""PythonState: Python state other than variables in checkpoints."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np

from ..core import dtypes


class PythonState(metaclass=abc.ABCMeta):
    """Custom Python state in checkpoints, converted by `serialize` and `deserialize`.

    >>> import tempfile
    >>> class Words(tf.train.experimental.PythonState):
    ...     def __init__(self):
    ...         self.words = []
    ...     def serialize(self):
    ...         return " ".join(self.words)
    ...     def deserialize(self, string_value):
    ...         self.words = string_value.decode().split()
    >>> words = Words()
    >>> words.words = ["one", "two"]
    >>> path = tf.train.Checkpoint(words=words).save(tempfile.mkdtemp() + "/ckpt")
    >>> again = Words()
    >>> _ = tf.train.Checkpoint(words=again).restore(path)
    >>> again.words
    ['one', 'two']
    """

    _checkpoint_attribute = "py_state"

    @abc.abstractmethod
    def serialize(self) -> Any:
        """The serialized state, bytes or a string."""

    @abc.abstractmethod
    def deserialize(self, string_value: bytes) -> None:
        """Restore the state from the bytes of `serialize`."""

    def _checkpoint_tensors(self) -> dict[str, Any]:
        text = self.serialize()
        data = text.encode() if isinstance(text, str) else bytes(text)
        return {"": (dtypes.string, np.array(data, dtype=object))}

    def _restore_tensors(self, tensors: dict[str, Any]) -> None:
        self.deserialize(tensors[""][()])
