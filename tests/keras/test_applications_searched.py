"""Families found by search or of parallel branches: the same layers, weights and outputs."""

import pytest
from application_check import BODY, TOP, check_application


@pytest.mark.parametrize(
    ("name", "scaled", "arguments"),
    [
        ("MobileNetV3Small", True, {**TOP, "classifier_activation": None, "gain": 3.0}),
        (
            "MobileNetV3Large",
            True,
            {**BODY, "minimalistic": True, "alpha": 1.25, "gain": 2.5},
        ),
        (
            "NASNetMobile",
            False,
            {**TOP, "input_shape": (65, 96, 3), "classifier_activation": None},
        ),
        ("InceptionResNetV2", False, {**BODY, "input_shape": (75, 75, 3)}),
        ("ResNetRS50", True, TOP),
    ],
)
def test_model_is_the_same(name, scaled, arguments):
    check_application(name, scaled, **arguments)
