"""Groups of HDF5 files as mappings, and the attributes of groups and datasets."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from . import headers
from .datasets import Dataset
from .datatypes import datatype
from .headers import Header, read_header
from .heaps import Texts, links
from .source import DamagedFile, Source, UnknownStructure


class Group(Mapping[str, Any]):
    """The members of a group, by name or path, and its attributes."""

    def __init__(self, source: Source, header: Header, texts: Texts, name: str) -> None:
        self._source, self._texts, self.name = source, texts, name
        self._header = header
        self._links: dict[str, int] | None = None
        self._members: dict[str, Any] = {}
        self._attributes: dict[str, Any] | None = None
        self.total_bytes = 0

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes of the group."""
        if self._attributes is None:
            self._attributes = _attributes(self._header, self._texts)
        return self._attributes

    def __getitem__(self, path: str) -> Any:
        value: Any = self
        for name in path.strip("/").split("/"):
            value = value._member(name) if isinstance(value, Group) else None
            if value is None:
                raise KeyError(path)
        return value

    def __contains__(self, path: object) -> bool:
        try:
            return self[path] is not None  # type: ignore[index]
        except KeyError:
            return False

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __repr__(self) -> str:
        return f"<HDF5 group {self.name!r} of {list(self)}>"

    def check(self) -> None:
        """Parse everything in the group, so that unreadable parts are detected at once.

        Parsed structures are cached. Values are read later; `total_bytes` is their total size.
        """
        waiting, seen = [self], set[int]()
        self.total_bytes = 0
        while waiting:
            group = waiting.pop()
            group.attrs  # noqa: B018 - reading them is the check
            for name, address in group._names().items():
                member = group._member(name)
                if address in seen:
                    continue
                seen.add(address)
                if isinstance(member, Group):
                    waiting.append(member)
                else:
                    self.total_bytes += member.nbytes

    def _names(self) -> dict[str, int]:
        if self._links is None:
            data = self._header.find(headers.SYMBOLS)
            if data is None:
                raise DamagedFile(f"the group {self.name!r} has no table of its members")
            tree, heap = struct.unpack_from("<QQ", data)
            self._links = links(self._source, tree, heap)
        return self._links

    def _member(self, name: str) -> Any:
        if name not in self._names():
            return None
        if name not in self._members:
            path = f"{self.name.rstrip('/')}/{name}"
            header = read_header(self._source, self._names()[name])
            kinds = {each.kind for each in header.messages}
            if headers.LINK_INFO in kinds or headers.LINK in kinds:
                raise UnknownStructure("groups without a symbol table")
            kind = Group if headers.SYMBOLS in kinds else Dataset
            self._members[name] = kind(self._source, header, self._texts, path)
        return self._members[name]


def open_group(source: Source) -> Group:
    """The root group of a file."""
    header = read_header(source, headers.root_address(source))
    return Group(source, header, Texts(source), "/")


def _attributes(header: Header, texts: Texts) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for message in header.messages:
        if message.kind == headers.ATTRIBUTE_INFO:
            raise UnknownStructure("attributes outside of the object header")
        if message.kind == headers.ATTRIBUTE:
            if message.shared:
                raise UnknownStructure("attributes that several objects share")
            name, value = _attribute(message.data, texts)
            if name in found:
                raise DamagedFile(f"an object has the attribute {name!r} twice")
            found[name] = value
    return found


def _attribute(data: bytes, texts: Texts) -> tuple[str, Any]:
    version, flags, name_size, type_size, space_size = struct.unpack_from("<BBHHH", data)
    if not 1 <= version <= 3:
        raise DamagedFile(f"an attribute has the version {version}")
    if version > 1 and flags & 3:
        raise UnknownStructure("datatypes that several objects share")
    position = 9 if version == 3 else 8
    parts = []
    for size in (name_size, type_size, space_size):
        parts.append(data[position : position + size])
        position += (size + 7) // 8 * 8 if version == 1 else size
    name = parts[0].partition(b"\0")[0].decode("utf-8", "surrogateescape")
    kind, shape = datatype(parts[1]), headers.dataspace(parts[2])
    if shape is None:
        return name, None
    count = math.prod(shape)
    width = 16 if kind.texts else kind.dtype.itemsize
    content = data[position : position + count * width]
    if len(content) != count * width:
        raise DamagedFile(f"the attribute {name!r} has {len(content)} bytes of {count * width}")
    if not kind.texts:
        values = np.frombuffer(bytearray(content), kind.dtype).reshape(shape)
        return name, values if shape else values[()]
    found = [
        texts.text(content[at : at + 16]).decode("utf-8", "surrogateescape")
        for at in range(0, len(content), 16)
    ]
    if not shape:
        return name, found[0]
    array = np.empty(count, object)
    array[:] = found
    return name, array.reshape(shape)
