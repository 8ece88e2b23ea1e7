"""Syntax trees from text templates, and names that do not collide with the user's."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable
from typing import Any, TypeVar

_PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")
Node = TypeVar("Node", bound=ast.AST)


class Names:
    """Generates unique names: `base`, then `base_1`, `base_2`, ..., skipping those in use."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    def __contains__(self, name: str) -> bool:
        return name in self._taken

    def new(self, base: str) -> str:
        name, count = base, 0
        while name in self._taken:
            count += 1
            name = f"{base}_{count}"
        self._taken.add(name)
        return name


class _Builder:
    """Instantiates a template: substitutes names and sets source locations."""

    def __init__(self, parts: dict[str, Any], like: ast.AST) -> None:
        self._parts = parts
        self._place = {name: getattr(like, name) for name in _PLACE if hasattr(like, name)}

    def build(self, node: Any) -> Any:
        if isinstance(node, list):
            return [each for item in node for each in self._items(item)]
        if not isinstance(node, ast.AST):
            return node
        kind = type(node)
        if isinstance(node, ast.Name) and node.id in self._parts:
            part = self._parts[node.id]
            if not isinstance(part, str):
                return self.placed(part)
            return self._made(ast.Name, {"id": part, "ctx": node.ctx})
        fields = {name: self.build(getattr(node, name)) for name in node._fields}
        for name in ("name", "arg"):
            text = fields.get(name)
            if kind in (ast.FunctionDef, ast.arg) and text in self._parts:
                fields[name] = self._parts[text]
        return self._made(kind, fields)

    def _items(self, node: Any) -> list[Any]:
        if type(node) is ast.Expr and type(node.value) is ast.Name:
            part = self._parts.get(node.value.id)
            if isinstance(part, list):
                return [self.placed(each) for each in part]
        return [self.build(node)]

    def _made(self, kind: type[ast.AST], fields: dict[str, Any]) -> ast.AST:
        return kind(**fields, **self._place) if "lineno" in kind._attributes else kind(**fields)

    def placed(self, node: Any) -> Any:
        """Set the location of a node without one; a node that has one is complete."""
        if self._place and not hasattr(node, "lineno"):
            if "lineno" in node._attributes:
                for name, value in self._place.items():
                    setattr(node, name, value)
            for child in ast.iter_child_nodes(node):
                self.placed(child)
        return node


@functools.lru_cache(maxsize=256)
def _parsed(text: str) -> list[ast.stmt]:
    return ast.parse(text).body


def statements(text: str, like: ast.AST, /, **parts: Any) -> list[ast.stmt]:
    """Statements in which the names of `parts` are replaced by names, expressions or statements.

    `like` is the user's code that they replace, whose source location they get.
    """
    built: list[ast.stmt] = _Builder(parts, like).build(_parsed(text))
    return built


def expression(text: str, like: ast.AST, /, **parts: Any) -> ast.expr:
    """An expression in which the names of `parts` are replaced."""
    (statement,) = statements(f"({text})", like, **parts)
    assert isinstance(statement, ast.Expr)
    return statement.value


def copied(node: Node) -> Node:
    """A deep copy of a tree."""
    made: Node = _copied(node)
    return made


def _copied(node: Any) -> Any:
    if isinstance(node, list):
        return [_copied(each) for each in node]
    if not isinstance(node, ast.AST):
        return node
    kind = type(node)
    # Contexts and operators have no fields: all trees use the same instances.
    if not kind._fields:
        return node
    made = kind.__new__(kind)
    made.__dict__.update({name: _copied(value) for name, value in node.__dict__.items()})
    return made


def place(node: Node, like: ast.AST) -> Node:
    """Give all nodes of a tree without a source location that of another node."""
    placed: Node = _Builder({}, like).placed(node)
    return placed


def is_operator(node: ast.AST, name: str) -> bool:
    """Whether a tree is a call of `ag__.name`."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == name
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "ag__"
    )


def tuple_of(items: list[ast.expr], context: ast.expr_context | None = None) -> ast.Tuple:
    return ast.Tuple(items, context or ast.Load())
