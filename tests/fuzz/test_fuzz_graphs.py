"""A thousand mutated graphs; `fuzz_graphs.py` makes as many as one likes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import runnel

PROGRAM = Path(__file__).with_name("fuzz_graphs.py")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bounds its memory as Linux does")
def test_mutated_graphs_give_clean_errors():
    done = subprocess.run(
        [sys.executable, str(PROGRAM), "--mutations", "1000", "--seed", "11"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(runnel.__file__).parent.parent)},
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "1000 mutations, 0 findings" in done.stdout
