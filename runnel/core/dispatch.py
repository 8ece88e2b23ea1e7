"""Type-based dispatch of public functions (`tf.experimental.dispatch_for_api`).

The first handler of a function replaces the code of that function object by code that searches for
a handler; so every existing reference to the function dispatches, and functions without handlers
have no overhead. `convert_operands` makes functions convert their two operands first.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable
from types import FunctionType, UnionType
from typing import Any

from .composites import is_composite
from .exchange import Exchange


class Handler:
    """The handler called where the arguments match the types of a signature."""

    def __init__(self, target: Any, signature: dict[str, Any], call: Callable[..., Any]) -> None:
        """`call(function, arguments)` receives the arguments given, by name."""
        self.target = target
        self.signature = signature
        self.call = call

    def fits(self, arguments: dict[str, Any]) -> bool:
        """Whether the arguments match the types, and at least one matches a composite type."""
        found = [
            _match(annotation, arguments[name]) if name in arguments else None
            for name, annotation in self.signature.items()
        ]
        return None not in found and any(found)


class Api:
    """A dispatching function, with its handlers in order of registration."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.signature = inspect.signature(function)
        self.handlers: list[Handler] = []
        self.convert: Callable[[Any, Any], tuple[Any, Any]] | None = None
        self._exchange: Exchange | None = None
        self._plain: Callable[..., Any] = function

    def install(self) -> None:
        """Redirect the function's calls to this dispatcher."""
        if self._exchange is None:
            _apis[self.function] = self
            self._exchange = Exchange(self.function, self._instead_of, as_given=True)

    def remove_unused(self) -> None:
        """Restore the function's own code if no handlers are left."""
        if self._exchange is not None and not self.handlers and self.convert is None:
            self._exchange.undo()
            del _apis[self.function]

    def _instead_of(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        self._plain = plain
        return self._called

    def _called(self, *args: Any, **kwargs: Any) -> Any:
        """Call the first matching handler, or the original function."""
        if self.convert is not None:
            args, kwargs = self._converted(args, kwargs)
        if any(map(_holds_composite, args)) or any(map(_holds_composite, kwargs.values())):
            try:
                arguments = self.signature.bind(*args, **kwargs).arguments
            except TypeError:
                return self._plain(*args, **kwargs)  # raises the explanatory error
            for handler in self.handlers:
                if handler.fits(arguments):
                    result = handler.call(self.function, arguments)
                    if result is not NotImplemented:
                        return result
        return self._plain(*args, **kwargs)

    def _converted(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with the two operands converted, by position or by name."""
        names = list(self.signature.parameters)[:2]
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        if self.convert is None or not all(name in given for name in names):
            return args, kwargs
        operands = dict(zip(names, self.convert(*[given[name] for name in names]), strict=True))
        rest = {name: operands.get(name, value) for name, value in kwargs.items()}
        return (*list(operands.values())[: len(args)], *args[2:]), rest


_apis: dict[FunctionType, Api] = {}


def _holds_composite(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_holds_composite, value))
    return is_composite(type(value))


def _match(annotation: Any, value: Any) -> bool | None:
    """None if a value does not match the annotation, else whether it is a composite."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, UnionType):
        found = [_match(each, value) for each in arguments]
        return None if all(each is None for each in found) else any(found)
    if origin is list:
        if not isinstance(value, list | tuple):
            return None
        found = [_match(arguments[0], each) for each in value]
        return None if None in found else any(found)
    if isinstance(value, annotation):
        return is_composite(type(value))
    return None


def check_annotation(annotation: Any) -> None:
    """Raise ValueError unless this annotation can be dispatched on."""
    origin = typing.get_origin(annotation)
    if origin in (list, typing.Union, UnionType):
        for each in typing.get_args(annotation):
            check_annotation(each)
    elif origin is not None or not isinstance(annotation, type):
        raise ValueError(
            f"Type annotation {annotation} is not currently supported by dispatch. Supported "
            "annotations: type objects, List[...], and Union[...]"
        )


def api_of(function: Any) -> Api:
    """The dispatcher of a public function; ValueError for any other function."""
    if not isinstance(function, FunctionType) or not function.__module__.startswith("runnel"):
        raise ValueError(f"{function} does not support dispatch.")
    return _apis.get(function) or Api(function)


def register(api: Api, handler: Handler) -> None:
    """Append a handler to those registered before."""
    api.install()
    api.handlers.append(handler)


def convert_operands(
    functions: Iterable[Any], convert: Callable[[Any, Any], tuple[Any, Any]] | None
) -> None:
    """Let functions `f(x, y)` start with `x, y = convert(x, y)`; None removes the conversion."""
    for function in functions:
        api = api_of(function)
        api.convert = convert
        if convert is not None:
            api.install()
        else:
            api.remove_unused()


def dispatch_for_api(api: Any, *signatures: Any) -> Callable[[Any], Any]:
    """Register the decorated function as the implementation of a public one for some argument
    types.

    A signature maps parameter names or positions to types, `List[type]` or `Union[...]`; without
    signatures, the annotations of the decorated function are used.

    >>> class Masked(tf.experimental.ExtensionType):
    ...     values: tf.Tensor
    ...     mask: tf.Tensor
    >>> @tf.experimental.dispatch_for_api(tf.add)
    ... def masked_add(x: Masked, y: Masked):
    ...     return Masked(x.values + y.values, x.mask & y.mask)
    >>> tf.add(Masked([1, 2], [True, False]), Masked(10, True)).values.numpy()
    array([11, 12], dtype=int32)
    >>> tf.experimental.unregister_dispatch_for(masked_add)
    """
    for signature in signatures:
        if not isinstance(signature, dict):
            raise TypeError(
                "signatures must be dictionaries mapping parameter names to type annotations, "
                f"got {signature!r}."
            )
    entry = api_of(api)
    names = list(entry.signature.parameters)

    def decorate(target: Any) -> Any:
        own = inspect.signature(target)
        takes_name = "name" in own.parameters
        expected = names if takes_name else [name for name in names if name != "name"]
        if list(own.parameters) != expected:
            raise ValueError(
                f"Dispatch function's signature {own} does not match API's signature "
                f"{entry.signature}. The parameters must have the same names in the same order."
            )
        annotated = [_named(signature, names) for signature in signatures]
        if not annotated:
            hints = typing.get_type_hints(target)
            annotated = [{name: hints[name] for name in own.parameters if name in hints}]
        if not any(annotated):
            raise ValueError(
                "The dispatch_for_api decorator must be called with at least one signature, or "
                "applied to a function that has type annotations on its parameters."
            )
        for signature in annotated:
            for annotation in signature.values():
                check_annotation(annotation)

        def call(function: Any, arguments: dict[str, Any]) -> Any:
            given = {k: v for k, v in arguments.items() if takes_name or k != "name"}
            return target(**given)

        for signature in annotated:
            register(entry, Handler(target, signature, call))
        return target

    return decorate


def _named(signature: dict[Any, Any], names: list[str]) -> dict[str, Any]:
    named = {names[key] if isinstance(key, int) else key: kind for key, kind in signature.items()}
    for name in named:
        if name not in names:
            raise ValueError(
                f"signature includes annotation for unknown parameter {name!r}; the parameters "
                f"are {', '.join(names)}."
            )
    return named


def unregister_dispatch_for(dispatch_target: Any) -> None:
    """Remove the `dispatch_for_*` registrations of this function; ValueError if there are none."""
    found = False
    for api in list(_apis.values()):
        kept = [handler for handler in api.handlers if handler.target is not dispatch_target]
        found = found or len(kept) < len(api.handlers)
        api.handlers[:] = kept
        api.remove_unused()
    if not found:
        raise ValueError(
            f"Function {dispatch_target} was not registered using a `@dispatch_for_*` decorator."
        )
