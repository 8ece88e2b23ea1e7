"""TensorSpec, and specs written by users, beside TensorFlow's own."""

import copy
import itertools
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, strategies as st
from parameter_names import stable_repr

from runnel.core import dtypes, shapes, type_spec
from runnel.core.convert import constant
from runnel.core.tensor import Tensor

ours = SimpleNamespace(
    TypeSpec=type_spec.TypeSpec,
    TensorSpec=type_spec.TensorSpec,
    TensorShape=shapes.TensorShape,
    as_dtype=dtypes.as_dtype,
    constant=constant,
    type_spec_from_value=type_spec.type_spec_from_value,
    int32=dtypes.int32,
    float32=dtypes.float32,
)
BOTH = (ours, tf)

# Few shapes, so that two drawn at random are often related.
shape_values = st.sampled_from([None, [], [2], [3], [None], [2, None], [2, 3]])
specs = st.tuples(
    shape_values, st.sampled_from(["float32", "int32"]), st.sampled_from([None, "x", "y"])
)


def agree(function):
    """A function of a library does the same with both: its result's text or the error's class."""
    results = []
    for library in BOTH:
        try:
            results.append(repr(function(library)))
        except Exception as error:
            results.append(type(error).__name__)
    assert results[0] == results[1]
    return results[0]


ARGUMENTS = [
    *(([2, None],), ([2, None], "int32", "x"), (None,), ([2], np.float32), ([2], float)),
    *(([2], int), ([2], None), ("a",), ([-1],), ([2], "int32", 3), (), (3,), ([],)),
]


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=repr)
def test_constructor(arguments):
    agree(lambda library: library.TensorSpec(*arguments))


@given(specs)
def test_one_spec(arguments):
    def spec(library):
        return library.TensorSpec(*arguments)

    agree(lambda library: (spec(library).shape, spec(library).dtype, spec(library).name))
    agree(lambda library: str(spec(library)))
    agree(lambda library: spec(library).flatten())
    agree(lambda library: spec(library)._serialize())
    agree(lambda library: spec(library)._component_specs)
    agree(lambda library: pickle.loads(pickle.dumps(spec(library))) == spec(library))
    agree(lambda library: copy.deepcopy(spec(library)))
    agree(lambda library: library.TensorSpec.from_spec(spec(library)))
    agree(lambda library: library.TensorSpec.from_spec(spec(library), name="z"))
    agree(lambda library: spec(library).most_specific_common_supertype([]))
    assert spec(ours).value_type is Tensor


RELATED_SPECS = [
    *([2], [3], [None], [2, 3], None),
    *(([2], "float32", "x"), ([None], "float32", "x"), ([2], "float32", "y"), ([2], "int32")),
]
SPEC_PAIRS = list(
    itertools.product(
        [spec if isinstance(spec, tuple) else (spec,) for spec in RELATED_SPECS], repeat=2
    )
)


@pytest.mark.parametrize(("first", "second"), SPEC_PAIRS, ids=str)
def test_two_specs(first, second):
    def both(library):
        return library.TensorSpec(*first), library.TensorSpec(*second)

    def call(name):
        def apply(library):
            a, b = both(library)
            return getattr(a, name)([b] if name.endswith("supertype") else b)

        return apply

    agree(lambda library: both(library)[0] == both(library)[1])
    agree(lambda library: both(library)[0] != both(library)[1])
    agree(lambda library: hash(both(library)[0]) == hash(both(library)[1]))
    agree(call("is_compatible_with"))
    agree(call("is_subtype_of"))
    agree(call("most_specific_common_supertype"))
    agree(call("most_specific_compatible_type"))


@pytest.mark.parametrize(
    "other", [3, None, "a", [2], [1.0, 2.0], np.zeros(2, np.float32)], ids=repr
)
def test_a_spec_beside_other_values(other):
    agree(lambda library: library.TensorSpec([2]).is_compatible_with(other))
    agree(lambda library: library.TensorSpec([2]).is_subtype_of(other))
    agree(lambda library: library.TensorSpec([2]).most_specific_common_supertype([other]))
    agree(lambda library: library.TensorSpec([2]).most_specific_compatible_type(other))
    agree(lambda library: library.TensorSpec.from_tensor(other))
    agree(lambda library: library.TensorSpec.from_spec(other))
    if not isinstance(other, np.ndarray):
        agree(lambda library: library.TensorSpec([2]) == other)


@pytest.mark.parametrize("value", [[1.0, 2.0], [1, 2], [1.0], 1.0, [[1.0, 2.0]]], ids=repr)
def test_a_spec_beside_a_tensor(value):
    for shape in ([2], [None], None, []):
        agree(lambda library: library.TensorSpec(shape).is_compatible_with(library.constant(value)))
    agree(lambda library: library.TensorSpec.from_tensor(library.constant(value)))
    agree(lambda library: library.TensorSpec.from_tensor(library.constant(value), name="n"))


@pytest.mark.parametrize("value", [[1.0, 2.0], [1, 2], [1.5], 3.0, np.zeros(2), "a", None, object])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("as_tensor", [False, True])
def test_cast(value, dtype, as_tensor):
    def cast(library):
        argument = library.constant(value) if as_tensor else value
        spec = library.TensorSpec([2], dtype, "x")
        tensor = spec.cast(argument, SimpleNamespace(allow_specs=False))
        (again,) = spec.to_tensors(argument)
        return tensor.dtype, tensor.shape, tensor.numpy(), again.numpy()

    agree(cast)


@given(specs, specs, st.booleans())
def test_cast_of_a_spec(first, second, allow_specs):
    context = SimpleNamespace(allow_specs=allow_specs)
    agree(lambda library: library.TensorSpec(*first).cast(library.TensorSpec(*second), context))


def test_from_tensors():
    agree(lambda library: library.TensorSpec([2]).from_tensors(iter([5, 6])))
    agree(lambda library: library.TensorSpec([2]).from_tensors([5]))
    agree(lambda library: library.TensorSpec([2]).from_tensors(iter([])))


def test_attributes_cannot_be_set():
    for name in ("shape", "dtype", "name"):
        agree(lambda library: setattr(library.TensorSpec([2]), name, None))


def subclass_of(library):
    class Sub(library.TensorSpec):
        pass

    return Sub


SUBCLASS_CASES = [
    lambda sub, spec: sub([2]),
    lambda sub, spec: sub([2]) == spec([2]),
    lambda sub, spec: spec([2]) == sub([2]),
    lambda sub, spec: sub([2]).is_subtype_of(spec([2])),
    lambda sub, spec: spec([2]).is_subtype_of(sub([2])),
    lambda sub, spec: spec([2]).is_compatible_with(sub([2])),
    lambda sub, spec: sub([2]).most_specific_common_supertype([spec([2])]),
    lambda sub, spec: sub([2]).most_specific_common_supertype([sub([3])]),
    lambda sub, spec: sub.from_spec(spec([2])),
]


@pytest.mark.parametrize("case", range(len(SUBCLASS_CASES)))
def test_subclasses_of_tensor_spec(case):
    agree(lambda library: SUBCLASS_CASES[case](subclass_of(library), library.TensorSpec))


class Pair:
    """A composite value: the same class serves both libraries."""

    def __init__(self, first, second):
        self.first = first
        self.second = second

    def __repr__(self):
        return f"Pair({self.first.numpy()}, {self.second.numpy()})"


def pair_spec_of(library):
    class PairSpec(library.TypeSpec):
        def __init__(self, shape, dtype, tag):
            self._shape = library.TensorShape(shape)
            self._dtype = library.as_dtype(dtype)
            self._tag = tag

        @property
        def value_type(self):
            return Pair

        def _serialize(self):
            return self._shape, self._dtype, self._tag

        @property
        def _component_specs(self):
            return {
                "first": library.TensorSpec(self._shape, "float32"),
                "second": [library.TensorSpec([], self._dtype)],
            }

        def _to_components(self, value):
            return {"first": value.first, "second": [value.second]}

        def _from_components(self, components):
            return Pair(components["first"], components["second"][0])

    return PairSpec


OUR_PAIR_SPEC, THEIR_PAIR_SPEC = map(pair_spec_of, BOTH)


def pair_spec(library, shape=(2,), dtype="int32", tag="t"):
    return (OUR_PAIR_SPEC if library is ours else THEIR_PAIR_SPEC)(shape, dtype, tag)


def pair_value(library):
    return Pair(library.constant([1.0, 2.0]), library.constant(7))


tags = st.sampled_from(["t", 3, ("a", 1), ["a", 1], {"a": 1}, {"b": 1}, None])
pair_arguments = st.tuples(shape_values, st.sampled_from(["float32", "int32"]), tags)


@given(pair_arguments)
def test_one_user_spec(arguments):
    agree(lambda library: pair_spec(library, *arguments))
    agree(lambda library: str(pair_spec(library, *arguments)))
    agree(lambda library: pair_spec(library, *arguments).flatten())
    agree(lambda library: pair_spec(library, *arguments).most_specific_common_supertype([]))
    agree(lambda library: pair_spec(library, *arguments).__reduce__()[1])
    again = copy.copy(pair_spec(ours, *arguments))
    assert again == pair_spec(ours, *arguments)
    assert hash(again) == hash(pair_spec(ours, *arguments))


@given(pair_arguments, pair_arguments)
def test_two_user_specs(first, second):
    def apply(function):
        agree(lambda library: function(pair_spec(library, *first), pair_spec(library, *second)))

    apply(lambda a, b: a == b)
    apply(lambda a, b: a != b)
    apply(lambda a, b: a.is_compatible_with(b))
    apply(lambda a, b: a.is_subtype_of(b))
    apply(lambda a, b: a.most_specific_common_supertype([b]))
    apply(lambda a, b: a.most_specific_common_supertype([b, a]))
    apply(lambda a, b: a.most_specific_compatible_type(b))


def test_user_specs_that_hold_arrays():
    def apply(function):
        agree(lambda library: function(*(pair_spec(library, tag=np.arange(n)) for n in (2, 2, 3))))

    apply(lambda a, b, c: (a == b, a == c))
    apply(lambda a, b, c: hash(a) == hash(b))


def test_user_spec_beside_a_tensor_spec():
    def apply(function):
        agree(lambda library: function(pair_spec(library), library.TensorSpec([2])))

    apply(lambda a, b: a == b)
    apply(lambda a, b: a.is_compatible_with(b))
    apply(lambda a, b: a.is_subtype_of(b))
    apply(lambda a, b: a.most_specific_common_supertype([b]))
    apply(lambda a, b: a.most_specific_compatible_type(b))
    agree(lambda library: pair_spec(library).is_compatible_with(3))
    agree(lambda library: pair_spec(library).is_compatible_with(object()))


@pytest.mark.parametrize("shape", [(2,), (None,), (3,)], ids=repr)
def test_values_of_a_user_spec(shape):
    context = SimpleNamespace(allow_specs=False)
    agree(
        lambda library: [
            tensor.numpy() for tensor in pair_spec(library, shape).to_tensors(pair_value(library))
        ]
    )
    agree(lambda library: pair_spec(library, shape).cast(pair_value(library), context))
    agree(lambda library: pair_spec(library, shape).cast(3, context))
    agree(lambda library: pair_spec(library, shape).to_tensors(3))
    agree(
        lambda library: pair_spec(library, shape).from_tensors(
            iter([library.constant([1.0, 2.0]), library.constant(7)])
        )
    )
    agree(lambda library: pair_spec(library, shape).from_tensors([library.constant([1.0])]))


def test_cast_keeps_a_value_that_fits():
    value = pair_value(ours)
    assert pair_spec(ours).cast(value, SimpleNamespace(allow_specs=False)) is value


def test_cast_converts_components_that_do_not_fit_yet():
    context = SimpleNamespace(allow_specs=False)
    agree(lambda library: pair_spec(library).cast(Pair(np.array([1, 2]), np.int32(7)), context))


def test_type_spec_is_abstract():
    agree(lambda library: library.TypeSpec())
    agree(lambda library: sorted(library.TypeSpec.__abstractmethods__))


VALUES = [
    *(1, 1.5, "a", b"a", True, 1j, 2**40, 2**70, None, [1, 2], (1, 2), [], [[1, 2], [3]]),
    *({"a": 1}, np.zeros(2), np.float32(2), np.array(["a"]), np.zeros(2, "m8[s]"), [object()]),
    *(object(), int, [1.0, 2], [["a"], ["b"]], range(3)),
]


@pytest.mark.parametrize("value", VALUES, ids=stable_repr)
def test_type_spec_from_value(value):
    agree(lambda library: library.type_spec_from_value(value))


def test_type_spec_from_tensors_and_from_what_is_no_value():
    agree(lambda library: library.type_spec_from_value(library.constant([1])))
    agree(lambda library: library.type_spec_from_value(library.TensorShape([2, 3])))
    agree(lambda library: library.type_spec_from_value(library.TensorSpec([2])))
    agree(lambda library: library.type_spec_from_value(library.float32))


def test_registered_types_and_composites_describe_themselves():
    class Registered:
        pass

    class Derived(Registered):
        pass

    class Composite:
        _type_spec = type_spec.TensorSpec([4])

    type_spec.register_type_spec(Registered, lambda value: type_spec.TensorSpec([3]))
    try:
        assert type_spec.type_spec_from_value(Derived()) == type_spec.TensorSpec([3])
    finally:
        del type_spec._SPEC_OF[Registered]
    assert type_spec.type_spec_from_value(Composite()) is Composite._type_spec


NONE_CASES = [
    lambda spec, library: spec,
    lambda spec, library: spec == library.type_spec_from_value(None),
    lambda spec, library: hash(spec) == hash(library.type_spec_from_value(None)),
    lambda spec, library: spec.flatten(),
    lambda spec, library: spec.to_tensors(None),
    lambda spec, library: spec.from_tensors(iter([])),
    lambda spec, library: spec.is_compatible_with(None),
    lambda spec, library: spec.is_compatible_with(3),
    lambda spec, library: spec.is_compatible_with(library.TensorSpec([2])),
    lambda spec, library: spec.is_subtype_of(library.TensorSpec([2])),
    lambda spec, library: spec.most_specific_common_supertype([spec]),
    lambda spec, library: spec.most_specific_compatible_type(library.TensorSpec([2])),
    lambda spec, library: pickle.loads(pickle.dumps(spec)),
]


@pytest.mark.parametrize("case", range(len(NONE_CASES)))
def test_the_spec_of_none(case):
    agree(lambda library: NONE_CASES[case](library.type_spec_from_value(None), library))
