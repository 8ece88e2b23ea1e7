"""Variables made while a restoration waits, which look for their value before they are used.

Lists and dicts tell nobody what is put into them. So where a restoration waits for items of one,
a new variable has this class: whoever reads or changes it makes the containers be looked at once
more. It becomes a plain variable again as soon as it has its value, or none can come.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from ..core.tensor import Tensor
from ..core.variable import Variable


class AwaitedVariable(Variable):
    """A variable whose value may still come from a checkpoint."""

    # Looks at the containers; whether items of any are still awaited.
    look: Callable[[], bool] = staticmethod(lambda: False)

    @property
    def _tensor(self) -> Tensor:
        self._look()
        try:
            tensor: Tensor = self.__dict__["_tensor"]
        except KeyError:
            # An update of another thread has taken it out.
            with self._lock:
                tensor = self.__dict__["_tensor"]
        return tensor

    @_tensor.setter
    def _tensor(self, tensor: Tensor) -> None:
        # What is in a container by now had its value first, and gets this one after it.
        self._look()
        self.__dict__["_tensor"] = tensor

    @_tensor.deleter
    def _tensor(self) -> None:
        del self.__dict__["_tensor"]

    def _look(self) -> None:
        if not AwaitedVariable.look():
            settle(self)


def await_value(variable: Variable) -> None:
    """Let a new variable look for its value."""
    if type(variable) is Variable:
        # The restoration happens inside of the operation that looks, which may have the lock.
        variable._lock = threading.RLock()  # type: ignore[assignment]
        variable.__class__ = AwaitedVariable


def settle(variable: Variable) -> None:
    """Make it a plain variable again."""
    if type(variable) is AwaitedVariable:
        variable.__class__ = Variable  # type: ignore[assignment]
