"""Control flow that tensors decide: values and errors as TensorFlow's tf.function gives them."""

import functools
import importlib.util
from pathlib import Path

import numpy as np
import pytest
import tensorflow
from compare import assert_same

import runnel

_FILE = Path(__file__).with_name("staged_programs.py")


def _load(library):
    spec = importlib.util.spec_from_file_location(f"staged_for_{library.__name__}", _FILE)
    module = importlib.util.module_from_spec(spec)
    module.tf = library
    spec.loader.exec_module(module)
    return module


ORIGINAL, OURS = _load(tensorflow), _load(runnel)
NAMES = [f"{function.__name__}-{index}" for index, (function, _) in enumerate(ORIGINAL.EXAMPLES)]


def _array(value):
    array = np.array(value)
    kinds = {"i": np.int32, "f": np.float32}
    return array.astype(kinds.get(array.dtype.kind, array.dtype))


def _outcome(library, function, arguments):
    try:
        return library.function(function)(*[library.constant(_array(a[0])) for a in arguments])
    except Exception as error:
        return error


@pytest.mark.parametrize("index", range(len(NAMES)), ids=NAMES)
def test_as_the_original(index):
    expected = _outcome(tensorflow, *ORIGINAL.EXAMPLES[index])
    actual = _outcome(runnel, *OURS.EXAMPLES[index])
    if not isinstance(expected, Exception) and not isinstance(actual, Exception):
        assert_same(expected, actual)
        return
    assert isinstance(expected, Exception), f"only Runnel refuses: {actual!r}"
    assert isinstance(actual, Exception), f"only TensorFlow refuses: {expected!r}"
    assert type(actual).__name__ == type(expected).__name__, f"{actual!r} for {expected!r}"
    wanted = _last_paragraph(expected)
    for quoted in ("must", "has dtype", "has shape", "is None", "condition of", "used before"):
        if quoted in wanted:
            assert wanted.split(quoted)[0] in str(actual), f"{actual}\ninstead of\n{wanted}"


def _last_paragraph(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    kind = type(error).__name__
    return next((line for line in lines if line.startswith(f"{kind}:")), lines[-1] if lines else "")


BEYOND = [f"{function.__name__}-{index}" for index, (function, _) in enumerate(OURS.BEYOND)]


@pytest.mark.parametrize("index", range(len(BEYOND)), ids=BEYOND)
def test_beyond_the_original(index):
    function, arguments = OURS.BEYOND[index]
    numbers = [runnel.constant(_array(a[0])) for a in arguments]
    assert_same_numbers(function(*numbers), runnel.function(function)(*numbers))


def assert_same_numbers(expected, actual):
    np.testing.assert_array_equal(np.array(actual), np.array(expected))


def test_gradient_through_staged_loop_and_branch():
    def program(tf):
        def power(x, n):
            result = tf.ones_like(x)
            for i in tf.range(n):
                if i % 2 == 0:
                    result = result * x
                else:
                    result = result + x
            return result

        return tf.function(power)

    gradients = []
    for tf in (tensorflow, runnel):
        x = tf.constant(1.5)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = program(tf)(x, tf.constant(5))
        gradients.append(tape.gradient(y, x).numpy())
    assert gradients[0] == pytest.approx(gradients[1])


def test_loop_is_traced_once():
    rounds = []

    @runnel.function
    def count(n):
        total = 0
        for i in runnel.range(n):
            rounds.append(i)
            total += i
        return total

    assert count(runnel.constant(100)).numpy() == 4950
    assert len(rounds) == 1


def test_known_values_stay_python():
    lines = []

    @runnel.function
    def shout(x, loudly):
        if loudly:
            lines.append("!")
        for i in range(3):
            lines.append(i)
        return x

    shout(runnel.constant(1), True)
    assert lines == ["!", 0, 1, 2]


def test_variables_in_conditions():
    counter = runnel.Variable(5)

    @runnel.function
    def down():
        while counter > 0:
            counter.assign_sub(2)
        return counter

    assert down().numpy() == -1


def test_assert_on_a_tensor():
    @runnel.function
    def check(x):
        assert x < 2, "too large"
        return x

    assert check(runnel.constant(1)).numpy() == 1
    with pytest.raises(runnel.errors.InvalidArgumentError, match="too large"):
        check(runnel.constant(3))


def test_objects_may_stage_their_own_loops():
    from runnel.autograph.loops import StagedLoop

    class Countdown:
        def __init__(self, start):
            self.start = start

        def __iter__(self):
            return iter(range(self.start, 0, -1))

        def __runnel_for__(self, extra_test, body, *state):
            def once(own):
                body(own[0])
                return [own[0] - 1]

            StagedLoop(*state, [runnel.constant(self.start)]).run(lambda own: own[0] > 0, once)

        def __runnel_builtin__(self, name, *arguments):
            return self.start if name == "len" else NotImplemented

    rounds = []

    def total(x, countdown):
        for i in countdown:
            rounds.append(1)
            x += i
        return x + len(countdown)

    assert runnel.function(total)(runnel.constant(0), Countdown(4)).numpy() == 14
    assert len(rounds) == 1


class Counter(runnel.Module):
    def __init__(self):
        super().__init__()
        self.count = runnel.Variable(0)
        self.factor = 2

    @runnel.function
    def add(self, x):
        if x > 0:
            self.count.assign_add(x * self.factor)
        return self.count

    def __call__(self, x):
        if x > 0:
            return x
        return -x


def test_methods_and_callables():
    first, second = Counter(), Counter()
    second.factor = 10
    assert first.add(runnel.constant(1)).numpy() == 2
    assert first.add(runnel.constant(-1)).numpy() == 2
    assert second.add(runnel.constant(1)).numpy() == 10
    assert runnel.function(Counter())(runnel.constant(-4)).numpy() == 4
    assert runnel.function(Counter().__call__)(runnel.constant(-4)).numpy() == 4


def test_partial_functions():
    def choose(x, y, z=1):
        if x > y:
            return z
        return 2

    chosen = runnel.function(functools.partial(choose, runnel.constant(3), z=5))
    assert chosen(runnel.constant(1)).numpy() == 5
    assert chosen(runnel.constant(7)).numpy() == 2


def test_tensor_array_chosen_by_a_branch():
    @runnel.function
    def write(x):
        array = runnel.TensorArray(runnel.int32, 2)
        if x > 0:
            array = array.write(0, x)
        else:
            array = array.write(1, x)
        return array.stack()

    assert write(runnel.constant(3)).numpy().tolist() == [3, 0]
    assert write(runnel.constant(-3)).numpy().tolist() == [0, -3]


def test_append_to_a_tensor_array():
    def squares(n):
        items = runnel.TensorArray(runnel.int32, 0, dynamic_size=True)
        for i in runnel.range(n):
            items.append(i * i)
        return items.stack()

    lists = runnel.autograph.experimental.Feature.LISTS
    made = runnel.autograph.to_graph(squares, experimental_optional_features=lists)
    assert runnel.function(made)(runnel.constant(4)).numpy().tolist() == [0, 1, 4, 9]


def test_eager_tensors_that_decide_while_tracing():
    flag, count = runnel.constant(True), runnel.constant(3)
    rounds = []

    @runnel.function
    def f(x):
        if flag:
            y = x + 1
        else:
            y = x - 1
        for i in range(count):
            rounds.append(i)
            y += i
        return y

    assert f(runnel.constant(1)).numpy() == 5
    assert len(rounds) == 1


def test_unknown_shapes():
    spec = [runnel.TensorSpec(None, runnel.float32), runnel.TensorSpec([None], runnel.int32)]

    @runnel.function(input_signature=spec)
    def f(x, indices):
        total = 0
        for i in indices:
            total += i
        for row in x:
            if runnel.reduce_sum(row) > 0.0:
                total += len(indices)
        return total

    x = runnel.constant([[1.0], [-1.0], [2.0]])
    assert f(x, runnel.constant([4, 5])).numpy() == 9 + 2 * 2
    assert f(x[0], runnel.constant([], runnel.int32)).numpy() == 0


def test_layers_decide_by_tensors():
    class Gate(runnel.keras.layers.Layer):
        def call(self, x):
            if runnel.reduce_sum(x) > 0.0:
                return x
            return -x

    gate = Gate()

    @runnel.function
    def run(x):
        return gate(x)

    assert run(runnel.constant([-3.0])).numpy() == [3.0]
    assert run(runnel.constant([3.0])).numpy() == [3.0]


def test_mapped_functions_are_converted():
    assert runnel.function(lambda x: runnel.map_fn(_halved, x))(
        runnel.constant([1, 4])
    ).numpy().tolist() == [1, 2]


def _halved(v):
    return v // 2 if v % 2 == 0 else v


def test_rows_of_ragged_tensors():
    @runnel.function(input_signature=[runnel.RaggedTensorSpec([None, None], runnel.int32)])
    def total(rows):
        found = 0
        for row in rows:
            if runnel.size(row) > 1:
                found += runnel.reduce_sum(row)
        return found

    assert total(runnel.ragged.constant([[1, 2], [], [3], [4, 5, 6]])).numpy() == 18


def test_rows_whose_number_is_unknown_need_a_statement():
    @runnel.function(input_signature=[runnel.RaggedTensorSpec([None, None], runnel.int32)])
    def listed(rows):
        return list(rows)

    with pytest.raises(TypeError, match=r"tf\.map_fn"):
        listed(runnel.ragged.constant([[1, 2], []]))
