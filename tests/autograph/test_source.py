"""Finding the text of functions, whatever stands around them."""

import ast
import functools

import pytest
from programs import function_from

import runnel as tf
from runnel.autograph import source
from runnel.autograph.errors import ConversionError, UnsupportedLanguageElementError


def text_of(function):
    return ast.unparse(source.find(function).node)


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


@decorated
@decorated
def with_decorators(
    x,
):
    """A docstring
    with less indentation.
    """
    return x


def test_functions_with_decorators():
    inner = with_decorators.__wrapped__.__wrapped__
    assert text_of(inner).startswith("@decorated\n@decorated\ndef with_decorators(x):")
    assert text_of(with_decorators).startswith("@functools.wraps(function)\ndef wrapper(*args)")
    assert tf.autograph.to_graph(with_decorators)(3) == 3


def test_lambdas_in_one_line():
    first, second = (lambda x: x + 1), (lambda x: x * 2)
    pair = [lambda v: v and 1, lambda v: v or 2]
    assert text_of(first) == "lambda x: x + 1"
    assert text_of(second) == "lambda x: x * 2"
    assert [text_of(each) for each in pair] == ["lambda v: v and 1", "lambda v: v or 2"]
    assert tf.autograph.to_graph(pair[1])(0) == 2


# fmt: off
def test_lambdas_over_several_lines():
    functions = dict(
        one=lambda x: (
            x
            + 1
        ), other=lambda x:
            x * 2,
        two=lambda y: [
            2,
"""text
in several lines"""],
    )
    assert text_of(functions["one"]) == "lambda x: x + 1"
    assert text_of(functions["other"]) == "lambda x: x * 2"
    assert text_of(functions["two"]) == "lambda y: [2, 'text\\nin several lines']"
    assert tf.autograph.to_graph(functions["two"])(1) == [2, "text\nin several lines"]
# fmt: on


def test_lambda_inside_lambda():
    outer = lambda x: lambda y: x + y  # noqa: E731
    assert text_of(outer) == "lambda x: lambda y: x + y"
    assert text_of(outer(1)) == "lambda y: x + y"
    assert tf.autograph.to_graph(outer(1))(2) == 3


def test_private_names_belong_to_their_class():
    class _Safe:
        def __init__(self, __code):
            self.__code = __code

        def open(self, __guess):
            if __guess == self.__code:
                return "open"
            return "shut"

    assert tf.autograph.to_graph(_Safe(5).open)(5) == "open"
    assert tf.autograph.to_graph(_Safe(5).open)(6) == "shut"
    assert source.private("__x", "_Safe") == "_Safe__x"
    assert source.private("__x__", "Safe") == "__x__"
    assert source.private("__x", None) == "__x"


def test_same_text_in_two_files():
    text = "def program(x):\n    if x:\n        raise ValueError(x)\n    return x\n"
    one, two = function_from(text), function_from(text)
    for function in (one, two):
        with pytest.raises(ValueError) as caught:
            tf.autograph.to_graph(function)(1)
        files = {entry.frame.code.raw.co_filename for entry in caught.traceback}
        assert function.__code__.co_filename in files


def test_each_closure_has_its_own_values():
    def adder(n):
        def add(x):
            if x > 0:
                return x + n
            return n

        return add

    assert [tf.autograph.to_graph(adder(n))(1) for n in (1, 2, 3)] == [2, 3, 4]


def test_what_has_no_source():
    names = {}
    exec("def unseen(x):\n    return x", names)
    with pytest.raises(ConversionError, match="Unable to locate the source code"):
        tf.autograph.to_graph(names["unseen"])
    with pytest.raises(ConversionError, match="__code__"):
        tf.autograph.to_code(len)
    with pytest.raises(ConversionError, match="__code__"):
        tf.autograph.to_code(3)


def test_what_is_not_supported():
    def generator(x):
        yield x

    async def coroutine(x):
        return x

    with pytest.raises(UnsupportedLanguageElementError, match="generators"):
        tf.autograph.to_code(generator)
    with pytest.raises(UnsupportedLanguageElementError, match="async"):
        tf.autograph.to_code(coroutine)
