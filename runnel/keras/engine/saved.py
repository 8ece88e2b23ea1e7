"""Saving a model, and saving and loading its weights."""

from __future__ import annotations

from typing import Any

from ...core.graph.session_calls import in_session


class Saved:
    """The methods of a model that write and read files."""

    def save(
        self, filepath: Any, overwrite: bool = True, save_format: str | None = None, **kwargs: Any
    ) -> None:
        """Write the whole model to a .keras or .h5 file, for `tf.keras.models.load_model`."""
        from ..saving.api import save_model

        save_model(self, filepath, overwrite=overwrite, save_format=save_format, **kwargs)

    @in_session
    def save_weights(
        self,
        filepath: Any,
        overwrite: bool = True,
        save_format: str | None = None,
        options: Any = None,
    ) -> None:
        """Write the weights to a .weights.h5 or .h5 file, or else to a checkpoint."""
        from ..saving.api import save_weights

        save_weights(self, filepath, overwrite, save_format, options)

    @in_session
    def load_weights(
        self,
        filepath: Any,
        skip_mismatch: bool = False,
        by_name: bool = False,
        options: Any = None,
    ) -> Any:
        """Read the weights from a .weights.h5, .h5 or .keras file, or from a checkpoint.

        `by_name` matches the layers of an .h5 file by name; `skip_mismatch` skips weights of
        different shapes.
        """
        from ..saving.api import load_weights

        return load_weights(self, filepath, skip_mismatch, by_name, options)

    def to_json(self, **kwargs: Any) -> str:
        """The config of the model as JSON, for `tf.keras.models.model_from_json`."""
        from ..saving.h5_weights import VERSION
        from ..saving.json_encoding import dumps

        config = {
            "class_name": type(self).__name__,
            "config": self.get_config(),  # type: ignore[attr-defined]
            "keras_version": VERSION,
            "backend": "tensorflow",
        }
        return dumps(config, **kwargs)

    def get_compile_config(self) -> dict[str, Any] | None:
        """The arguments of `compile`; None for a model that is not compiled."""
        from ..saving.compiling import compile_config

        return compile_config(self)

    def compile_from_config(self, config: dict[str, Any]) -> None:
        """Compile the model from the result of `get_compile_config`."""
        from ..saving.compiling import compile_from_config

        compile_from_config(self, config)
