"""Every op was computed, and every differentiable one differentiated, in some comparison.

The tests of this folder fill COMPUTED and DIFFERENTIATED; this file runs last, and only judges a
run that had all of them.
"""

from pathlib import Path

import pytest
from compare import COMPUTED, DIFFERENTIATED

import runnel as tf
from runnel.core.op import REGISTRY

# Ops that change variables or are fed: tests/test_variable*.py and the tests of graphs use them.
ELSEWHERE = frozenset({"Const", "Placeholder", "ReadVariableOp"})


@pytest.fixture
def whole_folder(request):
    files = {Path(str(item.fspath)).name for item in request.session.items}
    missing = {path.name for path in Path(__file__).parent.glob("test_*.py")} - files
    if missing or request.config.option.keyword or request.session.testsfailed:
        pytest.skip("only a whole run without failures says which ops are covered")


def all_ops():
    tf.ops.import_all()
    return {
        name: op
        for name, op in REGISTRY.items()
        if name not in ELSEWHERE and not any(each.type == "resource" for each in op.inputs)
    }


def test_every_op_is_computed(whole_folder):
    assert sorted(set(all_ops()) - COMPUTED) == []


def test_every_gradient_is_compared(whole_folder):
    differentiable = {name for name, op in all_ops().items() if op.differentiable}
    assert sorted(differentiable - DIFFERENTIATED) == []
