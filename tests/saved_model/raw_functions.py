"""Functions of raw ops that only the original has; loaded here, they run on others."""

from __future__ import annotations

import numpy as np

NUMBERS = np.array([[0.5, 2.0, -1.0], [3.0, 0.0, 4.0]], np.float32)


def functions(tf):
    """A function of a [2, 3] tensor of floats for each op."""
    raw = tf.raw_ops
    indices = tf.constant([[0, 0], [1, 2]], tf.int64)
    shape = tf.constant([2, 3], tf.int64)
    variable = tf.Variable(NUMBERS)

    def sparse(x):
        return indices, tf.gather_nd(x, indices), shape

    def named(operation):
        return [getattr(operation, name) for name in operation._fields]

    found = {
        "AccumulateNV2": lambda x: raw.AccumulateNV2(inputs=[x, x], shape=[2, 3]),
        "Bucketize": lambda x: raw.Bucketize(input=x, boundaries=[0.0, 1.0, 3.0]),
        "DataFormatVecPermute": lambda x: raw.DataFormatVecPermute(
            x=tf.cast(tf.shape(tf.reshape(x, [1, 2, 3, 1])), tf.int32),
            src_format="NHWC", dst_format="NCHW",
        ),
        "InTopK": lambda x: raw.InTopK(predictions=x, targets=[1, 0], k=1),
        "LinSpace": lambda x: raw.LinSpace(start=x[0, 0], stop=x[1, 0], num=4),
        "MatrixDiag": lambda x: raw.MatrixDiag(diagonal=x),
        "MatrixDiagPart": lambda x: raw.MatrixDiagPart(input=x),
        "MatrixDiagPartV2": lambda x: raw.MatrixDiagPartV2(input=x, k=[-1, 1], padding_value=9.0),
        "MatrixDiagV2": lambda x: raw.MatrixDiagV2(
            diagonal=x, k=1, num_rows=-1, num_cols=-1, padding_value=0.0
        ),
        "MatrixSetDiag": lambda x: raw.MatrixSetDiag(input=x, diagonal=x[:, 0]),
        "MatrixSetDiagV2": lambda x: raw.MatrixSetDiagV2(input=x, diagonal=x[:, 0], k=1),
        "MaxPoolV2": lambda x: raw.MaxPoolV2(
            input=tf.reshape(x, [1, 2, 3, 1]), ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1],
            padding="VALID",
        ),
        "RaggedGather": lambda x: named(raw.RaggedGather(
            params_nested_splits=[tf.constant([0, 2, 6], tf.int64)],
            params_dense_values=tf.reshape(x, [-1]), indices=[1, 0, 1], OUTPUT_RAGGED_RANK=1,
        )),
        "ResourceGatherNd": lambda x: raw.ResourceGatherNd(
            resource=variable.handle, indices=[[0, 1]], dtype=tf.float32
        ) + x[0, 0],
        "Reverse": lambda x: raw.Reverse(tensor=x, dims=[True, False]),
        "SparseConcat": lambda x: named(raw.SparseConcat(
            indices=[indices, indices], values=[sparse(x)[1]] * 2, shapes=[shape, shape],
            concat_dim=1,
        )),
        "SparseReduceMax": lambda x: raw.SparseReduceMax(
            input_indices=indices, input_values=sparse(x)[1], input_shape=shape, reduction_axes=[1]
        ),
        "SparseReduceSum": lambda x: raw.SparseReduceSum(
            input_indices=indices, input_values=sparse(x)[1], input_shape=shape, reduction_axes=[0]
        ),
        "SparseSegmentMean": lambda x: raw.SparseSegmentMean(
            data=x, indices=[0, 1, 1], segment_ids=[0, 0, 1]
        ),
        "SparseSegmentSqrtNWithNumSegments": lambda x: raw.SparseSegmentSqrtNWithNumSegments(
            data=x, indices=[0, 1, 1], segment_ids=[0, 0, 2], num_segments=tf.constant(4)
        ),
        "SparseSegmentSum": lambda x: raw.SparseSegmentSum(
            data=x, indices=[0, 1, 1], segment_ids=[0, 0, 1]
        ),
        "SparseSlice": lambda x: named(raw.SparseSlice(
            indices=indices, values=sparse(x)[1], shape=shape,
            start=tf.constant([1, 0], tf.int64), size=tf.constant([1, 3], tf.int64),
        )),
        "SparseSoftmax": lambda x: raw.SparseSoftmax(
            sp_indices=indices, sp_values=sparse(x)[1], sp_shape=shape
        ),
        "SparseTensorDenseAdd": lambda x: raw.SparseTensorDenseAdd(
            a_indices=indices, a_values=sparse(x)[1], a_shape=shape, b=x
        ),
        "VarIsInitializedOp": lambda x: raw.VarIsInitializedOp(resource=variable.handle),
        "VariableShape": lambda x: raw.VariableShape(input=variable.handle),
        "ImageProjectiveTransformV2": lambda x: raw.ImageProjectiveTransformV2(
            images=tf.reshape(x, [1, 2, 3, 1]), transforms=[[1.0, 0, 1, 0, 1, 0, 0, 0]],
            output_shape=[2, 3], interpolation="NEAREST",
        ),
    }  # fmt: skip
    spec = [tf.TensorSpec([2, 3], tf.float32)]
    module = tf.Module()
    module.variable = variable
    for name, function in found.items():
        setattr(module, name, tf.function(function, input_signature=spec, autograph=False))
    return module, sorted(found)
