"""Random small Python functions of integers, as source text, and functions made from text."""

import itertools
import linecache

from hypothesis import strategies as st

_numbers = itertools.count()
NAMES = ("a", "b", "c", "x", "y")
VARIABLES = (*NAMES, "box['v']", "holder.w")
START = """\
class Holder:
    pass

def helper(u, v):
    if u < v:
        return u
    return v

def program(a, b, c, zero):
    def bump():
        nonlocal x
        if x > 5:
            x = (x * 2 + zero) % 101

    x = a + 1
    y = b * 2
    box = {"v": c + 3}
    holder = Holder()
    holder.w = a + 4
"""
END = "return a + b * 3 + c * 5 + x * 7 + y * 11 + box['v'] * 13 + holder.w * 17"


def function_from(text, **names):
    """The function `program` of some source, which Python can show as if it came from a file."""
    filename = f"<program {next(_numbers)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec"), names)
    return names["program"]


@st.composite
def expressions(draw, depth=2):
    kind = draw(st.integers(0, 7 if depth else 1))
    if kind == 0:
        return str(draw(st.integers(-5, 9)))
    if kind == 1:
        return draw(st.sampled_from(VARIABLES))
    left, right = draw(expressions(depth - 1)), draw(expressions(depth - 1))
    if kind == 5:
        return f"({left} if {draw(conditions(depth - 1))} else {right})"
    if kind == 6:
        return f"abs({left})"
    if kind == 7:
        return f"helper({left}, {right})"
    return f"({left} {('+', '-', '*')[kind - 2]} {right})"


@st.composite
def conditions(draw, depth=1):
    left, right = draw(st.sampled_from(VARIABLES)), draw(expressions(0))
    sign = draw(st.sampled_from(["<", "<=", ">", ">=", "==", "!="]))
    kind = draw(st.integers(0, 6))
    simple = f"({left} {sign} {right})"
    if not depth or kind < 3:
        return simple
    other = draw(conditions(depth - 1))
    chain = f"({right} < {left} <= {draw(st.sampled_from(VARIABLES))})"
    return [f"({simple} and {other})", f"({simple} or {other})", f"(not {other})", chain][kind - 3]


def _indented(lines):
    return [f"    {line}" for line in lines]


@st.composite
def programs(draw, beyond=True):
    """A function of three integers and 0; all its variables stay small, all its loops end.

    The 0 is added to what variables are given, so that tensors stay tensors. With `beyond`, there
    is also what TensorFlow cannot stage: returns from anywhere, the `else` of loops, calls that
    change variables.
    """
    loops = itertools.count()

    def block(depth, in_loop):
        lines = []
        for _ in range(draw(st.integers(1, 3))):
            lines += statement(depth, in_loop)
        return lines

    def statement(depth, in_loop):
        kinds = ["assign", "assign", "update", "swap"]
        if depth:
            kinds += ["if", "if", "while", "for", "local", "try"]
        if in_loop:
            kinds += ["break", "continue"]
        if beyond:
            kinds += ["return", "bump"]
        kind = draw(st.sampled_from(kinds))
        name = draw(st.sampled_from(VARIABLES))
        if kind == "assign":
            return [f"{name} = ({draw(expressions())} + zero) % 101"]
        if kind == "update":
            return [f"{name} += {draw(expressions(0))}", f"{name} %= 101"]
        if kind == "swap":
            return [f"{name}, x = x, {name}"]
        if kind == "bump":
            return ["bump()"]
        if kind in ("break", "continue"):
            return [f"if {draw(conditions())}:", f"    {kind}"]
        if kind == "return":
            return [f"if {draw(conditions())}:", f"    return {name}"]
        if kind == "local":
            # A name that only one branch has, used there alone.
            local = f"t{next(loops)}"
            inner = [f"{local} = {draw(expressions())} + zero", f"{name} = ({local} * 3) % 101"]
            return [f"if {draw(conditions())}:", *_indented(inner)]
        body = _indented(block(depth - 1, in_loop or kind in ("while", "for")))
        if kind == "try":
            return ["try:", *body, "finally:", f"    {name} = ({name} + 1) % 101"]
        if kind == "if":
            lines = [f"if {draw(conditions())}:", *body]
            if draw(st.booleans()):
                lines += [f"elif {draw(conditions())}:", *_indented(block(depth - 1, in_loop))]
            if draw(st.booleans()):
                lines += ["else:", *_indented(block(depth - 1, in_loop))]
            return lines
        otherwise = []
        if beyond and draw(st.booleans()):
            otherwise = ["else:", *_indented(block(depth - 1, in_loop))]
        counter = f"i{next(loops)}"
        if kind == "for":
            return [f"for {counter} in range({name} % 4):", *body, *otherwise]
        test = f"{counter} < {name} % 5"
        lines = [f"{counter} = 0", f"while {test}:", f"    {counter} += 1", *body]
        return [*lines, *otherwise]

    lines = _indented([*block(2, False), END])
    return START + "".join(f"{line}\n" for line in lines)
