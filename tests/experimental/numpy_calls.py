"""Calls of tf.experimental.numpy, evaluated on TensorFlow and on Runnel in one process of its own.

numpy_calls.txt lists the calls; "ours alone" are those that the original refuses or gets wrong in
the last digits while Runnel computes them as NumPy does. The behaviour of tensors that
`experimental_enable_numpy_behavior` changes is global, so the comparison runs apart from the other
tests: `python numpy_calls.py` prints what differs as JSON.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np

ARRAYS = {
    "v": np.array([1.5, -2.0, 0.25]),
    "w": np.array([0.5, 3.0, -1.25]),
    "M": np.array([[0.5, 1.5, -2.0], [3.0, -0.25, 4.0]]),
    "N": np.array([[2.0, 0.5, 1.0], [-1.0, 3.0, 0.75]]),
    "S": np.array([[2.0, 0.5], [-1.0, 3.0]]),
    "C": np.arange(24, dtype=np.float64).reshape(2, 3, 4) / 8 - 1,
    "f": np.array([1.5, 2.25, -3.0], np.float32),
    "z": np.array([1 + 2j, -0.5j, 3.0]),
    "i": np.array([3, -1, 2], np.int32),
    "I": np.array([[5, 2, 9], [4, 7, 1]], np.int32),
    "b": np.array([True, False, True]),
    "B": np.array([[True, False, True], [False, False, True]]),
    "s": np.array(2.5),
    "n": np.array([1.0, np.nan, 3.0]),
    "x": np.array([np.inf, -np.inf, np.nan, -0.0, 2.5]),
    "h": np.array([1.5, 2.5], np.float16),
}


def _split(text):
    """The calls in a text: words, where brackets and quotes keep spaces together."""
    calls, current, depth, quoted = [], "", 0, False
    for letter in text:
        quoted ^= letter == "'"
        depth += (letter in "([{") - (letter in ")]}")
        if letter.isspace() and not depth and not quoted:
            calls += [current] if current else []
            current = ""
        else:
            current += letter
    return [*calls, current] if current else calls


def _sections():
    """The lists of numpy_calls.txt by name."""
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    parts = re.split(r"^\[([a-z ]+)\]$", text, flags=re.MULTILINE)[1:]
    return {name: _split(body) for name, body in zip(parts[::2], parts[1::2], strict=True)}


LISTS = _sections()


def function_calls():
    """Calls of the functions of the module, as expressions."""
    calls = [f"{name}({argument})" for name in LISTS["unary"] for argument in LISTS["one argument"]]
    calls += [f"{name}{pair}" for name in LISTS["binary"] for pair in LISTS["two arguments"]]
    calls = [f"tnp.{call}" for call in [*calls, *LISTS["functions"]]]
    return [call for call in calls if call not in LISTS["ours alone"]]


_DTYPES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
# Runnel computes these of booleans and unsigned integers, too; the original has no kernels.
_OF_SIGNED = ("hypot", "heaviside", "logaddexp", "logaddexp2")


def dtype_calls():
    """The functions of one and of two arrays on every dtype, and sums of every two dtypes."""
    arrays = [f"tf.cast([1, 1], tf.{dtype})" for dtype in _DTYPES]
    numbers = ["2", "1.5", "True", "1.5j", "[1, 2]", "[1.5, 2]"]
    calls = [f"tnp.{name}({array})" for name in LISTS["unary"] for array in arrays]
    calls += [f"tnp.{name}({array}, {array})" for name in LISTS["binary"] for array in arrays
              if name not in _OF_SIGNED]  # fmt: skip
    every = [*arrays, *numbers]
    return [*calls, *[f"tnp.add({x}, {y})" for x in every for y in every]]


def _names(expression):
    """The arrays that an expression uses."""
    bare = re.sub(r"'[^']*'", "", expression)
    words = re.findall(r"(?<![\w.])[A-Za-z_]\w*(?!\s*=[^=])", bare)
    return [word for word in ARRAYS if word in words]


def _evaluate(tf, expression, tensors):
    return eval(expression, {"tf": tf, "tnp": tf.experimental.numpy, "np": np, **tensors})


def _flat(tf, value):
    if isinstance(value, list | tuple):
        return [leaf for each in value for leaf in _flat(tf, each)]
    return [value]


def _described(tf, value):
    """A result as plain data: kind, dtype, shape and elements."""
    if tf.is_tensor(value):
        return ["tensor", value.dtype.name, tuple(value.shape), np.asarray(value.numpy())]
    if isinstance(value, tf.DType):
        return ["dtype", value.name, None, None]
    if isinstance(value, np.ndarray | np.generic):
        return ["numpy", str(value.dtype), value.shape, np.asarray(value)]
    return [type(value).__name__, None, None, repr(value)]


def _outcome(tf, expression, tensors):
    try:
        value = _evaluate(tf, expression, tensors)
    except Exception as failure:
        return type(failure).__name__
    structure = type(value).__name__ if isinstance(value, list | tuple) else "one"
    return [structure, [_described(tf, leaf) for leaf in _flat(tf, value)]]


def _gradients(tf, expression, tensors):
    sources = {k: x for k, x in tensors.items() if x.dtype.is_floating}
    if not sources:
        return None
    with tf.GradientTape() as tape:
        tape.watch(list(sources.values()))
        results = _flat(tf, _evaluate(tf, expression, tensors))
        results = [r for r in results if tf.is_tensor(r) and r.dtype.is_floating]
        if not results:
            return None
        # Weights that differ, so that a gradient at the wrong place shows.
        targets = [r * tf.reshape(tf.cast(tf.range(1, tf.size(r) + 1), r.dtype), r.shape)
                   for r in results]  # fmt: skip
    found = tape.gradient(targets, list(sources.values()))
    found = [g if g is None else tf.convert_to_tensor(g) for g in found]
    return ["gradients", [["None", None, None, "None"] if g is None else _described(tf, g)
                          for g in found]]  # fmt: skip


def _traced(tf, expression, tensors, known):
    names = list(tensors)
    shapes = {
        "nothing": lambda x: None,
        "ranks": lambda x: [None] * len(x.shape),
        "shapes": lambda x: x.shape,
    }
    specs = [tf.TensorSpec(shapes[known](x), x.dtype) for x in tensors.values()]

    def body(*arguments):
        value = _evaluate(tf, expression, dict(zip(names, arguments, strict=True)))
        return [leaf for leaf in _flat(tf, value) if tf.is_tensor(leaf)]

    try:
        results = tf.function(body, input_signature=specs, autograph=False)(*tensors.values())
    except Exception as failure:
        return type(failure).__name__
    return ["one", [_described(tf, leaf) for leaf in results]]


def _same(theirs, ours):
    """None if two outcomes agree, else what differs."""
    if isinstance(theirs, str) or isinstance(ours, str) or theirs is None or ours is None:
        return None if theirs == ours else f"{_short(ours)} instead of {_short(theirs)}"
    if theirs[0] != ours[0] or len(theirs[1]) != len(ours[1]):
        return f"{_short(ours)} instead of {_short(theirs)}"
    for a, b in zip(theirs[1], ours[1], strict=True):
        same = a[:3] == b[:3]
        if same and isinstance(a[3], np.ndarray):
            same = _close(a[3], b[3])
        elif same:
            same = a[3] == b[3]
        if not same:
            return f"{_short(b)} instead of {_short(a)}"
    return None


def _close(a, b):
    if a.dtype.kind not in "fc":
        return bool(np.array_equal(a, b))
    tolerance = {2: 4e-3, 4: 2e-5}.get(a.dtype.itemsize // (2 if a.dtype.kind == "c" else 1), 1e-9)
    return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True))


def _short(outcome):
    return repr(outcome)[:300]


# The rank is asked for while it is unknown or decides the dtype, or the original repeats rows that
# do not fit.
_NOT_TRACED = ("M.ndim", "tnp.trace(I)", "tnp.repeat(v, [1, 2])")
# Where the original has no gradient, or gives that of a tie to the other side.
_NO_GRADIENT = ("tnp.angle(v)", "tnp.maximum(x, 0.0)")

# What the original does not compute, for reasons of its own: it needs methods of tensors that only
# `experimental_enable_numpy_behavior` gives, takes operators of lists, or has no such kernel.
_REFUSALS = ("AttributeError", "NotFoundError", "UnimplementedError")


def _compared(tensorflow, runnel, expression, traces, lenient=()):
    names = _names(expression)
    both = [{name: tf.constant(ARRAYS[name]) for name in names} for tf in (tensorflow, runnel)]
    theirs = _outcome(tensorflow, expression, both[0])
    ours = _outcome(runnel, expression, both[1])
    if theirs in (*_REFUSALS, *lenient) and not isinstance(ours, str):
        return None
    found = _same(theirs, ours)
    if found or isinstance(theirs, str) or "random" in expression:
        return found
    if expression in _NOT_TRACED:
        return None
    if names and any(leaf[0] == "tensor" for leaf in ours[1]):
        tensors_only = ["one", [leaf for leaf in ours[1] if leaf[0] == "tensor"]]
        for known in ("nothing", "ranks", "shapes"):
            traced = _traced(runnel, expression, both[1], known)
            if isinstance(traced, str) and isinstance(
                _traced(tensorflow, expression, both[0], known), str
            ):
                continue  # neither can do it with so little known
            found = _same(tensors_only, traced)
            if found:
                return f"traced, {known} known: {found}"
            if known == "ranks":
                break
        if traces and expression not in _NO_GRADIENT:
            try:
                wanted = _gradients(tensorflow, expression, both[0])
            except LookupError:
                return None
            found = _same(wanted, _gradients(runnel, expression, both[1]))
            if found:
                return f"gradient: {found}"
    return None


def compare_all(expressions=None):
    """What differs, by behaviour and expression."""
    import tensorflow

    import runnel

    libraries = (tensorflow, runnel)
    differing = {}

    def run(label, calls, traces, lenient=()):
        for call in calls:
            if expressions and call not in expressions:
                continue
            found = _compared(tensorflow, runnel, call, traces, lenient)
            if found:
                differing[f"{label}: {call}"] = found

    def enable(**how):
        for tf in libraries:
            tf.experimental.numpy.experimental_enable_numpy_behavior(**how)

    functions, tensors = function_calls(), LISTS["tensors"]
    # Without the behaviour, the original lacks operators and methods that its functions use.
    run("default", functions[::9], False, ("TypeError", "InvalidArgumentError", "ValueError"))
    enable()
    run("legacy", [*functions, *tensors], True)
    run("legacy", dtype_calls(), False)
    enable(prefer_float32=True)
    run("prefer_float32", [*functions[1::9], *tensors, *dtype_calls()[::4]], False)
    # The lattice is in TensorFlow's own functions; those of this module are uneven there.
    others = set(LISTS["not in lattice"])
    functions = [call for call in functions if call not in others and "geomspace" not in call]
    tensors = [call for call in tensors if call not in others]
    for mode, start in (("all", 2), ("safe", 3)):
        enable(dtype_conversion_mode=mode)
        run(mode, functions[start::10], False, ("TypeError",))
        run(mode, [*tensors, *LISTS["lattice functions"]], False)
    return differing


if __name__ == "__main__":
    print(json.dumps(compare_all(sys.argv[1:])))
