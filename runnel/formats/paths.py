"""File names: URLs, glob patterns, and errors of the operating system."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

from ..core import errors

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*)://")
SCHEMES = ["file", ""]
_WILD = re.compile(r"[*?\[\\]")
_FAILURES: dict[int | None, Callable[..., errors.OpError]] = {
    errno.ENOENT: errors.NotFoundError,
    errno.EEXIST: errors.AlreadyExistsError,
    errno.EISDIR: errors.FailedPreconditionError,
    errno.ENOTDIR: errors.FailedPreconditionError,
    errno.ENOTEMPTY: errors.FailedPreconditionError,
    errno.EXDEV: errors.FailedPreconditionError,
    errno.EACCES: errors.PermissionDeniedError,
    errno.EPERM: errors.PermissionDeniedError,
    errno.EROFS: errors.PermissionDeniedError,
    errno.EINVAL: errors.InvalidArgumentError,
    errno.ENAMETOOLONG: errors.InvalidArgumentError,
    errno.ENOSPC: errors.ResourceExhaustedError,
    errno.EDQUOT: errors.ResourceExhaustedError,
    # The original raises OutOfRangeError, which loops over data take for the end of the data.
    errno.EFBIG: errors.ResourceExhaustedError,
    errno.EMFILE: errors.ResourceExhaustedError,
}


def as_text(path: Any) -> str:
    """A path as str, from any type of path."""
    if not isinstance(path, str | bytes | os.PathLike):
        raise TypeError(f"Expected binary or unicode string, got {path!r}")
    return os.fsdecode(path)


def local(path: Any) -> str:
    """The local name of a file; other file systems are not supported."""
    name = as_text(path)
    scheme = _SCHEME.match(name)
    if scheme is None:
        return name
    if scheme[1] != "file":
        raise errors.UnimplementedError(
            None,
            None,
            f"File system scheme '{scheme[1]}' not implemented (file: '{name}'); there are local "
            "files only, with or without 'file://'",
        )
    return name[scheme.end() :]


def refusal(failure: OSError, path: Any) -> errors.OpError:
    """The error to raise for an OSError."""
    kind = _FAILURES.get(failure.errno, errors.UnknownError)
    return kind(None, None, f"{as_text(path)}; {failure.strerror}")


@contextlib.contextmanager
def refusals(path: Any) -> Iterator[None]:
    """Convert OSErrors to the original's errors."""
    try:
        yield
    except OSError as failure:
        raise refusal(failure, path) from None


def matching(pattern: str) -> list[str]:
    """The files and folders that match a pattern, in directory order."""
    name = local(pattern)
    prefix = pattern[: len(pattern) - len(name)]
    if not _WILD.search(name):
        return [pattern] if name and os.path.exists(name) else []
    parts = name.rstrip("/").split("/")
    plain = next(index for index, part in enumerate(parts) if _WILD.search(part))
    start = "/".join(parts[:plain])
    found = [start if start else "/" if plain else "."]
    for part in parts[plain:]:
        try:
            pieces = _pieces(part)
        except re.error:  # an empty range such as [z-a]
            return []
        found = [
            os.path.join(folder, each)
            for folder in found
            for each in _names_in(folder)
            if _fits(pieces, each)
        ]
    return [prefix + path for path in found]


def _names_in(folder: str) -> list[str]:
    """The names in a folder; none if it cannot be read."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


_Piece = Callable[[str], object]


def _pieces(pattern: str) -> list[_Piece | None]:
    """A compiled pattern for one name: the set of each character, None for `*`."""
    result: list[_Piece | None] = []
    place = 0
    while place < len(pattern):
        character = pattern[place]
        place += 1
        if character == "*":
            result.append(None)
        elif character == "?":
            result.append(bool)
        elif character == "\\" and place < len(pattern):
            result.append(pattern[place].__eq__)
            place += 1
        elif character == "[":
            end = pattern.find("]", place + 1 + (pattern[place : place + 1] in ("!", "^")))
            if end < 0:
                return [lambda character: False]
            inside = pattern[place:end]
            negated = inside[:1] in ("!", "^")
            inside = inside[1:] if negated else inside
            special = r"([\\\[\]^&~|-])" if "--" in inside else r"([\\\[\]^&~|])"
            inside = re.sub(special, r"\\\1", inside)
            result.append(re.compile(f"[{'^' if negated else ''}{inside}]").fullmatch)
            place = end + 1
        else:
            result.append(character.__eq__)
    return result


def _fits(pieces: list[_Piece | None], name: str) -> bool:
    """Whether a name matches. Backtracking only to the last `*`: the earlier ones match already."""
    piece = place = 0
    star, resume = -1, 0
    while place < len(name):
        wanted = pieces[piece] if piece < len(pieces) else _no_more
        if wanted is None:
            star, resume = piece, place
            piece += 1
        elif wanted(name[place]):
            piece += 1
            place += 1
        elif star < 0:
            return False
        else:
            resume += 1
            piece, place = star + 1, resume
    return all(each is None for each in pieces[piece:])


def _no_more(character: str) -> bool:
    return False
