"""Every example runs, on a little of its data."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
RUNS = {
    "linear_regression.py": (["--epochs", "50"], "six years: a ="),
    "mnist_cnn.py": (["--epochs", "1", "--limit", "100"], "test accuracy"),
    "mlp_custom_loop.py": (["--epochs", "1"], "test accuracy"),
    "custom_layer.py": (["--epochs", "2"], "on the right side"),
    "fit_sequential.py": (["--epochs", "1"], "test accuracy"),
    "fit_functional.py": (["--epochs", "1", "--pairs", "500"], "right sums"),
    "text_generation.py": (
        ["--steps", "2", "--length", "10", "--write", "5"],
        "learning from the Python language reference",
    ),
    "dqn_cartpole.py": (["--episodes", "5"], "episode 5: score"),
    "mobilenet_v2.py": (["--steps", "2", "--batch-size", "4"], "step 2: loss"),
}
# An environment of the call style before gymnasium: `reset` gives the state alone, `step` four
# values. It shadows the real package.
OLD_GYM = """
class Space:
    n = 2

class Environment:
    action_space = Space()

    def reset(self):
        self.steps = 0
        return [0.0, 0.1, 0.2, 0.3]

    def step(self, action):
        self.steps += 1
        return [0.1, 0.2, 0.3, float(action)], 1.0, self.steps == 40, {}

def make(name):
    return Environment()
"""


def run(example, arguments, home, **environment):
    """The output of an example in an empty home without a net."""
    environment = {
        **os.environ,
        "HOME": str(home),
        "https_proxy": "http://127.0.0.1:9",
        **environment,
    }
    environment.pop("KERAS_HOME", None)
    command = [sys.executable, "-m", "runnel", str(EXAMPLES / example), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("example", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_example(example, tmp_path):
    if example == "dqn_cartpole.py":
        pytest.importorskip("gymnasium")
    arguments, expected = RUNS[example]
    assert expected in run(example, arguments, tmp_path)


def test_text_from_the_cache_is_preferred(tmp_path):
    cache = tmp_path / ".keras" / "datasets"
    cache.mkdir(parents=True)
    (cache / "nietzsche.txt").write_text("ABC abc\n" * 20, encoding="utf-8")
    arguments = ["--steps", "1", "--length", "10", "--write", "5"]
    output = run("text_generation.py", arguments, tmp_path)
    assert "learning from nietzsche.txt: 160 characters, 5 different" in output


def test_games_of_the_old_call_style_are_played(tmp_path):
    (tmp_path / "gymnasium.py").write_text(OLD_GYM, encoding="utf-8")
    paths = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
    path = os.pathsep.join(each for each in paths if each)
    output = run("dqn_cartpole.py", ["--episodes", "2"], tmp_path, PYTHONPATH=path)
    assert "episode 2: score 40, average 40.0" in output
