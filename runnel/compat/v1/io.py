"""tf.compat.v1.io: `tf.io`, and the iterator over records that TensorFlow 1 has."""

import contextlib as _contextlib
import sys as _sys

import runnel as _tf

from ...core.errors import DataLossError as _DataLossError
from ...formats.tfrecord import (
    TFRecordOptions as _TFRecordOptions,
    opened as _opened,
    read_records as _read_records,
    records as _records_of,
)


class _Records:
    """The records of a file; records appended later are read by further calls."""

    def __init__(self, path, compression):
        # A missing file raises now, not at the first record.
        _opened(path, "rb").close()
        self._path = path
        self._grows = not compression
        self._offset = 0
        self._rest = self._from_here() if self._grows else _read_records(path, compression)

    def _from_here(self):
        with _opened(self._path, "rb") as file:
            file.seek(self._offset)
            yield from _records_of(file, self._path)

    def __iter__(self):
        return self

    def __next__(self):
        try:
            record = next(self._rest)
        except (StopIteration, _DataLossError):
            if self._grows:
                self._rest = self._from_here()
            raise
        self._offset += 16 + len(record)
        return record


def tf_record_iterator(path, options=None):
    """Iterator over the records of a TFRecord file.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/file"
    >>> with tf.io.TFRecordWriter(path) as writer:
    ...     writer.write(b"one")
    >>> list(tf.compat.v1.io.tf_record_iterator(path))
    [b'one']
    """
    loader = _sys.modules.get("tensorboard.backend.event_processing.event_file_loader")
    if loader is not None and hasattr(loader, "_NULLCONTEXT"):
        # TensorBoard enters one context for every file, which can be entered only once.
        loader._NULLCONTEXT = _contextlib.nullcontext()
    return _Records(path, _TFRecordOptions.get_compression_type_string(options))


def __getattr__(name: str) -> object:
    return getattr(_tf.io, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_tf.io)})
