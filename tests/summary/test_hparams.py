"""The hyper-parameters plugin of TensorBoard writes through Runnel."""

import os
import subprocess
import sys
from pathlib import Path

from both_files import values

PROGRAM = """
import sys
import numpy as np
import tensorflow as tf
from tensorboard.plugins.hparams import api as hp

assert tf.__name__ == "runnel"
units = hp.HParam("units", hp.Discrete([1, 2]))
with tf.summary.create_file_writer(sys.argv[1]).as_default():
    hp.hparams_config(hparams=[units], metrics=[hp.Metric("accuracy")])
with tf.summary.create_file_writer(sys.argv[1] + "/run").as_default():
    assert bool(hp.hparams({units: 2}, trial_id="first"))
    tf.summary.scalar("accuracy", 0.5, step=1)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
callback = hp.KerasCallback(sys.argv[1] + "/keras", {units: 1})
model.fit(np.ones([4, 2]), np.ones([4, 1]), verbose=0, callbacks=[callback])
"""


def test_hyper_parameters(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    folder = tmp_path / "logs"
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root}
    command = [sys.executable, "-m", "runnel", str(program), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    rows = {run: [row[1:3] for row in found[1:]] for run, found in values(folder).items()}
    assert rows == {
        ".": [("_hparams_/experiment", "hparams")],
        "run": [("_hparams_/session_start_info", "hparams"), ("accuracy", "scalars")],
        "keras": [
            ("_hparams_/session_start_info", "hparams"),
            ("_hparams_/session_end_info", "hparams"),
        ],
    }
