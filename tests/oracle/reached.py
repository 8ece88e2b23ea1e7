"""Which ops the tests of a run reach: noted in every process, judged for the whole run.

Without workers tests/oracle/test_zz_every_op.py judges, as the last file of its folder. With
workers (`pytest -n`) no process sees everything: each hands what it noted to the process that
started it, which judges when all are done and reports the same two tests.
"""

from __future__ import annotations

from pathlib import Path

# Ops that some check has computed, and those whose gradients were compared.
COMPUTED: set[str] = set()
DIFFERENTIATED: set[str] = set()

JUDGE = "test_zz_every_op.py"

# Ops that exist in graphs only, by the modules that declare them: tests/function uses them.
GRAPHS = ("runnel.ops.conditional", "runnel.ops.loops", "runnel.ops.tensor_list")
OF_GRAPHS = ("test_conditions_and_loops.py", "test_gradients.py")

# Ops that change variables or are fed: tests/test_variable*.py and the tests of graphs use them.
ELSEWHERE = frozenset({"Const", "Placeholder", "ReadVariableOp"})


def is_whole(files: set[str]) -> bool:
    """Whether a run of the files with these names had every comparison of ops."""
    return files >= {path.name for path in Path(__file__).parent.glob("test_*.py")} - {JUDGE}


def never_computed(files: set[str]) -> list[str]:
    """The ops that a run of these files had to compute, and did not."""
    return sorted(set(_wanted(files)) - COMPUTED)


def never_differentiated(files: set[str]) -> list[str]:
    """The ops whose gradients a run of these files had to compare, and did not."""
    wanted = {name for name, op in _wanted(files).items() if op.differentiable}
    return sorted(wanted - DIFFERENTIATED)


def _wanted(files):
    import runnel
    from runnel.core.op import REGISTRY

    runnel.ops.import_all()
    left_out = () if files.issuperset(OF_GRAPHS) else GRAPHS
    return {
        name: op
        for name, op in REGISTRY.items()
        if name not in ELSEWHERE
        and not any(each.type == "resource" for each in op.inputs)
        and op.kernel.__module__ not in left_out
    }


VERDICTS = {
    "test_every_op_is_computed": never_computed,
    "test_every_gradient_is_compared": never_differentiated,
}
