"""Serialization of lambdas, in the format of the original's files."""

from __future__ import annotations

import base64
import marshal
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

LAMBDA_WARNING = (
    "The object being serialized includes a `lambda`. This is unsafe. In order to reload the "
    "object, you will have to pass `safe_mode=False` to the loading function. Please avoid using "
    "`lambda` in the future, and use named Python functions instead."
)


def dump_code(function: Any) -> tuple[str, Any, Any]:
    """The marshalled code of a function in base64, its defaults, and its closure values."""
    code = base64.encodebytes(marshal.dumps(function.__code__)).decode("ascii")
    cells = function.__closure__
    closure = tuple(cell.cell_contents for cell in cells) if cells else None
    return LiveText(code, function), function.__defaults__, closure


def load_code(dumped: Any, global_names: dict[str, Any] | None = None) -> Callable:
    """Rebuild the function from `dump_code`'s result; only for trusted input."""
    text, defaults, closure = dumped
    code = marshal.loads(base64.decodebytes(text.encode("ascii")))
    cells = tuple(types.CellType(value) for value in closure) if closure else None
    defaults = tuple(defaults) if defaults else None
    names = globals() if global_names is None else global_names
    return types.FunctionType(code, names, name=code.co_name, argdefs=defaults, closure=cells)


class LiveText(str):
    """Text in a config that carries the live object of this process which it represents.

    A config from `get_config` can thus be used directly, whereas one read from a file or from JSON
    contains only the text, which is not trusted. `written` is what is saved in its place.
    """

    value: Any
    written: Any

    def __new__(cls, text: str, value: Any, written: Any = None) -> LiveText:
        self = super().__new__(cls, text)
        self.value, self.written = value, text if written is None else written
        return self

    def __deepcopy__(self, memo: Any) -> LiveText:
        return self

    def __reduce__(self) -> Any:
        return str, (str(self),)


# Programs that inspect the types in a config see a str.
LiveText.__name__ = LiveText.__qualname__ = "str"


def without_live_text(config: Any) -> Any:
    """A config with live objects replaced by their text, for saving."""
    if isinstance(config, LiveText):
        return config.written
    if isinstance(config, dict):
        return {key: without_live_text(value) for key, value in config.items()}
    if type(config) in (list, tuple):
        return type(config)(without_live_text(value) for value in config)
    return config


class _Trust(threading.local):
    """The safe-mode scopes that a thread is in."""

    safe_mode: bool | None = None


class _Everywhere:
    unsafe = False


_trust = _Trust()


@contextmanager
def safe_mode_scope(safe_mode: bool | None) -> Iterator[None]:
    """Set safe mode within a block: whether loading may execute code from files."""
    outer, _trust.safe_mode = _trust.safe_mode, safe_mode
    try:
        yield
    finally:
        _trust.safe_mode = outer


def enable_unsafe_deserialization() -> None:
    """Disable safe mode globally: loading may execute code from files, in all threads."""
    _Everywhere.unsafe = True


def in_safe_mode() -> bool | None:
    """Whether loading rejects code: True or False if set by the user, else None."""
    return False if _Everywhere.unsafe else _trust.safe_mode


def is_trusted() -> bool:
    """Whether the user disabled safe mode."""
    return in_safe_mode() is False


def loading_scope(safe_mode: bool = True) -> Any:
    """The scope in which a config is read: an outer scope takes precedence over `safe_mode`."""
    said = in_safe_mode()
    return safe_mode_scope(safe_mode if said is None else said)


def require_trust(what: str) -> None:
    """Refuse to load code unless `safe_mode=False` was passed."""
    if not is_trusted():
        raise ValueError(
            f"Requested the deserialization of {what}. This carries a potential risk of arbitrary "
            "code execution and thus it is disallowed by default. If you trust the source of the "
            "saved model, you can pass `safe_mode=False` to the loading function, or load it "
            "inside of `with tf.keras.saving.SafeModeScope(False):`."
        )
