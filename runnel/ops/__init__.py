"""The operations, by family: each declared once, with its kernel, shape rule and gradient."""

import importlib

from ..core.op import REGISTRY


def import_all() -> None:
    """Import every family, so that the registry knows every op."""
    import pkgutil

    for module in pkgutil.walk_packages(__path__, __name__ + "."):
        importlib.import_module(module.name)


REGISTRY.load_rest = import_all
