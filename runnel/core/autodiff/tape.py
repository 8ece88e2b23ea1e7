"""GradientTape: records operations as they happen and differentiates them afterwards."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import nest
from ..context import next_key, state
from ..convert import convert_to_tensor
from ..dtypes import DIFFERENTIABLE
from ..logger import get_logger
from ..op import REGISTRY, Op, Record
from ..tensor import Tensor
from ..variable import Variable
from .backward import backward, is_differentiable, zeros_like
from .jacobians import reshaped, rows_of

_USED_UP = (
    "A non-persistent GradientTape can only be used to compute one set of gradients (or "
    "jacobians). Use tf.GradientTape(persistent=True) to ask the same tape again."
)

_INSIDE = (
    "Calling GradientTape.gradient on a persistent tape inside its context is significantly less "
    "efficient than calling it outside the context: the gradient's operations are recorded too. "
    "Do it only to compute higher-order derivatives."
)

_UNWATCHED = (
    "The gradient with respect to source %d (shape %s, %s) is None because the tape did not watch "
    "it. Call tape.watch(tensor) before the tensor is used; variables are watched if they are "
    "trainable."
)


# Sources that are no structure of sources.
_LEAVES = frozenset({Tensor, Variable})

_NEVER_ENTERED = (
    "A non-persistent GradientTape can only be used to compute one set of gradients (or "
    "jacobians), and this one recorded nothing: compute the target in a block `with "
    "tf.GradientTape() as tape:`."
)


class UnconnectedGradients(enum.Enum):
    """The gradient with respect to an unconnected source: None, or zeros."""

    NONE = "none"
    ZERO = "zero"


_NONE = UnconnectedGradients.NONE


class AggregationMethod:
    """How gradients are accumulated; all of these give the same sum."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


class GradientTape:
    """Record operations for automatic differentiation.

    Trainable variables are watched as soon as they are read; tensors with `watch`.

    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x * x
    >>> tape.gradient(y, x)
    <tf.Tensor: shape=(), dtype=float32, numpy=6.0>
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._watch_variables = watch_accessed_variables
        self._recording = False
        self._entered = False
        self._used = False
        self._variables: dict[int, Variable] = {}
        self._records: list[Record] = []
        self._watched: set[int] = set()
        # The sources watched; strong references to the tensors keep their keys valid.
        self._roots: dict[int, Any] = {}

    def _forget(self) -> None:
        self._records, self._watched, self._roots = [], set(), {}

    def __enter__(self) -> GradientTape:
        if self._recording:
            raise ValueError(
                "Tape is still recording: a tape that is active cannot be entered again."
            )
        self._used = False
        self._start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._recording:
            self._stop()

    def _start(self) -> None:
        self._recording = self._entered = True
        state.tapes = (*state.tapes, self)

    def _stop(self) -> None:
        tapes = state.tapes
        if tapes and tapes[-1] is self:
            # No call in between, so that no interrupt can arrive here.
            state.tapes = tapes[:-1]
        else:
            state.tapes = tuple([tape for tape in tapes if tape is not self])
        self._recording = False

    # Notifications from execute() and Variable.

    def record(
        self, op: Op, inputs: Sequence[Tensor], outputs: Sequence[Tensor], attrs: dict[str, Any]
    ) -> None:
        """Record an operation if it depends on anything watched."""
        watched = self._watched
        for tensor in inputs:
            if tensor._key in watched:
                break
        else:
            return
        if not op.differentiable:
            return
        for output in outputs:
            if not output._key:
                output._key = next_key()
            if output.dtype in DIFFERENTIABLE:
                watched.add(output._key)
        self._records.append(Record(op, inputs, outputs, attrs))

    def variable_read(self, variable: Variable) -> None:
        """Watch a trainable variable that is read."""
        key = variable._key
        if key not in self._roots and self._watch_variables and variable.trainable:
            self._variables[key] = self._roots[key] = variable
            if variable.dtype in DIFFERENTIABLE:
                self._watched.add(key)

    def _watch(self, value: Any, key: int) -> None:
        self._roots[key] = value
        if value.dtype in DIFFERENTIABLE:
            self._watched.add(key)

    # The public methods.

    def watch(self, tensor: Any) -> None:
        """Watch a tensor, or each tensor of a nested structure."""
        for value in nest.flatten(tensor, expand_composites=True):
            if not isinstance(value, Tensor) and not hasattr(value, "_as_tensor"):
                raise ValueError(
                    f"Passed in object {value!r} of type {type(value).__name__!r}, not tf.Tensor "
                    "or tf.Variable. Convert it first: tf.convert_to_tensor(value)."
                )
            if not is_differentiable(value):
                get_logger().warning(
                    "The dtype of the watched tensor must be floating (e.g. tf.float32), got %r",
                    value.dtype,
                )
            if not value._key:
                value._key = next_key()
            if not isinstance(value, Tensor):
                self._variables[value._key] = value
            self._watch(value, value._key)
            inside = captured(value)
            if inside is not None:
                inside._key = inside._key or next_key()
                self._watch(inside, inside._key)

    def _seen(self, values: Sequence[Any]) -> Sequence[Any]:
        """Values, or the tensors that this tape watches in place of captured ones."""
        known = getattr(state.graph, "captured", None)
        if not known:
            return values
        inside = {place: own for place, (_, own) in known.items() if own._key in self._roots}
        return [inside.get(id(value), value) for value in values]

    def watched_variables(self) -> tuple[Variable, ...]:
        """The variables watched so far, in order of creation."""
        return tuple(variable for _, variable in sorted(self._variables.items()))

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Hide the operations of a block from this tape."""
        if not self._recording:
            refusal = ValueError if self._entered else RuntimeError
            raise refusal("Tape is not recording: stop_recording belongs inside of its block.")
        self._stop()
        try:
            yield
        finally:
            self._start()

    def reset(self) -> None:
        """Discard all records and watched sources."""
        if not self._recording:
            raise ValueError("Tape is not recording: reset it inside of its `with` block.")
        self._variables.clear()
        self._forget()

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Any:
        """The gradient of `target` with respect to `sources`, in the structure of the sources.

        Several targets are summed. `output_gradients` are the upstream gradients of the targets
        (default 1). If the target does not depend on a source the gradient is None, or zeros if
        `unconnected_gradients` is ZERO.
        """
        zero = _wants_zeros(unconnected_gradients)
        self._begin_use(target, sources)
        flat_targets: Sequence[Any] = _gradient_targets(target)
        # The common case: a list of variables, and a list of gradients.
        is_flat = type(sources) is list and _LEAVES.issuperset(map(type, sources))
        wanted = sources if is_flat else nest.flatten(sources)
        flat_sources = sources if is_flat else [_values_of(source) for source in wanted]
        if state.graph is None:
            keys = _keys_of(flat_sources)
        else:
            flat_targets = self._seen(flat_targets)
            keys = _keys_of(self._seen(flat_sources))
        weights: list[Any] = [None] * len(flat_targets)
        if output_gradients is not None:
            weights = _weights(output_gradients, len(flat_targets))
        gradients = self._backward(flat_targets, weights, keys)
        results: list[Any] = []
        for place, key in enumerate(keys):
            gradient = gradients.get(key)
            if gradient is None:
                gradient = self._unconnected(place, flat_sources[place], key, zero)
            results.append(gradient)
        if not self._persistent:
            self._forget()
        if is_flat:
            return results
        results = [
            gradient if source is values or gradient is None else source._with_gradient(gradient)
            for gradient, source, values in zip(results, wanted, flat_sources, strict=True)
        ]
        return nest.pack_sequence_as(sources, results)

    def _unconnected(self, index: int, source: Any, key: int, zero: bool) -> Any:
        """The gradient of an unconnected source; logs a warning that may explain why."""
        if zero:
            return zeros_like(source)
        is_known = key in self._watched or getattr(source, "trainable", False)
        if not is_known and is_differentiable(source):
            get_logger().warning(_UNWATCHED, index, source.shape, source.dtype.name)
        return None

    def _begin_use(self, target: Any, sources: Any) -> None:
        if not self._entered:
            raise RuntimeError(_NEVER_ENTERED)
        if self._used:
            raise RuntimeError(_USED_UP)
        if target is None or sources is None:
            which = "target" if target is None else "sources"
            raise TypeError(
                f"Argument `{which}` should be a list or nested structure of Tensors, Variables "
                "or CompositeTensors, but received None."
            )
        if not self._persistent:
            self._used = True
            if self._recording:
                self._stop()
        elif self._recording:
            get_logger().warning(_INSIDE)

    def _backward(
        self, targets: Sequence[Any], weights: Sequence[Any], source_keys: Sequence[int]
    ) -> dict[int, Any]:
        needed = self._needed(source_keys)
        return backward(list(self._records), targets, weights, source_keys, needed, is_tape=True)

    def _needed(self, source_keys: Sequence[int]) -> set[int]:
        """The keys on a path from a source; no other gradients are computed."""
        if self._roots.keys() <= set(source_keys):
            return self._watched
        needed = self._watched.intersection(source_keys)
        for record in self._records:
            if any(tensor._key in needed for tensor in record.inputs):
                needed.update(output._key for output in record.outputs)
        return needed

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The derivative of every element of `target` with respect to every element of `sources`.

        >>> x = tf.constant([1.0, 2.0])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> tape.jacobian(y, x).numpy().tolist()
        [[2.0, 0.0], [0.0, 4.0]]
        """
        zero = _wants_zeros(unconnected_gradients)
        self._begin_use(target, sources)
        flat_sources = nest.flatten(sources)
        keys = _keys_of(self._seen(flat_sources))
        if not isinstance(target, Tensor):
            target = self._converted(target)

        def gradients(weight: Tensor) -> list[Any]:
            found = self._backward([target], [weight], keys)
            return [_finish(found.get(k), x, zero) for k, x in zip(keys, flat_sources, strict=True)]

        rows = rows_of(target, flat_sources, 0, gradients)
        if not self._persistent:
            self._forget()
        results = [
            None if each is None else reshaped(each, (target, 0), (source, 0))
            for each, source in zip(rows, flat_sources, strict=True)
        ]
        return nest.pack_sequence_as(sources, results)

    def _converted(self, target: Any) -> Tensor:
        """A target such as IndexedSlices as one tensor, converted while the tape records."""
        outer = state.tapes
        if self not in outer:
            state.tapes = (*outer, self)
        try:
            return convert_to_tensor(target)
        finally:
            state.tapes = outer

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The jacobian of each example: `target[i]` with respect to `source[i]`.

        >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> tape.batch_jacobian(y, x).numpy().tolist()
        [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]]
        """
        sizes = target.shape.with_rank_at_least(2)
        source_sizes = source.shape.with_rank_at_least(2)
        if not source_sizes[:1].is_compatible_with(sizes[:1]):
            raise ValueError(
                "Need first dimension of target shape and source shape to match. "
                f"Received target of shape {sizes} and source of shape {source_sizes}."
            )
        self._begin_use(target, source)
        (key,) = _keys_of(self._seen([source]))

        def gradients(weight: Tensor) -> list[Any]:
            return [_finish(self._backward([target], [weight], [key]).get(key), source, True)]

        (rows,) = rows_of(target, [source], 1, gradients)
        if not self._persistent:
            self._forget()
        if rows.shape.rank != 1:
            order = [1, 0, *range(2, source_sizes.rank + 1)]
            rows = REGISTRY["Transpose"](rows, convert_to_tensor(np.array(order, np.int32)))
        return reshaped(rows, (target, 0), (source, 1))


def _wants_zeros(unconnected_gradients: Any) -> bool:
    if unconnected_gradients is _NONE:
        return False
    try:
        return UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
    except ValueError:
        raise ValueError(
            f"Unknown value for unconnected_gradients: {unconnected_gradients!r}. Use "
            "tf.UnconnectedGradients.NONE or tf.UnconnectedGradients.ZERO."
        ) from None


def _values_of(value: Any) -> Any:
    """The differentiable tensor of a composite; any other value unchanged."""
    return value._gradient_tensor if hasattr(type(value), "_gradient_tensor") else value


def _gradient_targets(target: Any) -> list[Any]:
    if type(target) is Tensor and target.dtype.is_floating:
        return [target]
    targets = []
    parts = [_values_of(each) for each in nest.flatten(target)]
    for each in nest.flatten(parts, expand_composites=True):
        if not hasattr(each, "_key"):
            raise AttributeError(
                f"The target {each!r} is a {type(each).__name__}, not a tf.Tensor. A tape cannot "
                "follow values through NumPy or Python numbers: compute the target with tf.*"
            )
        if not is_differentiable(each):
            get_logger().warning(
                "The dtype of the target tensor must be floating (e.g. tf.float32) when calling "
                "GradientTape.gradient, got %r",
                each.dtype,
            )
        targets.append(each)
    return targets


def captured(value: Any) -> Any:
    """The capture of an outer tensor in the function being traced, or None."""
    own = getattr(state.graph, "own", None)
    if own is None or not isinstance(value, Tensor) or not is_differentiable(value):
        return None
    inside = own(value)
    return None if inside is value else inside


def _keys_of(sources: Sequence[Any]) -> list[int]:
    keys: list[int] = []
    for source in sources:
        try:
            key = source._key
        except AttributeError:
            raise TypeError(
                "A source of GradientTape.gradient must be a tf.Tensor or tf.Variable, "
                f"got {source!r}."
            ) from None
        if source.dtype not in DIFFERENTIABLE:
            get_logger().warning(
                "The dtype of the source tensor must be floating (e.g. tf.float32) when calling "
                "GradientTape.gradient, got %r",
                source.dtype,
            )
        if not key:
            # A tensor that no tape has recorded may still be the target itself.
            key = source._key = next_key()
        keys.append(key)
    return keys


def _weights(output_gradients: Any, count: int) -> list[Any]:
    weights: list[Any] = [_values_of(each) for each in nest.flatten(output_gradients)]
    if len(weights) != count:
        raise ValueError(
            f"output_gradients holds {len(weights)} gradients for {count} target(s): give one "
            "tensor per target, a list of numbers as tf.constant([...])."
        )
    return weights


def _finish(gradient: Any, source: Any, zero: bool) -> Any:
    if gradient is None:
        return zeros_like(source) if zero else None
    return gradient
