"""tf.nest beside TensorFlow's own, over generated structures and one by one."""

import collections
import dataclasses
import types
from typing import Any

import numpy as np
import pytest
import tensorflow
from hypothesis import given, strategies as st
from parameter_names import stable

import runnel
from runnel.core import nest

Pair = collections.namedtuple("Pair", "second first")
OtherPair = collections.namedtuple("OtherPair", "second first")


class SubPair(Pair):
    pass


class ListSubclass(list):
    pass


class TupleSubclass(tuple):
    pass


class DictSubclass(dict):
    pass


class FrozenMapping(collections.abc.Mapping):
    def __init__(self, *args, **kwargs):
        self._values = dict(*args, **kwargs)

    def __getitem__(self, key):
        return self._values[key]

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)

    def __eq__(self, other):
        return type(self) is type(other) and self._values == other._values

    __hash__ = None


class CustomSequence(collections.abc.Sequence):
    def __init__(self, values):
        self._values = list(values)

    def __getitem__(self, index):
        return self._values[index]

    def __len__(self):
        return len(self._values)

    def __eq__(self, other):
        return type(self) is type(other) and self._values == other._values

    __hash__ = None


@dataclasses.dataclass
class Plain:
    x: Any = 1


@dataclasses.dataclass
class Masked:
    value: Any = 1
    weight: Any = 2
    mask: bool = True

    def __tf_flatten__(self):
        return (self.mask,), (self.value, self.weight)

    @classmethod
    def __tf_unflatten__(cls, metadata, components):
        return cls(*components, mask=metadata[0])


@dataclasses.dataclass
class HalfProtocol:
    def __tf_flatten__(self):
        return (), (1, 2)


class AttrsField:
    def __init__(self, name):
        self.name = name


class AttrsLike:
    """What an attrs class looks like from outside; the package itself is no dependency."""

    __attrs_attrs__ = (AttrsField("weight"), AttrsField("bias"))

    def __init__(self, weight, bias):
        self.weight, self.bias = weight, bias

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None


def default_dict(values):
    return collections.defaultdict(int, values)


keys = st.text("abc", min_size=1, max_size=2)
leaves = st.one_of(st.integers(0, 9), st.none(), st.sampled_from(["text", b"bytes", 1.5]))


def containers(children):
    lists = st.lists(children, max_size=3)
    dicts = st.dictionaries(keys, children, max_size=3)
    pairs = st.tuples(children, children)
    return st.one_of(
        lists,
        lists.map(tuple),
        lists.map(ListSubclass),
        lists.map(TupleSubclass),
        lists.map(CustomSequence),
        lists.map(collections.deque),
        dicts,
        dicts.map(collections.OrderedDict),
        dicts.map(default_dict),
        dicts.map(DictSubclass),
        dicts.map(FrozenMapping),
        pairs.map(lambda pair: Pair(*pair)),
        pairs.map(lambda pair: OtherPair(*pair)),
        pairs.map(lambda pair: AttrsLike(*pair)),
        pairs.map(lambda pair: Masked(*pair)),
    )


structures = st.recursive(leaves, containers, max_leaves=8)


def outcome(function, *args, **kwargs):
    """The result of a call with its type, or the class of what it raised."""
    try:
        result = function(*args, **kwargs)
    except Exception as error:
        return type(error)
    return type(result), result


def same(name, *args, **kwargs):
    ours = outcome(getattr(runnel.nest, name), *args, **kwargs)
    theirs = outcome(getattr(tensorflow.nest, name), *args, **kwargs)
    assert ours == theirs


def types_in(structure):
    """The container types in a structure, outside in."""
    if not runnel.nest.is_nested(structure):
        return ()
    parts = structure.values() if isinstance(structure, collections.abc.Mapping) else structure
    if isinstance(structure, AttrsLike):
        parts = (structure.weight, structure.bias)
    if isinstance(structure, Masked):
        parts = (structure.value, structure.weight)
    return type(structure), *(types_in(part) for part in parts)


@given(structures)
def test_flatten(structure):
    same("flatten", structure)


@given(structures)
def test_map_keeps_types_and_order(structure):
    ours = runnel.nest.map_structure(repr, structure)
    theirs = tensorflow.nest.map_structure(repr, structure)
    assert ours == theirs
    assert types_in(ours) == types_in(theirs)
    assert str(ours).split(" at 0x")[0] == str(theirs).split(" at 0x")[0]


@given(structures, structures, st.booleans())
def test_assert_same_structure(first, second, check_types):
    same("assert_same_structure", first, second, check_types=check_types)
    same("assert_same_structure", first, first, check_types=check_types)


@given(structures, st.integers(-1, 1))
def test_pack_sequence_as(structure, surplus):
    count = max(len(tensorflow.nest.flatten(structure)) + surplus, 0)
    same("pack_sequence_as", structure, list(range(count)))
    same("pack_sequence_as", structure, tuple(range(count)))


VALUES = [
    [], (), {}, Pair(1, 2), AttrsLike(1, 2), Plain(), Masked(), HalfProtocol(), "text", b"bytes",
    bytearray(b"ab"), memoryview(b"ab"), np.zeros(3), {1, 2}, range(3), {1: 2}.keys(),
    {1: 2}.values(), {"a": [1, 2]}.items(), collections.deque([1]), None, iter([1]), 3.5,
    types.MappingProxyType({"a": 1}), collections.UserDict(b=1, a=2), collections.UserList([1]),
    collections.Counter("aab"), collections.ChainMap({"b": 1}, {"a": 2}), {2: "a", 1: "b"},
    {2: "a", "1": "b"}, {(1,): 1, "a": 2}, collections.OrderedDict([("b", 1), ("a", 2)]),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_every_kind_of_value(value):
    same("is_nested", value)
    same("map_structure", lambda leaf: (leaf,), value)
    same("assert_same_structure", value, value)
    ours, theirs = (outcome(module.nest.flatten, value) for module in (runnel, tensorflow))
    assert repr(ours) == repr(theirs)


PAIRS = [
    ([1, 2], [1]), ([1, 2], (1, 2)), (1, [1]), ([1], 1), ({"a": 1}, {"b": 1}), ([1, 2], (1,)),
    ({"a": 1, "b": 2}, {"a": 1}), (Pair(1, 2), OtherPair(1, 2)), (Pair(1, 2), (1, 2)),
    (Pair(1, 2), SubPair(1, 2)), (SubPair(1, 2), SubPair(1, 2)), (range(2), [0, 1]),
    (Pair(1, 2), collections.namedtuple("Pair", "second first")(1, 2)),
    (Pair(1, 2), collections.namedtuple("Pair", "first second")(1, 2)),
    ({"a": 1}, collections.OrderedDict(a=1)), ({"a": 1}, FrozenMapping(a=1)),
    ([1], ListSubclass([1])), ((1,), TupleSubclass((1,))), ([1, [2]], [1, 2]),
    ([1, 2, 3], [1, [2]]), ([(1,), 2], [[1], [2]]), ({"a": (1,), "b": 2}, {"a": [1], "c": 1}),
    (Masked(1, 2, True), Masked(1, 2, False)), (Masked(1, 2), (1, 2)), (Masked(1, [2]), Masked()),
    (AttrsLike(1, 2), AttrsLike(1, [2])), (AttrsLike(1, 2), (1, 2)), (None, None),
    ([None], [[None]]), (np.zeros(2), [1, 2]), ({2: 1, "1": 2}, {2: 1, "1": 2}),
]  # fmt: skip


@pytest.mark.parametrize("check_types", [True, False])
@pytest.mark.parametrize(("first", "second"), PAIRS, ids=stable)
def test_pairs(first, second, check_types):
    same("assert_same_structure", first, second, check_types=check_types)
    same("assert_same_structure", second, first, check_types)
    same("map_structure", lambda x, y: (x, y), first, second, check_types=check_types)


@pytest.mark.parametrize(
    ("structure", "flat"),
    [
        (1, [3]), (1, [3, 4]), (1, []), (1, 3), ([1, 2], 3), ([1, 2], "ab"), ([1, 2], None),
        ([1, 2], {3, 4}), ([1, 2], np.array([3, 4])), ([1, 2], {"a": 3, "b": 4}), ([], [1]),
        ([1, [2, 3]], [[1], [2], [3]]), (range(2), [3, 4]), ({"b": 1, "a": 2}.values(), [3, 4]),
        ([1, 2], collections.deque([3, 4])), (None, [1]), ("text", ["more"]),
    ],
    ids=str,
)  # fmt: skip
def test_packing(structure, flat):
    same("pack_sequence_as", structure, flat)


def test_wrong_arguments():
    same("map_structure", lambda x: x)
    same("map_structure", 3, [1])
    same("map_structure", lambda x: x, [1], unknown=1)
    same("map_structure", lambda x: 1 // 0, [1])
    with pytest.raises(ValueError, match="check_types` and `expand_composites`, not: `unknown`"):
        runnel.nest.map_structure(lambda x: x, [1], unknown=1)


@pytest.mark.parametrize(
    ("first", "second"),
    [([1, {"a": 2}], [1, {"b": 2}]), ([1, [2]], [1, 2]), ([1, 2], [1]), ({"a": 1}, 1)],
    ids=str,
)
def test_messages_are_the_same(first, second):
    with pytest.raises(ValueError) as theirs:
        tensorflow.nest.assert_same_structure(first, second)
    with pytest.raises(ValueError) as ours:
        runnel.nest.assert_same_structure(first, second)
    assert str(ours.value) == str(theirs.value)


def test_a_type_mismatch_names_both_types():
    with pytest.raises(TypeError, match=r"has type Pair, while second structure .* has type tuple"):
        runnel.nest.assert_same_structure([Pair(1, 2)], [(1, 2)])


def test_tensors_are_leaves():
    tensor = runnel.constant([1, 2])
    assert not runnel.nest.is_nested(tensor)
    flat = runnel.nest.flatten({"b": tensor, "a": [runnel.Variable(1.0)]}, expand_composites=True)
    assert flat[1] is tensor
    assert len(flat) == 2
    runnel.nest.assert_same_structure(tensor, 1.0)
    doubled = runnel.nest.map_structure(lambda x: x * 2, {"x": tensor})
    assert doubled["x"].numpy().tolist() == [2, 4]


def test_indexed_slices_expand_only_when_asked():
    slices = runnel.IndexedSlices(runnel.constant([1.0]), runnel.constant([2]))
    assert runnel.nest.flatten([slices])[0] is slices
    flat = runnel.nest.flatten([slices], expand_composites=True)
    assert [part.numpy().tolist() for part in flat] == [[1.0], [2]]
    doubled = runnel.nest.map_structure(lambda x: x * 2, slices, expand_composites=True)
    assert isinstance(doubled, runnel.IndexedSlices)
    assert doubled.values.numpy().tolist() == [2.0]
    with pytest.raises(ValueError, match="is a sequence, while substructure"):
        runnel.nest.assert_same_structure(slices, runnel.constant(1), expand_composites=True)


def test_results_do_not_share_containers_with_the_input():
    structure = {"a": [1, 2]}
    copy = runnel.nest.map_structure(lambda x: x, structure)
    copy["a"].append(3)
    assert structure == {"a": [1, 2]}


def test_up_to_a_shallow_tree():
    assert nest.flatten_up_to({"b": 0, "a": (0, 0)}, {"b": [1, 2], "a": (3, {"c": 4})}) == [
        3,
        {"c": 4},
        [1, 2],
    ]
    assert nest.map_structure_up_to((0, 0), len, ([1, 2], [3])) == (2, 1)
    with pytest.raises(TypeError, match="must also be a sequence"):
        nest.flatten_up_to([0], 1)
    with pytest.raises(ValueError, match="same sequence length"):
        nest.flatten_up_to([0, 0], [1])
    with pytest.raises(TypeError, match="same sequence type"):
        nest.flatten_up_to([0], (1,))


def test_paths_name_every_leaf():
    structure = {"layer": [Pair(1, 2)], "attrs": AttrsLike(3, [4])}
    assert nest.flatten_with_joined_string_paths(structure) == [
        ("attrs/weight", 3),
        ("attrs/bias/0", 4),
        ("layer/0/second", 1),
        ("layer/0/first", 2),
    ]
