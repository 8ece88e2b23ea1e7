"""Sound inputs of every format, as the originals of mutations."""

from __future__ import annotations

import gzip
import io
import struct
import wave
import zlib

import numpy as np
from PIL import Image

import runnel as tf
from runnel.formats.masked_crc import crc32c, mask

_PIXELS = np.random.default_rng(0).integers(0, 256, (13, 18, 4)).astype(np.uint8)


def _saved(image, kind, **options):
    target = io.BytesIO()
    image.save(target, kind, **options)
    return target.getvalue()


def _image(channels=3):
    pixels = _PIXELS[..., 0] if channels == 1 else np.ascontiguousarray(_PIXELS[..., :channels])
    return Image.fromarray(pixels)


def jpegs():
    return [
        _saved(_image(), "JPEG", subsampling=2),
        _saved(_image(), "JPEG", subsampling=1, progressive=True),
        _saved(_image(), "JPEG", subsampling=0, optimize=True),
        _saved(_image(1), "JPEG"),
        _saved(Image.merge("CMYK", _image(4).split()), "JPEG"),
    ]


def pngs():
    wide = tf.io.encode_png(_PIXELS.astype(np.uint16) * 257).numpy()
    palette = _image().quantize(5)
    return [
        *(_saved(_image(channels), "PNG") for channels in (1, 3, 4)),
        _saved(palette, "PNG"),
        _saved(palette, "PNG", transparency=2),
        wide,
    ]


def gifs():
    frames = [Image.fromarray(np.roll(_PIXELS[..., :3], 3 * i, 1)) for i in range(3)]
    palette = frames[0].quantize(4)
    return [
        _saved(frames[0], "GIF"),
        _saved(frames[0], "GIF", save_all=True, append_images=frames[1:]),
        _saved(palette, "GIF", save_all=True, append_images=frames[1:], transparency=1),
    ]


def bmps():
    return [_saved(_image(channels), "BMP") for channels in (1, 3, 4)]


def wavs():
    found = []
    for channels in (1, 2):
        target = io.BytesIO()
        with wave.open(target, "wb") as file:
            file.setnchannels(channels)
            file.setsampwidth(2)
            file.setframerate(8000)
            file.writeframes(_PIXELS.tobytes()[:120])
        found.append(target.getvalue())
    return found


def _feature(kind, values):
    lists = {"int64": tf.train.Int64List, "float": tf.train.FloatList, "bytes": tf.train.BytesList}
    return tf.train.Feature(**{f"{kind}_list": lists[kind](value=values)})


def examples():
    found = []
    for count in (0, 1, 3):
        feature = {
            "number": _feature("int64", [7]),
            "pair": _feature("float", [0.5, -1.5]),
            "word": _feature("bytes", [b"word"]),
            "numbers": _feature("int64", [-5, 2**60, 3][:count]),
            "floats": _feature("float", [1.0, 2.0, 3.0][:count]),
            "words": _feature("bytes", [b"a", b"", b"abc"][:count]),
            "flat": _feature("int64", [9] * count),
            "lengths": _feature("int64", [1] * count),
            "indices": _feature("int64", list(range(count))),
            "values": _feature("float", [0.5] * count),
        }
        example = tf.train.Example(features=tf.train.Features(feature=feature))
        found.append(example.SerializeToString())
    return found


def sequence_examples():
    steps = [_feature("int64", [1, 2]), _feature("int64", [3, 4])]
    words = [_feature("bytes", [b"a"]), _feature("bytes", [b"b", b"c"])]
    lists = {
        "steps": tf.train.FeatureList(feature=steps),
        "words": tf.train.FeatureList(feature=words),
    }
    context = tf.train.Features(feature={"number": _feature("int64", [7])})
    example = tf.train.SequenceExample(
        context=context, feature_lists=tf.train.FeatureLists(feature_list=lists)
    )
    return [example.SerializeToString()]


def csvs():
    return [
        b"-12,,,",
        b'1,2.5,word,"quoted, and ""again"""',
        b' 3 ,1e-5,"",x',
        b"9223372036854775807,nan,\xc3\xa4,y",
    ]


def record(data):
    """One record of a TFRecord file."""
    length = struct.pack("<Q", len(data))
    return length + _checksum(length) + data + _checksum(data)


def _checksum(data):
    return struct.pack("<I", mask(crc32c(data)))


def with_length(number):
    """A TFRecord file whose second record says it has so many bytes, under a right checksum."""
    length = struct.pack("<Q", number)
    return record(b"first") + length + _checksum(length) + b"data" * 4


def tfrecords():
    plain = b"".join(record(data) for data in (b"", b"first", b"second" * 9, *examples()))
    return [plain, with_length(2**60), with_length(2**63 + 5), with_length(2**32)]


def compressed_tfrecords():
    plain = tfrecords()[0]
    return [gzip.compress(plain), zlib.compress(plain)]


def with_right_checksums(contents):
    """A PNG or TFRecord file whose checksums fit to what was changed, as far as it can be read."""
    if contents.startswith(pngs()[0][:8]):
        return contents[:8] + _png_with_checksums(contents, 8)
    return _records_with_checksums(contents)


def _png_with_checksums(contents, place):
    found = []
    while place + 12 <= len(contents):
        end = place + 8 + int.from_bytes(contents[place : place + 4], "big")
        body = contents[place + 4 : end]
        found.append(contents[place : place + 4] + body + struct.pack(">I", zlib.crc32(body)))
        place = end + 4
    return b"".join(found) + contents[place:]


def _records_with_checksums(contents):
    found, place = [], 0
    while place + 12 <= len(contents):
        length = contents[place : place + 8]
        end = place + 12 + int.from_bytes(length, "little")
        data = contents[place + 12 : end]
        found.append(length + _checksum(length) + data)
        if end <= len(contents):
            found.append(_checksum(data))
        place = end + 4
    return b"".join(found) + contents[place:]


def png_of_size(width, height):
    """A PNG file that says it has this size, under a right checksum."""
    contents = pngs()[1]
    head = b"IHDR" + struct.pack(">II", width, height) + contents[24:29]
    return contents[:12] + head + struct.pack(">I", zlib.crc32(head)) + contents[33:]


def with_size(contents, place, size, width, height):
    """An image file with other numbers where its size stands."""
    order = "big" if contents.startswith(b"\xff\xd8") else "little"
    limit = (1 << 8 * size) - 1
    numbers = (height, width) if order == "big" else (width, height)
    text = b"".join(min(number, limit).to_bytes(size, order) for number in numbers)
    return contents[:place] + text + contents[place + 2 * size :]


def huge_images():
    """Image files whose headers promise far more than the bytes hold."""
    found = []
    for width, height in ((60000, 60000), (2**31 - 1, 2**31 - 1), (1, 2**31 - 1), (2**16 - 1, 9)):
        found.append(png_of_size(width, height))
        found.extend(with_size(gif, 6, 2, width, height) for gif in gifs())
        found.extend(with_size(bmp, 18, 4, width, height) for bmp in bmps())
        for jpeg in jpegs():
            place = max(jpeg.find(b"\xff\xc0"), jpeg.find(b"\xff\xc2")) + 5
            found.append(with_size(jpeg, place, 2, width, height))
    return found


def descriptors():
    """Sets of descriptors of a message."""
    from google.protobuf import descriptor_pb2

    kinds = descriptor_pb2.FieldDescriptorProto
    described = descriptor_pb2.FileDescriptorSet()
    file = described.file.add(name="fuzz.proto", package="fuzz", syntax="proto2")
    message = file.message_type.add(name="Message")
    message.nested_type.add(name="Group").field.add(name="a", number=1, type=5, label=1)
    fields = [
        ("numbers", kinds.TYPE_INT32, 3, ""),
        ("packed", kinds.TYPE_INT64, 3, ""),
        ("words", kinds.TYPE_STRING, 3, ""),
        ("inner", kinds.TYPE_MESSAGE, 1, ".fuzz.Message"),
        ("group", kinds.TYPE_GROUP, 3, ".fuzz.Message.Group"),
        ("double", kinds.TYPE_DOUBLE, 3, ""),
        ("zigzag", kinds.TYPE_SINT32, 1, ""),
    ]
    for number, (name, kind, label, other) in enumerate(fields, 1):
        message.field.add(name=name, number=number, type=kind, label=label, type_name=other or None)
    message.field[1].options.packed = True
    return [described.SerializeToString()]


def messages():
    """Messages as those descriptors describe them, and two as text."""
    group = b"\x2b\x08\x03\x2c"
    whole = (
        b"\x08\x05\x08\x07\x12\x03\x01\x02\x03\x1a\x02ab" + group + b"\x31" + bytes(8) + b"\x38\x05"
    )
    return [
        whole,
        whole + b"\x22" + bytes([len(whole)]) + whole,
        b"numbers: 3 words: 'abc' inner { zigzag: -4 } Group { a: 1 }",
        b"double: 1.5e3 double: inf packed: [1, 2]",
    ]
