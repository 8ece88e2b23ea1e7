"""Output modes of categorical layers: indices, or vectors made of these."""

from __future__ import annotations

from typing import Any

import runnel as tf

from .base import is_composite, is_ragged


def check_output_mode(layer: str, output_mode: Any, allowed: tuple[str, ...]) -> None:
    """Raise ValueError unless the layer supports the output mode."""
    if output_mode not in allowed:
        raise ValueError(
            f"Unknown value for `output_mode` argument of layer {layer}. Allowed values are: "
            f"{allowed}. Received: {output_mode}"
        )


def check_sparse(sparse: bool, output_mode: str, modes: str) -> None:
    """Raise ValueError if sparse output is requested for a mode without vectors."""
    if sparse and output_mode == "int":
        raise ValueError(
            f"`sparse` may only be true if `output_mode` is {modes}. Received: sparse={sparse} and "
            f"output_mode={output_mode}"
        )


def default_dtype(kwargs: dict[str, Any], output_mode: str) -> None:
    """int64 for indices and floats for vectors, unless a dtype is given."""
    if kwargs.get("dtype") is None:
        kwargs["dtype"] = "int64" if output_mode == "int" else tf.keras.backend.floatx()


def encode(
    indices: Any,
    output_mode: str,
    depth: Any,
    dtype: Any,
    sparse: bool = False,
    count_weights: Any = None,
    idf_weights: Any = None,
) -> Any:
    """Category indices unchanged, or one vector of length `depth` for each row of them."""
    if output_mode == "int":
        return indices if indices.dtype is tf.as_dtype(dtype) else tf.cast(indices, dtype)
    given = indices.shape
    if given.rank == 0:
        indices = tf.expand_dims(indices, -1)
    if output_mode == "one_hot" and indices.shape[-1] != 1:
        indices = tf.expand_dims(indices, -1)
    if indices.shape.rank is not None and indices.shape.rank > 2:
        raise ValueError(
            "When output_mode is not `'int'`, maximum supported output rank is 2. Received "
            f"output_mode {output_mode} and input shape {given}, which would result in output rank "
            f"{indices.shape.rank}."
        )
    binary = output_mode in ("multi_hot", "one_hot")
    if sparse:
        vectors = _sparse_counts(indices, depth, dtype, binary, count_weights)
        if output_mode == "tf_idf":
            places = vectors.indices[:, -1]
            weighted = vectors.values * tf.cast(tf.gather(idf_weights, places), dtype)
            return tf.SparseTensor(vectors.indices, weighted, vectors.dense_shape)
        return vectors
    vectors = _dense_counts(indices, depth, dtype, binary, count_weights)
    if output_mode == "tf_idf":
        return vectors * tf.cast(idf_weights, dtype)
    return vectors


def _dense_counts(indices: Any, depth: Any, dtype: Any, binary: bool, weights: Any) -> Any:
    if is_composite(indices):
        return _counts_by_row(indices, depth, dtype, binary, weights)
    if weights is not None:
        weights = tf.cast(weights, dtype)
    countable = tf.as_dtype(dtype) in (tf.int32, tf.int64, tf.float32, tf.float64)
    vectors = tf.math.bincount(
        indices,
        weights=weights,
        minlength=depth,
        maxlength=depth,
        dtype=dtype if countable else tf.float32,
        axis=-1,
        binary_output=binary,
    )
    known = depth if isinstance(depth, int) else None
    vectors.set_shape([*indices.shape[:-1], known])
    return vectors if countable else tf.cast(vectors, dtype)


def _counts_by_row(indices: Any, depth: Any, dtype: Any, binary: bool, weights: Any) -> Any:
    """The counts per row of a ragged or sparse tensor; out-of-range indices are ignored."""
    rows, values, count = _entries(indices)
    values = tf.cast(values, tf.int64)
    inside = values < depth
    places = tf.boolean_mask(rows * depth + values, inside)
    if weights is not None:
        weights = tf.cast(_entries(weights)[1] if is_composite(weights) else weights, dtype)
        weights = tf.boolean_mask(tf.reshape(weights, [-1]), inside)
    counts = tf.math.bincount(
        places,
        weights=weights,
        minlength=count * depth,
        maxlength=count * depth,
        dtype=dtype,
        binary_output=binary,
    )
    vectors = tf.reshape(counts, tf.stack([count, tf.cast(depth, tf.int64)]))
    vectors.set_shape([indices.shape[0], depth if isinstance(depth, int) else None])
    return vectors


def _entries(tensor: Any) -> tuple[Any, Any, Any]:
    """The row index and value of every entry of a ragged or sparse tensor, and the row count."""
    if is_ragged(tensor):
        rows = tf.cast(tensor.value_rowids(), tf.int64)
        return rows, tensor.flat_values, tf.cast(tensor.nrows(), tf.int64)
    return tensor.indices[:, 0], tensor.values, tensor.dense_shape[0]


def _sparse_counts(indices: Any, depth: Any, dtype: Any, binary: bool, weights: Any) -> Any:
    counts = tf.sparse.bincount(
        indices,
        weights=weights,
        minlength=depth,
        maxlength=depth,
        axis=-1,
        binary_output=binary,
    )
    counts = tf.cast(counts, dtype)
    first = [] if indices.shape.rank == 1 else [counts.dense_shape[0]]
    shape = tf.stack([*first, tf.cast(depth, tf.int64)])
    return tf.SparseTensor(counts.indices, counts.values, shape)
