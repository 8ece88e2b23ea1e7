"""Every op has all its parts."""

import inspect
import subprocess
import sys

import pytest

import runnel as tf
from runnel.core.op import REGISTRY, Op

tf.ops.import_all()

OPS = sorted(REGISTRY.items())


@pytest.mark.parametrize(("name", "op"), OPS, ids=[name for name, _ in OPS])
def test_parts(name, op):
    assert isinstance(op, Op) and op.name == name
    assert callable(op.kernel) and callable(op.shape_rule)
    assert (op.gradient_rule is not None) == op.differentiable, (
        "declare gradient=None, or give the op a rule"
    )


@pytest.mark.parametrize(("name", "op"), OPS, ids=[name for name, _ in OPS])
def test_the_kernel_takes_what_the_signature_names(name, op):
    if not inspect.isfunction(op.kernel):
        return
    parameters = inspect.signature(op.kernel).parameters.values()
    positional = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    # What passes tell kernels (runtime/epilogue.py, compiler/passes/unused_outputs.py) is no input.
    positional = [each for each in positional if each not in ("finish", "keep")]
    variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    assert variadic or len(positional) == len(op.inputs)
    attrs = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY}
    letters = {argument.type for argument in op.inputs} | set(op.fixed)
    for output in op.outputs:
        assert output.type in letters | attrs, f"nothing gives the type of {output.name}"


def test_families_that_are_not_loaded_yet_are_found():
    program = """
import sys, runnel as tf
assert "runnel.ops.math.cumulative" not in sys.modules
x = tf.Variable([2.0, 3.0])
with tf.GradientTape() as tape:
    y = tf.reduce_prod(x)
print(tape.gradient(y, x).numpy().tolist())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[3.0, 2.0]\n", done.stderr


def test_an_op_cannot_be_declared_twice():
    from runnel.core.op import op
    from runnel.core.shape_rules import unchanged

    with pytest.raises(ValueError, match="AddV2 is declared twice"):
        op("AddV2", "x: T -> y: T", shape=unchanged, kernel=abs)
