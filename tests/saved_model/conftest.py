"""One run of the original serves all tests of SavedModels."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import pytest

import runnel

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, _HERE)


@pytest.fixture(scope="session")
def exchange(tmp_path_factory):
    """The folder with the SavedModels of both, the results of both."""
    import keras_zoo
    import modules

    folder = str(tmp_path_factory.mktemp("saved_models"))
    ours = {}
    for name, make in modules.MODULES.items():
        module, signatures = make(runnel, folder)
        runnel.saved_model.save(module, os.path.join(folder, "ours", name), signatures=signatures)
        ours[name] = modules.answers(runnel, name, module)
    keras = {}
    for name, model in keras_zoo.models(runnel).items():
        model.save(os.path.join(folder, "ours", f"keras_{name}"), save_format="tf")
        keras[name] = {
            "outputs": keras_zoo.outputs(runnel, model, name),
            "gradients": keras_zoo.gradients(runnel, model, name),
        }
    environment = {**os.environ, "TF_USE_LEGACY_KERAS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [sys.executable, os.path.join(_HERE, "original.py"), folder],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    with open(os.path.join(folder, "results.pickle"), "rb") as file:
        theirs = pickle.load(file)
    return folder, {"modules": ours, "keras": keras}, theirs
