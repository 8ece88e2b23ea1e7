"""InputSpec: what a layer expects of its inputs."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ...core.suggestions import nearest
from .call_context import context

_NO_BATCH_AXIS = (
    ". An axis is missing. The first axis is that of the batch: a single example needs "
    "tf.expand_dims(x, 0), or x[None] in NumPy; the examples of a dataset need "
    "dataset.batch(batch_size)."
)


class InputSpec:
    """The rank, shape, dtype and axis sizes that a layer accepts.

    >>> tf.keras.layers.InputSpec(ndim=4, axes={-1: 3})
    InputSpec(ndim=4, axes={-1: 3})
    """

    def __init__(
        self,
        dtype: Any = None,
        shape: Any = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: dict[int, int | None] | None = None,
        allow_last_axis_squeeze: bool = False,
        name: str | None = None,
        optional: bool = False,
    ) -> None:
        self.dtype = tf.as_dtype(dtype).name if dtype is not None else None
        self.shape = None if shape is None else tuple(tf.TensorShape(shape).as_list())
        self.ndim = len(self.shape) if self.shape is not None else ndim
        self.max_ndim = max_ndim
        self.min_ndim = min_ndim
        self.name = name
        self.optional = optional
        self.allow_last_axis_squeeze = allow_last_axis_squeeze
        try:
            self.axes = {int(key): size for key, size in (axes or {}).items()}
        except (AttributeError, ValueError, TypeError):
            raise TypeError(
                f"Argument `axes` must be a dict with integer keys. Received: axes={axes}"
            ) from None
        rank = max_ndim if self.ndim is None else self.ndim
        if self.axes and rank is not None and max(self.axes) >= rank:
            raise ValueError(
                f"Axis {max(self.axes)} is greater than the maximum allowed value: {rank - 1}"
            )

    def __repr__(self) -> str:
        parts = [
            ("dtype", f"dtype={self.dtype}"),
            ("shape", f"shape={self.shape}"),
            ("ndim", f"ndim={self.ndim}"),
            ("max_ndim", f"max_ndim={self.max_ndim}"),
            ("min_ndim", f"min_ndim={self.min_ndim}"),
            ("axes", f"axes={self.axes}"),
        ]
        return f"InputSpec({', '.join(text for name, text in parts if getattr(self, name))})"

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        names = ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> InputSpec:
        """Create a spec from its config."""
        return cls(**config)


def values_by_name(inputs: dict[str, Any], names: list[str]) -> list[Any]:
    """The values of a dict in the order of the inputs' names; ValueError if one is missing."""
    try:
        return [inputs[name] for name in names]
    except KeyError:
        missing = next(name for name in names if name not in inputs)
        raise ValueError(
            f'Missing data for input "{missing}". You passed a data dictionary with keys '
            f"{list(inputs)}. Expected the following keys: {names}.{_renamed(missing, inputs)}"
        ) from None


def _renamed(missing: str, inputs: dict[str, Any]) -> str:
    near = nearest(missing, [key for key in inputs if isinstance(key, str)], count=1)
    if near:
        return f" Did you mean {near[0]!r}? Name the key {missing!r}, as the input is named."
    return f" Add the key {missing!r}, or name the input otherwise: tf.keras.Input(name=...)."


def check_inputs(specs: Any, inputs: Any, layer_name: str) -> None:
    """Raise ValueError unless the inputs of a layer match its input_spec."""
    if type(specs) is list and len(specs) == 1 and isinstance(inputs, tf.Tensor):
        # A model with a single input.
        specs = specs[0]
        if specs is None:
            return
    if isinstance(specs, InputSpec) and isinstance(inputs, tf.Tensor):
        _check_one(0, inputs.shape, inputs.dtype, specs, layer_name)
        return
    wanted = tf.nest.flatten(specs)
    names: list[Any] = [getattr(spec, "name", None) for spec in wanted]
    if isinstance(inputs, dict) and None not in names:
        given = values_by_name(inputs, names)
    else:
        given = tf.nest.flatten(inputs)
    if len(given) != len(wanted):
        raise ValueError(
            f'Layer "{layer_name}" expects {len(wanted)} input(s), but it received {len(given)} '
            f"input tensors. Inputs received: {given}"
        )
    for index, (value, spec) in enumerate(zip(given, wanted, strict=True)):
        if value is None and spec is not None and spec.optional:
            continue
        if not hasattr(value, "shape"):
            raise TypeError(
                f"Inputs to a layer should be tensors. Got '{value}' (of type {type(value)}) as "
                f"input for layer '{layer_name}'."
            )
        if spec is not None:
            _check_one(index, value.shape, value.dtype, spec, layer_name)


def _check_one(index: int, shape: Any, dtype: Any, spec: InputSpec, layer_name: str) -> None:
    sizes = shape.as_list() if shape.rank is not None else None
    where = f'Input {index} of layer "{layer_name}" is incompatible with the layer: '
    if sizes is None:
        return
    rank = len(sizes)
    if spec.ndim is not None and not spec.allow_last_axis_squeeze and rank != spec.ndim:
        raise ValueError(
            f"{where}expected ndim={spec.ndim}, found ndim={rank}. "
            f"Full shape received: {tuple(sizes)}{_an_axis_less(rank, spec.ndim)}"
        )
    if spec.max_ndim is not None and rank > spec.max_ndim:
        raise ValueError(f"{where}expected max_ndim={spec.max_ndim}, found ndim={rank}")
    if spec.min_ndim is not None and rank < spec.min_ndim:
        raise ValueError(
            f"{where}expected min_ndim={spec.min_ndim}, found ndim={rank}. "
            f"Full shape received: {tuple(sizes)}{_an_axis_less(rank, spec.min_ndim)}"
        )
    if spec.dtype is not None and dtype.name != spec.dtype:
        raise ValueError(f"{where}expected dtype={spec.dtype}, found dtype={dtype}")
    for axis, size in spec.axes.items():
        if size is not None and sizes[axis] not in (size, None):
            raise ValueError(
                f"{where}expected axis {axis} of input shape to have value {size}, but received "
                f"input with shape {tuple(sizes)}"
            )
    if spec.shape is not None:
        _check_shape(sizes, spec, where)


def _an_axis_less(rank: int, wanted: int) -> str:
    # For symbolic inputs the layer's call gives a better error message.
    return _NO_BATCH_AXIS if rank == wanted - 1 and not context.trial else ""


def _check_shape(sizes: list[int | None], spec: InputSpec, where: str) -> None:
    wanted = list(spec.shape or ())
    if spec.allow_last_axis_squeeze:
        if sizes and sizes[-1] == 1:
            sizes = sizes[:-1]
        if wanted and wanted[-1] == 1:
            wanted = wanted[:-1]
    for want, size in zip(wanted, sizes, strict=False):
        if want is not None and size is not None and want != size:
            raise ValueError(f"{where}expected shape={spec.shape}, found shape={tuple(sizes)}")
