"""tf.ragged: ragged tensors from lists, ranges and masks, and functions of their flat values."""

from ..core.suggestions import suggesting as _suggesting
from ..ops.ragged.constructors import (
    boolean_mask as boolean_mask,
    constant as constant,
    range as range,
    row_splits_to_segment_ids as row_splits_to_segment_ids,
    segment_ids_to_row_splits as segment_ids_to_row_splits,
    stack as stack,
    stack_dynamic_partitions as stack_dynamic_partitions,
)
from ..ops.ragged.elementwise import map_flat_values as map_flat_values
from ..ops.sparse.crossing import (
    ragged_cross as cross,
    ragged_cross_hashed as cross_hashed,
)

__getattr__ = _suggesting(__name__)
