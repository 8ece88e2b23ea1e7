"""The heaps of HDF5 files, which store names and strings, and the symbol tables of groups."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from .source import UNDEFINED, DamagedFile, Source, UnknownStructure

_SOFT_LINK = 2


class Texts:
    """The variable-length strings of a file, each read once even if referenced several times."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._collections: dict[int, dict[int, tuple[int, int]]] = {}
        self._texts: dict[tuple[int, int], bytes] = {}

    def text(self, reference: bytes) -> bytes:
        """The string referenced by a 16-byte heap ID."""
        length, address, index = struct.unpack("<IQI", reference)
        if not address and not index:
            return b""
        key = (address, index)
        if key not in self._texts:
            found = self._collection(address).get(index)
            if found is None:
                raise DamagedFile("a text is not in the heap where it should be")
            self._texts[key] = self._source.read(*found)
        text = self._texts[key]
        if length > len(text):
            raise DamagedFile(f"a text of {length} bytes has {len(text)}")
        return text if length == len(text) else text[:length]

    def _collection(self, address: int) -> dict[int, tuple[int, int]]:
        """The positions and sizes of a collection's objects."""
        if address in self._collections:
            return self._collections[address]
        head = self._source.read(address, 16)
        (size,) = struct.unpack_from("<Q", head, 8)
        if head[:5] != b"GCOL\1" or size < 16:
            raise DamagedFile("where texts should be is no heap")
        data = self._source.read(address, size)
        objects: dict[int, tuple[int, int]] = {}
        position = 16
        while position + 16 <= size:
            index, _, length = struct.unpack_from("<HHxxxxQ", data, position)
            position += 16
            if index == 0:
                break
            if position + length > size or index in objects:
                raise DamagedFile("the heap of texts is damaged")
            objects[index] = (address + position, length)
            position += (length + 7) // 8 * 8
        self._collections[address] = objects
        return objects


def links(source: Source, tree: int, heap: int) -> dict[str, int]:
    """The link names of a group, and the addresses of their targets."""
    head = source.read(heap, 32)
    size, _, start = struct.unpack_from("<QQQ", head, 8)
    if head[:5] != b"HEAP\0":
        raise DamagedFile("where the names of a group should be is no heap")
    names = source.read(start, size)
    found: dict[str, int] = {}
    for node in leaves(source, tree, 0):
        for name, address in _symbols(source, node, names):
            if name in found:
                raise DamagedFile(f"a group has the name {name!r} twice")
            found[name] = address
    return found


def _symbols(source: Source, address: int, names: bytes) -> Iterator[tuple[str, int]]:
    head = source.read(address, 8)
    (count,) = struct.unpack_from("<H", head, 6)
    if head[:5] != b"SNOD\1":
        raise DamagedFile("where the members of a group should be is no table of them")
    entries = source.read(address + 8, 40 * count)
    for at in range(0, 40 * count, 40):
        offset, target, cached = struct.unpack_from("<QQI", entries, at)
        end = names.find(b"\0", offset)
        if offset >= len(names) or end < 0:
            raise DamagedFile("a name in a group is outside of its heap")
        name = names[offset:end].decode("utf-8", "surrogateescape")
        if cached == _SOFT_LINK:
            raise DamagedFile(f"{name!r} is a link to another place, which models do not have")
        yield name, target


def leaves(source: Source, address: int, kind: int, key_size: int = 8) -> Iterator[int]:
    """The addresses in the leaves of a version 1 B-tree."""
    for _, target in leaf_entries(source, address, kind, key_size):
        yield target


def leaf_entries(
    source: Source, address: int, kind: int, key_size: int
) -> Iterator[tuple[bytes, int]]:
    """The keys and addresses in the leaves of a B-tree; no node is visited twice."""
    seen: set[int] = set()
    if address == UNDEFINED:
        return

    def visit(address: int, expected: int | None) -> Iterator[tuple[bytes, int]]:
        head = source.read(address, 24)
        if head[:4] != b"TREE" or head[4] != kind:
            raise DamagedFile("where an index should be is no B-tree")
        level = head[5]
        (count,) = struct.unpack_from("<H", head, 6)
        if address in seen or (expected is not None and level != expected):
            raise DamagedFile("a B-tree has nodes that are their own descendants")
        if level > 16:
            raise UnknownStructure("a B-tree of more than 16 levels")
        seen.add(address)
        step = key_size + 8
        entries = source.read(address + 24, step * count + key_size)
        for at in range(0, step * count, step):
            (target,) = struct.unpack_from("<Q", entries, at + key_size)
            if level:
                yield from visit(target, level - 1)
            else:
                yield entries[at : at + key_size], target

    yield from visit(address, None)
