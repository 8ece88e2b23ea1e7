"""Restorations that wait for objects still to be made, and how they learn of them.

While any waits, the classes whose instances get parts (`tf.Module`, Keras layers and optimizers)
tell of every new part. These hooks are put into the classes when a restoration begins to wait, and
taken out when none does: objects cost nothing extra at any other time. Lists and dicts cannot
tell: the variables that are made meanwhile look into them before they are used.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from typing import Any

from ..core.module import Module
from ..core.variable import Variable
from .awaited_variables import AwaitedVariable, await_value
from .restoration import Restoration
from .trackables import is_trackable

_active: list[Restoration] = []
_lock = threading.RLock()
# (class, attribute, its own value or None) of every hook that is in place.
_hooks: list[tuple[type, str, Any]] = []


def add(restoration: Restoration) -> None:
    """Let a restoration wait for parts."""
    with _lock:
        _active.append(restoration)
        _install()


def notify(owner: Any) -> None:
    """Tell waiting restorations that an object has new parts."""
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
            _remove_hooks()


def _install() -> None:
    """Put hooks into the classes that are loaded by now."""
    if not _hooks:
        _hook(Module, "__setattr__", _setting)
        _hook(Variable, "__init__", _creating)
    if "runnel.keras" not in sys.modules or len(_hooks) > 2:
        return
    from ..keras.engine.layer_weights import LayerWeights
    from ..keras.engine.sequential import Sequential
    from ..keras.optimizers.base import Optimizer
    from ..keras.optimizers.legacy.base import Optimizer as OlderOptimizer

    for kind in (LayerWeights, Optimizer, OlderOptimizer):
        _hook(kind, "__setattr__", _setting)
    _hook(LayerWeights, "add_weight", _making)
    _hook(Sequential, "add", _making)
    for name in ("add_variable", "add_variable_from_reference"):
        _hook(Optimizer, name, _adding)
    for name in ("add_slot", "_create_hypers"):
        _hook(OlderOptimizer, name, _making)


def _hook(kind: type, name: str, wrap: Callable[..., Any]) -> None:
    _hooks.append((kind, name, kind.__dict__.get(name)))
    setattr(kind, name, wrap(getattr(kind, name)))


def _remove_hooks() -> None:
    while _hooks:
        kind, name, own = _hooks.pop()
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
