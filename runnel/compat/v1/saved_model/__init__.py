"""tf.compat.v1.saved_model: SavedModels of sessions; those of objects are `tf.saved_model`'s."""

from types import SimpleNamespace as _SimpleNamespace

from ....formats import saved_model_names as _constants
from ....formats.saved_model_names import *  # noqa: F403
from ....saved_model import (
    Asset as Asset,
    SaveOptions as SaveOptions,
    contains_saved_model as contains_saved_model,
    experimental as experimental,
    load as load_v2,
    save as save,
)
from . import builder as builder, loader as loader, signature_def_utils as signature_def_utils
from .builder import SavedModelBuilder as Builder, simple_save as simple_save
from .loader import (
    load as load,
    maybe_saved_model_directory as maybe_saved_model_directory,
)
from .signature_def_utils import (
    build_signature_def as build_signature_def,
    build_tensor_info as build_tensor_info,
    classification_signature_def as classification_signature_def,
    get_tensor_from_tensor_info as get_tensor_from_tensor_info,
    predict_signature_def as predict_signature_def,
    regression_signature_def as regression_signature_def,
)

constants = signature_constants = tag_constants = _constants
utils = _SimpleNamespace(
    build_tensor_info=build_tensor_info, get_tensor_from_tensor_info=get_tensor_from_tensor_info
)
