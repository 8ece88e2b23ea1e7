"""Graph variables: cells whose values belong to the sessions that run the graph."""

from __future__ import annotations

import threading
import weakref
from typing import Any

from ...core.context import init_scope, name_scope, next_key, state
from ...core.convert import convert_to_tensor, register_converter
from ...core.dtypes import as_dtype, resource
from ...core.errors import FailedPreconditionError
from ...core.op import Op, execute
from ...core.shape_rules import scalar
from ...core.shapes import TensorShape
from ...core.type_spec import TensorSpec, register_type_spec
from ...core.variable import (
    AssignVariableOp,
    ReadVariableOp,
    Variable,
    VariableAggregation,
    VariableSynchronization,
    _announce,
    _convert_variable,
)
from .keys import GraphKeys

# They are not in the registry: only a session runs them.
HandleOp = Op(
    "VarHandleOp", "-> resource: dtype", lambda **attrs: attrs["variable"], scalar, True, False, {}
)
_VarIsInitializedOp = Op(
    "VarIsInitializedOp",
    "resource: resource -> is_initialized: dtype",
    lambda variable, *, dtype: dtype.as_numpy_dtype(variable.is_ready()),
    scalar,
    True,
    False,
    {},
)


# The variables of all graphs by key, for values that are shared between sessions.
by_key: weakref.WeakValueDictionary[int, GraphVariable] = weakref.WeakValueDictionary()


class GraphVariable(Variable):
    """A variable of a graph: it has a value in a session after its initializer ran there."""

    def __init__(
        self,
        initial_value=None,
        trainable=None,
        collections=None,
        validate_shape=True,
        caching_device=None,
        name=None,
        variable_def=None,
        dtype=None,
        expected_shape=None,
        import_scope=None,
        constraint=None,
        use_resource=None,
        synchronization=VariableSynchronization.AUTO,
        aggregation=VariableAggregation.NONE,
        shape=None,
        experimental_enable_variable_lifting=True,
        full_name=None,
    ):
        if initial_value is None:
            raise ValueError(
                "The `initial_value` arg to `tf.Variable` must be specified. Give a value, or a "
                "function without arguments that makes one."
            )
        if constraint is not None and not callable(constraint):
            raise ValueError("The `constraint` argument must be a callable.")
        building = state.graph
        with init_scope():
            graph = state.home
            with graph.control_dependencies(None):
                self._build(graph, initial_value, name, full_name, dtype, shape, validate_shape)
        on_read = synchronization is VariableSynchronization.ON_READ
        self.trainable = not on_read if trainable is None else bool(trainable)
        self.constraint = constraint
        self.synchronization = synchronization
        self.aggregation = aggregation
        if collections is None:
            collections = [GraphKeys.GLOBAL_VARIABLES]
        if not isinstance(collections, list | tuple | set):
            raise ValueError(
                "collections argument to Variable constructor must be a list, tuple, or set. Got "
                f"{collections!r}."
            )
        if self.trainable and GraphKeys.TRAINABLE_VARIABLES not in collections:
            collections = [*collections, GraphKeys.TRAINABLE_VARIABLES]
        graph.add_to_collections(list(collections), self)
        if building.building_function:
            _announce(self, building)

    @classmethod
    def made(cls, **arguments: Any) -> GraphVariable:
        """A variable of the graph that variables belong to."""
        return cls(**arguments)

    def _build(self, graph, initial_value, name, full_name, dtype, shape, validate_shape):
        wanted = full_name or state.name_scope + (name or "Variable").rstrip("/")
        unique = graph.unique_name(wanted)
        self.graph = graph
        self._key = next_key()
        by_key[self._key] = self
        # Held by updates; reads do not take it.
        self._own_lock = threading.RLock()
        self._name = f"{unique}:0"
        with name_scope(f"{unique}/"):
            value = initial_value
            if callable(value):
                with name_scope("Initializer"):
                    value = value()
            self._initial_value = tensor = convert_to_tensor(
                value, None if dtype is None else as_dtype(dtype)
            )
            self.dtype = tensor.dtype
            if shape is not None:
                self._shape = TensorShape(shape)
                if not tensor.shape.is_compatible_with(self._shape):
                    raise ValueError(
                        f"The initial value's shape ({tensor.shape}) is not compatible with the "
                        f"explicitly supplied `shape` argument ({self._shape})."
                    )
            else:
                self._shape = tensor.shape if validate_shape else TensorShape(None)
            if validate_shape and shape is None and not tensor.shape.is_fully_defined():
                raise ValueError(
                    f"initial_value must have a shape specified: {tensor!r}. Give "
                    "validate_shape=False where it may change."
                )
            self._handle_op = add_named(
                graph, unique, HandleOp, (), {"dtype": resource, "variable": self}
            )
            self._is_initialized = add_named(
                graph,
                f"{unique}/IsInitialized/VarIsInitializedOp",
                _VarIsInitializedOp,
                (self.handle,),
                {"dtype": as_dtype(bool)},
            ).outputs[0]
            self.initializer = add_named(
                graph, f"{unique}/Assign", AssignVariableOp, (self.handle, tensor), {}
            )
            read = add_named(
                graph,
                f"{unique}/Read/ReadVariableOp",
                ReadVariableOp,
                (self.handle,),
                {"dtype": self.dtype},
            )
        self._snapshot = read.outputs[0]
        self._snapshot._key = self._key

    # The cell: an entry in the values of the active session.

    @property
    def _lock(self):
        session = state.session
        return self._own_lock if session is None else session.lock_of(self)

    @property
    def _tensor(self):
        values = _session(self).values
        found = values.get(self._key)
        if found is None:
            # An update may have removed it.
            with self._lock:
                found = values.get(self._key)
        if found is None:
            name = self.op.name
            raise FailedPreconditionError(
                None,
                self.op,
                f"Could not find variable {name}. This could mean that the variable has been "
                "deleted. In TF1, it can also mean the variable is uninitialized. Debug info: "
                f"container=localhost, status error message=Resource localhost/{name} does not "
                "exist. Run its initializer first: "
                "session.run(tf.compat.v1.global_variables_initializer()).",
            )
        return found

    @_tensor.setter
    def _tensor(self, tensor):
        _session(self).values[self._key] = tensor

    @_tensor.deleter
    def _tensor(self):
        del _session(self).values[self._key]

    def is_ready(self):
        """Whether the active session has a value for this variable."""
        return self._key in _session(self).values

    def _updated(self, read_value=True):
        graph = state.graph
        if graph is None or (graph.keeps_effects and read_value):
            return self if read_value else None
        operation = graph.operations[-1]
        return AssignedVariable(self, operation) if read_value else operation

    def _update(self, op, value, read_value):
        if self._is_outside():
            with self.graph.as_default():
                return self._update(op, value, read_value)
        execute(op, (self.handle, value))
        return self._updated(read_value)

    def _as_tensor(self):
        if self._is_outside():
            with self.graph.as_default():
                return super()._as_tensor()
        return super()._as_tensor()

    def _is_outside(self):
        """Whether there is neither a graph being built nor an active session."""
        return state.graph is None and state.session is None

    # The public interface.

    @property
    def op(self):
        return self._handle_op

    @property
    def initial_value(self):
        return self._initial_value

    @property
    def device(self):
        return self._handle_op.device

    def is_initialized(self, name=None):
        """A boolean tensor: whether the session has a value for this variable."""
        return self._is_initialized

    def initialized_value(self):
        """The value, or the initial one where the initializer has not run yet."""
        from ...ops.control_flow import cond

        return cond(self._is_initialized, self.read_value, lambda: self._initial_value)

    def eval(self, session=None):
        """The value in a session, the default one if not given."""
        from .session import session_for

        return session_for(session, self.graph, "eval()").run(self)

    def numpy(self):
        """The value in the default session."""
        from .session import get_default_session

        if state.session is not None:
            return super().numpy()
        session = get_default_session()
        if session is None:
            raise NotImplementedError("numpy() is only available when eager execution is enabled.")
        return session.run(self)

    def load(self, value, session=None):
        """Set the variable's value in a session, the default one if not given."""
        from .session import session_for

        session = session_for(session, self.graph, "load()")
        session.run(self.initializer, {self.initializer.inputs[1]: value})

    def __array__(self, dtype=None, copy=None):
        if state.session is not None:
            return super().__array__(dtype, copy)
        raise NotImplementedError(
            f"Cannot convert the variable {self.name} of a graph to a NumPy array: a session has "
            "its value, session.run(variable)."
        )

    def __eq__(self, other):
        return self is other

    def __ne__(self, other):
        return self is not other

    def __hash__(self):
        return id(self)

    def __repr__(self):
        return f"<tf.Variable '{self.name}' shape={self._shape} dtype={self.dtype.name}>"

    def __deepcopy__(self, memo):
        raise NotImplementedError(
            "__deepcopy__() is only available when eager execution is enabled."
        )

    def __reduce__(self):
        raise TypeError(f"The variable {self.name} belongs to its graph and has no pickle.")


class AssignedVariable(GraphVariable):
    """The result of an update: the variable after the update, which a session then runs."""

    __slots__ = ("_operation", "_value")

    def __init__(self, variable, operation):
        self.__dict__ = variable.__dict__
        self._operation = operation
        self._value = self._read()

    def _read(self):
        with state.graph.control_dependencies([self._operation]):
            return GraphVariable._as_tensor(self)

    @property
    def op(self):
        return self._operation

    # The operation that uses of the variable depend on.
    update = op

    @property
    def name(self):
        return self._operation.name

    @property
    def snapshot(self):
        return self._value

    def _as_tensor(self):
        graph = self.graph if state.graph is None else state.graph
        with graph.as_default():
            return self._value if graph is self._value.graph else self._read()

    def __repr__(self):
        return f"<tf.Variable 'UnreadVariable' shape={self._shape} dtype={self.dtype.name}>"


def snapshot(variable):
    """The tensor that a session fetches for a variable."""
    return variable._value if isinstance(variable, AssignedVariable) else variable._snapshot


def _session(variable):
    session = state.session
    if session is None:
        raise RuntimeError(
            f"The variable {variable.name} of a graph has its values in sessions: run it in one."
        )
    return session


def add_named(graph, name, op, inputs=(), attrs=None):
    """An operation of exactly this name."""
    attrs = attrs or {}
    kinds = op.types_of_results(inputs, attrs)
    shapes = op.infer_shapes(inputs, attrs)
    graph._names.setdefault(name.lower(), 1)
    return graph._append(op, inputs, attrs, [kinds] if op.single else kinds, shapes, name)


def rename(operation, name):
    """Rename an operation."""
    graph = operation.graph
    del graph._by_name[operation.name]
    operation.name = name
    graph._names[name.lower()] = max(1, graph._names.get(name.lower(), 0))
    graph._by_name[name] = operation


class _Maker(type):
    """Creates variables of the graph being built, or eager ones."""

    def __call__(cls, *args, **kwargs):
        given = dict(zip(_ARGUMENTS, args, strict=False)) | kwargs
        for option in ("expected_shape", "use_resource"):
            given.pop(option, None)
        if state.home is None:
            given.pop("collections", None)
        return Variable(**given)

    def __instancecheck__(cls, instance):
        return isinstance(instance, Variable)


class VariableV1(metaclass=_Maker):
    """A variable of the graph being built, added to its collections; an eager one elsewhere."""

    def __init__(
        self,
        initial_value=None,
        trainable=None,
        collections=None,
        validate_shape=True,
        caching_device=None,
        name=None,
        variable_def=None,
        dtype=None,
        expected_shape=None,
        import_scope=None,
        constraint=None,
        use_resource=None,
        synchronization=VariableSynchronization.AUTO,
        aggregation=VariableAggregation.NONE,
        shape=None,
    ):
        """The created object is a `tf.Variable`; this is its constructor."""


_ARGUMENTS = VariableV1.__init__.__code__.co_varnames[1:]

for _kind in (GraphVariable, AssignedVariable):
    register_converter(_kind, _convert_variable)
    register_type_spec(_kind, lambda variable: TensorSpec(variable.shape, variable.dtype))
