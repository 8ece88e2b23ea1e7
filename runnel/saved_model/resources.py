"""TrackableResource: the base of objects that own a resource."""

from __future__ import annotations

from typing import Any

from ..core.context import init_scope


class TrackableResource:
    """An object with a resource that its subclass makes (`_create_resource`) and fills.

    `_initialize` fills the resource; both are called when its handle is first needed.
    """

    def __init__(self, device: str = "") -> None:
        self._resource_device = device
        self._resource_handle: Any = None

    def _create_resource(self) -> Any:
        raise NotImplementedError("TrackableResource._create_resource not implemented.")

    def _initialize(self) -> None:
        """Fill the resource; nothing is to be done unless a subclass says so."""

    def _destroy_resource(self) -> None:
        """Drop the resource; nothing is to be done here."""

    @property
    def resource_handle(self) -> Any:
        """The tensor by which operations know the resource."""
        if self._resource_handle is None:
            with init_scope():
                self._resource_handle = self._create_resource()
                self._initialize()
        return self._resource_handle

    def _checkpoint_children(self) -> dict[str, Any]:
        from ..train.trackables import attribute_children

        return attribute_children(self)
