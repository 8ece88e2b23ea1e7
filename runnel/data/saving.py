"""save, load and snapshot: elements in files that TensorFlow can read, too."""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core import dtypes, errors, nest
from ..core.context import state
from ..core.tensor import Tensor
from ..core.type_spec import TensorSpec, TypeSpec
from ..formats.paths import local, refusals
from ..formats.safe_files import (
    flush_folder,
    flush_tree,
    make_folders,
    replace_file,
    workspace,
    write_file,
)
from ..formats.tfrecord import opened
from .cardinality import UNKNOWN
from .dataset import Dataset, _VariantDataset
from .functions import Traced
from .iterators import DatasetSpec, handle_of
from .mapping import interleaved, processors
from .selecting import _Same
from .snapshot_files import (
    SPEC_FILE,
    Metadata,
    ShardWriter,
    dtypes_of,
    new_run,
    read_shard,
    shard_folder,
    shards,
)
from .structure import Leaves

_SCALAR = TensorSpec([], dtypes.int64)


def _compression(value: Any) -> str:
    # As in TensorFlow, unknown names mean no compression.
    named = "" if value is None else str(value)
    if named == "AUTO":
        return "SNAPPY"
    return named if named in ("GZIP", "SNAPPY") else ""


class _Run:
    """A run being written, visible to readers once it is complete."""

    def __init__(self, folder: str, specs: list[Any], compression: str) -> None:
        self._folder = folder
        self._specs = specs
        self._compression = compression
        self._name = new_run()
        self._writers: dict[int, ShardWriter] = {}
        self._count = 0
        self._stack = contextlib.ExitStack()
        with refusals(folder):
            make_folders(folder)
            self._aside = self._stack.enter_context(workspace(os.path.join(folder, "run")))

    def write(self, shard: int, leaves: Leaves) -> None:
        """Append an element to a shard."""
        writer = self._writers.get(shard)
        if writer is None:
            place = shard_folder(self._aside, self._name, shard)
            writer = self._writers[shard] = ShardWriter(place, self._specs, self._compression)
        writer.write(leaves)
        self._count += 1

    def finish(self, pipeline: str = "", element_spec: bytes | None = None) -> None:
        """Flush everything to the disk, then publish the run.

        The element types are also stored with the run itself: those of the folder are briefly those
        of another run.
        """
        with refusals(self._folder), self._stack:
            for writer in self._writers.values():
                writer.close()
            if self._writers:
                run = os.path.join(self._aside, self._name)
                if element_spec is not None:
                    write_file(os.path.join(run, SPEC_FILE), element_spec)
                flush_tree(run)
                os.rename(run, os.path.join(self._folder, self._name))
                flush_folder(self._folder)
            if element_spec is not None:
                replace_file(os.path.join(self._folder, SPEC_FILE), element_spec)
            metadata = Metadata(self._name, dtypes_of(self._specs), self._count, pipeline)
            metadata.write(self._folder)

    def abandon(self) -> None:
        """Remove what was written."""
        for writer in self._writers.values():
            # The disk may be too full for the rest, too.
            with contextlib.suppress(errors.OpError):
                writer.close()
        self._stack.close()


def _shard_of(function: Any, spec: Any) -> Callable[[Leaves], int]:
    if function is None:
        return lambda leaves: 0
    traced = Traced(function, spec, "shard_func")
    found = traced.output
    fits = (
        type(found) is TensorSpec
        and found.dtype is dtypes.int64
        and found.shape.is_compatible_with([])
    )
    if not fits:
        raise errors.InvalidArgumentError(
            None, None, f"`shard_func` must return a scalar int64, but returns {found}."
        )
    return lambda leaves: int(traced.call(leaves, traced.captured)[0])


def _written_path(path: Any) -> str:
    if isinstance(path, Tensor):
        path = np.asarray(path._array).item()
    return local(path)


def save(dataset: Dataset, path: Any, compression: Any, shard_func: Any, checkpoints: Any) -> None:
    """See `Dataset.save`."""
    from ..saved_model.structured_values import encode

    if state.graph is not None:
        raise RuntimeError(
            "Dataset.save writes files when it is called: call it outside of tf.function."
        )
    folder = _written_path(path)
    if checkpoints is not None:
        dataset = _remembered(dataset, checkpoints)
    specs = nest.flatten(dataset.element_spec)
    shard_of = _shard_of(shard_func, dataset.element_spec)
    run = _Run(folder, specs, _compression(compression))
    try:
        for leaves in dataset._start():
            run.write(shard_of(leaves), leaves)
        message = encode(dataset.element_spec).SerializeToString(deterministic=True)
        run.finish(element_spec=message)
    except BaseException:
        run.abandon()
        raise


def _remembered(dataset: Dataset, arguments: dict[str, Any]) -> Dataset:
    """The elements, checkpointed in a folder up to where an interrupted `save` got.

    The next `save` with the same folder reads them from there instead of recomputing them.
    """
    if "directory" not in arguments or "checkpoint_interval" not in arguments:
        raise ValueError(
            "`checkpoint_args` must have `directory` and `checkpoint_interval`, got "
            f"{sorted(arguments)}."
        )
    return _RememberedDataset(
        dataset, os.fspath(arguments["directory"]), int(arguments["checkpoint_interval"])
    )


class _RememberedDataset(_Same):
    """Elements in chunks, each flushed to the disk before the next is computed."""

    def __init__(self, dataset: Dataset, folder: str, interval: int) -> None:
        super().__init__(dataset)
        self._folder = folder
        self._interval = interval

    def _elements(self) -> Iterator[Leaves]:
        specs = nest.flatten(self.element_spec)
        done = 0
        for piece in itertools.count():
            place = os.path.join(self._folder, f"{piece:08d}.piece")
            known = Metadata.read(place)
            if known is None:
                break
            for shard in shards(place, known.run):
                yield from read_shard(shard, specs, "")
            done += known.elements
        elements = self._inputs[0]._start(after=done)
        for number in itertools.count(piece):
            place = os.path.join(self._folder, f"{number:08d}.piece")
            kept = list(itertools.islice(elements, self._interval))
            if not kept:
                return
            run = _Run(place, specs, "")
            for leaves in kept:
                run.write(0, leaves)
            run.finish()
            yield from kept


def load(
    path: Any, element_spec: Any, compression: Any, reader_func: Any, wait: bool
) -> Dataset:  # fmt: skip
    """See `Dataset.load`."""
    from ..formats.saved_model_messages import StructuredValue
    from ..saved_model.structured_values import decode

    folder = _written_path(path)
    while wait and Metadata.read(folder) is None:
        time.sleep(0.05)
    known = Metadata.read(folder)
    if element_spec is None:
        place = os.path.join(folder, "" if known is None else known.run, SPEC_FILE)
        if not os.path.exists(place):
            # In the original's format.
            place = os.path.join(folder, SPEC_FILE)
        if not os.path.exists(place):
            raise errors.NotFoundError(
                None, None, f"tf.data snapshot element_spec file not found: {place}."
            )
        with opened(place, "rb") as file:
            data = file.read()
        try:
            element_spec = decode(StructuredValue.FromString(data))
            if not all(isinstance(leaf, TypeSpec) for leaf in nest.flatten(element_spec)):
                raise ValueError(f"{element_spec} has other parts than specs")
        except Exception as failure:
            raise errors.DataLossError(
                None, None, f"{place} does not describe the types of elements: {failure}"
            ) from None
    return _LoadDataset(folder, known, element_spec, _compression(compression), reader_func)


class _Shard(Dataset):
    """The elements of one shard."""

    def __init__(self, folder: str, spec: Any, compression: str) -> None:
        self._folder = folder
        self._spec = spec
        self._compression = compression

    def _size(self) -> int:
        return UNKNOWN

    def _elements(self) -> Iterator[Leaves]:
        return read_shard(self._folder, nest.flatten(self._spec), self._compression)


class _Shards(Dataset):
    """The shards of a run, each a dataset."""

    def __init__(self, folder: str, run: str, spec: Any, compression: str) -> None:
        self._parts = [_Shard(each, spec, compression) for each in shards(folder, run)]
        self._spec = DatasetSpec(spec)

    def _size(self) -> int:
        return len(self._parts)

    def _elements(self) -> Iterator[Leaves]:
        spec = self._spec.element_spec
        return iter([[_VariantDataset(handle_of(part), spec)] for part in self._parts])

    def in_turn(self) -> Iterator[Leaves]:
        """Elements of several shards, round-robin."""
        begin: Callable[[Leaves], Iterator[Leaves]] = lambda leaves: leaves[0]._start()  # noqa: E731
        return interleaved(self._elements(), begin, processors(), 1)


class _LoadDataset(Dataset):
    """The elements of a saved dataset."""

    def __init__(
        self, folder: str, known: Metadata | None, spec: Any, compression: str, reader: Any
    ) -> None:
        if known is None:
            raise errors.NotFoundError(
                None, None, f"Could not find metadata of a complete saved dataset in {folder}."
            )
        self._spec = spec
        count = len(dtypes_of(nest.flatten(spec)))
        if len(known.dtypes) != count:
            raise errors.InvalidArgumentError(
                None, None,
                f"{folder} holds elements of {len(known.dtypes)} components, the element_spec has "
                f"{count}: {spec}.",
            )  # fmt: skip
        self._known = known.elements
        self._shards = _Shards(folder, known.run, spec, compression)
        self._inputs = () if reader is None else (_read_by(reader, self._shards),)

    def _size(self) -> int:
        return self._known

    def _elements(self) -> Iterator[Leaves]:
        return self._inputs[0]._elements() if self._inputs else self._shards.in_turn()


def _read_by(reader: Any, parts: _Shards) -> Dataset:
    made = reader(_VariantDataset(handle_of(parts), parts.element_spec))
    if not isinstance(made, Dataset):
        raise TypeError(f"`reader_func` must return a `Dataset` object. Got {type(made)}.")
    return made


def snapshot(
    dataset: Dataset, path: Any, compression: Any, reader_func: Any, shard_func: Any
) -> Dataset:
    """See `Dataset.snapshot`."""
    folder, named = _written_path(path), _compression(compression)
    if shard_func is not None:
        return _SnapshotDataset(dataset, folder, named, reader_func, shard_func)
    count = np.int64(processors())
    numbered = _SnapshotDataset(
        dataset.enumerate(), folder, named, reader_func, lambda number, element: number % count
    )
    return numbered.map(lambda number, element: element)


class _SnapshotDataset(_Same):
    """Elements that the first complete iteration writes and later ones read."""

    def __init__(
        self, dataset: Dataset, folder: str, compression: str, reader: Any, shard_func: Any
    ) -> None:
        super().__init__(dataset)
        self._folder = folder
        self._compression = compression
        self._reader = reader
        self._shard_func = shard_func
        # The unoptimized pipeline: the optimized one has another fingerprint.
        self._described = dataset

    def _bound(self, values: Iterator[Tensor]) -> Dataset:
        bound = super()._bound(values)
        assert isinstance(bound, _SnapshotDataset)
        bound._described = bound._inputs[0]
        return bound

    def _elements(self) -> Iterator[Leaves]:
        from .fingerprints import fingerprint

        pipeline = str(fingerprint((self._described, self._compression)))
        folder = os.path.join(self._folder, pipeline)
        known = Metadata.read(folder)
        if known is None:
            return self._writing(folder, pipeline)
        parts = _Shards(folder, known.run, self.element_spec, self._compression)
        return parts.in_turn() if self._reader is None else _read_by(self._reader, parts)._start()

    def _writing(self, folder: str, pipeline: str) -> Iterator[Leaves]:
        shard_of = _shard_of(self._shard_func, self.element_spec)
        run = _Run(folder, nest.flatten(self.element_spec), self._compression)
        try:
            for leaves in self._inputs[0]._elements():
                run.write(shard_of(leaves), leaves)
                yield leaves
            run.finish(pipeline)
        except BaseException:
            run.abandon()
            raise
