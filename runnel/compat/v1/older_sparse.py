"""Functions of sparse tensors and segments with the arguments that TensorFlow 1 has."""

from __future__ import annotations

import runnel as tf

from .older import either


def sparse_add(a, b, threshold=None, thresh=None):
    """The sum of two tensors, of which one at least is sparse."""
    threshold = either(threshold, "threshold", thresh, "thresh")
    return tf.sparse.add(a, b, 0 if threshold is None else threshold)


def sparse_concat(
    axis, sp_inputs, name=None, expand_nonconcat_dim=False, concat_dim=None,
    expand_nonconcat_dims=None,
):  # fmt: skip
    """Sparse tensors joined along an axis."""
    expand = expand_nonconcat_dim if expand_nonconcat_dims is None else expand_nonconcat_dims
    axis = either(axis, "axis", concat_dim, "concat_dim")
    return tf.sparse.concat(axis, sp_inputs, expand, name)


def _reduction(function, is_sparse, summary):
    def reduction(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
        axis = either(axis, "axis", reduction_axes, "reduction_axes")
        keep = either(keepdims, "keepdims", keep_dims, "keep_dims")
        return getattr(tf.sparse, function)(sp_input, axis, keep, is_sparse)

    reduction.__doc__ = summary
    reduction.__name__ = reduction.__qualname__ = f"sparse_{function}{'_sparse' * is_sparse}"
    return reduction


sparse_reduce_max = _reduction("reduce_max", False, "The largest element along axes.")
sparse_reduce_sum = _reduction("reduce_sum", False, "The sum along axes.")
sparse_reduce_max_sparse = _reduction("reduce_max", True, "The largest element, as a SparseTensor.")
sparse_reduce_sum_sparse = _reduction("reduce_sum", True, "The sum along axes, as a SparseTensor.")


def _segment(function, summary):
    def segment(data, indices, segment_ids, name=None, num_segments=None, sparse_gradient=False):
        return getattr(tf.sparse, function)(
            data, indices, segment_ids, num_segments, name, sparse_gradient
        )

    segment.__doc__ = summary
    segment.__name__ = segment.__qualname__ = f"sparse_{function}"
    return segment


sparse_segment_mean = _segment("segment_mean", "The mean of chosen rows of each segment.")
sparse_segment_sqrt_n = _segment("segment_sqrt_n", "The sum of chosen rows over √count.")
sparse_segment_sum = _segment("segment_sum", "The sum of chosen rows of each segment.")


def sparse_split(
    keyword_required=None, sp_input=None, num_split=None, axis=None, name=None, split_dim=None
):
    """A sparse tensor in parts along an axis. All arguments are keywords."""
    if keyword_required is not None:
        raise ValueError("Keyword arguments are required for this function.")
    if sp_input is None:
        raise ValueError("sp_input is required")
    if num_split is None:
        raise ValueError("num_split is required")
    axis = either(axis, "axis", split_dim, "split_dim")
    if axis is None:
        raise ValueError("axis is required")
    return tf.sparse.split(sp_input, num_split, axis, name)


def sparse_matmul(
    a, b, transpose_a=False, transpose_b=False, a_is_sparse=False, b_is_sparse=False, name=None
):
    """The matmul of two matrices with many zeros, kept as dense ones; float32."""
    a, b = (tf.cast(each, tf.float32) for each in (a, b))
    return tf.matmul(a, b, transpose_a, transpose_b, name=name)


def extract_image_patches(
    images, ksizes=None, strides=None, rates=None, padding=None, name=None, sizes=None
):
    """Patches of images as channels."""
    sizes = either(sizes, "sizes", ksizes, "ksizes")
    return tf.image.extract_patches(images, sizes, strides, rates, padding, name)


def batch_to_space_nd(input, block_shape, crops, name=None):
    """Elements of the batch as blocks of space."""
    return tf.batch_to_space(input, block_shape, crops, name)


def batch_scatter_update(ref, indices, updates, use_locking=True, name=None):
    """Set rows of a variable, for each element of the batch its own."""
    indices = tf.convert_to_tensor(indices)
    dimensions = indices.shape.rank
    sizes = tf.shape(indices)
    places = [
        tf.reshape(
            tf.range(sizes[axis], dtype=indices.dtype),
            [-1 if each == axis else 1 for each in range(dimensions)],
        )
        + tf.zeros_like(indices)
        for axis in range(dimensions - 1)
    ]
    return ref.scatter_nd_update(tf.stack([*places, indices], -1), updates)


def serialize_sparse(sp_input, name=None, out_type=tf.string):
    """A sparse tensor as three serialized tensors."""
    return tf.io.serialize_sparse(sp_input, out_type, name)


def serialize_many_sparse(sp_input, name=None, out_type=tf.string):
    """The elements of a batch of sparse tensors, each as three serialized tensors."""
    return tf.io.serialize_many_sparse(sp_input, out_type, name)
