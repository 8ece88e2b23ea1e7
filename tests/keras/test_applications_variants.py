"""Every variant of the newer models: as many layers and parameters as the original's."""

import pytest
from application_check import built

import runnel as tf

# len(model.layers) and model.count_params() of tf_keras's models with 1000 classes.
SIZES = {
    "ConvNeXtSmall": (297, 50_223_688),
    "ConvNeXtBase": (297, 88_591_464),
    "ConvNeXtLarge": (297, 197_767_336),
    "ConvNeXtXLarge": (297, 350_196_968),
    "EfficientNetB1": (342, 7_856_239),
    "EfficientNetB2": (342, 9_177_569),
    "EfficientNetB3": (387, 12_320_535),
    "EfficientNetB4": (477, 19_466_823),
    "EfficientNetB5": (579, 30_562_527),
    "EfficientNetB6": (669, 43_265_143),
    "EfficientNetB7": (816, 66_658_687),
    "EfficientNetV2B1": (337, 8_212_124),
    "EfficientNetV2B2": (352, 10_178_374),
    "EfficientNetV2B3": (412, 14_467_622),
    "EfficientNetV2S": (516, 21_612_360),
    "EfficientNetV2M": (743, 54_431_388),
    "EfficientNetV2L": (1031, 119_027_848),
    "MobileNetV3Large": (273, 5_507_432),
    "NASNetLarge": (1041, 88_949_818),
    "RegNetX004": (235, 5_194_184),
    "RegNetX006": (175, 6_229_320),
    "RegNetX008": (175, 7_296_968),
    "RegNetX016": (195, 9_233_640),
    "RegNetX032": (265, 15_359_112),
    "RegNetX040": (245, 22_194_312),
    "RegNetX064": (185, 26_283_464),
    "RegNetX080": (245, 39_663_112),
    "RegNetX120": (205, 46_202_440),
    "RegNetX160": (235, 54_389_704),
    "RegNetX320": (245, 107_973_576),
    "RegNetY004": (239, 4_371_296),
    "RegNetY006": (225, 6_084_920),
    "RegNetY008": (211, 6_293_056),
    "RegNetY016": (393, 11_255_102),
    "RegNetY032": (309, 19_502_498),
    "RegNetY040": (323, 20_708_928),
    "RegNetY064": (365, 30_665_684),
    "RegNetY080": (253, 39_265_812),
    "RegNetY120": (281, 51_918_928),
    "RegNetY160": (267, 83_712_956),
    "RegNetY320": (295, 145_205_058),
    "ResNetRS101": (529, 63_724_296),
    "ResNetRS152": (784, 86_773_256),
    "ResNetRS200": (1090, 93_386_248),
    "ResNetRS270": (1474, 130_104_520),
    "ResNetRS350": (1890, 164_268_360),
    "ResNetRS420": (2258, 192_262_216),
}


@pytest.fixture
def zeros(monkeypatch):
    """Weights of zeros, which cost neither time nor memory."""

    def call(self, shape, dtype=None, **kwargs):
        return tf.zeros(shape, dtype or "float32")

    for name in ("VarianceScaling", "GlorotUniform", "HeNormal"):
        monkeypatch.setattr(getattr(tf.keras.initializers, name), "__call__", call)


@pytest.mark.parametrize("name", SIZES)
def test_layers_and_parameters(name, zeros):
    tf.keras.backend.clear_session()
    model = getattr(tf.keras.applications, name)(weights=None)
    assert (len(model.layers), model.count_params()) == SIZES[name]


@pytest.mark.parametrize("name", ["EfficientNetB1", "EfficientNetV2B3"])
def test_configs_of_layers(name, zeros):
    models = built(name, weights=None, include_top=False)
    for layer, expected in zip(*(model.layers for model in models), strict=True):
        assert layer.name == expected.name
        kept = [each.get_config() for each in (layer, expected)]
        assert kept[0] == kept[1]
