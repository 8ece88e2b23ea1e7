"""Lambdas as text and back, in the form that the original's files have them."""

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
    """The code of a function in base64, its defaults, and the values that it closes over."""
    code = base64.encodebytes(marshal.dumps(function.__code__)).decode("ascii")
    cells = function.__closure__
    closure = tuple(cell.cell_contents for cell in cells) if cells else None
    return LiveText(code, function), function.__defaults__, closure


def load_code(dumped: Any, global_names: dict[str, Any] | None = None) -> Callable:
    """The function that `dump_code` described; call it only for what the user trusts."""
    text, defaults, closure = dumped
    code = marshal.loads(base64.decodebytes(text.encode("ascii")))
    cells = tuple(types.CellType(value) for value in closure) if closure else None
    defaults = tuple(defaults) if defaults else None
    names = globals() if global_names is None else global_names
    return types.FunctionType(code, names, name=code.co_name, argdefs=defaults, closure=cells)


class LiveText(str):
    """Text in a config that still has the object of this process that it stands for.

    A config of `get_config` can thus be used at once, whereas in what was read from a file or from
    JSON there is the text alone, which is not trusted. `written` is what a file gets in its place.
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


# Programs that look at the types in a config find the text that it is for them.
LiveText.__name__ = LiveText.__qualname__ = "str"


def without_live_text(config: Any) -> Any:
    """A config as it goes into a file."""
    if isinstance(config, LiveText):
        return config.written
    if isinstance(config, dict):
        return {key: without_live_text(value) for key, value in config.items()}
    if type(config) in (list, tuple):
        return type(config)(without_live_text(value) for value in config)
    return config


class _Trust(threading.local):
    """What the blocks say that a thread is in."""

    safe_mode: bool | None = None


class _Everywhere:
    unsafe = False


_trust = _Trust()


@contextmanager
def safe_mode_scope(safe_mode: bool | None) -> Iterator[None]:
    """Say for a block of code whether what is loaded may bring code of its own."""
    outer, _trust.safe_mode = _trust.safe_mode, safe_mode
    try:
        yield
    finally:
        _trust.safe_mode = outer


def enable_unsafe_deserialization() -> None:
    """Let loading run the code that files bring along, from now on and in all threads."""
    _Everywhere.unsafe = True


def in_safe_mode() -> bool | None:
    """Whether loading refuses code: True or False as the user said, None if nobody said."""
    return False if _Everywhere.unsafe else _trust.safe_mode


def is_trusted() -> bool:
    """Whether the user said that what is loaded may do anything."""
    return in_safe_mode() is False


def loading_scope(safe_mode: bool = True) -> Any:
    """The scope in which a config is read: what an outer one says counts, else `safe_mode`."""
    said = in_safe_mode()
    return safe_mode_scope(safe_mode if said is None else said)


def require_trust(what: str) -> None:
    """Refuse to load code unless the user passed `safe_mode=False`."""
    if not is_trusted():
        raise ValueError(
            f"Requested the deserialization of {what}. This carries a potential risk of arbitrary "
            "code execution and thus it is disallowed by default. If you trust the source of the "
            "saved model, you can pass `safe_mode=False` to the loading function, or load it "
            "inside of `with tf.keras.saving.SafeModeScope(False):`."
        )
