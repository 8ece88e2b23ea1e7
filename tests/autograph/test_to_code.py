"""The converted source reads as TensorFlow's does."""

import re

import pytest
import tensorflow
import tensorflow as tf

import runnel


def square_if_positive(x):
    if x > 0:
        y = x * x
    else:
        y = -x
    return y


def early(x):
    if x > 0:
        return x
    return x + 1


def countdown(n):
    while n > 0:
        n = n - 1
    return n


def total(xs):
    s = 0
    for x in xs:
        s = s + x
    return s


def logic(a, b):
    z = (a < b < 3 and not (a == b)) or b != 2  # noqa: SIM201
    return a if z else b


def nested(x):
    def g(y):
        return y + x

    h = lambda z: z * 2  # noqa: E731
    return g(h(x))


def changes(d, o):
    d["a"] = len(o.x)
    print(d, max(1, *o.x, key=None))
    x = 1
    del x


def shaped(x):
    for i in range(3):
        tf.autograph.experimental.set_loop_options(maximum_iterations=3)
        x = x + i
    return x


def nothing(x):
    x  # noqa: B018


def _comparable(text):
    # TensorFlow declares names in any order, and sets some that nothing reads.
    text = re.sub(r"nonlocal (.*)", lambda match: f"nonlocal {sorted(match[1].split(', '))}", text)
    text = re.sub(r"^ *(i|x) = ag__.Undefined\('(i|x)'\)\n", "", text, flags=re.MULTILINE)
    # Arguments after a star are one display here, a sum of tuples there.
    return text.replace("(1,) + tuple(ag__.ld(o).x)", "(1, *ag__.ld(o).x)").strip()


@pytest.mark.parametrize(
    "function",
    [square_if_positive, early, countdown, total, logic, nested, changes, shaped, nothing],
    ids=lambda function: function.__name__,
)
def test_same_as_the_original(function):
    ours = runnel.autograph.to_code(function)
    assert _comparable(ours) == _comparable(tensorflow.autograph.to_code(function))


def test_lambda():
    text = runnel.autograph.to_code(lambda x: x + 1 if x else 3)
    assert text.startswith(
        "tf__lam = lambda x: ag__.with_function_scope(lambda lscope: ag__.if_exp("
    )


def test_features_change_the_code():
    def f(n, items):
        items.append(n)
        assert n == 3
        return items

    Feature = runnel.autograph.experimental.Feature
    plain = runnel.autograph.to_code(f)
    everything = runnel.autograph.to_code(f, experimental_optional_features=Feature.ALL)
    assert "ag__.eq(" not in plain and "ag__.list_append" not in plain
    assert "ag__.eq(ag__.ld(n), 3)" in everything
    assert "items = ag__.list_append(ag__.ld(items), ag__.ld(n))" in everything
    made = runnel.autograph.to_graph(f, experimental_optional_features=(Feature.LISTS,))
    assert made(3, []) == [3]
    array = runnel.TensorArray(runnel.int32, size=0, dynamic_size=True)
    assert made(runnel.constant(3), array).stack().numpy().tolist() == [3]


def test_features_are_the_originals():
    ours, theirs = runnel.autograph.experimental.Feature, tensorflow.autograph.experimental.Feature
    assert [each.name for each in ours] == [each.name for each in theirs]
    assert repr(ours.LISTS) == repr(theirs.LISTS)
    assert [f.name for f in ours.all()] == [f.name for f in theirs.all()]
    assert {f.name for f in ours.all_but([ours.LISTS])} == {
        f.name for f in theirs.all_but([theirs.LISTS])
    }


def test_not_recursive():
    def inner(x):
        return x if x > 0 else -x

    def outer(x):
        return inner(x)

    assert runnel.autograph.to_graph(outer)(-2) == 2
    alone = runnel.autograph.to_graph(outer, recursive=False)
    assert alone(-2) == 2
    with pytest.raises(runnel.errors.OperatorNotAllowedInGraphError):
        runnel.function(alone)(runnel.constant(-2))
