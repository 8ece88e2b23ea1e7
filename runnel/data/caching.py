"""cache: elements stored in memory or in a file during a first complete iteration."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core import dtypes, errors, nest
from ..core.context import state
from ..core.convert import convert_to_tensor
from ..core.op import execute
from ..core.tensor import SymbolicTensor, Tensor
from ..formats.locks import is_still, lock_file, release
from ..formats.paths import local, refusals
from ..formats.safe_files import flush_file, replacing
from ..formats.tfrecord import TFRecordWriter, read_records
from ..ops import tensor_proto
from .dataset import Dataset
from .failures import Failed, going_on
from .iterators import Handle, one_handle, stateful
from .selecting import _Same
from .structure import Leaves, are_plain

MakeMemory = stateful("MakeMemory", "-> handle: resource", lambda: Handle([]), one_handle)


class CacheDataset(_Same):
    """Elements that are computed once."""

    def __init__(self, dataset: Dataset, filename: Any) -> None:
        super().__init__(dataset)
        self._tensors = (convert_to_tensor(os.fspath(filename), dtypes.string),)
        self._specs = nest.flatten(dataset.element_spec)
        self._kept: list[list[Leaves]] = []
        if state.graph is not None:
            # The cache of one graph run is not used by the next.
            self._tensors = (*self._tensors, execute(MakeMemory, (), {}))

    def _bound(self, values: Iterator[Tensor]) -> Dataset:
        bound: Any = super()._bound(values)
        if len(bound._tensors) > 1 and not isinstance(bound._tensors[1], SymbolicTensor):
            bound._kept = bound._tensors[1]._array.value
        return bound

    def _elements(self) -> Iterator[Leaves]:
        name = local(np.asarray(self._tensors[0]._array).item())
        if not name:
            if self._kept:
                return iter(self._kept[0])
            return going_on(self._keeping, self._inputs[0]._elements())
        if not are_plain(self._specs):
            raise errors.UnimplementedError(
                None, None,
                f"A file can keep elements of tensors only, not {self.element_spec}. Leave out the "
                "file name to keep them in memory.",
            )  # fmt: skip
        # The name marks the file as readable by this library only.
        path = f"{name}.runnel-cache"
        if os.path.exists(path):
            return self._read(path)
        return self._writing(name, path, self._inputs[0]._elements())

    def _keeping(self, elements: Iterator[Any]) -> Iterator[Any]:
        kept = []
        for leaves in elements:
            if type(leaves) is not Failed:
                kept.append(leaves)
            yield leaves
        # Concurrent iterations may both get here; their elements are the same.
        self._kept[:] = [kept]

    def _read(self, path: str) -> Iterator[Leaves]:
        leaves: Leaves = []
        for record in read_records(path):
            leaves.append(tensor_proto.load(record)[1])
            if len(leaves) == len(self._specs):
                yield leaves
                leaves = []

    def _writing(self, name: str, path: str, elements: Iterator[Leaves]) -> Iterator[Leaves]:
        lock = f"{name}_0.lockfile"
        with refusals(lock):
            handle = _locked(lock)
        if handle is None:
            raise errors.AlreadyExistsError(
                None, None,
                "There appears to be a concurrent caching iterator running - cache lockfile "
                f"already exists ('{lock}'). If you are sure no other running computations are "
                "using this cache prefix, delete the lockfile and re-initialize the iterator.",
            )  # fmt: skip
        try:
            with contextlib.ExitStack() as stack:
                with refusals(path):
                    fresh = stack.enter_context(replacing(path))
                with TFRecordWriter(fresh) as writer:
                    for leaves in elements:
                        for leaf in leaves:
                            writer.write(tensor_proto.dump(np.asarray(leaf)))
                        yield leaves
                with refusals(path):
                    flush_file(fresh)
        finally:
            with contextlib.suppress(OSError):
                os.remove(lock)
            release(handle)


def _locked(path: str) -> int | None:
    """The handle of the locked lockfile; None if another process is writing that cache.

    The lockfile of a killed process is taken over: its lock was released with the process. The
    original's lockfiles are not locked, so stale ones cannot be detected.
    """
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        if not _OURS.startswith(file.read(len(_OURS))):
            return None
    handle = lock_file(path, wait=False)
    if handle is not None:
        if is_still(path, handle):
            try:
                os.write(handle, _OURS)
            except OSError:
                os.remove(path)
                release(handle)
                raise
            return handle
        release(handle)
    return None


_OURS = b"Locked by a process of Runnel.\n"
