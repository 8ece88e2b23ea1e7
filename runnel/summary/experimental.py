"""tf.summary.experimental: the default step, scopes and raw messages."""

from .recording import summary_scope as summary_scope, write_raw_pb as write_raw_pb
from .writers import get_step as get_step, set_step as set_step
