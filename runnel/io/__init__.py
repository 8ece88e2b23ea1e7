"""tf.io: Files, and what their bytes mean."""

from ..formats.tfrecord import (
    TFRecordOptions as TFRecordOptions,
    TFRecordWriter as TFRecordWriter,
)
from ..ops.image.codecs import (
    decode_and_crop_jpeg as decode_and_crop_jpeg,
    decode_bmp as decode_bmp,
    decode_gif as decode_gif,
    decode_image as decode_image,
    decode_jpeg as decode_jpeg,
    decode_png as decode_png,
    decode_webp as decode_webp,
    extract_jpeg_shape as extract_jpeg_shape,
    is_jpeg as is_jpeg,
)
from ..ops.image.encoding import (
    encode_jpeg as encode_jpeg,
    encode_png as encode_png,
)
from ..ops.io import (
    decode_base64 as decode_base64,
    decode_compressed as decode_compressed,
    decode_raw as decode_raw,
    encode_base64 as encode_base64,
    matching_files as matching_files,
    parse_tensor as parse_tensor,
    read_file as read_file,
    serialize_tensor as serialize_tensor,
    write_file as write_file,
)
from ..saved_model.graph_files import write_graph as write_graph
