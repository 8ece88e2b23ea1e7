"""tf.io.gfile: files and folders, by names or by `file://` addresses."""

from __future__ import annotations

import builtins
import errno
import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from ..core import errors
from ..formats.paths import SCHEMES, as_text, local, matching, refusal

_MODES = ("r", "w", "a", "r+", "w+", "a+")


class GFile:
    """A file for reading (`r`), writing (`w`) or appending (`a`), as bytes with `b`.

    It is opened when it is first read or written. Text is UTF-8; positions count bytes.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "greeting")
    >>> with tf.io.gfile.GFile(path, "w") as file:
    ...     file.write("hello\\nworld\\n")
    >>> with tf.io.gfile.GFile(path) as file:
    ...     print([line for line in file])
    ['hello\\n', 'world\\n']
    """

    def __init__(self, name: Any, mode: str = "r") -> None:
        self._reader: BinaryIO | None = None
        self._writer: BinaryIO | None = None
        self._name = name
        self._mode = mode
        plain = mode.replace("b", "")
        if plain not in _MODES:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+' (with 'b' for bytes), but "
                f"{mode!r}",
            )
        self._binary = plain != mode
        self._may_read = plain == "r" or plain.endswith("+")
        self._may_write = plain != "r"
        self._appends = plain.startswith("a")

    @property
    def name(self) -> Any:
        """The file's name, as it was given."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode, as it was given."""
        return self._mode

    def _open(self, mode: str) -> BinaryIO:
        path = local(self._name)
        try:
            return builtins.open(path, mode)  # type: ignore[return-value]
        except OSError as failure:
            raise refusal(failure, self._name) from None

    def _reading(self) -> BinaryIO:
        if self._reader is None:
            if not self._may_read:
                raise errors.PermissionDeniedError(None, None, "File isn't open for reading")
            self._reader = self._open("rb")
        return self._reader

    def _writing(self) -> BinaryIO:
        if self._writer is None:
            if not self._may_write:
                raise errors.PermissionDeniedError(None, None, "File isn't open for writing")
            self._writer = self._open("ab" if self._appends else "wb")
        return self._writer

    def _shown(self, data: bytes) -> Any:
        return data if self._binary else data.decode()

    def size(self) -> int:
        """The size of the file in bytes."""
        return stat(self._name).length

    def write(self, file_content: Any) -> None:
        """Write text or bytes at the end of the file."""
        if not isinstance(file_content, str | bytes):
            raise TypeError(f"Expected binary or unicode string, got {file_content!r}")
        file = self._writing()
        data = file_content.encode() if isinstance(file_content, str) else file_content
        try:
            file.write(data)
        except OSError as failure:
            raise refusal(failure, self._name) from None

    def read(self, n: int = -1) -> Any:
        """The next n bytes of the file, or all that is left."""
        if not isinstance(n, int):
            raise TypeError(f"read() takes a number of bytes, not {n!r}")
        if n < -1:
            raise errors.InvalidArgumentError(
                None, None, f"Can't read a negative number of bytes: {n}"
            )
        file = self._reading()
        try:
            return self._shown(file.read(n))
        except OSError as failure:
            raise refusal(failure, self._name) from None

    def readline(self) -> Any:
        r"""The next line with its end, which is "\n" even where the file has "\r\n"."""
        file = self._reading()
        try:
            return self._shown(file.readline().replace(b"\r", b""))
        except OSError as failure:
            raise refusal(failure, self._name) from None

    def readlines(self) -> list[Any]:
        """All lines that are left."""
        return list(self)

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Go on reading elsewhere: `offset` from the start (0), from here (1) or the end (2)."""
        offset = position if offset is None else offset
        if offset is None:
            raise TypeError("seek(): offset argument required")
        file = self._reading()
        if whence not in (0, 1, 2):
            raise errors.InvalidArgumentError(
                None, None, f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2."
            )
        size = self.size()
        place = offset + (0, file.tell(), size)[whence]
        if place < 0:
            raise errors.InvalidArgumentError(
                None, None, f"Seeking to a negative position: {place}"
            )
        file.seek(min(place, size))
        if place > size:
            raise errors.OutOfRangeError(
                None, None, f"reached end of file: position {place} in a file of {size} bytes"
            )

    def tell(self) -> int:
        """The position in bytes."""
        return (self._reading() if self._may_read else self._writing()).tell()

    def seekable(self) -> bool:
        """True: one can go to any position."""
        return True

    def flush(self) -> None:
        """Give to the operating system what was written."""
        if self._writer is not None:
            try:
                self._writer.flush()
            except OSError as failure:
                raise refusal(failure, self._name) from None

    def close(self) -> None:
        """Close the file; it opens again when it is used again."""
        reader, writer = self._reader, self._writer
        self._reader = self._writer = None
        if reader is not None:
            reader.close()
        if writer is not None:
            try:
                writer.close()
            except OSError as failure:
                raise refusal(failure, self._name) from None

    def __enter__(self) -> GFile:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __del__(self) -> None:
        # Programs read GFile(name).read() and never close.
        if getattr(self, "_reader", None) is not None or getattr(self, "_writer", None) is not None:
            self.close()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def next(self) -> Any:
        """The next line; StopIteration at the end."""
        return self.__next__()


class FileStatistics:
    """What is known of a file: its size, its time, whether it is a folder."""

    __slots__ = ("is_directory", "length", "mtime_nsec")

    def __init__(self, length: int, mtime_nsec: int, is_directory: bool) -> None:
        self.length = length
        self.mtime_nsec = mtime_nsec
        self.is_directory = is_directory


def exists(path: Any) -> bool:
    """Whether there is a file or folder of this name."""
    return os.path.exists(local(path))


def isdir(path: Any) -> bool:
    """Whether there is a folder of this name."""
    return os.path.isdir(local(path))


def stat(path: Any) -> FileStatistics:
    """Size, time and kind of a file; its time counts whole seconds."""
    name = local(path)
    try:
        found = os.stat(name)
    except OSError as failure:
        raise refusal(failure, path) from None
    return FileStatistics(found.st_size, int(found.st_mtime) * 10**9, os.path.isdir(name))


def listdir(path: Any) -> list[str]:
    """The names in a folder, in the operating system's order."""
    name = local(path)
    if not os.path.isdir(name):
        raise errors.NotFoundError(None, None, f"Could not find directory {as_text(path)}")
    try:
        return os.listdir(name)
    except OSError as failure:
        raise refusal(failure, path) from None


def mkdir(path: Any) -> None:
    """Make a folder in a folder that exists; nothing happens where the name is taken."""
    name = local(path)
    if not name or os.path.exists(name):
        return
    try:
        os.mkdir(name)
    except OSError as failure:
        raise refusal(failure, path) from None


def makedirs(path: Any) -> None:
    """Make a folder and those on the way to it."""
    name = local(path)
    if not name:
        return
    taken = name
    while taken and not os.path.exists(taken):
        shorter = os.path.dirname(taken)
        if shorter == taken:
            break
        taken = shorter
    if taken and not os.path.isdir(taken):
        raise errors.FailedPreconditionError(None, None, f"{taken} is not a directory")
    try:
        os.makedirs(name, exist_ok=True)
    except OSError as failure:
        raise refusal(failure, path) from None


def remove(path: Any) -> None:
    """Delete a file."""
    try:
        os.remove(local(path))
    except OSError as failure:
        raise refusal(failure, path) from None


def rmtree(path: Any) -> None:
    """Delete a folder with all that is in it; or a file."""
    name = local(path)
    if not os.path.lexists(name):
        raise errors.NotFoundError(None, None, f"{as_text(path)} not found")
    try:
        if os.path.islink(name) and os.path.isdir(name):
            raise NotADirectoryError(errno.ENOTDIR, "Not a directory but a link to one")
        if os.path.isdir(name):
            shutil.rmtree(name)
        else:
            os.remove(name)
    except OSError as failure:
        raise refusal(failure, path) from None


def _require_free(path: Any, overwrite: bool) -> None:
    if not overwrite and os.path.exists(local(path)):
        raise errors.AlreadyExistsError(
            None, None, f"file already exists: {as_text(path)} (overwrite=True replaces it)"
        )


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copy a file; the mode goes with it."""
    source, target = local(src), local(dst)
    _require_free(dst, overwrite)
    if os.path.isdir(source):
        raise errors.InvalidArgumentError(
            None, None, f"{as_text(src)}; Is a directory: only files are copied"
        )
    try:
        with builtins.open(source, "rb") as file:
            if os.path.exists(target) and os.path.samefile(source, target):
                return
            with builtins.open(target, "wb") as written:
                shutil.copyfileobj(file, written)
        shutil.copymode(source, target)
    except OSError as failure:
        raise refusal(failure, src if failure.filename == source else dst) from None


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Give a file or folder another name."""
    source, target = local(src), local(dst)
    _require_free(dst, overwrite)
    try:
        os.replace(source, target)
    except OSError as failure:
        raise refusal(failure, src) from None


def join(path: Any, *paths: Any) -> Any:
    r"""Parts of a path, joined.

    >>> tf.io.gfile.join("folder", "file")
    'folder/file'
    """
    return os.path.join(os.fspath(path), *[os.fspath(each) for each in paths])


def get_registered_schemes() -> list[str]:
    """The beginnings of addresses that are understood: `file://`, and none."""
    return list(SCHEMES)


def walk(
    top: Any, topdown: bool = True, onerror: Callable[[errors.OpError], Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Every folder below `top`: its name, the folders in it, the files in it.

    With `topdown`, folders taken out of the second list are not entered.
    """
    name = as_text(top)
    try:
        names = listdir(name)
    except errors.NotFoundError as failure:
        if onerror is not None:
            onerror(failure)
        return
    folders = [each for each in names if isdir(join(name, each))]
    inside = set(folders)
    here = (name, folders, [each for each in names if each not in inside])
    if topdown:
        yield here
    for folder in folders:
        yield from walk(join(name, folder), topdown, onerror)
    if not topdown:
        yield here


def glob(pattern: Any) -> list[str]:
    r"""The files and folders that fit a pattern, or one of a list of patterns.

    `*` stands for any part of a name, `?` for a character, `[a-z]` for one of several (`[!a-z]`:
    none of them), and `\` makes the next character an ordinary one.
    """
    patterns = [pattern] if isinstance(pattern, str | bytes | os.PathLike) else pattern
    return [found for each in patterns for found in matching(as_text(each))]
