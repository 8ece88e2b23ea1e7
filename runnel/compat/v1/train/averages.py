"""Moving averages of variables and tensors."""

from __future__ import annotations

from ....core.context import init_scope, name_scope, state
from ....core.convert import convert_to_tensor
from ....core.variable import Variable
from ....ops.array.creation import zeros
from ....ops.math.arithmetic import minimum
from ....ops.math.casting import cast
from ....ops.sequencing import control_dependencies
from ....train.moving_averages import ExponentialMovingAverage as _OfVariables
from ..building import done, global_variables, moving_average_variables, trainable_variables
from ..defaults import get_default_graph
from ..keys import GraphKeys


class ExponentialMovingAverage(_OfVariables):
    """Maintains moving averages: average -= (1 - decay) (average - value)."""

    def __init__(self, decay, num_updates=None, zero_debias=False, name="ExponentialMovingAverage"):
        self._decay = decay
        self._num_updates = num_updates
        self._zero_debias = zero_debias
        self._name = name
        self._averages = {}
        self._counts = {}

    @property
    def name(self):
        return self._name

    def apply(self, var_list=None):
        """The operation that updates the averages of these variables and tensors."""
        values = trainable_variables() if var_list is None else list(var_list)
        for value in values:
            if value.dtype.name not in ("float16", "bfloat16", "float32", "float64"):
                raise TypeError(f"The variables must be half, float, or double: {value.name}")
            self._average_of(value)
        updates = []
        with name_scope(self._name):
            decay = convert_to_tensor(self._decay, "float32")
            if self._num_updates is not None:
                count = cast(self._num_updates, decay.dtype)
                decay = minimum(decay, (1.0 + count) / (10.0 + count))
            for value in values:
                updates += self._updates(value, cast(1.0 - decay, value.dtype))
        return done([each for each in updates if each is not None], self._name)

    def _key(self, value):
        return value._key if isinstance(value, Variable) else id(value)

    def _average_of(self, value):
        key = self._key(value)
        if key in self._averages:
            return
        title = f"{value.name.rpartition(':')[0]}/{self._name}"
        graph = get_default_graph()
        with init_scope(), control_dependencies(None):
            if isinstance(value, Variable):
                initial = value.initialized_value()
                graph.add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, value)
            else:
                initial = zeros(value.shape, value.dtype)
            self._averages[key] = _variable(initial, title), value
            if self._zero_debias and not isinstance(value, Variable):
                # The total weight of the values so far; the remainder is that of the initial zeros.
                self._counts[key] = _variable(zeros([], value.dtype), f"{title}/weight")

    def _updates(self, value, rest):
        key = self._key(value)
        average = self._averages[key][0]
        now = value.read_value() if isinstance(value, Variable) else value
        weight = self._counts.get(key)
        if weight is None:
            step = (average.read_value() - now) * rest
            return [average.assign_sub(step, read_value=False)]
        before = weight.read_value()
        after = before + (1.0 - before) * rest
        total = average.read_value() * before
        return [
            average.assign((total + (now - total) * rest) / after, read_value=False),
            weight.assign(after, read_value=False),
        ]

    def average(self, var):
        """The variable that holds the average, or None."""
        found = self._averages.get(self._key(var))
        return None if found is None else found[0]

    def average_name(self, var):
        """The name of the variable that holds the average."""
        found = self.average(var)
        if found is not None:
            return found.name.rpartition(":")[0]
        return f"{var.name.rpartition(':')[0]}/{self._name}"

    def variables_to_restore(self, moving_avg_variables=None):
        """Variables keyed by the names under which their averages, or they, were saved."""
        if moving_avg_variables is None:
            moving_avg_variables = trainable_variables() + moving_average_variables()
        averaged = {each.name: each for each in moving_avg_variables}
        found = {self.average_name(each): each for each in averaged.values()}
        own = {average.name for average, _ in self._averages.values()}
        for each in global_variables():
            if each.name not in averaged and each.name not in own:
                found[each.name.rpartition(":")[0]] = each
        return found


def _variable(initial, name):
    if state.home is None:
        with name_scope(""):
            return Variable(initial, name=name, trainable=False)
    return Variable(initial_value=initial, full_name=name, trainable=False)


def graph_class():
    """The class of moving averages that a graph holds."""
    return ExponentialMovingAverage
