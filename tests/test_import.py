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
    "runnel.autograph",
    "runnel.core.graph.concrete",
    "runnel.core.graph.function",
    "runnel.compiler.passes",
    "runnel.compiler.plan",
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


def test_two_threads_may_ask_at_once_for_ops_that_are_not_loaded_yet():
    result = run(
        "import concurrent.futures, threading, runnel\n"
        "from runnel.core.op import REGISTRY\n"
        "names = ['Cholesky', 'Cumprod', 'InvertPermutation', 'Svd']\n"
        "assert not REGISTRY.keys() >= set(names)\n"
        "barrier = threading.Barrier(len(names))\n"
        "def ask(name):\n"
        "    barrier.wait()\n"
        "    return REGISTRY[name].name\n"
        "with concurrent.futures.ThreadPoolExecutor(len(names)) as pool:\n"
        "    print(list(pool.map(ask, names)))\n"
    )
    assert result.stdout == "['Cholesky', 'Cumprod', 'InvertPermutation', 'Svd']\n"
