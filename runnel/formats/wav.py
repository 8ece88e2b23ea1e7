"""WAV files: chunks of a RIFF file, with 16-bit PCM samples."""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

_LARGEST_CHUNK = 2**31 - 1
_FORMAT = struct.Struct("<HHIIHH")
_PCM = 1


class _Reader:
    """The bytes of a file and the read position."""

    def __init__(self, contents: bytes) -> None:
        self.contents = contents
        self.place = 0

    def take(self, count: int) -> bytes:
        end = self.place + count
        if end > len(self.contents):
            raise ValueError(
                f"Data too short when trying to read string: {count} bytes at byte {self.place} "
                f"of {len(self.contents)}"
            )
        found = self.contents[self.place : end]
        self.place = end
        return found

    def expect(self, text: bytes) -> None:
        found = self.take(len(text))
        if found != text:
            raise ValueError(
                f"Header mismatch: Expected {text.decode()} but found {found!r} at byte "
                f"{self.place - len(text)}; is this a WAV file?"
            )

    def number(self) -> int:
        return int.from_bytes(self.take(4), "little")

    def chunk(self) -> tuple[bytes, int]:
        """The name and size of the chunk at the read position."""
        name = self.take(4)
        size = self.number()
        if size > _LARGEST_CHUNK:
            raise ValueError(
                f"WAV data chunk {name!r} is too large: {size} bytes, but the limit is "
                f"{_LARGEST_CHUNK}"
            )
        return name, size


def decode(contents: bytes) -> tuple[NDArray[np.float32], int]:
    """The samples [samples, channels] in [-1, 1) and the sample rate."""
    reader = _Reader(contents)
    reader.expect(b"RIFF")
    reader.number()
    reader.expect(b"WAVE")
    channels, rate = _format(reader)
    samples = None
    while reader.place < len(contents):
        name, size = reader.chunk()
        if name != b"data":
            reader.place += size
            continue
        if samples is not None:
            raise ValueError("More than one data chunk found in WAV")
        width = 2 * channels
        found = reader.take(size // width * width)
        samples = np.frombuffer(found, "<i2").reshape(-1, channels)
    if samples is None:
        raise ValueError("No data chunk found in WAV")
    return samples.astype(np.float32) * np.float32(1 / 32768), rate


def _format(reader: _Reader) -> tuple[int, int]:
    """Channels and sample rate; chunks before the format chunk are skipped."""
    name, size = reader.chunk()
    while name != b"fmt ":
        if name == b"data":
            raise ValueError("Unexpected field data: the format of a WAV file comes first")
        reader.place += size
        name, size = reader.chunk()
    if size not in (16, 18):
        raise ValueError(f"Bad format chunk size for WAV: Expected 16 or 18, but got {size}")
    kind, channels, rate, per_second, width, bits = _FORMAT.unpack(reader.take(16))
    reader.take(size - 16)
    if kind != _PCM:
        raise ValueError(f"Bad audio format for WAV: Expected 1 (PCM), but got {kind}")
    if channels < 1:
        raise ValueError("Bad number of channels for WAV: Expected at least 1, but got 0")
    if bits != 16:
        raise ValueError(f"Can only read 16-bit WAV files, but received {bits}")
    if width != 2 * channels:
        raise ValueError(
            f"Bad bytes per sample in WAV header: Expected {2 * channels} but got {width}"
        )
    if per_second != rate * width:
        raise ValueError(
            f"Bad bytes per second in WAV header: Expected {rate * width} but got {per_second} "
            f"(sample_rate={rate}, bytes_per_sample={width})"
        )
    return channels, rate


def encode(samples: NDArray[np.float32], rate: int) -> bytes:
    """A file of samples [samples, channels]; values outside [-1, 1] are clipped."""
    count, channels = samples.shape
    scaled = samples.astype(np.float32) * np.float32(32768)
    # Halves are rounded away from zero, unlike by np.rint.
    rounded = np.copysign(np.floor(np.abs(scaled) + np.float32(0.5)), scaled)
    rounded = np.where(np.isnan(rounded), 0, np.clip(rounded, -32768, 32767))
    data = rounded.astype("<i2").tobytes()
    width = 2 * channels
    size = count * width
    head = _FORMAT.pack(_PCM, channels, rate, rate * width & 0xFFFFFFFF, width & 0xFFFF, 16)
    return b"".join(
        [
            *(b"RIFF", struct.pack("<I", 36 + size), b"WAVE"),
            *(b"fmt ", struct.pack("<I", len(head)), head),
            *(b"data", struct.pack("<I", size), data),
        ]
    )
