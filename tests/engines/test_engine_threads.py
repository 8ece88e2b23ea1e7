"""How many threads an operation works with, where the user or a pipeline says so."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import runnel as tf
from runnel import engines
from runnel.core import devices
from runnel.engines.onednn import library
from runnel.runtime import blas_threads, engine_selection

LIBRARY = library.load()
pytestmark = pytest.mark.skipif(LIBRARY is None, reason="oneDNN's library is not there")


@pytest.fixture(autouse=True)
def default_engine(monkeypatch):
    monkeypatch.setattr(tf.config.threading, "settings", devices.Settings())
    engines.use("onednn")
    yield
    tf.config.threading.set_intra_op_parallelism_threads(0)
    engines.use(os.environ.get("RUNNEL_ENGINE", "onednn"))


def convolved():
    images = tf.constant(np.random.default_rng(0).normal(size=(16, 12, 12, 8)).astype("float32"))
    return tf.nn.conv2d(images, tf.ones([3, 3, 8, 8]), 1, "SAME")


def threads_in_another_thread():
    """What a convolution in a thread of its own works with."""
    found = []

    def work():
        convolved()
        found.append(LIBRARY.threads())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.parametrize("count", [1, 3])
def test_the_choice_reaches_onednn_in_every_thread(count):
    from runnel.engines.onednn import primitive

    wanted = convolved()
    assert LIBRARY.threads() == LIBRARY.most_threads
    assert primitive._thread.primitives
    tf.config.threading.set_intra_op_parallelism_threads(count)
    assert primitive._thread is None
    np.testing.assert_allclose(convolved(), wanted, rtol=1e-5, atol=1e-5)
    assert LIBRARY.threads() == count
    assert threads_in_another_thread() == count
    tf.config.threading.set_intra_op_parallelism_threads(0)
    convolved()
    assert LIBRARY.threads() == threads_in_another_thread() == LIBRARY.most_threads


def test_scipy_works_alone_and_only_meanwhile():
    threads = blas_threads._threads_of_scipy()
    if threads is None:
        pytest.skip("SciPy uses another BLAS than OpenBLAS")
    before = threads.in_use()
    threads.use(2)
    try:
        with pytest.raises(ValueError, match="inside"), blas_threads.single_threaded_scipy():
            assert threads.in_use() == 1
            raise ValueError("inside")
        assert threads.in_use() == 2
        factor = np.tril(np.ones((3, 3), np.float32))
        solved = tf.linalg.triangular_solve(factor, np.ones((3, 1), np.float32))
        np.testing.assert_array_equal(solved, [[1], [0], [0]])
        assert threads.in_use() == 2
    finally:
        threads.use(before)


@pytest.mark.skipif(
    blas_threads.threads_in_use() is None, reason="NumPy uses another BLAS than OpenBLAS"
)
def test_the_choice_holds_when_blas_has_the_processors_again():
    tf.config.threading.set_intra_op_parallelism_threads(2)
    convolved()
    assert engine_selection.pool.owned_by_engine and blas_threads.threads_in_use() == 1
    tf.config.threading.set_intra_op_parallelism_threads(3)
    assert blas_threads.threads_in_use() == 1
    engine_selection.pool.give_to_blas()
    assert blas_threads.threads_in_use() == 3


def recorded(found):
    """A function for `map` that convolves, and notes which thread did it with how many."""

    def note(values):
        found[threading.current_thread().name].append(LIBRARY.threads())
        # Long enough that the pipeline takes threads for it.
        time.sleep(2e-3)
        return values

    def function(index):
        result = tf.nn.conv2d(tf.ones([16, 12, 12, 8]) * index, tf.ones([3, 3, 8, 8]), 1, "SAME")
        return tf.numpy_function(note, [result[0, 5, 5, 0]], tf.float32)

    return function


class Notes(dict):
    def __missing__(self, name):
        return self.setdefault(name, [])


@pytest.mark.parametrize("how", ["map", "prefetch"])
def test_threads_of_a_pipeline_do_not_multiply(how):
    tf.config.threading.set_intra_op_parallelism_threads(2)
    engine_selection.pool.give_to_blas()
    found = Notes()
    dataset = tf.data.Dataset.range(24).map(lambda index: tf.cast(index, tf.float32))
    if how == "map":
        dataset = dataset.map(recorded(found), num_parallel_calls=3)
    else:
        dataset = dataset.map(recorded(found)).prefetch(2)
    values = [float(value) for value in dataset]
    assert values == [72.0 * index for index in range(24)]
    workers = {name: counts for name, counts in found.items() if name.startswith("runnel-")}
    assert sum(map(len, workers.values())) >= 12
    assert all(set(counts) == {1} for counts in workers.values())
    if how == "prefetch":
        # The work of the program's own thread is not disturbed: BLAS keeps the processors.
        assert not engine_selection.pool.owned_by_engine
    convolved()
    assert LIBRARY.threads() == 2


PROGRAM = """
import numpy, runnel as tf
from runnel.runtime import blas_threads
from runnel.engines.onednn import library
if {chosen}:
    tf.config.threading.set_intra_op_parallelism_threads({chosen})
print(library.is_loaded(), blas_threads.threads_in_use())
tf.nn.conv2d(tf.ones([16, 12, 12, 8]), tf.ones([3, 3, 8, 8]), 1, "SAME")
print(library.is_loaded(), library.load().threads())
"""


@pytest.mark.parametrize(("variable", "chosen", "wanted"), [("3", 0, 3), ("1", 2, 2)])
def test_the_environment_says_how_many(variable, chosen, wanted):
    # NumPy's BLAS takes no more threads than there are processors.
    in_blas = min(wanted, len(os.sched_getaffinity(0))) if chosen == 0 else wanted
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
    environment |= {"OMP_NUM_THREADS": variable, "RUNNEL_ENGINE": "onednn"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(chosen=chosen)],
        env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    expected = {f"False {threads}\nTrue {wanted}\n" for threads in (in_blas, None)}
    assert done.stdout in expected, done.stderr[-500:]
