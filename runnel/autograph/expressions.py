"""Expressions: names, calls, `and`/`or`/`not`, comparison chains, conditional expressions."""

from __future__ import annotations

import ast
from typing import Any

from .analysis import use_of
from .options import Feature
from .source import private
from .templates import expression, is_operator, place, statements

# Functions that inspect the caller's frame; print needs no conversion.
_CALLED_IN_PLACE = frozenset(
    {"breakpoint", "dir", "eval", "exec", "globals", "locals", "print", "super", "vars"}
)
_SIGNS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip


class Expressions(ast.NodeTransformer):
    """Converts the expressions of one function; `nested` converts nested functions."""

    def __init__(
        self,
        scope: str,
        features: frozenset[Feature],
        class_name: str | None,
        first_argument: str | None,
        nested: Any,
    ) -> None:
        self._scope = scope
        self._features = features
        self._class_name = class_name
        self._first_argument = first_argument
        self._nested = nested

    def _private(self, name: str) -> str:
        return private(name, self._class_name)

    # Names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        node.id = self._private(node.id)
        if not isinstance(node.ctx, ast.Load) or node.id in ("super", "__class__"):
            return node
        return expression("ag__.ld(name)", node, name=node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        node.attr = self._private(node.attr)
        self.generic_visit(node)
        return node

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> ast.stmt:
        node.names = [self._private(each) for each in node.names]
        return node

    visit_Nonlocal = visit_Global

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self._private(node.arg)
        node.annotation = None
        return node

    # Calls

    def visit_keyword(self, node: ast.keyword) -> ast.keyword:
        node.arg = node.arg and self._private(node.arg)
        node.value = self.visit(node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        called = node.func.id if isinstance(node.func, ast.Name) else None
        if called == "super" and not node.args and not node.keywords:
            if self._first_argument is None:
                return node
            # Parts of the body are outlined into functions, in which super() finds no self.
            return expression("super(__class__, first)", node, first=self._first_argument)
        self.generic_visit(node)
        if called in _CALLED_IN_PLACE:
            return node
        arguments: ast.expr = ast.Tuple(node.args, ast.Load())
        keywords: ast.expr = ast.Constant(None)
        if node.keywords:
            keywords = ast.Call(ast.Name("dict", ast.Load()), [], node.keywords)
        return expression(
            "ag__.converted_call(function, arguments, keywords, scope)",
            node,
            function=node.func,
            arguments=arguments,
            keywords=keywords,
            scope=self._scope,
        )

    # Boolean operators.

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        if _binds_names(node):
            return node
        operator = "and_" if isinstance(node.op, ast.And) else "or_"
        result, *others = node.values
        for other in others:
            result = expression(
                f"ag__.{operator}(lambda: left, lambda: right)", node, left=result, right=other
            )
        return result

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Not):
            return node
        return expression("ag__.not_(operand)", node, operand=node.operand)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        text = ast.unparse(node.test)
        self.generic_visit(node)
        if _binds_names(node):
            return node
        return expression(
            "ag__.if_exp(test, lambda: body, lambda: orelse, text)",
            node,
            test=node.test,
            body=node.body,
            orelse=node.orelse,
            text=ast.Constant(text),
        )

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        simple = all(_is_simple(each) for each in node.comparators[:-1])
        self.generic_visit(node)
        if len(node.ops) == 1:
            return self._comparison(node, node.left, node.ops[0], node.comparators[0])
        if _binds_names(node):
            return node
        if not simple:
            return self._chain(node)
        result: ast.expr | None = None
        left = node.left
        for sign, right in zip(node.ops, node.comparators, strict=True):
            part = self._comparison(node, left, sign, right)
            result = part if result is None else expression(
                "ag__.and_(lambda: result, lambda: part)", node, result=result, part=part
            )  # fmt: skip
            left = right
        assert result is not None
        return result

    def _comparison(
        self, node: ast.Compare, left: ast.expr, sign: ast.cmpop, right: ast.expr
    ) -> ast.expr:
        if Feature.EQUALITY_OPERATORS in self._features and isinstance(sign, ast.Eq | ast.NotEq):
            name = "eq" if isinstance(sign, ast.Eq) else "not_eq"
            return expression(f"ag__.{name}(left, right)", node, left=left, right=right)
        return place(ast.Compare(left, [sign], [right]), node)

    def _chain(self, node: ast.Compare) -> ast.expr:
        """A comparison chain whose middle operands are calls, each evaluated once."""
        parts = [
            expression(
                "(sign, lambda: right)", node, sign=ast.Constant(_SIGNS[type(sign)]), right=r
            )
            for sign, r in zip(node.ops, node.comparators, strict=True)
        ]
        call = expression("ag__.compare(left)", node, left=node.left)
        assert isinstance(call, ast.Call)
        call.args += parts
        return call

    # Nested functions.

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        self.generic_visit(node)
        return expression("ag__.autograph_artifact(function)", node, function=node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return self._nested(node, self)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        return self._nested(node, self)

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        return node

    # Simple statements.

    def visit_match_case(self, node: ast.match_case) -> Any:
        node.guard = node.guard and self.visit(node.guard)
        node.body = self.block(node.body)
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        node.body = self.block(node.body)
        return node

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of a block, converted."""
        done: list[ast.stmt] = []
        for statement in body:
            result = self.visit(statement)
            done += result if isinstance(result, list) else [result]
        return done

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node
        loaded = statements("name = ag__.ld(name)", node, name=node.target.id)
        return [*loaded, node]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        target, value = self.visit(node.target), self.visit(node.value)
        return ast.copy_location(ast.Assign([target], value), node)

    def visit_Delete(self, node: ast.Delete) -> Any:
        done: list[ast.stmt] = []
        for target in node.targets:
            target = self.visit(target)
            if isinstance(target, ast.Name):
                text = ast.Constant(target.id)
                done += statements("x = ag__.Undefined(text)", node, x=target.id, text=text)
            else:
                done.append(ast.copy_location(ast.Delete([target]), node))
        return done

    def visit_Assert(self, node: ast.Assert) -> Any:
        self.generic_visit(node)
        if not __debug__:
            return ast.copy_location(ast.Pass(), node)
        message = node.msg or ast.Constant("Assertion error")
        text = "ag__.assert_stmt(test, lambda: message)"
        return statements(text, node, test=node.test, message=message)

    def visit_Expr(self, node: ast.Expr) -> Any:
        value = node.value
        self.generic_visit(node)
        if (
            Feature.LISTS in self._features
            and isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and value.func.attr == "append"
            and is_operator(value.func.value, "ld")
            and len(value.args) == 1
        ):
            name = value.func.value.args[0].id  # type: ignore[attr-defined]
            text = "name = ag__.list_append(ag__.ld(name), item)"
            return statements(text, node, name=name, item=value.args[0])
        return node


def _binds_names(node: ast.expr) -> bool:
    """Whether an expression contains an assignment (`:=`), which cannot be moved into a lambda."""
    return bool(use_of(node).writes)


def _is_simple(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name | ast.Constant)
