"""Optimizer: the base of TensorFlow 1's optimizers, in graphs and eagerly."""

from __future__ import annotations

from ....core import nest
from ....core.autodiff.custom_gradient import gradients
from ....core.autodiff.tape import GradientTape
from ....core.context import init_scope, name_scope, state
from ....core.convert import convert_to_tensor
from ....core.graph.reachability import has_effects
from ....core.indexed_slices import IndexedSlices
from ....core.shapes import TensorShape
from ....core.tensor import Tensor
from ....core.variable import Variable
from ....ops.array.creation import zeros
from ....ops.math import distinct, segment
from ....ops.math.casting import cast
from ..building import done, trainable_variables
from ..defaults import get_default_graph
from ..keys import GraphKeys
from ..variables import rename


class Optimizer:
    """Updates variables by their gradients.

    A subclass defines its slots (`_create_slots`), and the update by a dense gradient
    (`_resource_apply_dense`) and by one of some rows (`_resource_apply_sparse`).
    """

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(self, use_locking, name, use_own_namescope_for_non_slot_vars=False):
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        self._own_scope = use_own_namescope_for_non_slot_vars
        self._slots = {}
        self._non_slots = {}

    def get_name(self):
        """The name of this optimizer."""
        return self._name

    def minimize(
        self,
        loss,
        global_step=None,
        var_list=None,
        gate_gradients=GATE_OP,
        aggregation_method=None,
        colocate_gradients_with_ops=False,
        name=None,
        grad_loss=None,
    ):
        """The operation of one step that minimizes the loss; eagerly, the step itself."""
        pairs = self.compute_gradients(
            loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops,
            grad_loss,
        )  # fmt: skip
        if not any(gradient is not None for gradient, _ in pairs):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not "
                f"support gradients, between variables {[str(v) for _, v in pairs]} and loss "
                f"{loss}."
            )
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(
        self,
        loss,
        var_list=None,
        gate_gradients=GATE_OP,
        aggregation_method=None,
        colocate_gradients_with_ops=False,
        grad_loss=None,
    ):
        """Pairs of a gradient and its variable; None where the loss does not depend on it."""
        if gate_gradients not in (0, 1, 2):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
                f"Optimizer.GATE_GRAPH. Not {gate_gradients}"
            )
        if callable(loss) and not isinstance(loss, Tensor):
            return self._recorded_gradients(loss, var_list, grad_loss)
        if state.graph is None:
            raise RuntimeError(
                "`loss` passed to Optimizer.compute_gradients should be a function when eager "
                "execution is enabled."
            )
        if var_list is None:
            others = get_default_graph().get_collection(GraphKeys.TRAINABLE_RESOURCE_VARIABLES)
            variables = trainable_variables() + others
        else:
            variables = nest.flatten(var_list)
        if not variables:
            raise ValueError("No variables to optimize.")
        with name_scope("gradients"):
            found = gradients(loss, variables, grad_loss)
        return list(zip(found, variables, strict=True))

    def _recorded_gradients(self, loss, var_list, grad_loss):
        with GradientTape() as tape:
            if var_list is not None:
                tape.watch(var_list)
            value = loss()
        variables = list(tape.watched_variables()) if var_list is None else nest.flatten(var_list)
        return list(zip(tape.gradient(value, variables, grad_loss), variables, strict=True))

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """The operation that updates the variables, and adds 1 to `global_step`."""
        pairs = [(gradient, variable) for gradient, variable in grads_and_vars]
        if not pairs:
            raise ValueError("No variables provided.")
        for gradient, variable in pairs:
            if not isinstance(variable, Variable):
                raise TypeError(f"Variable must be a tf.Variable: {variable}")
            if gradient is not None and not isinstance(gradient, Tensor | IndexedSlices | Variable):
                raise TypeError(f"Gradient must be a Tensor, IndexedSlices, or None: {gradient}")
        pairs = [(gradient, variable) for gradient, variable in pairs if gradient is not None]
        if not pairs:
            raise ValueError("No gradients provided for any variable.")
        with init_scope():
            self._create_slots([variable for _, variable in pairs])
        title = name or self._name
        with name_scope(title) as scope:
            self._prepare()
            operations = []
            for gradient, variable in pairs:
                with name_scope(f"update_{variable.name.rpartition(':')[0].replace('/', '_')}"):
                    operations += self._update(gradient, variable)
            finished = self._finish(operations, "update")
        if global_step is None:
            final = _titled(finished, scope)
        elif state.graph is None:
            global_step.assign_add(1)
            return None
        else:
            with state.graph.control_dependencies([finished]):
                one = convert_to_tensor(1, global_step.dtype)
                final = _titled(global_step.assign_add(one, read_value=False), scope)
        if final is not None:
            collection = get_default_graph().get_collection_ref(GraphKeys.TRAIN_OP)
            if final not in collection:
                collection.append(final)
        return final

    def _update(self, gradient, variable):
        """Update a variable; in a graph, the operations that do."""
        graph = state.graph
        before = 0 if graph is None else len(graph.operations)
        if isinstance(gradient, IndexedSlices):
            self._apply_sparse_duplicate_indices(gradient, variable)
        else:
            self._apply_dense(convert_to_tensor(gradient), variable)
        if variable.constraint is not None:
            variable.assign(variable.constraint(variable))
        if graph is None:
            return []
        return [each for each in graph.operations[before:] if has_effects(each)]

    def _apply_dense(self, grad, var):
        self._resource_apply_dense(grad, var)

    def _apply_sparse_duplicate_indices(self, grad, var):
        indices = convert_to_tensor(grad.indices)
        rows, places = distinct.unique(indices)
        from ....ops.array.shaping import size

        values = segment.unsorted_segment_sum(grad.values, places, size(rows))
        self._resource_apply_sparse(values, var, rows)

    # Methods of subclasses.

    def _create_slots(self, var_list):
        """Create the slots of the variables."""

    def _prepare(self):
        """Convert the hyperparameters to tensors."""

    def _resource_apply_dense(self, grad, handle):
        raise NotImplementedError(f"{type(self).__name__} does not change variables.")

    def _resource_apply_sparse(self, grad, handle, indices):
        raise NotImplementedError(f"{type(self).__name__} does not change rows of variables.")

    def _finish(self, update_ops, name_scope):
        """The operation after all updates."""
        return done(update_ops, name_scope)

    # Slots.

    def get_slot_names(self):
        """The names of the slots."""
        return sorted(self._slots)

    def get_slot(self, var, name):
        """The slot of this name that a variable has, or None."""
        return self._slots.get(name, {}).get(var._key)

    def variables(self):
        """The variables of the optimizer itself."""
        found = [slot for slots in self._slots.values() for slot in slots.values()]
        found += [variable for variable, _ in self._non_slots.values()]
        return sorted(found, key=lambda variable: variable.name)

    def add_slot(self, var, slot_name, shape=None):
        """The slot of this name of a variable, created if there is none."""
        return self._slot(var, slot_name)

    def _checkpoint_slots(self):
        """The (variable's key, slot name, slot) triples, for checkpoints of objects."""
        for name, slots in sorted(self._slots.items()):
            for key, slot in slots.items():
                yield key, name, slot

    def _checkpoint_children(self):
        """The variables of the optimizer's own by name, for checkpoints of objects."""
        graph = state.home if state.session is None else state.session.graph
        here = None if graph is None else id(graph)
        own = self._non_slots.items()
        return {name: variable for (name, place), (variable, _) in own if place == here}

    def _slot(self, var, slot_name, initial=None):
        """The slot of a variable; created with this initial value, zeros by default."""
        slots = self._slots.setdefault(slot_name, {})
        slot = slots.get(var._key)
        if slot is None:
            if initial is None:
                initial = lambda: zeros(var.shape, var.dtype)  # noqa: E731
            slot = slots[var._key] = self._own_variable(
                f"{var.name.rpartition(':')[0]}/{self._name}", initial
            )
        return slot

    def _zeros_slot(self, var, slot_name, op_name):
        """The slot of zeros of a variable."""
        return self._slot(var, slot_name)

    def _create_non_slot_variable(self, initial_value, name, colocate_with):
        """A variable of the optimizer's own, one per graph."""
        graph = state.home
        key = (name, None if graph is None else id(graph))
        if key not in self._non_slots:
            title = f"{self._name}/{name}" if self._own_scope else name
            # Stored with the graph, so that its id is not reused.
            self._non_slots[key] = self._own_variable(title, initial_value), graph
        return self._non_slots[key][0]

    def _get_non_slot_variable(self, name, graph=None):
        """The variable of the optimizer's own with this name."""
        graph = state.home if graph is None else graph
        return self._non_slots[name, None if graph is None else id(graph)][0]

    def _own_variable(self, name, initial):
        if state.home is not None:
            return Variable(initial_value=initial, full_name=name, trainable=False)
        with name_scope(""):
            return Variable(initial, name=name, trainable=False)

    def _number(self, value, dtype):
        """A hyperparameter as a tensor of a variable's dtype."""
        value = value() if callable(value) and not isinstance(value, Tensor) else value
        if isinstance(value, Tensor | Variable):
            tensor = convert_to_tensor(value)
            return tensor if tensor.dtype is dtype else cast(tensor, dtype)
        return convert_to_tensor(value, dtype)


def _titled(operation, scope):
    """The operation under the name of the updates' scope."""
    if operation is not None:
        rename(operation, scope.rstrip("/"))
    return operation


def filled(var, value):
    """A function that creates a tensor of a variable's shape, filled with a number."""
    from ....ops.array.creation import fill

    shape = TensorShape(var.shape).as_list()
    return lambda: fill(shape, convert_to_tensor(value, var.dtype))
