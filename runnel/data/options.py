"""tf.data.Options: execution options of a pipeline."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, ClassVar


class AutoShardPolicy(enum.IntEnum):
    """How a dataset is sharded among workers."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class AutotuneAlgorithm(enum.Enum):
    """The autotuning algorithm."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class ExternalStatePolicy(enum.Enum):
    """What happens to external state when the pipeline is saved."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


# All other options are of the type bool, except for nested options.
_TYPES: dict[str, type] = {
    "auto_shard_policy": AutoShardPolicy,
    "autotune_algorithm": AutotuneAlgorithm,
    "cpu_budget": int,
    "dataset_name": str,
    "experimental_external_state_policy": ExternalStatePolicy,
    "framework_type": list,
    "initial_parallelism": int,
    "max_intra_op_parallelism": int,
    "min_parallelism": int,
    "num_devices": int,
    "private_threadpool_size": int,
    "ram_budget": int,
}


def _option(name: str) -> property:
    return property(lambda self: self._get(name), doc=f"The option `{name}`; None: not set.")


class _Group:
    """Options that are None until they are set; unknown names raise an error."""

    _names: tuple[str, ...] = ()
    _defaults: ClassVar[dict[str, Any]] = {}
    _groups: ClassVar[dict[str, Any]] = {}
    _values: dict[str, Any]

    def __init__(self) -> None:
        object.__setattr__(self, "_values", {})

    def __init_subclass__(cls) -> None:
        for name in cls._names:
            setattr(cls, name, _option(name))

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def _get(self, name: str) -> Any:
        return self._values.get(name, self._defaults.get(name))

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._names:
            raise AttributeError(
                f"Cannot set the property {name} on {type(self).__name__}. Its properties are "
                f"{', '.join(self._names)}."
            )
        fits = self._groups.get(name) or _TYPES.get(name, bool)
        if not isinstance(value, fits):
            raise TypeError(
                f'Property "{name}" must be of type {fits}, got: {value!r} (type: {type(value)})'
            )
        self._values[name] = value

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(
            getattr(self, name) == getattr(other, name) for name in self._names
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def _merged(self, other: Any) -> Any:
        result = type(self)()
        result._values.update(self._values)
        for name, value in other._values.items():
            mine = result._values.get(name)
            result._values[name] = mine._merged(value) if isinstance(mine, _Group) else value
        return result


class ThreadingOptions(_Group):
    """Threading options of a pipeline."""

    _names = ("max_intra_op_parallelism", "private_threadpool_size")


class AutotuneOptions(_Group):
    """Autotuning of parallelism and buffer sizes."""

    _names = ("autotune_algorithm", "cpu_budget", "enabled", "initial_parallelism",
              "min_parallelism", "ram_budget")  # fmt: skip


class OptimizationOptions(_Group):
    """Pipeline optimizations."""

    _names = ("apply_default_optimizations", "filter_fusion", "filter_parallelization",
              "inject_prefetch", "map_and_batch_fusion", "map_and_filter_fusion", "map_fusion",
              "map_parallelization", "noop_elimination", "parallel_batch",
              "seq_interleave_prefetch", "shuffle_and_repeat_fusion")  # fmt: skip


class DistributeOptions(_Group):
    """How the dataset is divided among workers."""

    _names = ("auto_shard_policy", "num_devices")
    _defaults: ClassVar[dict[str, Any]] = {"auto_shard_policy": AutoShardPolicy.AUTO}


class ServiceOptions(_Group):
    """How a dataset is served to several consumers."""

    _names = ("pinned",)


class Options(_Group):
    """Execution options of a dataset: determinism, threads and so on.

    >>> options = tf.data.Options()
    >>> options.deterministic = False
    >>> tf.data.Dataset.range(3).with_options(options).options().deterministic
    False
    """

    _names = ("autotune", "dataset_name", "deterministic", "experimental_deterministic",
              "experimental_distribute", "experimental_external_state_policy",
              "experimental_optimization", "experimental_service", "experimental_slack",
              "experimental_symbolic_checkpoint", "experimental_threading",
              "experimental_warm_start", "framework_type", "threading")  # fmt: skip
    _groups: ClassVar[dict[str, Any]] = {
        "autotune": AutotuneOptions,
        "experimental_distribute": DistributeOptions,
        "experimental_optimization": OptimizationOptions,
        "experimental_service": ServiceOptions,
        "threading": ThreadingOptions,
    }
    _same: ClassVar[dict[str, str]] = {
        "experimental_deterministic": "deterministic",
        "experimental_threading": "threading",
    }

    def _get(self, name: str) -> Any:
        name = self._same.get(name, name)
        if name in self._groups and name not in self._values:
            self._values[name] = self._groups[name]()
        return super()._get(name)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(self._same.get(name, name), value)

    def merge(self, options: Options) -> Options:
        """These options, overridden by those that are set in the others."""
        merged: Options = self._merged(options)
        return merged
