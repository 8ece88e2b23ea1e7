"""What a session does for a fetch: all it depends on, updates among it, and nothing else."""

import random

import numpy as np
import pytest
import tensorflow
from both_v1 import agree
from random_programs import RandomProgram, is_ordered

import runnel


def runs_of(library, seed, ordered=None):
    """What single fetches of a random program give, with the variables afterwards."""
    v1, found, choices = library.compat.v1, [], random.Random(seed + 1)
    with library.Graph().as_default():
        program = RandomProgram(seed, v1, library)
        with v1.Session() as session:
            for run in range(6):
                fetch = choices.choice(range(len(program.fetches)))
                feeds = {
                    program.number: float(choices.randint(0, 4)),
                    program.flag: choices.random() < 0.5,
                }
                if ordered is None:
                    if not is_ordered(program.fetches[fetch]):
                        continue
                elif run not in ordered:
                    continue
                session.run(v1.global_variables_initializer())
                value = session.run(program.fetches[fetch], feeds)
                after = session.run(program.variables)
                found.append((run, fetch, value, after))
    return found


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed):
    theirs = runs_of(tensorflow, seed)
    ours = runs_of(runnel, seed, {run for run, *_ in theirs})
    assert len(theirs) == len(ours)
    for (run, fetch, expected, after), (_, _, found, our_after) in zip(theirs, ours, strict=True):
        message = f"run {run}, fetch {fetch}"
        np.testing.assert_allclose(our_after, after, rtol=1e-6, err_msg=message)
        assert (found is None) == (expected is None), message
        if expected is not None:
            np.testing.assert_allclose(found, expected, rtol=1e-6, err_msg=message)


def _after(updates, make, tf):
    with tf.control_dependencies(updates):
        return make()


# Each makes a fetch of a variable v (1), a vector w (1, 2) and a number p that is fed as 3.
FETCHES = {
    "chain": lambda v1, tf, v, w, p: v.assign_add(p).assign_add(1.0).assign_sub(p),
    "chain of rows": lambda v1, tf, v, w, p: w.assign_add([p, p]).scatter_add(
        tf.IndexedSlices([1.0], [0])
    ),
    "rows, then all": lambda v1, tf, v, w, p: w.scatter_add(tf.IndexedSlices([p], [0])).assign_add(
        [1.0, 1.0]
    ),
    "slices": lambda v1, tf, v, w, p: w.scatter_nd_add([[1]], [p]).scatter_nd_update([[0]], [p]),
    "functions": lambda v1, tf, v, w, p: v1.assign_add(v1.assign(v, p), 1.0),
    "group": lambda v1, tf, v, w, p: tf.group(v.assign_add(p), w.assign([p, p])),
    "older group": lambda v1, tf, v, w, p: v1.group([v.assign_add(p)], {"a": w.assign([p, p])}),
    "tuple": lambda v1, tf, v, w, p: tf.tuple([v.assign_add(p), w.assign([p, p])]),
    "no result": lambda v1, tf, v, w, p: v.assign_add(p, read_value=False),
    "value": lambda v1, tf, v, w, p: v.assign_add(p).value(),
    "identity after": lambda v1, tf, v, w, p: _after([v.assign_add(1.0)], lambda: v + 0.0, tf),
    "rows after": lambda v1, tf, v, w, p: _after(
        [w.assign_add([p, p])], lambda: tf.gather(w, [0]), tf
    ),
    "condition after": lambda v1, tf, v, w, p: _after(
        [v.assign_add(1.0)], lambda: tf.cond(p > 1.0, lambda: w + 0.0, lambda: w * 2.0), tf
    ),
    "python function": lambda v1, tf, v, w, p: _after(
        [tf.numpy_function(lambda x: x, [v.assign_add(p)], tf.float32)], lambda: p + 0.0, tf
    ),
}


def _condition_on_update(v1, tf, v, w, p):
    updated = v.assign_add(1.0)
    return tf.cond(p > 1.0, lambda: updated + 0.0, lambda: p)


def _branch_after_outer_update(v1, tf, v, w, p):
    updated = v.assign_add(1.0)
    return tf.cond(p > 1.0, lambda: _after([updated], lambda: tf.constant(3.0), tf), lambda: p)


def _inner_branch_after_outer_update(v1, tf, v, w, p):
    updated = v.assign_add(1.0)
    inner = lambda: tf.cond(  # noqa: E731
        p > 2.0, lambda: _after([updated], lambda: p * 2.0, tf), lambda: p
    )
    return tf.cond(p > 1.0, inner, lambda: p)


def _loop_after_outer_update(v1, tf, v, w, p):
    updated = v.assign_add(1.0)
    return tf.while_loop(
        lambda i: i < 3.0, lambda i: (_after([updated], lambda: i + 1.0, tf),), [0.0]
    )


def _constant_after_update(v1, tf, v, w, p):
    constant = _after([v.assign_add(1.0)], lambda: tf.constant(2.0), tf)
    return tf.cond(p > 1.0, lambda: constant * 2.0, lambda: p)


def _loop_of_constant_after_update(v1, tf, v, w, p):
    constant = _after([v.assign_add(1.0)], lambda: tf.constant(2.0), tf)
    return tf.while_loop(lambda i: i < constant, lambda i: (i + constant,), [0.0])


def _function_after_outer_update(v1, tf, v, w, p):
    updated = v.assign_add(1.0)

    @tf.function(autograph=False)
    def double(x):
        with tf.control_dependencies([updated]):
            return x * 2.0

    return double(p)


def _function_of_updated(v1, tf, v, w, p):
    updated = v.assign_add(1.0)
    return tf.function(lambda x: x * updated, autograph=False)(p)


def _unused_update_in_a_loop(v1, tf, v, w, p):
    return v1.while_loop(lambda i: i < 3, lambda i: (v.assign_add(1.0), i + 1)[1], [0])


def _update_in_a_loop(v1, tf, v, w, p):
    def body(i):
        with tf.control_dependencies([v.assign_add(1.0)]):
            return i + 1

    return v1.while_loop(lambda i: i < 3, body, [0])


for _program in (
    _condition_on_update, _branch_after_outer_update, _inner_branch_after_outer_update,
    _loop_after_outer_update, _constant_after_update, _loop_of_constant_after_update,
    _function_after_outer_update, _function_of_updated, _unused_update_in_a_loop,
    _update_in_a_loop,
):  # fmt: skip
    FETCHES[_program.__name__.strip("_").replace("_", " ")] = _program

# The results of tf.cond's first function; the second one gives what fits.
BRANCHES = {
    "operation": (lambda v1, tf, v, w, p: v.assign_add(1.0).op, lambda v1, tf, p: tf.no_op()),
    "group": (
        lambda v1, tf, v, w, p: tf.group(v.assign_add(1.0), w.assign([p, p])),
        lambda v1, tf, p: tf.group(),
    ),
    "list": (
        lambda v1, tf, v, w, p: [v.assign_add(1.0).op, p],
        lambda v1, tf, p: [tf.no_op(), p],
    ),
    "no value": (
        lambda v1, tf, v, w, p: v.assign_add(1.0, read_value=False),
        lambda v1, tf, p: tf.no_op(),
    ),
    "unused": (lambda v1, tf, v, w, p: (v.assign_add(1.0), p * 2.0)[1], lambda v1, tf, p: p),
    "check": (
        lambda v1, tf, v, w, p: v1.Assert(p > 2.0, [p]),
        lambda v1, tf, p: tf.no_op(),
    ),
    "comparison": (
        lambda v1, tf, v, w, p: v1.assert_greater(p, 2.0),
        lambda v1, tf, p: tf.no_op(),
    ),
}


def run(v1, tf, make, number):
    v, w = tf.Variable(1.0), tf.Variable([1.0, 2.0])
    p = v1.placeholder(tf.float32, [])
    fetch = make(v, w, p)
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        return [session.run(fetch, {p: number}), *session.run([v, w])]


@pytest.mark.parametrize("name", FETCHES)
def test_fetch(name):
    agree(lambda v1, tf: run(v1, tf, lambda v, w, p: FETCHES[name](v1, tf, v, w, p), 3.0))


@pytest.mark.parametrize("number", [3.0, 0.0])
@pytest.mark.parametrize("name", BRANCHES)
def test_what_a_branch_returns(name, number):
    first, second = BRANCHES[name]

    def program(v1, tf):
        def make(v, w, p):
            return tf.cond(p > 1.0, lambda: first(v1, tf, v, w, p), lambda: second(v1, tf, p * 1.0))

        return run(v1, tf, make, number)

    agree(program)


def test_a_chosen_branch_returns_an_operation():
    def program(v1, tf):
        def make(v, w, p):
            return tf.switch_case(
                tf.constant(1), [lambda: tf.no_op(), lambda: v.assign_add(1.0).op]
            )

        return run(v1, tf, make, 3.0)

    agree(program)


def test_a_function_without_results_happens():
    def program(v1, tf):
        calls = []
        call = tf.py_function(lambda: calls.append(1), [], [])
        with tf.control_dependencies([call]):
            value = tf.constant(1.0) + 2.0
        with v1.Session() as session:
            session.run(value)
            session.run(call)
        return [type(call).__name__, len(calls)]

    agree(program)
