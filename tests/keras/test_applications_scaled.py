"""Families scaled by a rule: layers, configs, weights and outputs are the original's."""

import pytest
from application_check import BODY, TOP, built, check_application


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("EfficientNetB0", {**TOP, "classifier_activation": None, "gain": 1.25}),
        ("EfficientNetV2B0", BODY),
        ("ConvNeXtTiny", {**TOP, "classifier_activation": None}),
        ("RegNetX002", {**BODY, "model_name": "mine", "pooling": "max"}),
        ("RegNetY002", TOP),
    ],
)
def test_model_is_the_same(name, arguments):
    check_application(name, **arguments)


@pytest.mark.parametrize("name", ["EfficientNetV2B0", "RegNetX002"])
def test_preprocessing_can_be_left_out(name):
    arguments = {**BODY, "input_shape": (32, 32, 3), "include_preprocessing": False}
    model, expected = built(name, **arguments)
    assert [layer.name for layer in model.layers] == [layer.name for layer in expected.layers]
