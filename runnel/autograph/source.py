"""Lookup of a function's syntax tree in the file, cell or string that defines it.

The whole file is parsed, once, and the function is found by its position: line numbers are the
user's, indentation needs no fixing, and a lambda inside an expression is found like a method.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import types
from dataclasses import dataclass
from typing import Any

from .errors import InaccessibleSourceCodeError, UnsupportedLanguageElementError

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass
class Source:
    """A function's tree, its file, and the class for name mangling."""

    node: ast.FunctionDef | ast.Lambda
    filename: str
    class_name: str | None


class _File:
    """The functions of one file by the first line number of their code objects."""

    def __init__(self, text: str, filename: str) -> None:
        self.definitions: dict[int, list[tuple[Definition, str | None]]] = {}
        self._collect(ast.parse(text, filename), None)

    def _collect(self, node: ast.AST, class_name: str | None) -> None:
        for child in ast.iter_child_nodes(node):
            inner = child.name if isinstance(child, ast.ClassDef) else class_name
            if isinstance(child, Definition):
                decorators = getattr(child, "decorator_list", [])
                line = decorators[0].lineno if decorators else child.lineno
                self.definitions.setdefault(line, []).append((child, class_name))
            self._collect(child, inner)


_files: dict[str, tuple[int, _File]] = {}
_FILES_KEPT = 8


def _file(code: types.CodeType, module_globals: dict[str, Any]) -> _File:
    filename = code.co_filename
    lines = linecache.getlines(filename, module_globals)
    if not lines:
        raise FileNotFoundError(filename)
    text = "".join(lines)
    known = _files.get(filename)
    if known is None or known[0] != hash(text):
        # Trees are large and needed once per function: caching the last few files suffices.
        while len(_files) >= _FILES_KEPT:
            _files.pop(next(iter(_files)))
        known = _files[filename] = hash(text), _File(text, filename)
    return known[1]


def find(function: types.FunctionType) -> Source:
    """The tree of a function; InaccessibleSourceCodeError if it cannot be found."""
    code = function.__code__
    try:
        definitions = _file(code, function.__globals__).definitions
    except (OSError, SyntaxError) as failure:
        raise InaccessibleSourceCodeError(_no_source(function)) from failure
    candidates = [
        (node, class_name)
        for node, class_name in definitions.get(code.co_firstlineno, [])
        if _fits(node, code, class_name)
    ]
    if len(candidates) > 1:
        candidates = _at_same_place(candidates, code)
    if len(candidates) > 1 and len({ast.dump(node) for node, _ in candidates}) > 1:
        raise UnsupportedLanguageElementError(
            f"several functions with the arguments {_arguments(code)} start in the line "
            f"{code.co_filename}:{code.co_firstlineno}, and Python does not say which is meant: "
            "write them in lines of their own"
        )
    if not candidates:
        raise InaccessibleSourceCodeError(_no_source(function))
    node, class_name = candidates[0]
    if isinstance(node, ast.AsyncFunctionDef):
        raise UnsupportedLanguageElementError("async functions are not supported")
    if inspect.isgeneratorfunction(function):
        raise UnsupportedLanguageElementError("generators are not supported")
    return Source(node, code.co_filename, class_name)


def _no_source(function: types.FunctionType) -> str:
    return (
        f"Unable to locate the source code of {function!r}. Functions defined in the interactive "
        "Python shell or with exec() have none: define them in a .py file or a notebook. If the "
        "function needs no conversion, decorate it with @tf.autograph.experimental.do_not_convert."
    )


def _arguments(code: types.CodeType) -> tuple[str, ...]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_varnames[:count]


def _fits(node: Definition, code: types.CodeType, class_name: str | None) -> bool:
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    if name != code.co_name:
        return False
    given = node.args
    names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    names += [each.arg for each in (given.vararg, given.kwarg) if each is not None]
    return tuple(private(each, class_name) for each in names) == _arguments(code)


def _at_same_place(
    candidates: list[tuple[Definition, str | None]], code: types.CodeType
) -> list[tuple[Definition, str | None]]:
    """The candidates whose text the instructions come from; before Python 3.11, by names."""
    if hasattr(code, "co_positions"):
        places: list[Any] = [
            (line, column, end_line, end_column)
            for line, end_line, column, end_column in code.co_positions()
            if None not in (line, column, end_line, end_column) and (column, end_column) != (0, 0)
        ]
        return [each for each in candidates if places and all(_inside(each[0], *p) for p in places)]
    names = {*code.co_names, *code.co_freevars, *code.co_varnames, *code.co_cellvars}
    constants = [repr(each) for each in code.co_consts if not isinstance(each, types.CodeType)]
    return [each for each in candidates if _uses(each[0], names, constants)]


def _inside(node: Definition, line: int, column: int, end_line: int, end_column: int) -> bool:
    end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
    return (node.lineno, node.col_offset) <= (line, column) and (end_line, end_column) <= end


def _uses(node: Definition, names: set[str], constants: list[str]) -> bool:
    body = node.body if isinstance(node.body, list) else [node.body]
    used: set[str] = set()
    for each in (inner for statement in body for inner in ast.walk(statement)):
        if isinstance(each, ast.Name):
            used.add(each.id)
        elif isinstance(each, ast.Attribute):
            used.add(each.attr)
        elif isinstance(each, ast.Constant) and repr(each.value) not in constants:
            return False
    arguments = {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
    return used | arguments == names | arguments


def private(name: str, class_name: str | None) -> str:
    """The mangled name: `__name` inside a class is `_Class__name`."""
    stripped = (class_name or "").lstrip("_")
    if not stripped or not name.startswith("__") or name.endswith("__"):
        return name
    return f"_{stripped}{name}"
