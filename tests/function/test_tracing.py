"""When functions are traced, what they may take and return, and what they refuse."""

import collections
import gc
import logging
import weakref

import numpy as np
import pytest
import tensorflow
from both import outcome, same

import runnel


def test_the_quiz(capfd):
    """Tracing happens for each new dtype and for each new Python number, and not otherwise."""

    def program(tf, note):
        @tf.function
        def f(x):
            print("The function is running in Python")
            tf.print(x)

        f(tf.constant(1, dtype=tf.int32))
        f(tf.constant(2, dtype=tf.int32))
        f(np.array(1, dtype=np.int32))
        f(np.array(2, dtype=np.int32))
        f(tf.constant(0.1, dtype=tf.float32))
        f(tf.constant(0.2, dtype=tf.float32))
        for number in (1, 2, 1, 0.1, 0.2, 0.1):
            f(number)

    printed = []
    for tf in (tensorflow, runnel):
        program(tf, None)
        captured = capfd.readouterr()
        printed.append((captured.out, captured.err))
    assert printed[0] == printed[1]
    assert printed[1][0].count("Python") == 6


def counts(calls):
    """A program that notes how often a function was traced after each call."""

    def program(tf, note):
        traces = []

        @tf.function
        def f(*args, **kwargs):
            traces.append(1)
            return tf.constant(0)

        for args, kwargs in calls(tf):
            f(*args, **kwargs)
            note(len(traces))

    return program


class Thing:
    pass


THING, OTHER = Thing(), Thing()

CALLS = {
    "shapes": lambda tf: [((tf.zeros([n]),), {}) for n in (1, 2, 1, 2)],
    "dtypes": lambda tf: [((tf.cast(1, d),), {}) for d in ("int32", "float32", "int64", "int32")],
    "numpy and tensors": lambda tf: [
        ((np.zeros(2, "float32"),), {}),
        ((tf.zeros(2),), {}),
        ((np.float32(1),), {}),
        ((tf.constant(2.0),), {}),
    ],
    "python values": lambda tf: [
        ((value,), {}) for value in (1, 1.0, True, "1", b"1", None, 1, 1.0, True, "1", b"1", None)
    ],
    "nested": lambda tf: [
        (([1, tf.zeros(1)],), {}),
        (([1, tf.ones(1)],), {}),
        (((1, tf.ones(1)),), {}),
        (([2, tf.ones(1)],), {}),
        (({"a": 1, "b": 2},), {}),
        (({"b": 2, "a": 1},), {}),
    ],
    "objects": lambda tf: [((THING,), {}), ((OTHER,), {}), ((THING,), {})],
    "keywords": lambda tf: [
        ((), {"a": 1}),
        ((), {"a": 1}),
        ((), {"b": 1}),
        ((), {"a": 1, "b": 2}),
        ((), {"b": 2, "a": 1}),
    ],
    "functions": lambda tf: [((tf.add,), {}), ((tf.subtract,), {}), ((tf.add,), {})],
}


@pytest.mark.parametrize("calls", CALLS)
def test_trace_counts(calls):
    same(counts(CALLS[calls]))


def test_defaults_and_keywords_share_a_trace():
    def program(tf, note):
        traces = []

        @tf.function
        def f(x, y=2, *, z=3):
            traces.append(1)
            return x * y * z

        one = tf.constant(1)
        results = [f(one), f(one, 2), f(one, y=2), f(x=one, z=3), f(one, 3), f(one, z=4)]
        note(len(traces))
        return results

    same(program)


def test_methods_have_a_cache_per_object():
    def program(tf, note):
        class Scale:
            def __init__(self, factor):
                self.factor = factor

            @tf.function
            def __call__(self, x):
                note(f"trace {self.factor}")
                return x * self.factor

        two, three = Scale(2.0), Scale(3.0)
        one = tf.constant(1.0)
        return [two(one), three(one), two(one), three(one), two(tf.ones(2))]

    same(program)


def test_an_object_with_a_traced_method_is_freed():
    class Scale:
        @runnel.function
        def call(self, x):
            return x * 2.0

    scale = Scale()
    scale.call(runnel.constant(1.0))
    reference = weakref.ref(scale)
    del scale
    gc.collect()
    assert reference() is None


def test_input_signature():
    def program(tf, note):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def f(x):
            note("trace", x.shape.as_list() == [None])
            return tf.reduce_sum(x)

        return [f(tf.constant([1.0, 2.0])), f([1.0, 2.0, 3.0]), f(np.zeros(4, "float32"))]

    same(program)


@pytest.mark.parametrize(
    "call",
    [
        lambda tf, f: f(tf.constant([1, 2])),
        lambda tf, f: f(tf.constant([[1.0]])),
        lambda tf, f: f(tf.constant([1.0]), tf.constant(1.0)),
        lambda tf, f: f(),
        lambda tf, f: f(y=tf.constant([1.0])),
        lambda tf, f: f("text"),
    ],
)
def test_input_signature_refuses(call):
    def program(tf, note):
        f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([None], tf.float32)])
        return call(tf, f)

    assert same(program)[0].startswith("raised")


def test_bad_signatures():
    same(lambda tf, note: tf.function(lambda x: x, input_signature=3))
    same(lambda tf, note: tf.function(lambda x: x, input_signature=[3]))


def test_reduce_retracing():
    def program(tf, note):
        traces = []

        @tf.function(reduce_retracing=True)
        def f(x):
            traces.append(x.shape.as_list())
            return tf.reduce_sum(x)

        for n in (1, 2, 3, 4, 5):
            f(tf.ones([n, 2]))
        note(len(traces), traces[-1][1])

    same(program)


def test_concrete_functions():
    def program(tf, note):
        @tf.function
        def f(x, n=2):
            note("trace")
            return {"power": x**n, "parts": (x, None)}

        concrete = f.get_concrete_function(tf.TensorSpec([None], tf.float32))
        note(concrete is f.get_concrete_function(tf.TensorSpec([None], tf.float32)))
        note([str(spec.dtype) for spec in tf.nest.flatten(concrete.structured_input_signature)
              if hasattr(spec, "dtype")])  # fmt: skip
        note(sorted(concrete.structured_outputs))
        return [concrete(tf.constant([1.0, 2.0])), concrete(x=tf.constant([3.0]))]

    same(program)


@pytest.mark.parametrize(
    "call",
    [
        lambda tf, f: f(tf.constant([1, 2])),
        lambda tf, f: f(),
        lambda tf, f: f(tf.constant([1.0]), tf.constant([1.0]), tf.constant([1.0])),
        lambda tf, f: f(z=tf.constant([1.0])),
    ],
)
def test_concrete_functions_refuse(call):
    def program(tf, note):
        f = tf.function(lambda x: x * 2)
        return call(tf, f.get_concrete_function(tf.TensorSpec([None], tf.float32)))

    assert same(program)[0].startswith("raised")


def test_results():
    def program(tf, note):
        @tf.function
        def f(x):
            return {"a": [x, (x + 1,)], "n": None, "number": 3, "text": "t", "list": [1.5, True]}

        result = f(tf.constant(1))
        note(sorted(result), result["n"] is None)
        return result

    same(program)


def test_refused_results():
    def program(tf, note):
        return tf.function(lambda: object())()

    assert same(program) == ["raised TypeError"]


def test_side_effects_of_variables_in_program_order():
    def program(tf, note):
        a, b = tf.Variable(0.0), tf.Variable([1.0, 2.0])

        @tf.function
        def count():
            a.assign(a + 1.0)
            return a

        @tf.function
        def mixed(x):
            before = b.read_value()
            b.assign_add([x, x])
            middle = b * 1.0
            b[0].assign(10.0)
            a.assign(tf.reduce_sum(b))
            return before, middle, b, a

        return [count(), count(), count(), mixed(tf.constant(1.0)), mixed(tf.constant(2.0))]

    same(program)


def test_variables_are_made_on_the_first_call_only():
    def program(tf, note):
        class Counter:
            variable = None

            @tf.function
            def call(self, x):
                note("trace")
                if self.variable is None:
                    self.variable = tf.Variable(x * 2.0)
                return self.variable.assign_add(x)

        counter = Counter()
        return [counter.call(tf.constant(1.0)), counter.call(tf.constant(5.0))]

    same(program)

    def makes_always(tf, note):
        @tf.function
        def f():
            return tf.Variable(1.0) * 2.0

        f()

    assert same(makes_always) == ["raised ValueError"]


def test_closures():
    def program(tf, note):
        x = tf.constant(2.0)
        state = {"factor": 3.0}

        @tf.function
        def f(y):
            return x * y * state["factor"]

        first = f(tf.constant(1.0))
        state["factor"] = 100.0
        return [first, f(tf.constant(1.0)), f(tf.ones(1))]

    same(program)


def test_nested_functions():
    def program(tf, note):
        @tf.function
        def inner(x):
            note("inner")
            return x * x

        @tf.function
        def outer(x):
            note("outer")
            return inner(x) + inner(x + 1.0) + inner(tf.ones(2))

        return [outer(tf.constant(2.0)), outer(tf.constant(3.0)), inner(tf.constant(3.0))]

    same(program)


def test_functions_run_eagerly():
    def program(tf, note):
        @tf.function
        def f(x):
            note("called", tf.executing_eagerly())
            return x + 1

        tf.config.run_functions_eagerly(True)
        try:
            results = [f(tf.constant(1)), f(tf.constant(2))]
        finally:
            tf.config.run_functions_eagerly(False)
        return [*results, f(tf.constant(3)), f(tf.constant(4))]

    same(program)


def test_init_scope_leaves_the_graph():
    def program(tf, note):
        @tf.function
        def f(x):
            with tf.init_scope():
                note(tf.executing_eagerly())
                constant = tf.constant(5.0)
                note(constant.numpy().item())
            return x + constant

        return f(tf.constant(1.0))

    same(program)


def test_inside():
    """Operations with effects and Python functions, inside."""

    def program(tf, note):
        @tf.function
        def f(x):
            tf.debugging.assert_positive(x, message="must be positive")
            note(tf.inside_function(), tf.executing_eagerly(), hasattr(x, "numpy"))
            doubled = tf.py_function(lambda v: v.numpy() * 2, [x], tf.float32)
            rounded = tf.numpy_function(np.round, [x], tf.float32)
            return doubled, rounded

        results = [f(tf.constant(1.4)), f(tf.constant(2.6))]
        try:
            f(tf.constant(-1.0))
        except tf.errors.InvalidArgumentError as error:
            note("must be positive" in str(error))
        return results

    assert True in same(program)


def test_a_leaked_tensor_says_so():
    def program(tf, note):
        leaked = []

        @tf.function
        def f(x):
            leaked.append(x + 1)
            return x

        f(tf.constant(1.0))
        return leaked[0] * 2

    assert same(program) == ["raised TypeError"]
    with pytest.raises(TypeError, match="out of scope"):
        program(runnel, None)


def test_a_symbolic_tensor_has_no_value():
    for use in (float, bool, int, lambda x: x.numpy(), np.asarray, list):

        def program(tf, note, use=use):
            return tf.function(lambda x: use(x), autograph=False)(tf.constant(1.0))

        wanted, got = outcome(tensorflow, program)[0], outcome(runnel, program)[0]
        assert wanted.startswith("raised") and got.startswith("raised")


ITERATIONS = {
    "for": lambda t: [None for _ in t],
    "iter": lambda t: iter(t) is None,
    "next": lambda t: next(iter(t)),
    "list": lambda t: len(list(t)),
    "star": lambda t: max(*t),
    "enumerate": lambda t: [i for i, _ in enumerate(t)],
    "sum": lambda t: sum(t),
    "in": lambda t: 1 in t,
}


@pytest.mark.parametrize("autograph", [True, False])
@pytest.mark.parametrize("shape", [[2], [None], None, []], ids=str)
def test_symbolic_tensors_are_not_iterated_by_python(shape, autograph):
    def unpack(t):
        a, b = t
        return a + b

    for name, use in {**ITERATIONS, "unpacking": unpack}.items():

        def trace(tf, note, use=use):
            specs = [tf.TensorSpec(shape, tf.float32)]
            tf.function(use, autograph=autograph, input_signature=specs).get_concrete_function()

        def of_variable(tf, note, use=use):
            v = tf.Variable([1.0, 2.0])
            tf.function(lambda: use(v), autograph=autograph).get_concrete_function()

        def in_a_graph(tf, note, use=use):
            with tf.Graph().as_default():
                use(tf.compat.v1.placeholder(tf.float32, shape))

        for program in (trace, of_variable, in_a_graph):
            wanted = outcome(tensorflow, program)
            assert outcome(runnel, program) == wanted, (name, program.__name__)
            assert wanted[0].startswith("raised"), (name, program.__name__)


def test_loops_over_tensors_are_converted_and_eager_tensors_iterated():
    def program(tf, note):
        @tf.function
        def total(t):
            result = tf.zeros([])
            for each in t:
                result += each
            return result

        note(total(tf.constant([1.0, 2.0])))
        a, b = tf.constant([1.0, 2.0])
        note(a + b)
        first, _ = tf.keras.Input([3], batch_size=2)
        note(first.shape.as_list())
        return sum(tf.Variable([1, 2]))

    same(program)


def test_an_error_shows_the_line_and_the_shapes():
    @runnel.function
    def f(x, y):
        z = x * 2.0
        return z @ y  # the line at fault

    with pytest.raises(runnel.errors.InvalidArgumentError) as caught:
        f.get_concrete_function(
            runnel.TensorSpec(None, runnel.float32), runnel.TensorSpec(None, runnel.float32)
        )(runnel.ones([2, 3]), runnel.ones([4, 5]))
    message = str(caught.value)
    assert "the line at fault" in message and "test_tracing.py" in message
    assert "node 'matmul'" in message
    assert "Matrix size-incompatible: In[0]: [2,3], In[1]: [4,5]" in message


def test_retracing_is_explained_once(caplog):
    @runnel.function
    def double(value):
        return value * 2

    with caplog.at_level(logging.WARNING, logger="tensorflow"):
        for number in range(12):
            double(number)
    warnings = [record.getMessage() for record in caplog.records]
    assert len(warnings) == 1
    assert "'double'" in warnings[0] and "'value'" in warnings[0] and "tf.constant" in warnings[0]


def test_code_can_be_read():
    f = runnel.function(lambda x: runnel.nn.relu(x * 2.0))
    f(runnel.constant([1.0]))
    assert "Mul(" in f.code() and "Relu(" in f.code()


def test_graph_of_a_function():
    concrete = runnel.function(lambda x: runnel.identity(x + 1.0, name="result"))
    graph = concrete.get_concrete_function(runnel.TensorSpec([2], runnel.float32, name="x")).graph
    assert next(op.type for op in graph.get_operations()) == "Placeholder"
    assert graph.get_tensor_by_name("x:0").shape == [2]
    assert graph.get_operation_by_name("result").type == "Identity"
    with pytest.raises(KeyError, match="not in the graph"):
        graph.get_operation_by_name("nothing")


def test_random_operations_differ_from_call_to_call():
    def program(tf, note):
        tf.random.set_seed(7)

        @tf.function
        def f():
            return tf.random.uniform([3]), tf.random.normal([2], seed=3)

        return [f(), f()]

    same(program)


def test_ten_thousand_calls_leave_nothing_behind():
    variable = runnel.Variable(runnel.ones([100]))

    @runnel.function
    def f(x):
        variable.assign_add(x)
        return runnel.reduce_sum(variable)

    x = runnel.ones([100])
    f(x)
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(10_000):
        f(x)
    gc.collect()
    assert len(gc.get_objects()) - before < 50


def test_a_dropped_function_leaves_no_graphs():
    from runnel.core.graph.graph import FuncGraph

    f = runnel.function(lambda x: x * 2.0)
    for n in range(100):
        f(runnel.ones([n]))
    graphs = [weakref.ref(o) for o in gc.get_objects() if isinstance(o, FuncGraph)]
    assert len(graphs) >= 100
    del f
    gc.collect()
    assert sum(reference() is not None for reference in graphs) < 20


Pair = collections.namedtuple("Pair", ["a", "b"])


@pytest.mark.parametrize(
    "function, arguments",
    [
        (lambda tf: lambda: None, lambda tf: ((), {})),
        (lambda tf: lambda x: [x, (x, None)], lambda tf: ((tf.TensorSpec([2]),), {})),
        (lambda tf: lambda x: Pair(x, {"k": x}), lambda tf: ((tf.TensorSpec([2]),), {})),
        (
            lambda tf: lambda x, *rest, **named: x + rest[0] + named["z"],
            lambda tf: ((tf.TensorSpec([2]), tf.TensorSpec([2])), {"z": tf.TensorSpec([2])}),
        ),
        (
            lambda tf: lambda x, y="s", z=None, b=True, *, k: x,
            lambda tf: ((tf.TensorSpec([], name="n"),), {"k": 1.5}),
        ),
        (lambda tf: lambda x: x * 2, lambda tf: ((tf.RaggedTensorSpec([None, None]),), {})),
        (
            lambda tf: lambda x: x["a"],
            lambda tf: (({"a": tf.TensorSpec([2]), "b": [(1, tf.TensorSpec([]))]},), {}),
        ),
        (
            lambda tf: lambda x: x,
            lambda tf: ((Pair(tf.TensorSpec([2]), tf.TensorSpec([], tf.string)),), {}),
        ),
    ],
)
def test_signatures_are_printed(function, arguments):
    def program(tf, note):
        args, kwargs = arguments(tf)
        traced = tf.function(function(tf), autograph=False)
        concrete = traced.get_concrete_function(*args, **kwargs)
        note(str(concrete), repr(concrete).rpartition(" at 0x")[0])
        note(traced.pretty_printed_concrete_signatures(verbose=False))

    same(program)


def test_signatures_of_all_traces_are_printed():
    def program(tf, note):
        traced = tf.function(lambda x: x * 2)
        for value in (tf.constant(1), tf.constant([1.0]), 3):
            traced(value)
        note(traced.pretty_printed_concrete_signatures())
        v = tf.Variable(1.0)
        capturing = tf.function(lambda x: x * v).get_concrete_function(tf.TensorSpec([]))
        note(str(capturing).rpartition(": ")[2])

    same(program)


def test_saved_functions_say_what_they_give(tmp_path):
    def program(tf, note):
        module = tf.Module()
        module.f = tf.function(lambda x: {"y": x * 2}, input_signature=[tf.TensorSpec([None])])
        folder = str(tmp_path / tf.__name__)
        tf.saved_model.save(module, folder, signatures=module.f)
        signature = tf.saved_model.load(folder).signatures["serving_default"]
        note(str(signature.structured_outputs), str(signature.structured_input_signature))
        note(str(signature))

    same(program)
