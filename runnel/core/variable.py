"""Variable: a mutable reference to an immutable tensor.

A tensor read from a variable never changes afterwards. Updates work in place if the variable is the
sole owner of its buffer, and allocate a new buffer if it is referenced elsewhere.
"""

from __future__ import annotations

import enum
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import add, sub
from typing import Any, ClassVar, NoReturn

import numpy as np

from . import dtypes, errors
from .context import init_scope, next_key, state
from .convert import convert_to_tensor, register_converter
from .dtypes import DType, as_dtype
from .item_access import NoItems
from .op import REGISTRY, Op, execute, op, unsupported
from .ownership import is_own
from .shape_rules import dimensions_text, nothing
from .shapes import TensorShape
from .tensor import CPU, Operators, Reference, SymbolicTensor, Tensor, numpy_text
from .type_spec import TensorSpec, register_type_spec


class VariableSynchronization(enum.Enum):
    """When the replicas of a distributed variable are synchronized."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How the replicas of a distributed variable are aggregated."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


@op(
    "ReadVariableOp",
    "resource: resource -> value: dtype",
    shape=lambda inputs, attrs: inputs[0]._array.shape,
    stateful=True,
    gradient=None,
)
def ReadVariableOp(resource: Variable, *, dtype: DType) -> Any:
    return resource._tensor._array


@op(
    "AssignVariableOp",
    "resource: resource, value: dtype",
    shape=nothing,
    stateful=True,
    gradient=None,
)
def AssignVariableOp(resource: Variable, value: Any) -> list[Any]:
    with resource._lock:
        resource._replace(_in_rows(value))
    return []


def _in_rows(array: Any) -> Any:
    """The array as C-contiguous, which kernels would otherwise copy at each use."""
    if array.ndim > 1 and not array.flags.c_contiguous:
        return np.ascontiguousarray(array)
    return array


def _in_place(name: str, function: Callable[..., Any], operator: Callable[..., Any]) -> Op:
    """An in-place update `variable = function(variable, value)` of equal shapes.

    The operator computes the same, ten times faster for scalars.
    """

    def kernel(resource: Variable, value: Any) -> list[Any]:
        with resource._lock:
            shape = resource._tensor._array.shape
            if shape != value.shape:
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"Cannot update variable with shape {dimensions_text(TensorShape(shape))} "
                    f"using a Tensor with shape {dimensions_text(TensorShape(value.shape))}, "
                    f"shapes must be equal. [Op:{name}]",
                )
            taken = resource._take() if shape else None
            if taken is None:
                resource._replace(operator(resource._tensor._array, value))
            else:
                try:
                    function(taken._array, value, out=taken._array)
                finally:
                    resource._tensor = taken
        return []

    declared: Op = op(
        name,
        "resource: resource, value: dtype",
        shape=nothing,
        kernel=kernel,
        stateful=True,
        gradient=None,
    )
    return declared


AssignAddVariableOp = _in_place("AssignAddVariableOp", np.add, add)
AssignSubVariableOp = _in_place("AssignSubVariableOp", np.subtract, sub)


class _VariableMetaclass(type):
    """Passes the creation of a variable through the creators of `tf.variable_creator_scope`."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        home = state.home
        if cls is not Variable or (home is None and not state.variable_creators):
            return super().__call__(*args, **kwargs)
        given = _DEFAULTS | dict(zip(_ARGUMENTS, args, strict=False)) | kwargs
        create: Callable[..., Any] = super().__call__
        if home is not None:
            create = home.make_variable
        for creator in state.variable_creators:
            create = _with_creator(creator, create)
        return create(**given)


def _with_creator(creator: Callable[..., Any], create: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **kwargs: creator(create, **kwargs)


_NO_TENSOR = (
    "Attempt to convert a value ({!r}) with an unsupported type ({}) to a Tensor. A RaggedTensor "
    "has to_tensor(), a SparseTensor tf.sparse.to_dense."
)
_ARGUMENTS = [
    *["initial_value", "trainable", "validate_shape", "caching_device", "name", "variable_def"],
    *["dtype", "import_scope", "constraint", "synchronization", "aggregation", "shape"],
    "experimental_enable_variable_lifting",
]


# Creators receive every argument, as in the original.
_DEFAULTS = {
    **dict.fromkeys(_ARGUMENTS),
    "validate_shape": True,
    "synchronization": VariableSynchronization.AUTO,
    "aggregation": VariableAggregation.NONE,
    "experimental_enable_variable_lifting": True,
}


class _Taken:
    """A variable's missing tensor while an update has taken it out: waits for the update.

    A non-data descriptor (no `__set__`): it is found only if the instance has no tensor, so that
    reading a tensor that is there costs nothing.
    """

    def __get__(self, variable: Variable, owner: type) -> Tensor:
        with variable._lock:
            tensor: Tensor = variable.__dict__["_tensor"]
        return tensor


class Variable(Operators, metaclass=_VariableMetaclass):
    """A mutable tensor, changed with `assign`.

    >>> v = tf.Variable([1.0, 2.0])
    >>> v.assign_add([1.0, 1.0])
    <tf.Variable 'UnreadVariable' shape=(2,) dtype=float32, numpy=array([2., 3.], dtype=float32)>
    """

    __array_priority__ = 100

    _tensor: Tensor = _Taken()  # type: ignore[assignment]
    # Eager variables are always initialized.
    initializer: Any = None
    # The name passed to a layer's `add_weight`: the weight's name in checkpoints.
    _weight_name: str | None = None
    # The number of variables created so far: compared before and after tracing to detect new ones.
    _made: ClassVar[int] = 0

    __setitem__ = NoItems(
        "'Variable' object does not support item assignment. A part of a variable is changed by "
        "its own assign: v[i].assign(value), v[1:3].assign(values)."
    )

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: str | None = None,
        constraint: Callable[[Any], Any] | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        shape: Any = None,
        experimental_enable_variable_lifting: bool = True,
    ) -> None:
        if initial_value is None:
            raise ValueError(
                "The `initial_value` arg to `tf.Variable` must be specified. Give a value, or a "
                "function without arguments that makes one."
            )
        if constraint is not None and not callable(constraint):
            raise ValueError(f"Argument `constraint` must be None or a callable, got {constraint}.")
        graph = state.graph
        with init_scope():
            value = initial_value() if callable(initial_value) else initial_value
            if graph is not None and isinstance(value, SymbolicTensor):
                value = _traced_initial_value(value)
            try:
                tensor = convert_to_tensor(value, None if dtype is None else as_dtype(dtype))
            except ValueError as error:
                raise ValueError(f"initial_value: {error}") from None
        if not isinstance(tensor, Tensor):
            raise unsupported()(_NO_TENSOR.format(value, type(value)))
        if shape is not None and not tensor.shape.is_compatible_with(shape):
            raise ValueError(
                f"In this `tf.Variable` creation, the initial value's shape ({tensor.shape}) is "
                f"not compatible with the explicitly supplied `shape` argument ({shape})."
            )
        on_read = synchronization is VariableSynchronization.ON_READ
        self._name = f"{state.name_scope}{name or 'Variable'}:0"
        self._shape = tensor.shape if shape is None else TensorShape(shape)
        self._key = next_key()
        # Held by updates: concurrent additions must both take effect.
        self._lock = threading.Lock()
        self.dtype: DType = tensor.dtype
        self.trainable = not on_read if trainable is None else bool(trainable)
        self.constraint = constraint
        self.synchronization = synchronization
        self.aggregation = aggregation
        self._replace(_in_rows(tensor._array))
        Variable._made += 1
        if graph is not None and graph.building_function:
            _announce(self, graph)

    @property
    def _trainable(self) -> bool:
        return self.trainable

    @_trainable.setter
    def _trainable(self, trainable: bool) -> None:
        self.trainable = trainable

    # The tensor reference.

    def _replace(self, array: Any) -> None:
        tensor = Tensor(array, self.dtype)
        # On every tape, the tensors read inside operations are the variable itself.
        tensor._key = self._key
        self._tensor = tensor

    def _is_sole_owner(self) -> bool:
        """Whether the tensor and its buffer have no other references, so that it may change in
        place.
        """
        tensor = self._tensor
        array = tensor._array
        return (
            sys.getrefcount(tensor) == _LONE_TENSOR
            and sys.getrefcount(array) == _LONE_ARRAY
            and is_own(array)
        )

    def _take(self) -> Tensor | None:
        """Take the tensor out of the variable for an in-place update; None if it is referenced
        elsewhere.

        The caller holds the lock, and puts the tensor back. Meanwhile no other thread can read it.
        """
        tensor = self._tensor
        try:
            del self._tensor
            array = tensor._array
            if (
                sys.getrefcount(tensor) == _LONE_TENSOR - 1
                and sys.getrefcount(array) == _LONE_ARRAY
                and is_own(array)
            ):
                return tensor
        except BaseException:
            # An interrupt, which may arrive between any two calls, must not lose it.
            self._tensor = tensor
            raise
        self._tensor = tensor
        return None

    def _as_tensor(self) -> Tensor:
        """The current value, for use as an operation's input."""
        if state.graph is not None:
            tensor: Tensor = execute(ReadVariableOp, (self.handle,), {"dtype": self.dtype})
            tensor._key = self._key
        else:
            tensor = self._tensor
        for tape in state.tapes:
            tape.variable_read(self)
        return tensor

    def _update(self, op: Op, value: Tensor, read_value: bool) -> Any:
        if state.graph is not None:
            execute(op, (self.handle, value))
        else:
            op.kernel(self, value._array)
        return self._updated(read_value)

    def _updated(self, read_value: bool = True) -> Any:
        """The return value of an update."""
        return unread(self) if read_value else None

    @property
    def handle(self) -> Tensor:
        return Tensor(self, dtypes.resource)

    # Reading.

    @property
    def name(self) -> str:
        return self._name

    @property
    def shape(self) -> TensorShape:
        return self._shape

    def get_shape(self) -> TensorShape:
        """The static shape, the same as `shape`."""
        return self._shape

    def set_shape(self, shape: Any) -> None:
        """Override the static shape."""
        self._shape = self._shape.merge_with(shape)

    @property
    def device(self) -> str:
        return CPU

    @property
    def initial_value(self) -> NoReturn:
        raise RuntimeError("This property is not supported when eager execution is enabled.")

    def value(self) -> Tensor:
        """A tensor with the current value."""
        tensor = self._as_tensor()
        if state.graph is None and not state.tapes:
            return Tensor(tensor._array, self.dtype)
        fresh: Tensor = REGISTRY["Identity"](tensor)
        return fresh

    def read_value(self) -> Tensor:
        """A tensor with the current value."""
        return self.value()

    def numpy(self) -> Any:
        """A copy of the value as a NumPy array, or a NumPy scalar where the rank is 0."""
        return self._as_tensor().numpy()

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """The rows at `indices`."""
        axis = convert_to_tensor(np.int32(0))
        rows: Tensor = REGISTRY["GatherV2"](self._as_tensor(), convert_to_tensor(indices), axis)
        return rows

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """The slices at the index vectors `indices`."""
        slices: Tensor = REGISTRY["GatherNd"](self._as_tensor(), convert_to_tensor(indices))
        return slices

    def eval(self, session: Any = None) -> NoReturn:
        """Graph mode only."""
        raise RuntimeError("This operation is not supported when eager execution is enabled.")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self._as_tensor().__array__(dtype, copy)

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.value())

    def __bool__(self) -> bool:
        return bool(self._as_tensor())

    def __int__(self) -> int:
        return int(self._as_tensor())

    def __float__(self) -> float:
        return float(self._as_tensor())

    def __complex__(self) -> complex:
        return complex(self._as_tensor())

    def __index__(self) -> int:
        return self._as_tensor().__index__()

    def __format__(self, spec: str) -> str:
        return format(self._as_tensor(), spec) if spec else str(self)

    def ref(self) -> Reference:
        """A hashable reference to this variable, to use it in sets and as a key of dicts."""
        return Reference(self)

    experimental_ref = ref

    def __hash__(self) -> int:
        raise TypeError(
            f"Variable is unhashable. Instead, use variable.ref() as the key. (Variable: {self!r})"
        )

    def __repr__(self) -> str:
        text = numpy_text(self._tensor, is_repr=True)
        return (
            f"<tf.Variable '{self.name}' shape={self._shape} dtype={self.dtype.name}, numpy={text}>"
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        copied = Variable(
            self._tensor, self.trainable, dtype=self.dtype, shape=self._shape,
            constraint=self.constraint, synchronization=self.synchronization,
            aggregation=self.aggregation,
        )  # fmt: skip
        copied._name = self._name
        memo[id(self)] = copied
        return copied

    def __reduce__(self) -> Any:
        return _rebuild, (self._tensor, self.trainable, self._name, self._shape)

    # Writing.

    def assign(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Give the variable a new value of its dtype and shape."""
        tensor = convert_to_tensor(value, self.dtype)
        if not self._shape.is_compatible_with(tensor.shape):
            raise ValueError(
                f"Cannot assign value to variable '{self.name}': Shape mismatch. The variable "
                f"shape {self._shape}, and the assigned value shape {tensor.shape} are "
                "incompatible."
            )
        return self._update(AssignVariableOp, tensor, read_value)

    def assign_add(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Add to the variable a value of its shape."""
        return self._update(AssignAddVariableOp, convert_to_tensor(delta, self.dtype), read_value)

    def assign_sub(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Subtract from the variable a value of its shape."""
        return self._update(AssignSubVariableOp, convert_to_tensor(delta, self.dtype), read_value)

    def load(self, value: Any, session: Any = None) -> None:
        """Give the variable a new value."""
        self.assign(value)

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Whether there is a value: always, but for variables of a v1 graph."""
        return convert_to_tensor(True)

    def initialized_value(self) -> Tensor:
        """The current value; an eager variable is always initialized."""
        return self.read_value()


_SINGLETON = (
    "tf.function only supports singleton tf.Variables created on the first call. Make sure the "
    "tf.Variable is only created once or created outside tf.function: make it in __init__, or "
    "under `if self.v is None:`."
)


def _announce(variable: Variable, graph: Any) -> None:
    """Notify the function being traced of a new variable; ValueError if it must not create one."""
    made = graph.function_graph().new_variables
    if made is None:
        raise ValueError(_SINGLETON)
    made.append(variable)


def _traced_initial_value(value: SymbolicTensor) -> Tensor:
    """The value of a tensor of the traced function, in the call being traced."""
    graph: Any = value.graph
    example = getattr(graph, "example", None)
    if example is None and not _depends_on(value, graph.inputs):
        feeds = [(inside, outside._array) for outside, inside in graph.captures]
        made = graph.compute([value], feeds, needed_only=True)
        return Tensor(made[0], value.dtype)
    if example is None:
        raise ValueError(
            f"The initial value {value!r} of a tf.Variable is a tensor of a function being traced, "
            "and not known. Compute it inside tf.init_scope(), or outside of the function."
        )
    feeds = list(zip(graph.inputs, example, strict=True))
    feeds += [(inside, outside._array) for outside, inside in graph.captures]
    return Tensor(graph.compute([value], feeds)[0], value.dtype)


def _depends_on(value: SymbolicTensor, inputs: list[SymbolicTensor]) -> bool:
    """Whether a tensor depends on any of these."""
    sources = {id(each) for each in inputs}
    seen: set[int] = set()
    waiting: list[Any] = [value]
    while waiting:
        tensor = waiting.pop()
        if id(tensor) in sources:
            return True
        if isinstance(tensor, SymbolicTensor) and id(tensor) not in seen:
            seen.add(id(tensor))
            waiting += tensor.op.inputs
    return False


class UnreadVariable(Variable):
    """The return value of an update: the same variable under another name, as in the original."""

    __slots__ = ("_variable",)

    _variable: Variable

    @property
    def handle(self) -> Tensor:
        # The variable's own: graphs identify variables by their handles.
        return self._variable.handle

    @property
    def name(self) -> str:
        return "UnreadVariable"


def unread(variable: Variable) -> UnreadVariable:
    """A variable as its updates return it."""
    # Bypasses variable creators and the constructor.
    result = object.__new__(UnreadVariable)
    result.__dict__ = variable.__dict__
    if isinstance(variable, UnreadVariable):
        variable = variable._variable
    result._variable = variable
    return result


def _rebuild(tensor: Tensor, trainable: bool, name: str, shape: TensorShape) -> Variable:
    variable = Variable(tensor, trainable, dtype=tensor.dtype, shape=shape)
    variable._name = name
    return variable


def _convert_variable(variable: Variable, dtype: DType | None) -> Tensor:
    if dtype is not None and dtype is not variable.dtype:
        raise ValueError(
            f"Incompatible type conversion requested to type {dtype.name!r} for variable of type "
            f"{variable.dtype.name!r}: {variable.name}. Use tf.cast to change the dtype."
        )
    return variable._as_tensor()


def convert_to_own_tensor(
    value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None
) -> Tensor:
    """A tensor with the value of a Python number, list, NumPy array, variable or tensor.

    >>> tf.convert_to_tensor([[1, 2], [3, 4]])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[1, 2],
           [3, 4]], dtype=int32)>
    """
    tensor = convert_to_tensor(value, dtype, dtype_hint)
    if not isinstance(tensor, Tensor):
        raise unsupported()(_NO_TENSOR.format(value, type(value)))
    # A tape must distinguish this tensor from the variable, whose key operation inputs carry.
    return value.read_value() if isinstance(value, Variable) else tensor


@contextmanager
def variable_creator_scope(variable_creator: Callable[..., Any]) -> Iterator[None]:
    """Let `variable_creator(next_creator, **kwargs)` create the variables of a block."""
    outer = state.variable_creators
    state.variable_creators = (*outer, variable_creator)
    try:
        yield
    finally:
        state.variable_creators = outer


def _lone_counts() -> tuple[int, int]:
    """The reference counts that `_is_sole_owner` sees if the variable is the sole owner of the
    buffer.

    They depend on CPython's calling convention, so they are measured on an unshared variable.
    """
    cell = Variable(np.zeros(1, np.float32))
    cell._replace(np.zeros(1, np.float32))
    tensor = cell._tensor
    array = tensor._array
    return sys.getrefcount(tensor), sys.getrefcount(array)


for _kind in (Variable, UnreadVariable):
    register_converter(_kind, _convert_variable)
    register_type_spec(_kind, lambda variable: TensorSpec(variable.shape, variable.dtype))
_LONE_TENSOR, _LONE_ARRAY = _lone_counts()
