"""tf.compat.v1.python_io: TFRecord files, under TensorFlow 1's names."""

import runnel as _tf

from .io import tf_record_iterator as tf_record_iterator

TFRecordOptions = _tf.io.TFRecordOptions
TFRecordWriter = _tf.io.TFRecordWriter


class TFRecordCompressionType:
    """The compression types of TFRecord files."""

    NONE = 0
    ZLIB = 1
    GZIP = 2
