"""A few thousand broken checkpoints; `fuzz_checkpoints.py` reads as many as one likes."""

import os
import subprocess
import sys
from pathlib import Path

import runnel


def test_broken_checkpoints_give_clean_errors():
    run = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("fuzz_checkpoints.py")), "--count", "2000"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(runnel.__file__).parent.parent)},
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "2000 checkpoints, 0 findings" in run.stdout
