"""FeatureSpace: encodes the columns of a table as one vector, or as a dict of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

import runnel as tf

from ..engine.base_layer import Layer
from .features import Cross, Feature, FeatureKinds, categories_of

_NOT_ADAPTED = (
    "You need to call `.adapt(dataset)` on the FeatureSpace before you can start using it."
)


class FeatureSpace(FeatureKinds, Layer):
    """Preprocesses the columns of a table: scaling, lookup, hashing, crossing, concatenation.

    >>> space = tf.keras.utils.FeatureSpace(
    ...     {"size": tf.keras.utils.FeatureSpace.float_rescaled(0.5),
    ...      "colour": tf.keras.utils.FeatureSpace.string_hashed(num_bins=3)})
    >>> space({"size": 4.0, "colour": "red"}).shape
    TensorShape([4])

    Args:
      features: The kind of each column by its name: a feature such as `FeatureSpace.float()`, or
        the name of a kind.
      output_mode: "concat" for one tensor, "dict" for a dict of them.
      crosses: Feature crosses: tuples of names, or `FeatureSpace.cross(...)`.
      crossing_dim: Number of bins for crosses given as tuples.
      hashing_dim: Number of bins for hashed features given by name.
      num_discretization_bins: Number of bins for discretized features given by name.
    """

    def __init__(
        self,
        features: dict[str, Any],
        output_mode: str = "concat",
        crosses: Any = None,
        crossing_dim: int = 32,
        hashing_dim: int = 32,
        num_discretization_bins: int = 32,
    ) -> None:
        super().__init__()
        if not features:
            raise ValueError("The `features` argument cannot be None or empty.")
        if output_mode not in ("concat", "dict"):
            raise ValueError(
                "Invalid value for argument `output_mode`. Expected one of {'dict', 'concat'}. "
                f"Received: output_mode={output_mode}"
            )
        self.crossing_dim = crossing_dim
        self.hashing_dim = hashing_dim
        self.num_discretization_bins = num_discretization_bins
        self.features = {name: self._feature(name, each) for name, each in features.items()}
        self.crosses = [self._cross(each) for each in crosses or []]
        self.crosses_by_name = {cross.name: cross for cross in self.crosses}
        self.output_mode = output_mode
        self.inputs = {
            name: tf.keras.Input(shape=(1,), dtype=feature.dtype, name=name)
            for name, feature in self.features.items()
        }
        self.preprocessors = {name: feature.preprocessor for name, feature in self.features.items()}
        self.crossers = {
            cross.name: tf.keras.layers.HashedCrossing(cross.crossing_dim, name=cross.name)
            for cross in self.crosses
        }
        self.one_hot_encoders: dict[str, Any] = {}
        self.concat: Any = None
        self.encoded_features: Any = None
        self._adapted = not self._adaptable()

    def _feature(self, name: str, feature: Any) -> Feature:
        if isinstance(feature, Feature):
            return feature
        if isinstance(feature, dict):
            return Feature.from_config(feature.get("config", feature))
        numbers = {
            "string_hashed": self.hashing_dim,
            "integer_hashed": self.hashing_dim,
            "float_discretized": self.num_discretization_bins,
        }
        kinds = ("float", "float_rescaled", "float_normalized", "integer_categorical")
        if feature in numbers:
            return getattr(self, feature)(num_bins=numbers[feature], name=name)
        if feature in (*kinds, "string_categorical"):
            return getattr(self, feature)(name=name)
        raise ValueError(
            f"Invalid feature type: {feature}. It should be one of {[*kinds, *numbers]}, "
            "'string_categorical', or a feature such as `FeatureSpace.float()`."
        )

    def _cross(self, cross: Any) -> Cross:
        if isinstance(cross, dict):
            return Cross.from_config(cross.get("config", cross))
        names = cross.feature_names if isinstance(cross, Cross) else cross
        if not set(names) <= set(self.features):
            raise ValueError(
                "All features referenced in the `crosses` argument should be present in the "
                f"`features` dict. Received unknown features: {names}"
            )
        return cross if isinstance(cross, Cross) else Cross(names, self.crossing_dim)

    # Adaptation.

    def _adaptable(self) -> list[str]:
        """The names of features whose layers are not adapted yet."""
        waiting = []
        for name, layer in self.preprocessors.items():
            if isinstance(layer, tf.keras.layers.Normalization):
                known = layer.input_mean is not None
            elif isinstance(layer, tf.keras.layers.Discretization):
                known = bool(layer.bin_boundaries)
            else:
                known = not hasattr(layer, "adapt")
            if not known:
                waiting.append(name)
        return waiting

    def adapt(self, dataset: Any) -> None:
        """Adapt the layers to a dataset of dicts of columns."""
        plain = isinstance(dataset, dict | list | tuple | np.ndarray | tf.Tensor)
        if plain or not hasattr(dataset, "__iter__"):
            raise ValueError(
                "`adapt()` can only be called on a tf.data.Dataset. Received instead: "
                f"{dataset} (of type {type(dataset)})"
            )
        names = self._adaptable()
        columns: dict[str, list[Any]] = {name: [] for name in names}
        for batch in dataset:
            for name in names:
                columns[name].append(np.asarray(batch[name]).reshape(-1, 1))
        for name in names:
            self.preprocessors[name].adapt(np.concatenate(columns[name]))
        self._adapted = True
        self._make_encoders()

    def _make_encoders(self) -> None:
        if self.one_hot_encoders:
            return
        kinds: dict[str, Any] = {**self.features, **self.crosses_by_name}
        for name, feature in kinds.items():
            if feature.output_mode != "one_hot":
                continue
            count = categories_of(feature)
            if count is None:
                raise ValueError(
                    f"Feature '{name}' has `output_mode='one_hot'`. However it isn't a standard "
                    "feature and the dimensionality of its output space is not known, thus it "
                    "cannot be one-hot encoded. Try using `output_mode='int'`."
                )
            self.one_hot_encoders[name] = tf.keras.layers.CategoryEncoding(
                num_tokens=count, output_mode="multi_hot"
            )

    # Encoding.

    def get_inputs(self) -> dict[str, Any]:
        """The symbolic inputs of the columns, for a functional model."""
        self._need_adapted()
        return self.inputs

    def get_encoded_features(self) -> Any:
        """The encoded features of the inputs, for a functional model."""
        self._need_adapted()
        if self.encoded_features is None:
            self.encoded_features = self._encoded(self.inputs)
        return self.encoded_features

    def _need_adapted(self) -> None:
        if not self._adapted:
            raise ValueError(_NOT_ADAPTED)
        self._make_encoders()

    def _encoded(self, columns: dict[str, Any]) -> Any:
        ready = {name: layer(columns[name]) for name, layer in self.preprocessors.items()}
        crossed = {
            name: crosser(tuple(ready[each] for each in self.crosses_by_name[name].feature_names))
            for name, crosser in self.crossers.items()
        }
        encoded = {
            name: self.one_hot_encoders[name](value) if name in self.one_hot_encoders else value
            for name, value in {**ready, **crossed}.items()
        }
        order = (*sorted(ready), *sorted(crossed))
        if self.output_mode == "dict":
            return {name: encoded[name] for name in order}
        parts = [encoded[name] for name in order]
        for name, value in encoded.items():
            if value.dtype is tf.string:
                raise ValueError(
                    f"Cannot concatenate features because feature '{name}' has not been encoded "
                    "(it has dtype string). Consider using `output_mode='dict'`."
                )
        parts = [
            value if value.dtype is tf.float32 else tf.cast(value, tf.float32) for value in parts
        ]
        if self.concat is None:
            self.concat = tf.keras.layers.Concatenate(axis=-1)
        return self.concat(parts) if len(parts) > 1 else parts[0]

    def __call__(self, data: Any) -> Any:
        """Encode columns, or one row."""
        if not isinstance(data, dict):
            raise ValueError(
                f"A FeatureSpace can only be called with a dict. Received: data={data} (of type "
                f"{type(data)}"
            )
        self._need_adapted()
        columns = {
            name: tf.convert_to_tensor(data[name], dtype=feature.dtype)
            if not tf.is_tensor(data[name])
            else tf.cast(data[name], feature.dtype)
            if data[name].dtype.name != feature.dtype
            else data[name]
            for name, feature in self.features.items()
        }
        single = any(column.shape.rank == 0 for column in columns.values())
        for name, column in columns.items():
            if column.shape.rank == 0:
                columns[name] = tf.reshape(column, [1, 1])
            elif column.shape.rank == 1:
                columns[name] = tf.expand_dims(column, -1)
        encoded = self._encoded(columns)
        self.built = True
        if not single:
            return encoded
        return tf.nest.map_structure(lambda value: tf.squeeze(value, axis=0), encoded)

    # Configuration.

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict, with the current layers."""
        serialize = tf.keras.saving.serialize_keras_object
        return {
            "features": {name: serialize(each) for name, each in self.features.items()},
            "output_mode": self.output_mode,
            "crosses": [serialize(each) for each in self.crosses],
            "crossing_dim": self.crossing_dim,
            "hashing_dim": self.hashing_dim,
            "num_discretization_bins": self.num_discretization_bins,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> FeatureSpace:
        """Create a feature space from its config."""
        return cls(**config)

    def save(self, filepath: Any) -> None:
        """Write the space with its learnt state to a .keras file, for `load_model`."""
        tf.keras.saving.save_model(self, filepath)

    def save_own_variables(self, store: Any) -> None:
        """Store whether the layers are adapted."""
        if self._adapted:
            store["adapted"] = np.array(True)

    def load_own_variables(self, store: Any) -> None:
        """Restore whether the layers are adapted."""
        self._adapted = self._adapted or "adapted" in store.keys()  # noqa: SIM118
