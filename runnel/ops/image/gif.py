"""GIF files: their frames, each composited onto the one before.

The first frame has the size of the images. A frame keeps the previous pixels where it is
transparent or does not extend to; the disposal method of a frame is ignored.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

_EXTENSION, _IMAGE, _TRAILER = b"!", b",", b";"
_GRAPHIC_CONTROL = 0xF9
# With a grayscale palette of all indices, the pixels of a decoded frame are its indices.
_GREYS = bytes(level for level in range(256) for _ in range(3))


class Frame(NamedTuple):
    """A frame as stored in the file: its rectangle, its palette, its packed indices."""

    left: int
    top: int
    width: int
    height: int
    interlaced: bool
    palette: np.ndarray | None
    transparent: int | None
    packed: bytes


def decode(contents: bytes, every: bool, require_sane: Callable[[int, int, int], None]):
    """The images [frames, height, width, 3] up to the first broken frame, or just the first."""
    images: list[np.ndarray] = []
    try:
        for frame in _frames(contents):
            require_sane(frame.width, frame.height, len(images) + 1)
            if images:
                image = images[-1].copy()
                require_sane(image.shape[1], image.shape[0], len(images) + 1)
            else:
                image = np.zeros((frame.height, frame.width, 3), np.uint8)
            _draw(frame, _indices(frame), image)
            images.append(image)
            if not every:
                break
    except _BadColour:
        raise
    except Exception:
        if not images:
            raise
    if not images:
        raise ValueError("there are no frames")
    return np.stack(images)


class _BadColour(ValueError):
    """A pixel's index is beyond every palette, which truncation does not explain."""


def _frames(contents: bytes) -> Iterator[Frame]:
    flags = contents[10]
    shared, place = _palette(contents, 13, flags)
    transparent = None
    while contents[place : place + 1] != _TRAILER:
        kind, place = contents[place : place + 1], place + 1
        if kind == _EXTENSION:
            label, size, has_transparent = contents[place : place + 3]
            if label == _GRAPHIC_CONTROL and size >= 4:
                transparent = contents[place + 5] if has_transparent & 1 else None
            place = _behind_blocks(contents, place + 1)
        elif kind == _IMAGE:
            left, top, width, height, flags = struct.unpack_from("<HHHHB", contents, place)
            own, place = _palette(contents, place + 9, flags)
            start, place = place, _behind_blocks(contents, place + 1)
            palette = shared if own is None else own
            interlaced, packed = bool(flags & 0x40), contents[start:place]
            yield Frame(left, top, width, height, interlaced, palette, transparent, packed)
            transparent = None
        elif kind:
            raise ValueError(f"a block of the unknown kind {kind!r}")
        else:
            return


def _palette(contents: bytes, place: int, flags: int) -> tuple[np.ndarray | None, int]:
    if not flags & 0x80:
        return None, place
    count = 2 << (flags & 7)
    return np.frombuffer(contents, np.uint8, count * 3, place).reshape(-1, 3), place + count * 3


def _behind_blocks(contents: bytes, place: int) -> int:
    while contents[place]:
        place += 1 + contents[place]
    return place + 1


def _indices(frame: Frame) -> np.ndarray:
    from PIL.GifImagePlugin import GifImageFile

    size = struct.pack("<HH", frame.width, frame.height)
    head = b"GIF89a" + size + b"\xf7\0\0" + _GREYS + _IMAGE + b"\0\0\0\0" + size
    alone = head + bytes([frame.interlaced << 6]) + frame.packed + _TRAILER
    return np.asarray(GifImageFile(io.BytesIO(alone)))


def _draw(frame: Frame, indices: np.ndarray, image: np.ndarray) -> None:
    if frame.palette is None:
        raise _BadColour("a frame has no colours")
    part = image[frame.top : frame.top + frame.height, frame.left : frame.left + frame.width]
    indices = indices[: part.shape[0], : part.shape[1]]
    seen = slice(None) if frame.transparent is None else indices != frame.transparent
    colours = indices[seen]
    if colours.size and int(colours.max()) >= len(frame.palette):
        raise _BadColour(f"the colour {colours.max()} is not one of {len(frame.palette)}")
    part[seen] = frame.palette[colours]
