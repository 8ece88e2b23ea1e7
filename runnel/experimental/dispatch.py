"""Public functions that do something of their own for values of extension types.

`convert_operands` makes some of them convert their two operands first, too. The first use of a
function replaces the code of that very function object by one that
looks for a handler; so every reference to the function, held anywhere, dispatches, and functions
that nobody dispatches cost nothing.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator
from types import FunctionType, UnionType
from typing import Any

import runnel as tf

from .fields import is_composite

_UNARY = """
bitwise.invert clip_by_value debugging.check_numerics dtypes.cast dtypes.saturate_cast
image.adjust_brightness image.adjust_gamma image.convert_image_dtype image.random_brightness
image.stateless_random_brightness io.decode_base64 io.decode_compressed io.encode_base64 math.abs
math.acos math.acosh math.angle math.asin math.asinh math.atan math.atanh math.ceil math.conj
math.cos math.cosh math.digamma math.erf math.erfc math.erfcinv math.erfinv math.exp math.expm1
math.floor math.imag math.is_finite math.is_inf math.is_nan math.lgamma math.log math.log1p
math.log_sigmoid math.logical_not math.ndtri math.negative math.nextafter math.real math.reciprocal
math.reciprocal_no_nan math.rint math.round math.rsqrt math.sigmoid math.sign math.sin math.sinh
math.softplus math.softsign math.special.bessel_i0 math.special.bessel_i0e math.special.bessel_i1
math.special.bessel_i1e math.special.bessel_j0 math.special.bessel_j1 math.special.bessel_k0
math.special.bessel_k0e math.special.bessel_k1 math.special.bessel_k1e math.special.bessel_y0
math.special.bessel_y1 math.special.dawsn math.special.expint math.special.fresnel_cos
math.special.fresnel_sin math.special.spence math.sqrt math.square math.tan math.tanh nn.elu
nn.gelu nn.leaky_relu nn.relu nn.relu6 nn.selu nn.silu ones_like strings.as_string strings.length
strings.lower strings.regex_full_match strings.regex_replace strings.strip strings.substr
strings.to_hash_bucket strings.to_hash_bucket_fast strings.to_hash_bucket_strong strings.to_number
strings.unicode_script strings.unicode_transcode strings.upper zeros_like
"""
_BINARY = """
bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor bitwise.left_shift bitwise.right_shift
dtypes.complex math.add math.atan2 math.divide math.divide_no_nan math.equal math.floordiv
math.floormod math.greater math.greater_equal math.less math.less_equal math.logical_and
math.logical_or math.logical_xor math.maximum math.minimum math.multiply math.multiply_no_nan
math.not_equal math.pow math.scalar_mul math.squared_difference math.subtract math.truediv
math.xdivy math.xlog1py math.xlogy math.zeta nn.sigmoid_cross_entropy_with_logits realdiv
truncatediv truncatemod
"""
_ASSERTIONS = """
debugging.assert_equal debugging.assert_greater debugging.assert_greater_equal
debugging.assert_less debugging.assert_less_equal debugging.assert_near debugging.assert_none_equal
"""


class _Handler:
    """What to call where the arguments have the types that a signature names."""

    def __init__(self, target: Any, signature: dict[str, Any], call: Callable[..., Any]) -> None:
        self.target = target
        self.signature = signature
        self.call = call

    def fits(self, arguments: dict[str, Any]) -> bool:
        found = [
            _match(annotation, arguments[name]) if name in arguments else None
            for name, annotation in self.signature.items()
        ]
        return None not in found and any(found)


class _Api:
    """A function that dispatches: what it was before, and its handlers in the order they came."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.signature = inspect.signature(function)
        self.handlers: list[_Handler] = []
        self.convert: Callable[[Any, Any], tuple[Any, Any]] | None = None
        self._defaults = function.__defaults__, function.__kwdefaults__
        self._code = function.__code__
        self.original = FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__,
            function.__closure__,
        )  # fmt: skip
        self.original.__kwdefaults__ = function.__kwdefaults__

    def converted(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with their two operands converted, by position or by name."""
        names = list(self.signature.parameters)[:2]
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        if self.convert is None or not all(name in given for name in names):
            return args, kwargs
        operands = dict(zip(names, self.convert(*[given[name] for name in names]), strict=True))
        rest = {name: operands.get(name, value) for name, value in kwargs.items()}
        return (*list(operands.values())[: len(args)], *args[2:]), rest

    def install(self) -> None:
        template = _template.__code__
        constants = tuple(self if each == "<api>" else each for each in template.co_consts)
        self.function.__signature__ = self.signature  # type: ignore[attr-defined]
        self.function.__code__ = template.replace(
            co_consts=constants,
            co_name=self._code.co_name,
            co_freevars=self._code.co_freevars,
        )
        self.function.__defaults__ = self.function.__kwdefaults__ = None

    def remove(self) -> None:
        self.function.__code__ = self._code
        self.function.__defaults__, self.function.__kwdefaults__ = self._defaults
        del self.function.__signature__  # type: ignore[attr-defined]


def _template(*args: Any, **kwargs: Any) -> Any:
    from runnel.experimental.dispatch import routed

    return routed("<api>", args, kwargs)  # type: ignore[arg-type]


_apis: dict[FunctionType, _Api] = {}


def routed(api: _Api, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call the first handler that fits, or the function as it was."""
    if api.convert is not None:
        args, kwargs = api.converted(args, kwargs)
    if any(map(_holds_composite, args)) or any(map(_holds_composite, kwargs.values())):
        try:
            arguments = api.signature.bind(*args, **kwargs).arguments
        except TypeError:
            return api.original(*args, **kwargs)  # it explains what is wrong
        for handler in api.handlers:
            if handler.fits(arguments):
                result = handler.call(api.function, arguments)
                if result is not NotImplemented:
                    return result
    return api.original(*args, **kwargs)


def _holds_composite(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_holds_composite, value))
    return is_composite(type(value))


def _match(annotation: Any, value: Any) -> bool | None:
    """None where a value does not have the annotated type, else whether it is a composite."""
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


def _check_annotation(annotation: Any) -> None:
    origin = typing.get_origin(annotation)
    if origin in (list, typing.Union, UnionType):
        for each in typing.get_args(annotation):
            _check_annotation(each)
    elif origin is not None or not isinstance(annotation, type):
        raise ValueError(
            f"Type annotation {annotation} is not currently supported by dispatch. Supported "
            "annotations: type objects, List[...], and Union[...]"
        )


def _api_of(function: Any) -> _Api:
    if not isinstance(function, FunctionType) or not function.__module__.startswith("runnel"):
        raise ValueError(f"{function} does not support dispatch.")
    return _apis.get(function) or _Api(function)


def _register(api: _Api, handler: _Handler) -> None:
    _install(api)
    api.handlers.append(handler)


def _install(api: _Api) -> None:
    if api.function not in _apis:
        _apis[api.function] = api
        api.install()


def _remove_unused() -> None:
    for function, api in list(_apis.items()):
        if not api.handlers and api.convert is None:
            api.remove()
            del _apis[function]


def convert_operands(paths: str, convert: Callable[[Any, Any], tuple[Any, Any]] | None) -> None:
    """Let functions `f(x, y)` start with `x, y = convert(x, y)`; with None, no longer."""
    for function in _functions(paths):
        api = _api_of(function)
        api.convert = convert
        if convert is not None:
            _install(api)
    _remove_unused()


def dispatch_for_api(api: Any, *signatures: Any) -> Callable[[Any], Any]:
    """Let the decorated function stand for a public one where its arguments have certain types.

    A signature maps names or positions of parameters to types, `List[type]` or `Union[...]`;
    without any, the annotations of the decorated function are the signature.

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
    entry = _api_of(api)
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
                _check_annotation(annotation)

        def call(function: Any, arguments: dict[str, Any]) -> Any:
            given = {k: v for k, v in arguments.items() if takes_name or k != "name"}
            return target(**given)

        for signature in annotated:
            _register(entry, _Handler(target, signature, call))
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


def _functions(listed: str) -> Iterator[FunctionType]:
    for path in listed.split():
        function: Any = tf
        for part in path.split("."):
            function = getattr(function, part)
        yield function


def _elementwise(listed: str, *types: Any) -> Callable[[Any], Any]:
    """A decorator of a handler `(api_func, *operands)` for all functions of a list."""
    for annotation in types:
        _check_annotation(annotation)

    def decorate(handler: Any) -> Any:
        for function in _functions(listed):
            api = _api_of(function)
            names = list(api.signature.parameters)[: len(types)]
            call = _on_operands(handler, names)
            _register(api, _Handler(handler, dict(zip(names, types, strict=True)), call))
        return handler

    return decorate


def _on_operands(handler: Any, names: list[str]) -> Callable[..., Any]:
    def call(function: Any, arguments: dict[str, Any]) -> Any:
        others = {name: value for name, value in arguments.items() if name not in names}

        def api_func(*operands: Any) -> Any:
            return function(**dict(zip(names, operands, strict=True)), **others)

        api_func.__name__ = function.__name__
        return handler(api_func, *[arguments[name] for name in names])

    return call


def dispatch_for_unary_elementwise_apis(x_type: Any) -> Callable[[Any], Any]:
    """Let the decorated `handler(api_func, x)` stand for all functions of single elements.

    `api_func` is the function that was called, with its other arguments filled in.

    >>> class Masked(tf.experimental.ExtensionType):
    ...     values: tf.Tensor
    ...     mask: tf.Tensor
    >>> @tf.experimental.dispatch_for_unary_elementwise_apis(Masked)
    ... def handler(api_func, x):
    ...     return Masked(api_func(x.values), x.mask)
    >>> tf.abs(Masked([1, -2], [True, False])).values.numpy()
    array([1, 2], dtype=int32)
    >>> tf.experimental.unregister_dispatch_for(handler)
    """
    return _elementwise(_UNARY, x_type)


def dispatch_for_binary_elementwise_apis(x_type: Any, y_type: Any) -> Callable[[Any], Any]:
    """Let the decorated `handler(api_func, x, y)` stand for all functions of pairs of elements."""
    return _elementwise(_BINARY, x_type, y_type)


def dispatch_for_binary_elementwise_assert_apis(x_type: Any, y_type: Any) -> Callable[[Any], Any]:
    """Let the decorated `handler(assert_func, x, y)` stand for assertions on pairs of elements."""
    return _elementwise(_ASSERTIONS, x_type, y_type)


def unregister_dispatch_for(dispatch_target: Any) -> None:
    """Undo a `dispatch_for_*` of this function; ValueError if there is none."""
    found = False
    for api in _apis.values():
        kept = [handler for handler in api.handlers if handler.target is not dispatch_target]
        found = found or len(kept) < len(api.handlers)
        api.handlers[:] = kept
    _remove_unused()
    if not found:
        raise ValueError(
            f"Function {dispatch_target} was not registered using a `@dispatch_for_*` decorator."
        )
