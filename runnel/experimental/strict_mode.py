"""Strict mode: deprecated calls raise an error."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

import runnel as tf

from ..core.exchange import Exchange

_FUNCTIONS = """
compat.v1.Print compat.v1.accumulate_n compat.v1.all_variables compat.v1.arg_max compat.v1.arg_min
compat.v1.batch_gather compat.v1.clip_by_average_norm compat.v1.colocate_with compat.v1.count_up_to
compat.v1.disable_resource_variables compat.v1.div compat.v1.image.resize_area
compat.v1.image.resize_bicubic compat.v1.image.resize_bilinear
compat.v1.image.resize_nearest_neighbor compat.v1.initialize_all_tables
compat.v1.initialize_all_variables compat.v1.initialize_local_variables
compat.v1.initialize_variables compat.v1.multinomial compat.v1.nn.bidirectional_dynamic_rnn
compat.v1.nn.dynamic_rnn compat.v1.nn.softmax_cross_entropy_with_logits compat.v1.nn.static_rnn
compat.v1.saved_model.build_tensor_info compat.v1.saved_model.get_tensor_from_tensor_info
compat.v1.saved_model.load compat.v1.saved_model.simple_save compat.v1.sparse_to_dense
compat.v1.to_bfloat16 compat.v1.to_complex128 compat.v1.to_complex64 compat.v1.to_double
compat.v1.to_float compat.v1.to_int32 compat.v1.to_int64 compat.v1.train.checkpoint_exists
compat.v1.train.update_checkpoint_state config.experimental.get_memory_usage
data.experimental.Counter data.experimental.bucket_by_sequence_length
data.experimental.choose_from_datasets data.experimental.dense_to_ragged_batch
data.experimental.dense_to_sparse_batch data.experimental.enumerate_dataset
data.experimental.get_next_as_optional data.experimental.get_single_element
data.experimental.group_by_window data.experimental.ignore_errors data.experimental.load
data.experimental.map_and_batch data.experimental.parallel_interleave
data.experimental.parse_example_dataset data.experimental.rejection_resample
data.experimental.sample_from_datasets data.experimental.save data.experimental.scan
data.experimental.shuffle_and_repeat data.experimental.snapshot data.experimental.take_while
data.experimental.unbatch data.experimental.unique guarantee_const math.accumulate_n
test.is_gpu_available
"""
# Deprecated parameters, by function.
_PARAMETERS = {
    "compat.v1.argmax": "dimension",
    "compat.v1.argmin": "dimension",
    "compat.v1.cond": "fn1 fn2",
    "compat.v1.count_nonzero": "keep_dims reduction_indices",
    "compat.v1.expand_dims": "dim",
    "compat.v1.losses.cosine_distance": "dim",
    "compat.v1.nn.dropout": "keep_prob",
    "compat.v1.nn.l2_normalize": "dim",
    "compat.v1.nn.log_softmax": "dim",
    "compat.v1.nn.softmax_cross_entropy_with_logits_v2": "dim",
    "compat.v1.nn.weighted_cross_entropy_with_logits": "targets",
    "compat.v1.norm": "keep_dims",
    **{
        f"compat.v1.reduce_{name}": "keep_dims"
        for name in ("all", "any", "logsumexp", "max", "min", "prod", "sum")
    },
    "compat.v1.reverse_sequence": "seq_dim batch_dim",
    "compat.v1.squeeze": "squeeze_dims",
    "compat.v1.string_split": "delimiter",
    "gather": "validate_indices",
    "import_graph_def": "op_dict",
    "map_fn": "dtype",
}
# Functions for which `back_prop=False` is deprecated.
_WITHOUT_GRADIENTS = "foldl foldr map_fn scan while_loop"

_exchanges: dict[FunctionType, Exchange] = {}


def enable_strict_mode() -> None:
    """From now on, deprecated functions and arguments raise RuntimeError."""
    if _exchanges:
        return
    without = dict.fromkeys(_WITHOUT_GRADIENTS.split(), "")
    for path in {**dict.fromkeys(_FUNCTIONS.split()), **without, **_PARAMETERS}:
        function: Any = tf
        for part in path.split("."):
            function = getattr(function, part)
        if function not in _exchanges:
            deprecated = _always if path in _FUNCTIONS.split() else _arguments_of(path, function)
            _exchanges[function] = Exchange(function, _refusing(path, deprecated), as_given=True)


def _always(*args: Any, **kwargs: Any) -> str:
    return ""


def _arguments_of(path: str, function: Any) -> Callable[..., str | None]:
    """A function that returns the deprecated ones of the arguments."""
    signature = inspect.signature(function)
    names = _PARAMETERS.get(path, "").split()
    is_loop = path in _WITHOUT_GRADIENTS.split()

    def deprecated(*args: Any, **kwargs: Any) -> str | None:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError:
            return None  # the function itself reports what is wrong
        found = [name for name in names if given.get(name) is not None]
        if is_loop and given.get("back_prop") is False:
            found.append("back_prop")
        return f" with {', '.join(found)}" if found else None

    return deprecated


def _refusing(path: str, deprecated: Callable[..., str | None]) -> Callable[..., Any]:
    def instead_of(plain: Callable[..., Any]) -> Callable[..., Any]:
        def checked(*args: Any, **kwargs: Any) -> Any:
            caller = sys._getframe(2).f_globals.get("__name__", "")
            found = None if caller.startswith("runnel.") else deprecated(*args, **kwargs)
            if found is not None:
                raise RuntimeError(
                    "This behavior has been deprecated, which raises an error in strict mode: "
                    f"tf.{path}{found}."
                )
            return plain(*args, **kwargs)

        return checked

    return instead_of
