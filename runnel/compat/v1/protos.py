"""Session settings: objects with fields, which programs set and sessions store."""

from __future__ import annotations

from typing import Any, ClassVar


class Settings:
    """An object with fields, set by name in the constructor or as attributes.

    A field of settings is created on first access; so is a mapping or a list.
    """

    _fields: ClassVar[dict[str, Any]] = {}

    def __init__(self, **fields: Any) -> None:
        for name, value in fields.items():
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._fields:
            raise AttributeError(
                f"{type(self).__name__} has no field {name!r}; it has {', '.join(self._fields)}."
            )
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        fields = type(self)._fields
        if name.startswith("__") or name not in fields:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}.")
        value = fields[name]
        if isinstance(value, type):
            value = value()
            object.__setattr__(self, name, value)
        return value

    def CopyFrom(self, other: Settings) -> None:
        """Copy the fields of another object of this class."""
        self.__dict__.clear()
        self.MergeFrom(other)

    def MergeFrom(self, other: Settings) -> None:
        """Merge in the fields that another object has set."""
        if type(other) is not type(self):
            raise TypeError(f"A {type(self).__name__} is to be copied, got {type(other).__name__}.")
        for name, value in vars(other).items():
            if isinstance(value, Settings):
                getattr(self, name).MergeFrom(value)
            else:
                object.__setattr__(self, name, type(value)(value))

    def HasField(self, name: str) -> bool:
        """Whether a field was set."""
        return name in vars(self)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {value!r}" for name, value in vars(self).items())


class GPUOptions(Settings):
    """GPU memory settings; there is no GPU here."""

    _fields: ClassVar[dict[str, Any]] = {
        "per_process_gpu_memory_fraction": 0.0, "allow_growth": False, "allocator_type": "",
        "deferred_deletion_bytes": 0, "visible_device_list": "", "polling_active_delay_usecs": 0,
        "polling_inactive_delay_msecs": 0, "force_gpu_compatible": False,
    }  # fmt: skip


class OptimizerOptions(Settings):
    """Graph optimization settings."""

    L1, L0 = 0, -1
    DEFAULT, OFF, ON_1, ON_2 = 0, -1, 1, 2
    _fields: ClassVar[dict[str, Any]] = {
        "do_common_subexpression_elimination": False, "do_constant_folding": False,
        "max_folded_constant_in_bytes": 0, "do_function_inlining": False, "opt_level": 0,
        "global_jit_level": 0, "cpu_global_jit": False,
    }  # fmt: skip


class RewriterConfig(Settings):
    """Which graph rewrites are on; `tf.config.optimizer.set_experimental_options` decides."""

    DEFAULT, ON, OFF = 0, 1, 2
    _fields: ClassVar[dict[str, Any]] = {
        "layout_optimizer": 0, "constant_folding": 0, "shape_optimization": 0, "remapping": 0,
        "arithmetic_optimization": 0, "dependency_optimization": 0, "loop_optimization": 0,
        "function_optimization": 0, "memory_optimization": 0, "debug_stripper": 0,
        "disable_model_pruning": False, "disable_meta_optimizer": False,
        "meta_optimizer_iterations": 0, "auto_mixed_precision": 0,
    }  # fmt: skip


class GraphOptions(Settings):
    """How graphs are run."""

    _fields: ClassVar[dict[str, Any]] = {
        "enable_recv_scheduling": False, "optimizer_options": OptimizerOptions,
        "build_cost_model": 0, "build_cost_model_after": 0, "infer_shapes": False,
        "place_pruned_graph": False, "rewrite_options": RewriterConfig,
        "enable_bfloat16_sendrecv": False, "timeline_step": 0,
    }  # fmt: skip


class ConfigProto(Settings):
    """The settings of a session."""

    _fields: ClassVar[dict[str, Any]] = {
        "device_count": dict, "intra_op_parallelism_threads": 0, "inter_op_parallelism_threads": 0,
        "use_per_session_threads": False, "placement_period": 0, "device_filters": list,
        "gpu_options": GPUOptions, "allow_soft_placement": False, "log_device_placement": False,
        "graph_options": GraphOptions, "operation_timeout_in_ms": 0,
        "isolate_session_state": False, "share_cluster_devices_in_session": False,
    }  # fmt: skip


class RunOptions(Settings):
    """The settings of one run."""

    NO_TRACE, SOFTWARE_TRACE, HARDWARE_TRACE, FULL_TRACE = 0, 1, 2, 3
    _fields: ClassVar[dict[str, Any]] = {
        "trace_level": 0, "timeout_in_ms": 0, "inter_op_thread_pool": 0,
        "output_partition_graphs": False, "report_tensor_allocations_upon_oom": False,
    }  # fmt: skip


class RunMetadata(Settings):
    """Metadata of a run: always empty here."""

    _fields: ClassVar[dict[str, Any]] = {
        "step_stats": list,
        "cost_graph": list,
        "partition_graphs": list,
    }
