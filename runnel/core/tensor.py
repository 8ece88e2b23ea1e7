"""Tensor, an immutable eager value; SymbolicTensor, a value in a graph under construction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from . import dtypes
from .dtypes import DType
from .errors import OperatorNotAllowedInGraphError
from .item_access import NoItems
from .shapes import TensorShape
from .type_spec import TensorSpec, register_type_spec

if TYPE_CHECKING:
    from .graph.graph import Graph, Operation

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"

# The operators whose methods ops/operators.py adds to Tensor and Variable.
OVERLOADABLE_OPERATORS = {
    *(f"__{r}{name}__" for r in ("", "r") for name in (
        "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")),
    "__div__", "__rdiv__", "__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__",
    "__getitem__", "__invert__", "__neg__", "__abs__",
}  # fmt: skip

_NUMPY_METHODS = frozenset(
    {"T", "astype", "clip", "copy", "data", "dot", "flatten", "item", "max", "mean", "min"}
    | {"ravel", "reshape", "size", "squeeze", "std", "sum", "tolist", "transpose"}
)


if TYPE_CHECKING:

    class Operators:
        """The methods that ops/operators.py adds to tensors and variables, for type checkers."""

        def __add__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __floordiv__(self, other: Any) -> Tensor: ...
        def __rfloordiv__(self, other: Any) -> Tensor: ...
        def __mod__(self, other: Any) -> Tensor: ...
        def __rmod__(self, other: Any) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __rpow__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __rmatmul__(self, other: Any) -> Tensor: ...
        def __and__(self, other: Any) -> Tensor: ...
        def __rand__(self, other: Any) -> Tensor: ...
        def __or__(self, other: Any) -> Tensor: ...
        def __ror__(self, other: Any) -> Tensor: ...
        def __xor__(self, other: Any) -> Tensor: ...
        def __rxor__(self, other: Any) -> Tensor: ...
        def __lt__(self, other: Any) -> Tensor: ...
        def __le__(self, other: Any) -> Tensor: ...
        def __gt__(self, other: Any) -> Tensor: ...
        def __ge__(self, other: Any) -> Tensor: ...
        def __eq__(self, other: object) -> Any: ...
        def __ne__(self, other: object) -> Any: ...
        def __neg__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __getitem__(self, key: Any) -> Tensor: ...

else:

    class Operators:
        __slots__ = ()


_NO_TRUTH = (
    "The truth value of a tensor of shape {shape} is ambiguous: only that of a single element is "
    "clear. Use tf.reduce_any(x) or tf.reduce_all(x), x & y for `x and y` of booleans, and "
    "tf.where to choose element by element."
)
_NOT_ONE_NUMBER = (
    "{kind}() takes a tensor with one element, and this one has the shape {shape}. Take one "
    "element, as x[0], reduce the tensor (tf.reduce_sum, tf.reduce_mean), or convert them all: "
    "tf.cast(x, dtype), x.numpy().tolist()."
)
_NO_INDEX = (
    "Only a scalar integer tensor is an index or a count in Python, got one of shape {shape} and "
    "dtype {dtype}. tf.cast(x, tf.int32) converts a number; tf.gather takes many indices."
)
_CAST = (
    "Keep it a tensor (tf.cast changes its dtype), or run eagerly: model.compile(..., "
    "run_eagerly=True), tf.config.run_functions_eagerly(True)."
)
_SYMBOLIC_ADVICE = {
    "bool": "Use tf.cond or tf.where, or run eagerly.",
    "index": "tf.gather(list, i) and tf.range(n) take symbolic numbers, as do tf functions.",
    "int": _CAST,
    "float": _CAST,
    "complex": _CAST,
}
_UNCHANGING = (
    "'Tensor' object does not support item assignment: tensors do not change. Make another, by "
    "tf.tensor_scatter_nd_update(x, [[i]], [value]) or tf.where, or use a tf.Variable: "
    "v[i].assign(value)."
)
_OUT_OF_SCOPE = (
    "is out of scope: it was made while a function was traced and cannot be used outside of it. "
    "Return it from the function, or keep its value in a tf.Variable."
)
_NO_FORMAT = "{failure}: the tensor has the shape {shape}, and a format is for one number."


class Reference:
    """A hashable reference to a tensor or variable, equal only to references to the same object."""

    __slots__ = ("_object",)

    def __init__(self, wrapped: Any) -> None:
        self._object = wrapped

    def deref(self) -> Any:
        return self._object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._object is other._object

    def __hash__(self) -> int:
        return id(self._object)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._object!r}>"


class Lacking:
    """An attribute of NumPy arrays or graph tensors that eager tensors lack: its error says so.

    Not in a `__getattr__`: attribute lookup is slower in classes that define one.
    """

    def __init__(self, name: str, advice: str) -> None:
        self._name = name
        self._advice = advice

    def __get__(self, tensor: Tensor | None, owner: type) -> NoReturn:
        if type(tensor) is Tensor:
            raise AttributeError(self._advice)
        kind = f"type object {owner.__name__!r}" if tensor is None else f"{owner.__name__!r} object"
        raise AttributeError(f"{kind} has no attribute {self._name!r}")


class Tensor(Operators):
    """An immutable value: an array with a dtype.

    `_array` is a NumPy array, or a NumPy scalar for most results of rank 0 (NumPy computes ten
    times faster on those). `_key` identifies the tensor on tapes; 0: no tape has recorded it.
    """

    # Whether a statically known value may stand for the tensor where it is an index or a size.
    folds_as_index = True

    # The last two are annotations of results by layers and activations; unset elsewhere. Attributes
    # set by programs go to the dict, which is created on demand.
    __slots__ = (
        "__weakref__", "__dict__", "_array", "_key", "dtype", "_keras_logits", "_keras_mask",
    )  # fmt: skip

    OVERLOADABLE_OPERATORS = OVERLOADABLE_OPERATORS
    __array_priority__ = 100

    _array: Any
    _key: int
    dtype: DType
    _keras_logits: Any
    _keras_mask: Any

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn: ...

    def __init__(self, array: Any, dtype: DType) -> None:
        self._array = array
        self.dtype = dtype
        self._key = 0

    @property
    def shape(self) -> TensorShape:
        return TensorShape.of(self._array.shape)

    @property
    def _sizes(self) -> tuple[int | None, ...] | None:
        """The static shape as a plain tuple (None: unknown rank), for hot paths."""
        sizes: tuple[int, ...] = self._array.shape
        return sizes

    def get_shape(self) -> TensorShape:
        """The static shape, the same as `shape`."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Check that `shape` is compatible with the tensor's own."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(
                f"Tensor's shape {self.shape} is not compatible with supplied shape "
                f"{TensorShape(shape)}."
            )

    __setitem__ = NoItems(_UNCHANGING)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def device(self) -> str:
        return CPU

    @property
    def backing_device(self) -> str:
        return CPU

    def cpu(self) -> Tensor:
        """This tensor: it already is in the CPU's memory."""
        return self

    def _numpy(self) -> Any:
        # The names of the same in other libraries.
        return self.numpy()

    def numpy(self) -> Any:
        """A copy as a NumPy array; a NumPy scalar (bytes for strings) where the rank is 0."""
        array = self._array
        if type(array) is np.ndarray:
            return array.copy() if array.ndim else array[()]
        return array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = np.asarray(self._array)
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(
                    f"A {self.dtype.name} tensor cannot become a {np.dtype(dtype).name} array "
                    "without a copy."
                )
            return array.astype(dtype)
        if copy:
            return array.copy()
        view = array.view()
        view.flags.writeable = False
        return view

    def __len__(self) -> int:
        if not self._array.shape:
            raise TypeError("Scalar tensor has no `len()`")
        return int(self._array.shape[0])

    def __iter__(self) -> Iterator[Tensor]:
        if not self._array.shape:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in range(self._array.shape[0]))

    def __bool__(self) -> bool:
        try:
            return bool(self._array)
        except ValueError:
            raise ValueError(_NO_TRUTH.format(shape=self.shape)) from None

    def __int__(self) -> int:
        try:
            return int(self._array)
        except (TypeError, ValueError) as failure:
            raise self._no_number(failure, "int") from None

    def __float__(self) -> float:
        try:
            return float(self._array)
        except (TypeError, ValueError) as failure:
            raise self._no_number(failure, "float") from None

    def _no_number(self, failure: Exception, kind: str) -> Exception:
        """The error for a value that cannot be converted to a Python number."""
        if self.dtype.name == "string":
            return type(failure)(f"{failure}. tf.strings.to_number converts text.")
        if self._array.shape:
            return type(failure)(_NOT_ONE_NUMBER.format(kind=kind, shape=self.shape))
        return failure

    def __complex__(self) -> complex:
        return complex(self._array)

    def __index__(self) -> int:
        try:
            return int(self._array.__index__())
        except (AttributeError, TypeError) as failure:
            message = _NO_INDEX.format(shape=self.shape, dtype=self.dtype.name)
            raise type(failure)(message) from None

    def __format__(self, spec: str) -> str:
        array = self._array
        if type(array) is np.ndarray and not array.ndim:
            array = array[()]
        try:
            return format(array, spec)
        except TypeError as failure:
            if not array.shape:
                raise
            raise TypeError(_NO_FORMAT.format(failure=failure, shape=self.shape)) from None

    def __hash__(self) -> int:
        raise TypeError(f"Tensor is unhashable. Instead, use tensor.ref() as the key. ({self!r})")

    def ref(self) -> Reference:
        """A hashable reference to this tensor, to use it in sets and as a key of dicts."""
        return Reference(self)

    experimental_ref = ref

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return self

    def __reduce__(self) -> Any:
        return _rebuild, (np.asarray(self._array), self.dtype)

    def __str__(self) -> str:
        return f"tf.Tensor({numpy_text(self)}, shape={self.shape}, dtype={self.dtype.name})"

    def __repr__(self) -> str:
        if self.dtype is dtypes.resource:
            return f"<tf.Tensor: shape=(), dtype=resource, value={self._array!r}>"
        text = numpy_text(self, is_repr=True)
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={text}>"

    def eval(self, feed_dict: Any = None, session: Any = None) -> NoReturn:
        """Graph mode only."""
        raise NotImplementedError(
            "eval is not supported when eager execution is enabled, "
            "is .numpy() what you're looking for?"
        )

    @property
    def _type_spec(self) -> TensorSpec:
        return TensorSpec(self.shape, self.dtype)


for _name in _NUMPY_METHODS:
    _advice = (
        f"Tensor object has no attribute '{_name}'. Use the function of TensorFlow instead (for "
        f"example tf.reshape, tf.cast, tf.transpose), or convert to NumPy first: "
        f"tensor.numpy().{_name}"
    )
    setattr(Tensor, _name, Lacking(_name, _advice))
for _name in ("name", "op", "graph"):
    _advice = f"Tensor.{_name} is undefined when eager execution is enabled."
    setattr(Tensor, _name, Lacking(_name, _advice))


def _rebuild(array: np.ndarray[Any, Any], dtype: DType) -> Tensor:
    return Tensor(array, dtype)


def numpy_text(value: Any, is_repr: bool = False) -> str:
    """A tensor's value as TensorFlow prints it: NumPy's text, on separate lines if long."""
    array = np.asarray(value._array)
    if not is_repr:
        text = str(array) if array.ndim else str(array[()])
    elif array.ndim:
        text = repr(array)
    else:
        scalar = array[()]
        text = repr(scalar if isinstance(scalar, bytes) else scalar.item())
        if not isinstance(scalar, (bytes, np.generic)):
            text = repr(float(scalar))
    return "\n" + text if "\n" in text else text


class OutOfScopeError(TypeError, ValueError):
    """A symbolic tensor is used outside of the graph it belongs to."""

    def __init__(self, tensor: SymbolicTensor) -> None:
        super().__init__(f"{tensor!s} {tensor._scope_advice}")
        self.tensor = tensor


class SymbolicTensor(Tensor):
    """The output of an operation in a graph: known dtype, partially known shape, no value yet."""

    __slots__ = ("_shape", "index", "op")

    _shape: TensorShape
    op: Operation
    index: int
    _scope_advice = _OUT_OF_SCOPE

    def __init__(self, op: Operation, index: int, dtype: DType, shape: TensorShape) -> None:
        self.op = op
        self.index = index
        self.dtype = dtype
        self._shape = shape
        self._key = 0

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def _sizes(self) -> tuple[int | None, ...] | None:
        return self._shape._dims

    def set_shape(self, shape: Any) -> None:
        """Merge further information into the static shape."""
        self._shape = self._shape.merge_with(shape)

    @property
    def ndim(self) -> int:
        rank = self._shape.rank
        if rank is None:
            raise ValueError("A tensor of unknown rank has no ndim. Use tf.rank(tensor) instead.")
        return rank

    @property
    def graph(self) -> Graph:
        return self.op.graph

    @property
    def name(self) -> str:
        return f"{self.op.name}:{self.index}"

    @property
    def device(self) -> str:
        return ""

    def __len__(self) -> int:
        raise TypeError(
            f"len is not well defined for a symbolic Tensor ({self.name}). Call `x.shape` rather "
            "than `len(x)` for shape information."
        )

    def __iter__(self) -> Iterator[Tensor]:
        raise OperatorNotAllowedInGraphError(
            f"Iterating over the symbolic tensor {self.name} is not allowed: it has no value while "
            "its function is being traced. tf.unstack gives its parts as a list where the first "
            f"dimension is known (here its shape is {self._shape}), tf.map_fn works on each of "
            "them, and a `for` statement over a tensor becomes a loop of the graph where AutoGraph "
            "converts the function (tf.function(autograph=True), the default)."
        )

    def _no_value(self, what: str) -> NoReturn:
        kind = OperatorNotAllowedInGraphError if what == "bool" else TypeError
        raise kind(
            f"Using the symbolic tensor {self.name} as a Python {what} is not allowed: it has no "
            f"value while its function is being traced. {_SYMBOLIC_ADVICE[what]}"
        )

    def __bool__(self) -> bool:
        self._no_value("bool")

    def __int__(self) -> int:
        self._no_value("int")

    def __float__(self) -> float:
        self._no_value("float")

    def __index__(self) -> int:
        self._no_value("index")

    def __complex__(self) -> complex:
        self._no_value("complex")

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    @property
    def numpy(self) -> NoReturn:
        """Not available: a symbolic tensor has no value yet."""
        raise AttributeError(
            f"The symbolic tensor {self.name} has no numpy(): its value is known only when its "
            "function runs. Use tf.print to see it, or tf.config.run_functions_eagerly(True)."
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise NotImplementedError(
            f"Cannot convert the symbolic tensor {self.name} to a NumPy array: it has no value "
            "while its function is being traced. Use a tf.* operation in place of the NumPy one."
        )

    def __reduce__(self) -> Any:
        raise TypeError(f"The symbolic tensor {self.name} belongs to its graph and has no pickle.")

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self._shape} dtype={self.dtype.name}>"

    def __str__(self) -> str:
        shape = "" if self._shape.rank is None else f" shape={self._shape},"
        return f'Tensor("{self.name}",{shape} dtype={self.dtype.name})'

    @property
    def _array(self) -> NoReturn:
        raise OutOfScopeError(self)


def is_symbolic_tensor(tensor: Any) -> bool:
    """Whether a tensor is symbolic, a value in a graph under construction.

    >>> tf.is_symbolic_tensor(tf.constant(1))
    False
    """
    return isinstance(tensor, SymbolicTensor)


register_type_spec(Tensor, lambda tensor: tensor._type_spec)
register_type_spec(SymbolicTensor, lambda tensor: tensor._type_spec)
