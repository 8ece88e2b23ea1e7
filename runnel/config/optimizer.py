"""`tf.config.optimizer`: which rewrites the graphs of `tf.function` may undergo."""

import operator
from typing import Any

from ..compiler import passes

_SWITCHES = (
    "layout_optimizer",
    "constant_folding",
    "shape_optimization",
    "remapping",
    "arithmetic_optimization",
    "dependency_optimization",
    "loop_optimization",
    "function_optimization",
    "debug_stripper",
    "disable_model_pruning",
    "scoped_allocator_optimization",
    "pin_to_host_optimization",
    "implementation_selector",
    "auto_mixed_precision",
    "auto_mixed_precision_onednn_bfloat16",
    "auto_mixed_precision_mkl",
    "use_plugin_optimizers",
    "disable_meta_optimizer",
)

_KNOWN = {*(name for name, _ in passes.PASSES), "disable_meta_optimizer"}
_options: dict[str, Any] = {"disable_model_pruning": False, "disable_meta_optimizer": False}
_jit = [""]


def get_experimental_options() -> dict[str, Any]:
    """The options in force.

    >>> tf.config.optimizer.get_experimental_options()
    {'disable_model_pruning': False, 'disable_meta_optimizer': False}
    """
    return dict(_options)


def set_experimental_options(options: dict[str, Any]) -> None:
    """Switch graph rewrites on or off by name; the others stay as they are.

    Names of rewrites that do not exist are passed over, None takes a choice back.

    >>> tf.config.optimizer.set_experimental_options({"constant_folding": None})
    """
    for name, value in dict(options).items():
        if name == "min_graph_nodes":
            if isinstance(value, bool):
                raise TypeError(f"min_graph_nodes: Expected an int, got a boolean: {value}.")
            _options[name] = operator.index(value)
        elif name in _SWITCHES:
            if value is None:
                _options.pop(name, None)
            else:
                _options[name] = bool(value)
    passes.disabled.clear()
    passes.disabled.update(
        name
        for name, on in _options.items()
        if on == name.startswith("disable_") and name in _KNOWN
    )


def get_jit() -> str:
    """`"autoclustering"` where graphs are to be compiled without being asked for, else `""`.

    >>> tf.config.optimizer.get_jit()
    ''
    """
    return _jit[0]


def set_jit(enabled: bool | str) -> None:
    """Choose whether graphs are compiled without being asked for: `"autoclustering"` or False."""
    _jit[0] = "autoclustering" if enabled in (True, "autoclustering") else ""


__all__ = ["get_experimental_options", "get_jit", "set_experimental_options", "set_jit"]
