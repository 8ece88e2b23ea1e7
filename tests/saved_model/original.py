"""Run by the tests in a process of its own: what TensorFlow says.

    python original.py FOLDER

It saves its own modules and models below FOLDER/theirs, loads those of FOLDER/ours, and writes all
results into FOLDER/results.pickle.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import sys
import traceback

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import keras_zoo
import modules
import numpy as np
import raw_functions
import tensorflow as tf


def attempt(function):
    """The result of a function, or what went wrong."""
    try:
        return function()
    except Exception as failure:
        last = traceback.extract_tb(failure.__traceback__)[-1]
        return f"{type(failure).__name__}: {failure} ({last.name})"


def saved_modules(folder):
    results = {}
    for name, make in modules.MODULES.items():
        module, signatures = make(tf, folder)
        tf.saved_model.save(module, os.path.join(folder, "theirs", name), signatures=signatures)
        results[name] = modules.answers(tf, name, module)
    return results


def loaded_modules(folder):
    answers, signatures = {}, {}
    for name in modules.MODULES:
        path = os.path.join(folder, "ours", name)
        module = attempt(lambda path=path: tf.saved_model.load(path))
        if isinstance(module, str):
            answers[name] = signatures[name] = module
            continue
        answers[name] = modules.answers(tf, name, module)
        signatures[name] = modules.signature_answers(tf, name, module)
    return answers, signatures


def run_in_session(folder, name, key, feeds):
    """A signature of ours in a session, which restores variables and fills tables itself."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        path = os.path.join(folder, "ours", name)
        graph = tf.compat.v1.saved_model.load(session, ["serve"], path)
        signature = graph.signature_def[key]
        fed = {signature.inputs[each].name: value for each, value in feeds.items()}
        names = {each: info.name for each, info in signature.outputs.items()}
        found = session.run(names, fed)
        prefix = os.path.join(folder, "resaved", name)
        os.makedirs(os.path.dirname(prefix), exist_ok=True)
        saver = graph.saver_def
        session.run(saver.save_tensor_name, {saver.filename_tensor_name: prefix})
        return found, dict(tf.train.list_variables(prefix))


def shown(folder, name):
    """What the original's tool prints of a SavedModel of ours."""
    from tensorflow.python.tools import saved_model_cli

    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        path = os.path.join(folder, "ours", name)
        saved_model_cli._show_all(path)
    return text.getvalue()


def saved_keras(folder):
    results = {}
    for name, model in keras_zoo.models(tf).items():
        path = os.path.join(folder, "theirs", f"keras_{name}")
        model.save(path, save_format="tf")
        results[name] = {
            "outputs": keras_zoo.outputs(tf, model, name),
            "gradients": keras_zoo.gradients(tf, model, name),
            "weights": model.get_weights() if name != "text" else None,
        }
    return results


def exported_by_version_3(folder):
    import keras

    model = keras.Sequential(
        [
            keras.Input((4,)),
            keras.layers.Dense(3, activation="relu"),
            keras.layers.BatchNormalization(),
            keras.layers.Dense(2),
        ]
    )
    with contextlib.redirect_stdout(io.StringIO()):
        model.export(os.path.join(folder, "theirs", "version_3"), verbose=False)
    return np.asarray(model(keras_zoo.FEATURES))


def loaded_keras(folder):
    results = {}
    for name in keras_zoo.INPUTS:
        path = os.path.join(folder, "ours", f"keras_{name}")
        for way, load in (("plain", tf.saved_model.load), ("keras", tf.keras.models.load_model)):
            results[way, name] = attempt(lambda p=path, n=name, f=load: _of_model(f(p), n))
    return results


def _of_model(model, name):
    return {
        "class": type(model).__name__,
        "outputs": keras_zoo.outputs(tf, model, name),
        "gradients": keras_zoo.gradients(tf, model, name),
        "training": len(keras_zoo.outputs(tf, model, name, training=True)),
        "signatures": sorted(getattr(model, "signatures", {})),
    }


def saved_raw_ops(folder):
    module, names = raw_functions.functions(tf)
    tf.saved_model.save(module, os.path.join(folder, "theirs", "raw_ops"))
    given = tf.constant(raw_functions.NUMBERS)
    return {name: modules.arrays(getattr(module, name)(given)) for name in names}


def main(folder):
    answers, signatures = loaded_modules(folder)
    results = {
        "theirs": saved_modules(folder),
        "ours": answers,
        "signatures": signatures,
        "session": {
            "simple": attempt(
                lambda: run_in_session(folder, "simple", "serving_default", {"x": [2.0, 3.0]})
            ),
            "assets": attempt(
                lambda: run_in_session(folder, "assets", "serving_default", {"x": ["b", "x"]})
            ),
        },
        "shown": attempt(lambda: shown(folder, "simple")),
        "keras": saved_keras(folder),
        "ours_keras": loaded_keras(folder),
        "raw_ops": saved_raw_ops(folder),
        "version_3": attempt(lambda: exported_by_version_3(folder)),
    }
    with open(os.path.join(folder, "results.pickle"), "wb") as file:
        pickle.dump(results, file)


if __name__ == "__main__":
    main(sys.argv[1])
