"""Calls from converted code: which functions are converted recursively, and which are not."""

from __future__ import annotations

import functools
import inspect
import os
import sysconfig
import types
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..core.logger import get_logger
from . import conversion
from .builtin_functions import call_builtin, is_builtin
from .errors import AutoGraphError, explained
from .options import STD, ConversionOptions

_PACKAGE = str(Path(__file__).resolve().parent.parent) + os.sep
_STANDARD = tuple(
    {path for name, path in sysconfig.get_paths().items() if name in ("stdlib", "platstdlib")}
)
_INSTALLED = ("site-packages", "dist-packages")

_AS_IS = (
    "AutoGraph could not transform %s and will run it as-is.\nCause: %s\nTo silence this warning, "
    "decorate the function with @tf.autograph.experimental.do_not_convert"
)
_CONTROL_FLOW = ("runnel.ops.control_flow", "runnel.ops.mapping")
_CALLING_BACK = (map, filter, sorted, min, max)
_told: weakref.WeakSet[types.CodeType] = weakref.WeakSet()


def converted_call(
    f: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None,
    caller_fn_scope: Any = None,
    options: ConversionOptions | None = None,
) -> Any:
    """Call a function from converted code, after converting it if it is the user's."""
    keywords = kwargs or {}
    if options is None:
        options = STD if caller_fn_scope is None else caller_fn_scope.callopts
    if is_builtin(f):
        if f in _CALLING_BACK and options.recursive:
            args, keywords = _converted_arguments(args, keywords, options)
        return call_builtin(f, args, keywords)
    if not options.recursive or isinstance(f, type):
        return f(*args, **keywords)
    if isinstance(f, functools.partial):
        merged = {**f.keywords, **keywords}
        return converted_call(f.func, (*f.args, *args), merged, caller_fn_scope, options)
    if getattr(f, "__module__", None) in _CONTROL_FLOW:
        args, keywords = _converted_arguments(args, keywords, options)
        return f(*args, **keywords)
    function, bound = _python_function(f)
    if function is None or not is_users(function):
        return f(*args, **keywords)
    made = converted_function(function, options)
    return f(*args, **keywords) if made is None else made(*bound, *args, **keywords)


def _converted_arguments(
    args: tuple[Any, ...], keywords: dict[str, Any], options: ConversionOptions
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a higher-order function, which would call them unconverted."""
    return (
        tuple(_as_argument(each, options) for each in args),
        {name: _as_argument(each, options) for name, each in keywords.items()},
    )


def _as_argument(value: Any, options: ConversionOptions) -> Any:
    if not isinstance(value, types.FunctionType | types.MethodType):
        return value

    @functools.wraps(value)
    def call(*args: Any, **kwargs: Any) -> Any:
        return converted_call(value, args, kwargs, None, options)

    return call


def _python_function(f: Any) -> tuple[types.FunctionType | None, tuple[Any, ...]]:
    """The Python function that implements a callable, and its bound `self`."""
    if isinstance(f, types.FunctionType):
        return f, ()
    if isinstance(f, types.MethodType):
        function, bound = _python_function(f.__func__)
        return function, (f.__self__, *bound)
    if isinstance(f, types.BuiltinFunctionType | types.MethodWrapperType):
        return None, ()
    called = inspect.getattr_static(type(f), "__call__", None)
    if isinstance(called, types.FunctionType):
        return called, (f,)
    return None, ()


def is_left_alone(function: Any) -> bool:
    """Whether a function is converted already, opted out, or belongs to this library."""
    if getattr(function, "ag_artifact", False) or getattr(function, "ag_do_not_convert", False):
        return True
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(_PACKAGE)


def is_users(function: types.FunctionType) -> bool:
    """Whether a function is the user's: not of the library, the standard library or a package."""
    filename = function.__code__.co_filename
    if is_left_alone(function):
        return False
    if any(each in filename for each in _INSTALLED):
        # Installed packages are converted if they depend on this library.
        return any(
            isinstance(each, types.ModuleType) and each.__name__.partition(".")[0] in _OWN_NAMES
            for each in list(function.__globals__.values())
        )
    return not filename.startswith(_STANDARD) and not filename.startswith("<frozen")


_OWN_NAMES = ("runnel", "tensorflow")


def converted_function(
    function: types.FunctionType, options: ConversionOptions
) -> types.FunctionType | None:
    """The converted function; None, with a warning, if conversion fails."""
    try:
        return conversion.convert_code(function, options).of(function)
    except AutoGraphError as failure:
        _tell(function, str(failure))
    except Exception as failure:
        # A function that cannot be converted still runs, and a warning is logged.
        _tell(function, f"{type(failure).__name__}: {failure}")
    return None


def _tell(function: types.FunctionType, cause: str) -> None:
    code = function.__code__
    if code in _told:
        return
    _told.add(code)
    where = f"{function!r} ({code.co_filename}:{code.co_firstlineno})"
    get_logger().warning(_AS_IS, where, cause)


def convert(
    python_function: Callable[..., Any], optional_features: Any = None
) -> Callable[..., Any]:
    """An equivalent function whose control flow can be staged.

    Errors raised from it refer to the user's lines. If conversion fails, a warning is logged and
    the function itself is returned.
    """
    if isinstance(python_function, functools.partial):
        inner = convert(python_function.func, optional_features)
        return functools.partial(inner, *python_function.args, **python_function.keywords)
    options = ConversionOptions(
        recursive=True, user_requested=True, optional_features=optional_features or ()
    )
    function, bound = behind(python_function)
    if function is None or is_left_alone(python_function) or is_left_alone(function):
        return python_function
    made = converted_function(function, options)
    if made is None:
        return python_function

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return made(*bound, *args, **kwargs)
        except Exception as failure:
            raised = explained(failure)
            if raised is failure:
                raise
            raise raised from failure.__cause__

    wraps = python_function if hasattr(python_function, "__name__") else function
    return functools.update_wrapper(call, wraps, updated=())


def behind(f: Any) -> tuple[types.FunctionType | None, tuple[Any, ...]]:
    """The Python function that tf.function or a user's object wraps."""
    method = inspect.getattr_static(type(f), "method", None)
    if isinstance(method, property) and type(f).__module__ == "runnel.core.graph.function":
        # tf.function's methods hold their object weakly; the conversion lives as long as a trace.
        f = f.method
    return _python_function(f)
