"""Files that programs seldom read: what is made of them is what TensorFlow makes."""

import collections
import io
import struct
import zlib

import numpy as np
import pytest
import tensorflow
from PIL import Image

import runnel


def outcome(program, tf):
    try:
        value = program(tf)
    except Exception as failure:
        return type(failure).__name__
    return [np.asarray(each) for each in tf.nest.flatten(value)]


def same(program):
    expected, found = outcome(program, tensorflow), outcome(program, runnel)
    assert type(found) is type(expected), (expected, found)
    if isinstance(expected, str):
        assert found == expected
        return
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def colours(seed, count):
    return np.random.RandomState(seed).randint(1, 256, count).astype(np.uint8).tobytes()


def packed_indices(indices):
    """Indices of 9 bits, the dictionary of codes cleared before it grows."""
    codes = []
    for place, index in enumerate(indices):
        codes += [256, int(index)] if place % 100 == 0 else [int(index)]
    bits = sum(code << 9 * place for place, code in enumerate([*codes, 257]))
    data = bits.to_bytes(9 * (len(codes) + 1) // 8 + 1, "little")
    return b"\x08" + bytes([len(data)]) + data + b"\0"


def gif(*frames, size=(6, 5), palette=True, trailer=b";"):
    """A GIF of frames with disposal, transparent index, box, palette and number of indices."""
    flags = 0x82 if palette else 2
    contents = b"GIF89a" + struct.pack("<HHBBB", *size, flags, 2, 0)
    contents += colours(0, 24) if palette else b""
    for place, frame in enumerate(frames):
        disposal, transparent = frame.get("disposal", 0), frame.get("transparent")
        flags = disposal << 2 | (transparent is not None)
        contents += bytes([0x21, 0xF9, 4, flags, 5, 0, transparent or 0, 0])
        box = frame.get("box", (0, 0, *size))
        own = frame.get("own")
        flags = (0x82 if own else 0) | frame.get("interlaced", 0) << 6
        contents += b"," + struct.pack("<HHHHB", *box, flags) + (colours(own, 24) if own else b"")
        random = np.random.RandomState(place + 1)
        contents += packed_indices(random.randint(0, frame.get("most", 8), box[2] * box[3]))
    return contents + trailer


PART, OTHER = {"box": (1, 1, 3, 2)}, {"box": (2, 0, 4, 5)}
GIFS = {
    **{
        f"disposal {disposal}, transparent {transparent}": gif(
            *({**box, "disposal": disposal, "transparent": transparent}
              for box in ({}, PART, OTHER, {}))
        )
        for disposal in range(4)
        for transparent in (None, 3)
    },
    "a small first frame": gif({"box": (1, 1, 3, 3)}, {"box": (0, 0, 2, 2), "transparent": 5}),
    "a frame that reaches out": gif({}, {"box": (3, 3, 5, 5)}),
    "frames with own colours": gif({"own": 1}, {"own": 2, "transparent": 2}, palette=False),
    "interlaced": gif({"interlaced": 1}, {"interlaced": 1, "transparent": 1}, size=(6, 11)),
    "no colours": gif({}, palette=False),
    "an index beyond the palette": gif({}, {"most": 12}),
    "such an index that is transparent": gif({}, {"most": 9, "transparent": 8}),
    "no end": gif({}, {}, trailer=b""),
    "cut": gif({}, {})[:-20],
    "no frames": gif(),
}  # fmt: skip


@pytest.mark.parametrize("name", GIFS)
def test_frames_of_gifs(name):
    same(lambda tf: tf.io.decode_gif(GIFS[name]))
    same(lambda tf: tf.io.decode_image(GIFS[name], expand_animations=False))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(pixels, bits, kind, *before):
    """A PNG of rows that are not filtered; `pixels` are the bytes of rows if `bits` is below 8."""
    rows = pixels.astype(">u2") if bits == 16 else pixels.astype(np.uint8)
    width = pixels.shape[1] * 8 // bits if bits < 8 else pixels.shape[1]
    head = struct.pack(">IIBBBBB", width, len(pixels), bits, kind, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row.tobytes() for row in rows))
    chunks = [chunk(b"IHDR", head), *before, chunk(b"IDAT", data), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def coloured(bits):
    pixels = np.random.RandomState(3).randint(0, 1 << bits, (20, 30, 3))
    pixels[:5] = pixels[:5, :, :1]
    return pixels


POWERS = {
    **{str(power): chunk(b"gAMA", struct.pack(">I", power))
       for power in (45455, 55556, 95000, 100000, 105001, 220000, 1)},
    "sRGB": chunk(b"sRGB", b"\0"),
    "sRGB of an unknown kind": chunk(b"sRGB", b"\7"),
    "both": chunk(b"gAMA", struct.pack(">I", 100000)) + chunk(b"sRGB", b"\1"),
}  # fmt: skip


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("power", POWERS)
def test_gray_of_samples_that_are_no_light(power, bits):
    contents = png(coloured(bits), bits, 2, POWERS[power])
    for dtype in ("uint8", "uint16"):
        same(lambda tf, dtype=dtype: tf.io.decode_png(contents, channels=1, dtype=dtype))
    same(lambda tf: tf.io.decode_png(contents, channels=3))


RANDOM = np.random.RandomState(4)
SEEN_THROUGH = {
    **{f"gray of {bits} bits, {value}":
       png(RANDOM.randint(0, 256, (4, 3)), bits, 0, chunk(b"tRNS", struct.pack(">H", value)))
       for bits in (1, 2, 4) for value in (0, 1, (1 << bits) - 1)},
    "gray of 16 bits": png(RANDOM.randint(0, 3, (6, 6, 1)), 16, 0, chunk(b"tRNS", b"\0\2")),
    "colours of 16 bits":
        png(RANDOM.randint(0, 2, (6, 6, 3)), 16, 2, chunk(b"tRNS", b"\0\1\0\0\0\1")),
}  # fmt: skip


@pytest.mark.parametrize("name", SEEN_THROUGH)
def test_transparent_colours_of_pngs(name):
    for channels in (0, 3, 4):
        for dtype in ("uint8", "uint16"):
            same(
                lambda tf, channels=channels, dtype=dtype: tf.io.decode_png(
                    SEEN_THROUGH[name], channels=channels, dtype=dtype
                )
            )


def test_images_that_are_refused():
    same(lambda tf: tf.io.decode_png(png(np.array([[1, 2, 0]]), 8, 3)))
    contents = io.BytesIO()
    Image.fromarray(coloured(8).astype(np.uint8)).save(contents, "WEBP", lossless=True)
    same(lambda tf: tf.io.decode_png(contents.getvalue(), dtype=tf.uint16))
    same(lambda tf: tf.io.decode_png(contents.getvalue()))


@pytest.mark.parametrize("values", [np.array([[9, 20, 3]]), np.uint8([[1, 2, 200]]), [1, 2, 3]])
def test_integers_have_a_hue(values):
    same(lambda tf: tf.image.rgb_to_hsv(values))
    same(lambda tf: tf.image.hsv_to_rgb(values))
    same(lambda tf: tf.image.rgb_to_hsv(tf.constant(values)))


def test_colours_of_more_than_grey_are_refused_in_graphs():
    for channels in (1, 3):
        pixels = np.arange(12, dtype=np.float32).reshape(2, -1, channels)
        same(
            lambda tf, pixels=pixels: tf.function(
                tf.image.grayscale_to_rgb,
                input_signature=[tf.TensorSpec([None, None, None], tf.float32)],
            )(pixels)
        )


@pytest.mark.parametrize("method", ["bilinear", "nearest"])
def test_no_boxes_crop_nothing(method):
    image, boxes = np.ones((1, 4, 5, 3), "f"), np.zeros((0, 4), "f")
    same(lambda tf: tf.image.crop_and_resize(image, boxes, boxes[:, 0], [2, 3], method))
    places = np.zeros(0, np.int32)
    same(lambda tf: tf.image.crop_and_resize(image, boxes, places, [2, 3], method))


@pytest.mark.parametrize("kind", ["ZLIB", "GZIP", ""])
def test_nothing_is_unpacked_to_nothing(kind):
    same(lambda tf: tf.io.decode_compressed([b"", b""], kind))


Point = collections.namedtuple("Point", "x y")


def test_fields_of_named_tuples_have_their_names_in_checkpoints(tmp_path):
    def module(tf, value):
        made = tf.Module()
        made.point = Point(tf.Variable(value), [tf.Variable(value + 1)])
        return made

    paths = {}
    for tf in (tensorflow, runnel):
        checkpoint = tf.train.Checkpoint(module=module(tf, 3.0))
        paths[tf] = checkpoint.write(str(tmp_path / tf.__name__))
    names = [tf.train.list_variables(path) for tf, path in paths.items()]
    assert names[0] == names[1]
    for tf in paths:
        for path in paths.values():
            again = module(tf, 0.0)
            tf.train.Checkpoint(module=again).read(path).assert_consumed()
            assert [float(each) for each in again.variables] == [3.0, 4.0]


def test_read_of_no_path_restores_nothing():
    for tf in (tensorflow, runnel):
        variable = tf.Variable(5.0)
        tf.train.Checkpoint(variable=variable).read(None).expect_partial()
        assert float(variable) == 5.0


@pytest.mark.parametrize("name", ["all.keras", "all.weights.h5", "all.h5"])
@pytest.mark.parametrize("options", [{"by_name": True}, {"by_name": True, "skip_mismatch": True}])
def test_names_matter_in_the_older_files_of_weights_only(name, options, tmp_path):
    def program(tf):
        def model(first):
            made = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,), name=first)])
            made.set_weights([np.full((3, 2), len(first), "f"), np.ones(2, "f")])
            return made

        path = str(tmp_path / tf.__name__) + name
        source, other = model("first"), model("one")
        source.save(path) if name == "all.keras" else source.save_weights(path)
        other.load_weights(path, **options)
        return other.get_weights()

    same(program)


IMAGES, TEXT, BOXES = ([None, 12, None], "float32"), ([], "string"), ([None, 4], "float32")
STATIC = {
    "grey": (lambda tf, x: tf.image.rgb_to_grayscale(x), IMAGES),
    "luma": (lambda tf, x: tf.image.rgb_to_yuv(x), IMAGES),
    "colours": (lambda tf, x: tf.image.grayscale_to_rgb(x), IMAGES),
    "crop": (lambda tf, x: tf.io.decode_and_crop_jpeg(x, [0, 0, 4, 5], 3), TEXT),
    "numbers": (lambda tf, x: tf.io.decode_raw(x, tf.int32, fixed_length=8), TEXT),
    "glimpse": (lambda tf, x: tf.image.extract_glimpse(x[None], [3, 4], [[0.0, 0.0]]), IMAGES),
    "boxes": (
        lambda tf, x: tf.image.non_max_suppression_padded(
            x, x[:, 0], 5, pad_to_max_output_size=True
        ),
        BOXES,
    ),
    "boxes in full": (
        lambda tf, x: tf.image.non_max_suppression_padded(x, x[:, 0], 5),
        (None, "float32"),
    ),
    "boxes of classes": (
        lambda tf, x: tf.image.combined_non_max_suppression(
            x[None, :, None], x[None, :, :3], 2, 7, pad_per_class=True
        ),
        BOXES,
    ),
    "boxes of all": (
        lambda tf, x: tf.image.combined_non_max_suppression(x[None, :, None], x[None, :, :3], 2, 7),
        BOXES,
    ),
    "a batch is no JPEG": (lambda tf, x: tf.io.encode_jpeg(x), ([None, 4, 4, 3], "uint8")),
}


@pytest.mark.parametrize("name", STATIC)
def test_shapes_that_a_graph_knows(name):
    function, (shape, dtype) = STATIC[name]

    def program(tf):
        traced = tf.function(lambda x: function(tf, x))
        results = traced.get_concrete_function(tf.TensorSpec(shape, dtype)).structured_outputs
        return [str(each.shape) for each in tf.nest.flatten(results)]

    same(program)
