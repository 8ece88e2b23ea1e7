"""Attributes of recurrent layers that delegate to their cells."""

from __future__ import annotations

from typing import Any


class OfCell:
    """A layer attribute that delegates to the cell's attribute."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, layer: Any, owner: type | None = None) -> Any:
        return self if layer is None else getattr(layer.cell, self._name)

    def __set__(self, layer: Any, value: Any) -> None:
        raise AttributeError(
            f'Can\'t set the attribute "{self._name}": it is that of the cell, which the layer was '
            "made with. Make another layer instead."
        )
