"""Every public function takes the calls that TensorFlow's takes, and says what it does."""

import inspect
from types import ModuleType

import pytest
import tensorflow

import runnel

# What a program of TensorFlow 1 finds there has tests of its own.
APART = {"compat"}


def members(library, space):
    for part in space.split(".") if space else []:
        library = getattr(library, part)
    return library


def public_spaces(space=""):
    """All namespaces of ours that TensorFlow has, too."""
    yield space
    ours, theirs = members(runnel, space), members(tensorflow, space)
    for name in dir(ours):
        inner = isinstance(getattr(ours, name), ModuleType) and hasattr(theirs, name)
        if inner and not name.startswith("_") and name not in APART:
            yield from public_spaces(f"{space}.{name}".strip("."))


SPACES = list(public_spaces())


def public_functions():
    for space in SPACES:
        ours, theirs = members(runnel, space), members(tensorflow, space)
        for name in dir(ours):
            function = getattr(ours, name)
            known = hasattr(theirs, name) and inspect.isfunction(function)
            if known and not name.startswith("_"):
                yield f"{space}.{name}".strip("."), function, getattr(theirs, name)


FUNCTIONS = list(public_functions())


def names_of(function):
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.kind not in kinds]


def test_there_are_functions_to_look_at():
    assert len(FUNCTIONS) > 1500
    expected = {"", "experimental.numpy", "keras.utils", "quantization", "queue", "sets", "signal"}
    assert expected <= set(SPACES)


@pytest.mark.parametrize(("name", "ours", "theirs"), FUNCTIONS, ids=[f[0] for f in FUNCTIONS])
def test_same_parameters_and_a_docstring(name, ours, theirs):
    assert ours.__doc__, "no docstring"
    if not inspect.isfunction(inspect.unwrap(theirs)):
        return
    wanted = names_of(theirs)
    assert names_of(ours)[: len(wanted)] == wanted
