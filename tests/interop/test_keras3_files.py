"""Models that Keras 3 wrote, with most of its layers and optimizers."""

import warnings

import keras3_models
import numpy as np
import pytest

import runnel as tf

CASES = [(name, ending) for name, case in keras3_models.MODELS.items() for ending in case[3]]


@pytest.mark.parametrize("name, ending", CASES)
def test_a_model_of_keras_3_predicts_the_same(name, ending, exchanged):
    path = str(exchanged["folder"] / "Keras 3" / name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if "weights" in ending:
            model = keras3_models.compiled(tf, name)
            model.optimizer.build(model.trainable_variables)
            model.load_weights(path + ending)
        else:
            model = tf.keras.models.load_model(path + ending)
    found = model.predict(keras3_models.inputs_of(tf, name), verbose=0)
    np.testing.assert_allclose(found, np.load(f"{path}.npy"), rtol=1e-4, atol=1e-6)
    assert int(model.optimizer.iterations) == 2
    assert float(model.optimizer.learning_rate) == pytest.approx(0.01)
    keras3_models.train(tf, model, name)


def config_of(kind, **options):
    return {"module": "keras.layers", "class_name": kind, "config": options}


@pytest.mark.parametrize(
    "config, word",
    [
        (config_of("LayerNormalization", name="n", rms_scaling=True), "rms_scaling=True"),
        (config_of("Dense", name="d", units=2, lora_rank=4), "lora_rank=4"),
    ],
)
def test_options_without_a_counterpart_are_refused_by_name(config, word):
    from runnel.keras.saving.keras3 import as_version_2

    with pytest.raises(ValueError, match=word):
        as_version_2(config)


def test_operations_without_a_counterpart_are_refused_by_name():
    from runnel.keras.saving.keras3_operations import as_layer

    layer = {"module": "keras.src.ops.numpy", "class_name": "Fft", "config": {"name": "f"}}
    with pytest.raises(ValueError, match="'Fft'"):
        as_layer(layer)


def test_vocabularies_that_a_file_does_not_have_are_named():
    from runnel.keras.saving.keras3 import lost_vocabularies

    learnt = config_of("TextVectorization", name="learnt", vocabulary=None, vocabulary_size=6)
    given = config_of("StringLookup", name="given", vocabulary=["a"], vocabulary_size=2)
    assert lost_vocabularies({"layers": [given, learnt]}) == ["learnt"]
