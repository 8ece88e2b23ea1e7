"""`import runnel` is quiet and loads nothing that is only needed later."""

import subprocess
import sys

LATER = [
    "tensorflow",
    "keras",
    "tf_keras",
    "google.protobuf",
    "h5py",
    "scipy",
    "PIL",
    "tensorboard",
    "jax",
    "hypothesis",
    "runnel.keras",
    "runnel.data",
    "runnel.config",
    "runnel.nn",
    "runnel.linalg",
]


def run(code):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )


def test_import_loads_nothing_heavy():
    result = run(f"import sys, runnel; print([n for n in {LATER} if n in sys.modules])")
    assert result.stdout == "[]\n"


def test_import_prints_nothing():
    result = run("import runnel")
    assert (result.stdout, result.stderr) == ("", "")


def test_every_namespace_loads_when_used():
    result = run("import runnel; [getattr(runnel, n) for n in dir(runnel)]; print('done')")
    assert (result.stdout, result.stderr) == ("done\n", "")
