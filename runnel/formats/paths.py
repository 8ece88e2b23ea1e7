"""Names of files: addresses, patterns, and what the operating system says of them."""

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
    # The original says OutOfRangeError, which loops over data take for the end of the data.
    errno.EFBIG: errors.ResourceExhaustedError,
    errno.EMFILE: errors.ResourceExhaustedError,
}


def as_text(path: Any) -> str:
    """A path as text, whatever it was given as."""
    if not isinstance(path, str | bytes | os.PathLike):
        raise TypeError(f"Expected binary or unicode string, got {path!r}")
    return os.fsdecode(path)


def local(path: Any) -> str:
    """The operating system's name of a file; files of other systems are not reached."""
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
    """What to raise for an operating system's refusal."""
    kind = _FAILURES.get(failure.errno, errors.UnknownError)
    return kind(None, None, f"{as_text(path)}; {failure.strerror}")


@contextlib.contextmanager
def refusals(path: Any) -> Iterator[None]:
    """Raise what an operating system's refusal means, as the original does."""
    try:
        yield
    except OSError as failure:
        raise refusal(failure, path) from None


def matching(pattern: str) -> list[str]:
    """The files and folders that fit a pattern, in the operating system's order."""
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
            fits = re.compile(_as_expression(part), re.DOTALL).fullmatch
        except re.error:  # a range such as [z-a]: nothing is in it
            return []
        found = [
            os.path.join(folder, each)
            for folder in found
            for each in _names_in(folder)
            if fits(each)
        ]
    return [prefix + path for path in found]


def _names_in(folder: str) -> list[str]:
    """The names in a folder; none where it cannot be read."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _as_expression(pattern: str) -> str:
    """A pattern for one name as a regular expression."""
    result = ""
    place = 0
    while place < len(pattern):
        character = pattern[place]
        place += 1
        if character == "*":
            result += ".*"
        elif character == "?":
            result += "."
        elif character == "\\" and place < len(pattern):
            result += re.escape(pattern[place])
            place += 1
        elif character == "[":
            end = pattern.find("]", place + 1 + (pattern[place : place + 1] in ("!", "^")))
            if end < 0:
                return r"(?!)"
            inside = pattern[place:end]
            negated = inside[:1] in ("!", "^")
            inside = inside[1:] if negated else inside
            special = r"([\\\[\]^&~|-])" if "--" in inside else r"([\\\[\]^&~|])"
            inside = re.sub(special, r"\\\1", inside)
            result += f"[{'^' if negated else ''}{inside}]"
            place = end + 1
        else:
            result += re.escape(character)
    return result
