"""Conversion of a function: the passes in order, and the cache."""

from __future__ import annotations

import ast
import types
import weakref
from dataclasses import dataclass

from . import source
from .analysis import own_nodes, parameters
from .control_flow import ControlFlow
from .errors import ConversionError, named_for_user
from .expressions import Expressions
from .jumps import LoopJumps, lower_returns, may_return
from .options import ConversionOptions
from .templates import Names, copied, expression, place, statements
from .verbosity import Verbosity


@dataclass
class Converted:
    """A converted code object, for all function objects that have the same source."""

    tree: ast.FunctionDef | ast.Assign
    name: str
    code: types.CodeType

    def text(self) -> str:
        """The converted source."""
        return ast.unparse(self.tree) + "\n"

    def of(self, function: types.FunctionType) -> types.FunctionType:
        """A function with the globals, defaults and closure of the original one."""
        from . import operators

        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        cells["ag__"] = types.CellType(operators)
        closure = tuple(cells.get(name) or types.CellType() for name in self.code.co_freevars)
        made = types.FunctionType(
            self.code, function.__globals__, self.name, function.__defaults__, closure
        )
        made.__kwdefaults__ = function.__kwdefaults__
        made.__doc__ = function.__doc__
        made.__module__ = function.__module__
        made.ag_artifact = True  # type: ignore[attr-defined]
        return made


# Code objects compare equal if their instructions do, whatever their files.
_Known = dict[tuple[str, ConversionOptions], Converted]
_cache: weakref.WeakKeyDictionary[types.CodeType, _Known] = weakref.WeakKeyDictionary()


def convert_code(function: types.FunctionType, options: ConversionOptions) -> Converted:
    """The converted form of a function's code, cached."""
    code = function.__code__
    known = _cache.setdefault(code, {})
    key = code.co_filename, options
    converted = known.get(key)
    if converted is None:
        converted = known[key] = _convert(function, options)
    return converted


def _convert(function: types.FunctionType, options: ConversionOptions) -> Converted:
    found = source.find(function)
    converter = _Converter(found, options, function.__code__.co_freevars)
    tree = converter.top(copied(found.node))
    name = "tf__lam" if isinstance(tree, ast.Assign) else tree.name
    free = dict.fromkeys(["ag__", *function.__code__.co_freevars])
    factory = ast.parse("def outer():\n    " + " = ".join(free) + " = None\n")
    factory.body[0].body.append(tree)  # type: ignore[attr-defined]
    ast.fix_missing_locations(factory)
    try:
        module = compile(factory, found.filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as failure:
        place_ = f"{found.filename}:{found.node.lineno}"
        raise ConversionError(f"{place_}: {type(failure).__name__}: {failure}") from failure
    code = _code_named(_code_named(module, "outer"), name)
    converted = Converted(tree, name, named_for_user(code, function.__name__))
    Verbosity.tell(1, f"Converted {function!r}")
    if Verbosity.level >= 3:
        Verbosity.tell(3, converted.text())
    return converted


def _code_named(code: types.CodeType, name: str) -> types.CodeType:
    names = (name, "<lambda>")
    inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
    return next(each for each in inner if each.co_name in names)


class _Converter:
    """Converts a function and its nested functions."""

    def __init__(
        self, found: source.Source, options: ConversionOptions, free: tuple[str, ...]
    ) -> None:
        self._options = options
        self._class_name = found.class_name
        taken = {getattr(each, "id", getattr(each, "arg", "")) for each in ast.walk(found.node)}
        self._names = Names({*taken, *free, "ag__"})
        self._has_class = "__class__" in free

    def top(self, node: ast.FunctionDef | ast.Lambda) -> ast.FunctionDef | ast.Assign:
        _forget_defaults(node.args)
        text = self._options.source()
        if isinstance(node, ast.Lambda):
            return self._lambda(node, text)
        node.decorator_list = []
        node.returns = None
        self._function(node, text, first_argument=self._first(node))
        node.name = self._names.new(f"tf__{node.name}")
        return node

    def _first(self, node: ast.FunctionDef) -> str | None:
        names = parameters(node.args)
        return names[0] if self._has_class and names else None

    def _lambda(self, node: ast.Lambda, options: str) -> ast.Assign:
        scope = self._names.new("lscope")
        expressions = self._expressions(scope, None)
        expressions.visit(node.args)
        body = expressions.visit(node.body)
        node.body = expression(
            "ag__.with_function_scope(lambda scope: body, name, options)",
            node,
            scope=scope,
            body=body,
            name=ast.Constant(scope),
            options=ast.parse(options, mode="eval").body,
        )
        return place(ast.Assign([ast.Name("tf__lam", ast.Store())], node), node)

    def _expressions(self, scope: str, first_argument: str | None) -> Expressions:
        features = self._options.features
        return Expressions(scope, features, self._class_name, first_argument, self._nested)

    def _nested(self, node: ast.FunctionDef | ast.AsyncFunctionDef, outer: Expressions) -> ast.stmt:
        node.name = source.private(node.name, self._class_name)
        if isinstance(node, ast.AsyncFunctionDef) or _is_generator(node) or _is_left_alone(node):
            return node
        node.args.defaults = [outer.visit(each) for each in node.args.defaults]
        node.args.kw_defaults = [each and outer.visit(each) for each in node.args.kw_defaults]
        node.returns = None
        defaults, node.args.defaults = node.args.defaults, []
        keyword_defaults, node.args.kw_defaults = node.args.kw_defaults, []
        self._function(node, "ag__.STD", first_argument=None)
        node.args.defaults, node.args.kw_defaults = defaults, keyword_defaults
        # Innermost, so that other decorators receive the converted function.
        node.decorator_list.append(expression("ag__.autograph_artifact", node))
        return node

    def _function(self, node: ast.FunctionDef, options: str, first_argument: str | None) -> None:
        scope = self._names.new("fscope")
        flag, result = "", ""
        if may_return(node.body):
            flag, result = self._names.new("do_return"), self._names.new("retval_")
        name = node.name
        expressions = self._expressions(scope, first_argument)
        expressions.visit(node.args)
        docstring = [node.body[0]] if ast.get_docstring(node, clean=False) is not None else []
        body = node.body[len(docstring) :] or [ast.copy_location(ast.Pass(), node)]
        body = expressions.block(body)
        holder = ast.Module(body, [])
        LoopJumps(self._names).visit(holder)
        start, body, end = lower_returns(holder.body, flag, result, scope)
        flow = ControlFlow([*start, *body], self._names, parameters(node.args), end)
        node.body = docstring + statements(
            f"with ag__.FunctionScope(name, scope_name, {options}) as scope:\n    body",
            node.body[0] if node.body else node,
            name=ast.Constant(name),
            scope_name=ast.Constant(scope),
            scope=scope,
            body=[*flow.converted(), *end],
        )


def _forget_defaults(arguments: ast.arguments) -> None:
    """Defaults are values of the function object; the code only needs their number."""
    arguments.defaults = [ast.copy_location(ast.Constant(None), d) for d in arguments.defaults]
    arguments.kw_defaults = [
        each and ast.copy_location(ast.Constant(None), each) for each in arguments.kw_defaults
    ]


def _is_generator(node: ast.FunctionDef) -> bool:
    inner = (each for statement in node.body for each in own_nodes(statement))
    return any(isinstance(each, ast.Yield | ast.YieldFrom) for each in inner)


def _is_left_alone(node: ast.FunctionDef) -> bool:
    """Whether a decorator excludes a nested function from conversion."""
    return any("do_not_convert" in ast.unparse(each) for each in node.decorator_list)
