"""A thousand mutated inputs, in a process whose memory is bounded."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("fuzz_inputs.py")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bounds its memory as Linux does")
def test_a_thousand_inputs_cause_clean_errors_only():
    command = [sys.executable, str(PROGRAM), "--count", "1000", "--seed", "5"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "1000 inputs, 0 failures" in done.stdout
