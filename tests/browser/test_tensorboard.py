"""The real TensorBoard in a real browser shows what a training run has written.

`RUNNEL_SCREENSHOTS=folder` also takes pictures of the pages.
"""

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import runnel as tf

driver = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 60_000  # milliseconds, on a busy machine
STEPS = 12
EPOCHS = 5
# As with Runnel alone: where the original is installed too, TensorBoard would wait for it.
TENSORBOARD = """
import sys
sys.modules["tensorflow"] = None
from tensorboard.main import run_main
run_main()
"""


def train_by_hand(logdir):
    """Fit a line; the losses and the pictures that TensorBoard should show."""
    x = tf.constant(np.linspace(-1, 1, 30)[:, np.newaxis], tf.float32)
    y = 3.0 * x - 1.0
    weight, bias = tf.Variable([[0.0]]), tf.Variable([0.0])

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            with tf.name_scope("model"):
                output = tf.nn.bias_add(tf.matmul(x, weight), bias)
            loss = tf.reduce_mean((output - y) ** 2)
        for variable, gradient in zip(
            (weight, bias), tape.gradient(loss, (weight, bias)), strict=True
        ):
            variable.assign_sub(0.2 * gradient)
        return loss, output

    pictures = np.random.RandomState(0).randint(0, 256, [2, 6, 9, 3], np.uint8)
    losses = []
    with tf.summary.create_file_writer(logdir).as_default():
        tf.summary.trace_on(graph=True)
        loss, output = step(x, y)
        tf.summary.trace_export("step", step=0)
        for number in range(STEPS):
            loss, output = step(x, y)
            losses.append(float(loss))
            tf.summary.scalar("loss", loss, step=number)
            tf.summary.histogram("output", output, step=number)
        tf.summary.image("pictures", pictures, step=0)
        tf.summary.text("notes", "A line was **fitted**.", step=0)
        tf.summary.flush()
    return losses, pictures


def train_with_fit(logdir):
    """Fit a parabola with Keras; the losses of the epochs."""
    tf.keras.utils.set_random_seed(1)
    x = np.linspace(-1, 1, 64, dtype=np.float32)[:, np.newaxis]
    layers = tf.keras.layers
    hidden, height = layers.Dense(8, "relu", name="hidden"), layers.Dense(1, name="height")
    model = tf.keras.Sequential([tf.keras.Input([1]), hidden, height], name="sequential")
    model.compile(tf.keras.optimizers.Adam(0.01), "mse")
    board = tf.keras.callbacks.TensorBoard(logdir, histogram_freq=1)
    return model.fit(x, x**2, epochs=EPOCHS, verbose=0, callbacks=[board]).history["loss"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("training")


@pytest.fixture(scope="module")
def by_hand(folder):
    return train_by_hand(str(folder / "logs" / "by_hand"))


@pytest.fixture(scope="module")
def with_fit(folder):
    return train_with_fit(str(folder / "logs" / "with_fit"))


@pytest.fixture(scope="module")
def address(folder, by_hand, with_fit):
    """Where TensorBoard shows both runs."""
    options = ["--logdir", "logs", "--host", "127.0.0.1", "--port", "0"]
    with open(folder / "tensorboard.log", "w+", encoding="utf-8") as log:
        server = subprocess.Popen(
            [sys.executable, "-c", TENSORBOARD, *options], cwd=folder, stderr=log
        )
        try:
            yield address_in(log, server)
        finally:
            server.terminate()
            server.wait(30)


def address_in(log, server):
    """The address that TensorBoard says when it has started."""
    for _ in range(PATIENCE // 100):
        log.seek(0)
        found = re.search(r"http://127\.0\.0\.1:\d+/", log.read())
        if found:
            return found.group()
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(0.1)
            break
    log.seek(0)
    pytest.fail(f"TensorBoard did not start:\n{log.read()}")


@pytest.fixture(scope="module")
def browser():
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no browser: `apt-get install chromium` or any Chrome makes this test run")
    with driver.sync_playwright() as play:
        # As root, as in containers, Chromium refuses its sandbox; it only visits this machine.
        # There is no graphics card to be found, nor much shared memory.
        options = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        browser = play.chromium.launch(executable_path=found, args=options)
        yield browser
        browser.close()


@pytest.fixture
def show(browser, address):
    """Opens a page of TensorBoard."""
    failures, pages = [], {}

    def show(name, place):
        # In a context of its own: TensorBoard remembers what was chosen in another page.
        page = browser.new_page(viewport={"width": 1200, "height": 720})
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: failures.append(str(error)))
        page.goto(f"{address}#{place}")
        pages[name] = page
        return page

    yield show
    pictures = os.environ.get("RUNNEL_SCREENSHOTS")
    for name, page in pages.items():
        if pictures:
            picture = Image.open(io.BytesIO(page.screenshot())).quantize(128)
            picture.save(Path(pictures) / f"tensorboard-{name}.png", optimize=True)
        page.close()
    assert failures == []


def curves_of(card, count):
    """The lines of a chart on the screen, each as x and y, when they have so many points."""
    for _ in range(PATIENCE // 100):
        texts = card.locator("path.line").evaluate_all(
            "lines => lines.map(line => line.getAttribute('d'))"
        )
        lines = [text.removeprefix("M").split("L") for text in texts]
        if lines and all(len(line) == count for line in lines):
            return [np.array([pair.split(",") for pair in line], float).T for line in lines]
        card.page.wait_for_timeout(100)
    pytest.fail(f"no curves of {count} points: {texts}")


@pytest.mark.parametrize("tag", ["epoch_loss", "loss"])
def test_scalars(tag, show, by_hand, with_fit):
    values = by_hand[0] if tag == "loss" else with_fit
    # The chart is as high as its smoothed curves need, which leave out the ends of the others.
    page = show("scalars", f"scalars&_smoothingWeight=0&tagFilter=^{tag}$")
    # Else points outside of the chart are left out.
    page.get_by_text("Ignore outliers in chart scaling").click()
    curves = curves_of(page.locator("tf-scalar-card", has_text=f"tag: {tag}").first, len(values))
    for across, _ in curves:
        np.testing.assert_allclose(np.diff(across), across[1] - across[0], rtol=1e-3)
    # Heights on the screen are linear in the values; those of the smoothed curve are not.
    fits = [np.polyfit(values, down, 1, full=True) for _, down in curves]
    (slope, _), (residual,), *_ = min(fits, key=lambda fit: fit[1][0])
    assert slope < 0
    assert residual < 1e-4 * (slope * max(values)) ** 2


def test_images(show, by_hand):
    _, pictures = by_hand
    page = show("images", "images")
    shown = page.locator("tf-image-loader img")
    driver.expect(shown).to_have_count(2, timeout=PATIENCE)
    for element, expected in zip(shown.all(), pictures, strict=True):
        page.wait_for_function("image => image.naturalWidth > 0", arg=element.element_handle())
        file = page.request.get(element.evaluate("image => image.src")).body()
        np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(file))), expected)


def test_text(show):
    page = show("text", "text")
    shown = page.locator("tf-text-loader .text")
    driver.expect(shown).to_have_text("A line was fitted.", timeout=PATIENCE)
    driver.expect(shown.locator("strong")).to_have_text("fitted")


@pytest.mark.parametrize(
    ("tag", "steps"), [("hidden/kernel_0/histogram", EPOCHS), ("output", STEPS)]
)
def test_histograms(tag, steps, show):
    page = show("histograms", f"histograms&tagFilter=^{tag}$")
    card = page.locator("tf-histogram-loader", has_text=f"tag: {tag}").first
    shown = card.locator("g.histogram path")
    driver.expect(shown).to_have_count(steps, timeout=PATIENCE)
    heights = shown.evaluate_all("paths => paths.map(path => path.getBBox().height)")
    assert min(heights) > 0


def names_of_nodes(page):
    return page.locator("tf-graph-scene g.node").evaluate_all(
        "nodes => nodes.map(node => node.getAttribute('data-name'))"
    )


def test_graph_of_a_function(show):
    page = show("graphs", "graphs")
    scope = page.locator('tf-graph-scene g.node[data-name="model"]')
    scope.wait_for()
    assert {"x", "y", "model"} <= set(names_of_nodes(page))
    assert "model/MatMul" not in names_of_nodes(page)
    edges = page.locator("tf-graph-scene g.edge").evaluate_all(
        "edges => edges.map(edge => edge.getAttribute('data-edge'))"
    )
    assert "x--model" in edges
    # A folded scope opens with a double click.
    scope.locator("rect").first.dispatch_event("dblclick")
    page.locator('tf-graph-scene g.node[data-name="model/MatMul"]').wait_for()
    assert "model/BiasAdd" in names_of_nodes(page)


def choose_run(page, name):
    """Choose a run from the menu, which closes when its list comes in meanwhile."""
    item = page.locator("tf-graph-controls paper-item", has_text=name)
    for _ in range(20):
        page.locator("tf-graph-controls paper-dropdown-menu").first.click()
        with contextlib.suppress(driver.TimeoutError):
            item.click(timeout=3000)
            return
    raise AssertionError(f"The menu of runs did not open to show {name}.")


def test_graph_of_a_model(show):
    page = show("model", "graphs")
    choose_run(page, "with_fit/train")
    page.get_by_text("Conceptual graph").click()
    page.locator('tf-graph-scene g.node[data-name="sequential"] rect').first.dispatch_event(
        "dblclick"
    )
    page.locator('tf-graph-scene g.node[data-name="sequential/hidden"]').wait_for()
    assert "sequential/height" in names_of_nodes(page)
