"""AutoGraph's exceptions, and the mapping of errors in converted functions to the user's lines."""

from __future__ import annotations

import builtins
import linecache
import re
import traceback
import types
import weakref

from ..core import errors as core_errors


class AutoGraphError(Exception):
    """The base class of AutoGraph errors."""


class ConversionError(AutoGraphError):
    """A function cannot be converted."""


class InaccessibleSourceCodeError(AutoGraphError, ValueError):
    """The source of a function is not available."""


class UnsupportedLanguageElementError(AutoGraphError, NotImplementedError):
    """A Python construct that AutoGraph does not convert."""


class MultilineMessageKeyError(KeyError):
    """A KeyError whose message is printed verbatim."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self._message = message

    def __str__(self) -> str:
        return self._message


# The exception class that users see and catch.
MultilineMessageKeyError.__name__ = MultilineMessageKeyError.__qualname__ = "KeyError"


# For each generated code object: the user's name for it, and whether it is only a part of that
# function, such as a loop body.
_converted: weakref.WeakKeyDictionary[types.CodeType, tuple[str, bool]]
_converted = weakref.WeakKeyDictionary()
_PARTS = re.compile(r"(if_body|else_body|loop_body|loop_test|extra_test|[gs]et_state)(_\d+)?$|<")


def named_for_user(code: types.CodeType, name: str, is_part: bool = False) -> types.CodeType:
    """Converted code whose frames, and those of its parts, have the user's function name."""
    constants = []
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner = constant.co_name
            part = _PARTS.match(inner) is not None
            constant = named_for_user(constant, name if part else inner, part)
        constants.append(constant)
    shown = code.co_name if code.co_name.startswith("<") else name
    named = code.replace(co_name=shown, co_consts=tuple(constants))
    _converted[named] = name, is_part
    return named


def user_lines(failure: BaseException) -> list[tuple[str, int, str]]:
    """The file, line and function of each converted frame in an exception's traceback."""
    found: list[tuple[str, int, str]] = []
    for frame, line in traceback.walk_tb(failure.__traceback__):
        name, is_part = _converted.get(frame.f_code, ("", False))
        if not name:
            continue
        filename = frame.f_code.co_filename
        if is_part and found and (found[-1][0], found[-1][2]) == (filename, name):
            found.pop()
        found.append((filename, line, name))
    return found


def explained(failure: Exception) -> Exception:
    """The exception with the user's lines in its message, if its class allows that."""
    if getattr(failure, "_user_lines_told", False):
        return failure
    lines = user_lines(failure)
    kind = type(failure)
    if not lines or (len(failure.args) > 1 and not isinstance(failure, core_errors.OpError)):
        return failure
    text = "in user code:\n"
    for filename, line, name in lines:
        text += f'\n    File "{filename}", line {line}, in {name}  *'
        text += f"\n        {linecache.getline(filename, line).strip()}"
    message = failure.message if isinstance(failure, core_errors.OpError) else str(failure)
    indented = str(message).replace("\n", "\n    ")
    text += f"\n\n    {kind.__name__}: {indented}\n"
    told = _rebuilt(failure, kind, text)
    if told is None:
        return failure
    told._user_lines_told = True  # type: ignore[attr-defined]
    return told.with_traceback(failure.__traceback__)


def _rebuilt(failure: Exception, kind: type[Exception], text: str) -> Exception | None:
    if kind is KeyError:
        return MultilineMessageKeyError(text)
    if isinstance(failure, core_errors.OpError):
        try:
            return kind(failure.node_def, failure.op, text)
        except TypeError:
            # A user-defined class with other constructor arguments.
            return None
    plain = kind is getattr(builtins, kind.__name__, None) or kind.__module__.startswith("runnel.")
    if not plain or len(failure.args) != 1 or not isinstance(failure.args[0], str):
        return None
    told = kind.__new__(kind)
    told.__dict__.update(failure.__dict__)
    told.args = (text,)
    return told
