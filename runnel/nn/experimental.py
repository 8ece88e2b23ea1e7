"""tf.nn.experimental: Dropout with a choice of random numbers."""

from ..ops.nn.dropout import (
    general_dropout as general_dropout,
    stateless_dropout as stateless_dropout,
)
