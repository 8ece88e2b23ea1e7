"""Deferred restorations: notification of new objects.

While any waits, the classes whose instances get parts (`tf.Module`, Keras layers and optimizers)
report every new part. Their methods are wrapped when a restoration begins to wait, and unwrapped
when none does: objects cost nothing extra at any other time. Lists and dicts cannot report: the
variables that are made meanwhile look into them before they are used.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from ..core import hooks
from ..core.module import Module
from ..core.variable import Variable
from .awaited_variables import AwaitedVariable, await_value
from .restoration import Restoration
from .trackables import is_trackable

_active: list[Restoration] = []
_lock = threading.RLock()
# How many methods of classes of the core are wrapped; those of Keras come after them.
_OF_CORE = 2
# (class, attribute, its own value or None) of every method that is wrapped.
_wrapped: list[tuple[type, str, Any]] = []


def add(restoration: Restoration) -> None:
    """Register a pending restoration."""
    with _lock:
        _active.append(restoration)
        _install()


def notify(owner: Any) -> None:
    """Notify pending restorations that an object has new children."""
    if _active:
        _tell(lambda each: each.match(owner if each.nodes_of(owner) else None))


def _tell(match: Callable[[Restoration], bool]) -> None:
    with _lock:
        for restoration in list(_active):
            if not match(restoration) or not restoration.is_awaited():
                _active.remove(restoration)
        if _active:
            _install()
        else:
            _unwrap()


def _install() -> None:
    """Wrap the methods of the classes imported so far."""
    if not _wrapped:
        _wrap(Module, "__setattr__", _setting)
        _wrap(Variable, "__init__", _creating)
    if len(_wrapped) == _OF_CORE:
        for kind, name, change in hooks.watched_methods():
            _wrap(kind, name, _WRAPPERS[change])


def _wrap(kind: type, name: str, change: Callable[..., Any]) -> None:
    _wrapped.append((kind, name, kind.__dict__.get(name)))
    setattr(kind, name, change(getattr(kind, name)))


def _unwrap() -> None:
    while _wrapped:
        kind, name, own = _wrapped.pop()
        if own is None:
            delattr(kind, name)
        else:
            setattr(kind, name, own)


def _setting(original: Any) -> Any:
    @functools.wraps(original)
    def set_and_tell(self: Any, name: str, value: Any) -> None:
        original(self, name, value)
        if is_trackable(value) and name != "_tracked":
            notify(self)

    return set_and_tell


def _making(original: Any) -> Any:
    @functools.wraps(original)
    def make_and_tell(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(self, *args, **kwargs)
        notify(self)
        return made

    return make_and_tell


def _creating(original: Any) -> Any:
    @functools.wraps(original)
    def create_to_await(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        await_value(self)

    return create_to_await


def _look_into_containers() -> bool:
    """Restore what lists and dicts have got by now; whether any still await items."""
    # A thread that restores at this moment may wait for the variable of this one.
    if not _active or not _lock.acquire(blocking=False):
        return bool(_active)
    try:
        found = [each.awaited_items() for each in _active]
        if any(is_there for _, is_there in found):
            _tell(lambda each: each.match())
            found = [each.awaited_items() for each in _active]
        return any(awaited for awaited, _ in found)
    finally:
        _lock.release()


AwaitedVariable.look = staticmethod(_look_into_containers)


def _adding(original: Any) -> Any:
    @functools.wraps(original)
    def add_and_tell(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(self, *args, **kwargs)
        index = len(self._variables) - 1
        for restoration in list(_active):
            if restoration.match_item(self, "_variables", index, made):
                if restoration.is_complete():
                    break
                return made
        notify(self)
        return made

    return add_and_tell


# By the kind of change that a method call makes.
_WRAPPERS = {"attribute": _setting, "variable": _adding, "parts": _making}
