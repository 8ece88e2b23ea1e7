"""Static analysis: which symbols code reads and modifies, and which are live after it.

The analysis is per function. A *symbol* is a name (`y`) or a qualified name (`self.total`,
`d['a']`) that can be assigned to.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from .templates import is_operator

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_TRIES: tuple[type, ...] = (ast.Try, getattr(ast, "TryStar", ast.Try))


def is_try(node: ast.AST) -> TypeGuard[ast.Try]:
    """Whether a statement is `try`, with `except` or `except*`."""
    return isinstance(node, _TRIES)


def plain(node: ast.expr) -> ast.expr:
    """The expression without the `ag__.ld` calls that conversion added around names."""
    if is_operator(node, "ld"):
        return plain(node.args[0])  # type: ignore[attr-defined]
    if isinstance(node, ast.Attribute):
        return ast.Attribute(plain(node.value), node.attr, node.ctx)
    if isinstance(node, ast.Subscript):
        return ast.Subscript(plain(node.value), plain(node.slice), node.ctx)
    return node


def base_names(node: ast.expr) -> set[str] | None:
    """The names that a qualified name is composed of; None if it contains a call."""
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.Constant):
        return set()
    if isinstance(node, ast.Attribute):
        return base_names(node.value)
    if isinstance(node, ast.Subscript):
        value, key = base_names(node.value), base_names(node.slice)
        return None if value is None or key is None else value | key
    return None


@dataclass
class Use:
    """The symbols that code reads and writes; dictionaries keep the source order."""

    reads: set[str] = field(default_factory=set)
    writes: dict[str, None] = field(default_factory=dict)
    places: dict[str, ast.expr] = field(default_factory=dict)
    declared: set[str] = field(default_factory=set)
    # Names bound by `:=`, possibly in a subexpression that is not evaluated.
    conditional: set[str] = field(default_factory=set)


class _UseVisitor(ast.NodeVisitor):
    def __init__(self) -> None:
        self.use = Use()

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.use.reads.add(node.id)
        else:
            self.use.writes[node.id] = None

    def _place(self, node: ast.Attribute | ast.Subscript) -> None:
        if isinstance(node.ctx, ast.Store):
            target = plain(node)
            if base_names(target) is not None:
                self.use.places[ast.unparse(target)] = target
        self.generic_visit(node)

    visit_Attribute = _place
    visit_Subscript = _place

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.generic_visit(node)
        if isinstance(node.target, ast.Name):
            self.use.reads.add(node.target.id)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.use.conditional.add(node.target.id)
        self.generic_visit(node)

    def visit_For(self, node: ast.For) -> None:
        self.generic_visit(node)
        extra = getattr(node, "extra_test", None)
        if extra is not None:
            self.visit(extra)

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        self.use.declared.update(node.names)

    visit_Nonlocal = visit_Global

    def visit_alias(self, node: ast.alias) -> None:
        self.use.writes[node.asname or node.name.split(".")[0]] = None

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.use.writes[node.name] = None
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        if node.name:
            self.use.writes[node.name] = None
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.use.writes[node.rest] = None
        self.generic_visit(node)

    def _scope(self, node: Scope) -> None:
        if not isinstance(node, ast.Lambda):
            self.use.writes[node.name] = None
        self.use.reads |= _outer_reads(node) | free_reads(node)

    visit_FunctionDef = _scope
    visit_AsyncFunctionDef = _scope
    visit_Lambda = _scope
    visit_ClassDef = _scope

    def _comprehension(self, node: ast.AST) -> None:
        inner = _UseVisitor()
        inner.generic_visit(node)
        targets = {
            each.id
            for generator in node.generators  # type: ignore[attr-defined]
            for each in ast.walk(generator.target)
            if isinstance(each, ast.Name)
        }
        self.use.reads |= inner.use.reads - targets
        for name in inner.use.writes:
            if name not in targets:
                self.use.writes[name] = None

    visit_ListComp = _comprehension
    visit_SetComp = _comprehension
    visit_DictComp = _comprehension
    visit_GeneratorExp = _comprehension


def use_of(nodes: ast.AST | Sequence[ast.AST] | None) -> Use:
    """The symbols that code uses; nested functions use their free names."""
    visitor = _UseVisitor()
    for node in [nodes] if isinstance(nodes, ast.AST) else nodes or ():
        visitor.visit(node)
    return visitor.use


def _outer_reads(node: Scope) -> set[str]:
    """The names evaluated by the definition of a function or class: decorators, defaults, bases."""
    parts: list[ast.AST] = list(getattr(node, "decorator_list", []))
    if isinstance(node, ast.ClassDef):
        parts += [*node.bases, *node.keywords]
    else:
        parts += [each for each in (*node.args.defaults, *node.args.kw_defaults) if each]
    return use_of(parts).reads


def parameters(node: ast.arguments) -> list[str]:
    every = [*node.posonlyargs, *node.args, *node.kwonlyargs, node.vararg, node.kwarg]
    return [each.arg for each in every if each is not None]


def free_reads(node: Scope) -> set[str]:
    """The free names that a function or class body reads."""
    use = use_of(node.body)
    bound: set[str] = set() if isinstance(node, ast.ClassDef) else set(parameters(node.args))
    return use.reads - bound - (set(use.writes) - use.declared) | use.declared


def outer_writes(node: Scope) -> set[str]:
    """The names of enclosing functions that a nested one may rebind (`nonlocal`)."""
    bound: set[str] = set() if isinstance(node, ast.ClassDef) else set(parameters(node.args))
    found: set[str] = set()
    own: set[str] = set()
    for each in own_statements(node.body if isinstance(node.body, list) else []):
        if isinstance(each, ast.Nonlocal):
            own.update(each.names)
        elif isinstance(each, SCOPES):
            found |= outer_writes(each)
    return own | (found - bound - set(use_of(node.body).writes))


class Liveness:
    """For each `if` and loop of a function, the symbols live before and after it.

    A backward data-flow analysis over the statements, iterated to a fixed point for loops. Reading
    a local function counts as reading what its body reads, as it may be called there.
    """

    def __init__(self, body: Sequence[ast.stmt], needed_after: Iterable[str]) -> None:
        self.before: dict[ast.stmt, frozenset[str]] = {}
        self.after: dict[ast.stmt, frozenset[str]] = {}
        self._uses: dict[ast.stmt, Use] = {}
        self._exit = frozenset(needed_after)
        self._closures = _closures(body)
        self._block(body, self._exit, frozenset())

    def use(self, statement: ast.stmt) -> Use:
        """The symbols that a simple statement uses."""
        known = self._uses.get(statement)
        if known is None:
            known = self._uses[statement] = use_of(statement)
        return known

    def reads(self, nodes: ast.AST | Sequence[ast.AST] | None) -> frozenset[str]:
        return self._with_closures(use_of(nodes).reads)

    def _with_closures(self, names: set[str]) -> frozenset[str]:
        if self._closures.keys().isdisjoint(names):
            return frozenset(names)
        found = set(names)
        waiting = [name for name in found if name in self._closures]
        while waiting:
            new = self._closures[waiting.pop()] - found
            found |= new
            waiting += [name for name in new if name in self._closures]
        return frozenset(found)

    def _block(
        self, body: Sequence[ast.stmt], after: frozenset[str], always: frozenset[str]
    ) -> frozenset[str]:
        live = after | always
        for statement in reversed(body):
            live = self._statement(statement, live, always) | always
        return live

    def _statement(
        self, node: ast.stmt, after: frozenset[str], always: frozenset[str]
    ) -> frozenset[str]:
        if isinstance(node, ast.If):
            body = self._block(node.body, after, always)
            before = self.reads(node.test) | body | self._block(node.orelse, after, always)
        elif isinstance(node, ast.While | ast.For):
            before = self._loop(node, after, always)
        elif is_try(node):
            before = self._try(node, after, always)
        elif isinstance(node, ast.With | ast.AsyncWith):
            inner = self._block(node.body, after, always) - _assigned(node.items)
            before = inner | self.reads(node.items)
        elif isinstance(node, ast.Match):
            inner = frozenset().union(
                *(self._block(case.body, after, always) | self.reads(case.guard)
                  for case in node.cases)
            )  # fmt: skip
            before = (
                inner
                | after
                | self.reads(node.subject)
                | self.reads([case.pattern for case in node.cases])
            )
        elif isinstance(node, ast.Raise | ast.Return):
            before = self.reads(node) | self._exit | always
        else:
            use = self.use(node)
            assigned = use.writes.keys() - use.conditional
            before = after - assigned | self._with_closures(use.reads)
        if isinstance(node, ast.If | ast.While | ast.For):
            self.before[node], self.after[node] = before, after
        return before

    def _loop(
        self, node: ast.While | ast.For, after: frozenset[str], always: frozenset[str]
    ) -> frozenset[str]:
        if isinstance(node, ast.While):
            head = self.reads(node.test) | after
            targets: frozenset[str] = frozenset()
            start: frozenset[str] = frozenset()
        else:
            head = after | self.reads(getattr(node, "extra_test", None))
            targets = _assigned([node.target])
            start = self.reads(node.iter) | self.reads(node.target)
        while True:
            wider = head | (self._block(node.body, head, always) - targets)
            if wider == head:
                return head | start
            head = wider

    def _try(self, node: ast.Try, after: frozenset[str], always: frozenset[str]) -> frozenset[str]:
        final = self._block(node.finalbody, after, always)
        caught = always | (final if node.finalbody else frozenset())
        handled: frozenset[str] = frozenset()
        for handler in node.handlers:
            handled |= self._block(handler.body, final, caught) | self.reads(handler.type)
        orelse = self._block(node.orelse, final, caught)
        # An exception may be raised anywhere in the body, so what handlers read is live throughout.
        return self._block(node.body, orelse, caught | handled)


def _assigned(nodes: Sequence[ast.AST]) -> frozenset[str]:
    """Names that code certainly rebinds."""
    use = use_of(nodes)
    return frozenset(use.writes) - use.conditional


def _closures(body: Sequence[ast.stmt]) -> dict[str, set[str]]:
    """The free names of the functions that names are bound to: `def g` and `h = lambda: ...`."""
    found: dict[str, set[str]] = {}
    for node in own_statements(body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.setdefault(node.name, set()).update(free_reads(node))
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            lambdas = [each for each in ast.walk(node.value) if isinstance(each, ast.Lambda)]
            if lambdas:
                reads = found.setdefault(node.targets[0].id, set())
                reads.update(*map(free_reads, lambdas))
    return found


def blocks(node: ast.stmt) -> list[list[ast.stmt]]:
    """The statement lists of a compound statement."""
    lists = [getattr(node, name, None) for name in ("body", "orelse", "finalbody")]
    lists += [each.body for each in getattr(node, "handlers", ())]
    lists += [each.body for each in getattr(node, "cases", ())]
    return [each for each in lists if each]


def own_statements(body: Sequence[ast.stmt]) -> Iterable[ast.stmt]:
    """All statements of a function, excluding those of nested functions and classes."""
    for statement in body:
        yield statement
        if not isinstance(statement, SCOPES):
            for inner in blocks(statement):
                yield from own_statements(inner)


def own_nodes(node: ast.AST) -> Iterable[ast.AST]:
    """A tree's nodes, excluding those of nested functions and classes."""
    yield node
    if isinstance(node, SCOPES):
        return
    for child in ast.iter_child_nodes(node):
        yield from own_nodes(child)
