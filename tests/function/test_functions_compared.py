"""Functions, loops and gradients that were found to differ from TensorFlow's, run on both."""

import collections
import dataclasses
import fractions

import numpy as np
import pytest
from both import same

X = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
WIDE = np.array([[0.3, -1.2, 2.1], [0.7, 0.1, -0.4]], np.float32)


@dataclasses.dataclass(frozen=True)
class Config:
    rate: float


def sizes_of_mapped_rows(tf, note):
    """Of how many rows results are is known before they are computed."""

    @tf.function
    def function(x, n):
        array = tf.TensorArray(tf.float32, size=2)
        for i in tf.range(2):
            if i > 0:
                array = array.write(i, x[0])
            else:
                array = array.write(i, x[1])
        spec = tf.TensorSpec([2])
        results = [
            tf.map_fn(lambda row: row * row, x),
            tf.scan(lambda a, b: a + b, x, initializer=tf.zeros([3])),
            tf.vectorized_map(tf.reduce_sum, x),
            tf.map_fn(lambda row: tf.zeros([n]), x, fn_output_signature=spec),
            array.stack(),
            array.gather([0, 1, 1]),
            tf.TensorArray(tf.float32, size=tf.constant(4)).unstack(tf.ones([4])).stack(),
            tf.TensorArray(tf.float32, size=n, element_shape=[]).stack(),
        ]
        note(*[str(each.shape) for each in results])
        return results

    return function(tf.constant(WIDE), tf.constant(2))


def rows_mapped_in_a_loop(tf, note):
    @tf.function
    def function(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(n):
                y = tf.map_fn(lambda row: row * row, y)
                y = tf.scan(lambda a, b: a * 0.5 + b, y)
        return y, tape.gradient(y, x)

    return [function(tf.constant(WIDE), tf.constant(n)) for n in (0, 2)]


def no_rows(tf, note):
    def function(x):
        nothing = x[:0]
        start = (tf.zeros([2]), tf.constant(0))
        return [
            tf.scan(lambda a, b: (a[0] + b, a[1] + 1), nothing, initializer=start),
            tf.vectorized_map(lambda row: (tf.reduce_sum(row), tf.cast(row, tf.int32)), nothing),
        ]

    x = tf.constant(X)
    return function(x), tf.function(function)(x)


def a_row_for_all(tf, note):
    def function(x):
        return tf.vectorized_map(lambda pair: pair[0] * pair[1], (x, tf.constant([[3.0, 4.0]])))

    unknown = tf.function(function, input_signature=[tf.TensorSpec([None, 2])])
    return function(tf.constant(X)), unknown(tf.constant(X))


def rows_of_another_dtype(tf, note):
    return tf.map_fn(lambda row: tf.cast(row, tf.int32), tf.constant(X))


def no_rows_to_begin_with(tf, note):
    return tf.foldl(lambda a, b: a + b, tf.zeros([0, 2]))


def jacobians_of_any_size(tf, note):
    def function(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            rows, same_size = tf.reduce_sum(x**2, 1), tf.sin(x) * x[:, ::-1]
            total = tf.reduce_sum(x**3)
        of_examples = tape.batch_jacobian(same_size, x)
        note(of_examples.shape.rank)
        return (
            tape.jacobian(rows, x),
            of_examples,
            tape.jacobian(total, x),
            tape.jacobian(rows, tf.constant([1.0]), unconnected_gradients="zero"),
        )

    found = []
    for shape in ([None, None], [None, 2], [2, None]):
        traced = tf.function(function, input_signature=[tf.TensorSpec(shape)])
        found.append(traced(tf.constant(X)))
    return found


def jacobians_in_training(tf, note):
    weights = tf.Variable([[0.3, -0.2], [0.5, 0.1]])

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def step(x):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.tanh(x @ weights)
            slopes = inner.batch_jacobian(y, x)
            note(str(slopes.shape))
            loss = tf.reduce_mean(slopes**2)
        return loss, outer.gradient(loss, weights)

    return step(tf.constant(X)), step(tf.constant(X[:1]))


def a_method_with_its_gradient(tf, note):
    class Scaled:
        factor = 3.0

        @tf.custom_gradient
        def apply(self, x):
            return x * self.factor, lambda upstream: upstream * 7.0

    scaled = Scaled()

    def function(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = scaled.apply(x)
        return y, tape.gradient(y, x)

    return function(tf.constant(2.0)), tf.function(function)(tf.constant(2.0))


def arguments_that_are_no_tensors(tf, note):
    @tf.custom_gradient
    def apply(x, mode, factor, array):
        note(type(mode).__name__, type(factor).__name__, type(array).__name__)
        return x * factor, lambda upstream: (upstream * 5.0, None, None, None)

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = apply(x, "times", 3, np.ones(2))
    return y, tape.gradient(y, x)


def gradients_by_integers(tf, note):
    @tf.function
    def function(x):
        note(*tf.gradients(x * 2, x))
        return x

    return function(tf.constant(3))


def equal_arguments(tf, note):
    """Objects that are equal share a trace."""
    arguments = [
        [tf.TensorShape([None, 2]), tf.TensorShape([None, 2]), tf.TensorShape([3])],
        [float("nan"), float("nan"), 1.0, "NaN"],
        [Config(0.1), Config(0.1), Config(0.2)],
        [fractions.Fraction(1, 2), fractions.Fraction(1, 2)],
        [frozenset({1}), frozenset({1}), frozenset({2})],
        [object(), object()],
    ]
    for values in arguments:
        _count_traces(tf, note, values)


def _count_traces(tf, note, values):
    traces = []

    @tf.function
    def function(value):
        traces.append(value)
        return tf.constant(1)

    for value in values:
        function(value)
        note(len(traces))


def tensors_of_structures_by_themselves(tf, note):
    pair = collections.namedtuple("pair", "first second")

    @tf.function
    def function(structure, scale):
        return structure["a"] * structure["b"][0] + scale.first - scale.second

    spec = tf.TensorSpec([], tf.float32)
    concrete = function.get_concrete_function({"a": spec, "b": [spec]}, pair(spec, spec))
    return concrete(*[tf.constant(each) for each in (2.0, 3.0, 10.0, 4.0)])


def counters_of_no_round(tf, note):
    @tf.function
    def function(n):
        for i in tf.range(5, 5 + n):
            tf.debugging.assert_less(i, 100)
        return i

    return function(tf.constant(0)), function(tf.constant(2))


def scalars_for_numpy(tf, note):
    def seen(*values):
        note(*[type(value).__name__ for value in values])
        return np.array([values[0], values[0].upper()])

    @tf.function
    def function(text, number, vector):
        return tf.numpy_function(seen, [text, number, vector], tf.string)

    found = function(tf.constant("ab"), tf.constant(2.5), tf.constant([True]))
    note(found.numpy().tolist())


def errors_of_keys(tf, note):
    @tf.function
    def function(x):
        return {"a": x}["b"]

    try:
        function(tf.constant(1))
    except KeyError as error:
        note(type(error).__name__)


def steps_of_units(tf, note):
    """Unrolled steps of two GRU cells, the second begun with the state of the first."""
    numbers = np.random.default_rng(3)
    shapes = ([3, 9], [3, 9], [2, 9])
    weights = [[numbers.normal(size=shape) * 0.5 for shape in shapes] for _ in range(2)]
    cells = []
    for values in weights:
        cells.append(tf.keras.layers.GRUCell(3))
        cells[-1].build([None, 3])
        cells[-1].set_weights(values)
    inputs = tf.constant(numbers.normal(size=[5, 4, 3]).astype("float32"))

    @tf.function
    def function(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            state, outputs = tf.zeros([4, 3]), []
            for row in tf.unstack(x):
                _, state = cells[0](row, state)
            between = state
            for row in tf.unstack(x)[::-1]:
                output, state = cells[1](row * 2.0, state)
                outputs.append(output)
            loss = tf.reduce_sum(tf.stack(outputs) ** 2) + tf.reduce_sum(between**3)
        sources = [x, *cells[0].trainable_variables, *cells[1].trainable_variables]
        return loss, outputs, tape.gradient(loss, sources)

    return function(inputs)


PROGRAMS = [
    sizes_of_mapped_rows,
    rows_mapped_in_a_loop,
    no_rows,
    a_row_for_all,
    rows_of_another_dtype,
    no_rows_to_begin_with,
    jacobians_of_any_size,
    jacobians_in_training,
    a_method_with_its_gradient,
    arguments_that_are_no_tensors,
    gradients_by_integers,
    equal_arguments,
    tensors_of_structures_by_themselves,
    counters_of_no_round,
    scalars_for_numpy,
    errors_of_keys,
    steps_of_units,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_same_as_the_original(program):
    same(program)
