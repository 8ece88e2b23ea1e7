"""`while` and `for`: Python's own, or tf.while_loop if the graph determines the trip count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core import nest
from ..core.context import state as thread
from ..core.convert import constant_value, convert_to_tensor
from ..core.graph.branch import BranchGraph
from ..core.shapes import TensorShape
from ..core.tensor import SymbolicTensor, Tensor
from ..ops import control_flow
from ..ops.array.creation import zeros
from ..ops.array.shaping import shape as shape_of
from ..ops.debugging import Assert
from ..ops.math.comparison import logical_and, logical_or
from .values import (
    UndefinedReturnValue,
    condition,
    is_staged,
    is_undefined,
    missing_value,
    stageable,
    staged,
    static_sizes,
)

_WHILE_CHANGED = (
    "The condition of while loop started as non-Tensor, then changed to Tensor. This may happen "
    "either because variables changed type, or when a break or return statement inside the loop "
    "depends on a Tensor condition. In both cases, changing to a TF loop should remove the error: "
    "begin with a tensor, as in `while tf.constant(True):`."
)
_FOR_CHANGED = (
    "break and return statements which depend on a TF condition are not supported in Python for "
    "loops. Did you intend to make it a TF loop? Iterate over a tensor then, as in "
    "`for i in tf.range(n):`."
)
Options = dict[str, Any]


def while_stmt(
    test: Callable[[], Any],
    body: Callable[[], Any],
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[Any], None],
    symbol_names: Sequence[str],
    opts: Options,
) -> None:
    """`while test(): body()`, with its effects on the state."""
    before = get_state()
    tested = test()
    if is_staged(tested):
        set_state(before)

        def round_(own: list[Any]) -> list[Any]:
            if opts.get("test_assigns"):
                test()
            body()
            return []

        loop = StagedLoop(get_state, set_state, symbol_names, opts, [])
        loop.run(lambda own: condition(test(), "while loop"), round_)
        return
    while tested:
        body()
        tested = test()
        if is_staged(tested):
            raise NotImplementedError(_WHILE_CHANGED)


def for_stmt(
    iter_: Any,
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], Any],
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[Any], None],
    symbol_names: Sequence[str],
    opts: Options,
) -> None:
    """`for item in iter_: body(item)` while `extra_test()`, with its effects on the state."""
    own = getattr(type(iter_), "__runnel_for__", None)
    if own is not None and (thread.graph is not None or is_staged(iter_)):
        own(iter_, extra_test, body, get_state, set_state, symbol_names, opts)
        return
    ragged = hasattr(iter_, "row_splits") and thread.graph is not None
    if not (ragged or is_staged(iter_)):
        _python_for(iter_, extra_test, body)
        return
    tensor = convert_to_tensor(iter_)
    # Accumulated floats would drift from the values of tf.range.
    counts = tensor.dtype.is_integer
    if counts and isinstance(tensor, SymbolicTensor) and tensor.op.type == "Range":
        first, more, item, step = _counting(tensor)
        _begin_with(first, get_state, set_state, symbol_names, opts)
    else:
        first, more, item, step = _indexing(tensor)

    def test(own: list[Any]) -> Any:
        go_on = more(own[0])
        if extra_test is not None:
            go_on = logical_and(go_on, condition(extra_test(), "for loop"))
        return go_on

    def round_(own: list[Any]) -> list[Any]:
        body(item(own[0]))
        return [step(own[0])]

    StagedLoop(get_state, set_state, symbol_names, opts, [first]).run(test, round_)


def _begin_with(
    first: Any,
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[Any], None],
    symbol_names: Sequence[str],
    opts: Options,
) -> None:
    """Initialize an undefined counter with the first number, its value after zero iterations."""
    place = {name: i for i, name in enumerate(symbol_names)}.get(opts.get("iterate_names", ""))
    values = list(get_state())
    if place is not None and is_undefined(values[place]):
        values[place] = first
        set_state(tuple(values))


def _python_for(
    iterable: Any, extra_test: Callable[[], Any] | None, body: Callable[[Any], Any]
) -> None:
    if extra_test is None:
        for item in iterable:
            body(item)
        return
    for item in iterable:
        body(item)
        go_on = extra_test()
        if is_staged(go_on):
            raise NotImplementedError(_FOR_CHANGED)
        if not go_on:
            break


def _counting(tensor: SymbolicTensor) -> tuple[Any, ...]:
    """A loop over tf.range: the number is a loop variable, no vector is needed."""
    start, limit, delta = tensor.op.inputs
    stride = constant_value(delta)

    def more(value: Any) -> Any:
        if stride is not None:
            return value < limit if stride > 0 else value > limit
        up, down = logical_and(delta > 0, value < limit), logical_and(delta < 0, value > limit)
        return logical_or(up, down)

    return start, more, lambda value: value, lambda value: value + delta


def _indexing(tensor: Tensor) -> tuple[Any, ...]:
    """A loop over the first dimension of a tensor."""
    if tensor.shape.rank == 0:
        raise ValueError(
            f"len requires a non-scalar tensor, got one of shape {tensor.shape}: a `for` loop "
            "needs a tensor of at least one dimension to go over."
        )
    count = None if tensor.shape.rank is None else tensor.shape[0]
    limit = shape_of(tensor)[0] if count is None else count
    start = convert_to_tensor(0)
    return start, lambda i: i < limit, lambda i: tensor[i], lambda i: i + 1


class StagedLoop:
    """A loop in a graph: its loop variables are its own and the tensors of the state.

    Symbols that are undefined before the loop are initialized with the types that a first iteration
    gives them, traced in a scratch graph; so they need no definition if the loop runs at least
    once.

    The option `relax_shapes` lets the shapes of symbols become more general than they are before
    the loop. `own` are the loop's own variables, such as an index. A class whose objects can be
    iterated in a graph stages its loops with this one in its method `__runnel_for__`, which is
    called with the arguments of `for_stmt`.
    """

    def __init__(
        self,
        get_state: Callable[[], tuple[Any, ...]],
        set_state: Callable[[Any], None],
        names: Sequence[str],
        options: Options,
        own: list[Any],
    ) -> None:
        self._get_state = get_state
        self._set_state = set_state
        self._names = names
        self._options = options
        self._own = own
        self._start = list(get_state())
        self._shapes: dict[int, list[TensorShape]] = {}
        self._made_up: list[str] = []

    def run(self, test: Callable[[list[Any]], Any], body: Callable[[list[Any]], list[Any]]) -> None:
        """Stage the loop and assign its results to the state."""
        self._read_invariants()
        missing = [i for i, v in enumerate(self._start) if v is None or is_undefined(v)]
        if missing:
            self._make_up(missing, body)
        carried = [i for i, value in enumerate(self._start) if stageable(value)]
        values: list[Any] = [staged(each) for each in self._own]
        values += [[staged(x) for x in nest.flatten(self._start[i])] for i in carried]
        if self._made_up or not nest.flatten(values):
            values.append(convert_to_tensor(False))
        count = len(self._own)
        finished = list(self._start)

        def enter(variables: Sequence[Any]) -> list[Any]:
            current = list(self._start)
            for i, leaves in zip(carried, variables[count:], strict=False):
                current[i] = nest.pack_sequence_as(self._start[i], list(leaves))
            self._set_state(tuple(current))
            return list(variables[:count])

        def tested(*variables: Any) -> Any:
            return test(enter(variables))

        def round_(*variables: Any) -> list[Any]:
            own = enter(variables)
            self._unset_flags()
            own = body(own)
            after = self._get_state()
            result: list[Any] = list(own)
            for i, value in enumerate(after):
                if i in carried:
                    position = count + carried.index(i)
                    result.append(self._checked(i, variables[position], value))
                else:
                    self._check_aside(i, value)
                    finished[i] = value
            if len(variables) > len(result):
                result.append(convert_to_tensor(True))
            return result

        extra = {
            name: self._options[name]
            for name in ("parallel_iterations", "swap_memory", "maximum_iterations")
            if name in self._options
        }
        while True:
            invariants = self._invariants(values, carried) if self._shapes else None
            try:
                results = control_flow.while_loop(tested, round_, values, invariants, **extra)
                break
            except _Wider as found:
                self._shapes[found.symbol] = found.shapes
                finished = list(self._start)
        for i, leaves in zip(carried, results[count:], strict=False):
            finished[i] = nest.pack_sequence_as(self._start[i], list(leaves))
        if self._made_up:
            names = ", ".join(self._made_up)
            Assert(results[-1], [f"loop must iterate at least once to initialize {names}"])
        self._set_state(tuple(finished))

    def _unset_flags(self) -> None:
        """An iteration starts only if no exit flag is set; Python may know that statically."""
        flags = self._options.get("stop_flags", ())
        if flags:
            values = zip(self._names, self._get_state(), strict=True)
            self._set_state(tuple(False if name in flags else value for name, value in values))

    # Initial values of undefined symbols.

    def _make_up(self, missing: list[int], body: Callable[[list[Any]], list[Any]]) -> None:
        """Initialize undefined symbols with zeros of the type that one iteration gives them."""
        scratch = BranchGraph.inside("scratch")
        try:
            with scratch.building():
                self._set_state(tuple(_stand_in(scratch, value) for value in self._start))
                self._unset_flags()
                body([_stand_in(scratch, staged(each)) for each in self._own])
                after = self._get_state()
        except ValueError as failure:
            if not getattr(failure, "missing_value", False):
                raise
            raise ValueError(
                f"'{self._names[missing[0]]}' must be defined before the loop\nNote: AutoGraph "
                f"tried to define it automatically, but ran into a ValueError: {failure}"
            ) from None
        finally:
            self._set_state(tuple(self._start))
        for i in missing:
            value = after[i]
            if not stageable(value):
                continue
            leaves = [staged(leaf) for leaf in nest.flatten(value)]
            if not all(isinstance(leaf, Tensor) for leaf in leaves):
                raise ValueError(
                    f"'{self._names[i]}' must be defined before the loop: a "
                    f"{type(leaves[0]).__name__} cannot be made up."
                )
            if not isinstance(self._start[i], UndefinedReturnValue):
                self._made_up.append(self._names[i])
            shapes = [leaf.shape for leaf in leaves]
            if not all(shape.is_fully_defined() for shape in shapes):
                self._shapes.setdefault(i, shapes)
            blanks = [zeros(static_sizes(leaf.shape), leaf.dtype) for leaf in leaves]
            self._start[i] = nest.pack_sequence_as(value, blanks)

    # Shapes

    def _read_invariants(self) -> None:
        given = {
            id(tensor): TensorShape(shape)
            for tensor, shape in self._options.get("shape_invariants") or ()
        }
        for i, value in enumerate(self._start):
            if is_undefined(value) or value is None:
                continue
            leaves = nest.flatten(value)
            if any(id(leaf) in given for leaf in [*leaves, value]):
                self._shapes[i] = [
                    given.get(id(leaf), given.get(id(value))) or staged(leaf).shape
                    for leaf in leaves
                ]

    def _invariants(self, values: list[Any], carried: list[int]) -> list[Any]:
        count = len(self._own)

        def own_shape(value: Any) -> Any:
            return value.shape if isinstance(value, Tensor) else None

        invariants: list[Any] = [own_shape(value) for value in values[:count]]
        for i, leaves in zip(carried, values[count:], strict=False):
            invariants.append(self._shapes.get(i) or [own_shape(leaf) for leaf in leaves])
        if len(invariants) < len(values):
            invariants.append(TensorShape([]))
        return invariants

    def _widen(self, i: int, before: list[Any], after: list[Any]) -> None:
        """Request shape invariants that fit a symbol before and after an iteration, if needed."""
        if not all(isinstance(leaf, Tensor) for leaf in [*before, *after]):
            return
        shapes = self._shapes.get(i) or [leaf.shape for leaf in before]
        wider = [
            shape.most_specific_compatible_shape(leaf.shape)
            for shape, leaf in zip(shapes, after, strict=True)
        ]
        pairs = zip(wider, shapes, strict=True)
        if not all(_at_least_as_specific(new, old) for new, old in pairs):
            raise _Wider(i, wider)

    # Checks

    def _check_aside(self, i: int, value: Any) -> None:
        before = self._start[i]
        if is_undefined(before) or before is None or value is before:
            return
        raise TypeError(
            f"Failed to convert elements of {before!r} to Tensor: '{self._names[i]}' changes in a "
            "staged loop, and only tensors, numbers, strings and structures of them can."
        )

    def _checked(self, i: int, before: list[Any], value: Any) -> list[Any]:
        """The leaves of a symbol after an iteration, checked against those before it."""
        name = self._names[i]
        if is_undefined(value):
            raise missing_value(f"'{name}' must also have a value at the end of the loop")
        if value is None or not stageable(value):
            raise TypeError(
                f"'{name}' was a tensor before the loop, but is {value!r} after one iteration"
            )
        try:
            nest.assert_same_structure(self._start[i], value)
        except (ValueError, TypeError) as mismatch:
            raise TypeError(
                f"'{name}' does not have the same nested structure after one iteration.\n\n"
                f"{mismatch}"
            ) from None
        leaves = [staged(leaf) for leaf in nest.flatten(value)]
        if self._options.get("relax_shapes"):
            self._widen(i, before, leaves)
        for position, (old, new) in enumerate(zip(before, leaves, strict=True)):
            if old.dtype is not new.dtype:
                raise TypeError(
                    f"'{name}' has dtype {old.dtype.name} before the loop, but dtype "
                    f"{new.dtype.name} after one iteration"
                )
            if isinstance(old, Tensor) and isinstance(new, Tensor):
                wanted = self._shapes[i][position] if i in self._shapes else old.shape
                if not _at_least_as_specific(new.shape, wanted):
                    raise ValueError(
                        f"'{name}' has shape {wanted} before the loop, but shape {new.shape} "
                        "after one iteration. Use tf.autograph.experimental.set_loop_options to "
                        "set shape invariants."
                    )
        return leaves


class _Wider(Exception):
    """A symbol needs more general shapes than the loop was staged with."""

    def __init__(self, symbol: int, shapes: list[TensorShape]) -> None:
        super().__init__(symbol)
        self.symbol = symbol
        self.shapes = shapes


def _at_least_as_specific(shape: TensorShape, wanted: TensorShape) -> bool:
    if wanted.rank is None:
        return True
    if shape.rank != wanted.rank:
        return False
    return all(w is None or w == s for s, w in zip(shape, wanted, strict=True))


def _stand_in(graph: BranchGraph, value: Any) -> Any:
    """A placeholder of the same type in a scratch graph."""
    if not stageable(value):
        return value

    def leaf_of(leaf: Any) -> Any:
        leaf = staged(leaf)
        return graph.add_input(leaf.dtype, leaf.shape) if isinstance(leaf, Tensor) else leaf

    return nest.map_structure(leaf_of, value)
