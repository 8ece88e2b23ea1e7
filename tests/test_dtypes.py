"""Every dtype, attribute and conversion beside TensorFlow's own."""

import copy
import pickle
import subprocess
import sys
import weakref

import ml_dtypes
import numpy as np
import pytest
import tensorflow as tf
from parameter_names import stable_repr

from runnel.core import dtypes

ENUMS = range(1, 34)

FLAGS = [
    "name",
    "is_floating",
    "is_complex",
    "is_integer",
    "is_bool",
    "is_numeric",
    "is_quantized",
    "is_unsigned",
    "is_numpy_compatible",
    "size",
    "as_datatype_enum",
]


class WithNumpyDType:
    dtype = np.dtype("int8")


class WithName:
    dtype = "int8"


CONVERTIBLE = [
    *("half", "double", "float", "string", "bool", "resource", "bfloat16", "int4", "qint8"),
    *("int", "str", "complex", "f4", "<f4", "object", "tf.float32", "int32 ", "uint", "O", ""),
    *(float, int, bool, complex, str, bytes, object, list, dict, type(None), type),
    *(np.float32, np.str_, np.bytes_, np.object_, np.void, np.datetime64, np.longdouble),
    *(np.longlong, np.intc, np.int_, np.ulonglong, np.clongdouble, np.floating, np.generic),
    *(np.dtype(code) for code in ("f4", ">f4", "S3", "U3", "O", "V", "M8[s]", "?", ">i8", "q")),
    np.dtype([("qint32", "<i4")]),
    np.dtype([("a", "<i4")]),
    np.dtype(("f4", (2,))),
    np.dtypes.StringDType(),
    *(ml_dtypes.bfloat16, np.dtype(ml_dtypes.bfloat16), ml_dtypes.int4, ml_dtypes.float8_e3m4),
    *(0, 1, 33, 34, 99, 999, -1, 1.0, 7.5, True, np.int32(1), np.int32(99), np.float64(7.5)),
    *(None, [1], [], {}, b"float32", "foo", np.array([1, 2]), np.array(["a"]), object()),
    *(WithNumpyDType(), WithName(), WithNumpyDType, tf.DType),
]


def outcome(function, *args):
    """What a call gives, as text that is comparable between the two libraries, or its error."""
    try:
        result = function(*args)
    except Exception as error:
        return type(error).__name__
    return repr(result), type(result).__name__


@pytest.fixture(params=ENUMS, ids=lambda enum: tf.as_dtype(enum).name)
def pair(request):
    return dtypes.DType(request.param), tf.as_dtype(request.param)


def test_there_are_as_many_dtypes_as_in_tensorflow():
    assert [dtype.as_datatype_enum for dtype in dtypes._BY_ENUM.values()] == list(ENUMS)
    assert all(outcome(tf.as_dtype, enum) == "TypeError" for enum in (0, 34, 35, 36))


@pytest.mark.parametrize("attribute", FLAGS)
def test_attributes(pair, attribute):
    ours, theirs = pair
    assert getattr(ours, attribute) == getattr(theirs, attribute)


def test_numpy_type(pair):
    ours, theirs = pair
    if theirs.is_numpy_compatible:
        assert ours.as_numpy_dtype == theirs.as_numpy_dtype
        assert type(ours.as_numpy_dtype) is type(theirs.as_numpy_dtype)
        plain = np.dtype(theirs.as_numpy_dtype)
        assert ours.numpy == (plain[0] if theirs.is_quantized else plain)
        assert isinstance(ours.numpy, np.dtype)
    else:
        assert ours.numpy is None
        for dtype in pair:
            with pytest.raises(KeyError):
                _ = dtype.as_numpy_dtype


@pytest.mark.parametrize("attribute", ["min", "max", "limits"])
def test_extremes(pair, attribute):
    ours, theirs = (outcome(getattr, dtype, attribute) for dtype in pair)
    assert ours == theirs


def test_texts(pair):
    ours, theirs = pair
    assert (repr(ours), str(ours), int(ours)) == (repr(theirs), str(theirs), int(theirs))
    assert ours.real_dtype.name == theirs.real_dtype.name
    assert ours.base_dtype is ours


def test_one_object_per_dtype(pair):
    ours, theirs = pair
    assert dtypes.DType(ours.as_datatype_enum) is ours
    assert dtypes.as_dtype(ours.name) is ours
    assert getattr(dtypes, theirs.name) is ours
    assert pickle.loads(pickle.dumps(ours)) is ours
    assert copy.copy(ours) is ours
    assert copy.deepcopy([ours])[0] is ours
    assert weakref.ref(ours)() is ours


@pytest.mark.parametrize("value", CONVERTIBLE, ids=stable_repr)
def test_as_dtype(value):
    assert outcome(dtypes.as_dtype, value) == outcome(tf.as_dtype, value)


@pytest.mark.parametrize("value", CONVERTIBLE, ids=stable_repr)
def test_equality(value, pair):
    ours, theirs = pair
    assert (ours == value) is (theirs == value)
    assert (ours != value) is (theirs != value)
    assert outcome(ours.is_compatible_with, value) == outcome(theirs.is_compatible_with, value)


def test_equality_between_dtypes():
    for i in ENUMS:
        for j in ENUMS:
            assert (dtypes.DType(i) == dtypes.DType(j)) is (i == j)
            assert (dtypes.DType(i) != dtypes.DType(j)) is (i != j)
    assert len({*dtypes.ALL, *map(dtypes.DType, ENUMS)}) == len(ENUMS)


def test_numpy_on_the_left_of_equality():
    assert np.float32 == dtypes.float32
    assert np.dtype("float32") == dtypes.float32
    assert dtypes.float32 == "float32"


@pytest.mark.parametrize("value", [0, 999, "float32", None, 1.0, True, [1]], ids=repr)
def test_constructor(value):
    assert outcome(dtypes.DType, value) == outcome(tf.DType, value)


@pytest.mark.parametrize("others", [[], ["float32"], [tf.float32.name, "int8"], [None]], ids=repr)
def test_supertypes(others):
    for other in others:
        assert dtypes.float32.is_subtype_of(other) is tf.float32.is_subtype_of(other)
    assert outcome(dtypes.float32.most_specific_common_supertype, others) == outcome(
        tf.float32.most_specific_common_supertype, others
    )


@pytest.mark.parametrize("value", [None, 1.0, "float32"], ids=repr)
def test_a_dtype_holds_no_tensors(value):
    ours, theirs = dtypes.float32, tf.float32
    assert ours.flatten() == theirs.flatten()
    assert ours.to_tensors(value) == theirs.to_tensors(value)
    assert ours.from_tensors([]) is theirs.from_tensors([])
    assert ours.placeholder_value(None) is theirs.placeholder_value(None)
    assert outcome(ours.cast, value, None) == outcome(theirs.cast, value, None)


@pytest.mark.parametrize("code", "?bhilqBHILQefdFDOSU")
@pytest.mark.parametrize("order", ["=", ">"])
def test_from_numpy(code, order):
    numpy_dtype = np.dtype(code).newbyteorder(order)
    assert repr(dtypes.from_numpy(numpy_dtype)) == repr(tf.as_dtype(numpy_dtype))
    assert dtypes.from_numpy(numpy_dtype.type) is dtypes.from_numpy(numpy_dtype)


def test_from_numpy_gives_each_dtype_back(pair):
    ours, _ = pair
    if ours.numpy is not None:
        assert dtypes.from_numpy(np.dtype(ours.as_numpy_dtype)) is ours


@pytest.mark.parametrize("value", ["float32", float, np.dtype("g"), np.dtype("m8[s]"), None, []])
def test_from_numpy_refuses_what_is_no_supported_numpy_type(value):
    with pytest.raises(TypeError, match="has no tensor dtype"):
        dtypes.from_numpy(value)


def test_groups():
    def named(*names):
        return {getattr(dtypes, name) for name in names}

    assert named("float16", "bfloat16", "float32", "float64") == dtypes.FLOATING
    assert named("complex64", "complex128") == dtypes.COMPLEX
    assert named("int8", "int16", "int32", "int64") == dtypes.SIGNED
    assert named("uint8", "uint16", "uint32", "uint64") == dtypes.UNSIGNED
    assert dtypes.INTEGER == dtypes.SIGNED | dtypes.UNSIGNED
    assert dtypes.REAL == dtypes.FLOATING | dtypes.INTEGER
    assert dtypes.NUMERIC == dtypes.REAL | dtypes.COMPLEX
    assert {dtype.name for dtype in dtypes.QUANTIZED_DTYPES} == {
        dtype.base_dtype.name for dtype in tf.dtypes.QUANTIZED_DTYPES
    }
    assert len(dtypes.ALL) == len(ENUMS)


def test_aliases():
    assert dtypes.half is dtypes.float16
    assert dtypes.double is dtypes.float64


def test_importing_needs_only_numpy_and_ml_dtypes():
    program = (
        "import sys; before = set(sys.modules); import runnel.core.dtypes; "
        "print(*{name.split('.')[0] for name in set(sys.modules) - before})"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    third_party = set(printed.split()) - set(sys.stdlib_module_names)
    assert third_party <= {"numpy", "ml_dtypes", "runnel"}
