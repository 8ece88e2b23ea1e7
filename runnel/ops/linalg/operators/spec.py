"""The type specs of linear operators, with which traced functions and tf.nest flatten them."""

from __future__ import annotations

from typing import Any

from ....core.tensor import Tensor
from ....core.type_spec import TensorSpec, TypeSpec
from ....core.variable import Variable


class LinearOperatorSpec(TypeSpec):
    """The specs of an operator's tensors, and the other arguments of its constructor."""

    _operator_class: type

    def __init__(
        self,
        param_specs: dict[str, Any],
        non_tensor_params: dict[str, Any],
        prefer_static_fields: tuple[str, ...] = (),
    ) -> None:
        self._param_specs = param_specs
        self._non_tensor_params = non_tensor_params
        self._prefer_static_fields = tuple(prefer_static_fields)

    @property
    def value_type(self) -> type:
        """The class of the operators described."""
        return self._operator_class

    def _serialize(self) -> tuple[Any, ...]:
        return self._param_specs, self._non_tensor_params, self._prefer_static_fields

    @property
    def _component_specs(self) -> Any:
        return self._param_specs

    def _to_components(self, value: Any) -> Any:
        return {name: value._field(name) for name in self._param_specs}

    def _from_components(self, components: Any) -> Any:
        return self._operator_class(**components, **self._non_tensor_params)

    def __reduce__(self) -> Any:
        return _restored, (self._operator_class, self._serialize())


def _restored(operator_class: Any, serialization: tuple[Any, ...]) -> LinearOperatorSpec:
    return operator_class._spec_class(*serialization)


def spec_of_field(value: Any) -> Any:
    """The spec of a tensor, of an operator or of a list of these."""
    if isinstance(value, list | tuple):
        return [spec_of_field(each) for each in value]
    if isinstance(value, Tensor | Variable):
        return TensorSpec(value.shape, value.dtype)
    return value._type_spec
