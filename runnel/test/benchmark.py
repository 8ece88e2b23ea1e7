"""tf.test.Benchmark: how long things take, reported as text."""

from __future__ import annotations

import inspect
import re
import time
from typing import Any

from ..core import nest

# The classes that define benchmarks, in the order of their definition.
_CLASSES: list[type[Benchmark]] = []


def run_benchmarks(pattern: str) -> None:
    """Run the benchmarks whose name (`Class.method`) a regex fits; all for "all" or "..."."""
    wanted = re.compile("" if pattern in ("all", "...") else pattern)
    for kind in _CLASSES:
        for name, method in inspect.getmembers(kind, inspect.isfunction):
            if name.startswith("benchmark") and wanted.search(f"{kind.__name__}.{name}"):
                method(kind())


def benchmark_config() -> Any:
    """The session configuration for benchmarks."""
    from ..compat.v1 import ConfigProto

    return ConfigProto()


class Benchmark:
    """Methods whose names begin with `benchmark`; run by `tf.test.main` with `--benchmarks=`."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if not cls.is_abstract():
            _CLASSES.append(cls)

    @classmethod
    def is_abstract(cls) -> bool:
        """Whether the class has no benchmarks of its own."""
        return not any(name.startswith("benchmark") for name in dir(cls))

    def _default_name(self) -> str:
        for frame in inspect.stack()[2:]:
            if frame.frame.f_locals.get("self") is self and frame.function.startswith("benchmark"):
                return f"{type(self).__name__}.{frame.function}"
        raise ValueError("Unable to determine calling Benchmark function: give `name`.")

    def report_benchmark(
        self,
        iters: int | None = None,
        cpu_time: float | None = None,
        wall_time: float | None = None,
        throughput: float | None = None,
        extras: dict[str, Any] | None = None,
        name: str | None = None,
        metrics: list[dict[str, Any]] | None = None,
    ) -> None:
        """Print what was measured."""
        name = self._default_name() if name is None else name
        given = {
            "iters": iters,
            "cpu_time": cpu_time,
            "wall_time": wall_time,
            "throughput": throughput,
        }
        parts = [f'name: "{name}"', *[f"{k}: {v}" for k, v in given.items() if v is not None]]
        for key, value in (extras or {}).items():
            field = "string_value" if isinstance(value, str) else "double_value"
            shown = f'"{value}"' if isinstance(value, str) else value
            parts.append(f'extras {{ key: "{key}" value {{ {field}: {shown} }} }}')
        for metric in metrics or ():
            if "name" not in metric or "value" not in metric:
                raise ValueError(f"A metric needs 'name' and 'value', got {metric}")
            parts.append(f'metrics {{ name: "{metric["name"]}" value: {metric["value"]} }}')
        print(f"entry {{ {' '.join(parts)} }}")

    def run_op_benchmark(
        self,
        sess: Any,
        op_or_tensor: Any,
        feed_dict: Any = None,
        burn_iters: int = 2,
        min_iters: int = 10,
        store_trace: bool = False,
        store_memory_usage: bool = True,
        name: str | None = None,
        extras: dict[str, Any] | None = None,
        mbs: float = 0,
    ) -> dict[str, Any]:
        """Run an operation of a session some times; report and return the median time."""
        name = self._default_name() if name is None else name
        for _ in range(burn_iters):
            sess.run(op_or_tensor, feed_dict=feed_dict)
        times = []
        for _ in range(min_iters):
            start = time.perf_counter()
            sess.run(op_or_tensor, feed_dict=feed_dict)
            times.append(time.perf_counter() - start)
        times.sort()
        median = times[len(times) // 2] if times else -1.0
        throughput = mbs / median if median > 0 else 0.0
        self.report_benchmark(min_iters, None, median, throughput, extras, name)
        result = {"name": name, "iters": min_iters, "wall_time": median, "throughput": throughput}
        return {**result, "extras": extras or {}}

    def evaluate(self, tensors: Any) -> Any:
        """Tensors, or structures of them, as NumPy values."""
        tensors = tensors() if callable(tensors) else tensors
        return nest.map_structure(lambda t: t.numpy() if hasattr(t, "numpy") else t, tensors)
