"""Settings of every test run: a quiet oracle, no GPU, reproducible generated examples."""

import importlib.util
import os
import re
import sys
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
if "PYTEST_XDIST_WORKER" in os.environ:
    # Threads that spin while they have nothing to do take the processor from the other workers.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# Parts of tf_keras ask for `tensorflow.keras`, which must then be tf_keras itself.
os.environ["TF_USE_LEGACY_KERAS"] = "1"

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "runnel",
    derandomize=True,
    deadline=None,
    database=None,
    print_blob=True,
    max_examples=int(os.environ.get("RUNNEL_EXAMPLES", "25")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("runnel")


@pytest.fixture(autouse=True)
def no_seed_of_another_test():
    """Each test starts without a global seed, in both libraries."""
    for name in ("runnel", "tensorflow"):
        if name in sys.modules:
            sys.modules[name].random.set_seed(None)


@pytest.fixture(autouse=True, scope="session")
def cpu_load_is_ignored():
    """The last digits of sums depend on the number of threads: keep it constant."""
    from runnel.engines.onednn.sync_latency import SyncLatency
    from runnel.runtime.cpu_load import cpu_load

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(cpu_load, "idle_cores", lambda cores, used: used)
        patched.setattr(SyncLatency, "_measured", lambda self: False)
        yield


def pytest_configure(config):
    """Runs with several workers have a plugin of their own."""
    worker = hasattr(config, "workerinput")
    if worker or getattr(config.option, "tx", None):
        import workers

        config.pluginmanager.register(workers.Worker() if worker else workers.Starter())


if importlib.util.find_spec("tensorflow") is None:
    # Where the original has no wheel, the tests that stand on their own still run.
    imports_it = re.compile(r"^(import|from) tensorflow\b", re.MULTILINE)
    collect_ignore = ["oracle"] + [
        path.name
        for path in Path(__file__).parent.glob("test_*.py")
        if imports_it.search(path.read_text(encoding="utf-8"))
    ]
