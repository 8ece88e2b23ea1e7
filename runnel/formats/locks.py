"""Inter-process locks: an open file holds one, so that it is released with the process at the
latest.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

LOCK_ENDING = ".lock"

if os.name == "posix":
    import fcntl

    def _take(handle: int, wait: bool) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))

    def _give_back(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)

else:  # pragma: no cover - Windows
    import msvcrt
    import time

    def _take(handle: int, wait: bool) -> None:
        while True:
            try:
                msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
                return
            except PermissionError:
                if not wait:
                    raise BlockingIOError from None
                time.sleep(0.01)

    def _give_back(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined]


# The locks that this process holds. A child of `fork` inherits their open files: it closes them, or
# they would be held during its lifetime.
_HELD: set[int] = set()


def _after_fork() -> None:
    for handle in _HELD:
        with contextlib.suppress(OSError):
            os.close(handle)
    _HELD.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def lock_file(path: str, wait: bool = True) -> int | None:
    """Create a file and lock it; its handle, or None if another process holds the lock.

    With `wait`, file systems without locks are tolerated: there is no mutual exclusion then.
    """
    handle = _opened(path)
    _HELD.add(handle)
    try:
        _take(handle, wait)
        return handle
    except OSError:
        if wait:
            return handle
        _close(handle)
        return None
    except BaseException:
        _close(handle)
        raise


def _opened(path: str) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
    except PermissionError:
        # Owned by another user: it can be locked anyway.
        return os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))


def is_still(path: str, handle: int) -> bool:
    """Whether a path still refers to a locked file, which the previous holder may have removed."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


def release(handle: int) -> None:
    """Release a lock."""
    with contextlib.suppress(OSError):
        _give_back(handle)
    _close(handle)


def _close(handle: int) -> None:
    _HELD.discard(handle)
    os.close(handle)


@contextlib.contextmanager
def exclusively(path: str) -> Iterator[None]:
    """A critical section between processes and threads for changes of the files of one name.

    The lock is a file next to them, which exists while the lock is held.
    """
    folder, name = os.path.split(path)
    place = os.path.join(folder, f".{name[:50]}{LOCK_ENDING}")
    while True:
        handle = lock_file(place)
        assert handle is not None
        if is_still(place, handle):
            break
        release(handle)
    try:
        yield
    finally:
        # If open files cannot be removed, the next holder does so.
        with contextlib.suppress(OSError):
            os.unlink(place)
        release(handle)
        if os.name != "posix":
            with contextlib.suppress(OSError):
                os.unlink(place)
