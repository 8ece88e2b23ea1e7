"""Results of operands of all pairs of dtypes, on TensorFlow and on Runnel in one process.

`python promotions.py MODE` prints what differs as JSON: `experimental_enable_numpy_behavior` holds
for the whole program, so every mode has a process of its own. What the original refuses, and what
it leaves to NumPy, is not compared.
"""

from __future__ import annotations

import itertools
import json
import operator
import sys
import warnings

import numpy as np

DTYPES = [
    *["bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"],
    *["float16", "bfloat16", "float32", "float64", "complex64", "complex128"],
]
OPERATIONS = {
    "add": lambda tf, x, y: operator.add(x, y),
    "sub": lambda tf, x, y: operator.sub(x, y),
    "mul": lambda tf, x, y: operator.mul(x, y),
    "truediv": lambda tf, x, y: operator.truediv(x, y),
    "floordiv": lambda tf, x, y: operator.floordiv(x, y),
    "mod": lambda tf, x, y: operator.mod(x, y),
    "tf.divide": lambda tf, x, y: tf.divide(x, y),
    "tf.maximum": lambda tf, x, y: tf.maximum(x, y),
    "where": lambda tf, x, y: tf.experimental.numpy.where([True, False, True], x, y),
    "concatenate": lambda tf, x, y: tf.experimental.numpy.concatenate([x, y]),
    "stack": lambda tf, x, y: tf.experimental.numpy.stack([x, y]),
    "maximum": lambda tf, x, y: tf.experimental.numpy.maximum(x, y),
}


def operands(tf):
    values = {}
    for name in DTYPES:
        dtype = tf.as_dtype(name).as_numpy_dtype
        array = np.array([1, 0, 1] if name == "bool" else [3, 1, 2]).astype(dtype)
        values["tensor", name] = tf.constant(array)
        if name != "bfloat16":
            values["array", name] = array
            values["scalar", name] = array[0]
    for number in (2, 2.5, 2.5j):
        values["number", type(number).__name__] = number
    values["variable", "float32"] = tf.Variable([1.0, 2.0, 3.0], dtype=tf.float32)
    values["variable", "int64"] = tf.Variable([1, 2, 3], dtype=tf.int64)
    return values


def outcome(tf, operation, x, y):
    try:
        result = operation(tf, x, y)
    except Exception as failure:
        return type(failure).__name__, None
    return (result.dtype.name, result.numpy()) if tf.is_tensor(result) else (None, None)


def is_compared(name, x, y, wanted):
    if wanted[1] is None:
        return False
    # The original multiplies a tensor of booleans as if the other were one, too.
    return not (name == "mul" and "bool" in (x[1], y[1]))


def differences(mode):
    import tensorflow as original

    import runnel

    for tf in (original, runnel):
        tf.experimental.numpy.experimental_enable_numpy_behavior(dtype_conversion_mode=mode)
    theirs, ours = operands(original), operands(runnel)
    compared, found = 0, []
    for (x, y), name in itertools.product(itertools.product(theirs, repeat=2), OPERATIONS):
        if not {x[0], y[0]} & {"tensor", "variable"}:
            continue
        wanted = outcome(original, OPERATIONS[name], theirs[x], theirs[y])
        if not is_compared(name, x, y, wanted):
            continue
        compared += 1
        got = outcome(runnel, OPERATIONS[name], ours[x], ours[y])
        same = wanted[0] == got[0] and np.allclose(
            wanted[1].astype(complex), got[1].astype(complex), 2e-2, equal_nan=True
        )
        if not same:
            found.append(f"{name} {x} {y}: {wanted[0]} {wanted[1]}, got {got[0]} {got[1]}")
    return compared, found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    print(json.dumps(differences(sys.argv[1])))
