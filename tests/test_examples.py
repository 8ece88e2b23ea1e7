"""Every example runs, on a little of its data."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
RUNS = {
    "linear_regression.py": (["--epochs", "50"], "six years: a ="),
    "mnist_cnn.py": (["--epochs", "1", "--limit", "100"], "test accuracy"),
    "mlp_custom_loop.py": (["--epochs", "1"], "test accuracy"),
}


@pytest.mark.parametrize("example", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_example(example, tmp_path):
    arguments, expected = RUNS[example]
    command = [sys.executable, "-m", "runnel", str(EXAMPLES / example), *arguments]
    environment = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    assert expected in done.stdout
