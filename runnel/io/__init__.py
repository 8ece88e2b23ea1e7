"""tf.io: Files, and what their bytes mean."""

from ..core.suggestions import suggesting as _suggesting
from ..formats.tfrecord import (
    TFRecordOptions as TFRecordOptions,
    TFRecordWriter as TFRecordWriter,
)
from ..ops.csv import decode_csv as decode_csv
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
    match_filenames_once as match_filenames_once,
    matching_files as matching_files,
    parse_tensor as parse_tensor,
    read_file as read_file,
    serialize_tensor as serialize_tensor,
    write_file as write_file,
)
from ..ops.parsing.example import (
    parse_example as parse_example,
    parse_single_example as parse_single_example,
)
from ..ops.parsing.features import (
    FixedLenFeature as FixedLenFeature,
    FixedLenSequenceFeature as FixedLenSequenceFeature,
    RaggedFeature as RaggedFeature,
    SparseFeature as SparseFeature,
    VarLenFeature as VarLenFeature,
)
from ..ops.parsing.json_example import decode_json_example as decode_json_example
from ..ops.parsing.sequence_example import (
    parse_sequence_example as parse_sequence_example,
    parse_single_sequence_example as parse_single_sequence_example,
)
from ..ops.protos import (
    decode_proto as decode_proto,
    encode_proto as encode_proto,
)
from ..ops.serialized_sparse import (
    deserialize_many_sparse as deserialize_many_sparse,
    serialize_many_sparse as serialize_many_sparse,
    serialize_sparse as serialize_sparse,
)
from ..saved_model.graph_files import write_graph as write_graph
from . import gfile as gfile

__getattr__ = _suggesting(__name__)
