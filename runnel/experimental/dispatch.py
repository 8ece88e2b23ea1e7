"""Dispatch of public functions on extension types.

The mechanism is in `core/dispatch.py`; here are the unary and binary element-wise functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import runnel as tf

from ..core import dispatch
from ..core.dispatch import (
    Handler,
    api_of,
    check_annotation,
    dispatch_for_api as dispatch_for_api,
    register,
    unregister_dispatch_for as unregister_dispatch_for,
)

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


def _functions(listed: str) -> Iterator[FunctionType]:
    for path in listed.split():
        function: Any = tf
        for part in path.split("."):
            function = getattr(function, part)
        yield function


def convert_operands(paths: str, convert: Callable[[Any, Any], tuple[Any, Any]] | None) -> None:
    """Make functions `f(x, y)` start with `x, y = convert(x, y)`; None removes this."""
    dispatch.convert_operands(_functions(paths), convert)


def _elementwise(listed: str, *types: Any) -> Callable[[Any], Any]:
    """A decorator that registers a handler `(api_func, *operands)` for all functions of a list."""
    for annotation in types:
        check_annotation(annotation)

    def decorate(handler: Any) -> Any:
        for function in _functions(listed):
            api = api_of(function)
            names = list(api.signature.parameters)[: len(types)]
            call = _on_operands(handler, names)
            register(api, Handler(handler, dict(zip(names, types, strict=True)), call))
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
    """Register the decorated `handler(api_func, x)` for all unary element-wise functions.

    `api_func` is the called function, with its other arguments bound.

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
    """Register the decorated `handler(api_func, x, y)` for all binary element-wise functions."""
    return _elementwise(_BINARY, x_type, y_type)


def dispatch_for_binary_elementwise_assert_apis(x_type: Any, y_type: Any) -> Callable[[Any], Any]:
    """Register the decorated `handler(assert_func, x, y)` for binary element-wise assertions."""
    return _elementwise(_ASSERTIONS, x_type, y_type)
