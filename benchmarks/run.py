"""Compare the speed of Runnel with that of TensorFlow, PyTorch and JAX on the same work.

    python benchmarks/run.py --peer tf=python3 --peer torch=other/bin/python --only 'cnn*'

Every workload of every framework runs in a process of its own; the frameworks are interleaved, so
that CPU load does not affect one of them alone.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import measure  # noqa: E402
from with_tensorflow import WORKLOADS  # noqa: E402

# The import time of a framework in a fresh process, and of its Keras.
IMPORTS = {"import_time": "import {0}", "import_keras": "import {0} as tf; tf.keras.layers"}
FIRST_CALLS = ("*_graph", "lstm_layer", "mobilenetv2_*")
MICROSECONDS = ("op_*", "grad_eager", "linreg_eager", "dqn_act")

Results = dict[str, dict[str, list[dict[str, Any]]]]


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="*", help="workloads to run: patterns with commas")
    parser.add_argument(
        "--smoke", action="store_true", help="run Runnel's once, in small; no times"
    )
    parser.add_argument(
        "--peer", action="append", default=[], metavar="NAME=PYTHON",
        help=f"one of {', '.join(list(measure.FRAMEWORKS)[1:])}, and an interpreter that has it",
    )  # fmt: skip
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=2.0, help="measuring time of a workload")
    parser.add_argument("--timeout", type=float, default=300.0, help="of one process, in seconds")
    parser.add_argument("--stat", choices=("median", "fastest", "cpu"), default="median")
    parser.add_argument("--json", type=Path, help="file for everything that was measured")
    parser.add_argument("--markdown", type=Path, help="file for the tables")
    options = parser.parse_args(arguments)
    options.frameworks = {}
    for peer in options.peer:
        name, _, python = peer.partition("=")
        if name not in measure.FRAMEWORKS or name == "runnel" or not python:
            parser.error(f"--peer {peer}: give one as tf=PYTHON, tf-legacy=, torch= or jax=")
        options.frameworks[name] = python
    options.frameworks["runnel"] = sys.executable
    return options


def selected(names: Sequence[str], patterns: str) -> list[str]:
    return [n for n in names if any(fnmatch.fnmatch(n, p) for p in patterns.split(","))]


def smoke(names: Sequence[str]) -> int:
    """Run Runnel's workloads in small sizes; returns the number of failures."""
    failures = 0
    for name in names:
        begin = time.perf_counter()
        try:
            measure.smoke(name)
            outcome = "ok"
        except Exception as failure:
            failures += 1
            outcome = f"FAILED {type(failure).__name__}: {failure}"
        print(f"{name:<20} {time.perf_counter() - begin:5.1f} s  {outcome}", flush=True)
    return failures


def run(command: Sequence[str], timeout: float) -> tuple[str, str | None]:
    """The output of a process; the last line of its standard error if it fails."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return "", f"no end after {timeout:.0f} s"
    if done.returncode:
        return "", (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
    return done.stdout, None


def measured(framework: str, python: str, name: str, options: Any) -> dict[str, Any]:
    """One process: its measurements, nothing where the workload does not exist, or the error."""
    if name in IMPORTS:
        module = measure.FRAMEWORKS[framework][1]
        if name == "import_keras" and module not in ("runnel", "tensorflow"):
            return {}
        path = [f"import sys; sys.path.append({str(HERE.parent)!r})"] * (framework == "runnel")
        code = "; ".join([*path, IMPORTS[name].format(module)])
        times = []
        for _ in range(3):
            begin = time.perf_counter()
            _, error = run([python, "-c", code], options.timeout)
            times.append(time.perf_counter() - begin)
            if error is not None:
                return {"error": error}
        return {key: min(times) for key in ("median", "fastest", "cpu")}
    script, seconds = str(HERE / "measure.py"), str(options.seconds)
    output, error = run([python, script, framework, name, "--seconds", seconds], options.timeout)
    if error is not None:
        return {"error": error}
    found: dict[str, Any] = json.loads(output.strip().splitlines()[-1])
    return found


def compare(names: Sequence[str], options: Any) -> Results:
    """All rounds of all workloads of all frameworks."""
    results: Results = {name: {each: [] for each in options.frameworks} for name in names}
    for turn in range(options.rounds):
        for name in names:
            for framework, python in options.frameworks.items():
                found = measured(framework, python, name, options)
                results[name][framework].append(found)
                word = found.get("error") or f"{found.get('median', float('nan')):.6f} s"
                print(f"{turn + 1}  {name:<20} {framework:<10} {word}", file=sys.stderr, flush=True)
    return results


def best(found: Sequence[dict[str, Any]], what: str) -> float | None:
    return min((each[what] for each in found if each.get(what) is not None), default=None)


def unit_of(name: str) -> tuple[str, float]:
    if selected([name], ",".join(MICROSECONDS)):
        return "us", 1e6
    return ("s", 1.0) if name == "fit_epoch" else ("ms", 1e3)


def table(
    title: str, results: Results, value: Callable[[Any], float | None], unit: Any = unit_of
) -> list[str]:
    """The rows of a table in Markdown, with Runnel's speed-up."""
    frameworks = list(next(iter(results.values()), {}))
    peers = frameworks[:-1]
    heads = [title, *frameworks, *(f"{peer} / runnel" for peer in peers)]
    rows = [heads, ["---", *["---:"] * (len(heads) - 1)]]
    for name, by_framework in results.items():
        sign, scale = unit(name)
        values = [value(by_framework[framework]) for framework in frameworks]
        if values[-1] is None:
            continue
        times = ["-" if each is None else f"{each * scale:.4g}" for each in values]
        ratios = ["-" if each is None else f"{each / values[-1]:.2f}" for each in values[:-1]]
        rows.append([f"{name} [{sign}]", *times, *ratios])
    return [f"| {' | '.join(row)} |" for row in rows] if len(rows) > 2 else []


def report(results: Results, options: Any, load: float) -> str:
    """All tables, with the machine and the versions."""
    first = {name: results[name] for name in selected(list(results), ",".join(FIRST_CALLS))}
    memory = {name: results[name] for name in selected(list(results), "cnn_*")}
    lines = table("workload", results, lambda found: best(found, options.stat))
    lines += ["", *table("first call", first, lambda found: best(found[:1], "first"), milliseconds)]
    lines += ["", *table("peak memory", memory, lambda found: best(found, "rss"), megabytes)]
    versions = {
        framework: found["version"]
        for by_framework in results.values()
        for framework, all_found in by_framework.items()
        for found in all_found
        if "version" in found
    }
    lines += [
        "",
        f"Best of {options.rounds} round(s), each the {options.stat} of its iterations. "
        f"{processor()}, {os.cpu_count()} processors, Python {platform.python_version()}; "
        f"load average {load:.1f} at the start, {os.getloadavg()[0]:.1f} at the end. "
        f"Versions: {', '.join(f'{name} {version}' for name, version in versions.items())}.",
    ]
    for name, by_framework in results.items():
        for framework, found in by_framework.items():
            lines += [f"error: {name}, {framework}: {e['error']}" for e in found if "error" in e]
        losses = {each: best(found[:1], "loss") for each, found in by_framework.items()}
        known = {each: loss for each, loss in losses.items() if loss is not None}
        if known and max(known.values()) - min(known.values()) > 0.01 * max(known.values()):
            lines.append(f"The losses of {name} differ: {known}")
    return "\n".join(lines) + "\n"


def milliseconds(name: str) -> tuple[str, float]:
    return "ms", 1e3


def megabytes(name: str) -> tuple[str, float]:
    return "MB", 1.0


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def main(arguments: Sequence[str] | None = None) -> int:
    options = parsed(arguments)
    names = selected([*WORKLOADS, *(() if options.smoke else IMPORTS)], options.only)
    if not names:
        print(f"No workload is called like {options.only!r}. There are: {', '.join(WORKLOADS)}.")
        return 2
    if options.smoke:
        return min(smoke(names), 1)
    load = os.getloadavg()[0]
    results = compare(names, options)
    text = report(results, options, load)
    print(text)
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=1))
    if options.markdown is not None:
        options.markdown.write_text(text)
    return int(any("error" in each for found in results.values() for each in found["runnel"]))


if __name__ == "__main__":
    sys.exit(main())
