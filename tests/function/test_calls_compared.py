"""What programs hand to functions, conditions, maps and conversions, run on both libraries."""

import inspect

import pytest
from both import same


def conditions_on_variables(tf, note):
    v = tf.Variable(False)

    @tf.function
    def negated(t):
        if not t:
            return 1
        return 2

    note(tf.function(lambda: tf.cond(v, lambda: 1, lambda: 2))(), negated(v))
    v.assign(True)
    note(tf.cond(v, lambda: 1, lambda: 2), negated(v))


def branches_of_operations(tf, note):
    v = tf.Variable(0.0)

    @tf.function
    def function(p):
        tf.cond(p, lambda: tf.group(v.assign(1.0)), lambda: tf.no_op())
        tf.cond(p, lambda: v.assign_add(1.0).op if False else None, lambda: None)
        return v + 0.0

    return function(tf.constant(True)), function(tf.constant(False))


def operations_as_results(tf, note):
    v = tf.Variable(1.0)
    result = tf.function(lambda: tf.group(v.assign(3.0)))()
    note(result is None)
    return v


def strings_mapped(tf, note):
    texts = tf.constant(["ab", "b"])

    def lengths(x):
        return tf.map_fn(tf.strings.length, x, fn_output_signature=tf.int32)

    def upper(x):
        return tf.map_fn(tf.strings.upper, x)

    def gathered(x):
        array = tf.TensorArray(tf.string, 2).unstack(x)
        return tf.strings.join([array.read(0), array.gather([1])[0]])

    return [tf.function(f)(texts) for f in (lengths, upper, gathered)]


def sparse_rows_mapped(tf, note):
    sparse = tf.sparse.from_dense([[2, 0, 0], [0, 0, 0], [0, 3, 4]])

    def sums(x):
        return tf.map_fn(tf.sparse.reduce_sum, x, fn_output_signature=tf.int32)

    def beside(x):
        return tf.map_fn(
            lambda pair: tf.sparse.reduce_sum(pair[0]) - pair[1],
            (x, tf.constant([1, 2, 3])),
            fn_output_signature=tf.int32,
        )

    return sums(sparse), tf.function(sums)(sparse), beside(sparse), tf.function(beside)(sparse)


def lists_of_tensors(tf, note):
    one = tf.constant(1)
    for values, dtype in (
        ([one, 2], tf.int64),
        ([one, 2], tf.float32),
        ([tf.constant(1.5), 2], tf.int64),
        ([[one, 2], [3, one]], tf.int64),
        ([tf.Variable(1), 2.5], tf.float32),
        ([one, 2], None),
    ):
        note(tf.convert_to_tensor(values, dtype))
    note(tf.SparseTensor(tf.constant([[0, 0]], tf.int64), [1.0], [tf.constant(2), 3]).dense_shape)
    note(tf.sparse.reshape(tf.sparse.from_dense([[1.0, 0.0]]), tf.constant([2, 1])).dense_shape)


def mixed_lists(tf, note):
    for values in ([1, 2.0], [1.5, 2]):
        tensors = [tf.constant(value) for value in values]
        try:
            note(tf.convert_to_tensor(tensors))
        except Exception as error:
            note(type(error).__name__)


def dtypes_left_out(tf, note):
    x = tf.constant([1.0, 2.0])
    note(
        tf.argmax(x, output_type=None),
        tf.argmin(x, output_type=None),
        tf.random.stateless_categorical([[0.0, 0.0]], 2, [1, 2], dtype=None),
        tf.random.stateless_normal([1], [1, 2], dtype=None),
        tf.strings.to_number("1", out_type=None),
        tf.math.bincount([1], dtype=None),
        tf.histogram_fixed_width([1.0], [0.0, 1.0], dtype=None),
        tf.searchsorted([1], [1], out_type=None),
        tf.math.top_k([1], 1, index_type=None).indices,
        tf.unique([1], out_idx=None).idx,
    )


def wrapped_functions(tf, note):
    def function(a, b=2, *, c=3):
        """Words."""
        return a

    function.mark = 3
    traced = tf.function(function)
    note(traced.mark, traced.__name__, traced.__doc__)
    note(str(inspect.signature(traced)), inspect.getfullargspec(traced).args)


def concrete_functions_of_signatures(tf, note):
    spec = tf.TensorSpec([None, 2])
    traced = tf.function(lambda x: x, input_signature=[spec])
    note(str(traced.get_concrete_function(spec).output_shapes))
    note(str(traced.get_concrete_function(tf.TensorSpec([3, 2])).output_shapes))
    traced.get_concrete_function(tf.TensorSpec([None, 3]))


def variables_of_concrete_functions(tf, note):
    held = []

    def function(x):
        if not held:
            held.append(tf.Variable(tf.fill([2], 1.5) * 2.0))
        return x + held[0]

    traced = tf.function(function, autograph=False)
    concrete = traced.get_concrete_function(tf.TensorSpec([None, 2]))
    note(str(concrete.output_shapes))
    return concrete(tf.ones([1, 2])), held[0]


def creators_of_variables(tf, note):
    seen = []

    def creator(next_creator, **arguments):
        seen.append(sorted(arguments))
        return next_creator(**arguments)

    with tf.variable_creator_scope(creator):
        v = tf.Variable(1.0)
    note({"trainable", "name", "dtype", "shape", "constraint"} <= set(seen[0]))
    note(v.initializer)
    v._trainable = False
    note(v.trainable, tf.constant(1)._numpy())


def methods_by_their_class(tf, note):
    def function():
        array = tf.TensorArray.write(tf.TensorArray(tf.float32, 2), 0, 1.0)
        return tf.TensorArray.stack(tf.TensorArray.write(array, 1, 2.0))

    return function(), tf.function(function)()


def iterators(tf, note):
    iterator = iter(tf.data.Dataset.range(3))
    note(iterator.next(), next(iterator), iterator.get_next())
    ragged = tf.data.Dataset.range(1, 3).map(lambda i: tf.fill([i], i))
    note(*ragged.padded_batch(2, padded_shapes=5))


def parts_of_modules(tf, note):
    module = tf.Module()
    module.v, module.inner = tf.Variable(1.0), tf.Module()
    module.inner.w = [tf.Variable(2.0)]

    def wanted(value):
        return isinstance(value, tf.Variable)

    for recursive in (True, False):
        found = module._flatten(recursive=recursive, predicate=wanted, with_path=True)
        note(str([path for path, _ in found]))


def kinds_of_tensors(tf, note):
    like = type("Like", (), {"is_tensor_like": True})()
    note(tf.is_tensor(like), tf.is_tensor(object()), tf.is_tensor(tf.Variable(1)))
    tf.no_gradient("Other>Op")


PROGRAMS = [
    conditions_on_variables, branches_of_operations, operations_as_results, strings_mapped,
    sparse_rows_mapped, lists_of_tensors, mixed_lists, dtypes_left_out, wrapped_functions,
    concrete_functions_of_signatures, variables_of_concrete_functions, creators_of_variables,
    methods_by_their_class, iterators, parts_of_modules, kinds_of_tensors,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_calls_as_in_the_original(program):
    same(program)


def message_of(tf, call):
    try:
        call(tf)
    except (ValueError, tf.errors.InvalidArgumentError) as error:
        return str(error)
    raise AssertionError("nothing was refused")


def stopped(tf):
    with tf.GradientTape() as tape:
        pass
    with tape.stop_recording():
        pass


def not_less(tf):
    def function(x):
        tf.debugging.assert_less(x, [1.0, 2.0], message="Bad")

    tf.function(function, autograph=False)(tf.constant([1.0]))


def not_broadcast(tf):
    spec = tf.TensorSpec(None)
    function = tf.function(lambda a, b: a * b, input_signature=[spec, spec])
    function(tf.ones([2, 3]), tf.ones([4, 1]))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (stopped, "Tape is not recording"),
        (not_less, "Condition x < y did not hold"),
        (not_broadcast, "Incompatible shapes: [2,3] vs. [4,1]"),
    ],
)
def test_messages_that_programs_look_for(call, words):
    import tensorflow

    import runnel

    for tf in (tensorflow, runnel):
        assert words in message_of(tf, call)
