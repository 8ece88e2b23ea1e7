"""One call proves that a model of tf.keras.applications is the original's.

`check_application(name, **arguments)` builds the model with both libraries and compares configs,
names and shapes of weights, and, with the same weights, outputs.
"""

import json
import warnings

import numpy as np
import tf_keras

import runnel

TOP = {"weights": None, "input_shape": (64, 64, 3), "classes": 7}
BODY = {"weights": None, "input_shape": (65, 65, 3), "include_top": False, "pooling": "avg"}


def check_application(name, scaled=True, gain=1.0, **arguments):
    """`scaled`: whether the model itself scales colours from 0 to 255.

    `gain` multiplies the kernels, so that an image is still felt at the end of the model.
    """
    model, expected = built(name, **arguments)
    configs, weights = [], []
    for each in (model, expected):
        configs.append(_comparable(each))
        weights.append([(w.name, tuple(w.shape), w.trainable) for w in each.weights])
    assert configs[0] == configs[1]
    assert weights[0] == weights[1]
    assert model.count_params() == expected.count_params()
    generator = np.random.default_rng(3)
    values = _moved(expected, gain, generator)
    expected.set_weights(values)
    model.set_weights(values)
    image = generator.uniform(0, 255, (2, *arguments["input_shape"])).astype("float32")
    if not scaled:
        image = image / 127.5 - 1
    wanted = expected(image).numpy()
    difference = np.ptp(wanted[0] - wanted[1])
    assert difference > 1e-3, f"the output hardly depends on the image: {difference}"
    tolerance = 1e-4 * max(1.0, np.abs(wanted).max())
    np.testing.assert_allclose(model(image).numpy(), wanted, rtol=0, atol=tolerance)


def built(name, **arguments):
    """The model of Runnel and the original's, layers' names counted from the beginning."""
    models = []
    for keras in (runnel.keras, tf_keras):
        keras.backend.clear_session()
        keras.utils.set_random_seed(7)
        models.append(getattr(keras.applications, name)(**arguments))
    return models


def _comparable(model):
    with warnings.catch_warnings():
        # tf_keras warns of an initializer that its own models use.
        warnings.simplefilter("ignore")
        config = json.loads(json.dumps(model.get_config(), default=str))
    for layer in config["layers"]:
        if layer["class_name"] == "TFOpLambda":
            layer.pop("build_config", None)
            for call in layer["inbound_nodes"]:
                call[3].pop("name", None)
    return config


def _moved(model, gain, generator):
    """Weights away from where they begin, so that each counts."""
    values = []
    for weight in model.weights:
        value = weight.numpy()
        if "layer_scale" in weight.name:
            value = generator.uniform(0.1, 0.5, value.shape).astype("float32")
        elif value.ndim == 1 and value.dtype == np.float32:
            value = value * generator.uniform(0.8, 1.2, value.shape).astype("float32")
            value += generator.uniform(0.0, 0.1, value.shape).astype("float32")
        elif value.ndim == 4:
            value = value * np.float32(gain)
        values.append(value)
    return values
