"""The signatures of a SavedModel: functions of named tensors that return dicts of tensors."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..core.graph.concrete import ConcreteFunction, structure_of
from ..core.graph.function import Function
from ..core.graph.graph import FuncGraph
from ..core.graph.signature import BoundSignature
from ..core.tensor import Tensor
from ..core.type_spec import TensorSpec, TypeSpec
from ..formats.saved_model_names import DEFAULT_SERVING_SIGNATURE_DEF_KEY, INIT_OP_SIGNATURE_KEY
from .export_objects import Signatures
from .loading import keyword_parameters


def signatures_of(given: Any, parts: Mapping[str, Any]) -> Signatures:
    """The functions of the given signatures, or of the default one."""
    if given is None:
        found = _only_function(parts)
        given = {} if found is None else {DEFAULT_SERVING_SIGNATURE_DEF_KEY: found}
    elif not isinstance(given, Mapping):
        given = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: given}
    wrapped = {}
    for name, function in given.items():
        if not isinstance(name, str):
            raise AttributeError(
                f"{type(name).__name__!r} object is no name: the keys of `signatures` are strings, "
                f"got {name!r}."
            )
        if name == INIT_OP_SIGNATURE_KEY:
            raise ValueError(
                f"The name {name!r} is taken in SavedModels: give the signature another one."
            )
        wrapped[name] = _wrapped(name, _concrete(function))
    return Signatures(wrapped)


def _only_function(parts: Mapping[str, Any]) -> ConcreteFunction | None:
    """The only function with an input signature among the children of an object."""
    default = parts.get("_default_save_signature")
    if default is not None:
        return _concrete(default)
    found = []
    for part in parts.values():
        if isinstance(part, ConcreteFunction):
            concrete = part
        elif isinstance(part, Function) and part.input_signature is not None:
            concrete = part.get_concrete_function()
        else:
            continue
        if _gives_tensors(concrete):
            found.append(concrete)
    return found[0] if len(found) == 1 else None


def _gives_tensors(concrete: ConcreteFunction) -> bool:
    outputs = concrete.structured_outputs
    if isinstance(outputs, Mapping):
        values: Sequence[Any] = list(outputs.values())
        if not all(isinstance(key, str) for key in outputs):
            return False
    else:
        values = outputs if isinstance(outputs, list | tuple) else [outputs]
    return all(_is_tensor(value) for value in values)


def _is_tensor(value: Any) -> bool:
    spec = getattr(value, "_type_spec", value)
    return isinstance(value, Tensor) or isinstance(spec, TypeSpec)


def _concrete(function: Any) -> ConcreteFunction:
    if isinstance(function, ConcreteFunction):
        return function
    if isinstance(function, Function):
        if function.input_signature is not None:
            return function.get_concrete_function()
        # The trace of a function without arguments needs no input signature.
        if not function.parameters.names:
            return function.get_concrete_function()
    raise ValueError(
        "Expected a TensorFlow function for which to generate a signature, but got "
        f"{function}. Only `tf.functions` with an input signature or concrete functions can be "
        "used as a signature."
    )


def _wrapped(name: str, concrete: ConcreteFunction) -> ConcreteFunction:
    """The signature's function: inputs by name, outputs in a dict."""
    order = [tensor.op.name for tensor in concrete.graph.inputs]
    specs = {
        each: TensorSpec(tensor.shape, tensor.dtype, each)
        for each, tensor in sorted(zip(order, concrete.graph.inputs, strict=True),
                                   key=lambda pair: pair[0])
    }  # fmt: skip
    graph = FuncGraph(f"signature_wrapper_{function_stem(concrete)}")
    with graph.building():
        inputs = {
            each: graph.add_input(spec.dtype, spec.shape, each) for each, spec in specs.items()
        }
        outputs = _named(concrete, concrete.call([inputs[each] for each in order]), name)
        structure, graph.outputs = structure_of(outputs, graph)
    signature = BoundSignature(keyword_parameters(list(specs)), (), specs)
    return ConcreteFunction(graph, structure, signature)


def function_stem(concrete: ConcreteFunction) -> str:
    """A function's name without the affixes that loading and saving add."""
    name = re.sub(r"\W", "_", concrete.graph.name)
    return re.sub(r"_\d+$", "", name.removeprefix("__inference_"))


def _named(concrete: ConcreteFunction, outputs: Any, name: str) -> dict[str, Any]:
    if isinstance(outputs, Mapping):
        found = dict(outputs)
    else:
        values = outputs if isinstance(outputs, list | tuple) else [outputs]
        found = {f"output_{i}": value for i, value in enumerate(values)}
    for key, value in found.items():
        if not isinstance(key, str) or not _is_tensor(value):
            what = "non-string key" if not isinstance(key, str) else "non-Tensor value"
            raise ValueError(
                f"Got a {what} {value!r} for key {key!r} in the output of the function "
                f"{concrete.name} used to generate the SavedModel signature {name!r}. Outputs for "
                "functions used as signatures must be a single Tensor, a sequence of Tensors, or "
                "a dictionary from string to Tensor."
            )
    return found
