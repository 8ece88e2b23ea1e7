"""tf.autograph: explicit conversion, inspection of the result, and opting out."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from . import calls, conversion
from .errors import AutoGraphError, ConversionError, UnsupportedLanguageElementError
from .options import ConversionOptions


def to_graph(
    entity: Any, recursive: bool = True, experimental_optional_features: Any = None
) -> Callable[..., Any]:
    """Convert a function with AutoGraph, so that its control flow may depend on tensors.

    >>> def positive(x):
    ...     return x if x > 0 else -x
    >>> tf.autograph.to_graph(positive)(tf.constant(-3))
    <tf.Tensor: shape=(), dtype=int32, numpy=3>
    """
    function, bound = _function_of(entity)
    converted = _converted(entity, function, recursive, experimental_optional_features)
    made = converted.of(function)
    return types.MethodType(made, bound[0]) if bound else made


def to_code(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> str:
    """The source code that AutoGraph generates for a function.

    >>> def double(x):
    ...     if x > 0:
    ...         x = 2 * x
    ...     return x
    >>> print(tf.autograph.to_code(double))
    def tf__double(x):
        ...
            ag__.if_stmt(ag__.ld(x) > 0, if_body, else_body, get_state, set_state, ('x',), 1)
            ...
    """
    function, _ = _function_of(entity)
    return _converted(entity, function, recursive, experimental_optional_features).text()


def _function_of(entity: Any) -> tuple[types.FunctionType, tuple[Any, ...]]:
    function, bound = (None, ()) if isinstance(entity, type) else calls.behind(entity)
    of_library = isinstance(function, types.FunctionType) and calls.is_left_alone(function)
    if function is None or (of_library and not isinstance(entity, types.FunctionType)):
        raise ConversionError(
            f"converting {entity!r}: ValueError: Cannot apply autograph to a function that doesn't "
            "expose a __code__ object. If this is a @tf.function, try passing f.python_function "
            "instead."
        )
    return function, bound


def _converted(
    entity: Any, function: types.FunctionType, recursive: bool, features: Any
) -> conversion.Converted:
    options = ConversionOptions(
        recursive=recursive, user_requested=True, optional_features=features or ()
    )
    try:
        return conversion.convert_code(function, options)
    except UnsupportedLanguageElementError:
        raise
    except AutoGraphError as failure:
        kind = type(failure).__name__
        raise ConversionError(f"converting {entity!r}: {kind}: {failure}") from None


def do_not_convert(func: Any = None) -> Any:
    """Exclude a function from conversion when its callers are converted.

    >>> @tf.autograph.experimental.do_not_convert
    ... def plain(x):
    ...     return x + 1
    >>> plain(1)
    2
    """
    if func is None:
        return do_not_convert

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    functools.update_wrapper(wrapper, func, updated=())
    wrapper.ag_do_not_convert = True  # type: ignore[attr-defined]
    return wrapper


def trace(*args: Any) -> None:
    """Print values at trace time.

    >>> tf.autograph.trace("x is", 3)
    x is 3
    """
    print(*args)


def set_loop_options(
    parallel_iterations: Any = None,
    swap_memory: Any = None,
    maximum_iterations: Any = None,
    shape_invariants: Any = None,
) -> None:
    """Set options of the staged loop whose body begins with this call; `shape_invariants` is a list
    of pairs of a loop variable and its shape invariant.

    >>> def pad(x, n):
    ...     for _ in tf.range(n):
    ...         tf.autograph.experimental.set_loop_options(
    ...             shape_invariants=[(x, tf.TensorShape([None]))])
    ...         x = tf.concat([x, [0]], 0)
    ...     return x
    >>> pad(tf.constant([1]), tf.constant(2)).numpy().tolist()
    [1, 0, 0]
    """
