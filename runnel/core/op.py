"""The op registry, and `execute`, the single dispatch point of all operations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import Any

from . import dtypes, errors
from .context import state, tracebacks
from .dtypes import DType
from .shapes import TensorShape
from .tensor import OutOfScopeError, SymbolicTensor, Tensor


class Registry(dict[str, "Op"]):
    """The ops by TensorFlow name; families that are not imported yet are loaded on demand."""

    load_rest: Callable[[], None] | None = None

    def __missing__(self, name: str) -> Op:
        load = self.load_rest
        if load is None:
            raise KeyError(name)
        load()
        # Set last: another thread with the same query must wait for the imports.
        self.load_rest = None
        return self[name]


REGISTRY = Registry()

_DTYPES = {name: value for name, value in vars(dtypes).items() if isinstance(value, DType)}
_NO_ATTRS: dict[str, Any] = {}
_SPECIAL_TYPE_NAMES = {"float16": "half", "float32": "float", "float64": "double"}
_MOST_OUTPUTS = 1 << 20
KERNEL_FAILURES = (ValueError, IndexError, ArithmeticError, MemoryError, errors.OpError)


class CompositeInput(TypeError):
    """An operation received a composite tensor where it takes a single tensor.

    Composites (ragged and sparse tensors) raise it when their array is accessed, and implement the
    operation themselves: `composite._execute(op, inputs, attrs)`.
    """

    def __init__(self, composite: Any) -> None:
        super().__init__(f"A {type(composite).__name__} is no tf.Tensor and has no array.")
        self.composite = composite


def unsupported() -> type[Exception]:
    """The error for a value that an operation does not accept: in graphs, a TypeError."""
    return ValueError if state.graph is None else TypeError


# Side effects that operations may have; loaded graphs are checked for them.
READS_FILES = "reads files"
WRITES_FILES = "writes files"
MAY_NOT_END = "may not end"
# The composite classes, for graphs; empty until their modules are loaded.
COMPOSITES: set[type] = set()


class Argument:
    """An input or output of an op: `name: type`, `name: count*type` or `name: *types`."""

    __slots__ = ("count", "name", "type")

    def __init__(self, name: str, type: str, count: str | None) -> None:
        self.name = name
        self.type = type
        self.count = count

    @classmethod
    def parse(cls, text: str) -> Argument:
        name, _, kind = (part.strip() for part in text.partition(":"))
        count, star, kind = kind.rpartition("*")
        return cls(name, kind, (count or "*") if star else None)


class Op:
    """One op: TensorFlow's name and attributes, its NumPy kernel, shape rule and gradient.

    An op is called with tensors and attributes and goes through `execute`. Its kernel takes arrays
    (a list of them for a list argument) and the attributes as keywords.
    """

    __slots__ = (
        "alias",
        "batchable",
        "cacheable",
        "constraints",
        "convolution",
        "defaults",
        "differentiable",
        "effect",
        "epilogue",
        "factors",
        "fixed",
        "fresh",
        "gemm",
        "gradient_rule",
        "heavy",
        "input_lists",
        "inputs",
        "into",
        "kernel",
        "last_on_demand",
        "name",
        "outputs",
        "partial",
        "result_types",
        "runs_code",
        "shape_rule",
        "shared",
        "single",
        "stateful",
        "type_attr",
        "view",
    )

    def __init__(
        self,
        name: str,
        signature: str,
        kernel: Callable[..., Any],
        shape: Callable[..., Any],
        stateful: bool,
        differentiable: bool,
        constraints: dict[str, Iterable[DType]],
    ) -> None:
        before, _, after = signature.partition("->")
        self.name = name
        self.inputs = [Argument.parse(part) for part in before.split(",") if part.strip()]
        self.outputs = [Argument.parse(part) for part in after.split(",") if part.strip()]
        self.kernel = kernel
        self.shape_rule = shape
        self.stateful = stateful
        self.differentiable = differentiable
        # READS_FILES, WRITES_FILES, MAY_NOT_END, or a function of the attributes.
        self.effect: str | Callable[[dict[str, Any]], str | None] | None = None
        self.gradient_rule: Callable[..., Any] | None = None
        # Whether the rule takes None instead of zeros for outputs without a gradient.
        self.partial = False
        # Whether an engine runs a large one in parallel, where NumPy is single-threaded.
        self.shared = False
        # The kernel for float32 and float64 with an `out` argument for its first result, which may
        # alias the first input.
        self.into: Callable[..., Any] | None = None
        # Inputs that are right-hand sides of plain matmuls, whose gradients may be deferred.
        self.factors: tuple[int, ...] = ()
        # Traits that the compiler may rely on; `op` documents each.
        self.alias = self.batchable = self.heavy = self.last_on_demand = self.view = False
        self.runs_code = False
        self.fresh: bool | str = False
        self.convolution: str | None = None
        self.epilogue: str | None = None
        self.gemm: str | None = None
        self.constraints = {letter: frozenset(allowed) for letter, allowed in constraints.items()}
        self.defaults = _keyword_defaults(kernel)
        self.input_lists = [i for i, argument in enumerate(self.inputs) if argument.count]
        self.single = len(self.outputs) == 1 and not self.outputs[0].count
        used = {argument.type for argument in (*self.inputs, *self.outputs)}
        self.fixed = {kind: _DTYPES[kind] for kind in used if kind in _DTYPES}
        known = {argument.type for argument in self.inputs}.union(self.fixed)
        self.cacheable = all(out.type in known and not out.count for out in self.outputs)
        # The attribute that determines an output dtype, as in Cast and ArgMax.
        by_attr = {out.type for out in self.outputs} - known
        listed = any(out.count for out in self.outputs)
        self.type_attr = by_attr.pop() if len(by_attr) == 1 and not listed else None
        self.result_types: dict[tuple[DType, ...], Any] = {}

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def __call__(self, *inputs: Any, **attrs: Any) -> Any:
        if self.input_lists:
            inputs = self._flatten(inputs)
        return execute(self, inputs, attrs)

    def gradient(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Declare the gradient rule: `rule(op, *output_gradients)`, one result per input."""
        self.gradient_rule = rule
        return rule

    def _flatten(self, inputs: Sequence[Any]) -> tuple[Tensor, ...]:
        flat: list[Tensor] = []
        for argument, value in zip(self.inputs, inputs, strict=True):
            if argument.count:
                flat.extend(value)
            else:
                flat.append(value)
        return tuple(flat)

    def grouped(self, flat: Sequence[Any]) -> Sequence[Any]:
        """The flat inputs grouped for the kernel: list arguments as lists."""
        if not self.input_lists:
            return flat
        length = (len(flat) - len(self.inputs) + len(self.input_lists)) // len(self.input_lists)
        values: list[Any] = []
        position = 0
        for argument in self.inputs:
            if argument.count:
                values.append(list(flat[position : position + length]))
                position += length
            else:
                values.append(flat[position])
                position += 1
        return values

    def run(self, arrays: Sequence[Any], attrs: dict[str, Any]) -> Any:
        """Call the kernel on arrays."""
        if self.input_lists:
            arrays = self.grouped(arrays)
        return self.kernel(*arrays, **attrs)

    def types_of_results(self, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
        """Check the input dtypes and infer the output dtype, or a list of them."""
        if self.type_attr is not None:
            key = (self._attr(self.type_attr, attrs), *[tensor.dtype for tensor in inputs])
            known = self.result_types.get(key)
            if known is not None:
                return known
        bound = self._bind_types(inputs)
        types: list[DType] = []
        for output in self.outputs:
            dtype: Any = bound.get(output.type) or self._attr(output.type, attrs)
            if output.count == "*":
                types.extend(dtype)
            elif output.count:
                length = self._attr(output.count, attrs)
                if length is None:
                    length = len(self.grouped(inputs)[self.input_lists[0]])
                if length > _MOST_OUTPUTS:
                    raise errors.InvalidArgumentError(
                        None, None, f"{self.name} is to have {length} outputs, by its attribute "
                        f"'{output.count}'; it can have {_MOST_OUTPUTS} [Op:{self.name}]",
                    )  # fmt: skip
                types.extend([dtype] * length)
            else:
                types.append(dtype)
        result = types[0] if self.single else types
        if self.cacheable:
            self.result_types[tuple([tensor.dtype for tensor in inputs])] = result
        elif self.type_attr is not None:
            self.result_types[key] = result
        return result

    def _attr(self, name: str, attrs: dict[str, Any]) -> Any:
        return attrs[name] if name in attrs else self.defaults.get(name)

    def _bind_types(self, inputs: Sequence[Tensor]) -> dict[str, DType]:
        bound = dict(self.fixed)
        position = 0
        for argument, value in zip(self.inputs, self.grouped(inputs), strict=True):
            for tensor in value if argument.count else (value,):
                dtype = tensor.dtype
                expected = dtype if argument.count == "*" else bound.get(argument.type, dtype)
                if dtype is not expected:
                    raise errors.InvalidArgumentError(
                        None,
                        None,
                        f"cannot compute {self.name} as input #{position}(zero-based) was expected "
                        f"to be a {type_text(expected)} tensor but is a {type_text(dtype)} tensor "
                        f"(argument `{argument.name}`; tf.cast converts it) [Op:{self.name}]",
                    )
                allowed = self.constraints.get(argument.type)
                if allowed is not None and dtype not in allowed:
                    names = ", ".join(sorted(type_text(each) for each in allowed))
                    raise errors.InvalidArgumentError(
                        None,
                        None,
                        f"Value for attr '{argument.type}' of {type_text(dtype)} is not in the "
                        f"list of allowed values: {names} (argument `{argument.name}`; tf.cast "
                        f"converts it) [Op:{self.name}]",
                    )
                bound[argument.type] = dtype
                position += 1
        return bound

    def infer_shapes(self, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> list[TensorShape]:
        """The static shapes of the outputs; ValueError if the input shapes are incompatible."""
        shapes = self.shape_rule(self.grouped(inputs), {**self.defaults, **attrs})
        return list(shapes) if isinstance(shapes, list | tuple) else [shapes]

    def effect_with(self, attrs: dict[str, Any]) -> str | None:
        """The side effect of an operation with these attributes, or None."""
        effect = self.effect
        return effect({**self.defaults, **attrs}) if callable(effect) else effect

    def explain(
        self, failure: Exception, inputs: Sequence[Tensor], attrs: dict[str, Any]
    ) -> Exception:
        """The error to raise for a kernel's failure; the shape rule's message is preferred."""
        if isinstance(failure, errors.OpError):
            known = "[Op:" in failure.message
            message = failure.message if known else f"{failure.message} [Op:{self.name}]"
            kind: Callable[..., errors.OpError] = type(failure)
            return kind(None, None, message)
        if isinstance(failure, MemoryError):
            return errors.out_of_memory(failure, self.name)
        message = _in_own_words(str(failure))
        try:
            self.infer_shapes(inputs, attrs)
        except ValueError as mismatch:
            message = str(mismatch)
        return errors.InvalidArgumentError(None, None, f"{message} [Op:{self.name}]")


# NumPy's messages about shapes that were unknown before the kernel ran.
_NO_RESHAPE = re.compile(r"cannot reshape array of size (\d+) into shape \(([\d, -]*)\)")
_NO_BROADCAST = re.compile(r"operands could not be broadcast together with shapes ([(\d,) ]+)")


def _in_own_words(message: str) -> str:
    """A kernel's message, with NumPy's wording about arrays replaced by that of tensors."""
    reshape = _NO_RESHAPE.match(message)
    if reshape:
        wanted = reshape[2].strip(", ")
        return (
            f"Input to reshape is a tensor with {reshape[1]} values, which do not fit into the "
            f"requested shape [{wanted}]"
        )
    broadcast = _NO_BROADCAST.match(message)
    if broadcast:
        shapes = re.findall(r"\(([\d, ]*)\)", broadcast[1])
        sizes = " vs. ".join(f"[{shape.strip(', ')}]" for shape in shapes)
        return (
            f"Incompatible shapes: {sizes}. Sizes fit, counted from the last, if they are equal or "
            "one of them is 1."
        )
    return message


def type_text(dtype: DType) -> str:
    """A dtype in the spelling of TensorFlow's runtime: float, double, half, int32, ..."""
    return _SPECIAL_TYPE_NAMES.get(dtype.name, dtype.name)


def _keyword_defaults(kernel: Callable[..., Any]) -> dict[str, Any]:
    if not isinstance(kernel, FunctionType):
        return {}
    return dict(kernel.__kwdefaults__ or {})


def op(
    name: str,
    signature: str,
    *,
    shape: Callable[..., Any],
    kernel: Callable[..., Any] | None = None,
    gradient: Callable[..., Any] | bool | None = True,
    stateful: bool = False,
    effect: str | Callable[[dict[str, Any]], str | None] | None = None,
    alias: bool = False,
    batchable: bool = False,
    convolution: str | None = None,
    epilogue: str | None = None,
    fresh: bool | str = False,
    gemm: str | None = None,
    heavy: bool = False,
    last_on_demand: bool = False,
    runs_code: bool = False,
    view: bool = False,
    **constraints: Iterable[DType],
) -> Any:
    """Declare an op; a decorator of its kernel unless `kernel` is given.

    `gradient=None` declares it not differentiable; otherwise a rule must follow (`@TheOp.gradient`,
    or given here). `effect` is its side effect, or a function of the attributes that returns it.
    `constraints` name the dtypes of a type letter.

    The traits are what a compiler may rely on:

    - `alias`: the outputs are the inputs.
    - `view`: the output is the first input's buffer in another shape.
    - `fresh`: the results are new arrays, not views of an input; "first": only the first result,
      the others may be inputs, though not the first one; "cast": only if the dtype changes.
    - `batchable`: element-wise, and bitwise equal for a batch and for each of its rows.
    - `gemm`: a matmul, which both BLAS and an engine can run: "matmul", "batched" or "einsum".
    - `convolution`: of images: "forward", or the gradient with respect to "input" or "filter".
    - `epilogue`: bias, scale and activation may be fused into it: "inside", the kernel takes an
      `Epilogue` as one more argument; "after", it is applied in place to the fresh result.
    - `heavy`: an engine runs it on its own thread pool.
    - `runs_code`: it runs other graphs, or Python functions, with side effects of their own.
    - `last_on_demand`: the kernel takes as one more argument whether to compute the last output.
    """

    def declare(function: Callable[..., Any]) -> Op:
        declared = Op(name, signature, function, shape, stateful, gradient is not None, constraints)
        declared.effect = effect
        declared.alias, declared.batchable, declared.view = alias, batchable, view
        declared.fresh, declared.gemm, declared.heavy = fresh, gemm, heavy
        declared.convolution, declared.epilogue = convolution, epilogue
        declared.last_on_demand, declared.runs_code = last_on_demand, runs_code
        if callable(gradient):
            declared.gradient_rule = gradient
        if name in REGISTRY:
            raise ValueError(f"The op {name} is declared twice.")
        REGISTRY[name] = declared
        return declared

    return declare if kernel is None else declare(kernel)


class Record:
    """An operation recorded by a tape, as seen by its gradient rule."""

    __slots__ = ("given", "inputs", "joined", "needed", "op", "outputs")

    def __init__(
        self,
        op: Op,
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        attrs: dict[str, Any],
    ) -> None:
        self.op = op
        self.inputs = inputs
        self.outputs = outputs
        self.given = attrs
        self.needed: Any = None
        # Where the operands of deferred gradient matmuls are collected.
        self.joined: Any = None

    @property
    def attrs(self) -> dict[str, Any]:
        return {**self.op.defaults, **self.given} if self.op.defaults else self.given

    @property
    def type(self) -> str:
        return self.op.name

    def get_attr(self, name: str) -> Any:
        return self.attrs[name]

    def needs(self, index: int) -> bool:
        """Whether the gradient with respect to this input is needed."""
        return self.needed is None or self.inputs[index]._key in self.needed

    def of_product(self, product: Op, left: int, right: int, gradient: Any) -> Sequence[Any]:
        """The gradients of a matmul of two inputs, with the attributes of this operation."""
        alone = Record(product, (self.inputs[left], self.inputs[right]), (), self.given)
        alone.needed = self.needed
        if self.joined is not None:
            alone.needed = self.joined.needed_without(alone, [gradient], self.needed)
        assert product.gradient_rule is not None
        found: Sequence[Any] = product.gradient_rule(alone, gradient)
        return found


def execute(op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any] = _NO_ATTRS) -> Any:
    """Execute one operation: compute it now, or add it to the graph being built; notify the tapes.

    Returns a tensor, or a list of them if the op has several outputs.
    """
    graph = state.graph
    if graph is not None:
        for tensor in inputs if COMPOSITES else ():
            if type(tensor) in COMPOSITES:
                return tensor._execute(op, inputs, attrs)
        return graph.add(op, inputs, attrs)
    try:
        # Fast paths for up to three inputs: this is half the time of an op on small tensors.
        count = 0 if op.input_lists else len(inputs)
        known = op.result_types
        if count == 2:
            x, y = inputs
            types = known.get((x.dtype, y.dtype)) or op.types_of_results(inputs, attrs)
            if attrs:
                result = op.kernel(x._array, y._array, **attrs)
            else:
                result = op.kernel(x._array, y._array)
        elif count == 1:
            (x,) = inputs
            types = known.get((x.dtype,)) or op.types_of_results(inputs, attrs)
            result = op.kernel(x._array, **attrs) if attrs else op.kernel(x._array)
        elif count == 3:
            x, y, z = inputs
            types = known.get((x.dtype, y.dtype, z.dtype)) or op.types_of_results(inputs, attrs)
            if attrs:
                result = op.kernel(x._array, y._array, z._array, **attrs)
            else:
                result = op.kernel(x._array, y._array, z._array)
        else:
            types = known.get(tuple([tensor.dtype for tensor in inputs]))
            types = types or op.types_of_results(inputs, attrs)
            result = op.run([tensor._array for tensor in inputs], attrs)
    except OutOfScopeError as leak:  # before the failures: it is also a ValueError
        if not leak.tensor.graph.open:
            raise
        return leak.tensor.graph.add(op, inputs, attrs)
    except KERNEL_FAILURES as failure:
        explained = op.explain(failure, inputs, attrs)
        if isinstance(failure, errors.OpError) and any(
            isinstance(each, SymbolicTensor) for each in inputs
        ):
            explained = TypeError(failure.message)  # as in graphs that reject dtypes
        raise explained from tracebacks.cause(failure)
    except CompositeInput as found:
        return found.composite._execute(op, inputs, attrs)
    if op.single:
        output = Tensor(result, types)
        for tape in state.tapes:
            tape.record(op, inputs, (output,), attrs)
        return output
    outputs = [Tensor(array, dtype) for array, dtype in zip(result, types, strict=True)]
    for tape in state.tapes:
        tape.record(op, inputs, outputs, attrs)
    return outputs
