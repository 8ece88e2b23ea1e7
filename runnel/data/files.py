"""Datasets of file contents: records, lines, fixed-length byte strings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core import dtypes, errors
from ..core.context import init_scope
from ..core.convert import convert_to_tensor
from ..core.type_spec import TensorSpec
from ..formats.tfrecord import bytes_of, read_records
from .cardinality import UNKNOWN
from .dataset import Dataset, invalid, number, scalar
from .functions import Debugging
from .mapping import interleaved, processors
from .parallel import Prefetched
from .structure import Leaves

_CHUNK = 1 << 18


def _text(value: Any) -> str:
    if value is None:
        return ""
    with init_scope():
        tensor = convert_to_tensor(value, dtypes.string)
    known = np.asarray(tensor._array).item()
    return known.decode() if isinstance(known, bytes) else str(known)


def _names(filenames: Any) -> Dataset:
    """A dataset of file names."""
    from ..ops.array.shaping import reshape

    if isinstance(filenames, Dataset):
        spec = filenames.element_spec
        if not (type(spec) is TensorSpec and spec.dtype is dtypes.string):
            raise TypeError(
                "The `filenames` argument must contain `tf.string` elements. Got "
                f"{getattr(spec, 'dtype', spec)!r} elements."
            )
        if not spec.shape.is_compatible_with([]):
            filenames = filenames.unbatch()
        return filenames
    if isinstance(filenames, os.PathLike):
        filenames = os.fspath(filenames)
    elif isinstance(filenames, list | tuple):
        filenames = [os.fspath(f) if isinstance(f, os.PathLike) else f for f in filenames]
    none = isinstance(filenames, list | tuple) and not filenames
    names = convert_to_tensor(filenames, dtypes.string if none else None)
    if names.dtype is not dtypes.string:
        raise TypeError(
            "The `filenames` argument must contain `tf.string` elements. Got "
            f"`{names.dtype!r}` elements."
        )
    return Dataset.from_tensor_slices(reshape(names, [-1]))


class _FileDataset(Dataset):
    """The records of files, sequentially or interleaved."""

    def __init__(self, filenames: Any, compression: Any, parallel: Any) -> None:
        self._inputs = (_names(filenames),)
        self._spec = TensorSpec([], dtypes.string)
        self._compression = _text(compression)
        self._parallel = None if parallel is None else number(scalar(parallel))

    def _size(self) -> int:
        return UNKNOWN

    def _parts(self, name: Any) -> Iterator[bytes]:
        raise NotImplementedError

    def _begin(self, leaves: Leaves) -> Iterator[Leaves]:
        for part in self._parts(np.asarray(leaves[0]).item()):
            held = np.empty((), object)
            held[()] = part
            yield [held]

    def _ahead(self, leaves: Leaves) -> Iterator[Leaves]:
        elements = self._begin(leaves)
        return elements if Debugging.on else Prefetched(elements, 16)

    def _elements(self) -> Iterator[Leaves]:
        names = self._inputs[0]._elements()
        if self._parallel is not None:
            cycle = processors() if self._parallel == -1 else self._parallel
            return interleaved(names, self._ahead, cycle, 1)
        return (leaves for name in names for leaves in self._begin(name))


class TFRecordDatasetV2(_FileDataset):
    """The records of TFRecord files.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "numbers.tfrecord")
    >>> with tf.io.TFRecordWriter(path) as writer:
    ...     writer.write(b"one")
    >>> list(tf.data.TFRecordDataset(path).as_numpy_iterator())
    [b'one']
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: Any = None,
    ) -> None:
        super().__init__(filenames, compression_type, num_parallel_reads)

    def _parts(self, name: Any) -> Iterator[bytes]:
        return read_records(name, self._compression)


class TextLineDatasetV2(_FileDataset):
    """The lines of text files, without line terminators.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "poem.txt")
    >>> with open(path, "w") as file:
    ...     _ = file.write("one\\ntwo\\n")
    >>> list(tf.data.TextLineDataset(path).as_numpy_iterator())
    [b'one', b'two']
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: Any = None,
    ) -> None:
        super().__init__(filenames, compression_type, num_parallel_reads)

    def _parts(self, name: Any) -> Iterator[bytes]:
        rest = b""
        with bytes_of(name, self._compression) as file:
            while chunk := file.read(_CHUNK):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    yield line.replace(b"\r", b"")
        if rest:
            yield rest.replace(b"\r", b"")


class FixedLengthRecordDatasetV2(_FileDataset):
    """Files as records of a fixed number of bytes."""

    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
        name: Any = None,
    ) -> None:
        super().__init__(filenames, compression_type, num_parallel_reads)
        self._tensors = tuple(scalar(n or 0) for n in (record_bytes, header_bytes, footer_bytes))

    def _parts(self, name: Any) -> Iterator[bytes]:
        if int(self._tensors[0]._array) <= 0:
            raise invalid("`record_bytes` must be > 0", "FixedLengthRecordDatasetV2")
        with bytes_of(name, self._compression) as file:
            yield from self._stretches(file, name)

    def _stretches(self, file: Any, name: Any) -> Iterator[bytes]:
        size, header, footer = (int(tensor._array) for tensor in self._tensors)
        if not self._compression:
            total = os.fstat(file.fileno()).st_size
            self._check(name, total - header - footer)
        held, first = b"", True
        while chunk := file.read(_CHUNK):
            held += chunk
            if first and len(held) < header:
                continue
            if first:
                held, first = held[header:], False
            start = 0
            while len(held) - start - footer >= size:
                yield held[start : start + size]
                start += size
            held = held[start:]
        if len(held) != footer and not first:
            self._check(name, len(held) - footer)

    def _check(self, name: Any, body: int) -> None:
        size, header, footer = (int(tensor._array) for tensor in self._tensors)
        if body < 0 or body % size:
            # The decompressed size is known only after reading.
            kind = errors.DataLossError if self._compression else errors.InvalidArgumentError
            raise kind(
                None, None,
                f"Excluding the header ({header} bytes) and footer ({footer} bytes), input file "
                f'"{os.fsdecode(name)}" has body length {body} bytes, which is not an exact '
                f"multiple of the record length ({size} bytes).",
            )  # fmt: skip
