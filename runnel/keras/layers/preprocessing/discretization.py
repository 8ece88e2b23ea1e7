"""Discretization: inputs as bin indices."""

from __future__ import annotations

from typing import Any

import numpy as np

import runnel as tf

from .base import PreprocessingLayer, as_tensor, is_composite, is_ragged
from .encoding import check_output_mode, check_sparse, default_dtype, encode

_MODES = ("int", "one_hot", "multi_hot", "count")


class Discretization(PreprocessingLayer):
    """The index of each input's bin; bin n starts at boundary n - 1.

    The boundaries are given, or learnt by `adapt` as approximate quantiles, so that each of
    `num_bins` bins gets about as many inputs.

    >>> layer = tf.keras.layers.Discretization([0.0, 1.0, 2.0])
    >>> layer([-1.5, 1.0, 3.4, 0.5]).numpy().tolist()
    [0, 2, 3, 1]
    """

    def __init__(
        self,
        bin_boundaries=None,
        num_bins=None,
        epsilon=0.01,
        output_mode="int",
        sparse=False,
        **kwargs,
    ):
        # Older Keras names of the boundaries and their number.
        if "bins" in kwargs:
            bins = kwargs.pop("bins")
            if isinstance(bins, int):
                num_bins = bins
            else:
                bin_boundaries = bins
        if output_mode == "binary":
            output_mode = "multi_hot"
        default_dtype(kwargs, output_mode)
        super().__init__(**kwargs)
        check_output_mode("Discretization", output_mode, _MODES)
        check_sparse(sparse, output_mode, "`'one_hot'`, `'multi_hot'`, or `'count'`")
        if num_bins is not None and num_bins < 0:
            raise ValueError(
                f"`num_bins` must be greater than or equal to 0. You passed `num_bins={num_bins}`"
            )
        if num_bins is not None and bin_boundaries is not None:
            raise ValueError(
                "Both `num_bins` and `bin_boundaries` should not be set. You passed "
                f"`num_bins={num_bins}` and `bin_boundaries={bin_boundaries}`"
            )
        if isinstance(bin_boundaries, np.ndarray | tf.Tensor):
            bin_boundaries = np.asarray(bin_boundaries).tolist()
        self.input_bin_boundaries = bin_boundaries
        self.bin_boundaries = bin_boundaries if bin_boundaries is not None else []
        self.num_bins = num_bins
        self.epsilon = epsilon
        self.output_mode = output_mode
        self.sparse = sparse

    def build(self, input_shape):
        """Create the summary of the data that `adapt` fills, unless boundaries were given."""
        super().build(input_shape)
        if self.input_bin_boundaries is not None:
            return
        # A quantile summary: values, and the number of data points that each represents.
        self.summary = tf.Variable(
            np.zeros((2, 0), np.float32),
            shape=(2, None),
            dtype=tf.float32,
            trainable=False,
            name="summary",
        )

    def update_state(self, data):
        """Merge a batch into the summary."""
        if self.input_bin_boundaries is not None:
            raise ValueError(
                "Cannot adapt a Discretization layer that has been initialized with "
                "`bin_boundaries`, use `num_bins` instead. You passed "
                f"`bin_boundaries={self.input_bin_boundaries}`."
            )
        if not self.built:
            raise RuntimeError("`build` must be called before `update_state`.")
        data = as_tensor(data)
        if is_composite(data):
            data = data.flat_values if is_ragged(data) else tf.sparse.to_dense(data)
        summary = _summary_of(np.asarray(data, np.float32), self.epsilon)
        joined = np.concatenate([summary, self.summary.numpy()], axis=1)
        joined = joined[:, np.argsort(joined[0], kind="stable")]
        self.summary.assign(_compressed(joined, self.epsilon))

    def finalize_state(self):
        """Compute the boundaries from the summary."""
        if self.input_bin_boundaries is not None or not self.built:
            return
        if self.num_bins:
            bins = _compressed(self.summary.numpy(), 1.0 / self.num_bins)
            self.bin_boundaries = bins[0, :-1].tolist()

    def reset_state(self):
        """Reset the summary."""
        self._is_adapted = False
        if self.input_bin_boundaries is None and self.built:
            self.summary.assign(np.zeros((2, 0), np.float32))

    def call(self, inputs):
        """The bin indices of the inputs, or vectors of them."""
        inputs = as_tensor(inputs)
        if is_ragged(inputs):
            bins = inputs.with_flat_values(self._bins(inputs.flat_values))
        elif is_composite(inputs):
            bins = tf.SparseTensor(inputs.indices, self._bins(inputs.values), inputs.dense_shape)
        else:
            bins = self._bins(inputs)
        dtype = self._compute_dtype_object
        if self.output_mode == "int" and not dtype.is_integer:
            dtype = tf.int64
        depth = len(self.bin_boundaries) + 1
        return encode(bins, self.output_mode, depth, dtype, self.sparse)

    def _bins(self, values: Any) -> Any:
        if values.dtype not in (tf.int32, tf.int64, tf.float32, tf.float64):
            raise tf.errors.InvalidArgumentError(
                None,
                None,
                f"Layer {self.name} cannot put values of type {values.dtype.name} into bins. Cast "
                "them to int32, int64, float32 or float64 first.",
            )
        boundaries = np.asarray(self.bin_boundaries, np.float32)
        if np.any(np.diff(boundaries) < 0):
            raise tf.errors.InvalidArgumentError(
                None, None, f"Expected sorted boundaries. Received: {self.bin_boundaries}"
            )
        wide = tf.cast(values, tf.float64)
        flat = tf.reshape(wide, [-1])
        found = tf.searchsorted(tf.constant(boundaries, tf.float64), flat, "right", tf.int64)
        bins = tf.reshape(found, tf.shape(values))
        bins.set_shape(values.shape)
        return bins

    def compute_output_shape(self, input_shape):
        """The shape of the inputs."""
        return input_shape

    def compute_output_signature(self, input_spec):
        """The signature of the bins."""
        shape = self.compute_output_shape(input_spec.shape)
        kind = tf.SparseTensorSpec if hasattr(input_spec, "_dense_shape") else tf.TensorSpec
        return kind(shape=shape, dtype=self.compute_dtype)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "bin_boundaries": self.input_bin_boundaries,
            "num_bins": self.num_bins,
            "epsilon": self.epsilon,
            "output_mode": self.output_mode,
            "sparse": self.sparse,
        }


def _summary_of(values: np.ndarray, epsilon: float) -> np.ndarray:
    """A quantile summary: every n-th sorted value, each representing a fraction `epsilon`."""
    ordered = np.sort(values.reshape(-1))
    increment = ordered.size * epsilon
    step = max(int(increment), 1)
    kept = ordered[int(increment) :: step]
    return np.stack([kept, np.full_like(kept, step)])


def _compressed(summary: np.ndarray, epsilon: float) -> np.ndarray:
    """A summary compressed to one value per fraction `epsilon` of the data, if it is longer."""
    if summary.shape[1] * epsilon < 1:
        return summary
    percents = epsilon + np.arange(0.0, 1.0, epsilon)
    weights = np.cumsum(summary[1])
    reached = weights / weights[-1]
    values = np.interp(percents, reached, summary[0])
    counts = np.diff(np.interp(percents, reached, weights), prepend=0.0)
    return np.stack([values, counts]).astype(np.float32)
