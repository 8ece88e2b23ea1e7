"""The files of all programs, written once for all tests of this folder."""

import json
import os
import subprocess
import sys
from pathlib import Path

import file_programs
import pytest

import runnel

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def exchanged(tmp_path_factory):
    """What each of the originals makes of Runnel's files, and Runnel of theirs; their folders."""
    folder = tmp_path_factory.mktemp("exchanged")
    problems = {"runnel": file_programs.write(runnel, str(folder / "runnel"))}
    results = {}
    for name, legacy in (("TensorFlow 2.21", "1"), ("Keras 3", "0")):
        own = str(folder / name)
        run = subprocess.run(
            [sys.executable, str(HERE / "file_programs.py"), own, str(folder / "runnel")],
            capture_output=True,
            text=True,
            env={**os.environ, "TF_USE_LEGACY_KERAS": legacy, "CUDA_VISIBLE_DEVICES": "-1"},
        )
        assert run.returncode == 0, run.stderr[-2000:]
        told = json.loads(run.stdout.splitlines()[-1])
        problems[name] = told["problems"]
        results["runnel", name] = told["read"]
        results[name, "runnel"] = file_programs.read(runnel, own)
    return {"folder": folder, "problems": problems, "results": results}
