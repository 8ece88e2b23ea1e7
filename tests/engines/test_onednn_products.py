"""Products and max pooling by oneDNN: equal to NumPy's, however the arrays lie in memory."""

import gc
import os

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import runnel as tf
from runnel import engines
from runnel.core import devices
from runnel.engines.onednn import library, sync_latency
from runnel.engines.onednn.primitive import prepared_library
from runnel.engines.onednn.sync_latency import SyncLatency
from runnel.ops.linalg.matmul import product_of, products_of
from runnel.ops.nn.pooling_kernels import max_pool, max_pool_backprop
from runnel.ops.nn.windows import place_axis
from runnel.runtime import blas_threads, engine_selection

pytestmark = pytest.mark.skipif(library.load() is None, reason="oneDNN's library is not there")

RANDOM = np.random.default_rng(3)


@pytest.fixture(autouse=True)
def with_onednn():
    use_onednn()
    yield
    engine_selection.pool.give_to_blas()
    engines.use(os.environ.get("RUNNEL_ENGINE", "onednn"))


def use_onednn():
    engines.use("onednn")
    # The first kernel that is looked for connects the threads.
    engine_selection.find("matmul")


def random(*shape):
    return RANDOM.normal(size=shape).astype("float32")


def close(got, wanted, tolerance=2e-5):
    assert got.shape == wanted.shape and got.dtype == np.float32
    scale = max(1.0, float(np.abs(wanted).max())) if wanted.size else 1.0
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * scale)


@st.composite
def matrices(draw, count, rows, columns):
    """Matrices in one of the orders that arrays come in: as such, transposed, heads, with gaps."""
    how = draw(st.sampled_from(["plain", "transposed", "heads", "gaps", "reversed"]))
    if how == "transposed":
        return random(*count, columns, rows).swapaxes(-1, -2)
    if how == "heads":
        # As attention has them: [batch, rows, heads, columns].
        *before, heads = count
        return random(*before, rows, heads, columns).swapaxes(-2, -3)
    if how == "gaps":
        return random(*count, rows, columns + 3)[..., 2:-1]
    array = random(*count, rows, columns)
    return array[..., ::-1] if how == "reversed" else array


@st.composite
def batches(draw):
    count = draw(st.sampled_from([(300,), (50, 8), (1, 400), (20, 1, 20)]))
    rows, inner, columns = (draw(st.integers(1, 70)) for _ in range(3))
    return draw(matrices(count, rows, inner)), draw(matrices(count, inner, columns))


@settings(max_examples=30, deadline=None)
@given(batches(), st.booleans())
def test_batches_of_products(case, shared):
    a, b = case
    engine_selection.pool.give_to_engine() if shared else engine_selection.pool.give_to_blas()
    wanted = (a.astype("float64") @ b.astype("float64")).astype("float32")
    fast = engine_selection.find("batch_matmul")(a, b)
    if fast is not None:
        close(fast, wanted)
    close(products_of(a, b), wanted)


def test_what_attention_multiplies_is_onednns():
    queries, keys = (random(32, 64, 8, 16).transpose(0, 2, 1, 3) for _ in range(2))
    assert engine_selection.find("batch_matmul")(queries, keys.swapaxes(-1, -2)) is None
    engine_selection.pool.give_to_engine()
    scores = engine_selection.find("batch_matmul")(queries, keys.swapaxes(-1, -2))
    close(scores, np.einsum("bhqd,bhkd->bhqk", queries, keys))
    out = np.empty((32, 64, 8, 16), "float32").transpose(0, 2, 1, 3)
    assert engine_selection.find("batch_matmul")(scores, keys, out) is out
    close(out, np.einsum("bhqk,bhkd->bhqd", scores, keys), 1e-4)


def test_batches_that_numpy_multiplies():
    """Broadcast, empty, tiny, of doubles, with odd strides: NumPy does them, with equal results."""
    fast = engine_selection.find("batch_matmul")
    engine_selection.pool.give_to_engine()
    one, many = random(1, 64, 64), random(70, 64, 64)
    assert fast(many, many) is not None
    packed = np.zeros((70, 64, 64), [("value", "float32"), ("more", "u1")])["value"]
    packed[...] = many
    for a, b in [
        (one, many),
        (np.broadcast_to(one, many.shape), many),
        (many[:0], many[:0]),
        (many[:, :0], many),
        (many[:, :, :0], many[:, :0]),
        (random(9000, 12, 13), random(9000, 13, 12)),
        (many.astype("float64"), many.astype("float64")),
        (packed, many),
    ]:
        assert fast(a, b) is None
        wanted = np.einsum("nij,njk->nik", np.broadcast_to(a, (len(b), *a.shape[1:])), b)
        np.testing.assert_allclose(products_of(a, b), wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("outruns", [True, False])
def test_rows_between_which_no_float_fits(outruns, outrun):
    """Records of floats and one more byte: whole numbers of floats do not lead to the next row."""
    records = np.zeros(300, [("values", "float32", (100,)), ("label", "u1")])
    records["values"], records["label"] = random(300, 100), 255
    a, b = records["values"], random(100, 200)
    outrun(outruns)
    engine_selection.pool.give_to_engine()
    close(product_of(a, b), a.copy() @ b)
    close(product_of(b.T, a.T), b.T @ a.T.copy())
    model = tf.keras.Sequential([tf.keras.layers.Dense(200, use_bias=False)])
    close(model.predict(a, batch_size=100, verbose=0), a.copy() @ model.weights[0].numpy())


@pytest.mark.parametrize("equation", [
    "aecd,abcd->acbe", "acbe,aecd->abcd", "abcd,aecd->acbe", "abc,cde->abde", "bij,bjk->bik",
    "bij,bjk->bki", "bij,bjk->ikb", "ij,jk->ki", "bhqk,bhkd->bqhd", "abde,abc->cde",
    "chij,chjk->ichk",
])  # fmt: skip
def test_equations(equation):
    """Whatever the order of the output, with either engine, and contiguous where attention is."""
    left, _, output = equation.partition("->")
    sizes = dict(zip("abcdehijkq", (60, 40, 8, 24, 33, 8, 40, 50, 45, 36), strict=True))
    arrays = [random(*(sizes[letter] for letter in term)) for term in left.split(",")]
    wanted = np.einsum(equation, *arrays, optimize=True)
    tensors = [tf.constant(array) for array in arrays]
    for use in (lambda: engines.use("numpy"), use_onednn):
        use()
        engine_selection.pool.give_to_engine()
        result = tf.einsum(equation, *tensors)
        close(result.numpy(), wanted, 1e-4)
        if output in ("acbe", "abcd", "bqhd"):
            assert result._array.flags.c_contiguous


def test_gradients_of_attention():
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            scores = tf.nn.softmax(tf.einsum("bqhd,bkhd->bhqk", x, x))
            loss = tf.reduce_sum(tf.einsum("bhqk,bkhd->bqhd", scores, x) ** 2)
        return loss, tape.gradient(loss, x)

    x = tf.constant(random(16, 64, 8, 16) / 4)
    engines.use("numpy")
    wanted = step(x)
    engines.use("onednn")
    for function in (step, tf.function(step)):
        for got, value in zip(function(x), wanted, strict=True):
            np.testing.assert_allclose(got, value, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("other", [95, 96, 150, 256, 257])
@pytest.mark.parametrize("distance", [1024, 2048, 1000])
def test_rows_at_aliased_distances(distance, other):
    """Rows that are copied further apart first give the same product."""
    engine_selection.pool.give_to_engine()
    wide, narrow = random(40, distance), random(40, other)
    matmul = engine_selection.find("matmul")
    close(matmul(wide.T, narrow), wide.T @ narrow)
    close(matmul(narrow.T, wide), narrow.T @ wide)
    close(matmul(np.ascontiguousarray(narrow.T), wide), narrow.T @ wide)


def axes_of(space, kernel, stride, padding):
    return tuple(place_axis(size, kernel, stride, 1, padding) for size in space)


def by_numpy(kernel, *arguments):
    """What NumPy's kernel gives."""
    engines.use("numpy")
    result = kernel(*arguments)
    use_onednn()
    return result


SPECIAL = [np.nan, -np.inf, np.inf, 0.0, -0.0, np.finfo("float32").min, 1.0, 1.0, -3.0]


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from([(12,), (9, 10), (4, 5, 6)]),
    st.integers(1, 3),
    st.integers(1, 3),
    st.sampled_from(["SAME", "VALID"]),
    st.sampled_from([8, 11, 16]),
    st.booleans(),
    st.booleans(),
)
def test_max_pooling(space, kernel, stride, padding, depth, special, floor):
    """NaN, infinities and ties as well: equal maxima, and the same first one gets the gradient."""
    # As large as the engine wants it.
    batch = -(-engine_selection.SMALLEST["max_pool"] // (np.prod(space) * depth))
    images = random(batch, *space, depth)
    if special:
        images = RANDOM.choice(np.array(SPECIAL, "float32"), size=images.shape)
    axes = axes_of(space, kernel, stride, padding)
    wanted = by_numpy(max_pool, images, axes, floor)
    got = max_pool(images, axes, floor)
    np.testing.assert_array_equal(got, wanted)
    if not floor:
        return
    assert engine_selection.find("max_pool")(images, axes) is not None
    gradients = random(*got.shape)
    slopes = by_numpy(max_pool_backprop, images, wanted, gradients, axes)
    # With what the pooling knows, and without.
    for outputs in (got, got.copy()):
        found = max_pool_backprop(images, outputs, gradients, axes)
        np.testing.assert_allclose(found, slopes, rtol=1e-6, atol=1e-6)


def test_places_are_those_of_the_same_images_and_windows():
    from runnel.engines.onednn import pooling

    axes, others = axes_of((16, 16), 2, 2, "VALID"), axes_of((16, 16), 1, 2, "VALID")
    images = random(40, 16, 16, 8)
    outputs = max_pool(images, axes)
    gradients = random(*outputs.shape)
    changed = images[:, :, ::-1].copy()
    for given_images, given_axes in [(images, axes), (changed, axes), (images, others)]:
        reference = by_numpy(max_pool, given_images, given_axes)
        got = max_pool_backprop(given_images, outputs, gradients, given_axes)
        wanted = by_numpy(max_pool_backprop, given_images, reference, gradients, given_axes)
        np.testing.assert_allclose(got, wanted, rtol=1e-6)
    known = len(pooling._known)
    del outputs
    gc.collect()
    assert len(pooling._known) == known - 1


def test_pooling_between_other_layers():
    """A model trains to the same weights with either engine, traced and eager."""

    def trained(traced):
        tf.keras.utils.set_random_seed(1)
        layers = tf.keras.layers
        model = tf.keras.Sequential(
            [
                layers.Conv2D(8, 3, activation="relu", input_shape=(16, 16, 3)),
                layers.MaxPool2D(),
                layers.Conv2D(16, 3, padding="same", activation="relu"),
                layers.MaxPool2D(3, 2, padding="same"),
                layers.Flatten(),
                layers.Dense(4),
            ]
        )
        model.compile("sgd", "mse", run_eagerly=not traced)
        x = np.random.default_rng(0).normal(size=(96, 16, 16, 3)).astype("float32")
        model.fit(x, np.ones((96, 4), "float32"), epochs=2, batch_size=48, verbose=0, shuffle=False)
        return model.get_weights()

    engines.use("numpy")
    wanted = trained(True)
    engines.use("onednn")
    for traced in (True, False):
        for a, b in zip(trained(traced), wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def owner(function, *shapes, dtype=tf.float32):
    """Who gets the processors when a function runs."""
    traced = tf.function(function)
    code = traced.get_concrete_function(*[tf.TensorSpec(shape, dtype) for shape in shapes])
    source = code.plan.source
    return next((who for who in ("engine", "blas") if f"to_{who}()" in source), None)


@pytest.mark.parametrize("outruns", [False, True])
def test_products_while_blas_has_the_processors(outruns, outrun):
    """Where oneDNN outruns BLAS it does them: a small one alone, a large one with its threads."""
    outrun(outruns)
    threads = prepared_library().threads()
    matmul = engine_selection.find("matmul")
    small, large = random(64, 128), random(512, 512)
    for a, b in [(small, small.T), (large, large), (large.T, large[:, ::2].copy())]:
        engine_selection.pool.give_to_blas()
        got = matmul(a, b)
        assert (got is not None) == outruns
        assert engine_selection.pool.owned_by_engine == (outruns and len(a) == 512)
        alone = outruns and len(a) < 512
        assert library.load().threads() == (1 if alone else threads)
        close(product_of(a, b), a @ b)
    engine_selection.pool.give_to_blas()
    for a, b in [(small[:8], small.T), (large.astype("float64"), large.astype("float64"))]:
        assert matmul(a, b) is None
        assert not engine_selection.pool.owned_by_engine


# Before the tests do without it.
_measured = SyncLatency._measured


class Clock:
    """A time that goes on when it is told to."""

    def __init__(self, monkeypatch):
        self.now = 100.0
        for name in ("monotonic", "perf_counter"):
            monkeypatch.setattr(sync_latency, name, lambda: self.now)


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setattr(sync_latency, "num_threads", lambda most: 2)
    monkeypatch.setattr(SyncLatency, "_measured", _measured)
    return Clock(monkeypatch)


def trials(monkeypatch, clock, seconds):
    """Have trials take what `seconds(alone)` says; the list of those that were made."""
    made = []

    def taken(trial, alone):
        made.append(alone)
        clock.now += seconds(alone)
        return seconds(alone)

    monkeypatch.setattr(sync_latency._Trial, "seconds", taken)
    return made


@pytest.mark.parametrize(("shared", "is_quick"), [(0.8e-5, True), (0.95e-5, False)])
def test_threads_share_more_where_they_meet_quickly(monkeypatch, clock, shared, is_quick):
    made = trials(monkeypatch, clock, lambda alone: 1e-5 if alone else shared)
    found = SyncLatency()
    assert not found.is_profitable(1 << 18) and found.is_profitable(1 << 23) and not made

    def products(count, apart=1e-3):
        results = []
        for _ in range(count):
            clock.now += apart
            results.append(found.is_profitable(1 << 22))
        return results

    # Threads are called when products have followed each other for five milliseconds; after a
    # pause, for a tenth of a second.
    assert not any(products(4)) and not made and not found.is_in_use
    assert products(20)[-5:] == [is_quick] * 5 and made
    assert found.is_in_use == is_quick
    clock.now += 0.03
    assert not found.is_in_use
    before = len(made)
    assert not any(products(5, apart=0.03)) and not any(products(90))
    assert products(20)[-1] == is_quick and len(made) == before
    # Later it looks again, but neither for a thread beside others nor where digits must stay.
    clock.now += 60
    products(150)
    assert len(made) > before
    clock.now += 60
    before = len(made)
    monkeypatch.setattr(engine_selection.here, "in_parallel_region", True)
    assert not any(products(150)) and len(made) == before
    monkeypatch.setattr(engine_selection.here, "in_parallel_region", False)
    monkeypatch.setattr(devices.settings, "op_determinism", True)
    assert not any(products(150)) and len(made) == before


def test_threads_that_take_turns_are_waited_for(monkeypatch, clock):
    start = clock.now

    def seconds(alone):
        return 1e-5 if alone else 1e-3 if clock.now < start + 0.03 else 0.8e-5

    made = trials(monkeypatch, clock, seconds)
    assert SyncLatency().is_low() and made.count(False) > 20

    def always(alone):
        return 1e-5 if alone else 1e-3

    made = trials(monkeypatch, clock, always)
    start = clock.now
    assert not SyncLatency().is_low() and clock.now - start < 0.1


def test_the_price_of_a_second_thread_is_measured():
    threads = prepared_library().threads()
    trial = sync_latency._Trial()
    for alone in (False, True):
        assert trial.seconds(alone) > 0
        assert library.load().threads() == (1 if alone else threads)


def test_the_transposed_rows_of_a_matrix(outrun):
    outrun(True)
    matmul = engine_selection.find("matmul")
    for rows, inner, columns in [(50, 1024, 96), (7, 999, 64), (300, 64, 200)]:
        for a in (random(rows, inner), random(inner, rows).T):
            b = random(columns, inner)
            close(matmul(a, b.T), a @ b.T)
            wide = random(columns, inner + 24)[:, 8 : inner + 8]
            close(matmul(a, wide.T), a @ wide.T)


def test_large_products_are_onednns_where_it_outruns_blas(outrun):
    outrun(True)
    assert owner(tf.matmul, [16, 784], [784, 100]) == "blas"
    assert owner(tf.matmul, [32, 784], [784, 100]) == "engine"
    assert owner(tf.matmul, [None, 784], [784, 100]) == "engine"
    assert owner(tf.matmul, [2048, 2048], [2048, 2048]) == "engine"
    # Batches are as they are elsewhere.
    assert owner(tf.matmul, [4, 512, 512], [4, 512, 512]) == "blas"
    assert owner(tf.matmul, [None, 8, 64, 64], [32, 8, 64, 64]) == "blas"
    assert owner(tf.matmul, [128, 784], [784, 100], dtype=tf.float64) == "blas"


def test_narrow_is_what_openblas_says(monkeypatch):
    def narrow(name):
        code = None if name is None else lambda: name
        threads = blas_threads._Threads(1, lambda: 1, lambda count: None, code)
        monkeypatch.setattr(blas_threads, "_threads", lambda: threads)
        return blas_threads.lacks_avx512()

    assert narrow(b"Haswell") and narrow(b"Zen")
    assert not narrow(b"SkylakeX") and not narrow(b"Cooperlake") and not narrow(None)
    monkeypatch.setattr(blas_threads, "_threads", lambda: None)
    assert not blas_threads.lacks_avx512()


def test_who_has_the_processors(outrun):
    outrun(False)
    heads = [32, 8, 64, 64]
    assert owner(tf.matmul, heads, heads) == "engine"
    steps = [32, 64, 8, 16]
    assert owner(lambda a, b: tf.einsum("bqhd,bkhd->bhqk", a, b), steps, steps) == "engine"
    # Few, small, large, unknown, of doubles, or beside a large product: BLAS is faster.
    assert owner(tf.matmul, [4, 32, 32], [4, 32, 32]) == "blas"
    assert owner(tf.matmul, [9000, 8, 8], [9000, 8, 8]) == "blas"
    assert owner(tf.matmul, [4, 512, 512], [4, 512, 512]) == "blas"
    assert owner(tf.matmul, [None, 8, 64, 64], heads) == "blas"
    assert owner(tf.matmul, heads, heads, dtype=tf.float64) == "blas"

    def both(a, b, c):
        return tf.matmul(a, b), tf.matmul(c, c)

    assert owner(both, heads, heads, [512, 512]) == "engine"
    assert owner(both, heads, heads, [1024, 1024]) == "blas"
    assert owner(tf.matmul, [512, 64, 64], [64, 64]) == "blas"
    assert owner(lambda a, b: tf.einsum("ab,cb->abc", a, b), [300, 300], [300, 300]) == "blas"
    assert owner(tf.add, heads, heads) is None
