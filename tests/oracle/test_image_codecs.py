"""Files of images against TensorFlow: every pixel, and clean errors for what is no image."""

import io
import struct
import zlib

import numpy as np
import pytest
import tensorflow
from compare import check, check_raises
from PIL import Image

import runnel

ROWS, COLUMNS = np.mgrid[0:21, 0:27]
SMOOTH = np.stack([ROWS * 9 % 256, COLUMNS * 7 % 256, (ROWS + COLUMNS) * 5 % 256], -1)
SMOOTH = SMOOTH.astype(np.uint8)
NOISE = np.random.default_rng(0).integers(0, 256, (21, 27, 4)).astype(np.uint8)
DEEP = np.random.default_rng(1).integers(0, 65536, (5, 7, 4)).astype(np.uint16)


def saved(image, kind, **options):
    target = io.BytesIO()
    if isinstance(image, np.ndarray):
        image = Image.fromarray(image)
    image.save(target, kind, **options)
    return target.getvalue()


def jpeg(pixels=SMOOTH, **options):
    return saved(np.ascontiguousarray(pixels), "JPEG", **{"quality": 88, **options})


PNGS = {
    "colour": saved(SMOOTH, "PNG"),
    "alpha": saved(NOISE, "PNG"),
    "gray": saved(np.ascontiguousarray(NOISE[..., 0]), "PNG"),
    "gray and alpha": saved(Image.merge("LA", Image.fromarray(NOISE).split()[:2]), "PNG"),
    "bits": saved(Image.fromarray(NOISE[..., 0] > 99), "PNG"),
    "palette": saved(Image.fromarray(SMOOTH).quantize(20), "PNG"),
    "small palette": saved(Image.fromarray(SMOOTH).quantize(3), "PNG"),
    "transparent palette": saved(Image.fromarray(SMOOTH).quantize(20), "PNG", transparency=3),
    "transparent colour": saved(SMOOTH, "PNG", transparency=(0, 0, 0)),
    **{
        f"16 bits, {count}": tensorflow.io.encode_png(DEEP[..., :count]).numpy()
        for count in (1, 2, 3, 4)
    },
}
FRAMES = [Image.fromarray(np.roll(SMOOTH, 5 * i, 1)) for i in range(3)]
GIF = saved(FRAMES[0], "GIF", save_all=True, append_images=FRAMES[1:])
ONE_GIF = saved(SMOOTH, "GIF")
BMP = saved(SMOOTH, "BMP")
WEBP = saved(SMOOTH, "WEBP", lossless=True)
FILES = {
    "jpeg": jpeg(),
    "png": PNGS["colour"],
    "gif": ONE_GIF,
    "animation": GIF,
    "bmp": BMP,
    "gray bmp": saved(np.ascontiguousarray(NOISE[..., 0]), "BMP"),
    "bmp with alpha": saved(NOISE, "BMP"),
    "webp": WEBP,
}


@pytest.mark.parametrize("pixels", [SMOOTH, NOISE[..., :3]], ids=["smooth", "noise"])
@pytest.mark.parametrize("subsampling", [0, 1, 2])
@pytest.mark.parametrize("progressive", [False, True])
def test_jpeg_to_the_bit(pixels, subsampling, progressive):
    contents = jpeg(pixels, subsampling=subsampling, progressive=progressive)
    for channels in (0, 1, 3):
        check(lambda tf, channels=channels: tf.io.decode_jpeg(contents, channels))
    for ratio in (2, 4, 8):
        check(lambda tf, ratio=ratio: tf.io.decode_jpeg(contents, ratio=ratio))
    check(lambda tf: tf.io.decode_jpeg(contents, dct_method="INTEGER_ACCURATE"))
    check(lambda tf: tf.io.decode_jpeg(contents, fancy_upscaling=False))


@pytest.mark.parametrize(("height", "width"), [(1, 1), (2, 1), (9, 4), (9, 5), (1, 16)])
def test_small_jpeg(height, width):
    contents = jpeg(NOISE[:height, :width, :3], subsampling=2)
    check(lambda tf: tf.io.decode_jpeg(contents))


def test_other_jpegs():
    gray = jpeg(NOISE[..., 0])
    for channels in (0, 1, 3):
        check(lambda tf, channels=channels: tf.io.decode_jpeg(gray, channels))
    inks = saved(Image.merge("CMYK", Image.fromarray(NOISE).split()), "JPEG")
    check(lambda tf: tf.io.decode_jpeg(inks))
    for contents in (jpeg(), gray, inks):
        check(lambda tf, contents=contents: tf.io.extract_jpeg_shape(contents))
    check(lambda tf: tf.io.is_jpeg([jpeg(), BMP]))
    check(lambda tf: tf.io.decode_and_crop_jpeg(jpeg(subsampling=0), [0, 0, 21, 27]))


def sampled(*factors):
    """A file whose components declare other sampling factors."""
    contents = bytearray(jpeg(SMOOTH[:16, :16], subsampling=0))
    place = contents.index(b"\xff\xc0") + 11
    for component, factor in enumerate(factors):
        contents[place + 3 * component] = factor
    return bytes(contents)


def test_a_sampling_that_only_pillow_takes():
    contents = sampled(0x22, 0x22, 0x22)
    check(lambda tf: tf.io.extract_jpeg_shape(contents), may_raise=True)
    check(lambda tf: tf.io.decode_jpeg(contents), may_raise=True)


@pytest.mark.parametrize("subsampling", [0, 2])
def test_without_the_fast_decoder(subsampling, monkeypatch):
    contents = jpeg(subsampling=subsampling)
    gray, inks = jpeg(NOISE[..., 0]), saved(Image.fromarray(NOISE).convert("CMYK"), "JPEG")
    monkeypatch.setattr("runnel.ops.image.jpeg._turbo", lambda: None)
    for file in (contents, gray, inks):
        check(lambda tf, file=file: tf.io.extract_jpeg_shape(file))
        for ratio in (1, 2):
            expected = tensorflow.io.decode_jpeg(file, 3, ratio).numpy().astype(int)
            actual = runnel.io.decode_jpeg(file, 3, ratio).numpy()
            assert actual.shape == expected.shape
            assert np.abs(actual - expected).max() <= 8
    check(lambda tf: tf.io.decode_jpeg(contents, 1))


def test_damaged_pixels_are_forgiven_where_tensorflow_forgives():
    random = np.random.default_rng(2)
    contents = jpeg(NOISE[..., :3])
    for _ in range(20):
        changed = bytearray(contents)
        for place in random.integers(len(changed) // 2, len(changed), 3):
            changed[place] = random.integers(0, 256)
        check(lambda tf, changed=bytes(changed): tf.io.decode_jpeg(changed))


def test_the_rows_before_a_cut_are_recovered():
    pixels = np.tile(NOISE[..., :3], (9, 9, 1))
    contents = jpeg(pixels)
    half = contents[: len(contents) // 2]
    check_raises(lambda tf: tf.io.decode_jpeg(half))
    actual = runnel.io.decode_jpeg(half, try_recover_truncated=True).numpy()
    whole = tensorflow.io.decode_jpeg(contents).numpy()
    assert actual.shape == whole.shape
    np.testing.assert_array_equal(actual[:64], whole[:64])


def test_large_images_of_bytes_are_resized():
    pixels = np.tile(NOISE[..., :3], (6, 6, 1))
    for size in ([64, 48], [300, 40], [128, 200]):
        expected = tensorflow.image.resize(pixels, size).numpy()
        actual = runnel.image.resize(pixels, size).numpy()
        # The positions between the pixels round otherwise in an engine.
        np.testing.assert_allclose(actual, expected, rtol=0, atol=0.01)


@pytest.mark.parametrize("name", PNGS)
@pytest.mark.parametrize("channels", [0, 1, 3, 4])
def test_png(name, channels):
    for dtype in ("uint8", "uint16"):
        check(lambda tf, dtype=dtype: tf.io.decode_png(PNGS[name], channels, dtype))
    for dtype in ("float32", "int32"):
        check(lambda tf, dtype=dtype: tf.io.decode_image(PNGS[name], channels, dtype))


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("channels", [0, 1, 3, 4])
def test_any_file(name, channels):
    for expand in (True, False):
        check(
            lambda tf, expand=expand: tf.io.decode_image(
                FILES[name], channels, expand_animations=expand
            ),
            may_raise=True,
        )
    check(lambda tf: tf.image.decode_webp(FILES[name], channels), may_raise=True)
    if name != "webp":  # other ops of TensorFlow give its memory away, or a rank they deny
        check(lambda tf: tf.io.decode_bmp(FILES[name], channels), may_raise=True)
        check(lambda tf: tf.io.decode_gif(FILES[name]), may_raise=True)
        check(lambda tf: tf.io.decode_png(FILES[name], channels), may_raise=True)


@pytest.mark.parametrize("contents", [b"", b"a", b"no image" * 9, b"BM", b"GIF8"])
@pytest.mark.parametrize("name", ["jpeg", "png", "gif", "bmp", "image"])
def test_no_image(name, contents):
    check_raises(lambda tf: getattr(tf.io, f"decode_{name}")(contents))


@pytest.mark.parametrize("name", FILES)
def test_cut_short(name):
    contents = FILES[name]
    for length in (5, 30, len(contents) // 2):
        check(lambda tf, length=length: tf.io.decode_image(contents[:length]), may_raise=True)


BAD_FILES = {
    "missing": None,
    "empty": b"",
    "text": b"no image at all" * 9,
    "half a file": jpeg()[:300],
    "bmp": BMP,
    "animation": GIF,
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_in_a_pipeline_is_found(name, tmp_path):
    paths = [str(tmp_path / each) for each in ("good.jpg", "bad.jpg")]
    (tmp_path / "good.jpg").write_bytes(jpeg())
    if BAD_FILES[name] is not None:
        (tmp_path / "bad.jpg").write_bytes(BAD_FILES[name])
    failures = []
    for tf in (tensorflow, runnel):

        def load(path, tf=tf):
            return tf.io.decode_jpeg(tf.io.read_file(path), channels=3)

        dataset = tf.data.Dataset.from_tensor_slices(paths)
        elements = iter(dataset.map(load, num_parallel_calls=tf.data.AUTOTUNE))
        assert next(elements).shape == (21, 27, 3)
        with pytest.raises(tf.errors.OpError) as caught:
            next(elements)
        failures.append(caught.value)
    expected, actual = failures
    assert type(actual).__name__ == type(expected).__name__
    assert "at element 1" in actual.message
    assert name != "missing" or paths[1] in actual.message


def header(width, height):
    data = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return PNGS["colour"][:12] + b"IHDR" + data + struct.pack(">I", zlib.crc32(b"IHDR" + data))


def test_absurd_sizes_allocate_nothing():
    for width, height in ((60000, 60000), (30000, 30000), (2**31 - 1, 2**31 - 1)):
        contents = header(width, height) + PNGS["colour"][33:]
        check_raises(lambda tf, contents=contents: tf.io.decode_png(contents))
    wide = bytearray(BMP)
    wide[18:22] = (10**9).to_bytes(4, "little")
    check_raises(lambda tf: tf.io.decode_bmp(bytes(wide)))
    tall = bytearray(jpeg())
    place = tall.index(b"\xff\xc0") + 5
    tall[place : place + 4] = b"\xff\xff\xff\xff"
    with pytest.raises(runnel.errors.InvalidArgumentError, match="do not fit"):
        runnel.io.decode_jpeg(bytes(tall))


def test_mutations_are_clean_errors():
    random = np.random.default_rng(5)
    for contents in FILES.values():
        for _ in range(40):
            changed = bytearray(contents)
            for place in random.integers(0, len(changed), random.integers(1, 6)):
                changed[place] = random.integers(0, 256)
            try:
                pixels = runnel.io.decode_image(bytes(changed))
            except runnel.errors.InvalidArgumentError:
                continue
            assert pixels.dtype is runnel.uint8


@pytest.mark.parametrize(
    "call",
    [
        lambda tf: tf.io.decode_jpeg(jpeg(), channels=2),
        lambda tf: tf.io.decode_jpeg(jpeg(), channels=4),
        lambda tf: tf.io.decode_jpeg(jpeg(), ratio=3),
        lambda tf: tf.io.decode_jpeg(jpeg(), dct_method="SLOW"),
        lambda tf: tf.io.decode_jpeg([jpeg()]),
        lambda tf: tf.io.decode_png(PNGS["colour"], dtype=tf.float32),
        lambda tf: tf.io.decode_png(3),
        lambda tf: tf.io.decode_and_crop_jpeg(jpeg(), [0, 0, 99, 5]),
        lambda tf: tf.io.decode_and_crop_jpeg(jpeg(), [0, 0, 5]),
        lambda tf: tf.io.extract_jpeg_shape(BMP),
        lambda tf: tf.io.extract_jpeg_shape(jpeg(), tf.float32),
        lambda tf: tf.io.encode_jpeg(tf.zeros([4, 5, 2], tf.uint8)),
        lambda tf: tf.io.encode_jpeg(tf.zeros([5, 3], tf.uint8)),
        lambda tf: tf.io.encode_jpeg(tf.zeros([4, 5, 3], tf.uint8), quality=101),
        lambda tf: tf.io.encode_jpeg(tf.zeros([4, 5, 3], tf.uint8), format="grayscale"),
        lambda tf: tf.io.encode_png(tf.zeros([4, 5, 5], tf.uint8)),
        lambda tf: tf.io.encode_png(tf.zeros([4, 5, 3], tf.float32)),
        lambda tf: tf.io.encode_png(tf.zeros([4, 5, 3], tf.uint8), compression=10),
    ],
)
def test_refused(call):
    check_raises(call)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"quality": 20},
        {"progressive": True},
        {"optimize_size": True},
        {"chroma_downsampling": False},
        {"density_unit": "cm", "x_density": 20, "y_density": 30},
        {"xmp_metadata": "<x/>"},
    ],
)
def test_jpeg_bytes(channels, options):
    pixels = np.ascontiguousarray(SMOOTH[..., :channels])
    check(lambda tf, x: tf.io.decode_jpeg(tf.io.encode_jpeg(x, **options)), pixels)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("pixels", [NOISE, DEEP], ids=["8 bits", "16 bits"])
def test_png_is_read_back(channels, pixels):
    x = np.ascontiguousarray(pixels[..., :channels])
    check(lambda tf, x: tf.io.decode_png(tf.io.encode_png(x), dtype=x.dtype), x)
    contents = runnel.io.encode_png(x).numpy()
    np.testing.assert_array_equal(tensorflow.io.decode_png(contents, dtype=x.dtype).numpy(), x)


def test_png_of_a_batch():
    x = np.stack([SMOOTH, NOISE[..., :3]])
    contents = runnel.io.encode_png(x)
    assert contents.shape == (2,)
    np.testing.assert_array_equal(tensorflow.io.decode_png(contents.numpy()[1]).numpy(), x[1])
