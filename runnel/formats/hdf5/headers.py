"""HDF5 object headers: the messages that define a group or dataset."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from .source import UNDEFINED, DamagedFile, Source, UnknownStructure, find_start

# Message types.
DATASPACE, DATATYPE, FILL, EXTERNAL, LAYOUT = 0x01, 0x03, 0x05, 0x07, 0x08
FILTERS, ATTRIBUTE, CONTINUATION, SYMBOLS, ATTRIBUTE_INFO = 0x0B, 0x0C, 0x10, 0x11, 0x15
LINK_INFO, LINK, OLD_FILL = 0x02, 0x06, 0x04
_SHARED = 2
_MOST_DIMENSIONS = 32


@dataclass(frozen=True)
class Message:
    """One message of an object header."""

    kind: int
    data: bytes
    shared: bool


@dataclass
class Header:
    """The messages of one object."""

    messages: list[Message] = field(default_factory=list)

    def find(self, kind: int) -> bytes | None:
        """The data of the only message of a type."""
        found = [each for each in self.messages if each.kind == kind]
        if len(found) > 1:
            raise DamagedFile(f"an object has {len(found)} messages of the kind {kind}")
        if not found:
            return None
        if found[0].shared:
            raise UnknownStructure("messages that several objects share")
        return found[0].data


def root_address(source: Source) -> int:
    """The address of the root group, from the superblock."""
    find_start(source)
    head = source.read(0, 16)
    version = head[8]
    if version in (2, 3):
        raise UnknownStructure(f"a superblock of version {version}")
    if version > 3:
        raise DamagedFile(f"there is no superblock of version {version}")
    if (head[13], head[14]) != (8, 8):
        raise UnknownStructure(f"addresses of {head[13]} bytes, lengths of {head[14]}")
    start = 24 if version == 0 else 28
    base, _, end, driver, _, root = struct.unpack("<6Q", source.read(start, 48))
    if base != source.base:
        raise DamagedFile(f"its addresses begin at {base}, but its superblock is at {source.base}")
    if end > source.size:
        raise DamagedFile(f"it has {source.size} bytes of {end}: it was cut off")
    if driver != UNDEFINED:
        raise UnknownStructure("a file in several parts")
    return int(root)


def read_header(source: Source, address: int) -> Header:
    """The messages of the object at an address."""
    if source.read(address, 4) == b"OHDR":
        raise UnknownStructure("object headers of version 2")
    version, count, _, size = struct.unpack("<BxHII", source.read(address, 12))
    if version != 1:
        raise DamagedFile(f"an object header has the version {version}")
    header = Header()
    blocks, seen, total = [(address + 16, size)], set[int](), 0
    while blocks:
        start, length = blocks.pop(0)
        if start in seen:
            raise DamagedFile("an object header goes on where it has been")
        seen.add(start)
        total += length
        if total > source.size:
            raise DamagedFile("an object header has parts that overlap")
        data, position = source.read(start, length), 0
        while position + 8 <= length and len(header.messages) < count:
            kind, used, flags = struct.unpack_from("<HHB", data, position)
            position += 8
            content = data[position : position + used]
            position += used
            if position > length:
                raise DamagedFile("a message is longer than its object header")
            header.messages.append(Message(kind, content, bool(flags & _SHARED)))
            if kind == CONTINUATION:
                blocks.append(struct.unpack("<QQ", content[:16]))
    if len(header.messages) < count:
        raise DamagedFile(f"an object has {len(header.messages)} messages of {count}")
    return header


def dataspace(data: bytes) -> tuple[int, ...] | None:
    """The shape of a dataspace message; None for a null dataspace."""
    version, rank = data[0], data[1]
    if version == 1:
        start = 8
    elif version == 2:
        if data[3] == 2:
            return None
        start = 4
    else:
        raise DamagedFile(f"a dataspace has the version {version}")
    if rank > _MOST_DIMENSIONS:
        raise DamagedFile(f"a dataspace has {rank} dimensions")
    return struct.unpack_from(f"<{rank}Q", data, start)
