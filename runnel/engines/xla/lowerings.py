"""What operations are in terms of JAX. Sizes, axes and the like are known when XLA compiles."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

Lowering = Callable[..., Any]


def _jnp() -> Any:
    return import_module("jax.numpy")


def _lax() -> Any:
    return import_module("jax.lax")


def _nn() -> Any:
    return import_module("jax.nn")


def _of(module: Callable[[], Any], name: str) -> Lowering:
    """The function of a module of JAX's, looked up when it is needed."""
    return lambda *arrays: getattr(module(), name)(*arrays)


_NUMPY = {
    "AddV2": "add", "Add": "add", "Sub": "subtract", "Mul": "multiply", "RealDiv": "true_divide",
    "FloorDiv": "floor_divide", "FloorMod": "mod", "Pow": "power", "Maximum": "maximum",
    "Minimum": "minimum", "Neg": "negative", "Abs": "abs", "Exp": "exp", "Expm1": "expm1",
    "Log": "log", "Log1p": "log1p", "Sqrt": "sqrt", "Square": "square", "Sin": "sin", "Cos": "cos",
    "Tan": "tan", "Asin": "arcsin", "Acos": "arccos", "Atan": "arctan", "Atan2": "arctan2",
    "Sinh": "sinh", "Cosh": "cosh", "Tanh": "tanh", "Sign": "sign", "Floor": "floor",
    "Ceil": "ceil", "Rint": "rint", "Round": "rint", "Less": "less", "LessEqual": "less_equal",
    "Greater": "greater", "GreaterEqual": "greater_equal", "LogicalAnd": "logical_and",
    "LogicalOr": "logical_or", "LogicalNot": "logical_not", "IsNan": "isnan", "IsInf": "isinf",
    "IsFinite": "isfinite", "Reciprocal": "reciprocal", "ZerosLike": "zeros_like",
    "OnesLike": "ones_like", "SelectV2": "where",
}  # fmt: skip
_ACTIVATIONS = {
    "Relu": "relu", "Relu6": "relu6", "Elu": "elu", "Selu": "selu", "Softplus": "softplus",
    "Softsign": "soft_sign", "Sigmoid": "sigmoid", "Softmax": "softmax",
    "LogSoftmax": "log_softmax",
}  # fmt: skip
_REDUCTIONS = {"Sum": "sum", "Mean": "mean", "Max": "max", "Min": "min", "Prod": "prod",
               "All": "all", "Any": "any"}  # fmt: skip


def _reduction(name: str) -> Lowering:
    def reduce(x: Any, axes: Any, keep_dims: bool = False) -> Any:
        found = getattr(_jnp(), name)(x, axis=tuple(np.ravel(axes).tolist()), keepdims=keep_dims)
        return found.astype(x.dtype)

    return reduce


def _matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, **_: Any) -> Any:
    return _jnp().matmul(a.T if transpose_a else a, b.T if transpose_b else b)


def _batch_matmul(x: Any, y: Any, adj_x: bool = False, adj_y: bool = False, **_: Any) -> Any:
    def turned(array: Any, wanted: bool) -> Any:
        return _jnp().conj(array.swapaxes(-1, -2)) if wanted else array

    return _jnp().matmul(turned(x, adj_x), turned(y, adj_y))


def _squeeze(x: Any, squeeze_dims: Any = ()) -> Any:
    return _jnp().squeeze(x, tuple(squeeze_dims) or None)


def _gather(params: Any, indices: Any, axis: Any, batch_dims: int = 0) -> Any:
    if batch_dims:
        inner = int(axis) - 1 if axis > 0 else axis
        rows: Lowering = lambda p, i: _gather(p, i, inner, batch_dims - 1)  # noqa: E731
        return import_module("jax").vmap(rows)(params, indices)
    return _jnp().take(params, indices, axis=int(axis))


def _one_hot(indices: Any, depth: Any, on: Any, off: Any, axis: int = -1) -> Any:
    jnp = _jnp()
    place = axis if axis >= 0 else indices.ndim
    steps = jnp.arange(int(depth)).reshape([-1] + [1] * (indices.ndim - place))
    return jnp.where(jnp.expand_dims(indices, place) == steps, on, off)


def _strided_slice(
    x: Any, begin: Any, end: Any, strides: Any, begin_mask: int = 0, end_mask: int = 0,
    ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0,
) -> Any:  # fmt: skip
    return x[
        _index(begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask,
               shrink_axis_mask)
    ]  # fmt: skip


def _index(begin: Any, end: Any, strides: Any, *masks: int) -> tuple[Any, ...]:
    parts: list[Any] = []
    for place, (first, last, step) in enumerate(zip(begin, end, strides, strict=True)):
        no_begin, no_end, ellipsis, new_axis, shrink = (bool(mask >> place & 1) for mask in masks)
        if ellipsis:
            parts.append(Ellipsis)
        elif new_axis:
            parts.append(None)
        elif shrink:
            parts.append(int(first))
        else:
            start, stop = None if no_begin else int(first), None if no_end else int(last)
            parts.append(slice(start, stop, int(step)))
    return tuple(parts)


def _strided_slice_grad(
    shape: Any, begin: Any, end: Any, strides: Any, dy: Any, begin_mask: int = 0,
    end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0,
) -> Any:  # fmt: skip
    index = _index(begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask,
                   shrink_axis_mask)  # fmt: skip
    return _jnp().zeros(tuple(shape), dy.dtype).at[index].set(dy)


def _split(axis: Any, value: Any, num_split: int) -> list[Any]:
    found: list[Any] = _jnp().split(value, num_split, axis=int(axis))
    return found


def _split_by_sizes(value: Any, sizes: Any, axis: Any, num_split: int) -> list[Any]:
    whole = value.shape[int(axis)]
    known = [int(size) for size in sizes]
    known = [whole - sum(s for s in known if s >= 0) if size < 0 else size for size in known]
    found: list[Any] = _jnp().split(value, np.cumsum(known)[:-1].tolist(), axis=int(axis))
    return found


def _unpack(value: Any, num: int, axis: int = 0) -> list[Any]:
    return [_jnp().take(value, i, axis=axis) for i in range(num)]


def _cumulated(x: Any, axis: Any, exclusive: bool = False, reverse: bool = False) -> Any:
    jnp, place = _jnp(), int(axis)
    values = jnp.flip(x, place) if reverse else x
    total = jnp.cumsum(values, axis=place)
    total = total - values if exclusive else total
    return jnp.flip(total, place) if reverse else total


def _cross_entropy(logits: Any, labels: Any, **_: Any) -> tuple[Any, Any]:
    jnp, logs = _jnp(), _nn().log_softmax(logits)
    return -jnp.sum(labels * logs, axis=-1), jnp.exp(logs) - labels


def _sparse_cross_entropy(logits: Any, labels: Any, **_: Any) -> tuple[Any, Any]:
    return _cross_entropy(logits, _nn().one_hot(labels, logits.shape[-1], dtype=logits.dtype))


def _convolution(
    x: Any, filters: Any, *, strides: Any, padding: Any, explicit_paddings: Any = (),
    data_format: str = "NHWC", dilations: Any = (1, 1, 1, 1), **_: Any,
) -> Any:  # fmt: skip
    first = data_format == "NCHW"
    space = slice(2, 4) if first else slice(1, 3)
    if padding == "EXPLICIT":
        pairs = np.reshape(explicit_paddings, (-1, 2))[space]
        padding = [tuple(map(int, pair)) for pair in pairs]
    depth = x.shape[1 if first else 3]
    return _lax().conv_general_dilated(
        x,
        filters,
        tuple(strides[space]),
        padding,
        rhs_dilation=tuple(dilations[space]),
        dimension_numbers=(data_format, "HWIO", data_format),
        feature_group_count=depth // filters.shape[2],
    )


def _by_vjp(forward: Lowering, like: Any, gradient: Any) -> Any:
    (found,) = import_module("jax").vjp(forward, like)[1](gradient)
    return found


def _convolution_by_input(sizes: Any, filters: Any, gradient: Any, **attrs: Any) -> Any:
    like = _jnp().zeros(tuple(int(size) for size in sizes), gradient.dtype)
    return _by_vjp(lambda x: _convolution(x, filters, **attrs), like, gradient)


def _convolution_by_filter(x: Any, sizes: Any, gradient: Any, **attrs: Any) -> Any:
    like = _jnp().zeros(tuple(int(size) for size in sizes), gradient.dtype)
    return _by_vjp(lambda filters: _convolution(x, filters, **attrs), like, gradient)


def _pooled(x: Any, start: Any, combine: str, attrs: dict[str, Any]) -> Any:
    combined = getattr(_lax(), combine)
    return _lax().reduce_window(
        x, start, combined, tuple(attrs["ksize"]), tuple(attrs["strides"]), attrs["padding"]
    )


def _max_pool(x: Any, **attrs: Any) -> Any:
    return _pooled(x, -np.inf, "max", attrs)


def _max_pool_grad(x: Any, _: Any, gradient: Any, **attrs: Any) -> Any:
    return _by_vjp(lambda images: _max_pool(images, **attrs), x, gradient)


def _average_pool(x: Any, **attrs: Any) -> Any:
    counts = _pooled(_jnp().ones_like(x), 0.0, "add", attrs)
    return _pooled(x, 0.0, "add", attrs) / counts


def _average_pool_grad(sizes: Any, gradient: Any, **attrs: Any) -> Any:
    like = _jnp().zeros(tuple(int(size) for size in sizes), gradient.dtype)
    return _by_vjp(lambda images: _average_pool(images, **attrs), like, gradient)


def _bias_shape(bias: Any, value: Any, data_format: str) -> Any:
    if data_format.startswith("NC") and value.ndim > 2:
        return bias.reshape([-1] + [1] * (value.ndim - 2))
    return bias


def _bias_grad(gradient: Any, data_format: str = "NHWC") -> Any:
    kept = 1 if data_format.startswith("NC") else gradient.ndim - 1
    return _jnp().sum(gradient, axis=tuple(i for i in range(gradient.ndim) if i != kept))


LOWERINGS: dict[str, Lowering] = {
    **{name: _of(_jnp, function) for name, function in _NUMPY.items()},
    **{name: _of(_nn, function) for name, function in _ACTIVATIONS.items()},
    **{name: _reduction(function) for name, function in _REDUCTIONS.items()},
    "AddN": lambda arrays: sum(arrays[1:], start=arrays[0]),
    "ArgMax": lambda x, axis, output_type: _jnp().argmax(x, int(axis)).astype(output_type.numpy),
    "ArgMin": lambda x, axis, output_type: _jnp().argmin(x, int(axis)).astype(output_type.numpy),
    "AvgPool": _average_pool,
    "AvgPoolGrad": _average_pool_grad,
    "BatchMatMulV2": _batch_matmul,
    "BiasAdd": lambda x, b, data_format="NHWC": x + _bias_shape(b, x, data_format),
    "BiasAddGrad": _bias_grad,
    "BroadcastTo": lambda x, shape: _jnp().broadcast_to(x, tuple(shape)),
    "Cast": lambda x, DstT, Truncate=False: x.astype(DstT.numpy),
    "ConcatV2": lambda arrays, axis: _jnp().concatenate(arrays, int(axis)),
    "Conv2D": _convolution,
    "Conv2DBackpropFilter": _convolution_by_filter,
    "Conv2DBackpropInput": _convolution_by_input,
    "Cumsum": _cumulated,
    "Einsum": lambda arrays, equation: _jnp().einsum(equation, *arrays),
    "Equal": lambda x, y, incompatible_shape_error=True: x == y,
    "ExpandDims": lambda x, axis: _jnp().expand_dims(x, int(axis)),
    "Fill": lambda shape, value: _jnp().full(tuple(shape), value),
    "Identity": lambda x: x,
    "L2Loss": lambda x: _jnp().sum(x * x) / 2,
    "LeakyRelu": lambda x, alpha=0.2: _jnp().where(x > 0, x, x * np.asarray(alpha, x.dtype)),
    "MatMul": _matmul,
    "MaxPool": _max_pool,
    "MaxPoolGrad": _max_pool_grad,
    "NotEqual": lambda x, y, incompatible_shape_error=True: x != y,
    "OneHot": _one_hot,
    "Pack": lambda arrays, axis=0: _jnp().stack(arrays, axis),
    "Pad": lambda x, paddings: _jnp().pad(x, np.asarray(paddings)),
    "ReluGrad": lambda gradient, features: _jnp().where(features > 0, gradient, 0),
    "Reshape": lambda x, shape: x.reshape(tuple(int(size) for size in shape)),
    "Rsqrt": lambda x: 1 / _jnp().sqrt(x),
    "Shape": lambda x, out_type: np.array(x.shape, out_type.numpy),
    "SigmoidGrad": lambda y, dy: dy * y * (1 - y),
    "Size": lambda x, out_type: np.array(x.size, out_type.numpy),
    "SoftmaxCrossEntropyWithLogits": _cross_entropy,
    "SparseSoftmaxCrossEntropyWithLogits": _sparse_cross_entropy,
    "Split": _split,
    "SplitV": _split_by_sizes,
    "SquaredDifference": lambda x, y: (x - y) ** 2,
    "Squeeze": _squeeze,
    "StopGradient": lambda x: x,
    "StridedSlice": _strided_slice,
    "StridedSliceGrad": _strided_slice_grad,
    "TanhGrad": lambda y, dy: dy * (1 - y * y),
    "Tile": lambda x, multiples: _jnp().tile(x, tuple(multiples)),
    "Transpose": lambda x, order: _jnp().transpose(x, tuple(order)),
    "Unpack": _unpack,
    "GatherV2": _gather,
}


def _adam(
    var: Any, m: Any, v: Any, beta1_power: Any, beta2_power: Any, lr: Any, beta1: Any, beta2: Any,
    epsilon: Any, grad: Any, use_nesterov: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
    m = m + (1 - beta1) * (grad - m)
    v = v + (1 - beta2) * (grad * grad - v)
    step = lr * _jnp().sqrt(1 - beta2_power) / (1 - beta1_power)
    ahead = beta1 * m + (1 - beta1) * grad if use_nesterov else m
    return var - step * ahead / (_jnp().sqrt(v) + epsilon), m, v


def _momentum(
    var: Any, accum: Any, lr: Any, grad: Any, momentum: Any, use_nesterov: bool = False
) -> tuple[Any, Any]:
    accum = accum * momentum - lr * grad
    return var + (accum * momentum - lr * grad if use_nesterov else accum), accum


# Changes of variables: their values now and the arguments, to their values then.
UPDATES: dict[str, Lowering] = {
    "ResourceApplyAdam": _adam,
    "ResourceApplyGradientDescent": lambda var, alpha, delta: (var - alpha * delta,),
    "ResourceApplyKerasMomentum": _momentum,
}
