"""Variable scopes: `get_variable` reuses variables by name."""

from __future__ import annotations

import contextlib
import enum
import functools
import threading

from ...core.context import init_scope, name_scope as _name_scope, state
from ...core.dtypes import as_dtype, float32
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ...core.variable import Variable, VariableAggregation, VariableSynchronization
from .defaults import get_default_graph, home_graph
from .initializers import glorot_uniform_initializer, zeros_initializer
from .keys import GraphKeys


class _Reuse(enum.Enum):
    """Whether `get_variable` reuses variables, creates them, or does either."""

    AUTO_REUSE = 1


AUTO_REUSE = _Reuse.AUTO_REUSE


class name_scope:
    """Prefix the names of operations in a block; `default_name` where there is no name."""

    def __init__(self, name, default_name=None, values=None):
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name for name_scope must be a string, got {name!r}.")
        if values is not None and name is None and default_name is None:
            raise ValueError(
                "values were given without a name: at least one of name and default_name is needed."
            )
        self._name = default_name if name is None else name
        self._scopes = []

    @property
    def name(self):
        return self._name

    def __enter__(self):
        scope = _name_scope(self._name or "")
        self._scopes.append(scope)
        return scope.__enter__()

    def __exit__(self, *exception):
        self._scopes.pop().__exit__(*exception)


class _Store:
    """The variables of a graph by name, its current scope, and how often scopes were entered."""

    def __init__(self):
        self.variables = {}
        self.scope = VariableScope(False)
        self.counts = {}
        # Of a tracked object: what its losses are told.
        self.regularize = None


class _Tracking(threading.local):
    """The store of the object whose variables are tracked, while a method of it is at work."""

    store = None


_tracking = _Tracking()


@contextlib.contextmanager
def tracking(variables, regularize):
    """Let `get_variable` find its variables in a dictionary, and put new ones into it.

    `regularize(name, regularizer, variable)` is called for new ones that have a regularizer.
    """
    before = _tracking.store
    store = _tracking.store = _Store()
    store.variables, store.regularize = variables, regularize
    try:
        yield
    finally:
        _tracking.store = before


def is_tracking():
    """Whether `get_variable` finds the variables of an object."""
    return _tracking.store is not None


def _store():
    if _tracking.store is not None:
        return _tracking.store
    graph = home_graph()
    if graph.variable_store is None:
        graph.variable_store = _Store()
    return graph.variable_store


class VariableScope:
    """A prefix of variables' names, with defaults for `get_variable`."""

    def __init__(
        self,
        reuse,
        name="",
        initializer=None,
        regularizer=None,
        caching_device=None,
        partitioner=None,
        custom_getter=None,
        name_scope="",
        dtype=float32,
        use_resource=None,
        constraint=None,
    ):
        self._name = name
        self._reuse = reuse
        self._initializer = initializer
        self._regularizer = regularizer
        self._caching_device = caching_device
        self._partitioner = partitioner
        self._custom_getter = custom_getter
        self._name_scope = name_scope
        self._dtype = dtype
        self._use_resource = use_resource
        self._constraint = constraint

    name = property(lambda self: self._name)
    reuse = property(lambda self: self._reuse)
    initializer = property(lambda self: self._initializer)
    regularizer = property(lambda self: self._regularizer)
    caching_device = property(lambda self: self._caching_device)
    partitioner = property(lambda self: self._partitioner)
    custom_getter = property(lambda self: self._custom_getter)
    dtype = property(lambda self: self._dtype)
    use_resource = property(lambda self: self._use_resource)
    constraint = property(lambda self: self._constraint)

    @property
    def original_name_scope(self):
        return self._name_scope

    def reuse_variables(self):
        """Make `get_variable` reuse variables from now on instead of creating them."""
        self._reuse = True

    def set_initializer(self, initializer):
        """Set the default initializer of variables."""
        self._initializer = initializer

    def set_regularizer(self, regularizer):
        """Set the default regularizer of variables."""
        self._regularizer = regularizer

    def set_dtype(self, dtype):
        """Set the default dtype of variables."""
        self._dtype = as_dtype(dtype)

    def set_use_resource(self, use_resource):
        """Store the kind of variables; it has no effect, there is only one."""
        self._use_resource = use_resource

    def set_caching_device(self, caching_device):
        """Store the caching device; it has no effect, there is only one device."""
        self._caching_device = caching_device

    def set_partitioner(self, partitioner):
        """Store the partitioner; variables are not partitioned."""
        self._partitioner = partitioner

    def set_custom_getter(self, custom_getter):
        """Make `custom_getter(getter, name, ...)` create or get the variables of this scope."""
        self._custom_getter = custom_getter

    def get_collection(self, name):
        """The values of a collection whose names start with this scope's."""
        prefix = f"{self._name}/" if self._name else ""
        return get_default_graph().get_collection(name, prefix)

    def trainable_variables(self):
        """The trainable variables of this scope."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self):
        """The global variables of this scope."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self):
        """The local variables of this scope."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def copied(self, **changes):
        """A copy of this scope, with some properties changed."""
        arguments = {
            "reuse": self._reuse, "name": self._name, "initializer": self._initializer,
            "regularizer": self._regularizer, "caching_device": self._caching_device,
            "partitioner": self._partitioner, "custom_getter": self._custom_getter,
            "name_scope": self._name_scope, "dtype": self._dtype,
            "use_resource": self._use_resource, "constraint": self._constraint,
        }  # fmt: skip
        return VariableScope(**{**arguments, **changes})


def get_variable_scope():
    """The current variable scope."""
    return _store().scope


class variable_scope:
    """A block whose variables have names with a prefix, and are shared with `reuse`."""

    def __init__(
        self,
        name_or_scope,
        default_name=None,
        values=None,
        initializer=None,
        regularizer=None,
        caching_device=None,
        partitioner=None,
        custom_getter=None,
        reuse=None,
        dtype=None,
        use_resource=None,
        constraint=None,
        auxiliary_name_scope=True,
    ):
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if name_or_scope is not None and not isinstance(name_or_scope, str | VariableScope):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        self._given = name_or_scope
        self._default_name = default_name
        self._reuse = reuse
        self._own_name_scope = auxiliary_name_scope
        changes = {
            "initializer": initializer, "regularizer": regularizer,
            "caching_device": caching_device, "partitioner": partitioner,
            "dtype": None if dtype is None else as_dtype(dtype), "use_resource": use_resource,
            "constraint": constraint,
        }  # fmt: skip
        self._changes = {name: value for name, value in changes.items() if value is not None}
        self._custom_getter = custom_getter
        self._entered = []

    def __enter__(self):
        store = _store()
        outer = store.scope
        given = self._given
        base = given if isinstance(given, VariableScope) else outer
        counts = None
        if isinstance(given, VariableScope):
            name, short = given.name, given.name.rsplit("/", 1)[-1]
        else:
            short = given
            if short is None:
                short = _unique_scope(store, outer.name, self._default_name)
            name = f"{outer.name}/{short}" if outer.name else short
            store.counts[name] = store.counts.get(name, 0) + 1
        # Inside, the counts of nested scopes restart: the same program gives the same names.
        prefix = f"{name}/"
        counts = {key: value for key, value in store.counts.items() if key.startswith(prefix)}
        for key in counts:
            del store.counts[key]
        reuse = self._reuse
        if isinstance(given, VariableScope):
            reuse = given.reuse if reuse is None else reuse
        else:
            reuse = reuse or outer.reuse
        if outer.reuse is True and reuse is not AUTO_REUSE:
            reuse = True
        getter = _nested_getter(base.custom_getter, self._custom_getter)
        context = contextlib.ExitStack()
        scope_name = state.name_scope
        if self._own_name_scope and short:
            scope_name = context.enter_context(_name_scope(short))
        original = scope_name
        if isinstance(given, VariableScope):
            original = given.original_name_scope
        scope = base.copied(
            name=name, reuse=reuse, custom_getter=getter, name_scope=original, **self._changes
        )
        store.scope = scope
        self._entered.append((store, outer, prefix, counts, context))
        return scope

    def __exit__(self, *exception):
        store, outer, prefix, counts, context = self._entered.pop()
        store.scope = outer
        for key in [key for key in store.counts if key.startswith(prefix)]:
            del store.counts[key]
        store.counts.update(counts)
        context.__exit__(*exception)


def _unique_scope(store, outer, default_name):
    prefix = f"{outer}/" if outer else ""
    name, number = default_name, 0
    while store.counts.get(prefix + name):
        number += 1
        name = f"{default_name}_{number}"
    return name


def _nested_getter(outer, inner):
    if inner is None or outer is None or inner is outer:
        return inner or outer

    def getter(true_getter, *args, **kwargs):
        return inner(functools.partial(outer, true_getter), *args, **kwargs)

    return getter


def get_variable(
    name,
    shape=None,
    dtype=None,
    initializer=None,
    regularizer=None,
    trainable=None,
    collections=None,
    caching_device=None,
    partitioner=None,
    validate_shape=True,
    use_resource=None,
    custom_getter=None,
    constraint=None,
    synchronization=VariableSynchronization.AUTO,
    aggregation=VariableAggregation.NONE,
):
    """The variable of this name in the current variable scope: created, or reused.

    >>> with tf.Graph().as_default():
    ...     with tf.compat.v1.variable_scope("layer"):
    ...         print(tf.compat.v1.get_variable("w", [2, 3]).name)
    layer/w:0
    """
    scope = get_variable_scope()
    full_name = f"{scope.name}/{name}" if scope.name else name
    arguments = {
        "shape": shape,
        "dtype": dtype,
        "initializer": scope.initializer if initializer is None else initializer,
        "regularizer": scope.regularizer if regularizer is None else regularizer,
        "trainable": trainable,
        "collections": collections,
        "validate_shape": validate_shape,
        "constraint": scope.constraint if constraint is None else constraint,
        "synchronization": synchronization,
        "aggregation": aggregation,
        "reuse": scope.reuse,
    }
    getter = _nested_getter(scope.custom_getter, custom_getter)
    if getter is None:
        return _true_getter(full_name, **arguments)
    return getter(_true_getter, full_name, **arguments)


def _true_getter(
    name,
    shape=None,
    dtype=None,
    initializer=None,
    regularizer=None,
    reuse=None,
    trainable=None,
    collections=None,
    validate_shape=True,
    constraint=None,
    synchronization=VariableSynchronization.AUTO,
    aggregation=VariableAggregation.NONE,
    **others,
):
    store = _store()
    kind = as_dtype(dtype or store.scope.dtype or float32)
    found = store.variables.get(name)
    tracked = store.regularize is not None
    if found is not None and (reuse or tracked or state.home is None):
        if shape is not None and not found.shape.is_compatible_with(shape):
            raise ValueError(
                f"Trying to share variable {name}, but specified shape {TensorShape(shape)} and "
                f"found shape {found.shape}."
            )
        if dtype is not None and found.dtype is not kind:
            raise ValueError(
                f"Trying to share variable {name}, but specified dtype {kind.name} and found dtype "
                f"{found.dtype.name}."
            )
        return found
    if found is not None:
        raise ValueError(
            f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
            "reuse=tf.AUTO_REUSE in VarScope?"
        )
    if reuse is True and not tracked:
        raise ValueError(
            f"Variable {name} does not exist, or was not created with tf.get_variable(). Did you "
            "mean to set reuse=tf.AUTO_REUSE in VarScope?"
        )
    value = _initial_value(name, shape, kind, initializer)
    variable = _made(
        name, value, dtype=None if dtype is None and not callable(value) else kind,
        trainable=trainable, collections=collections, validate_shape=validate_shape,
        constraint=constraint, synchronization=synchronization, aggregation=aggregation,
    )  # fmt: skip
    if tracked:
        store.variables[name] = variable
        if regularizer is not None:
            store.regularize(name, regularizer, variable)
        return variable
    if state.home is not None:
        store.variables[name] = variable
    if regularizer is not None:
        with _name_scope(f"{name}/Regularizer/"):
            loss = regularizer(variable)
        if loss is not None:
            get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return variable


def _initial_value(name, shape, dtype, initializer):
    if initializer is None:
        if dtype.is_floating:
            initializer = glorot_uniform_initializer()
        elif dtype.is_integer or dtype.is_bool:
            initializer = zeros_initializer()
        else:
            raise ValueError(f"An initializer for variable {name} of {dtype!r} is required")
    if isinstance(initializer, type):
        initializer = initializer()
    if not callable(initializer) or isinstance(initializer, Tensor | Variable):
        if shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape.")
        return initializer
    sizes = None if shape is None else TensorShape(shape)
    if sizes is None or not sizes.is_fully_defined():
        if not _takes_arguments(initializer):
            return initializer
        raise ValueError(
            f"Shape of a new variable ({name}) must be fully defined, but instead was "
            f"{TensorShape(shape)}."
        )
    if not _takes_arguments(initializer):
        return initializer
    return functools.partial(initializer, sizes.as_list(), dtype=dtype)


def _takes_arguments(initializer):
    import inspect

    try:
        return bool(inspect.signature(initializer).parameters)
    except (TypeError, ValueError):
        return True


def _made(name, value, **arguments):
    """A variable of this name, which name scopes do not prefix."""
    if state.home is None:
        arguments.pop("collections")
        with init_scope(), _name_scope(""):
            return Variable(value, name=name, **arguments)
    collections = arguments.pop("collections")
    if collections is not None:
        arguments["collections"] = collections
    return Variable(initial_value=value, full_name=name, **arguments)


def get_local_variable(
    name,
    shape=None,
    dtype=None,
    initializer=None,
    regularizer=None,
    trainable=False,
    collections=None,
    caching_device=None,
    partitioner=None,
    validate_shape=True,
    use_resource=None,
    custom_getter=None,
    constraint=None,
    synchronization=VariableSynchronization.AUTO,
    aggregation=VariableAggregation.NONE,
):
    """A variable that is not trained, in the collection of local variables."""
    return get_variable(
        name, shape, dtype, initializer, regularizer, False,
        [*(collections or ()), GraphKeys.LOCAL_VARIABLES], caching_device, partitioner,
        validate_shape, use_resource, custom_getter, constraint, synchronization, aggregation,
    )  # fmt: skip


def no_regularizer(_):
    """A regularizer without effect, for a variable in a scope that has one."""


@contextlib.contextmanager
def variable_op_scope(
    values,
    name_or_scope,
    default_name=None,
    initializer=None,
    regularizer=None,
    caching_device=None,
    partitioner=None,
    custom_getter=None,
    reuse=None,
    dtype=None,
    use_resource=None,
    constraint=None,
):
    """The older form of `variable_scope`."""
    with variable_scope(
        name_or_scope, default_name, values, initializer, regularizer, caching_device, partitioner,
        custom_getter, reuse, dtype, use_resource, constraint,
    ) as scope:  # fmt: skip
        yield scope


@contextlib.contextmanager
def op_scope(values, name, default_name=None):
    """The older form of `name_scope`."""
    with name_scope(name, default_name, values) as scope:
        yield scope


def make_template(
    name_, func_, create_scope_now_=False, unique_name_=None, custom_getter_=None, **kwargs
):
    """A function that creates its variables in the first call, and reuses them afterwards."""
    scopes = []

    def scope():
        if not scopes:
            with variable_scope(unique_name_, default_name=name_) as made:
                scopes.append(made)
        return scopes[0]

    if create_scope_now_:
        scope()

    @functools.wraps(func_)
    def template(*args, **others):
        with variable_scope(scope(), reuse=AUTO_REUSE, custom_getter=custom_getter_):
            return func_(*args, **{**kwargs, **others})

    return template
