"""Weights in the legacy HDF5 layout: a group per layer, with its weight names."""

from __future__ import annotations

from typing import Any

import numpy as np

import runnel as tf

VERSION = "2.21.0"

# HDF5 stores attributes in the object header, which is limited to this many bytes.
_HEADER_LIMIT = 64512
_TOP_LEVEL = "top_level_model_weights"


def write_names(group: Any, key: str, names: list[str]) -> None:
    """Write a list of names as an attribute, split into several if it is too long."""
    too_long = [name for name in names if len(name) > _HEADER_LIMIT]
    if too_long:
        raise RuntimeError(
            f"The following names cannot be saved to an HDF5 file because they are larger than "
            f"{_HEADER_LIMIT} bytes: {too_long}"
        )
    array = np.asarray(names)
    if array.nbytes <= _HEADER_LIMIT:
        group.attrs[key] = names
        return
    count = 2
    while any(part.nbytes > _HEADER_LIMIT for part in np.array_split(array, count)):
        count += 1
    for index, part in enumerate(np.array_split(array, count)):
        group.attrs[f"{key}{index}"] = part.tolist()


def read_names(group: Any, key: str) -> list[str]:
    """Read the names that `write_names` wrote."""
    if key in group.attrs:
        parts = [group.attrs[key]]
    else:
        parts = []
        while f"{key}{len(parts)}" in group.attrs:
            parts.append(group.attrs[f"{key}{len(parts)}"])
    return [n.decode("utf8") if isinstance(n, bytes) else str(n) for part in parts for n in part]


def write_values(group: Any, variables: list[Any]) -> None:
    """Write the values of variables under their names."""
    names: list[str] = []
    for variable in variables:
        name, number = variable.name, 0
        while name in names:
            number += 1
            name = f"{variable.name}_{number}"
        names.append(name)
    write_names(group, "weight_names", names)
    for name, variable in zip(names, variables, strict=True):
        group.create_dataset(name, data=np.asarray(variable.numpy()))


def read_values(group: Any) -> list[Any]:
    """The datasets that `write_values` wrote; they are read lazily, on conversion to arrays."""
    return [group[name] for name in read_names(group, "weight_names")]


def _weights_of(layer: Any) -> list[Any]:
    """The weights of a layer or model in file order: trainable ones first."""
    return layer.trainable_weights + layer.non_trainable_weights


def save_weights(group: Any, model: Any) -> None:
    """Write the weights of all layers of a model."""
    for layer in model._flatten_layers():
        if getattr(layer, "_keeps_assets", False):
            raise NotImplementedError(
                f"Layer {layer.name} has learnt a vocabulary, which an HDF5 file has no place for. "
                "Save the model in the .keras format instead."
            )
    layers = model.layers
    write_names(group, "layer_names", [layer.name for layer in layers])
    group.attrs["backend"] = "tensorflow"
    group.attrs["keras_version"] = VERSION
    for layer in sorted(layers, key=lambda each: each.name):
        write_values(group.create_group(layer.name), _weights_of(layer))
    write_values(group.create_group(_TOP_LEVEL), model._saved_variables())


def load_weights(group: Any, model: Any) -> None:
    """Load the weights of all layers, in order."""
    layers = [layer for layer in model.layers if layer.weights]
    names = [
        name for name in read_names(group, "layer_names") if read_names(group[name], "weight_names")
    ]
    if len(names) != len(layers):
        raise ValueError(
            "Layer count mismatch when loading weights from file. Model expected "
            f"{len(layers)} layers, found {len(names)} saved layers. The model has "
            f"{[layer.name for layer in layers]}, the file {names}; `by_name=True` loads those "
            "whose names agree."
        )
    pairs: list[tuple[Any, Any]] = []
    for index, (layer, name) in enumerate(zip(layers, names, strict=True)):
        values = read_values(group[name])
        variables = _weights_of(layer)
        if len(values) != len(variables):
            raise ValueError(
                f"Weight count mismatch for layer #{index} (named {layer.name} in the current "
                f"model, {name} in the save file). Layer expects {len(variables)} weight(s). "
                f"Received {len(values)} saved weight(s)"
            )
        for variable, value in zip(variables, values, strict=True):
            problem = _shape_problem(index, layer, variable, value)
            if problem:
                raise ValueError(f"Shape mismatch in {problem}")
        pairs += zip(variables, values, strict=True)
    pairs += _top_level_pairs(group, model)
    _assign(pairs, model)


def load_weights_by_name(group: Any, model: Any, skip_mismatch: bool) -> None:
    """Load the weights of the layers whose names are in the file."""
    saved = set(read_names(group, "layer_names"))
    pairs: list[tuple[Any, Any]] = []
    for index, layer in enumerate(model.layers):
        if layer.name not in saved:
            continue
        values = read_values(group[layer.name])
        variables = _weights_of(layer)
        if len(values) != len(variables):
            problem = (
                f"layer #{index} (named {layer.name}). Layer expects {len(variables)} weight(s). "
                f"Received {len(values)} saved weight(s)"
            )
            if not skip_mismatch:
                raise ValueError(f"Weight count mismatch for {problem}")
            tf.get_logger().warning("Skipping loading of weights for %s", problem)
            continue
        for variable, value in zip(variables, values, strict=True):
            mismatch = _shape_problem(index, layer, variable, value)
            if mismatch is None:
                pairs.append((variable, value))
            elif skip_mismatch:
                tf.get_logger().warning(
                    "Skipping loading weights due to mismatch in shape: %s", mismatch
                )
            else:
                raise ValueError(f"Shape mismatch in {mismatch}")
    if _TOP_LEVEL in group:
        pairs += _top_level_pairs(group, model)
    _assign(pairs, model)


def _top_level_pairs(group: Any, model: Any) -> list[tuple[Any, Any]]:
    if _TOP_LEVEL not in group:
        return []
    values, variables = read_values(group[_TOP_LEVEL]), model._saved_variables()
    if len(values) != len(variables):
        raise ValueError(
            "Weight count mismatch for top-level weights when loading weights from file. Model "
            f"expects {len(variables)} top-level weight(s). Received {len(values)} saved top-level "
            "weight(s)"
        )
    return list(zip(variables, values, strict=True))


def _shape_problem(index: int, layer: Any, variable: Any, value: Any) -> str | None:
    if variable.shape.is_compatible_with(value.shape):
        return None
    return (
        f"layer #{index} (named {layer.name}) for weight {variable.name}. Weight expects shape "
        f"{tuple(variable.shape)}. Received saved weight with shape {value.shape}"
    )


def _assign(pairs: list[tuple[Any, Any]], model: Any) -> None:
    # Assigned last, so that a mismatch leaves the model unchanged.
    for variable, value in pairs:
        variable.assign(np.asarray(value))
    for layer in model._flatten_layers():
        layer.finalize_state()
