"""Dtype policies: the compute dtype of layers, and the dtype of their variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import runnel as tf

if TYPE_CHECKING:
    from .optimizers.loss_scale import LossScaleOptimizer as LossScaleOptimizer


class Policy:
    """A dtype policy: "float32", "mixed_float16", "mixed_bfloat16", or a dtype's name.

    >>> tf.keras.mixed_precision.Policy("mixed_float16").compute_dtype
    'float16'
    """

    def __init__(self, name: str) -> None:
        if isinstance(name, tf.DType):
            raise TypeError(
                "'name' must be a string, not a DType. Instead, pass DType.name. "
                f"Received: name={name.name}"
            )
        if not isinstance(name, str):
            raise TypeError(f"'name' must be a string, but got: {name}")
        self._name = name
        self._compute_dtype: str | None
        self._variable_dtype: str | None
        if name in ("mixed_float16", "mixed_bfloat16"):
            self._compute_dtype, self._variable_dtype = name.removeprefix("mixed_"), "float32"
        elif name == "_infer":
            self._compute_dtype = self._variable_dtype = None
        else:
            try:
                dtype = tf.as_dtype(name).name
            except TypeError:
                raise ValueError(
                    f"Cannot convert value {name} to a mixed precision Policy. Valid policies "
                    "include 'mixed_float16', 'mixed_bfloat16', and the name of any dtype such as "
                    "'float32'."
                ) from None
            self._compute_dtype = self._variable_dtype = dtype

    @property
    def name(self) -> str:
        return self._name

    @property
    def compute_dtype(self) -> Any:
        return self._compute_dtype

    @property
    def variable_dtype(self) -> Any:
        return self._variable_dtype

    def __repr__(self) -> str:
        return f'<Policy "{self._name}">'

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return {"name": self._name}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Policy:
        """Create a policy from its config."""
        return cls(**config)


_current: list[Policy | None] = [None]


def global_policy() -> Policy:
    """The default policy of layers.

    >>> tf.keras.mixed_precision.global_policy()
    <Policy "float32">
    """
    return _current[0] or Policy(tf.keras.backend.floatx())


def set_global_policy(policy: Any) -> None:
    """Set the default policy of layers."""
    named = policy is None or isinstance(policy, Policy)
    _current[0] = policy if named else Policy(policy)


def __getattr__(name: str) -> Any:
    # Layers need policies, not optimizers: those are imported lazily.
    if name == "LossScaleOptimizer":
        from .optimizers.loss_scale import LossScaleOptimizer

        return LossScaleOptimizer
    from ..core.suggestions import no_attribute

    raise no_attribute(__name__, name)
