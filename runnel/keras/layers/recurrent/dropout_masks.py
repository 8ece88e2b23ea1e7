"""Dropout inside recurrent cells: a mask for all steps, in functions one for each step."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ....ops.random_streams import place
from ...backend.random_generator import RandomGenerator
from ...engine.base_layer import Layer


class DropoutRNNCellMixin(Layer):
    """Masks for the inputs and for the states, drawn once and kept until they are reset.

    Once for each graph and each round of a loop in it, which are places of their own.
    """

    dropout: float
    recurrent_dropout: float

    def __init__(self, *args: Any, seed: Any = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._random_generator = RandomGenerator(seed)
        self._input_masks: dict[Any, list[Any]] = {}
        self._state_masks: dict[Any, list[Any]] = {}

    def reset_dropout_mask(self) -> None:
        """Reset the input masks, as at the start of a sequence."""
        self._input_masks.clear()

    def reset_recurrent_dropout_mask(self) -> None:
        """Reset the state masks, as at the start of a sequence."""
        self._state_masks.clear()

    def get_dropout_mask_for_cell(self, inputs: Any, training: Any, count: int = 1) -> Any:
        """The `count` input masks; None without dropout."""
        if self.dropout == 0:
            return None
        return self._masks(self._input_masks, inputs, self.dropout, training, count)

    def get_recurrent_dropout_mask_for_cell(
        self, inputs: Any, training: Any, count: int = 1
    ) -> Any:
        """The `count` state masks; None without dropout."""
        if self.recurrent_dropout == 0:
            return None
        return self._masks(self._state_masks, inputs, self.recurrent_dropout, training, count)

    def _masks(
        self, kept: dict[Any, list[Any]], like: Any, rate: float, training: Any, count: int
    ) -> Any:
        if training is None:
            training = False
        # In a loop there are others for each round, as in the functions of the original.
        key = (training, *place())
        masks = kept.get(key)
        if masks is None:
            ones = tf.ones_like(like)
            masks = [self._mask(ones, rate, training) for _ in range(count)]
            kept[key] = masks
        return masks[0] if count == 1 else masks

    def _mask(self, ones: Any, rate: float, training: Any) -> Any:
        if isinstance(training, tf.Tensor | tf.Variable):
            return tf.cond(
                tf.cast(training, tf.bool),
                lambda: self._random_generator.dropout(ones, rate),
                lambda: ones,
            )
        return self._random_generator.dropout(ones, rate) if training else ones
