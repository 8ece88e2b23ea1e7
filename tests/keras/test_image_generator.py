"""ImageDataGenerator and its iterators: the same batches as tf_keras for the same seed."""

import contextlib
import io
import os
import warnings

import numpy as np
import pytest
from side_by_side import assert_alike, compare, compare_failure, tf_keras

import runnel

Image = pytest.importorskip("PIL.Image")
pytest.importorskip("scipy")

# The original's own call of SciPy.
pytestmark = pytest.mark.filterwarnings("ignore:Please import `affine_transform`")

IMAGES = np.random.default_rng(0).integers(0, 256, (7, 12, 10, 3)).astype("float32")
LABELS = np.array([0, 1, 0, 1, 0, 1, 1])

CHANGES = [
    {"rotation_range": 40},
    {"width_shift_range": 0.3, "height_shift_range": 0.2, "fill_mode": "reflect"},
    {"width_shift_range": 4, "height_shift_range": [-2, 3], "fill_mode": "wrap"},
    {"width_shift_range": [0.1, 0.3], "height_shift_range": 2.5},
    {"shear_range": 25.0, "fill_mode": "constant", "cval": 9.0},
    {"zoom_range": 0.4},
    {"zoom_range": [0.5, 1.5], "interpolation_order": 0},
    {"channel_shift_range": 60.0},
    {"horizontal_flip": True, "vertical_flip": True},
    {"brightness_range": (0.3, 1.6)},
    {
        "rotation_range": 30,
        "shear_range": 10,
        "zoom_range": 0.2,
        "width_shift_range": 0.2,
        "horizontal_flip": True,
        "channel_shift_range": 20,
        "brightness_range": [0.8, 1.2],
        "rescale": 1 / 255,
    },
    {"samplewise_center": True, "samplewise_std_normalization": True},
    {"preprocessing_function": lambda image: image[::-1] * 2.0, "rescale": 0.5},
]


def maker(keras, **kwargs):
    return keras.preprocessing.image.ImageDataGenerator(**kwargs)


@pytest.mark.parametrize("kwargs", CHANGES)
def test_flow(kwargs):
    def batches(tf, keras):
        flow = maker(keras, **kwargs).flow(IMAGES, LABELS, batch_size=3, seed=11)
        return [next(flow) for _ in range(4)] + [flow[0], flow[2]]

    compare(batches, tolerance=1e-5)


@pytest.mark.parametrize("kwargs", CHANGES)
def test_transforms_of_one_image(kwargs):
    def results(tf, keras):
        generator = maker(keras, **kwargs)
        chosen = generator.get_random_transform(IMAGES[0].shape, seed=5)
        np.random.seed(9)
        again = generator.get_random_transform(IMAGES[0].shape)
        changed = generator.random_transform(IMAGES[1].copy(), seed=3)
        plain = {
            key: None if value is None else float(value) for key, value in (chosen | again).items()
        }
        return plain, changed, generator.standardize(IMAGES[2].copy())

    compare(results, tolerance=1e-5)


def test_channels_first():
    images = np.moveaxis(IMAGES, 3, 1)

    def batch(tf, keras):
        generator = maker(
            keras,
            data_format="channels_first",
            rotation_range=30,
            vertical_flip=True,
            zoom_range=0.3,
        )
        return next(generator.flow(images, batch_size=4, seed=2))

    compare(batch, tolerance=1e-5)


@pytest.mark.parametrize("shuffle", [False, True])
def test_order_of_batches(shuffle):
    def orders(tf, keras):
        np.random.seed(1)
        flow = maker(keras).flow(IMAGES, np.arange(7), batch_size=3, shuffle=shuffle)
        found = [next(flow)[1] for _ in range(5)]
        flow.reset()
        found += [flow.next()[1], flow[1][1]]
        flow.on_epoch_end()
        found += [flow[0][1], flow[2][1], next(flow)[1]]
        return found, len(flow), flow.batch_index, flow.total_batches_seen, flow.n

    compare(orders)


def test_several_inputs_and_weights():
    extra = [np.arange(14).reshape(7, 2), np.arange(7.0)]

    def batches(tf, keras):
        generator = maker(keras)
        weighted = generator.flow(
            (IMAGES, extra), LABELS, batch_size=4, shuffle=False, sample_weight=np.arange(7)
        )
        alone = generator.flow(IMAGES, batch_size=4, shuffle=False)
        return next(weighted), weighted[1], next(alone)

    compare(batches)


def test_validation_split():
    def parts(tf, keras):
        generator = maker(keras, validation_split=0.3)
        return [
            next(generator.flow(IMAGES, LABELS, batch_size=9, shuffle=False, subset=subset))
            for subset in ("training", "validation", None)
        ]

    compare(parts)


def test_validation_split_splits_the_weights_too():
    generator = maker(runnel.keras, validation_split=0.3)
    flow = generator.flow(
        IMAGES, LABELS, sample_weight=np.arange(7), subset="training", shuffle=False
    )
    np.testing.assert_array_equal(next(flow)[2], [2, 3, 4, 5, 6])


@pytest.mark.parametrize(
    "kwargs",
    [
        {"featurewise_center": True},
        {"featurewise_center": True, "featurewise_std_normalization": True, "rescale": 0.1},
        {"featurewise_center": True, "featurewise_std_normalization": True, "rotation_range": 20},
        {"featurewise_center": True, "zca_whitening": True, "zca_epsilon": 0.1},
    ],
)
def test_fit(kwargs):
    images = IMAGES[:, :4, :3]

    def results(tf, keras):
        generator = maker(keras, **kwargs)
        generator.fit(images, augment="rotation_range" in kwargs, rounds=2, seed=4)
        found = [generator.mean, generator.std, generator.zca_whitening_matrix]
        batch = next(generator.flow(images, batch_size=4, seed=1))
        return [each for each in found if each is not None], batch

    compare(results, tolerance=1e-3)


@pytest.mark.parametrize(
    "call",
    [
        lambda k: maker(k, zoom_range=[1]),
        lambda k: maker(k, zoom_range="far"),
        lambda k: maker(k, data_format="channels_middle"),
        lambda k: maker(k, validation_split=1.5),
        lambda k: maker(k, brightness_range=0.5),
        lambda k: maker(k).flow(IMAGES, LABELS[:3]),
        lambda k: maker(k).flow(IMAGES, LABELS, sample_weight=[1.0]),
        lambda k: maker(k).flow(IMAGES[0]),
        lambda k: maker(k).flow((IMAGES, np.ones(3))),
        lambda k: maker(k, validation_split=0.3).flow(IMAGES, LABELS, subset="test"),
        lambda k: maker(k, validation_split=0.3).flow(IMAGES, np.arange(7), subset="training"),
        lambda k: maker(k).flow(IMAGES, batch_size=4)[2],
        lambda k: maker(k, featurewise_center=True).fit(IMAGES[0]),
        lambda k: maker(k).flow_from_directory("there is no such folder"),
        lambda k: k.preprocessing.image.smart_resize(IMAGES, (3, 3, 3)),
        lambda k: k.preprocessing.image.smart_resize(IMAGES[0, 0], (3, 3)),
    ],
)
def test_bad_arguments(call):
    compare_failure(lambda tf, keras: call(keras))


@pytest.mark.parametrize(
    "kwargs",
    [
        {"featurewise_std_normalization": True},
        {"zca_whitening": True},
        {"samplewise_std_normalization": True},
    ],
)
def test_normalizations_that_need_others(kwargs):
    def settings(tf, keras):
        with pytest.warns(UserWarning, match="which overrides setting of"):
            generator = maker(keras, **kwargs)
        return generator.featurewise_center, generator.samplewise_center

    compare(settings)


def test_a_generator_that_was_not_fit_warns():
    generator = maker(runnel.keras, featurewise_center=True)
    with pytest.warns(UserWarning, match="hasn't been fit on any training data"):
        generator.standardize(IMAGES[0].copy())


def test_an_odd_number_of_channels_warns():
    with pytest.warns(UserWarning, match="2 channels"):
        maker(runnel.keras).flow(IMAGES[..., :2])
    with pytest.warns(UserWarning, match="2 channels"):
        maker(runnel.keras, featurewise_center=True).fit(IMAGES[..., :2])


@pytest.fixture
def folder(tmp_path):
    generator = np.random.default_rng(3)
    for name in ("cats", "dogs", "birds"):
        (tmp_path / name / "more").mkdir(parents=True)
        for number in range(4):
            pixels = generator.integers(0, 255, size=(8 + number, 9, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(tmp_path / name / f"{number}.png")
        Image.fromarray(pixels).save(tmp_path / name / "more" / "z.BMP")
        (tmp_path / name / "readme.txt").write_text("no image")
    return tmp_path


def printed(function):
    with contextlib.redirect_stdout(io.StringIO()) as output:
        result = function()
    return result, output.getvalue()


FOLDERS = [
    {},
    {"class_mode": "sparse", "color_mode": "grayscale"},
    {"class_mode": "binary", "classes": ["dogs", "cats"]},
    {"class_mode": "input", "color_mode": "rgba", "interpolation": "bilinear"},
    {"class_mode": None, "keep_aspect_ratio": True},
    {"subset": "validation"},
    {"subset": "training", "shuffle": False},
    {"follow_links": True, "classes": ["cats", "fishes"]},
]


@pytest.mark.parametrize("kwargs", FOLDERS)
def test_flow_from_directory(folder, kwargs):
    def results(tf, keras):
        generator = maker(keras, validation_split=0.4, rotation_range=20, horizontal_flip=True)
        flow, text = printed(
            lambda: generator.flow_from_directory(
                str(folder), target_size=(6, 7), batch_size=4, seed=8, **kwargs
            )
        )
        names = [each.replace(os.sep, "/") for each in flow.filenames]
        described = (names, flow.class_indices, flow.classes, flow.samples, flow.num_classes)
        files = (flow.filepaths, flow.labels, flow.sample_weight, flow.image_shape)
        return next(flow), next(flow), flow[0], described, files, text

    compare(results, tolerance=1e-5)


@pytest.mark.parametrize(
    "kwargs", [{"class_mode": "many"}, {"color_mode": "cmyk"}, {"subset": "test"}]
)
def test_bad_arguments_of_flow_from_directory(folder, kwargs):
    compare_failure(lambda tf, k: maker(k).flow_from_directory(str(folder), **kwargs))


def test_copies_of_the_images(folder, tmp_path_factory):
    def saved(tf, keras):
        target = tmp_path_factory.mktemp("copies")
        flow = maker(keras).flow(
            IMAGES, batch_size=2, seed=2, save_to_dir=str(target), save_prefix="a"
        )
        next(flow)
        flow, _ = printed(
            lambda: maker(keras).flow_from_directory(
                str(folder), (6, 6), batch_size=2, seed=2, save_to_dir=target, save_format="bmp"
            )
        )
        next(flow)
        names = sorted(os.listdir(target))
        return names, [np.asarray(Image.open(target / name)) for name in names]

    compare(saved)


def test_fit_on_a_flow(folder):
    generator = maker(runnel.keras, rescale=1 / 255, horizontal_flip=True)
    flow, _ = printed(
        lambda: generator.flow_from_directory(str(folder), (6, 6), batch_size=4, seed=1)
    )
    layers = runnel.keras.layers
    model = runnel.keras.Sequential([layers.Flatten(), layers.Dense(3, "softmax")])
    model.compile("sgd", "categorical_crossentropy")
    history = model.fit(flow, epochs=2, verbose=0)
    assert len(history.history["loss"]) == 2
    assert model.predict(flow, verbose=0).shape == (15, 3)


class Table(dict):
    """Columns by name, as far as a table is asked for them when pandas is not there."""


TABLES = [
    {},
    {"class_mode": "sparse"},
    {"class_mode": "binary", "classes": ["c", "b"]},
    {"class_mode": "raw", "y_col": "number"},
    {"class_mode": "raw", "y_col": ["number", "double"]},
    {"class_mode": "multi_output", "y_col": ["number", "double"]},
    {"class_mode": "input"},
    {"class_mode": None, "shuffle": False},
    {"weight_col": "number", "subset": "training"},
    {"y_col": "several"},
    {"y_col": "several", "classes": ["a", "b"], "subset": "validation"},
    {"validate_filenames": False},
]


def columns(names):
    return {
        "filename": names,
        "class": ["b", "a", "c", "a", "b"],
        "several": [["a", "b"], ["a"], ["b"], ["c"], ("a", "c")],
        "number": np.arange(5.0),
        "double": np.arange(5) * 2,
    }


@pytest.mark.parametrize("kwargs", TABLES)
def test_flow_from_dataframe(folder, kwargs):
    pandas = pytest.importorskip("pandas", reason="the original needs pandas for tables")
    table = pandas.DataFrame(columns([f"{n}.png" for n in range(4)] + ["more/z.BMP"]))

    def results(tf, keras):
        generator = maker(keras, validation_split=0.4)
        flow, text = printed(
            lambda: generator.flow_from_dataframe(
                table, str(folder / "cats"), target_size=(6, 7), batch_size=3, seed=8, **kwargs
            )
        )
        described = (flow.filenames, getattr(flow, "class_indices", None), flow.filepaths, text)
        return next(flow), flow[0], described

    compare(results, tolerance=1e-5)


@pytest.mark.parametrize(
    "kwargs",
    [
        {"class_mode": "many"},
        {"class_mode": "multi_output", "y_col": "number"},
        {"x_col": "number"},
        {"y_col": "number"},
        {"class_mode": "sparse", "y_col": "several"},
        {"class_mode": "binary"},
        {"class_mode": "binary", "classes": ["a"]},
        {"weight_col": "class"},
    ],
)
def test_bad_tables(folder, kwargs):
    pandas = pytest.importorskip("pandas", reason="the original needs pandas for tables")
    table = pandas.DataFrame(columns([f"{n}.png" for n in range(5)]))
    folder = str(folder / "cats")
    compare_failure(lambda tf, k: maker(k).flow_from_dataframe(table, folder, **kwargs))


def test_a_table_without_pandas(folder):
    table = Table(columns(["0.png", "1.png", "nothing.png", "2.txt", "3.png"]))
    with pytest.warns(UserWarning, match="Found 2 invalid image filename"):
        flow, text = printed(
            lambda: maker(runnel.keras).flow_from_dataframe(
                table, str(folder / "cats"), target_size=(6, 6), shuffle=False
            )
        )
    assert text == "Found 3 validated image filenames belonging to 3 classes.\n"
    images, answers = next(flow)
    assert images.shape == (3, 6, 6, 3)
    np.testing.assert_array_equal(answers, [[0, 1, 0], [1, 0, 0], [0, 1, 0]])
    with pytest.warns(DeprecationWarning, match="sort is deprecated"):
        printed(
            lambda: maker(runnel.keras).flow_from_dataframe(
                Table(columns(["0.png"] * 5)), str(folder / "cats"), sort=True
            )
        )


@pytest.mark.parametrize("size", [(6, 6), (3, 9), (20, 5)])
@pytest.mark.parametrize("interpolation", ["bilinear", "nearest"])
def test_smart_resize(size, interpolation):
    def results(tf, keras):
        resize = keras.preprocessing.image.smart_resize
        batch = resize(IMAGES, size, interpolation)
        assert isinstance(batch, np.ndarray)
        return batch, resize(tf.constant(IMAGES[0]), size, interpolation)

    compare(results, tolerance=1e-5)


def test_iterator_is_for_subclasses():
    class Numbers(runnel.keras.preprocessing.image.Iterator):
        def _get_batches_of_transformed_samples(self, index_array):
            return index_array * 10

    numbers = Numbers(5, 2, False, None)
    assert [list(next(numbers)) for _ in range(4)] == [[0, 10], [20, 30], [40], [0, 10]]
    with pytest.raises(NotImplementedError):
        runnel.keras.preprocessing.image.Iterator(5, 2, False, None).next()
    assert_alike(
        tf_keras.preprocessing.image.Iterator.white_list_formats, numbers.white_list_formats
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(numbers) == 3
