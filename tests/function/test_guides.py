"""Programs as the guides of the original teach them, and how they go wrong."""

import copy
import gc
import threading
import weakref

import numpy as np
import pytest
from both import outcome, same

import runnel


@pytest.mark.parametrize("name", ["c0", "AddV2", "x0", "t1", "plan"])
def test_a_function_may_have_any_name(name):
    def program(tf, note):
        scope = {"tf": tf}
        exec(f"def {name}(x):\n    return x + 1.0 + tf.constant([2.0, 3.0])", scope)
        return tf.function(scope[name], autograph=False)(tf.constant(1.0))

    same(program)


def test_retracing_with_keywords_is_explained(caplog):
    @runnel.function
    def f(x, *others, scale=1, **more):
        return x * scale

    runnel.get_logger().propagate = True
    try:
        with caplog.at_level("WARNING"):
            for number in range(6):
                f(runnel.constant(1), number, scale=number, shift=number)
    finally:
        runnel.get_logger().propagate = False
    # A record that reaches the handler through two loggers is one warning.
    assert len({id(each) for each in caplog.records if "retracing" in each.message}) == 1


def test_dictionaries_give_their_tensors_in_the_order_of_their_keys():
    def program(tf, note):
        numbers = tf.function(lambda d: d[9] * 10 + d[10])
        quotes = tf.function(lambda d: d["a"] + d["a'b"] * 10 + d['a"'] * 100)
        return [
            numbers({9: tf.constant(1), 10: tf.constant(2)}),
            quotes({"a": tf.constant(1), "a'b": tf.constant(2), 'a"': tf.constant(3)}),
        ]

    same(program)


class Thing:
    pass


def test_a_trace_does_not_keep_its_arguments():
    def program(tf, note):
        for relaxed in (False, True):
            f = tf.function(lambda thing, x: x + 1, reduce_retracing=relaxed)
            thing = Thing()
            f(thing, tf.constant([1]))
            f(thing, tf.constant([1, 2]))
            reference = weakref.ref(thing)
            del thing
            gc.collect()
            note(reference() is None)

    same(program)


def test_equal_objects_have_functions_of_their_own():
    class Equal:
        def __init__(self, number):
            self.number = runnel.Variable(number)

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 1

        @runnel.function
        def get(self):
            return self.number + 0.0

    first, second = Equal(1.0), Equal(2.0)
    assert [first.get().numpy(), second.get().numpy(), first.get().numpy()] == [1, 2, 1]
    copied = copy.deepcopy(first)
    copied.number.assign(3.0)
    assert [copied.get().numpy(), first.get().numpy()] == [3, 1]


def test_a_copied_function_is_a_function():
    module = runnel.Module()
    module.double = runnel.function(lambda x: x * 2)
    module.double(runnel.constant(1))
    assert copy.deepcopy(module).double(runnel.constant(3)).numpy() == 6


def test_specs_with_names():
    def program(tf, note):
        @tf.function
        def f(a, b=2):
            note("trace")
            return a + b

        for name in ("first", None, "other"):
            concrete = f.get_concrete_function(tf.TensorSpec([], tf.int32, name=name))
            note(str(concrete.structured_input_signature))
            note([each.name for each in concrete.inputs])
        return [concrete(other=tf.constant(1)), f(tf.constant(1))]

    same(program)


SIGNATURE_CALLS = {
    "another default": lambda tf, f: f.method(1.0, 8.0),
    "the default": lambda tf, f: f.method(1.0, 7.0),
    "another keyword": lambda tf, f: f.method(1.0, scale=8.0),
    "lists for tensors": lambda tf, f: f.nested({"a": [1.0, 2.0], "b": (1, [[2.0]])}),
    "a key too few": lambda tf, f: f.nested({"a": [1.0, 2.0]}),
    "another structure": lambda tf, f: f.nested([1.0, 2.0]),
    "varargs": lambda tf, f: f.variadic(1.0, 2.0, 3.0),
    "varargs too few": lambda tf, f: f.variadic(1.0, 2.0),
    "other shape": lambda tf, f: f.method(tf.constant([1.0])),
    "other dtype": lambda tf, f: f.method(tf.constant(1)),
}


@pytest.mark.parametrize("call", SIGNATURE_CALLS)
def test_input_signatures_of_methods(call):
    def program(tf, note):
        number = tf.TensorSpec([], tf.float32)
        nested = {
            "a": tf.TensorSpec([None], tf.float32),
            "b": (tf.TensorSpec([], tf.int32), tf.TensorSpec(None, tf.float32)),
        }

        class Model(tf.Module):
            @tf.function(input_signature=[number])
            def method(self, x, scale=7.0):
                return x * scale

            @tf.function(input_signature=[nested])
            def nested(self, d):
                return d["a"] + tf.cast(d["b"][0], tf.float32) + tf.reduce_sum(d["b"][1])

            @tf.function(input_signature=[number] * 3)
            def variadic(self, first, *others):
                return first + others[0] * 10.0 + others[1] * 100.0

        return SIGNATURE_CALLS[call](tf, Model())

    same(program)


def test_more_specs_than_arguments():
    def program(tf, note):
        return tf.function(lambda x: x, input_signature=[tf.TensorSpec([])] * 2)(1.0)

    assert same(program) == ["raised TypeError"]


def test_wrong_types_are_found_while_tracing():
    def program(tf, note):
        return tf.function(lambda x: tf.add(x, tf.constant("a")))(tf.constant(1))

    assert same(program) == ["raised TypeError"]


def test_random_numbers_at_each_place_of_a_call():
    def program(tf, note):
        tf.random.set_seed(7)
        draw = tf.function(lambda: tf.random.uniform([2]))
        twice = tf.function(lambda: (draw() + 0.0, draw() + 0.0, tf.random.uniform([2])))
        note(draw(), *twice(), *twice(), draw())

    same(program)


def test_symbolic_gradients():
    def program(tf, note):
        @tf.function
        def f(a):
            b = 2.0 * a
            note(tf.gradients(b * a, [a], stop_gradients=b)[0] is None)
            return [
                tf.gradients(a + b, [a, b], stop_gradients=[a, b]),
                tf.gradients(b * a, [a, b], stop_gradients=b),
                tf.gradients(a * a, a, stop_gradients=[a]),
                tf.hessians(a**3, a),
            ]

        return f(tf.constant(4.0))

    assert len(same(program)) == 7


def test_threads_wait_for_one_trace():
    traces, results = [], []
    together = threading.Barrier(4)

    @runnel.function
    def f(x):
        traces.append(1)
        for _ in range(50):
            x = x + 1
        return x

    def work():
        together.wait()
        results.append(f(runnel.constant(1)).numpy())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (traces, results) == ([1], [51] * 4)


def test_training_over_a_dataset_that_is_an_argument():
    def program(tf, note):
        weight = tf.Variable([1.0, 2.0])
        steps = tf.Variable(0)

        @tf.function
        def train(dataset):
            before = steps.read_value()
            total = 0.0
            for x in dataset:
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum((weight * x - 1.0) ** 2)
                weight.assign_sub(0.1 * tape.gradient(loss, weight))
                steps.assign_add(1)
                total += loss
            return before, total, steps.read_value()

        for numbers in ([1.0, 2.0], [3.0, 4.0, 5.0]):
            note(*train(tf.data.Dataset.from_tensor_slices(numbers)), weight)

    same(program)


RAISED = [
    ZeroDivisionError, ValueError, TypeError, KeyError, StopIteration, MemoryError,
    NotImplementedError, IndexError, AssertionError, OSError,
]  # fmt: skip


def test_what_python_functions_raise():
    def program(tf, note):
        def raising(error):
            def f(x):
                raise error("no")

            return f

        for error in RAISED:
            for make in (tf.py_function, tf.numpy_function):
                f = tf.function(lambda x, m=make, e=error: m(raising(e), [x], tf.float32))
                note(outcome(tf, lambda tf, note, f=f: f(tf.constant(1.0))))
            note(outcome(tf, lambda tf, note, e=error: tf.py_function(
                raising(e), [1.0], tf.float32)))  # fmt: skip

    same(program)


def test_a_tape_may_watch_a_variable_that_is_not_trainable():
    def program(tf, note):
        frozen, free = tf.Variable(2.0, trainable=False), tf.Variable(3.0)
        f = tf.function(lambda x: frozen * free * x)
        with tf.GradientTape() as tape:
            y = f(tf.constant(4.0))
        note(tape.gradient(y, frozen) is None)
        with tf.GradientTape() as tape:
            tape.watch(frozen)
            y = f(tf.constant(4.0))
        return tape.gradient(y, [frozen, free])

    same(program)


def test_losses_added_in_a_layer_of_a_model_that_is_built_by_training():
    def program(tf, note):
        class Penalty(tf.keras.layers.Layer):
            def call(self, x):
                self.add_loss(0.01 * tf.reduce_sum(x))
                return x

        model = tf.keras.Sequential(
            [Penalty(), tf.keras.layers.Dense(1, kernel_initializer="ones")]
        )
        model.compile("sgd", "mse")
        x = np.arange(6, dtype="float32").reshape(3, 2)
        history = model.fit(x, x[:, :1], epochs=2, batch_size=3, shuffle=False, verbose=0)
        return np.float32(history.history["loss"])

    same(program)


def test_a_loss_of_the_model_itself_needs_no_other():
    def program(tf, note):
        class Model(tf.keras.Model):
            def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):
                return tf.reduce_mean(tf.abs(y - y_pred))

        inputs = tf.keras.Input((2,))
        model = Model(inputs, tf.keras.layers.Dense(1, kernel_initializer="ones")(inputs))
        model.compile("sgd", metrics=["mae"])
        x = np.arange(6, dtype="float32").reshape(3, 2)
        history = model.fit(x, x[:, :1], epochs=2, shuffle=False, verbose=0)
        note(sorted(history.history), np.float32(history.history["mae"]))
        return model.get_weights()

    same(program)


def test_old_values_and_arrays_of_the_caller_stay():
    def program(tf, note):
        variable = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        bias = tf.Variable([0.5, -9.0])
        given = np.ones((2, 2), np.float32)

        @tf.function
        def f(x):
            old = variable.read_value()
            views = tf.transpose(variable), variable[1:], tf.reshape(variable, [4])
            product = tf.nn.bias_add(tf.matmul(x, variable), bias)
            variable.assign_add(tf.nn.relu(product))
            return old, *views, product, tf.nn.relu(product), variable.read_value(), x

        results = [f(given), f(given)]
        variable.assign([[0.0, 0.0], [0.0, 0.0]])
        variable.scatter_nd_update([[0]], [[7.0, 7.0]])
        note(given)
        given[:] = 5.0
        return results

    same(program)
