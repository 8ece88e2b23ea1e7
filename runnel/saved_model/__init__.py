"""tf.saved_model: graphs and functions as protocol messages, objects as SavedModels.

Names are imported on first use: parts of this package are used without the rest.
"""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING

from ..formats.saved_model_names import (
    ASSETS_DIRECTORY as ASSETS_DIRECTORY,
    ASSETS_KEY as ASSETS_KEY,
    CLASSIFY_INPUTS as CLASSIFY_INPUTS,
    CLASSIFY_METHOD_NAME as CLASSIFY_METHOD_NAME,
    CLASSIFY_OUTPUT_CLASSES as CLASSIFY_OUTPUT_CLASSES,
    CLASSIFY_OUTPUT_SCORES as CLASSIFY_OUTPUT_SCORES,
    DEBUG_DIRECTORY as DEBUG_DIRECTORY,
    DEBUG_INFO_FILENAME_PB as DEBUG_INFO_FILENAME_PB,
    DEFAULT_SERVING_SIGNATURE_DEF_KEY as DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    GPU as GPU,
    PREDICT_INPUTS as PREDICT_INPUTS,
    PREDICT_METHOD_NAME as PREDICT_METHOD_NAME,
    PREDICT_OUTPUTS as PREDICT_OUTPUTS,
    REGRESS_INPUTS as REGRESS_INPUTS,
    REGRESS_METHOD_NAME as REGRESS_METHOD_NAME,
    REGRESS_OUTPUTS as REGRESS_OUTPUTS,
    SAVED_MODEL_FILENAME_PB as SAVED_MODEL_FILENAME_PB,
    SAVED_MODEL_FILENAME_PBTXT as SAVED_MODEL_FILENAME_PBTXT,
    SAVED_MODEL_SCHEMA_VERSION as SAVED_MODEL_SCHEMA_VERSION,
    SERVING as SERVING,
    TPU as TPU,
    TRAINING as TRAINING,
    VARIABLES_DIRECTORY as VARIABLES_DIRECTORY,
    VARIABLES_FILENAME as VARIABLES_FILENAME,
)
from .options import LoadOptions as LoadOptions, SaveOptions as SaveOptions

if _TYPE_CHECKING:
    from . import experimental as experimental
    from .assets import Asset as Asset
    from .loading import load as load
    from .reading import contains_saved_model as contains_saved_model
    from .saving import save as save

_LATER = {
    "Asset": "assets",
    "contains_saved_model": "reading",
    "load": "loading",
    "save": "saving",
}


def __getattr__(name: str) -> object:
    if name == "experimental":
        return _importlib.import_module(".experimental", __name__)
    if name in _LATER:
        value = getattr(_importlib.import_module(f".{_LATER[name]}", __name__), name)
        globals()[name] = value
        return value
    from ..core.suggestions import no_attribute

    raise no_attribute(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, "experimental"})
