"""Python's operators on tensors and variables."""

from __future__ import annotations

from ..core.tensor import Tensor
from ..core.variable import Variable
from .math.arithmetic import add, multiply


def _reflected(function):
    def operator(self, other):
        return function(other, self)

    return operator


_BINARY = {"add": add, "mul": multiply}

for _kind in (Tensor, Variable):
    for _name, _function in _BINARY.items():
        setattr(_kind, f"__{_name}__", _function)
        setattr(_kind, f"__r{_name}__", _reflected(_function))
