"""tf.data.experimental: experimental and formerly experimental API."""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from ..cardinality import INFINITE as INFINITE_CARDINALITY, UNKNOWN as UNKNOWN_CARDINALITY
from ..dataset import AUTOTUNE as AUTOTUNE
from ..optional import (
    Optional as Optional,
    get_next_as_optional as get_next_as_optional,
)
from ..options import (
    AutoShardPolicy as AutoShardPolicy,
    AutotuneAlgorithm as AutotuneAlgorithm,
    AutotuneOptions as AutotuneOptions,
    DistributeOptions as DistributeOptions,
    ExternalStatePolicy as ExternalStatePolicy,
    OptimizationOptions as OptimizationOptions,
    ServiceOptions as ServiceOptions,
    ThreadingOptions as ThreadingOptions,
)
from ..reducing import Reducer as Reducer
from ..selecting import SHARD_HINT as SHARD_HINT
from .transformations import (
    Counter as Counter,
    RandomDatasetV2 as RandomDataset,
    TFRecordWriter as TFRecordWriter,
    assert_cardinality as assert_cardinality,
    at as at,
    bucket_by_sequence_length as bucket_by_sequence_length,
    cardinality as cardinality,
    choose_from_datasets as choose_from_datasets,
    copy_to_device as copy_to_device,
    dense_to_ragged_batch as dense_to_ragged_batch,
    dense_to_sparse_batch as dense_to_sparse_batch,
    enable_debug_mode as enable_debug_mode,
    enumerate_dataset as enumerate_dataset,
    from_list as from_list,
    from_variant as from_variant,
    get_single_element as get_single_element,
    get_structure as get_structure,
    group_by_reducer as group_by_reducer,
    group_by_window as group_by_window,
    ignore_errors as ignore_errors,
    load as load,
    map_and_batch as map_and_batch,
    pad_to_cardinality as pad_to_cardinality,
    parallel_interleave as parallel_interleave,
    prefetch_to_device as prefetch_to_device,
    rejection_resample as rejection_resample,
    sample_from_datasets as sample_from_datasets,
    save as save,
    scan as scan,
    shuffle_and_repeat as shuffle_and_repeat,
    snapshot as snapshot,
    take_while as take_while,
    to_variant as to_variant,
    unbatch as unbatch,
    unique as unique,
)

if _TYPE_CHECKING:
    from ..csv_files import CsvDatasetV2 as CsvDataset, make_csv_dataset as make_csv_dataset
    from ..features import (
        make_batched_features_dataset as make_batched_features_dataset,
        parse_example_dataset as parse_example_dataset,
    )
    from ..sql import SqlDatasetV2 as SqlDataset
    from ..vocabularies import (
        DatasetInitializer as DatasetInitializer,
        index_table_from_dataset as index_table_from_dataset,
        table_from_dataset as table_from_dataset,
    )

# Rarely used modules are imported on first use.
_LATER = {
    "CsvDataset": ("csv_files", "CsvDatasetV2"),
    "DatasetInitializer": ("vocabularies", "DatasetInitializer"),
    "SqlDataset": ("sql", "SqlDatasetV2"),
    "index_table_from_dataset": ("vocabularies", "index_table_from_dataset"),
    "make_batched_features_dataset": ("features", "make_batched_features_dataset"),
    "make_csv_dataset": ("csv_files", "make_csv_dataset"),
    "parse_example_dataset": ("features", "parse_example_dataset"),
    "table_from_dataset": ("vocabularies", "table_from_dataset"),
}


def __getattr__(name: str) -> _Any:
    if name not in _LATER:
        from ...core.suggestions import no_attribute

        raise no_attribute(__name__, name)
    module, known = _LATER[name]
    value = getattr(_importlib.import_module(f"..{module}", __name__), known)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


__all__ = [
    "AUTOTUNE",
    "AutoShardPolicy",
    "AutotuneAlgorithm",
    "AutotuneOptions",
    "Counter",
    "CsvDataset",
    "DatasetInitializer",
    "DistributeOptions",
    "ExternalStatePolicy",
    "INFINITE_CARDINALITY",
    "OptimizationOptions",
    "Optional",
    "RandomDataset",
    "Reducer",
    "SHARD_HINT",
    "ServiceOptions",
    "SqlDataset",
    "TFRecordWriter",
    "ThreadingOptions",
    "UNKNOWN_CARDINALITY",
    "assert_cardinality",
    "at",
    "bucket_by_sequence_length",
    "cardinality",
    "choose_from_datasets",
    "copy_to_device",
    "dense_to_ragged_batch",
    "dense_to_sparse_batch",
    "enable_debug_mode",
    "enumerate_dataset",
    "from_list",
    "from_variant",
    "get_next_as_optional",
    "get_single_element",
    "get_structure",
    "group_by_reducer",
    "group_by_window",
    "ignore_errors",
    "index_table_from_dataset",
    "load",
    "make_batched_features_dataset",
    "make_csv_dataset",
    "map_and_batch",
    "pad_to_cardinality",
    "parallel_interleave",
    "parse_example_dataset",
    "prefetch_to_device",
    "rejection_resample",
    "sample_from_datasets",
    "save",
    "scan",
    "shuffle_and_repeat",
    "snapshot",
    "table_from_dataset",
    "take_while",
    "to_variant",
    "unbatch",
    "unique",
]
