"""The benchmarks run: a few of Runnel's workloads in small, and the tables of made-up results."""

import importlib.util
import sys
from argparse import Namespace
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
QUICK = "op_*,grad_eager,linreg_eager,mlp_*,cnn_eager,dqn_*,data_shuffle_batch,checkpoint_*"


@pytest.fixture(scope="module")
def run():
    """The driver, and its modules as long as the tests run."""
    before = sys.path[:]
    specification = importlib.util.spec_from_file_location("benchmarks_run", FOLDER / "run.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    yield module
    sys.path[:] = before


def test_workloads_run(run, capsys):
    assert run.main(["--smoke", "--only", QUICK]) == 0
    printed = capsys.readouterr().out
    assert printed.count(" ok\n") == len(printed.splitlines()) == 12


def test_a_workload_that_fails_is_reported(run, capsys, monkeypatch):
    def broken(tf, sizes):
        raise RuntimeError("out of order")

    monkeypatch.setitem(run.WORKLOADS, "op_add", broken)
    assert run.main(["--smoke", "--only", "op_*"]) == 1
    printed = capsys.readouterr().out
    assert "FAILED RuntimeError: out of order" in printed
    assert printed.count(" ok\n") == 1


def test_a_pattern_without_workloads(run, capsys):
    assert run.main(["--smoke", "--only", "gpu*"]) == 2
    assert "No workload is called like 'gpu*'" in capsys.readouterr().out


def test_the_tables(run):
    results = {
        "op_add": {"tf": [{"median": 3e-6}, {"median": 2e-6}], "runnel": [{"median": 1e-6}]},
        "cnn_graph": {
            "tf": [{"error": "no memory"}],
            "runnel": [{"median": 0.5, "first": 2.0, "rss": 100.0, "version": "0.1"}],
        },
    }
    text = run.report(results, Namespace(stat="median", rounds=1), load=0.5)
    assert "| op_add [us] | 2 | 1 | 2.00 |" in text
    assert "| cnn_graph [ms] | - | 500 | - |" in text
    assert "| cnn_graph [ms] | - | 2000 | - |" in text
    assert "| cnn_graph [MB] | - | 100 | - |" in text
    assert "error: cnn_graph, tf: no memory" in text
    assert "runnel 0.1" in text


def test_a_result_is_measured(run):
    work = run.measure.Work(lambda: 0.25, operations=10)
    found = run.measure.measured(work, seconds=0.01)
    assert found["loss"] == 0.25
    assert 0 < found["fastest"] <= found["median"]
    assert found["first"] > 0 and found["rss"] > 1 and found["iterations"] >= 1
