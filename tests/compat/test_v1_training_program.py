"""A whole program of TensorFlow 1 trains as on the original, printed numbers included."""

import pathlib
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent
DIGITS = HERE.parent.parent / "examples" / "data" / "mnist10k.npz"
# What the program prints on the original.
PRINTED = [("0", 0.7455, 1.0903509), ("1", 0.8895, 0.3986174), ("test", 0.89, 0.0)]


def test_digits():
    done = subprocess.run(
        [sys.executable, "-m", "runnel", HERE / "programs_v1_digits.py", DIGITS],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[0] for line in lines] == [name for name, *_ in PRINTED]
    found = np.array([[float(each) for each in line[1:]] for line in lines])
    np.testing.assert_allclose(found, [numbers for _, *numbers in PRINTED], atol=5e-3)
