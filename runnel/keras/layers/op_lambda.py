"""TFOpLambda: a call of a public function on KerasTensors, as a layer of the model."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ..engine.base_layer import Layer
from ..engine.keras_tensor import new_layer_name


class TFOpLambda(Layer):
    """The operations of one call of a function such as tf.reduce_mean in a functional model."""

    def __init__(self, function: Any, **kwargs: Any) -> None:
        kwargs.setdefault("name", new_layer_name(function))
        super().__init__(**kwargs)
        self.function_name = function
        self.operations: list[Any] = []
        self.built = True

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, found by its public name."""
        target: Any = tf
        for part in self.function_name.split("."):
            target = getattr(target, part)
        return target(*args, **kwargs)

    def get_config(self) -> dict[str, Any]:
        """The name of the function."""
        return {**super().get_config(), "function": self.function_name}
