"""The original's default names of operations in a graph.

Most are named after their op. These functions assign other names; a name that ends in "/" is a
scope for all operations of the call, any other is given to the last of them.
"""

from __future__ import annotations

DEFAULT_NAMES: dict[str, str] = {
    "add": "Add",
    "clip_by_value": "clip_by_value",
    "divide": "truediv",
    "dropout": "dropout/",
    "einsum": "einsum/",
    "embedding_lookup": "embedding_lookup",
    "gelu": "Gelu/",
    "getitem": "strided_slice",
    "l2_normalize": "l2_normalize",
    "linspace": "linspace/",
    "max_pool2d": "MaxPool2d",
    "moments": "moments/",
    "norm": "norm/",
    "normal": "random_normal/",
    "one_hot": "one_hot",
    "reduce_std": "reduce_std/",
    "reduce_variance": "reduce_variance/",
    "resize": "resize/",
    "sequence_mask": "SequenceMask/",
    "sort": "sort/",
    "sparse_softmax_cross_entropy_with_logits": "SparseSoftmaxCrossEntropyWithLogits/",
    "tensordot": "Tensordot/",
    "uniform": "random_uniform/",
}
