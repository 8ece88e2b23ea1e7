"""Sequences, texts and images made ready, as tf_keras makes them."""

import io
import random

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from parameter_names import stable
from side_by_side import compare, compare_failure, tf_keras

import runnel
import runnel.keras.preprocessing
import runnel.keras.utils

TEXTS = ["The cat sat on the mat.", "The dog, the cat!", "", ["pre", "the", "Cat"]]
UNKNOWN = [*TEXTS, "an unknown cat", ["strange", "dog"]]
CHARACTERS = st.text("abcAB ,.!\t-é", max_size=12)


@given(text=CHARACTERS, lower=st.booleans(), split=st.sampled_from([" ", "a", "b"]))
def test_words(text, lower, split):
    compare(
        lambda tf, keras: keras.preprocessing.text.text_to_word_sequence(
            text, ",.!-", lower=lower, split=split
        )
    )


@given(text=CHARACTERS)
def test_hashing(text):
    for function in ("md5", len, None):
        compare(lambda tf, keras: keras.preprocessing.text.hashing_trick(text, 50, function))
    compare(lambda tf, keras: keras.preprocessing.text.one_hot(text, 50))
    compare(
        lambda tf, keras: keras.preprocessing.text.hashing_trick(
            text, 50, "md5", analyzer=lambda each: each.split("a")
        )
    )


TOKENIZERS = [
    {},
    {"num_words": 3},
    {"oov_token": "<oov>"},
    {"num_words": 3, "oov_token": "<oov>"},
    {"char_level": True},
    {"num_words": 4, "char_level": True, "oov_token": "u"},
    {"lower": False},
    {"filters": "at"},
    {"split": "t"},
    {"analyzer": lambda text: text.split("t")},
]


@pytest.mark.parametrize("options", TOKENIZERS, ids=stable)
def test_tokenizer(options):
    def program(tf, keras):
        tokenizer = keras.preprocessing.text.Tokenizer(**options)
        tokenizer.fit_on_texts(TEXTS[:2])
        tokenizer.fit_on_texts(iter(TEXTS[2:]))
        config = tokenizer.get_config()
        # The order in these two follows from hashes of the process in tf_keras.
        unordered = {name: sorted(config.pop(name)) for name in ("word_docs", "index_docs")}
        return [
            dict(tokenizer.word_counts),
            sorted(tokenizer.word_docs.items()),
            sorted(tokenizer.index_docs.items()),
            tokenizer.word_index,
            tokenizer.index_word,
            tokenizer.document_count,
            tokenizer.texts_to_sequences(UNKNOWN),
            list(tokenizer.texts_to_sequences_generator(UNKNOWN)),
            tokenizer.sequences_to_texts([[1, 2], [99], [], [3, 2, 1]]),
            config,
            unordered,
        ]

    compare(program)


@pytest.mark.parametrize("mode", ["binary", "count", "freq", "tfidf"])
@pytest.mark.parametrize("options", TOKENIZERS, ids=stable)
def test_matrices(options, mode):
    def program(tf, keras):
        tokenizer = keras.preprocessing.text.Tokenizer(**options)
        tokenizer.fit_on_texts(TEXTS)
        return tokenizer.texts_to_matrix(UNKNOWN, mode)

    wanted = compare(program)
    assert wanted.dtype == np.float64


def test_tokenizer_of_sequences():
    def program(tf, keras):
        tokenizer = keras.preprocessing.text.Tokenizer(num_words=5)
        tokenizer.fit_on_sequences([[1, 2], [2, 3]])
        return tokenizer.sequences_to_matrix([[1, 2, 2], [9]], "tfidf")

    compare(program)


def test_tokenizer_failures():
    def tokenizer(keras, **options):
        return keras.preprocessing.text.Tokenizer(**options)

    compare_failure(lambda tf, keras: tokenizer(keras, words=3))
    compare_failure(lambda tf, keras: tokenizer(keras).texts_to_matrix(["a"]))
    compare_failure(lambda tf, keras: tokenizer(keras, num_words=3).texts_to_matrix(["a"], "tfidf"))
    compare_failure(lambda tf, keras: tokenizer(keras, num_words=3).sequences_to_matrix([[1]], "x"))
    compare_failure(lambda tf, keras: keras.preprocessing.text.tokenizer_from_json("{}"))
    with pytest.warns(UserWarning, match="num_words"):
        assert runnel.keras.preprocessing.text.Tokenizer(nb_words=4).num_words == 4


def test_tokenizers_travel_as_json():
    """Either reads what the other writes."""
    for writer, reader in [(tf_keras, runnel.keras), (runnel.keras, tf_keras)]:
        tokenizer = writer.preprocessing.text.Tokenizer(num_words=5, oov_token="?")
        tokenizer.fit_on_texts(TEXTS)
        again = reader.preprocessing.text.tokenizer_from_json(tokenizer.to_json(indent=1))
        assert again.texts_to_sequences(UNKNOWN) == tokenizer.texts_to_sequences(UNKNOWN)
        assert again.word_index == tokenizer.word_index
        assert again.index_docs == dict(tokenizer.index_docs)
        np.testing.assert_array_equal(
            again.texts_to_matrix(UNKNOWN, "tfidf"), tokenizer.texts_to_matrix(UNKNOWN, "tfidf")
        )


@given(size=st.integers(1, 40), factor=st.sampled_from([1e-5, 1e-3, 0.5]))
def test_sampling_table(size, factor):
    compare(
        lambda tf, keras: keras.preprocessing.sequence.make_sampling_table(size, factor),
        tolerance=1e-12,
    )


@settings(max_examples=60)
@given(
    sequence=st.lists(st.integers(0, 9), max_size=10),
    window=st.integers(1, 4),
    negative=st.sampled_from([0, 0.5, 1.0, 2.0]),
    shuffle=st.booleans(),
    categorical=st.booleans(),
    table=st.booleans(),
    seed=st.sampled_from([None, 0, 7]),
)
def test_skipgrams(sequence, window, negative, shuffle, categorical, table, seed):
    def program(tf, keras):
        random.seed(11)
        return keras.preprocessing.sequence.skipgrams(
            sequence,
            10,
            window,
            negative,
            shuffle,
            categorical,
            np.linspace(0.2, 1.0, 10) if table else None,
            seed,
        )

    compare(program)


WINDOWS = [
    {},
    {"sampling_rate": 2},
    {"stride": 2},
    {"stride": 3, "batch_size": 2},
    {"start_index": 2, "end_index": 7},
    {"reverse": True},
    {"shuffle": True},
]


@pytest.mark.parametrize("options", WINDOWS, ids=str)
def test_timeseries_generator(options):
    def program(tf, keras):
        data = np.arange(24).reshape(12, 2)
        np.random.seed(3)
        batches = keras.preprocessing.sequence.TimeseriesGenerator(
            data, np.arange(12) * 10, 4, **{"batch_size": 3, **options}
        )
        assert isinstance(batches, keras.utils.Sequence)
        return len(batches), list(batches), batches.get_config(), batches.to_json()

    compare(program)


def test_timeseries_generator_failures():
    def make(keras, data, targets, length):
        return keras.preprocessing.sequence.TimeseriesGenerator(data, targets, length)

    compare_failure(lambda tf, keras: make(keras, [1, 2, 3], [1, 2], 1))
    compare_failure(lambda tf, keras: make(keras, [1, 2, 3], [1, 2, 3], 9))
    compare_failure(lambda tf, keras: make(keras, [1, object], [1, 2], 1).get_config())


NUMBERS = st.lists(st.lists(st.integers(-5, 5), max_size=6), min_size=1, max_size=5)


@settings(max_examples=60)
@given(
    sequences=NUMBERS,
    maxlen=st.sampled_from([None, 1, 3, 8]),
    dtype=st.sampled_from(["int32", "float32", "int64", object]),
    padding=st.sampled_from(["pre", "post"]),
    truncating=st.sampled_from(["pre", "post"]),
    value=st.sampled_from([0.0, -1, 9]),
)
def test_pad_sequences(sequences, maxlen, dtype, padding, truncating, value):
    def program(tf, keras):
        padded = keras.preprocessing.sequence.pad_sequences(
            sequences, maxlen, dtype, padding, truncating, value
        )
        return padded.tolist(), str(padded.dtype)

    compare(program)


def test_pad_sequences_of_vectors_and_words():
    cases = [
        ([[[1, 2]], [[3, 4], [5, 6]]], {}),
        ([[], [[3, 4], [5, 6]]], {"padding": "post"}),
        ([["a"], ["b", "c"]], {"dtype": object, "value": "-"}),
        ([["a"], ["b", "c"]], {"dtype": "U3", "value": "-"}),
        ([np.array([1, 2]), np.array([3])], {"maxlen": 4}),
    ]
    for sequences, options in cases:

        def program(tf, keras, sequences=sequences, options=options):
            return keras.utils.pad_sequences(sequences, **options).tolist()

        compare(program)


@pytest.mark.parametrize(
    ("sequences", "options"),
    [
        (3, {}),
        ([1, 2], {}),
        ([], {}),
        ([[1]], {"padding": "middle"}),
        ([[1, 2]], {"truncating": "middle", "maxlen": 1}),
        ([["a"]], {"value": "x"}),
        ([[[1, 2]], [[3], [5]]], {}),
    ],
)
def test_pad_sequences_failures(sequences, options):
    compare_failure(lambda tf, keras: keras.utils.pad_sequences(sequences, **options))


def pixels(image):
    return image.mode, image.size, np.asarray(image).tolist()


@pytest.mark.parametrize("shape", [(2, 3, 3), (2, 3, 1), (2, 3, 4), (3, 2, 3), (4, 2, 2)])
@pytest.mark.parametrize("data_format", [None, "channels_first", "channels_last"])
@pytest.mark.parametrize("scale", [True, False])
def test_array_to_img(shape, data_format, scale):
    pytest.importorskip("PIL")
    array = np.arange(np.prod(shape)).reshape(shape)
    channels = shape[0] if data_format == "channels_first" else shape[2]
    program = lambda tf, keras: pixels(  # noqa: E731
        keras.utils.array_to_img(array, data_format, scale)
    )
    if channels == 2:
        compare_failure(program)
    else:
        compare(program)


def test_array_to_img_special_cases():
    pytest.importorskip("PIL")
    deep = np.array([[[300.0], [7.0]]])
    compare(lambda tf, keras: pixels(keras.utils.array_to_img(deep, scale=False)))
    compare(lambda tf, keras: pixels(keras.utils.array_to_img(np.zeros((2, 2, 3)))))
    compare_failure(lambda tf, keras: keras.utils.array_to_img(np.zeros((2, 2))))
    compare_failure(lambda tf, keras: keras.utils.array_to_img(deep, data_format="channels_middle"))


def test_arrays_stay_as_they_were():
    pytest.importorskip("PIL")
    array = np.array([[[0.0], [2.0]]], np.float32)
    runnel.keras.utils.array_to_img(array)
    assert array.tolist() == [[[0.0], [2.0]]]


@pytest.mark.parametrize("data_format", [None, "channels_first", "channels_last"])
@pytest.mark.parametrize("dtype", [None, "uint8", "float64"])
def test_img_to_array(data_format, dtype):
    image = pytest.importorskip("PIL.Image")
    for array in (np.arange(18, dtype=np.uint8).reshape(2, 3, 3), np.eye(3, dtype=np.uint8)):
        picture = image.fromarray(array)
        compare(lambda tf, keras: keras.utils.img_to_array(picture, data_format, dtype))
    compare_failure(lambda tf, keras: keras.utils.img_to_array(np.zeros(3)))
    compare_failure(lambda tf, keras: keras.utils.img_to_array(np.eye(3), "channels_middle"))


LOADING = [
    {},
    {"color_mode": "grayscale"},
    {"color_mode": "rgba"},
    {"target_size": (4, 5)},
    {"target_size": (2, 7), "keep_aspect_ratio": True},
    *(
        {"target_size": (3, 2), "interpolation": name}
        for name in runnel.keras.utils.images._INTERPOLATIONS
    ),
]


@pytest.mark.parametrize("options", LOADING, ids=str)
def test_load_img(tmp_path, options):
    pytest.importorskip("PIL")
    path = tmp_path / "image.png"
    runnel.keras.utils.save_img(path, np.arange(90).reshape(6, 5, 3))
    compare(lambda tf, keras: pixels(keras.utils.load_img(str(path), **options)))
    content = path.read_bytes()
    assert pixels(runnel.keras.utils.load_img(io.BytesIO(content))) == pixels(
        runnel.keras.utils.load_img(path)
    )


def test_images_of_16_bits_keep_their_depth(tmp_path):
    image = pytest.importorskip("PIL.Image")
    path = tmp_path / "deep.png"
    image.fromarray((np.arange(6) * 1000).astype(np.uint16).reshape(2, 3)).save(path)
    compare(lambda tf, keras: pixels(keras.utils.load_img(str(path), color_mode="grayscale")))


def test_load_img_failures(tmp_path):
    pytest.importorskip("PIL")
    path = tmp_path / "image.png"
    runnel.keras.utils.save_img(path, np.zeros((2, 2, 3)))
    compare_failure(lambda tf, keras: keras.utils.load_img(str(path), color_mode="sepia"))
    compare_failure(lambda tf, keras: keras.utils.load_img(3))
    compare_failure(lambda tf, keras: keras.utils.load_img(str(tmp_path / "absent.png")))
    compare_failure(
        lambda tf, keras: keras.utils.load_img(str(path), target_size=(3, 3), interpolation="x")
    )
    with pytest.warns(UserWarning, match="color_mode"):
        assert runnel.keras.utils.load_img(path, grayscale=True).mode == "L"


def test_transparent_images_as_jpeg(tmp_path):
    image = pytest.importorskip("PIL.Image")
    path = tmp_path / "image.jpg"
    runnel.keras.utils.save_img(path, np.zeros((2, 2, 4)), file_format="jpeg")
    with image.open(path) as saved:
        assert saved.mode == "RGB"


def test_missing_pillow_is_explained(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "PIL", None)
    with pytest.raises(ImportError, match="pip install pillow"):
        runnel.keras.utils.array_to_img(np.zeros((1, 1, 3)))


# The original imports SciPy's interpolation from where it used to be.
scipy_of_the_original = pytest.mark.filterwarnings("ignore:Please import `affine_transform`")

IMAGE = np.random.default_rng(9).uniform(-20, 300, (3, 6, 5))


def same_image(program, image=IMAGE, tolerance=1e-5):
    def seeded(tf, keras):
        np.random.seed(17)
        return np.asarray(program(keras.preprocessing.image, image.copy()), np.float64)

    return compare(seeded, tolerance=tolerance)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"theta": 30},
        {"tx": 1.5, "ty": -2},
        {"shear": 20},
        {"zx": 0.7, "zy": 1.4},
        {"theta": -75, "tx": 1, "shear": 10, "zx": 1.2},
        {"theta": 30, "fill_mode": "constant", "cval": 9.0, "order": 0},
        {"theta": 30, "fill_mode": "reflect"},
        {"ty": 2, "fill_mode": "wrap", "order": 3},
        {"theta": 30, "row_axis": 0, "col_axis": 1, "channel_axis": 2},
        {"theta": 30, "tx": 1, "row_axis": 2, "col_axis": 1, "channel_axis": 0},
    ],
    ids=str,
)
@scipy_of_the_original
def test_affine_transform(options):
    pytest.importorskip("scipy")
    same_image(lambda image, x: image.apply_affine_transform(x, **options))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("random_rotation", (40,)),
        ("random_shift", (0.3, 0.2)),
        ("random_shear", (30,)),
        ("random_zoom", ((0.5, 1.5),)),
        ("random_zoom", ((1, 1),)),
        ("apply_channel_shift", (40.0,)),
        ("random_channel_shift", (60.0,)),
    ],
)
@scipy_of_the_original
def test_random_transformations(name, arguments):
    pytest.importorskip("scipy")
    same_image(lambda image, x: getattr(image, name)(x, *arguments))


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("low", [-20, 0])
def test_brightness(scale, low):
    pytest.importorskip("PIL")
    picture = np.random.default_rng(10).uniform(low, 255, (4, 5, 3))
    for factor in (0.3, 1.0, 1.8):
        same_image(lambda image, x: image.apply_brightness_shift(x, factor, scale), picture)
    same_image(lambda image, x: image.random_brightness(x, (0.2, 2.0), scale), picture)


def test_transformation_failures():
    pytest.importorskip("scipy")
    compare_failure(lambda tf, keras: keras.preprocessing.image.random_zoom(IMAGE, (1, 2, 3)))
    compare_failure(lambda tf, keras: keras.preprocessing.image.random_brightness(IMAGE, (1,)))
    compare_failure(
        lambda tf, keras: keras.preprocessing.image.apply_affine_transform(IMAGE, 9, row_axis=7)
    )
