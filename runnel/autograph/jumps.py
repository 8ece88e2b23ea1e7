"""`break`, `continue` and `return` are lowered to flags, giving blocks a single entry and exit.

    for x in xs:                      do_return = False
        if x > 3:                     for x in xs while not do_return:
            return x          ->          if x > 3:
    return -1                                 do_return = True; retval_ = x
                                      if not do_return:
                                          do_return = True; retval_ = -1

The code after a statement that may jump is guarded by the flag. If one branch of an `if` always
jumps, the rest is moved into the other branch instead: no flag needs to be tested then.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from .analysis import SCOPES, blocks, is_try, own_statements
from .templates import Names, expression, statements

_LOOPS = (ast.For, ast.While)


def _may(body: list[ast.stmt], kinds: tuple[type, ...], through_loops: bool) -> bool:
    """Whether some statements may execute a jump of these kinds that leaves them."""
    for statement in body:
        if isinstance(statement, kinds):
            return True
        if isinstance(statement, SCOPES):
            continue
        inner = blocks(statement)
        if isinstance(statement, _LOOPS) and not through_loops:
            inner = [statement.orelse]
        if any(_may(each, kinds, through_loops) for each in inner):
            return True
    return False


def _always(body: list[ast.stmt], kinds: tuple[type, ...]) -> bool:
    """Whether some statements always end in one of these jumps."""
    for node in body:
        if isinstance(node, kinds):
            return True
        if isinstance(node, ast.If) and _always(node.body, kinds) and _always(node.orelse, kinds):
            return True
        if isinstance(node, ast.With) and _always(node.body, kinds):
            return True
        if is_try(node):
            normal = _always([*node.body, *node.orelse], kinds)
            handled = all(_always(each.body, kinds) for each in node.handlers)
            if _always(node.finalbody, kinds) or (normal and handled):
                return True
        if isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and node.test.value:
            return not _may(node.body, (ast.Break,), through_loops=False)
    return False


def _guarded(
    body: list[ast.stmt],
    kinds: tuple[type, ...],
    through_loops: bool,
    flag: str,
    lower: Callable[[ast.stmt], list[ast.stmt]],
) -> list[ast.stmt]:
    """Replace jumps by `lower` and guard the code after them by the flag."""
    done: list[ast.stmt] = []
    for index, node in enumerate(body):
        if isinstance(node, kinds):
            return done + lower(node)
        rest = body[index + 1 :]
        if not _may([node], kinds, through_loops):
            done.append(node)
            continue
        # A raise also ends the block, so the code after it can be moved safely.
        ends = (*kinds, ast.Raise)
        if rest and isinstance(node, ast.If):
            if _always(node.body, ends):
                node.orelse, rest = [*node.orelse, *rest], []
            elif _always(node.orelse, ends):
                node.body, rest = [*node.body, *rest], []
        again = (kinds, through_loops, flag, lower)
        before = list(getattr(node, "body", []))
        for name in ("body", "orelse", "finalbody"):
            if getattr(node, name, None):
                setattr(node, name, _guarded(getattr(node, name), *again))
        if is_try(node) and node.orelse and _may(before, kinds, through_loops):
            # The `else` of a `try` runs only if its body completed.
            node.orelse = statements(
                "if ag__.not_(flag):\n    rest", node.orelse[0], flag=flag, rest=node.orelse
            )
        for part in (*getattr(node, "handlers", []), *getattr(node, "cases", [])):
            part.body = _guarded(part.body, *again)
        if through_loops and isinstance(node, _LOOPS):
            stop_when(node, flag)
        done.append(node)
        if rest:
            done += statements(
                "if ag__.not_(flag):\n    rest", rest[0], flag=flag, rest=_guarded(rest, *again)
            )
        return done
    return done or [ast.copy_location(ast.Pass(), body[0])]


def stop_when(loop: ast.For | ast.While, flag: str) -> None:
    """Add a flag to the exit condition of a loop."""
    loop.stop_flags = [*getattr(loop, "stop_flags", []), flag]  # type: ignore[union-attr]
    if isinstance(loop, ast.While):
        loop.test = expression(
            "ag__.and_(lambda: ag__.not_(flag), lambda: test)", loop.test, flag=flag, test=loop.test
        )
        return
    test = expression("ag__.not_(flag)", loop.iter, flag=flag)
    earlier = getattr(loop, "extra_test", None)
    if earlier is not None:
        test = expression(
            "ag__.and_(lambda: test, lambda: earlier)", loop.iter, test=test, earlier=earlier
        )
    loop.extra_test = test  # type: ignore[attr-defined]


class LoopJumps(ast.NodeTransformer):
    """Lowers `break`, `continue` and the `else` of loops, innermost loops first."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def _leave(self, node: ast.AST) -> ast.AST:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _leave

    def _loop(self, node: ast.For | ast.While) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        before: list[ast.stmt] = []
        otherwise, node.orelse = node.orelse, []
        place = node.iter if isinstance(node, ast.For) else node.test
        breaks = _may(node.body, (ast.Break,), through_loops=False)
        if breaks or _may(node.body, (ast.Continue,), through_loops=False):
            flag = self._names.new("continue_")
            ended = self._names.new("break_") if breaks else ""

            def lower(jump: ast.stmt) -> list[ast.stmt]:
                text = (
                    "flag = True" if isinstance(jump, ast.Continue) else "ended = True\nflag = True"
                )
                return statements(text, jump, flag=flag, ended=ended)

            body = _guarded(node.body, (ast.Break, ast.Continue), False, flag, lower)
            node.body = statements("flag = False", place, flag=flag) + body
            if breaks:
                before = statements("ended = False", place, ended=ended)
                stop_when(node, ended)
                if otherwise:
                    otherwise = statements(
                        "if ag__.not_(ended):\n    rest", otherwise[0], ended=ended, rest=otherwise
                    )
        return [*before, node, *otherwise]

    visit_For = visit_While = _loop


def may_return(body: list[ast.stmt]) -> bool:
    """Whether a function has a return statement."""
    return _may(body, (ast.Return,), through_loops=True)


def lower_returns(
    body: list[ast.stmt], flag: str, result: str, scope: str
) -> tuple[list[ast.stmt], list[ast.stmt], list[ast.stmt]]:
    """The initial statements, the body without `return`, and the single `return` at the end."""
    if not may_return(body):
        return [], body, []
    returns = [node for node in own_statements(body) if isinstance(node, ast.Return)]
    has_value = any(not _is_none(node.value) for node in returns)
    if has_value and not _always(body, (ast.Return, ast.Raise)):
        # An implicit return has no value, for which staged code has no tensor.
        end = ast.copy_location(ast.Return(None), body[-1])
        end.implicit = True  # type: ignore[attr-defined]
        body = [*body, end]

    def lower(node: ast.stmt) -> list[ast.stmt]:
        assert isinstance(node, ast.Return)
        if getattr(node, "implicit", False) or not has_value:
            text = "flag = True\nresult = ag__.UndefinedReturnValue()"
            return statements(text, node, flag=flag, result=result)
        value = node.value or ast.copy_location(ast.Constant(None), node)
        return statements(_RETURN, node, flag=flag, result=result, value=value)

    first = body[0]
    start = statements(
        "flag = False\nresult = ag__.UndefinedReturnValue()", first, flag=flag, result=result
    )
    text = "return scope.ret(result, flag)"
    last = statements(text, body[-1], scope=scope, result=result, flag=flag)
    return start, _guarded(body, (ast.Return,), True, flag, lower), last


_RETURN = """
try:
    flag = True
    result = value
except:
    flag = False
    raise
"""


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)
