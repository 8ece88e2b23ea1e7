"""Some hundred broken files of Keras; `fuzz_keras_files.py` loads as many as one likes."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("fuzz_keras_files.py")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bounds its memory as Linux does")
@pytest.mark.parametrize("kind", ("keras", "h5", "weights.h5", "json"))
def test_broken_files_give_clean_errors(kind):
    command = [sys.executable, str(PROGRAM), "--kind", kind, "--mutations", "400", "--seed", "7"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert f"400 files of {kind}, 0 findings" in done.stdout
