"""The feature kinds of a FeatureSpace: how each column is encoded."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ..engine.naming import unique_name


class Cross:
    """A feature cross, hashed into a number of bins."""

    def __init__(self, feature_names: Any, crossing_dim: int, output_mode: str = "one_hot") -> None:
        if output_mode not in ("int", "one_hot"):
            raise ValueError(
                "Invalid value for argument `output_mode`. Expected one of {'int', 'one_hot'}. "
                f"Received: output_mode={output_mode}"
            )
        self.feature_names = tuple(feature_names)
        self.crossing_dim = crossing_dim
        self.output_mode = output_mode

    @property
    def name(self) -> str:
        return "_X_".join(self.feature_names)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return {
            "feature_names": self.feature_names,
            "crossing_dim": self.crossing_dim,
            "output_mode": self.output_mode,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Cross:
        """Create an instance from its config."""
        return cls(**config)


class Feature:
    """A column: its dtype, its preprocessing layer, and its output mode."""

    def __init__(self, dtype: str, preprocessor: Any, output_mode: str) -> None:
        if output_mode not in ("int", "one_hot", "float"):
            raise ValueError(
                "Invalid value for argument `output_mode`. Expected one of {'int', 'one_hot', "
                f"'float'}}. Received: output_mode={output_mode}"
            )
        self.dtype = dtype
        if isinstance(preprocessor, dict):
            preprocessor = tf.keras.saving.deserialize_keras_object(preprocessor)
        self.preprocessor = preprocessor
        self.output_mode = output_mode

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return {
            "dtype": self.dtype,
            "preprocessor": tf.keras.saving.serialize_keras_object(self.preprocessor),
            "output_mode": self.output_mode,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Feature:
        """Create an instance from its config."""
        return cls(**config)


class FeatureKinds:
    """Constructors of features: `FeatureSpace.float()`, `FeatureSpace.string_hashed(10)`, ..."""

    @classmethod
    def cross(cls, feature_names: Any, crossing_dim: int, output_mode: str = "one_hot") -> Cross:
        """A cross of several features."""
        return Cross(feature_names, crossing_dim, output_mode=output_mode)

    @classmethod
    def feature(cls, dtype: str, preprocessor: Any, output_mode: str) -> Feature:
        """A feature with a custom layer."""
        return Feature(dtype, preprocessor, output_mode)

    @classmethod
    def float(cls, name: str | None = None) -> Feature:
        """A float, unchanged."""
        layer = tf.keras.layers.Identity(dtype="float32", name=_layer_name(name, "float"))
        return Feature("float32", layer, output_mode="float")

    @classmethod
    def float_rescaled(
        cls, scale: Any = 1.0, offset: Any = 0.0, name: str | None = None
    ) -> Feature:
        """A float scaled by `scale` and shifted by `offset`."""
        name = _layer_name(name, "float_rescaled")
        layer = tf.keras.layers.Rescaling(scale=scale, offset=offset, name=name)
        return Feature("float32", layer, output_mode="float")

    @classmethod
    def float_normalized(cls, name: str | None = None) -> Feature:
        """A float standardized to mean 0 and variance 1 over the data."""
        name = _layer_name(name, "float_normalized")
        layer = tf.keras.layers.Normalization(axis=-1, name=name)
        return Feature("float32", layer, output_mode="float")

    @classmethod
    def float_discretized(
        cls,
        num_bins: int | None,
        bin_boundaries: Any = None,
        output_mode: str = "one_hot",
        name: str | None = None,
    ) -> Feature:
        """A float discretized to a bin index."""
        name = _layer_name(name, "float_discretized")
        layer = tf.keras.layers.Discretization(
            num_bins=num_bins, bin_boundaries=bin_boundaries, name=name
        )
        return Feature("float32", layer, output_mode=output_mode)

    @classmethod
    def integer_categorical(
        cls,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        output_mode: str = "one_hot",
        name: str | None = None,
    ) -> Feature:
        """An integer category from a learnt vocabulary."""
        name = _layer_name(name, "integer_categorical")
        layer = tf.keras.layers.IntegerLookup(
            name=name, max_tokens=max_tokens, num_oov_indices=num_oov_indices
        )
        return Feature("int64", layer, output_mode=output_mode)

    @classmethod
    def string_categorical(
        cls,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        output_mode: str = "one_hot",
        name: str | None = None,
    ) -> Feature:
        """A string category from a learnt vocabulary."""
        name = _layer_name(name, "string_categorical")
        layer = tf.keras.layers.StringLookup(
            name=name, max_tokens=max_tokens, num_oov_indices=num_oov_indices
        )
        return Feature("string", layer, output_mode=output_mode)

    @classmethod
    def string_hashed(
        cls, num_bins: int, output_mode: str = "one_hot", name: str | None = None
    ) -> Feature:
        """A string hashed into a number of bins."""
        name = _layer_name(name, "string_hashed")
        layer = tf.keras.layers.Hashing(name=name, num_bins=num_bins)
        return Feature("string", layer, output_mode=output_mode)

    @classmethod
    def integer_hashed(
        cls, num_bins: int, output_mode: str = "one_hot", name: str | None = None
    ) -> Feature:
        """An integer hashed into a number of bins."""
        name = _layer_name(name, "integer_hashed")
        layer = tf.keras.layers.Hashing(name=name, num_bins=num_bins)
        return Feature("int64", layer, output_mode=output_mode)


def _layer_name(name: str | None, kind: str) -> str:
    return f"{name or unique_name(kind, zero_based=False)}_preprocessor"


def categories_of(feature: Any) -> int | None:
    """The number of categories of a feature or cross; None if unknown."""
    if isinstance(feature, Cross):
        return feature.crossing_dim
    layer = feature.preprocessor
    layers = tf.keras.layers
    if isinstance(layer, layers.IntegerLookup | layers.StringLookup):
        return layer.vocabulary_size()
    if isinstance(layer, layers.CategoryEncoding):
        return layer.num_tokens
    if isinstance(layer, layers.Discretization):
        boundaries = layer.bin_boundaries
        return layer.num_bins if boundaries is None or layer.num_bins else len(boundaries) + 1
    if isinstance(layer, layers.HashedCrossing | layers.Hashing):
        return layer.num_bins
    return None
