"""Known traps of tf.function and variables, and what happens in each.

| trap | what happens |
| --- | --- |
| a tensor read from a variable before an update | keeps its value, eagerly and in a function |
| a result that is a variable's value | does not change with the variable afterwards |
| arrays given to a function | are never written to, whatever buffers the plan uses again |
| `print` and `list.append` in a function | happen when it is traced, not when it is called |
| a Python number as an argument | each new one is a new trace; a tensor is not |
| a global that changes later | the trace keeps what it was |
| a variable that is replaced by another object | the trace keeps the old one |
| a closure over a loop variable | Python binds late, at tracing |
| `x += 1` on a variable | is refused, it would lose the variable |
| a variable made in a function | once, or an error |
| an iterator over Python values in a function | is consumed at tracing |
| a tensor kept in a list outside | says that it is out of scope |
"""

import numpy as np
import pytest

import runnel as tf


def test_a_value_read_before_an_update_stays():
    v = tf.Variable(np.zeros(5000, np.float32))

    def read_and_update():
        before = v.read_value()
        v.assign_add(tf.ones(5000))
        return before, v.read_value()

    for run in (read_and_update, tf.function(read_and_update)):
        v.assign(tf.zeros(5000))
        before, after = run()
        assert before.numpy().max() == 0 and after.numpy().min() == 1


def test_results_do_not_change_afterwards():
    v = tf.Variable(np.zeros(5000, np.float32))

    @tf.function
    def step():
        return v.assign_add(tf.ones(5000)).read_value(), v * 1.0, tf.identity(v)

    first = step()
    for _ in range(3):
        step()
    assert [float(tf.reduce_max(each)) for each in first] == [1.0, 1.0, 1.0]


def test_arguments_are_never_written_to():
    array = np.ones((100, 100), np.float32)
    x = tf.constant(array)

    @tf.function
    def f(x):
        y = tf.nn.relu(-(x + 1.0) * 2.0 + x)
        return tf.nn.bias_add(x @ x, x[0]), y, tf.reshape(x, [-1]) * 3.0

    f(x)
    f(array)
    np.testing.assert_array_equal(x, np.ones((100, 100)))
    np.testing.assert_array_equal(array, np.ones((100, 100)))


def test_python_effects_happen_at_tracing():
    seen = []

    @tf.function
    def f(x):
        seen.append("traced")
        return x

    for n in range(5):
        f(tf.constant(n))
    assert seen == ["traced"]


def test_python_numbers_retrace():
    f = tf.function(lambda x: x)
    for n in range(3):
        f(n)
    assert f.experimental_get_tracing_count() == 3
    for n in range(3):
        f(tf.constant(n))
    assert f.experimental_get_tracing_count() == 4


FACTOR = 2.0


def test_globals_are_read_at_tracing():
    global FACTOR

    f = tf.function(lambda x: x * FACTOR)
    one = tf.constant(1.0)
    first = f(one)
    FACTOR = 5.0
    try:
        assert (float(first), float(f(one)), float(f(tf.ones(1))[0])) == (2.0, 2.0, 5.0)
    finally:
        FACTOR = 2.0


def test_a_replaced_variable_is_the_old_one():
    class Holder:
        variable = tf.Variable(1.0)

    f = tf.function(lambda: Holder.variable * 2.0)
    f()
    Holder.variable = tf.Variable(10.0)
    assert float(f()) == 2.0


def test_closures_bind_late():
    functions = [tf.function(lambda: tf.constant(n)) for n in range(3)]
    assert [int(f()) for f in functions] == [2, 2, 2]


def test_augmented_assignment_of_a_variable_is_refused():
    v = tf.Variable(1.0)
    with pytest.raises(RuntimeError, match="assign_add"):
        v += 1.0


def test_variables_made_at_every_call_are_refused():
    with pytest.raises(ValueError, match="singleton"):
        tf.function(lambda: tf.Variable(1.0))()


def test_python_iterators_are_consumed_at_tracing():
    numbers = iter([1, 2, 3])
    f = tf.function(lambda x: x * next(numbers))
    one = tf.constant(1)
    assert [int(f(one)) for _ in range(3)] == [1, 1, 1]


def test_a_tensor_kept_outside_says_so():
    kept = []

    @tf.function
    def f(x):
        kept.append(x * 2.0)
        return x

    f(tf.constant(1.0))
    with pytest.raises(TypeError, match="out of scope"):
        kept[0] + 1.0
