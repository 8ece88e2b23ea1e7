"""tf.types.experimental: what functions and tensors are, for annotations and isinstance."""

from abc import ABC as _ABC, abstractmethod as _abstractmethod
from typing import Any as _Any, TypeAlias as _TypeAlias

import numpy as _np

from ..core.graph.concrete import ConcreteFunction as ConcreteFunction
from ..core.graph.function import Function as GenericFunction
from ..core.tensor import Tensor as _Tensor
from ..core.type_spec import TypeSpec as _TypeSpec
from ..core.variable import Variable as _Variable

TensorLike: _TypeAlias = (
    _Tensor
    | _Variable
    | int
    | float
    | bool
    | str
    | bytes
    | complex
    | tuple
    | list
    | _np.ndarray
    | _np.generic
)

PolymorphicFunction = GenericFunction


TraceType = _TypeSpec


class Callable(_ABC):
    """What calls a graph: a function of tf.function, or one of its traces.

    >>> @tf.function
    ... def double(x):
    ...     return 2 * x
    >>> isinstance(double, tf.types.experimental.Callable)
    True
    """

    @_abstractmethod
    def __call__(self, *args: _Any, **kwargs: _Any) -> _Any:
        """Run the graph that fits the arguments."""


Callable.register(GenericFunction)
Callable.register(ConcreteFunction)
