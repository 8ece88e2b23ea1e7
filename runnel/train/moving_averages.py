"""ExponentialMovingAverage: moving averages of variables during training."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core import dtypes, hooks
from ..core.context import init_scope, state
from ..core.convert import convert_to_tensor
from ..core.variable import Variable
from ..ops.math import arithmetic, casting

_KINDS = frozenset({dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64})


class ExponentialMovingAverage:
    """Maintains moving averages of variables: average -= (1 - decay) · (average - variable).

    With `num_updates` the decay is min(decay, (1 + num_updates) / (10 + num_updates)), so that the
    averages adapt faster in the beginning.

    >>> v = tf.Variable(1.0)
    >>> average = tf.train.ExponentialMovingAverage(decay=0.5)
    >>> average.apply([v])
    >>> _ = v.assign(3.0)
    >>> average.apply([v])
    >>> average.average(v).numpy().item()
    2.0
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """An instance of this class; in graph mode, of its graph counterpart."""
        if state.home is not None and cls is ExponentialMovingAverage:
            cls = hooks.moving_averages_of_graphs()
        return super().__new__(cls)

    def __init__(
        self,
        decay: Any,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self._decay = decay
        self._num_updates = num_updates
        # Averages are initialized with the values of their variables, so no debiasing is needed.
        self._zero_debias = zero_debias
        self._name = name
        self._averages: dict[int, Variable] = {}

    @property
    def name(self) -> str:
        """The name, part of the averages' names."""
        return self._name

    def apply(self, var_list: Iterable[Variable] | None = None) -> None:
        """Update the averages; new ones are initialized with the values of their variables."""
        variables = list(var_list or ())
        for variable in variables:
            if not isinstance(variable, Variable):
                raise TypeError(
                    "tf.train.ExponentialMovingAverage does not support non-Variable tensors when "
                    f"eager execution is enabled. Got {variable!r}."
                )
            if variable.dtype not in _KINDS:
                raise TypeError(f"The variables must be half, float, or double: {variable.name}")
            self._make(variable)
        for variable in variables:
            average = self._averages[variable._key]
            keep = self._current_decay(average.dtype)
            average.assign_sub((average - variable) * (1 - keep))

    def _make(self, variable: Variable) -> None:
        if variable._key in self._averages:
            return
        with init_scope():
            self._averages[variable._key] = Variable(
                variable.read_value(), trainable=False, name=self.average_name(variable)
            )

    def _current_decay(self, dtype: dtypes.DType) -> Any:
        decay = convert_to_tensor(self._decay, dtype)
        if self._num_updates is None:
            return decay
        count = casting.cast(self._num_updates, dtype)
        return arithmetic.minimum(decay, (count + 1) / (count + 10))

    def average(self, var: Variable) -> Variable | None:
        """The average of a variable; None if `apply` was not called for it."""
        return self._averages.get(var._key)

    def average_name(self, var: Variable) -> str:
        """The name of a variable's average."""
        return f"{var.name.removesuffix(':0')}/{self._name}"

    def variables_to_restore(
        self, moving_avg_variables: Iterable[Variable] | None = None
    ) -> dict[str, Variable]:
        """The averages' names in name-based checkpoints, with the variables to restore them to.

        >>> v = tf.Variable(1.0, name="v")
        >>> list(tf.train.ExponentialMovingAverage(0.9).variables_to_restore([v]))
        ['v/ExponentialMovingAverage']
        """
        return {self.average_name(each): each for each in moving_avg_variables or ()}
