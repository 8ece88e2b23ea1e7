"""TrackableResource: the base class of objects that own a resource."""

from __future__ import annotations

from typing import Any

from ..core.context import init_scope


class TrackableResource:
    """An object with a resource, created by its subclass (`_create_resource`).

    `_initialize` initializes the resource; both are called when its handle is first needed.
    """

    def __init__(self, device: str = "") -> None:
        self._resource_device = device
        self._resource_handle: Any = None

    def _create_resource(self) -> Any:
        raise NotImplementedError("TrackableResource._create_resource not implemented.")

    def _initialize(self) -> None:
        """Initialize the resource; by default a no-op."""

    def _destroy_resource(self) -> None:
        """Destroy the resource; by default a no-op."""

    @property
    def resource_handle(self) -> Any:
        """The handle of the resource, for operations."""
        if self._resource_handle is None:
            with init_scope():
                self._resource_handle = self._create_resource()
                self._initialize()
        return self._resource_handle

    def _checkpoint_children(self) -> dict[str, Any]:
        from ..train.trackables import attribute_children

        return attribute_children(self)
