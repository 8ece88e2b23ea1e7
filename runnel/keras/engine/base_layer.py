"""Layer: weights and a computation, built at the first call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import runnel as tf

from ...core.context import get_current_name_scope, state
from ...core.convert import convert_to_tensor
from ...core.errors import OpError
from ...core.graph.main_graph import main_graph_being_built
from ...core.suggestions import keyword_advice
from ...core.tensor import Tensor
from .. import regularizers
from ..keywords import RefusesUnknownKeywords
from ..mixed_precision import Policy, global_policy
from . import masking, naming
from .call_context import context, phase_in_graph
from .call_spec import CallSpec, call_spec, graph_call
from .half_private import LayerInternals
from .input_spec import InputSpec, check_inputs
from .keras_tensor import KerasTensor, apply_symbolically, holds_keras_tensors
from .layer_nodes import LayerNodes
from .layer_weights import set_plainly

_ALLOWED = frozenset(
    {"input_dim", "input_shape", "batch_input_shape", "batch_size", "weights", "autocast"}
    | {"activity_regularizer", "implementation"}
)


_IN_LAYER = "Exception encountered when calling layer"
_FAILED_IN = (
    _IN_LAYER + " '{name}' (type {kind}).\n\n{message}\n\n"
    "Call arguments received by layer '{name}' (type {kind}):\n  inputs={inputs}"
)


class MadeByConstructor:
    """A placeholder for an attribute that `Layer.__init__` sets: reading it raises if that was not
    called.
    """

    def __get__(self, layer: Any, owner: type) -> Any:
        if layer is None:
            return self
        raise RuntimeError(
            f"You must call `super().__init__()` in the constructor of {owner.__name__}, before "
            "anything else: it makes what every layer and model needs."
        )


class Layer(RefusesUnknownKeywords, LayerInternals, LayerNodes):
    """A computation with weights: `build` creates the weights, `call` computes the outputs.

    >>> class Scale(tf.keras.layers.Layer):
    ...     def build(self, input_shape):
    ...         self.factor = self.add_weight("factor", shape=[], initializer="ones")
    ...     def call(self, inputs):
    ...         return inputs * self.factor
    >>> Scale()(tf.constant([1.0, 2.0])).numpy().tolist()
    [1.0, 2.0]
    """

    # Attributes that `Layer.__init__` sets on every layer.
    _autocast: Any = MadeByConstructor()
    _dtype_policy: Any = MadeByConstructor()
    _eager_losses: Any = MadeByConstructor()
    _name: Any = MadeByConstructor()
    # Whether the layer is stateful across batches, and whether it propagates masks.
    stateful = False
    supports_masking = False
    # Whether this class's `call` is pure computation: it creates no variables, calls no other
    # layers, and uses no training flag, mask or name scope.
    _only_computes = False
    # The dtype and the sizes, except the first, of inputs that skip preprocessing. Reset when any
    # attribute is set.
    _plain_inputs: Any = None
    # The dtype and shape of the last inputs that passed the input_spec.
    _fitting_inputs: Any = None

    def __init__(
        self,
        trainable: bool = True,
        name: str | None = None,
        dtype: Any = None,
        dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        for key in kwargs:
            if key not in _ALLOWED:
                near = keyword_advice(type(self), key)
                raise TypeError(f"Keyword argument not understood: {key!r}.{near}")
        if not isinstance(trainable, bool | np.bool_):
            raise TypeError(
                "Expected `trainable` argument to be a boolean, but received: "
                f"trainable={trainable}"
            )
        if name is not None and not isinstance(name, str):
            raise TypeError(
                f"Expected `name` argument to be a string, but received: name={name!r} of type "
                f"{type(name)}"
            )
        set_plainly(self, "_tracked", [])
        set_plainly(self, "_metrics", [])
        if not self.supports_masking and call_spec(type(self)).makes_masks:
            self.supports_masking = True
        self._trainable = bool(trainable)
        self._dynamic = dynamic
        self.built = False
        self._build_input_shape: Any = None
        # With the shapes, the input signature of a SavedModel.
        self._build_input_dtypes: Any = None
        self._input_spec: Any = None
        self._inbound_nodes: list[Any] = []
        self._outbound_nodes: list[Any] = []
        # The losses of eager calls, and of symbolic calls on KerasTensors.
        self._eager_losses: list[Any] = []
        self._losses: list[Any] = []
        self._loss_functions: list[Callable[[], Any]] = []
        self._activity_regularizer = regularizers.get(kwargs.pop("activity_regularizer", None))
        self._set_dtype_policy(dtype)
        self._autocast = kwargs.get("autocast", True)
        self._initial_weights = kwargs.get("weights")
        self._name = naming.unique_name(naming.snake_case(type(self).__name__)) if (
            name is None) else name  # fmt: skip
        self._batch_input_shape_given(kwargs)

    def _batch_input_shape_given(self, kwargs: dict[str, Any]) -> None:
        if "input_dim" in kwargs and "input_shape" not in kwargs:
            kwargs["input_shape"] = (kwargs["input_dim"],)
        if "batch_input_shape" in kwargs:
            self._batch_input_shape = tuple(kwargs["batch_input_shape"])
        elif "input_shape" in kwargs:
            shape = kwargs["input_shape"]
            if not isinstance(shape, Iterable):
                raise TypeError(
                    "`input_shape` is a tuple of sizes without that of the batch. Received: "
                    f"input_shape={shape!r}. For vectors of {shape!r} numbers: ({shape!r},)"
                )
            self._batch_input_shape = (kwargs.get("batch_size"), *shape)

    def _set_dtype_policy(self, dtype: Any) -> None:
        self._dtype_policy = dtype if isinstance(dtype, Policy) else _policy_of(dtype)
        self._compute_dtype_object = _dtype_or_none(self._dtype_policy.compute_dtype)

    # Properties of the layer.

    @property
    def name(self) -> str:
        return self._name

    @property
    def name_scope(self) -> tf.name_scope:
        return tf.name_scope(self._name)

    @property
    def dtype(self) -> Any:
        return self._dtype_policy.variable_dtype

    @property
    def compute_dtype(self) -> Any:
        return self._dtype_policy.compute_dtype

    @property
    def variable_dtype(self) -> Any:
        return self._dtype_policy.variable_dtype

    @property
    def dtype_policy(self) -> Policy:
        return self._dtype_policy

    @property
    def dynamic(self) -> bool:
        return any(layer._dynamic for layer in self._flatten_layers())

    @property
    def activity_regularizer(self) -> Any:
        return self._activity_regularizer

    @activity_regularizer.setter
    def activity_regularizer(self, regularizer: Any) -> None:
        self._activity_regularizer = regularizer

    @property
    def input_spec(self) -> Any:
        return self._input_spec

    @input_spec.setter
    def input_spec(self, value: Any) -> None:
        for spec in tf.nest.flatten(value):
            if spec is not None and not isinstance(spec, InputSpec):
                raise TypeError(f"Layer input_spec must be an instance of InputSpec. Got: {value}")
        self._input_spec = value
        self._fitting_inputs = None

    # Building and calling.

    def build(self, input_shape: Any) -> None:
        """Create the weights; for subclasses to override."""
        self._build_input_shape = input_shape
        self.built = True

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; for subclasses to override."""
        return inputs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        plain = self._plain_inputs
        if plain is not None and len(args) == 1 and not kwargs:
            inputs = args[0]
            if (
                type(inputs) is Tensor
                and inputs.dtype is plain[0]
                and inputs._array.shape[1:] == plain[1]
                and state.graph is None
                and not masking.state.in_use
                and not context.losses_made
            ):
                try:
                    return self.call(inputs)
                except OpError as failure:
                    self._name_in(failure, inputs)
                    raise
        return self._call_with_care(args, kwargs)

    def _call_with_care(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Preprocess the arguments of `call`, build the layer if necessary, and run it."""
        spec = call_spec(type(self))
        if args:
            inputs, rest = args[0], args[1:]
        elif spec.first in kwargs:
            inputs, rest = kwargs.pop(spec.first), ()
        else:
            raise ValueError("The first argument to `Layer.call` must always be passed.")
        others = rest or kwargs
        if type(inputs) is np.ndarray and not (others and holds_keras_tensors((rest, kwargs))):
            inputs = convert_to_tensor(inputs)
        elif type(inputs) is not Tensor:
            if holds_keras_tensors((inputs, rest, kwargs)):
                return apply_symbolically(self, inputs, rest, kwargs)
            inputs = _as_tensors(inputs, self._name)
        outermost = context.depth == 0
        if outermost and context.losses_made and state.home is None and self._has_losses():
            self._clear_losses()
        if self._autocast:
            is_plain = type(inputs) is Tensor and inputs.dtype is self._compute_dtype_object
            inputs = inputs if is_plain else self._cast_inputs(inputs)
        if not self.built:
            self._maybe_build(inputs)
        if self._input_spec is not None:
            kind = (inputs.dtype, inputs._array.shape) if type(inputs) is Tensor else None
            if kind is None or kind != self._fitting_inputs:
                check_inputs(self._input_spec, inputs, self._name)
                set_plainly(self, "_fitting_inputs", kind)
        outputs = self._run(spec, inputs, rest, kwargs)
        if spec.only_computes and not rest:
            self._note_plain_inputs(inputs)
        return outputs

    def _note_plain_inputs(self, inputs: Any) -> None:
        """Let later inputs like these bypass preprocessing, if it does nothing to them."""
        if (
            type(inputs) is Tensor
            and inputs._array.shape
            and "call" not in self.__dict__
            and self._activity_regularizer is None
            and self._dtype_policy.compute_dtype == self._dtype_policy.variable_dtype
            and _is_own(getattr(self, "activation", None))
            and _takes_any_count(self._input_spec, len(inputs._array.shape))
        ):
            set_plainly(self, "_plain_inputs", (inputs.dtype, inputs._array.shape[1:]))

    def _run(self, spec: CallSpec, inputs: Any, rest: tuple[Any, ...], kwargs: Any) -> Any:
        if spec.takes_mask:
            given_mask = spec.has_mask_at(rest) or "mask" in kwargs
            # An explicit None disables the masks of the inputs.
            mask = spec.mask_of(rest, kwargs) if given_mask else masking.masks_of(inputs)
            if mask is not None and not given_mask:
                kwargs["mask"] = mask
        else:
            given_mask = "mask" in kwargs
            mask = kwargs["mask"] if given_mask else None
        training, depth, scope = context.training, context.depth, context.scope
        names, compute_dtype = state.name_scope, context.compute_dtype
        # State is changed inside the try block: an interrupt may occur during any call.
        try:
            if spec.takes_training:
                given = spec.training_of(rest, kwargs)
                if given is None:
                    given = training if training is not None else context.learning_phase
                    if given is None:
                        given = spec.training_default
                        if given is None and state.home is not None:
                            given = phase_in_graph(self)
                    if given is not None:
                        kwargs["training"] = given
                context.training = given
            elif "training" in kwargs:
                context.training = kwargs.pop("training")
            context.scope = self._scope()
            # Operations and summaries are named after the layers, in the same scope for each call.
            state.name_scope = context.scope + "/"
            context.compute_dtype = self._compute_dtype_object
            context.depth = depth + 1
            call = self.call if state.graph is None else self._call_in_graph(inputs)
            outputs = call(inputs, *rest, **kwargs)
        except OpError as failure:
            self._name_in(failure, inputs)
            raise
        finally:
            context.training, context.depth, context.scope = training, depth, scope
            state.name_scope, context.compute_dtype = names, compute_dtype
        if self._activity_regularizer is not None:
            self._regularize_activity(inputs, outputs)
        if masking.state.in_use or spec.makes_masks:
            known = given_mask or spec.takes_mask
            self._pass_masks_on(inputs, outputs, mask if known else masking.masks_of(inputs))
        return outputs

    def _name_in(self, failure: OpError, inputs: Any) -> None:
        """Add the name of the innermost layer to an operation's error."""
        if _IN_LAYER not in failure.message:
            failure._message = _FAILED_IN.format(
                name=self._name,
                kind=type(self).__name__,
                message=failure.message,
                inputs=tf.nest.map_structure(_spec_text, inputs),
            )

    def _call_in_graph(self, inputs: Any) -> Any:
        """The graph-mode `call`; in a program's own graph its inputs are recorded."""
        if main_graph_being_built() is not None:
            set_plainly(self, "_graph_inputs", [*self._graph_inputs, *tf.nest.flatten(inputs)])
        return graph_call(self)

    def _cast_inputs(self, inputs: Any) -> Any:
        wanted = self._compute_dtype_object
        if type(inputs) is Tensor:
            if wanted is None or not inputs.dtype.is_floating:
                return inputs
            return masking.cast(inputs, wanted) if wanted.is_floating else inputs
        if wanted is None or not wanted.is_floating:
            return inputs

        def cast(value: Any) -> Any:
            if getattr(value, "dtype", None) in (None, wanted) or not tf.is_tensor(value):
                return value
            return masking.cast(value, wanted) if value.dtype.is_floating else value

        return tf.nest.map_structure(cast, inputs)

    def _maybe_build(self, inputs: Any) -> None:
        tensors = tf.nest.flatten(inputs)
        if self._dtype_policy.compute_dtype is None and tensors:
            first = tensors[0].dtype
            if first.is_floating:
                self._dtype_policy = Policy(first.name)
                self._compute_dtype_object = first
        if self._input_spec is not None:
            check_inputs(self._input_spec, inputs, self._name)
        shapes = None
        if all(hasattr(tensor, "shape") for tensor in tensors):
            shapes = tf.nest.map_structure(lambda value: value.shape, inputs)
            self._build_input_dtypes = tf.nest.map_structure(lambda value: value.dtype, inputs)
        # The weights outlive the function or functional model under construction.
        with naming.names_of_graph(), tf.init_scope(), tf.name_scope(self._scope() + "/"):
            self.build(shapes)
        self._build_input_shape = shapes
        self.built = True
        if self._initial_weights is not None:
            self.set_weights(self._initial_weights)
            self._initial_weights = None

    def _scope(self) -> str:
        """The name scope of the weights: the stack of layers being called."""
        outer = context.scope if context.depth else get_current_name_scope()
        return f"{outer}/{self._name}" if outer else self._name

    # Masks.

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The output mask: the inputs' own, for layers that support masking."""
        if not self.supports_masking:
            if any(each is not None for each in tf.nest.flatten(mask)):
                raise TypeError(
                    f"Layer {self.name} does not support masking, but was passed an input_mask: "
                    f"{mask}"
                )
            return None
        return mask

    def _pass_masks_on(self, inputs: Any, outputs: Any, mask: Any) -> None:
        if not self.supports_masking:
            return
        masks = self.compute_mask(inputs, mask)
        if masks is not None:
            masking.attach(outputs, masks)

    def finalize_state(self) -> None:
        """Called when the weights of an adapted layer are final."""


def _spec_text(value: Any) -> Any:
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        return value
    return f"tf.Tensor(shape={value.shape}, dtype={value.dtype.name})"


def _is_own(function: Any) -> bool:
    """Whether a function is built in; user functions may read the name scope."""
    return getattr(function, "__module__", "runnel").partition(".")[0] == "runnel"


def _takes_any_count(spec: Any, rank: int) -> bool:
    """Whether a spec leaves the batch size of inputs of some rank unconstrained."""
    if spec is None:
        return True
    if not isinstance(spec, InputSpec) or (spec.shape and spec.shape[0] is not None):
        return False
    return 0 not in spec.axes and -rank not in spec.axes


def _policy_of(dtype: Any) -> Policy:
    if dtype is None:
        return global_policy()
    if isinstance(dtype, dict):
        return Policy(dtype["config"]["name"])
    if isinstance(dtype, str) and (dtype.startswith("mixed_") or dtype == "_infer"):
        return Policy(dtype)
    return Policy(tf.as_dtype(dtype).name)


def _dtype_or_none(name: Any) -> Any:
    return None if name is None else tf.as_dtype(name)


def _as_tensors(inputs: Any, name: str) -> Any:
    if isinstance(inputs, tf.Tensor | tf.Variable):
        return tf.convert_to_tensor(inputs)
    if isinstance(inputs, str):
        raise TypeError(
            f"Inputs to a layer should be tensors. Got {inputs!r} (of type {type(inputs)}) as "
            f"input for layer '{name}'."
        )

    def convert(value: Any) -> Any:
        if isinstance(value, np.ndarray | float | int | np.generic):
            return tf.convert_to_tensor(value)
        return value

    return tf.nest.map_structure(convert, inputs)


__all__ = ["InputSpec", "KerasTensor", "Layer"]
