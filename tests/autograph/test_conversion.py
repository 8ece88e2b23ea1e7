"""Converted functions do what Python does, as long as no tensor decides."""

import contextlib
import functools
import logging
import sys

import numpy as np
import pytest

import runnel as tf
from runnel.autograph import convert

TOTAL = 0


def converted(function):
    made = tf.autograph.to_graph(function)
    assert made is not function
    return made


def same(function, *arguments):
    """The converted function gives the same value or exception."""
    try:
        expected = function(*arguments)
    except Exception as error:
        with pytest.raises(type(error)):
            converted(function)(*arguments)
        return
    assert converted(function)(*arguments) == expected


def test_loops_with_else():
    def find(items, wanted):
        for i, item in enumerate(items):
            if item == wanted:
                result = i
                break
        else:
            result = -1
        return result

    def halve(n):
        steps = 0
        while n > 1:
            if n % 2:
                break
            n //= 2
            steps += 1
        else:
            return "even", steps
        return "odd", steps

    for wanted in (1, 3, 9):
        same(find, [1, 2, 3], wanted)
    for n in (8, 12, 1):
        same(halve, n)


def test_try_and_with():
    order = []

    @contextlib.contextmanager
    def note(name):
        order.append(f"enter {name}")
        try:
            yield name
        finally:
            order.append(f"exit {name}")

    def run(divisor):
        order.clear()
        with note("a") as a, note("b"):
            try:
                value = 6 // divisor
                if value == 3:
                    return "returned", a, tuple(order)
            except ZeroDivisionError as error:
                return type(error).__name__
            else:
                order.append("else")
            finally:
                order.append("finally")
        return tuple(order)

    for divisor in (0, 1, 2):
        same(run, divisor)
        assert order[-1] == "exit a"


def test_exception_in_return_is_handled():
    def careful(x):
        try:
            return 1 // x
        except ZeroDivisionError:
            x = 5
        return x

    same(careful, 0)
    same(careful, 1)


def test_match_statement():
    def describe(value):
        for each in value:
            match each:
                case 0:
                    continue
                case {"name": name, **rest} if rest:
                    return name, rest
                case [first, *_]:
                    result = first
                    break
                case _:
                    result = each
        return result

    same(describe, [0, [7, 8], 9])
    same(describe, [5, {"name": 1, "b": 2}])
    same(describe, [5, 0])


def test_names_that_may_be_unbound():
    def maybe(flag):
        try:
            if flag:
                y = 1
            else:
                raise ValueError
        except ValueError:
            pass
        if not flag:
            y = 2
        return y

    def never(flag):
        if flag:
            z = 1
        return z

    same(maybe, True)
    same(maybe, False)
    same(never, True)
    with pytest.raises(UnboundLocalError, match="'z' is used before assignment"):
        converted(never)(False)


def test_global_and_nonlocal():
    def count(n):
        global TOTAL
        TOTAL = 0
        parity = "even"

        def flip():
            nonlocal parity
            if parity == "even":
                parity = "odd"
            else:
                parity = "even"

        for _ in range(n):
            TOTAL += 1
            flip()
        return parity, TOTAL

    same(count, 3)
    assert TOTAL == 3


def test_closure_cells_are_shared():
    state = 0

    def step(by):
        nonlocal state
        if by > 0:
            state += by
        return state

    assert converted(step)(2) == 2
    assert step(0) == 2 == state


def test_comprehensions_lambdas_and_walrus():
    def compute(items):
        f = lambda v, factor=2: v * factor if v > 1 else -v  # noqa: E731
        done = [f(v) for v in items if v and not v > 2]
        if (n := len(done)) > 1 and n < 10:
            done.append(n)
        return done, {k: f(k, 3) for k in items}, sum(v for v in items if 0 < v <= 2)

    same(compute, [0, 1, 2, 3])
    same(compute, [])


def test_short_circuit_values():
    def logic(a, b):
        return a and b, a or b, not a, 0 < a < b, a if b else None

    for a in (0, 1, "", "x", [1]):
        for b in (0, 2, None):
            with contextlib.suppress(TypeError):
                same(logic, a, b)


def test_chain_computes_each_operand_once():
    calls = []

    def noted(value):
        calls.append(value)
        return value

    def chain(a, b, c):
        return noted(a) < noted(b) < noted(c)

    assert converted(chain)(1, 2, 3) is True
    assert converted(chain)(2, 1, 3) is False
    assert calls == [1, 2, 3, 2, 1]


def test_arguments_and_defaults():
    def f(a, /, b=2, *rest, c=[], **more):  # noqa: B006
        for each in rest:
            c.append(each)
        return a, b, tuple(c), sorted(more.items())

    made = converted(f)
    assert made(1) == f(1)
    assert made(1, 5, 6, c=[7], d=8) == (1, 5, (7, 6), [("d", 8)])
    with pytest.raises(TypeError, match="missing 1 required"):
        made()


class Base:
    def scale(self, x):
        return x * self.factor


class Derived(Base):
    factor = 3
    __hidden = 10

    def scale(self, x):
        if x > 0:
            return super().scale(x) + self.__hidden
        return self.__class__.__name__

    @property
    def doubled(self):
        return 2 * self.factor

    @classmethod
    def make(cls, factor):
        made = cls()
        if factor:
            made.factor = factor
        return made


def test_methods():
    same(Derived().scale, 2)
    same(Derived().scale, -2)
    assert converted(Derived.scale)(Derived(), 2) == 16

    def use(factor):
        made = Derived.make(factor)
        return made.scale(4) + made.doubled

    same(use, 0)
    same(use, 5)


def test_recursion_and_partial():
    def power(base, n):
        if n == 0:
            return 1
        return base * functools.partial(power, base)(n - 1)

    same(power, 3, 4)


def test_calls_are_converted_in_turn():
    @tf.function
    def outer(x):
        return sum(map(_absolute, [x, x - 5])) + _Absolute()(x - 7)

    assert outer(tf.constant(3)).numpy() == 3 + 2 + 4


def _absolute(x):
    if x < 0:
        x = -x
    return x


class _Absolute:
    def __call__(self, x):
        if x < 0:
            x = -x
        return x


def test_what_is_not_converted():
    @tf.autograph.experimental.do_not_convert
    def plain(x):
        return "yes" if x > 0 else "no"

    assert plain(1) == "yes"
    assert plain.__name__ == "plain"
    assert convert(plain) is plain
    assert convert(len) is len

    @tf.function
    def calls_it(x):
        plain(x)
        return x

    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        calls_it(tf.constant(1))

    @tf.function
    def calls_numpy(x):
        return x + np.mean(np.ones([3]), dtype=np.float32)

    assert calls_numpy(tf.constant(1.0)).numpy() == 2.0


def test_generators_and_coroutines_inside_stay(caplog):
    def total(n):
        def numbers():
            i = 0
            while i < n:
                yield i
                i += 1

        async def later():
            return n

        later().close()
        return sum(numbers())

    same(total, 4)


def test_without_source(caplog):
    names = {}
    exec("def shown(x):\n    return x + 1\ndef shown_too(x):\n    return x if x > 0 else -x", names)
    assert tf.function(names["shown"])(tf.constant(1)).numpy() == 2
    assert tf.function(names["shown"])(tf.constant([1])).numpy() == [2]
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(names["shown_too"])(tf.constant(1))
    told = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
    assert len(told) == 2
    assert "AutoGraph could not transform <function shown at" in told[0]
    assert "and will run it as-is.\nCause: Unable to locate the source code" in told[0]
    assert "do_not_convert" in told[0]


def test_the_users_line_is_in_the_message():
    @tf.function
    def outer(x):
        return _fails(x)

    with pytest.raises(ValueError) as caught:
        outer(tf.constant(1))
    lines = str(caught.value).splitlines()
    assert lines[0] == "in user code:"
    assert lines[2].startswith(f'    File "{__file__}", line ') and lines[2].endswith("in outer  *")
    assert lines[3] == "        return _fails(x)"
    assert lines[4].endswith("in _fails  *")
    assert lines[5].strip() == 'raise ValueError("too bad")'
    assert lines[7] == "    ValueError: too bad"
    places = [
        (entry.path.name if hasattr(entry.path, "name") else entry.path, entry.lineno)
        for entry in caught.traceback
    ]
    assert any(str(name).endswith("test_conversion.py") for name, _ in places)


def _fails(x):
    for _ in tf.range(x):
        if x > 0:
            raise ValueError("too bad")
    return x


def test_key_errors_keep_their_class():
    @tf.function
    def lookup(x):
        return {}["k"]

    with pytest.raises(KeyError, match="in user code"):
        lookup(tf.constant(1))


def test_own_exceptions_pass_unchanged():
    class Special(Exception):
        def __init__(self, a, b):
            self.pair = a, b

    @tf.function
    def fails(x):
        raise Special(1, 2)

    with pytest.raises(Special) as caught:
        fails(tf.constant(1))
    assert caught.value.pair == (1, 2)


def test_python_traceback_points_to_the_line():
    def fails(x):
        y = x
        if x:
            y = 1 // (x - 1)
        return y

    with pytest.raises(ZeroDivisionError):
        converted(fails)(1)
    try:
        converted(fails)(1)
    except ZeroDivisionError:
        trace = sys.exc_info()[2]
    while trace.tb_next:
        trace = trace.tb_next
    assert trace.tb_frame.f_code.co_filename == __file__
    assert trace.tb_lineno == fails.__code__.co_firstlineno + 3


def test_verbosity_tells_conversions(capsys):
    def quiet(x):
        return x

    def loud(x):
        return x

    converted(quiet)
    tf.autograph.set_verbosity(3, alsologtostdout=True)
    try:
        converted(loud)
    finally:
        tf.autograph.set_verbosity(0)
    shown = capsys.readouterr().out
    assert "loud" in shown and "def tf__loud" in shown
    assert "quiet" not in shown


def test_trace_prints_while_tracing(capsys):
    @tf.function
    def f(x):
        tf.autograph.trace("tracing", x.dtype.name)
        return x

    f(tf.constant(1))
    f(tf.constant(2))
    assert capsys.readouterr().out == "tracing int32\n"
