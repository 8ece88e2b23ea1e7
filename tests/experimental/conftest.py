"""Where the original has no wheel, the tests that do not compare with it still run."""

import importlib.util
from pathlib import Path

# A program of its own, run by a test.
collect_ignore = ["numpy_calls.py"]

if importlib.util.find_spec("tensorflow") is None:
    collect_ignore += [
        path.name
        for path in Path(__file__).parent.glob("test_*.py")
        if "\nimport tensorflow" in path.read_text(encoding="utf-8")
    ]
