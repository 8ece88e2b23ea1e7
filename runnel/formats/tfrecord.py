"""TFRecord files: records of bytes, each with checksums of its length and of its bytes.

    uint64 length; uint32 masked CRC-32C of the length; the bytes; uint32 masked CRC-32C of them

All numbers are little-endian. The whole file may be compressed.
"""

from __future__ import annotations

import functools
import os
import struct
import zlib
from collections.abc import Iterator
from typing import Any, ClassVar

from ..core import errors
from .masked_crc import crc32c, mask, masked_crc32c
from .paths import local, refusal, refusals

_HEADER = struct.Struct("<QI")
_LENGTH = struct.Struct("<Q")
_FOOTER = struct.Struct("<I")
# The size of a writer's buffer in bytes.
_WRITTEN_AT_ONCE = 1 << 18
_CHUNK = 1 << 20
COMPRESSIONS = ("", "ZLIB", "GZIP")
# Adding 16 to the window bits selects a gzip header instead of zlib's.
_WINDOW_BITS = {"ZLIB": 15, "GZIP": 31}


def opened(path: Any, mode: str, buffering: int = -1) -> Any:
    """An open file; an OSError becomes an error of tf.errors."""
    try:
        return open(local(path), mode, buffering)
    except OSError as failure:
        raise refusal(failure, path) from None


@functools.lru_cache(maxsize=4096)
def _header(length: int) -> bytes:
    """The header of a record of this length."""
    number = _LENGTH.pack(length)
    return number + _FOOTER.pack(masked_crc32c(number))


def framed(record: bytes) -> bytes:
    """A record with its header and checksum."""
    return b"".join((_header(len(record)), record, _FOOTER.pack(masked_crc32c(record))))


class Decompressed:
    """The bytes of a compressed file, decompressed on demand."""

    def __init__(self, file: Any, compression: str, path: Any) -> None:
        self._file = file
        self._decompressor = zlib.decompressobj(_WINDOW_BITS[compression])
        self._compression = compression
        self._path = path
        self._ready = b""

    def read(self, size: int) -> bytes:
        """At most this many bytes; none at the end."""
        while not self._ready:
            engine = self._decompressor
            data = engine.unconsumed_tail or self._file.read(_CHUNK)
            if engine.eof:
                data = engine.unused_data + (data or b"")
                if not data:
                    return b""
                engine = zlib.decompressobj(_WINDOW_BITS[self._compression])
                self._decompressor = engine
            if not data:
                return b""
            try:
                self._ready = engine.decompress(data, _CHUNK)
            except zlib.error as failure:
                raise errors.DataLossError(
                    None, None,
                    f"inflate() failed in {os.fsdecode(self._path)}: {failure}. Is it a "
                    f"{self._compression} file?",
                ) from None  # fmt: skip
        taken, self._ready = self._ready[:size], self._ready[size:]
        return taken

    def __enter__(self) -> Decompressed:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()


def bytes_of(path: Any, compression: str = "") -> Any:
    """A file to read from, decompressed."""
    file = opened(path, "rb")
    return Decompressed(file, compression, path) if compression in _WINDOW_BITS else file


def _exactly(file: Any, size: int) -> bytes:
    """Exactly this many bytes, or fewer at the end; memory grows with the data read, not with the
    request.
    """
    data: bytes = file.read(min(size, _CHUNK))
    if len(data) == size or not data:
        return data
    parts, missing = [data], size - len(data)
    while missing:
        data = file.read(min(missing, _CHUNK))
        if not data:
            break
        parts.append(data)
        missing -= len(data)
    return b"".join(parts)


def read_records(path: Any, compression: str = "") -> Iterator[bytes]:
    """The records of a file; DataLossError at a corrupt one, after all before it."""
    with bytes_of(path, compression) as file:
        yield from records(file, path)


def records(file: Any, path: Any) -> Iterator[bytes]:
    offset = 0
    while True:
        header = _exactly(file, 12)
        if len(header) < 12:
            return
        length, checksum = _HEADER.unpack(header)
        if mask(crc32c(header[:8])) != checksum:
            raise errors.DataLossError(
                None, None,
                f"corrupted record at {offset} (Is this even a TFRecord file?) in "
                f"{os.fsdecode(path)}",
            )  # fmt: skip
        record = _exactly(file, length)
        footer = _exactly(file, 4) if len(record) == length else b""
        if len(footer) < 4:
            raise errors.DataLossError(
                None, None,
                f"truncated record at {offset} in {os.fsdecode(path)}: it should have {length} "
                "bytes and a checksum, and the file ends before",
            )  # fmt: skip
        if mask(crc32c(record)) != _FOOTER.unpack(footer)[0]:
            raise errors.DataLossError(
                None, None, f"corrupted record at {offset + 12} in {os.fsdecode(path)}"
            )
        offset += 16 + length
        yield record


class TFRecordOptions:
    """The compression options of a TFRecord file.

    >>> tf.io.TFRecordOptions("GZIP").compression_type
    'GZIP'
    """

    compression_type_map: ClassVar[dict[int, str]] = {1: "ZLIB", 2: "GZIP", 0: ""}

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """The name of a compression type, given by name, by number, or in options."""
        return _compression(options)

    def __init__(
        self,
        compression_type: Any = None,
        flush_mode: Any = None,
        input_buffer_size: Any = None,
        output_buffer_size: Any = None,
        window_bits: Any = None,
        compression_level: Any = None,
        compression_method: Any = None,
        mem_level: Any = None,
        compression_strategy: Any = None,
    ) -> None:
        _compression(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy


def _compression(options: Any) -> str:
    if isinstance(options, TFRecordOptions):
        return _compression(options.compression_type)
    if options is None:
        return ""
    options = TFRecordOptions.compression_type_map.get(options, options)
    if options not in COMPRESSIONS:
        raise ValueError(
            f'Not a valid compression_type: "{options}". It must be one of "", "ZLIB", "GZIP".'
        )
    return str(options)


def _bytes(record: Any) -> bytes:
    if isinstance(record, str):
        return record.encode()
    if isinstance(record, (bytes, bytearray)):
        return bytes(record)
    raise TypeError(
        f"A record is bytes or text, not {type(record).__name__}: {record!r:.60}. "
        "A message is written as message.SerializeToString(), a tensor as tensor.numpy()."
    )


class TFRecordWriter:
    """Writes records to a file, optionally compressed.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "numbers.tfrecord")
    >>> with tf.io.TFRecordWriter(path) as writer:
    ...     writer.write(b"one")
    ...     writer.write(b"two")
    >>> list(tf.data.TFRecordDataset(path).as_numpy_iterator())
    [b'one', b'two']
    """

    def __init__(self, path: Any, options: Any = None) -> None:
        compression = _compression(options)
        self._compressor: Any = None
        self._path = path
        self._file = opened(path, "wb", _WRITTEN_AT_ONCE)
        if compression:
            given = options if isinstance(options, TFRecordOptions) else TFRecordOptions()
            self._compressor = zlib.compressobj(
                -1 if given.compression_level is None else given.compression_level,
                zlib.DEFLATED,
                _WINDOW_BITS[compression] if given.window_bits is None else given.window_bits,
                8 if given.mem_level is None else given.mem_level,
                0 if given.compression_strategy is None else given.compression_strategy,
            )

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def write(self, record: Any) -> None:
        """Append a record."""
        data = framed(record if type(record) is bytes else _bytes(record))
        if self._file.closed:
            raise errors.FailedPreconditionError(None, None, "Writer is closed.")
        try:
            self._file.write(data if self._compressor is None else self._compressor.compress(data))
        except OSError as failure:
            raise refusal(failure, self._path) from None

    def flush(self) -> None:
        """Write the buffer to the operating system."""
        if self._file.closed:
            raise errors.FailedPreconditionError(None, None, "Writer is closed.")
        with refusals(self._path):
            self._file.flush()

    def close(self) -> None:
        """Flush and close the file."""
        if not self._file.closed:
            with refusals(self._path):
                try:
                    if self._compressor is not None:
                        self._file.write(self._compressor.flush())
                finally:
                    self._file.close()
