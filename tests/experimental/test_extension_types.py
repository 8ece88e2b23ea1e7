"""Extension types beside the original: fields, specs, and how functions and datasets carry them."""

import copy
import pickle
import typing

import pytest
import tensorflow
from both import same

import runnel


def masked(tf):
    class Masked(tf.experimental.ExtensionType):
        values: tf.Tensor
        mask: tf.Tensor
        name: str = "x"

        def kept(self):
            return tf.boolean_mask(self.values, self.mask)

    return Masked


def record(tf):
    class Record(tf.experimental.ExtensionType):
        count: int
        label: typing.Union[float, str]  # noqa: UP007 - as programs write it
        sizes: tuple[int, ...] = (1, 2)
        parts: typing.Mapping[str, tf.Tensor] = {}
        extra: typing.Optional[tf.Tensor] = None  # noqa: UP045
        shape: tf.TensorShape = tf.TensorShape(None)
        dtype: tf.DType = tf.int32

    return Record


def nested(tf):
    Masked = masked(tf)

    class Pair(tf.experimental.ExtensionType):
        first: Masked
        rows: tf.RaggedTensor
        both: tuple[tf.Tensor, Masked]

    value = Masked([1.0, 2.0], [True, False])
    return Pair(value, tf.ragged.constant([[1], [2, 3]]), ([5.0], value))


CONSTRUCTIONS = [
    lambda make: make([1, 2], [True, False]),
    lambda make: make([1, 2], mask=[True, False], name="y"),
    lambda make: make([1, 2]),
    lambda make: make([1], [True], "n", 5),
    lambda make: make([1], [True], 3),
    lambda make: make([1], [True], color=3),
    lambda make: make("a", "b"),
    lambda make: make([[1], [2, 3]], [True]),
    lambda make: make([1, 2], [True, False]) == make([1, 2], [True, False]),
    lambda make: make([1, 2], [True, False]) == make([1, 3], [True, False]),
    lambda make: make([1, 2], [True, False]) == make([1, 2, 3], [True, False]),
    lambda make: make([1, 2], [True, False]) == 5,
    lambda make: make([1, 2], [True, False]) != make([1, 2], [True, False]),
    lambda make: hash(make(1, True)),
    lambda make: setattr(make(1, True), "values", 2),
    lambda make: setattr(make(1, True), "other", 2),
    lambda make: delattr(make(1, True), "values"),
    lambda make: make([1, 2], [True, False]).kept(),
    lambda make: make.Spec(1, 2),
    lambda make: make.Spec.from_value(make([1, 2], [True, False])),
    lambda make: copy.copy(make([1, 2], [True, False])),
    lambda make: copy.deepcopy(make([1, 2], [True, False])),
]


@pytest.mark.parametrize("use", CONSTRUCTIONS)
def test_values_and_their_text(use):
    same(lambda tf, note: shown(tf, use(masked(tf))))


def shown(tf, value):
    return value if tf.is_tensor(value) else repr(value)


@pytest.mark.parametrize(
    "arguments",
    [
        ((1, "q"), {}),
        ((1, 2.0, (3,), {"k": 1}), {}),
        (("a", 2.0), {}),
        ((1, 2.0), {"sizes": [1, 2]}),
        ((1, 2.0), {"sizes": ("a",)}),
        ((1, 2.0), {"extra": [1.0]}),
        ((1, 2), {}),
        ((True, 2.0), {}),
        ((1, "q"), {"shape": [2, None], "dtype": "float16"}),
        ((1, "q"), {"parts": [1]}),
        ((1, "q"), {"dtype": "nothing"}),
    ],
)
def test_fields_are_converted_or_refused(arguments):
    args, kwargs = arguments

    def program(tf, note):
        value = record(tf)(*args, **kwargs)
        note(repr(value), repr(tf.type_spec_from_value(value)))
        note(repr(tf.experimental.extension_type.as_dict(value)))
        return tf.nest.flatten(value, expand_composites=True)

    same(program)


BODIES = [
    {"__annotations__": {"x": list}},
    {"x": 1},
    {"__annotations__": {"_type_spec": int}},
    {"__annotations__": {"Spec": int}},
    {"__annotations__": {"x": list[int]}},
    {"__annotations__": {"x": int}, "x": "a"},
    {"__annotations__": {"x": int, "y": int}, "x": 1},
    {"__annotations__": {"x": typing.Any}},
    {"__annotations__": {"x": typing.Callable}},
    {"__annotations__": {"x": typing.Mapping[float, int]}},
    {"__annotations__": {}},
]


@pytest.mark.parametrize("body", BODIES)
def test_which_classes_may_be(body):
    def program(tf, note):
        base = tf.experimental.ExtensionType
        kind = type(base)("Made", (base,), {"__module__": __name__, **body})
        return kind.__name__

    same(program)


def test_a_constructor_and_a_check_of_ones_own():
    def program(tf, note):
        class Doubled(tf.experimental.ExtensionType):
            value: tf.Tensor

            def __init__(self, half):
                self.value = tf.constant(half) * 2

            def __validate__(self):
                self.value.shape.assert_has_rank(1)

            def __repr__(self):
                return "doubled"

        class Empty(Doubled):
            def __init__(self):
                pass

        note(repr(Doubled([3])), Doubled([3]).value)
        for make in (lambda: Doubled(3), Empty, lambda: Doubled([1], [2])):
            try:
                make()
            except Exception as error:
                note(type(error).__name__)
        return tf.function(lambda x: x)(Doubled([1.0])).value

    same(program)


def test_subclasses_add_fields():
    def program(tf, note):
        class Scaled(masked(tf)):
            scale: float = 2.0

        value = Scaled([1], [True], scale=3.0)
        note(repr(value), isinstance(value, tf.experimental.ExtensionType))
        return value.kept()

    same(program)


def test_specs():
    def program(tf, note):
        Masked = masked(tf)
        spec = tf.type_spec_from_value(Masked([1, 2], [True, False]))
        wide = Masked.Spec(tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.bool), "x")
        other = tf.type_spec_from_value(Masked([1], [True]))
        again = tf.type_spec_from_value(Masked([3, 4], [True, True]))
        note(repr(spec), repr(wide), spec == wide, spec == again, hash(spec) == hash(again))
        note(spec.is_subtype_of(wide), wide.is_subtype_of(spec), wide.is_compatible_with(spec))
        note(repr(spec.most_specific_common_supertype([other])))
        named = tf.type_spec_from_value(Masked([1], [True], "q"))
        note(spec.most_specific_common_supertype([named]) is None)
        note(spec.value_type is Masked, repr(wide.values), wide.name)
        note(repr(tf.type_spec_from_value(nested(tf))))

    same(program)


def test_a_spec_with_a_constructor_of_its_own():
    def program(tf, note):
        class Grid(tf.experimental.ExtensionType):
            cells: tf.Tensor

            class Spec:
                def __init__(self, size):
                    self.cells = tf.TensorSpec([size, size])

                @property
                def shape(self):
                    return self.cells.shape

        note(
            repr(Grid.Spec(3)),
            str(Grid.Spec(3).shape),
            repr(tf.type_spec_from_value(Grid([[1.0]]))),
        )
        total = tf.function(lambda g: tf.reduce_sum(g.cells), input_signature=[Grid.Spec(None)])
        return total(Grid([[1.0, 2.0], [3.0, 4.0]]))

    same(program)


def test_functions_conditions_loops_and_gradients_carry_them():
    def program(tf, note):
        Masked = masked(tf)
        traces = []

        @tf.function
        def grow(x, by):
            traces.append(1)
            return Masked(x.values + by, x.mask, x.name)

        first = grow(Masked([1.0, 2.0], [True, False]), 1.0)
        grow(Masked([3.0, 4.0], [True, True]), 1.0)
        grow(Masked([3.0, 4.0], [True, True], "other"), 1.0)
        note(len(traces), repr(first))
        pair = tf.function(lambda x: x)(nested(tf))
        note(*tf.nest.flatten(pair, expand_composites=True))

        @tf.function
        def looped(x):
            x = tf.cond(tf.reduce_sum(x.values) > 0, lambda: x, lambda: grow(x, 10.0))
            _, x = tf.while_loop(
                lambda i, x: i < 3, lambda i, x: (i + 1, Masked(x.values * 2, x.mask)), (0, x)
            )
            return x

        note(looped(first).values, looped(Masked([-9.0], [True])).values)
        with tf.GradientTape() as tape:
            values = tf.constant([1.0, 2.0])
            tape.watch(values)
            result = looped(Masked(values, [True, True])).values
        note(tape.gradient(result, values))
        concrete = looped.get_concrete_function(
            Masked.Spec(tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool), "x")
        )
        return concrete(Masked([1.0, 2.0, 3.0], [True] * 3)).values

    same(program)


# What the branches of a condition and the rounds of a loop return must be one type.
MISMATCHES = {
    "static field": lambda tf, Masked, x: (x, Masked(x.values, x.mask, "other")),
    "other class": lambda tf, Masked, x: (x, other_of_two(tf)(x.values, x.mask)),
    "other sizes": lambda tf, Masked, x: (x, Masked(x.values[:1], x.mask[:1])),
    "other dtype": lambda tf, Masked, x: (x, Masked(tf.cast(x.values, tf.int32), x.mask)),
}


def other_of_two(tf):
    class Other(tf.experimental.ExtensionType):
        values: tf.Tensor
        mask: tf.Tensor

    return Other


@pytest.mark.parametrize("name", MISMATCHES)
@pytest.mark.parametrize("use", ["cond", "while_loop", "switch_case"])
def test_branches_and_rounds_return_one_type(name, use):
    def program(tf, note):
        Masked = masked(tf)

        @tf.function
        def f(flag, x):
            first, second = MISMATCHES[name](tf, Masked, x)
            if use == "cond":
                return tf.cond(flag, lambda: first, lambda: second)
            if use == "switch_case":
                return tf.switch_case(tf.cast(flag, tf.int32), [lambda: first, lambda: second])
            return tf.while_loop(lambda x: flag, lambda x: [second], [first])[0]

        result = f(tf.constant(False), Masked([1.0, 2.0], [True, False]))
        return result.values

    same(program)


def test_composites_of_branches_differ_in_size():
    def program(tf, note):
        @tf.function
        def f(flag, x):
            made = tf.cond(
                flag, lambda: tf.sparse.from_dense(x), lambda: tf.sparse.from_dense(x[:1])
            )
            return tf.sparse.to_dense(made)

        note(f(tf.constant(True), tf.constant([1.0, 2.0])))
        return f(tf.constant(False), tf.constant([1.0, 2.0]))

    same(program)


def test_a_signature_takes_no_other_values():
    def program(tf, note):
        Masked = masked(tf)
        spec = Masked.Spec(tf.TensorSpec([2]), tf.TensorSpec([2], tf.bool), "x")
        f = tf.function(lambda x: x.values, input_signature=[spec])
        note(f(Masked([1.0, 2.0], [True, False])))
        raised = []
        for value in (tf.constant([1.0, 2.0]), Masked([1.0], [True]), 3, None,
                      Masked([1.0, 2.0], [True, False], "other")):  # fmt: skip
            try:
                f(value)
                raised.append("nothing")
            except TypeError:
                raised.append("TypeError")
        return raised

    same(program)


def test_datasets_carry_them():
    def program(tf, note):
        Masked = masked(tf)
        dataset = tf.data.Dataset.from_tensors(Masked([1, 2], [True, False])).repeat(2)
        note(repr(dataset.element_spec))
        dataset = dataset.enumerate().map(lambda i, x: Masked(x.values * (tf.cast(i, tf.int32) + 1),
                                                              x.mask))  # fmt: skip
        return [each.kept() for each in dataset]

    same(program)


class Named(runnel.experimental.ExtensionType):
    values: runnel.Tensor
    name: str


def test_pickle():
    value = Named([1, 2], "n")
    again = pickle.loads(pickle.dumps(value))
    assert repr(again) == repr(value)
    spec = runnel.type_spec_from_value(value)
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_the_original_agrees_on_the_base_classes():
    for name in ("ExtensionType", "ExtensionTypeSpec"):
        assert hasattr(tensorflow.experimental, name)
        assert getattr(runnel.experimental, name).__doc__


def test_annotations_as_text_see_the_names_around_the_class():
    Inner = masked(runnel)

    class Outer(runnel.experimental.ExtensionType):
        inner: "Inner"
        rest: "runnel.Tensor"

    value = Outer(Inner([1], [True]), [2.0])
    assert value.inner.values.numpy().tolist() == [1]
    with pytest.raises(TypeError, match="inner"):
        Outer([1], [2.0])
