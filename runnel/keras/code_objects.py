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


def dump_code(function: Callable) -> tuple[str, Any, Any]:
    """The code of a function in base64, its defaults, and the values that it closes over."""
    code = base64.encodebytes(marshal.dumps(function.__code__)).decode("ascii")
    cells = function.__closure__
    closure = tuple(cell.cell_contents for cell in cells) if cells else None
    return code, function.__defaults__, closure


def load_code(dumped: Any, global_names: dict[str, Any] | None = None) -> Callable:
    """The function that `dump_code` described; call it only for what the user trusts."""
    text, defaults, closure = dumped
    code = marshal.loads(base64.decodebytes(text.encode("ascii")))
    cells = tuple(types.CellType(value) for value in closure) if closure else None
    defaults = tuple(defaults) if defaults else None
    names = globals() if global_names is None else global_names
    return types.FunctionType(code, names, name=code.co_name, argdefs=defaults, closure=cells)


class _Trust(threading.local):
    safe_mode: bool | None = None


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
    _Trust.safe_mode = False


def in_safe_mode() -> bool | None:
    """Whether loading refuses code: True or False as the user said, None if nobody said."""
    return _trust.safe_mode


def require_trust(what: str) -> None:
    """Refuse to load code unless the user passed `safe_mode=False`."""
    if _trust.safe_mode is not False:
        raise ValueError(
            f"Requested the deserialization of {what}. This carries a potential risk of arbitrary "
            "code execution and thus it is disallowed by default. If you trust the source of the "
            "saved model, you can pass `safe_mode=False` to the loading function."
        )
