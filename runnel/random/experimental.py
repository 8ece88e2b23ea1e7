"""tf.random.experimental: Random-number functions under their older names."""

from ..ops.random_generator import (
    Generator as Generator,
    create_rng_state as create_rng_state,
    get_global_generator as get_global_generator,
    set_global_generator as set_global_generator,
)
from ..ops.random_stateless import (
    Algorithm as Algorithm,
    index_shuffle as index_shuffle,
    stateless_fold_in as stateless_fold_in,
    stateless_shuffle as stateless_shuffle,
    stateless_split as stateless_split,
)
