"""`if`, `while` and `for` are lowered to operator calls with their bodies as functions.

    if x > 0:                 def get_state(): return (y,)
        y = x                 def set_state(vars_): nonlocal y; y, = vars_
    else:            ->       def if_body(): nonlocal y; y = ag__.ld(x)
        y = -x                def else_body(): nonlocal y; y = -ag__.ld(x)
                              y = ag__.Undefined('y')
                              ag__.if_stmt(ag__.ld(x) > 0, if_body, else_body, get_state, ...)

The state is the symbols that the statement modifies and that are live before or after it. Other
names assigned in a body are locals of its function.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from .analysis import Liveness, base_names, is_try, outer_writes, own_statements, use_of
from .templates import Names, expression, is_operator, place, statements, tuple_of


@dataclass
class _State:
    """The symbols in a statement's state, those live afterwards first."""

    symbols: dict[str, ast.expr]
    outputs: int

    @property
    def names(self) -> list[str]:
        return [text for text, target in self.symbols.items() if isinstance(target, ast.Name)]

    @property
    def places(self) -> list[ast.expr]:
        return [target for target in self.symbols.values() if not isinstance(target, ast.Name)]


class _Block:
    """The names bound so far in a generated function during conversion."""

    def __init__(self, bound: set[str]) -> None:
        self.bound = set(bound)
        self.maybe = set(bound)
        self.late: dict[str, None] = {}

    def bind(self, names: Sequence[str] | set[str]) -> None:
        self.bound.update(names)
        self.maybe.update(names)


class ControlFlow:
    """Converts the statements of one function."""

    def __init__(
        self,
        body: list[ast.stmt],
        names: Names,
        parameters: Sequence[str],
        at_end: Sequence[ast.stmt],
    ) -> None:
        self._names = names
        self._given = names.new("vars_") if "vars_" in names else "vars_"
        self._globals: set[str] = set()
        self._outer: set[str] = set()
        self._writers: dict[str, set[str]] = {}
        for node in own_statements(body):
            if isinstance(node, ast.Global):
                self._globals.update(node.names)
            elif isinstance(node, ast.Nonlocal):
                self._outer.update(node.names)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self._writers.setdefault(node.name, set()).update(outer_writes(node))
        self._live = Liveness([*body, *at_end], self._globals | self._outer)
        self._first = _Block({*parameters, *self._globals, *self._outer})
        self._body = body

    def converted(self) -> list[ast.stmt]:
        """The body with its control flow lowered to operators."""
        return self._block_of(self._body, self._first)

    # Blocks

    def _block_of(self, body: list[ast.stmt], block: _Block) -> list[ast.stmt]:
        done = [each for statement in body for each in self._statement(statement, block)]
        start: list[ast.stmt] = []
        for name in block.late:
            start += _undefined(name, body[0])
        block.late.clear()
        return [*start, *done]

    def _inner(self, body: list[ast.stmt], block: _Block) -> list[ast.stmt]:
        """A block that is not outlined: its bindings are visible afterwards."""
        inner = _Block(block.bound)
        inner.maybe |= block.maybe
        done = [each for statement in body for each in self._statement(statement, inner)]
        block.late |= inner.late
        block.maybe |= inner.maybe
        return done

    def _function_body(
        self, body: list[ast.stmt], state: _State, block: _Block, first: Sequence[str] = ()
    ) -> list[ast.stmt]:
        """The body of a function outlined from a block, with its declarations."""
        declared = self._declarations(state, body[0])
        kept = block.maybe - set(self._writes(body)) - set(first)
        inner = _Block(kept | set(state.names) | set(first) | self._globals | self._outer)
        return [*declared, *self._block_of(body, inner)]

    def _declarations(self, state: _State, like: ast.AST) -> list[ast.stmt]:
        local = [name for name in state.names if name not in self._globals]
        shared = [name for name in state.names if name in self._globals]
        declared: list[ast.stmt] = []
        if local:
            declared.append(place(ast.Nonlocal(local), like))
        if shared:
            declared.append(place(ast.Global(shared), like))
        return declared

    # Statements

    def _statement(self, node: ast.stmt, block: _Block) -> list[ast.stmt]:
        if isinstance(node, ast.If):
            return self._if(node, block)
        if isinstance(node, ast.While):
            return self._while(node, block)
        if isinstance(node, ast.For):
            return self._for(node, block)
        if is_try(node):
            for name in ("body", "orelse", "finalbody"):
                setattr(node, name, self._inner(getattr(node, name), block))
            for handler in node.handlers:
                handler.body = self._inner(handler.body, block)
            block.maybe.update(use_of(node).writes)
        elif isinstance(node, ast.With | ast.AsyncWith):
            block.bind(set(use_of(node.items).writes))
            node.body = [each for inner in node.body for each in self._statement(inner, block)]
        elif isinstance(node, ast.Match):
            for case in node.cases:
                case.body = self._inner(case.body, block)
            block.maybe.update(use_of(node).writes)
        else:
            block.bind(set(self._live.use(node).writes))
        return [node]

    def _writes(self, nodes: Sequence[ast.AST]) -> dict[str, None]:
        """The symbols that code modifies, directly or through local functions that it may call."""
        use = use_of(nodes)
        writes = dict(use.writes)
        for name in sorted(use.reads & self._writers.keys()):
            writes |= dict.fromkeys(sorted(self._writers[name]))
        return writes

    def _state(self, node: ast.stmt, nodes: Sequence[ast.AST]) -> _State:
        before, after = self._live.before[node], self._live.after[node]
        writes = self._writes(nodes)
        places = {
            text: target
            for text, target in use_of(nodes).places.items()
            if not (base_names(target) or set()) & writes.keys()
        }
        loops = not isinstance(node, ast.If)
        outputs = [name for name in writes if name in after or (loops and name in before)]
        others = [name for name in writes if name in before and name not in outputs]
        symbols = {name: ast.Name(name, ast.Load()) for name in outputs}
        symbols |= places  # type: ignore[arg-type]
        count = len(symbols)
        symbols |= {name: ast.Name(name, ast.Load()) for name in others}
        return _State(symbols, count)  # type: ignore[arg-type]

    def _if(self, node: ast.If, block: _Block) -> list[ast.stmt]:
        like = node.test
        bodies = [node.body, node.orelse or [ast.copy_location(ast.Pass(), like)]]
        state = self._state(node, [*node.body, *node.orelse])
        prepared = self._prepared(state, block, like)
        main, other = (self._function_body(body, state, block) for body in bodies)
        parts = self._state_functions(state, like)
        names = {name: self._names.new(name) for name in ("if_body", "else_body")}
        call = statements(
            "def if_body():\n    main\n"
            "def else_body():\n    other\n"
            "prepared\n"
            "ag__.if_stmt(test, if_body, else_body, get_state, set_state, symbols, count)",
            like,
            test=node.test,
            main=main,
            other=other,
            prepared=prepared,
            symbols=_texts(state),
            count=ast.Constant(state.outputs),
            **names,
            **parts.names,
        )
        return [*parts.definitions, *call]

    def _while(self, node: ast.While, block: _Block) -> list[ast.stmt]:
        like = node.test
        options = _take_options(node)
        state = self._state(node, [node.test, *node.body])
        prepared = self._prepared(state, block, like)
        body = self._function_body(node.body, state, block)
        parts = self._state_functions(state, like)
        assigned = use_of(node.test).writes
        declared = self._declarations(state, like) if assigned else []
        if assigned:
            options.keys.append(place(ast.Constant("test_assigns"), like))
            options.values.append(place(ast.Constant(True), like))
        names = {name: self._names.new(name) for name in ("loop_body", "loop_test")}
        call = statements(
            "def loop_body():\n    body\n"
            "def loop_test():\n    declared\n    return test\n"
            "prepared\n"
            "ag__.while_stmt(loop_test, loop_body, get_state, set_state, symbols, options)",
            like,
            test=node.test,
            body=body,
            declared=declared,
            prepared=prepared,
            symbols=_texts(state),
            options=options,
            **names,
            **parts.names,
        )
        return [*parts.definitions, *call]

    def _for(self, node: ast.For, block: _Block) -> list[ast.stmt]:
        like = node.iter
        options = _take_options(node)
        options.keys.append(place(ast.Constant("iterate_names"), like))
        options.values.append(place(ast.Constant(_listed(node.target)), like))
        extra = getattr(node, "extra_test", None)
        state = self._state(node, [node.target, *node.body])
        prepared = self._prepared(state, block, like)
        item = self._names.new("itr")
        first = place(ast.Assign([node.target], ast.Name(item, ast.Load())), node.target)
        body = self._function_body([first, *node.body], state, block)
        parts = self._state_functions(state, like)
        names = {name: self._names.new(name) for name in ("loop_body", "extra_test")}
        text = (
            "def loop_body(item):\n    body\n"
            + ("def extra_test():\n    return extra\n" if extra is not None else "")
            + "prepared\n"
            "ag__.for_stmt(iterated, tested, loop_body, get_state, set_state, symbols, options)"
        )
        tested: ast.expr = ast.Constant(None)
        if extra is not None:
            tested = ast.Name(names["extra_test"], ast.Load())
        call = statements(
            text,
            like,
            iterated=node.iter,
            item=item,
            body=body,
            extra=extra,
            tested=tested,
            prepared=prepared,
            symbols=_texts(state),
            options=options,
            **names,
            **parts.names,
        )
        return [*parts.definitions, *call]

    # State

    def _prepared(self, state: _State, block: _Block, like: ast.AST) -> list[ast.stmt]:
        """`y = ag__.Undefined('y')` for the names that are possibly unbound."""
        done: list[ast.stmt] = []
        for name in state.names:
            if name not in block.maybe:
                done += _undefined(name, like)
            elif name not in block.bound:
                block.late[name] = None
        block.bind(state.names)
        return done

    def _state_functions(self, state: _State, like: ast.AST) -> _Parts:
        names = {name: self._names.new(name) for name in ("get_state", "set_state")}
        if not state.symbols:
            text = "def get_state():\n    return ()\ndef set_state(block_vars):\n    pass\n"
            return _Parts(names, statements(text, like, **names))
        loaded = [self._loaded(text, target) for text, target in state.symbols.items()]
        targets = [_with_context(target, ast.Store()) for target in state.symbols.values()]
        definitions = statements(
            "def get_state():\n    return loaded\n"
            "def set_state(given):\n    declared\n    assigned\n    removed\n",
            like,
            given=self._given,
            loaded=tuple_of(loaded),
            declared=self._declarations(state, like),
            assigned=[
                ast.Assign([tuple_of(targets, ast.Store())], ast.Name(self._given, ast.Load()))
            ],
            removed=[
                removed
                for target in state.places
                for removed in statements(
                    "if ag__.is_undefined(place):\n    gone",
                    like,
                    place=_with_context(target, ast.Load()),
                    gone=[ast.Delete([_with_context(target, ast.Del())])],
                )
            ],
            **names,
        )
        return _Parts(names, definitions)

    def _loaded(self, text: str, target: ast.expr) -> ast.expr:
        if isinstance(target, ast.Name) and text not in self._globals | self._outer:
            return ast.Name(text, ast.Load())
        return _careful(target, text)


@dataclass
class _Parts:
    names: dict[str, str]
    definitions: list[ast.stmt]


def _undefined(name: str, like: ast.AST) -> list[ast.stmt]:
    return statements("x = ag__.Undefined(text)", like, x=name, text=ast.Constant(name))


def _careful(target: ast.expr, text: str) -> ast.expr:
    """Read a possibly unbound symbol."""
    return expression(
        "ag__.ldu(lambda: target, text)",
        ast.Module([], []),
        target=_with_context(target, ast.Load()),
        text=ast.Constant(text),
    )


def _with_context(target: ast.expr, context: ast.expr_context) -> ast.expr:
    if isinstance(target, ast.Name):
        return ast.Name(target.id, context)
    if isinstance(target, ast.Attribute):
        return ast.Attribute(_with_context(target.value, ast.Load()), target.attr, context)
    if isinstance(target, ast.Subscript):
        value = _with_context(target.value, ast.Load())
        return ast.Subscript(value, _with_context(target.slice, ast.Load()), context)
    assert isinstance(target, ast.Constant)
    return ast.Constant(target.value)


def _listed(target: ast.expr) -> str:
    text = ast.unparse(target)
    return text[1:-1] if isinstance(target, ast.Tuple) and text.startswith("(") else text


def _texts(state: _State) -> ast.expr:
    return tuple_of([ast.Constant(text) for text in state.symbols])


def _take_options(loop: ast.For | ast.While) -> ast.Dict:
    """Move `set_loop_options(...)` out of a loop's body: the options as a dict display.

    They also name the flags that end the loop, which are therefore unset at the start of an
    iteration.
    """
    options = ast.Dict([], [])
    for statement in list(loop.body):
        call = statement.value if isinstance(statement, ast.Expr) else None
        if call is None or not is_operator(call, "converted_call"):
            continue
        function, arguments, keywords, _ = call.args  # type: ignore[attr-defined]
        if not (isinstance(function, ast.Attribute) and function.attr == "set_loop_options"):
            continue
        order = ("parallel_iterations", "swap_memory", "maximum_iterations", "shape_invariants")
        for name, value in zip(order, arguments.elts, strict=False):
            options.keys.append(ast.Constant(name))
            options.values.append(value)
        for keyword in getattr(keywords, "keywords", []):
            options.keys.append(ast.Constant(keyword.arg))
            options.values.append(keyword.value)
        loop.body.remove(statement)
    if not loop.body:
        loop.body = [ast.copy_location(ast.Pass(), loop)]
    flags = getattr(loop, "stop_flags", [])
    if flags:
        options.keys.append(ast.Constant("stop_flags"))
        options.values.append(tuple_of([ast.Constant(name) for name in flags]))
    return options
