"""tf.compat.v1.sets: `tf.sets`, and TensorFlow 1's longer names."""

import runnel as _tf

difference = set_difference = _tf.sets.difference
intersection = set_intersection = _tf.sets.intersection
size = set_size = _tf.sets.size
union = set_union = _tf.sets.union
