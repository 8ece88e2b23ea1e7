"""What a disk may hold after the power failed at any moment while a function wrote files.

A recording notes the tree of a folder at every call that changes or flushes something. A loss of
power keeps what was flushed: the bytes of a file since `fsync` of it, the names in a folder since
`fsync` of that. Of everything else it keeps any part: each other change of names may have reached
the disk or not (a rename reaches it as a whole), each other file may be empty, torn or whole.

    states = recorded(folder, save)
    for state in states:
        state.make(place)     # look whether `place` can be loaded
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

_CHANGING = ("open", "replace", "rename", "link", "symlink", "unlink", "remove", "mkdir", "rmdir")
_ALL_SUBSETS = 6
_SAMPLES = 40

# (folder's inode, name): inode. Contents by inode: bytes, the target of a link, or None: a folder.
Names = dict[tuple[int, str], int]
Contents = dict[int, bytes | str | None]


def tree_of(folder: Path) -> tuple[Names, Contents]:
    """The names and contents below a folder; the folder itself is number 0."""
    names: Names = {}
    contents: Contents = {0: None}
    waiting = [(folder, 0)]
    while waiting:
        place, number = waiting.pop()
        for entry in os.scandir(place):
            inode = entry.inode()
            names[number, entry.name] = inode
            if entry.is_symlink():
                contents[inode] = os.readlink(entry.path)
            elif entry.is_dir():
                contents[inode] = None
                waiting.append((Path(entry.path), inode))
            else:
                contents[inode] = Path(entry.path).read_bytes()
    return names, contents


class Change:
    """Names that were given or taken away at once."""

    def __init__(self, before: Names, after: Names, keys: list[tuple[int, str]]) -> None:
        self.entries = {key: (before.get(key), after.get(key)) for key in keys}
        gained = {key[0] for key in keys if key in after}
        self.folders = gained or {key[0] for key in keys}
        self.is_durable = False

    def apply(self, names: Names) -> None:
        """Make the change where it fits what is there."""
        for key, (_, inode) in self.entries.items():
            if inode is None:
                names.pop(key, None)
            else:
                names[key] = inode


class State:
    """The names and contents of a disk after a loss of power."""

    def __init__(self, names: Names, contents: Contents, is_final: bool) -> None:
        self.names, self.contents, self.is_final = names, contents, is_final

    def files(self) -> frozenset[tuple[str, bytes | str | None]]:
        """The paths that can be reached, each with its content."""
        found = []
        waiting = [("", 0)]
        while waiting:
            place, number = waiting.pop()
            for (folder, name), inode in self.names.items():
                if folder == number:
                    path = os.path.join(place, name)
                    content = self.contents[inode]
                    found.append((path, content))
                    if content is None:
                        waiting.append((path, inode))
        return frozenset(found)

    def make(self, folder: Path) -> None:
        """Write the files of the state into an empty folder."""
        for path, content in sorted(self.files(), key=lambda item: item[0]):
            if content is None:
                (folder / path).mkdir()
            elif isinstance(content, str):
                (folder / path).symlink_to(content)
            else:
                (folder / path).write_bytes(content)


class _Recording:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.first, contents = tree_of(folder)
        self.before = self.first
        self.flushed: Contents = dict(contents)
        self.changes: list[Change] = []
        self.states: dict[frozenset[tuple[str, bytes | str | None]], State] = {}
        self.chance = random.Random(1)

    def note(self) -> None:
        """Note what changed, and what a loss of power would leave now."""
        names, contents = tree_of(self.folder)
        changed = [
            key for key in {**self.before, **names} if self.before.get(key) != names.get(key)
        ]
        known = set(self.before.values())
        # New files come singly; what else changed is one call: a rename, a removal.
        fresh = [key for key in changed if key in names and names[key] not in known]
        for keys in [*([key] for key in fresh), [key for key in changed if key not in fresh]]:
            if keys:
                self.changes.append(Change(self.before, names, keys))
        self.before = names
        self.lose_power(contents)

    def flush(self, handle: int) -> None:
        """Note that a file or folder was flushed."""
        found = os.fstat(handle)
        inode = 0 if os.path.samestat(found, os.stat(self.folder)) else found.st_ino
        contents = tree_of(self.folder)[1]
        if inode not in contents:
            return
        self.flushed[inode] = contents[inode]
        for change in self.changes:
            change.is_durable = change.is_durable or inode in change.folders

    def flush_all(self) -> None:
        self.flushed = dict(tree_of(self.folder)[1])
        for change in self.changes:
            change.is_durable = True

    def lose_power(self, contents: Contents, is_final: bool = False) -> None:
        open_ones = [change for change in self.changes if not change.is_durable]
        for kept in _subsets(open_ones, self.chance):
            names = dict(self.first)
            for change in self.changes:
                if change.is_durable or change in kept:
                    change.apply(names)
            for torn in (0.0, 0.5, 1.0):
                left = {
                    inode: self.surviving(inode, contents.get(inode), torn)
                    for inode in {0, *names.values()}
                }
                state = State(names, left, is_final)
                if is_final:
                    self.states.pop(state.files(), None)
                self.states.setdefault(state.files(), state)

    def surviving(self, inode: int, content: bytes | str | None, part: float) -> bytes | str | None:
        if content is None:
            # A folder, or what was removed since.
            return self.flushed.get(inode)
        flushed = self.flushed.get(inode)
        if not isinstance(content, bytes) or content == flushed:
            return content
        return content[: int(len(content) * part)]


def _subsets(changes: list[Change], chance: random.Random) -> Iterator[list[Change]]:
    if len(changes) <= _ALL_SUBSETS:
        for size in range(len(changes) + 1):
            yield from (list(each) for each in itertools.combinations(changes, size))
        return
    yield []
    for size in range(len(changes)):
        # As they came; all but one.
        yield changes[: size + 1]
        yield changes[:size] + changes[size + 1 :]
    for _ in range(_SAMPLES):
        yield [change for change in changes if chance.random() < 0.5]


@contextmanager
def _interposed(recording: _Recording) -> Iterator[None]:
    def noting(name: str) -> Callable[..., object]:
        original = getattr(os, name)

        def call(*args: object, **kwargs: object) -> object:
            recording.note()
            try:
                return original(*args, **kwargs)
            finally:
                recording.note()

        return call

    real_fsync = os.fsync

    def fsync(handle: int) -> None:
        recording.note()
        real_fsync(handle)
        recording.flush(handle)

    with mock.patch.multiple(
        os, fsync=fsync, sync=recording.flush_all, **{name: noting(name) for name in _CHANGING}
    ):
        yield


def recorded(folder: Path, save: Callable[[], object]) -> list[State]:
    """All states in which the disk may be after a loss of power during `save`, or right after it.

    Those right after it are marked as final.
    """
    recording = _Recording(folder)
    with _interposed(recording):
        save()
        recording.note()
        recording.lose_power(tree_of(folder)[1], is_final=True)
    return list(recording.states.values())
