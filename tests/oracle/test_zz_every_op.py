"""Every op was computed, and every differentiable one differentiated, in some comparison.

The tests of this folder fill COMPUTED and DIFFERENTIATED; this file runs last, and only judges a
run that had all of them.
"""

from pathlib import Path

import pytest
from compare import COMPUTED, DIFFERENTIATED

import runnel as tf
from runnel.core.op import REGISTRY

# Ops that exist in graphs only, by the modules that declare them: tests/function uses them.
GRAPHS = ("runnel.ops.conditional", "runnel.ops.loops", "runnel.ops.tensor_list")
OF_GRAPHS = ("test_conditions_and_loops.py", "test_gradients.py")

# Ops that change variables or are fed: tests/test_variable*.py and the tests of graphs use them.
ELSEWHERE = frozenset({"Const", "Placeholder", "ReadVariableOp"})


@pytest.fixture
def whole_folder(request):
    files = {Path(str(item.fspath)).name for item in request.session.items}
    missing = {path.name for path in Path(__file__).parent.glob("test_*.py")} - files
    if missing or request.config.option.keyword or request.session.testsfailed:
        pytest.skip("only a whole run without failures says which ops are covered")


@pytest.fixture
def ops(whole_folder, request):
    """The ops that this run had to reach."""
    tf.ops.import_all()
    files = {Path(str(item.fspath)).name for item in request.session.items}
    left_out = () if files.issuperset(OF_GRAPHS) else GRAPHS
    return {
        name: op
        for name, op in REGISTRY.items()
        if name not in ELSEWHERE
        and not any(each.type == "resource" for each in op.inputs)
        and op.kernel.__module__ not in left_out
    }


def test_every_op_is_computed(ops):
    assert sorted(set(ops) - COMPUTED) == []


def test_every_gradient_is_compared(ops):
    differentiable = {name for name, op in ops.items() if op.differentiable}
    assert sorted(differentiable - DIFFERENTIATED) == []
