"""Callbacks beside tf_keras, driven with the same logs: messages, decisions, states, files."""

import contextlib
import http.server
import io
import json
import logging
import threading
import urllib.parse

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from parameter_names import stable

import runnel
import runnel.keras.callbacks
import runnel.keras.utils

tf_keras = pytest.importorskip("tf_keras")
tensorflow = pytest.importorskip("tensorflow")
BOTH = [(tensorflow, tf_keras), (runnel, runnel.keras)]

NAMES = ["loss", "acc", "val_acc", "accuracy", "my_acc_x", "auc", "val_auc", "fmeasure", "acc_loss"]
# Values that meet often, so that ties and plateaus come up.
NUMBERS = st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 3.0, -1.0, float("nan")])
COURSES = st.lists(NUMBERS, min_size=1, max_size=12)


class Optimizer:
    def __init__(self, tf, rate=0.1):
        self.lr = tf.Variable(rate)


class Model:
    """What callbacks use of a model, and a record of what they do to it."""

    def __init__(self, tf):
        # tf_keras asks for a strategy when it names files.
        self.distribute_strategy = tensorflow.distribute.get_strategy()
        self.optimizer = Optimizer(tf)
        self.stop_training = False
        self.metrics = []
        self.weights_now = 0
        self.done = []

    def get_weights(self):
        return self.weights_now

    def set_weights(self, weights):
        self.done.append(("set_weights", weights))

    def save(self, path, overwrite=True, options=None):
        self.done.append(("save", path, overwrite))

    def save_weights(self, path, overwrite=True, options=None):
        self.done.append(("save_weights", path, overwrite))


def outcome(program, tf, keras, caplog):
    """All that a program shows: its result, its printing, its warnings, its exception."""
    out = io.StringIO()
    caplog.clear()
    result = failure = None
    with contextlib.redirect_stdout(out), caplog.at_level(logging.WARNING, logger="tensorflow"):
        try:
            result = program(tf, keras)
        except Exception as exception:
            failure = type(exception).__name__
    logged = [record.getMessage() for record in caplog.records]
    return {
        "result": result,
        "failure": failure,
        "printed": out.getvalue(),
        # How long a hook takes is the machine's affair.
        "logged": [message for message in logged if "is slow compared" not in message],
    }


@pytest.fixture
def same(caplog):
    """A function that asserts that a program shows the same with both; returns Runnel's."""
    tensorflow.get_logger().propagate = True

    def check(program):
        wanted, got = (outcome(program, tf, keras, caplog) for tf, keras in BOTH)
        # `repr` takes NaN for equal to NaN.
        assert repr(got) == repr(wanted)
        return got

    yield check
    tensorflow.get_logger().propagate = False


def run(callback, model, course, monitor):
    """An epoch for each value of the course, until the callback stops it."""
    callback.set_model(model)
    callback.set_params({})
    callback.on_train_begin({})
    seen = []
    for epoch, value in enumerate(course):
        model.weights_now = epoch
        callback.on_epoch_begin(epoch, {})
        logs = {"other": 1.0, monitor: value}
        callback.on_epoch_end(epoch, logs)
        seen.append({name: float(each) for name, each in logs.items()})
        if model.stop_training:
            break
    callback.on_train_end({})
    return seen


@settings(max_examples=60)
@given(
    course=COURSES,
    monitor=st.sampled_from(NAMES),
    min_delta=st.sampled_from([0, 0.1, -0.1]),
    patience=st.integers(0, 3),
    mode=st.sampled_from(["auto", "min", "max", "sideways"]),
    baseline=st.sampled_from([None, 0.2, 1.0]),
    restore=st.booleans(),
    start=st.sampled_from([0, 2]),
)
def test_early_stopping(same, course, monitor, min_delta, patience, mode, baseline, restore, start):
    def program(tf, keras):
        callback = keras.callbacks.EarlyStopping(
            monitor, min_delta, patience, 1, mode, baseline, restore, start
        )
        model = Model(tf)
        seen = run(callback, model, course, monitor)
        names = ("wait", "stopped_epoch", "best", "best_epoch", "best_weights", "min_delta")
        state = {name: getattr(callback, name) for name in names}
        return seen, model.stop_training, model.done, state

    same(program)


@settings(max_examples=60)
@given(
    course=COURSES,
    monitor=st.sampled_from(NAMES),
    factor=st.sampled_from([0.1, 0.5]),
    patience=st.integers(0, 3),
    mode=st.sampled_from(["auto", "min", "max", "sideways"]),
    min_delta=st.sampled_from([1e-4, 0.1]),
    cooldown=st.integers(0, 2),
    min_lr=st.sampled_from([0, 0.01, 0.1]),
)
def test_reduce_on_plateau(
    same, course, monitor, factor, patience, mode, min_delta, cooldown, min_lr
):
    def program(tf, keras):
        callback = keras.callbacks.ReduceLROnPlateau(
            monitor, factor, patience, 1, mode, min_delta, cooldown, min_lr
        )
        model = Model(tf)
        seen = run(callback, model, course, monitor)
        state = (callback.wait, callback.best, callback.cooldown_counter, callback.in_cooldown())
        return seen, float(model.optimizer.lr.numpy()), state

    same(program)


def test_reduce_on_plateau_arguments(same):
    refused = same(lambda tf, keras: keras.callbacks.ReduceLROnPlateau(factor=1.0))
    assert refused["failure"] == "ValueError"
    old = same(lambda tf, keras: keras.callbacks.ReduceLROnPlateau(epsilon=0.5).min_delta)
    assert old["result"] == 0.5


@pytest.mark.parametrize("kind", ["EarlyStopping", "ReduceLROnPlateau"])
def test_missing_quantity_is_named(same, kind):
    def program(tf, keras):
        callback = getattr(keras.callbacks, kind)("val_loss")
        run(callback, Model(tf), [1.0, 2.0], "loss")

    assert "val_loss" in same(program)["logged"][0]


SCHEDULES = {
    "float": lambda tf, epoch: 0.5 / (epoch + 1),
    "of the present rate": lambda tf, epoch, rate: rate * 0.5,
    "numpy": lambda tf, epoch: np.float32(0.3),
    "double": lambda tf, epoch: np.float64(0.3),
    "tensor": lambda tf, epoch: tf.constant(0.25),
    "integer tensor": lambda tf, epoch: tf.constant(1),
    "integer": lambda tf, epoch: 1,
    "text": lambda tf, epoch: "fast",
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_learning_rate_scheduler(same, name):
    def program(tf, keras):
        function = SCHEDULES[name]
        if name == "of the present rate":
            schedule = lambda epoch, rate: function(tf, epoch, rate)  # noqa: E731
        else:
            schedule = lambda epoch: function(tf, epoch)  # noqa: E731
        model = Model(tf)
        seen = run(keras.callbacks.LearningRateScheduler(schedule, verbose=1), model, [1, 2], "x")
        return seen, float(model.optimizer.lr.numpy())

    same(program)


def test_learning_rate_scheduler_without_rate(same):
    def program(tf, keras):
        model = Model(tf)
        model.optimizer = object()
        run(keras.callbacks.LearningRateScheduler(lambda epoch: 0.1), model, [1], "x")

    assert same(program)["failure"] == "ValueError"


@pytest.mark.parametrize("loss", [0.5, float("nan"), float("inf"), None])
def test_terminate_on_nan(same, loss):
    def program(tf, keras):
        callback = keras.callbacks.TerminateOnNaN()
        model = Model(tf)
        callback.set_model(model)
        callback.on_train_batch_end(3, {} if loss is None else {"loss": loss})
        return model.stop_training

    assert same(program)["result"] == (loss is not None and not np.isfinite(loss))


CHECKPOINTS = [
    {"filepath": "a_{epoch:02d}-{val_loss:.2f}.h5"},
    {"filepath": "a", "save_weights_only": True},
    {"filepath": "a_{epoch}", "save_best_only": True},
    {"filepath": "a_{epoch}", "save_best_only": True, "mode": "max"},
    {"filepath": "a_{epoch}", "save_best_only": True, "mode": "sideways"},
    {"filepath": "a_{epoch}", "save_best_only": True, "initial_value_threshold": 0.6},
    {"filepath": "a_{epoch}", "save_best_only": True, "monitor": "absent"},
    {"filepath": "a_{epoch}", "period": 2},
    {"filepath": "a_{epoch}_{absent}"},
    {"filepath": "a_{epoch}_{batch}_{loss}.keras", "save_freq": 2},
    {"filepath": "a_{epoch}_{batch}.keras", "save_freq": 5, "save_weights_only": True},
    {"filepath": "a_{epoch}_{batch}", "save_freq": 2, "save_best_only": True, "monitor": "loss"},
    {"filepath": "a", "save_freq": "sometimes"},
    {"filepath": "a", "save_freq": 2.5},
    {"filepath": "a.keras", "options": object()},
]


@pytest.mark.parametrize("arguments", CHECKPOINTS, ids=stable)
def test_model_checkpoint(same, arguments):
    def program(tf, keras):
        callback = keras.callbacks.ModelCheckpoint(verbose=1, **arguments)
        model = Model(tf)
        callbacks = keras.callbacks.CallbackList([callback])
        callback.set_model(model)
        callbacks.on_train_begin()
        for epoch, value in enumerate([1.0, 0.5, 0.7, float("nan"), 0.1]):
            callbacks.on_epoch_begin(epoch)
            for batch in range(3):
                callbacks.on_train_batch_end(batch, {"loss": 1.0 / (epoch + batch + 1)})
            callbacks.on_epoch_end(epoch, {"loss": 0.5, "val_loss": value})
        callbacks.on_train_end()
        return model.done

    same(program)


@pytest.mark.parametrize("monitor", NAMES)
def test_checkpoint_mode_by_name(same, monitor):
    same(lambda tf, keras: keras.callbacks.ModelCheckpoint("a", monitor).best)


def test_checkpoint_into_a_directory(same):
    def program(tf, keras):
        model = Model(tf)

        def save(*args, **kwargs):
            raise IsADirectoryError(21, "Is a directory")

        model.save = save
        run(keras.callbacks.ModelCheckpoint("a"), model, [1.0], "loss")

    assert same(program)["failure"] == "OSError"


def test_checkpoint_takes_a_path(tmp_path):
    model = Model(runnel)
    run(runnel.keras.callbacks.ModelCheckpoint(tmp_path / "{epoch}.keras"), model, [1.0], "loss")
    assert model.done == [("save", str(tmp_path / "1.keras"), True)]


def test_csv_logger(same, tmp_path):
    logs = [
        {"loss": 1.0, "acc": np.float32(0.1), "list": [1.0, 2.0], "array": np.array([1, 2])},
        {"loss": 2.0},
        {"loss": 2.0, "new": 1, "acc": 1, "list": np.zeros((2, 2)), "array": np.array(3)},
        {"loss": 0.5, "val_loss": 3.0},
    ]

    def program(tf, keras):
        path = tmp_path / f"{tf.__name__}.csv"
        for append, separator in [(False, ","), (True, ","), (False, ";"), (True, ";")]:
            callback = keras.callbacks.CSVLogger(str(path), separator, append)
            callback.set_model(Model(tf))
            callback.on_train_begin()
            for epoch, each in enumerate(logs):
                callback.on_epoch_end(epoch, each)
            callback.on_train_end()
        return path.read_bytes()

    assert same(program)["result"].startswith(b"epoch;acc;array;list;loss;val_acc;")


def test_base_logger(same):
    def program(tf, keras):
        callback = keras.callbacks.BaseLogger(stateful_metrics=["steady"])
        callback.set_params({"metrics": ["steady", "loss", "absent"]})
        callback.on_epoch_begin(0)
        callback.on_batch_end(0, {"loss": 1.0, "steady": 3, "size": 2})
        callback.on_batch_end(1, {"loss": 4.0, "steady": 5, "size": 1})
        logs = {}
        callback.on_epoch_end(0, logs)
        return logs

    assert same(program)["result"] == {"steady": 5, "loss": 2.0}


def test_lambda_callback(same):
    def program(tf, keras):
        done = []
        callback = keras.callbacks.LambdaCallback(
            on_epoch_begin=lambda epoch, logs: done.append(("epoch", epoch)),
            on_batch_end=lambda batch, logs: done.append(("batch", batch, logs)),
            on_test_batch_begin=lambda batch, logs: done.append(("test", batch)),
            on_train_end=lambda logs: done.append(("end", logs)),
            extra=3,
        )
        callbacks = keras.callbacks.CallbackList([callback])
        callbacks.on_train_begin()
        callbacks.on_epoch_begin(2)
        callbacks.on_train_batch_begin(0)
        callbacks.on_test_batch_begin(7)
        callback.on_batch_end(1, {"loss": 0.5})
        callbacks.on_train_end({"loss": 1.0})
        return done, callback.extra

    same(program)


HOOKS = [name for name in dir(runnel.keras.callbacks.Callback) if name.startswith("on_")]


def recorder(keras, hooks):
    """A callback that records the calls of some hooks."""

    def method(name):
        def hook(self, *args, logs=None):
            self.calls.append((name, *args, logs) if logs is not None else (name, *args))

        return hook

    kind = type("Recorder", (keras.callbacks.Callback,), {name: method(name) for name in hooks})
    callback = kind()
    callback.calls = []
    return callback


@settings(max_examples=30)
@given(hooks=st.sets(st.sampled_from(HOOKS)))
def test_list_calls_hooks(same, hooks):
    def program(tf, keras):
        callback = recorder(keras, sorted(hooks))
        callbacks = keras.callbacks.CallbackList([callback], verbose=0, epochs=1, steps=1)
        logs = {"loss": tf.constant(0.5), "many": [1.5], "count": np.int64(3), "text": "a"}
        for name in HOOKS:
            first = () if name.split("_")[1] in ("train", "test", "predict") else (4,)
            if "batch" in name:
                first = (4,)
            getattr(callbacks, name)(*first, dict(logs))
            getattr(callbacks, name)(*first)
        return callback.calls, callback.params

    same(program)


def test_logs_are_python_numbers():
    seen = recorder(runnel.keras, ["on_train_batch_end", "on_epoch_end"])
    callbacks = runnel.keras.callbacks.CallbackList([seen])
    logs = {"loss": runnel.constant(0.5), "rate": np.float32(0.25), "v": runnel.Variable([1.0])}
    callbacks.on_train_batch_end(0, logs)
    callbacks.on_epoch_end(0, logs)
    for _, _, given_logs in seen.calls:
        assert type(given_logs["loss"]) is float
        assert type(given_logs["rate"]) is float
        assert isinstance(given_logs["v"], np.ndarray)


def test_list_knows_who_listens():
    callbacks = runnel.keras.callbacks.CallbackList(
        [runnel.keras.callbacks.ModelCheckpoint("a")],
        add_history=True,
        model=Model(runnel),
        verbose=0,
    )
    assert not any(callbacks.listens(name) for name in HOOKS if "_batch_" in name[5:])
    callbacks.append(recorder(runnel.keras, ["on_batch_end"]))
    assert callbacks.listens("on_train_batch_end")
    assert not callbacks.listens("on_train_batch_begin")
    assert not callbacks.listens("on_test_batch_end")


def test_one_line_per_epoch_needs_no_batches():
    for verbose, listens in [(1, True), (2, False)]:
        callbacks = runnel.keras.callbacks.CallbackList(
            add_progbar=True, model=Model(runnel), verbose=verbose, epochs=1, steps=5
        )
        assert callbacks.listens("on_train_batch_end") is listens


def test_default_callbacks(same):
    def program(tf, keras):
        own = keras.callbacks.History()
        lists = [
            keras.callbacks.CallbackList(add_history=True, add_progbar=True),
            keras.callbacks.CallbackList([[own]], add_history=True),
            keras.callbacks.CallbackList(own, add_history=True),
            keras.callbacks.CallbackList([keras.callbacks.ProgbarLogger()], add_progbar=True),
        ]
        return [[type(each).__name__ for each in callbacks] for callbacks in lists]

    same(program)


def test_history(same):
    def program(tf, keras):
        model = Model(tf)
        callbacks = keras.callbacks.CallbackList(
            add_history=True, model=model, verbose=0, epochs=5, steps=1
        )
        for start in (0, 2):
            callbacks.on_train_begin()
            for epoch in (start, start + 1):
                callbacks.on_epoch_begin(epoch)
                callbacks.on_epoch_end(epoch, {"loss": tf.constant(0.5), "lr": np.float32(0.25)})
            callbacks.on_train_end()
        return model.history.history, model.history.epoch, model.history.params

    same(program)


class Publisher(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.append((self.path, self.headers["Content-Type"], body.decode()))
        self.send_response(500 if "refuse" in self.path else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        """Tests are quiet."""


@pytest.fixture
def server():
    with http.server.HTTPServer(("127.0.0.1", 0), Publisher) as server:
        server.received = []
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join(10)


@pytest.mark.parametrize("as_json", [True, False])
def test_remote_monitor(server, as_json):
    root = f"http://127.0.0.1:{server.server_port}"
    callback = runnel.keras.callbacks.RemoteMonitor(root, "/end/", send_as_json=as_json)
    callback.on_epoch_end(3, {"loss": np.float32(0.5), "acc": 1.0})
    path, kind, body = server.received[0]
    if not as_json:
        body = urllib.parse.parse_qs(body)["data"][0]
    assert path == "/end/"
    assert kind == ("application/json" if as_json else "application/x-www-form-urlencoded")
    assert json.loads(body) == {"epoch": 3, "loss": 0.5, "acc": 1.0}


def test_remote_monitor_survives_a_refusal(server):
    callback = runnel.keras.callbacks.RemoteMonitor(
        f"http://127.0.0.1:{server.server_port}", "/refuse/"
    )
    callback.on_epoch_end(0, {"loss": 1.0})
    assert len(server.received) == 1


def test_remote_monitor_without_server(same):
    def program(tf, keras):
        callback = keras.callbacks.RemoteMonitor("http://127.0.0.1:9")
        callback.on_epoch_end(0, {"loss": 1.0})

    assert "could not reach" in same(program)["logged"][0]
