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
    "save_and_restore.py": (["--folder", "{home}/save"], "batch 100: loss"),
    "checkpoint_manager.py": (["--folder", "{home}/save", "--every", "20"], "batch 100: loss"),
    "cats_and_dogs.py": (
        ["--epochs", "1", "--count", "20", "--folder", "{home}/pictures"],
        "accuracy on new pictures",
    ),
    "cats_and_dogs_tfrecord.py": (["--epochs", "1", "--count", "20"], "train.tfrecords: 40"),
    "history_plot.py": (["--epochs", "4"], "val_loss, 4 epochs"),
    "tensorboard_graph.py": (["--log-dir", "{home}/logs"], "gradients [35. 50.] and 15.0"),
    "tensorboard_loop.py": (["--log-dir", "{home}/logs", "--batches", "20"], "batch 20: loss"),
    "v1_graph_writer.py": (["--log-dir", "{home}/logs"], "y = 2.0 x + 1.0"),
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
    arguments = [each.format(home=tmp_path) for each in arguments]
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


def accuracy(output):
    return float(output.rpartition(":")[2])


def test_a_model_is_tested_in_another_process_than_it_was_trained_in(tmp_path):
    folder = ["--folder", str(tmp_path / "save")]
    assert "model.ckpt-1" in run("save_and_restore.py", ["--mode=train", *folder], tmp_path)
    assert accuracy(run("save_and_restore.py", ["--mode=test", *folder], tmp_path)) > 0.8


def test_training_goes_on_and_three_checkpoints_stay(tmp_path):
    options = ["--folder", str(tmp_path / "save"), "--every", "20"]
    assert "began anew" in run("checkpoint_manager.py", options, tmp_path)
    output = run("checkpoint_manager.py", options, tmp_path)
    assert f"went on from {tmp_path}/save/ckpt-160\n" in output
    found = {path.name for path in (tmp_path / "save").glob("*.index")}
    assert found == {f"ckpt-{number}.index" for number in (280, 300, 320)}
    output = run("checkpoint_manager.py", ["--mode=test", *options], tmp_path)
    assert "after batch 320" in output and accuracy(output) > 0.85


def test_cats_and_dogs_are_told_apart_from_files_and_from_records(tmp_path):
    options = ["--epochs", "6", "--count", "80"]
    outputs = [
        run(example, options, tmp_path)
        for example in ("cats_and_dogs.py", "cats_and_dogs_tfrecord.py")
    ]
    found = [accuracy(output) for output in outputs]
    assert found[0] == found[1] > 0.9


def test_tensorboard_sees_what_examples_write(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    folders = {}
    for example in ("tensorboard_loop.py", "tensorboard_graph.py", "v1_graph_writer.py"):
        folders[example] = str(tmp_path / example)
        run(example, ["--log-dir", folders[example]], tmp_path)
    files = {name: EventAccumulator(folder).Reload() for name, folder in folders.items()}
    loop = files["tensorboard_loop.py"]
    assert [point.step for point in loop.Tensors("loss")][-1] == 499
    assert loop.SummaryMetadata("model_trace").plugin_data.plugin_name == "graph_run_metadata"
    assert list(Path(folders["tensorboard_loop.py"]).glob("plugins/profile/*/*.xplane.pb"))
    names = {node.name for node in files["tensorboard_graph.py"].Graph().node}
    assert {"x", "y", "w", "b"} <= names
    assert any(name.startswith("line/") for name in names)
    old = files["v1_graph_writer.py"]
    losses = [point.value for point in old.Scalars("loss")]
    assert len(losses) == 50 and losses[-1] < losses[0]
    assert "inputs/x" in {node.name for node in old.Graph().node}
