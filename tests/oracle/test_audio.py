"""WAV files against TensorFlow: every sample, and the same errors for what is no WAV file."""

import os
import struct

import numpy as np
import pytest
import tensorflow
from compare import check, check_raises

import runnel

SAMPLES = np.array([0, 1, -1, 32767, -32768, 100], "<i2").tobytes()


def wav(
    data=SAMPLES, rate=8000, channels=1, bits=16, kind=1, extra=b"", size=16, before=b"",
    width=None, per_second=None, riff=None, length=None,
):  # fmt: skip
    """A WAV file whose header says what it is told to say."""
    width = channels * bits // 8 if width is None else width
    per_second = rate * width if per_second is None else per_second
    head = struct.pack("<HHIIHH", kind, channels, rate, per_second, width, bits) + extra
    body = b"WAVE" + b"fmt " + struct.pack("<I", size) + head + before
    body += b"data" + struct.pack("<I", len(data) if length is None else length) + data
    return b"RIFF" + struct.pack("<I", len(body) if riff is None else riff) + body


def chunk(name, data, size=None):
    return name + struct.pack("<I", len(data) if size is None else size) + data


def with_chunk_before_format(name):
    contents = wav()
    return contents[:12] + chunk(name, b"abcd") + contents[12:]


FILES = {
    "mono": wav(),
    "stereo": wav(channels=2),
    "three channels": wav(channels=3),
    "silent": wav(b""),
    "long format": wav(size=18, extra=b"\0\0"),
    "another chunk": wav(before=chunk(b"LIST", b"abcd")),
    "a chunk of odd length": wav(before=chunk(b"LIST", b"abc")),
    "a second format": wav(before=chunk(b"fmt ", b"abcd")),
    "a chunk before the format": with_chunk_before_format(b"JUNK"),
    "a chunk at the end": wav() + chunk(b"LIST", b"abcd"),
    "a chunk that ends too early": wav() + chunk(b"LIST", b"abcd", 9),
    "wrong size": wav(riff=3),
    "fast": wav(rate=1500000000),
    "timeless": wav(rate=0),
}
BROKEN = {
    "empty": b"",
    "text": b"hello world, this is no WAV file, however long it may be",
    "RIFX": b"RIFX" + wav()[4:],
    "WAVX": wav()[:8] + b"WAVX" + wav()[12:],
    "half a sample": wav(SAMPLES[:5]),
    "half a pair": wav(SAMPLES[:6], channels=2),
    "8 bits": wav(bits=8),
    "24 bits": wav(bits=24),
    "12 bits": wav(bits=12, width=2, per_second=16000),
    "floats": wav(SAMPLES * 2, bits=32, kind=3),
    "extensible": wav(kind=0xFFFE),
    "format of 20 bytes": wav(size=20, extra=b"\2\0\0\0"),
    "format of 14 bytes": wav(size=14),
    "padding": wav(before=chunk(b"LIST", b"abc", 3) + b"\0"),
    "two sounds": wav() + chunk(b"data", b"abcd"),
    "sound before the format": with_chunk_before_format(b"data"),
    "huge chunk": wav(before=chunk(b"LIST", b"abcd", 0xFFFFFFF0)),
    "large chunk": wav(before=chunk(b"LIST", b"abcd", 0x7FFFFFFF)),
    "huge data": wav(length=0xFFFFFFF0),
    "large data": wav(length=0x7FFFFFF0),
    "longer data": wav(length=14),
    "wrong width": wav(width=4),
    "wrong speed": wav(per_second=4),
    "no channel": wav(channels=0),
    "no data": wav()[:36],
    "bytes at the end": wav() + b"abc",
    **{f"{length} bytes": wav()[:length] for length in (3, 8, 12, 16, 20, 30, 40, 44, 47)},
}


@pytest.mark.parametrize("name", FILES)
def test_decoded(name):
    contents = FILES[name]
    check(lambda tf: tuple(tf.audio.decode_wav(contents)))
    for channels, samples in ((2, 9), (4, 0), (0, 5)) if name == "stereo" else ((1, 2),):
        check(lambda tf, c=channels, s=samples: tuple(tf.audio.decode_wav(contents, c, s)))


@pytest.mark.parametrize("name", BROKEN)
def test_broken(name):
    check_raises(lambda tf: tf.audio.decode_wav(BROKEN[name]))


@pytest.mark.parametrize(
    "call",
    [
        lambda tf: tf.audio.decode_wav(wav(), desired_channels=-2),
        lambda tf: tf.audio.decode_wav(wav(), desired_samples=-2),
        lambda tf: tf.audio.decode_wav(wav(), desired_samples=2**31),
        lambda tf: tf.audio.decode_wav([wav()]),
        lambda tf: tf.audio.decode_wav(3),
        lambda tf: tf.audio.encode_wav([0.0, 1.0], 8000),
        lambda tf: tf.audio.encode_wav([[[0.0]]], 8000),
        lambda tf: tf.audio.encode_wav(np.zeros((3, 0), np.float32), 8000),
        lambda tf: tf.audio.encode_wav(np.zeros((1, 70000), np.float32), 8000),
        lambda tf: tf.audio.encode_wav([[0.0]], 0),
        lambda tf: tf.audio.encode_wav([[0.0]], -1),
        lambda tf: tf.audio.encode_wav([[0.0]], [8000]),
        lambda tf: tf.audio.encode_wav([[0.0]], 8000.0),
    ],
)
def test_refused(call):
    check_raises(call)


def test_encoded():
    loud = np.linspace(-1.001, 1.001, 3000, dtype=np.float32).reshape(-1, 2)
    # Halves between two samples, and what is no number.
    ties = (np.arange(-9, 9, dtype=np.float32) + 0.5)[:, None] / 32768
    odd = np.array([[np.nan, np.inf, -np.inf]], np.float32)
    for audio in (loud, ties, odd, np.zeros((0, 1), np.float32), np.ones((2, 3), np.float32)):
        check(lambda tf, x: tf.io.decode_raw(tf.audio.encode_wav(x, 44100), tf.uint8), audio)
    check(lambda tf: tf.audio.encode_wav([[1]], 8000))


def test_names_and_shapes():
    for channels, samples in ((-1, -1), (2, 7)):
        shapes = []
        for tf in (tensorflow, runnel):

            @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
            def decode(contents, tf=tf):
                return tf.audio.decode_wav(contents, channels, samples)

            found = decode.get_concrete_function().structured_outputs
            shapes.append((found._fields, found.audio.shape.as_list(), type(found).__name__))
        assert shapes[0] == shapes[1]


@pytest.fixture(scope="module")
def sounds(tmp_path_factory):
    root = tmp_path_factory.mktemp("sounds")
    for name in ("cat", "dog"):
        (root / name).mkdir()
        for i in range(3):
            (root / name / f"{name}{i}.wav").write_bytes(wav(SAMPLES[: 12 - 2 * i]))
    return str(root)


def plain(dataset):
    """The elements, lists in place of ragged tensors."""
    return [
        [part.to_list() if hasattr(part, "to_list") else part.numpy() for part in element]
        for element in dataset
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        {"seed": 1},
        {"shuffle": False, "batch_size": 2},
        {"seed": 1, "output_sequence_length": 4, "label_mode": "categorical"},
        {"seed": 1, "output_sequence_length": 5, "label_mode": "binary"},
        {"seed": 1, "ragged": True, "batch_size": 4},
        {"shuffle": False, "ragged": True, "batch_size": None},
        {"seed": 1, "validation_split": 0.34, "subset": "both"},
        {"seed": 2, "validation_split": 0.34, "subset": "training", "batch_size": None},
        {"shuffle": False, "labels": [0, 1, 2, 3, 4, 5]},
    ],
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_dataset_of_a_directory(sounds, arguments):
    seen = []
    for tf in (tensorflow, runnel):
        tf.random.set_seed(1)
        made = tf.keras.utils.audio_dataset_from_directory(sounds, **arguments)
        parts = made if isinstance(made, tuple) else (made,)
        seen.append(
            [
                (type(made) is tuple, part.class_names, str(part.element_spec), plain(part))
                for part in parts
            ]
        )
    for expected, actual in zip(*seen, strict=True):
        assert expected[:3] == actual[:3]
        for wanted, got in zip(expected[3], actual[3], strict=True):
            for one, other in zip(wanted, got, strict=True):
                if isinstance(one, list):
                    assert one == other
                else:
                    np.testing.assert_array_equal(other, one, strict=True)


def test_sounds_without_labels(sounds):
    make = runnel.keras.utils.audio_dataset_from_directory
    dataset = make(sounds, labels=None, label_mode=None, shuffle=False)
    (batch,) = dataset
    assert batch.shape == (6, 6, 1)


@pytest.mark.parametrize(
    "arguments",
    [
        {"ragged": True, "output_sequence_length": 5},
        {"sampling_rate": 0},
        {"sampling_rate": 8.5},
        {"sampling_rate": 8000},
        {"label_mode": "x"},
    ],
)
def test_bad_arguments_of_a_directory(sounds, arguments):
    check_raises(lambda tf: tf.keras.utils.audio_dataset_from_directory(sounds, **arguments))


def test_the_file_that_is_no_sound_is_found_by_its_number(tmp_path):
    (tmp_path / "one").mkdir()
    for number, contents in enumerate((wav(), b"no sound", wav())):
        (tmp_path / "one" / f"{number}.wav").write_bytes(contents)
    make = runnel.keras.utils.audio_dataset_from_directory
    dataset = make(os.fspath(tmp_path), shuffle=False, batch_size=None)
    with pytest.raises(runnel.errors.InvalidArgumentError, match=r"(?s)element 1: .*Header"):
        list(dataset)
