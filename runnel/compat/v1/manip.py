"""tf.compat.v1.manip: functions that rearrange elements."""

import runnel as _tf

batch_to_space_nd = _tf.batch_to_space
gather_nd = _tf.gather_nd
reshape = _tf.reshape
reverse = _tf.reverse
roll = _tf.roll
scatter_nd = _tf.scatter_nd
space_to_batch_nd = _tf.space_to_batch
tile = _tf.tile
