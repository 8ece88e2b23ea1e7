"""Facts about ops stand on the ops: nobody else keeps lists of their names."""

import ast
from pathlib import Path

import runnel
from runnel.core.op import REGISTRY
from runnel.ops import import_all

ROOT = Path(runnel.__file__).parent

# Where ops are declared, run by engines, or written to files of other formats.
HOMES = {"ops", "engines", "saved_model"}
# Lists of names that are no facts about ops.
OTHERS = {
    "compat/v1/saved_model/loader.py": "reads and writes of variables in a stranger's graph",
    "compiler/passes/accumulated_matmuls.py": "the ops that the rewrite matches",
    "compiler/passes/algebraic_simplification.py": "the ops that its rules match",
    "core/autodiff/backward.py": "scopes of names",
    "compat/v1/layers.py": "the names of layers",
    "compat/v1/graph_util.py": "what freezing a graph leaves out",
    "compat/v1/train/meta_graph_files.py": "the ops of savers in meta graphs",
    "compat/v1/session.py": "queues, which live as long as a session",
    "core/partial_values.py": "static sizes, which every graph needs",
    "core/convert.py": "static values, which every graph needs",
    "keras/engine/keras_tensor.py": "public names in Keras's configs",
    "keras/saving/keras3_operations.py": "names of Keras 3's operations",
    "runtime/epilogue.py": "the activations of epilogues",
}


def lists_of_ops(path: Path) -> bool:
    """Whether a module has a list, set or dict of several names of ops."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Dict):
            elements = node.keys
        elif isinstance(node, ast.Set | ast.List | ast.Tuple):
            elements = node.elts
        else:
            continue
        names = [each.value for each in elements if isinstance(each, ast.Constant)]
        if sum(isinstance(name, str) and name in REGISTRY for name in names) > 1:
            return True
    return False


def test_no_other_module_lists_ops():
    import_all()
    known = [
        path.relative_to(ROOT).as_posix()
        for path in sorted(ROOT.rglob("*.py"))
        if path.relative_to(ROOT).parts[0] not in HOMES and lists_of_ops(path)
    ]
    assert known == sorted(OTHERS)
