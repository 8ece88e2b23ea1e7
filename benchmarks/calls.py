"""The number of calls, functions, files and packages that a step passes through, once warm.

    python benchmarks/calls.py            the three walks of docs/architecture.md
    python benchmarks/calls.py --list     and every call of each, in order

A switch is a call from a function of one package (`core`, `keras`, ...) into one of another.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import NamedTuple

import numpy as np

import runnel as tf

ROOT = Path(tf.__file__).parent


class Call(NamedTuple):
    """A Python function of Runnel that was called."""

    depth: int
    package: str
    file: str
    name: str


def _name(code: CodeType) -> str:
    # Python 3.10 has no qualified names.
    return getattr(code, "co_qualname", code.co_name)


def calls_of(step: Callable[[], object]) -> list[Call]:
    """The calls of functions of Runnel during a step, in order."""
    found: list[Call] = []
    depth = 0

    def note(frame, event, argument):
        nonlocal depth
        file = frame.f_code.co_filename
        is_plan = file.startswith("<runnel plan")
        if not is_plan and not file.startswith(str(ROOT)):
            return
        if event == "return":
            depth -= 1
        if event != "call":
            return
        relative = "a plan" if is_plan else str(Path(file).relative_to(ROOT))
        found.append(Call(depth, relative.partition("/")[0], relative, _name(frame.f_code)))
        depth += 1

    sys.setprofile(note)
    try:
        step()
    finally:
        sys.setprofile(None)
    return found


def figures(calls: list[Call]) -> dict[str, int]:
    """The figures of a step."""
    packages = [call.package for call in calls]
    return {
        "calls": len(calls),
        "functions": len({(call.file, call.name) for call in calls}),
        "files": len({call.file for call in calls}),
        "switches": sum(a != b for a, b in itertools.pairwise(packages)),
    }


def train_step() -> Callable[[], object]:
    """A batch of the second epoch of `fit`."""
    x, y = np.ones((64, 8), np.float32), np.ones((64, 1), np.float32)
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
    model = tf.keras.Sequential([tf.keras.layers.Dense(4, "relu"), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(data, epochs=2, verbose=0)
    step = model.make_train_function()
    iterator = iter(data.repeat())
    step(iterator)
    step(iterator)
    return lambda: step(iterator)


def matmul_and_gradient() -> Callable[[], object]:
    """`tf.matmul` of two eager tensors, and `tape.gradient`."""
    a, b = tf.ones([3, 4]), tf.Variable(tf.ones([4, 2]))

    def step():
        with tf.GradientTape() as tape:
            product = tf.matmul(a, b)
        return tape.gradient(product, b)

    step()
    return step


def checkpoint() -> Callable[[], object]:
    """`Checkpoint.save` of one variable."""
    saver = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0]))
    folder = tempfile.mkdtemp()
    saver.save(f"{folder}/ckpt")
    return lambda: saver.save(f"{folder}/ckpt")


WALKS = {
    "train step": train_step,
    "eager matmul and gradient": matmul_and_gradient,
    "Checkpoint.save": checkpoint,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print every call")
    options = parser.parse_args()
    for name, prepare in WALKS.items():
        calls = calls_of(prepare())
        print(name + ": " + ", ".join(f"{count} {what}" for what, count in figures(calls).items()))
        if options.list:
            for call in calls:
                print(f"  {'  ' * call.depth}{call.file}: {call.name}")


if __name__ == "__main__":
    main()
