"""Saving and loading: the file format follows from the path."""

from __future__ import annotations

import os
from typing import Any

import runnel as tf

from ...formats.paths import local
from ...formats.safe_files import make_folders
from ...formats.saved_model_names import VARIABLES_DIRECTORY, VARIABLES_FILENAME
from ...saved_model.permissions import require_files_inside
from ..code_objects import in_safe_mode, safe_mode_scope
from ..object_registration import custom_object_scope
from . import checkpoint_weights, h5 as h5_models, h5_weights, keras_zip
from .files import (
    DamagedFileError,
    is_hdf5,
    is_zip,
    reading,
    reading_config,
    reading_h5,
    replacing,
    require_file,
    writing_h5,
)
from .state import load_state, save_state

_ENDINGS = (
    "Give a name that ends in .keras (the native format) or .h5 (HDF5), or the folder of a "
    "SavedModel."
)
_H5 = (".h5", ".hdf5")
_CHECKPOINT = ("tf", "tensorflow")


def save_model(
    model: Any, filepath: Any, overwrite: bool = True, save_format: str | None = None, **kwargs: Any
) -> None:
    """Write a model to a file, .keras or .h5, or to a folder, a SavedModel.

    The file extension or `save_format`, "keras", "h5" or "tf", selects the format. An interrupted
    save leaves the old file intact.

    >>> import tempfile
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tf.keras.saving.save_model(model, folder + "/model.keras")
    ...     again = tf.keras.saving.load_model(folder + "/model.keras")
    >>> again.output_shape
    (None, 2)
    """
    path = local(filepath)
    kind = _save_format(path, save_format)
    if kind == "keras":
        unknown = [name for name in kwargs if name != "include_optimizer"]
        if unknown or "include_optimizer" in kwargs:
            raise ValueError(
                "The following argument(s) are not supported with the native TF-Keras format: "
                f"{list(kwargs)}"
            )
        keras_zip.save_model(model, path, overwrite)
        return
    if kind == "tf":
        from . import tf_models

        tf_models.save_model(model, path, overwrite, **kwargs)
        return
    include_optimizer = kwargs.pop("include_optimizer", True)
    if kwargs:
        raise ValueError(
            f"The following argument(s) are not supported with the HDF5 format: {list(kwargs)}"
        )
    _make_folder(path)
    h5_models.save_model(model, path, overwrite, include_optimizer)


def _save_format(path: str, given: str | None) -> str:
    if given is None:
        if path.endswith(".keras"):
            return "keras"
        return "h5" if path.endswith(_H5) else "tf"
    if given in ("keras", "keras_v3"):
        if not path.endswith(".keras"):
            raise ValueError(
                "Invalid `filepath` argument: expected a `.keras` extension. Received: "
                f"filepath={path}"
            )
        return "keras"
    if given in ("h5", "hdf5"):
        return "h5"
    if given in ("tf", "tensorflow"):
        # The file extension takes precedence, as in the original.
        return "h5" if path.endswith((*_H5, ".keras")) else "tf"
    raise ValueError(
        "Unknown `save_format` argument. Expected one of 'keras', 'tf', or 'h5'. Received: "
        f"save_format={given}"
    )


def load_model(
    filepath: Any,
    custom_objects: Any = None,
    compile: bool = True,
    safe_mode: bool = True,
    **kwargs: Any,
) -> Any:
    """Load a model from a .keras or .h5 file, or from a SavedModel folder.

    `custom_objects` maps names to custom classes and functions. Code in a file, such as a Lambda
    layer's, is rejected unless `safe_mode` is False.
    """
    options = kwargs.pop("options", None)
    if kwargs:
        raise ValueError(f"The following argument(s) are not supported: {list(kwargs)}")
    path = local(filepath)
    require_file(path)
    outer = in_safe_mode()
    trust = safe_mode if outer is None else outer
    with custom_object_scope(custom_objects or {}), safe_mode_scope(trust):
        if os.path.isfile(path):
            with reading(path):
                if is_hdf5(path):
                    return h5_models.load_model(path, custom_objects, compile)
                if is_zip(path):
                    return keras_zip.load_model(path, custom_objects, compile, trust)
        if os.path.isdir(path):
            from . import tf_models

            return tf_models.load_model(path, custom_objects, compile, options)
    raise DamagedFileError(
        f"The file {path} is neither a .keras file nor an HDF5 file: it may be broken, or of "
        f"another format. {_ENDINGS}"
    )


def save_weights(
    model: Any,
    filepath: Any,
    overwrite: bool = True,
    save_format: str | None = None,
    options: Any = None,
) -> None:
    """Write the weights of a model to a .weights.h5 or .h5 file, or to a checkpoint."""
    path = local(filepath)
    save_format = None if save_format is None else save_format.lower()
    native = path.endswith(".weights.h5") or (
        path.endswith(".keras") and save_format in (None, "keras")
    )
    if not native:
        model._need_weights()
        if (save_format is None and not path.endswith(_H5)) or save_format in _CHECKPOINT:
            checkpoint_weights.save_weights(model, path, overwrite, options)
            return
        if save_format not in (None, "h5", "hdf5", "keras"):
            raise ValueError(
                f"Unknown format. Received: `save_format`={save_format}. Was expecting one of "
                '{"tf", "h5"}.'
            )
    _make_folder(path)
    with replacing(path, overwrite) as temporary:
        if temporary is None:
            return
        with writing_h5(temporary) as file:
            (save_state if native else h5_weights.save_weights)(file, model)


def load_weights(
    model: Any,
    filepath: Any,
    skip_mismatch: bool = False,
    by_name: bool = False,
    options: Any = None,
) -> Any:
    """Load the weights of a model from a .weights.h5, .h5 or .keras file, or from a checkpoint.

    A SavedModel contains a checkpoint, too. For checkpoints the restore status is returned.
    `by_name` matches layers by name in legacy .h5 files only; elsewhere it is ignored, as in the
    original.
    """
    path = local(filepath)
    if not os.path.exists(path):
        if not path.endswith((*_H5, ".keras")):
            return checkpoint_weights.load_weights(model, path, skip_mismatch, by_name, options)
        raise FileNotFoundError(2, "There is no such file of weights", path)
    # Its prefix may also be the name of another file, such as the list of checkpoints.
    if os.path.exists(f"{path}.index") and not path.endswith((*_H5, ".keras")):
        return checkpoint_weights.load_weights(model, path, skip_mismatch, by_name, options)
    if os.path.isdir(path):
        inside = os.path.join(path, VARIABLES_DIRECTORY, VARIABLES_FILENAME)
        if not os.path.exists(f"{path}.index"):
            if not os.path.exists(f"{inside}.index"):
                raise IsADirectoryError(21, "A folder that is no SavedModel has no weights", path)
            require_files_inside(path, VARIABLES_DIRECTORY)
            path = inside
        return checkpoint_weights.load_weights(model, path, skip_mismatch, by_name, options)
    with reading(path):
        if is_hdf5(path):
            _load_h5_weights(model, path, skip_mismatch, by_name)
        elif is_zip(path):
            keras_zip.load_weights(path, model, skip_mismatch)
        else:
            raise DamagedFileError(
                f"The file {path} is not an HDF5 file, so it has no weights to load."
            )
    return None


def _load_h5_weights(model: Any, path: str, skip_mismatch: bool, by_name: bool) -> None:
    with reading_h5(path) as file:
        group = file.get("model_weights", file)
        if "layer_names" not in group.attrs and "layer_names0" not in group.attrs:
            load_state(file, model, skip_mismatch)
            return
        if skip_mismatch and not by_name:
            raise ValueError(
                "When calling model.load_weights, skip_mismatch can only be set to True when "
                "by_name is True."
            )
        if not model.built:
            raise ValueError(
                "Unable to load weights saved in HDF5 format into a subclassed Model which has not "
                "created its variables yet. Call the Model first, then load the weights."
            )
        if by_name:
            h5_weights.load_weights_by_name(group, model, skip_mismatch)
        else:
            h5_weights.load_weights(group, model)


def _make_folder(path: str) -> None:
    folder = os.path.dirname(path)
    if folder:
        make_folders(folder)


def model_from_config(config: Any, custom_objects: Any = None) -> Any:
    """A model from its config: {"class_name": ..., "config": ...}."""
    if isinstance(config, list):
        raise TypeError(
            "`model_from_config` expects a dictionary, not a list. Received: "
            f"config={config}. Did you meant to use `Sequential.from_config(config)`?"
        )
    with reading_config():
        return tf.keras.layers.deserialize(config, custom_objects=custom_objects)


def model_from_json(json_string: str, custom_objects: Any = None) -> Any:
    """A model from the result of `model.to_json()`.

    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    >>> tf.keras.models.model_from_json(model.to_json()).output_shape
    (None, 2)
    """
    from . import json_encoding

    with custom_object_scope(custom_objects or {}), reading_config():
        config = json_encoding.loads(json_string)
        return tf.keras.layers.deserialize(config, custom_objects=custom_objects)
