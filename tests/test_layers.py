"""A dependency points downwards only: every import, also inside of functions, is looked at."""

import ast
from collections.abc import Iterator
from pathlib import Path

import runnel

ROOT = Path(runnel.__file__).parent

# From the bottom to the top. What stands in one row may import each other.
LAYERS = [
    {"release"},
    {"core"},
    {"runtime"},
    {"formats"},
    {"compiler"},
    {"ops"},
    {"engines"},
    {"autograph"},
    {"train"},
    {"saved_model"},
    # Thin public namespaces: they re-export.
    {
        *["audio", "bitwise", "config", "debugging", "dtypes", "errors", "graph_util", "image"],
        *["io", "linalg", "lookup", "math", "nest", "nn", "quantization", "queue", "ragged"],
        *["random", "sets", "signal", "sparse", "strings", "sysconfig", "types", "version"],
        *["autodiff"],
    },
    {"data"},
    {"profiler"},
    {"summary"},
    {"keras"},
    {"experimental"},
    {"compat"},
    {"test", "testing"},
    {"program", "commands", "show_config", "wiring", "__main__"},
]
HEIGHT = {package: height for height, row in enumerate(LAYERS) for package in row}
# What is written against the public names may import the package itself.
PUBLIC = HEIGHT["train"]


def module_name(path: Path) -> list[str]:
    parts = list(path.relative_to(ROOT.parent).with_suffix("").parts)
    return parts[:-1] if parts[-1] == "__init__" else parts


def imports(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """All imports but those that only type checkers see."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        yield from imports(child)


def imported(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The modules of this package that a file imports, by the line."""
    name = module_name(path)
    package = name if path.name == "__init__.py" else name[:-1]
    for node in imports(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "runnel":
                    yield node.lineno, alias.name.split(".")
            continue
        module = node.module.split(".") if node.module else []
        base = [*package[: len(package) - node.level + 1], *module] if node.level else module
        if base[:1] == ["runnel"]:
            for alias in node.names:
                yield node.lineno, [*base, alias.name]


def upward() -> Iterator[str]:
    for path in sorted(ROOT.rglob("*.py")):
        name = module_name(path)
        if len(name) == 1:
            continue
        height = HEIGHT[name[1]]
        for line, target in imported(path):
            if len(target) > 1 and target[1] in HEIGHT:
                is_upward = HEIGHT[target[1]] > height
            else:
                # The public namespace itself, which is at the top.
                is_upward = height < PUBLIC
            if is_upward:
                yield f"{path.relative_to(ROOT)}:{line} imports {'.'.join(target)}"


def test_every_package_has_its_layer():
    found = {path.stem for path in ROOT.glob("*.py")} | {
        path.parent.name for path in ROOT.glob("*/__init__.py")
    }
    assert found - {"__init__"} == set(HEIGHT)


def test_no_import_points_upwards():
    assert not list(upward())
