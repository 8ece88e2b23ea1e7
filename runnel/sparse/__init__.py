"""tf.sparse: tensors of which only the elements that count are kept."""

from ..core.suggestions import suggesting as _suggesting
from ..ops.sparse.arithmetic import (
    add as add,
    map_values as map_values,
    mask as mask,
    maximum as maximum,
    minimum as minimum,
    softmax as softmax,
)
from ..ops.sparse.conversion import (
    eye as eye,
    from_dense as from_dense,
    reorder as reorder,
    reset_shape as reset_shape,
    to_dense as to_dense,
    to_indicator as to_indicator,
)
from ..ops.sparse.counting import bincount as bincount
from ..ops.sparse.crossing import (
    cross as cross,
    cross_hashed as cross_hashed,
)
from ..ops.sparse.matmul import (
    sampled_addmm as sampled_addmm,
    sparse_dense_matmul as sparse_dense_matmul,
)
from ..ops.sparse.reductions import (
    reduce_max as reduce_max,
    reduce_sum as reduce_sum,
    segment_mean as segment_mean,
    segment_sqrt_n as segment_sqrt_n,
    segment_sum as segment_sum,
)
from ..ops.sparse.shaping import (
    concat as concat,
    expand_dims as expand_dims,
    fill_empty_rows as fill_empty_rows,
    reshape as reshape,
    retain as retain,
    slice as slice,
    split as split,
    transpose as transpose,
)
from ..ops.sparse.sparse_tensor import SparseTensor as SparseTensor

__getattr__ = _suggesting(__name__)
