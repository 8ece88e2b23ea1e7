"""Placeholders, collections, and the initializers of variables in a graph."""

from __future__ import annotations

from ...core import nest
from ...core.context import state
from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype, float32, int64, string
from ...core.graph.graph import Placeholder
from ...core.op import Op, execute
from ...core.shapes import TensorShape
from ...core.variable import Variable
from ...ops.sequencing import NoOp
from .defaults import get_default_graph
from .keys import GraphKeys
from .variables import add_named

_PlaceholderWithDefault = Op(
    "PlaceholderWithDefault",
    "input: dtype -> output: dtype",
    lambda input, *, shape: input,
    lambda inputs, attrs: attrs["shape"],
    True,
    True,
    {},
)
_PlaceholderWithDefault.gradient_rule = lambda op, gradient: gradient


def _require_graph(name):
    if state.graph is None:
        raise RuntimeError(f"{name}() is not compatible with eager execution.")
    return state.graph


def placeholder(dtype, shape=None, name=None):
    """A tensor whose value is fed to `Session.run` in its `feed_dict`."""
    _require_graph("tf.placeholder")
    return execute(Placeholder, (), {"dtype": as_dtype(dtype), "shape": TensorShape(shape)})


def placeholder_with_default(input, shape, name=None):
    """A tensor that has the value of `input` where it is not fed."""
    tensor = convert_to_tensor(input)
    if state.graph is None:
        return tensor
    return execute(_PlaceholderWithDefault, (tensor,), {"shape": TensorShape(shape)})


def named_placeholder_with_default(graph, name, value):
    """A placeholder of exactly this name, for scalars, with a default."""
    inputs = (convert_to_tensor(value),)
    attrs = {"shape": TensorShape(())}
    name = graph.unique_name(name)
    return add_named(graph, name, _PlaceholderWithDefault, inputs, attrs).outputs[0]


def sparse_placeholder(dtype, shape=None, name=None):
    """A sparse tensor that is fed to `Session.run` as a SparseTensorValue."""
    from ...ops.sparse.sparse_tensor import SparseTensor

    _require_graph("tf.sparse_placeholder")
    rank = None if shape is None else len(shape)
    prefix = f"{name}/" if name else ""
    values = placeholder(dtype, [None], f"{prefix}values" if name else None)
    indices = placeholder(int64, [None, rank], f"{prefix}indices" if name else None)
    if shape is not None and None not in TensorShape(shape).as_list():
        dense = convert_to_tensor(list(shape), int64)
    else:
        dense = placeholder(int64, [rank], f"{prefix}shape" if name else None)
    return SparseTensor(indices, values, dense)


# Collections.


def add_to_collection(name, value):
    """Add a value to a collection of the default graph."""
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names, value):
    """Add a value to several collections of the default graph."""
    get_default_graph().add_to_collections(names, value)


def get_collection(key, scope=None):
    """The values in a collection of the default graph."""
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key):
    """The list object of a collection of the default graph."""
    return get_default_graph().get_collection_ref(key)


def global_variables(scope=None):
    """The variables of the default graph that are not local to a worker."""
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def all_variables():
    """The same as `global_variables()`."""
    return global_variables()


def local_variables(scope=None):
    """The variables local to a worker, such as counters of metrics."""
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope=None):
    """The variables that belong to models."""
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


def trainable_variables(scope=None):
    """The trainable variables."""
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def moving_average_variables(scope=None):
    """The variables that have moving averages."""
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


# Initializers.


def variables_initializer(var_list, name="init"):
    """An operation that sets variables to their initial values."""
    if state.graph is None or not var_list:
        return done([], name)
    return done([variable.initializer for variable in var_list], name)


def done(operations, name):
    """An operation of this name that completes after the others; None in eager mode."""
    if state.graph is None:
        return None
    graph = state.graph
    with graph.control_dependencies(operations):
        return add_named(graph, graph.unique_name(state.name_scope + name), NoOp)


def global_variables_initializer():
    """An operation that sets all global variables to their initial values."""
    return variables_initializer(global_variables())


def local_variables_initializer():
    """An operation that sets all local variables to their initial values."""
    return variables_initializer(local_variables())


def initialize_all_variables():
    """The same as `global_variables_initializer()`."""
    return global_variables_initializer()


def initialize_local_variables():
    """The same as `local_variables_initializer()`."""
    return local_variables_initializer()


def initialize_variables(var_list, name="init"):
    """The same as `variables_initializer(var_list)`."""
    return variables_initializer(var_list, name)


def tables_initializer(name="init_all_tables"):
    """An operation that initializes lookup tables; they are initialized on creation."""
    return done(get_collection(GraphKeys.TABLE_INITIALIZERS), name)


def initialize_all_tables(name="init_all_tables"):
    """The same as `tables_initializer()`."""
    return tables_initializer(name)


def is_variable_initialized(variable):
    """A boolean tensor: whether a variable has a value."""
    if state.graph is None:
        return convert_to_tensor(True)
    return variable.is_initialized()


def report_uninitialized_variables(var_list=None, name="report_uninitialized_variables"):
    """A vector of the names of the variables that have no value yet."""
    from ...ops.array.joining import stack
    from ...ops.array.selection import boolean_mask
    from ...ops.math.comparison import logical_not

    if var_list is None:
        var_list = global_variables() + local_variables()
    if not var_list:
        return convert_to_tensor([], string)
    names = convert_to_tensor([variable.op.name for variable in var_list], string)
    ready = stack([is_variable_initialized(variable) for variable in var_list])
    return boolean_mask(names, logical_not(ready))


def assert_variables_initialized(var_list=None):
    """A vector of the names of variables without values, or None where there are no variables."""
    if var_list is None:
        var_list = global_variables() + local_variables()
    return report_uninitialized_variables(var_list) if var_list else None


# Updates.


def _variable(ref):
    if not isinstance(ref, Variable):
        raise TypeError(f"A tf.Variable is to be changed, got {ref!r}.")
    return ref


def assign(ref, value, validate_shape=None, use_locking=None, name=None):
    """Set a variable to a new value; in a graph, the operation's result is that value."""
    return _variable(ref).assign(value, name=name)


def assign_add(ref, value, use_locking=None, name=None):
    """Add to a variable; in a graph, the operation's result is the new value."""
    return _variable(ref).assign_add(value, name=name)


def assign_sub(ref, value, use_locking=None, name=None):
    """Subtract from a variable; in a graph, the operation's result is the new value."""
    return _variable(ref).assign_sub(value, name=name)


def count_up_to(ref, limit, name=None):
    """Add 1 to a variable, and return the previous value; OutOfRangeError at `limit`."""
    return _variable(ref).count_up_to(limit)


def _scatter(kind, summary):
    def function(ref, indices, updates, use_locking=True, name=None):
        from ...core.indexed_slices import IndexedSlices

        slices = IndexedSlices(convert_to_tensor(updates, ref.dtype), convert_to_tensor(indices))
        return getattr(_variable(ref), f"scatter_{kind}")(slices)

    function.__name__ = function.__qualname__ = f"scatter_{kind}"
    function.__doc__ = summary
    return function


def _scatter_nd(kind, summary):
    def function(ref, indices, updates, use_locking=True, name=None):
        return getattr(_variable(ref), f"scatter_nd_{kind}")(indices, updates)

    function.__name__ = function.__qualname__ = f"scatter_nd_{kind}"
    function.__doc__ = summary
    return function


scatter_add = _scatter("add", "Add updates to the rows of a variable at the indices.")
scatter_sub = _scatter("sub", "Subtract updates from the rows of a variable at the indices.")
scatter_mul = _scatter("mul", "Multiply the rows of a variable at the indices by updates.")
scatter_div = _scatter("div", "Divide the rows of a variable at the indices by updates.")
scatter_max = _scatter("max", "Raise the rows of a variable at the indices to updates.")
scatter_min = _scatter("min", "Lower the rows of a variable at the indices to updates.")
scatter_update = _scatter("update", "Replace the rows of a variable at the indices by updates.")
scatter_nd_add = _scatter_nd("add", "Add updates to a variable at index vectors.")
scatter_nd_sub = _scatter_nd("sub", "Subtract updates from a variable at index vectors.")
scatter_nd_update = _scatter_nd("update", "Replace slices of a variable at index vectors.")


def group(*inputs, **kwargs):
    """An operation that completes after all inputs; None in eager mode, where they have."""
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)}")
    return done([each for each in nest.flatten(inputs) if each is not None], name or "group_deps")


def add_check_numerics_ops():
    """An operation that fails where a float tensor of the graph contains a NaN or an infinity."""
    from ...ops.debugging import check_numerics

    graph = _require_graph("tf.add_check_numerics_ops")
    floats = [
        output
        for operation in graph.get_operations()
        for output in operation.outputs
        if output.dtype in (float32, as_dtype("float64"), as_dtype("float16"))
    ]
    checks = [check_numerics(tensor, f"{tensor.name} holds NaN or inf") for tensor in floats]
    return done(checks, "check_numerics")
