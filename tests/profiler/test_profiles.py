"""Profiles: what is recorded, what the files say, and that nothing is left behind."""

import gzip
import json
import threading

import numpy as np
import pytest

import runnel as tf
from runnel import engines
from runnel.compiler.plan import Plan
from runnel.core import op as core_op
from runnel.core.exchange import Exchange
from runnel.ops import operators
from runnel.profiler.events import FUNCTION, OPERATION, TRACE, Event, events_of, own_times
from runnel.profiler.recording import Recorder
from runnel.runtime import engine_selection

tensorflow = pytest.importorskip("tensorflow")
xplane_pb2 = pytest.importorskip("tensorflow.tsl.profiler.protobuf.xplane_pb2")
profiler = tf.profiler.experimental


@tf.function
def doubled_until(x, limit):
    while tf.reduce_sum(x) < limit:
        x = x @ x
    return tf.nn.relu(x) + 1.0


def recorded(function, *args):
    """The events of a call, and its result."""
    recorder = Recorder()
    recorder.start()
    try:
        result = function(*args)
    finally:
        recorder.stop()
    return events_of(recorder), result


def operations(events):
    return [event for event in events if event.kind == OPERATION]


def profile_files(logdir):
    (space,) = logdir.glob("plugins/profile/*/*.xplane.pb")
    (trace,) = logdir.glob("plugins/profile/*/*.trace.json.gz")
    assert space.name.removesuffix(".xplane.pb") == trace.name.removesuffix(".trace.json.gz")
    return (
        xplane_pb2.XSpace.FromString(space.read_bytes()),
        json.loads(gzip.decompress(trace.read_bytes())),
    )


def test_every_way_to_an_operation_is_seen():
    v = tf.Variable(tf.ones([2, 3]))
    x = tf.ones([4, 2])

    def program():
        y = x @ v + 1.0
        y = 2.0 - (-y)
        v.assign_add(tf.ones([2, 3]))
        return tf.concat([y, y], 0) > 3.0

    events, result = recorded(program)
    assert [(event.type, event.inputs, event.outputs) for event in operations(events)] == [
        ("MatMul", "float32[4,2], float32[2,3]", "float32[4,3]"),
        ("AddV2", "float32[4,3], float32[]", "float32[4,3]"),
        ("Neg", "float32[4,3]", "float32[4,3]"),
        ("Sub", "float32[], float32[4,3]", "float32[4,3]"),
        ("Fill", "int32[2], float32[]", "float32[2,3]"),
        ("AssignAddVariableOp", "float32[2,3]", ""),
        ("ConcatV2", "float32[4,3], float32[4,3], int32[]", "float32[8,3]"),
        ("Greater", "float32[8,3], float32[]", "bool[8,3]"),
    ]
    assert {event.engine for event in operations(events)} == {"NumPy"}
    assert operations(events)[0].output_bytes == 4 * 3 * 4
    np.testing.assert_array_equal(result, np.full([8, 3], 2.0 + 3.0 > 3.0))
    np.testing.assert_array_equal(v, np.full([2, 3], 2.0))


def test_operations_inside_of_functions_and_loops():
    x = tf.ones([2, 2])
    expected = doubled_until(x, 100.0).numpy()
    events, result = recorded(doubled_until, x, 100.0)
    np.testing.assert_array_equal(result, expected)
    types = [event.type for event in operations(events)]
    # 4 -> 8 -> 32 -> 512: three rounds.
    assert types.count("MatMul") == 3
    assert types.count("Less") == 4
    (loop,) = [event for event in operations(events) if "While" in event.type]
    inside = [event for event in operations(events) if event.type == "MatMul"]
    assert all(loop.begin <= event.begin <= event.end <= loop.end for event in inside)
    assert inside[0].inputs == "float32[2,2], float32[2,2]"
    functions = [event for event in events if event.kind == FUNCTION]
    assert functions[0].begin < loop.begin and functions[0].end > loop.end


def test_shapes_are_those_of_the_run():
    @tf.function(input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec(None)])
    def program(x, y):
        return tf.reduce_sum(tf.identity(x @ x) * y, 0)

    events, _ = recorded(program, tf.ones([3, 3]), tf.ones([2, 3, 3]))
    known = {event.type: (event.inputs, event.outputs) for event in operations(events)}
    assert known["MatMul"] == ("float32[3,3], float32[3,3]", "float32[3,3]")
    assert known["Mul"] == ("float32[3,3], float32[2,3,3]", "float32[2,3,3]")
    assert known["Sum"][1] == "float32[3,3]"


def test_a_session_is_seen_too():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [None, 2])
        y = tf.matmul(x, tf.ones([2, 5]))
        events, result = recorded(session.run, y, {x: np.ones([3, 2])})
    (product,) = [event for event in operations(events) if event.type == "MatMul"]
    assert product.outputs == "float32[3,5]"
    np.testing.assert_array_equal(result, np.full([3, 5], 2.0))


def test_the_engine_that_did_the_work():
    if engines.in_use() != "onednn":
        pytest.skip("oneDNN is not installed")
    convolve = tf.function(lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"))
    small, large, filters = tf.ones([1, 4, 4, 1]), tf.ones([4, 16, 16, 8]), tf.ones([3, 3, 8, 8])
    for function in (convolve, convolve.python_function):
        events, _ = recorded(lambda f=function: (f(large, filters), f(small, filters[:, :, :1])))
        told = {event.inputs.split(", ")[0]: event.engine for event in operations(events)}
        assert told["float32[4,16,16,8]"] == "oneDNN"
        assert told["float32[1,4,4,1]"] == "NumPy"


def test_a_compiled_function_is_one_operation():
    program = tf.function(lambda x: tf.nn.relu(x @ x) + 1.0)
    x = tf.ones([2, 2])
    plan = program.get_concrete_function(x).plan
    # As jit_compile=True does, where JAX is installed.
    plan.function = lambda array: (array * 3,)
    events, result = recorded(program, x)
    np.testing.assert_array_equal(result, np.full([2, 2], 3.0))
    (only,) = operations(events)
    assert (only.type, only.engine, only.inputs) == ("XlaLaunch", "XLA", "float32[2,2]")


def test_nothing_is_left_behind():
    def state():
        return (
            core_op.execute.__code__,
            Plan.run.__code__,
            tf.Variable._update.__code__,
            engine_selection.find,
        )

    def tables():
        return [table.copy() for table, _ in operators._DIRECT]

    def classes():
        # Changing classes again and again would make Python slow for good.
        return [dict(vars(each)) for each in (tf.Tensor, tf.Variable, Plan)]

    before, direct, attributes = state(), tables(), classes()
    recorder = Recorder()
    recorder.start()
    during = state()
    assert not any(tables()) and all(direct)
    assert classes() == attributes
    recorder.stop()
    assert all(a is b for a, b in zip(before, state(), strict=True))
    assert not any(a is b for a, b in zip(before, during, strict=True))
    assert tables() == direct
    seen = len(recorder.notes)
    doubled_until(tf.ones([2, 2]), 10.0) + 1.0
    assert len(recorder.notes) == seen


def test_exchanged_functions_keep_their_parameters():
    def plain(a, b=2, *rest):
        return a, b, rest

    held = plain
    exchange = Exchange(plain, lambda before: lambda *given: ("watched", *before(*given)))
    assert held(1) == ("watched", 1, 2, ())
    assert held(1, b=3) == ("watched", 1, 3, ())
    assert held(1, 4, 5, 6) == ("watched", 1, 4, (5, 6))
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'a'"):
        held()
    exchange.undo()
    assert held(1) == (1, 2, ())


def test_errors_are_the_same_while_recording():
    @tf.function
    def program(x, indices):
        return tf.gather(x, indices) * 2.0

    def message(function):
        with pytest.raises(tf.errors.InvalidArgumentError) as failure:
            function()
        return str(failure.value)

    def traced():
        program(tf.ones([3]), tf.constant([5]))

    def eager():
        tf.ones([2, 3]) @ tf.ones([2, 3])

    def shapes():
        tf.ones([2]) + tf.ones([3])

    for function in (traced, eager, shapes):
        expected = message(function)
        recorder = Recorder()
        recorder.start()
        try:
            assert message(function) == expected
        finally:
            recorder.stop()


def test_gradients_are_the_same_while_recording():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

    def gradient(function):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(function(v @ v) ** 2)
        return tape.gradient(loss, v)

    for function in (tf.tanh, tf.function(lambda x: tf.tanh(x) * 3.0)):
        expected = gradient(function).numpy()
        events, result = recorded(gradient, function)
        np.testing.assert_array_equal(result, expected)
        assert [event.type for event in operations(events)].count("MatMul") == 3


def test_own_times_leave_out_what_runs_inside():
    def event(begin, end, thread=1, kind=OPERATION):
        return Event("e", kind, thread, begin, end, "E")

    events = [
        event(0, 100),
        event(10, 30),
        event(12, 15),
        event(30, 40),
        event(35, 60, thread=2),
        event(100, 110),
    ]
    assert [own for _, own in own_times(events)] == [70, 17, 3, 10, 25, 10]
    assert own_times([event(0, 5, kind=FUNCTION)]) == []


def test_files_that_the_original_reads(tmp_path):
    x = tf.ones([8, 8])
    doubled_until(x, 1.0)
    with profiler.Profile(str(tmp_path)) as nothing:
        assert nothing is None
        for step in range(3):
            with profiler.Trace("train", step_num=step, _r=1) as trace:
                trace.set_metadata(kind="test", rate=0.5)
                doubled_until(x + 1.0, 1.0)
    space, chrome = profile_files(tmp_path)

    assert [plane.name for plane in space.planes] == ["/host:CPU", "Task Environment"]
    host = space.planes[0]
    names = {number: each.name for number, each in host.stat_metadata.items()}

    def facts(event):
        found = {}
        for stat in event.stats:
            value = getattr(stat, stat.WhichOneof("value"))
            key = names[stat.metadata_id]
            found[key] = names[value] if stat.WhichOneof("value") == "ref_value" else value
        return found

    threads = {line.name: line for line in host.lines}
    assert set(threads) == {threading.current_thread().name, "memory"}
    events = threads[threading.current_thread().name].events
    named = [(host.event_metadata[event.metadata_id].name, event) for event in events]
    steps = [facts(event) for name, event in named if name == "train"]
    assert steps == [{"step_num": i, "_r": 1, "kind": "test", "rate": 0.5} for i in range(3)]
    relus = [event for name, event in named if name.endswith(":Relu")]
    assert [facts(event) for event in relus] == 3 * [
        {
            "op": "Relu",
            "engine": "NumPy",
            "tensor_shapes": "float32[8,8]",
            "output_shapes": "float32[8,8]",
            "output_bytes": 256,
        }
    ]
    first = next(event for name, event in named if name == "train")
    assert first.offset_ps <= relus[0].offset_ps
    assert relus[0].offset_ps + relus[0].duration_ps <= first.offset_ps + first.duration_ps
    assert all(facts(event)["bytes_allocated"] > 1e6 for event in threads["memory"].events)

    told = [entry for entry in chrome["traceEvents"] if entry["ph"] == "X"]
    assert [entry["name"] for entry in told] == [name.split(":")[0] for name, _ in named]
    for entry, (_, event) in zip(told, named, strict=True):
        assert entry["ts"] * 1e6 == pytest.approx(event.offset_ps)
        assert entry["dur"] * 1e6 == pytest.approx(event.duration_ps)
    counters = [entry for entry in chrome["traceEvents"] if entry["ph"] == "C"]
    assert len(counters) == len(threads["memory"].events)


def test_steps_of_keras_are_numbered():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    x = np.ones([6, 3])

    def steps():
        events, _ = recorded(lambda: model.fit(x, x[:, :2], batch_size=2, verbose=0))
        return [event.details.get("step_num") for event in events if event.name == "train_step"]

    assert steps() == [1, 2, 3]

    def marked():
        with profiler.Trace("step", step_num=7, _r=1):
            model.train_on_batch(x, x[:, :2])

    events, _ = recorded(marked)
    assert [event.details["step_num"] for event in events if "_r" in event.details] == [7]


def test_each_thread_has_its_line(tmp_path):
    profiler.start(str(tmp_path))
    for name in ("first", "second"):
        thread = threading.Thread(target=lambda: tf.ones([2]) + 1.0, name=name)
        thread.start()
        thread.join()
    profiler.stop()
    space, chrome = profile_files(tmp_path)
    lines = {line.name: len(line.events) for line in space.planes[0].lines}
    # A number of an ended thread may be given to the next one: its line then goes on.
    assert sum(lines.get(name, 0) for name in ("first", "second")) == 4
    assert "first" in lines
    assert sum(entry["ph"] == "X" for entry in chrome["traceEvents"]) == 4


def test_levels(tmp_path):
    def kinds(**levels):
        folder = tmp_path / str(levels)
        with profiler.Profile(str(folder), profiler.ProfilerOptions(**levels)):
            doubled_until(tf.ones([2, 2]), 10.0)
            tf.ones([2]) + 1.0
        _, chrome = profile_files(folder)
        return {entry["cat"] for entry in chrome["traceEvents"] if entry["ph"] == "X"}, chrome

    recorded(doubled_until, tf.ones([2, 2]), 10.0)
    assert kinds(host_tracer_level=1)[0] == {"function"}
    assert kinds()[0] == {"function", "operation"}
    found, chrome = kinds(python_tracer_level=1)
    assert found == {"function", "operation", "python"}
    entered = [entry for entry in chrome["traceEvents"] if entry.get("cat") == "python"]
    assert any(entry["name"].endswith("ones") for entry in entered)


def test_getting_ready_is_told_apart():
    program = tf.function(lambda x: tf.nn.relu(x) + 1.0)
    program(tf.ones([2]))
    first, second = (recorded(program, tf.ones([2]))[0] for _ in range(2))
    (name,) = [event.name for event in first if event.kind == TRACE]
    assert name.startswith("preparing the profile of ")
    assert len(operations(first)) == len(operations(second)) == len(second) - 1


def test_traces_outside_of_profiles_do_nothing(tmp_path):
    trace = profiler.Trace("outside", step_num=1)
    with trace as entered:
        assert entered is trace
        assert entered.set_metadata(more=1) is None
    events, _ = recorded(trace.__enter__)
    assert [event for event in events if event.kind == TRACE] == []
    trace.__exit__(None, None, None)


@pytest.mark.parametrize("library", [tensorflow, tf])
def test_mistakes(library, tmp_path):
    mine, errors = library.profiler.experimental, library.errors
    with pytest.raises(errors.UnavailableError, match="No profiler is running"):
        mine.stop()
    mine.start(str(tmp_path))
    with pytest.raises(errors.AlreadyExistsError, match="Another profiler is running"):
        mine.start(str(tmp_path))
    mine.stop(save=False)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(AttributeError, match="_asdict"):
        mine.start(str(tmp_path), options={"host_tracer_level": 1})
    mine.start("/proc/nowhere")
    with pytest.raises(errors.NotFoundError, match="/proc/nowhere"):
        mine.stop()
    with pytest.raises(errors.UnavailableError):
        mine.stop()


def test_folders_that_do_not_work(tmp_path):
    with pytest.raises(TypeError, match="None"):
        profiler.start(None)
    with pytest.raises(tf.errors.UnimplementedError, match="gs"):
        profiler.start("gs://bucket")
    (tmp_path / "plugins").write_text("a file")
    profiler.start(tmp_path)
    with pytest.raises(tf.errors.FailedPreconditionError, match="plugins"):
        profiler.stop()
    assert Recorder.active is None


def test_two_profiles_of_one_second_are_two(tmp_path):
    for _ in range(2):
        with profiler.Profile(str(tmp_path)):
            tf.ones([2]) + 1.0
    assert len(list(tmp_path.glob("plugins/profile/*/*.xplane.pb"))) == 2


def test_profile_prints_a_table(capsys):
    def step(x, *, times):
        for _ in range(times):
            x = tf.nn.relu(x @ x)
        return tf.reduce_sum(x)

    table = tf.profile(step, tf.zeros([50, 50]), times=3)
    printed = capsys.readouterr().out
    assert printed == f"{table}\n"
    assert float(table.result) == 0.0
    calls = {row.op: row.calls for row in table.rows}
    assert calls == {"MatMul": 3, "Relu": 3, "Sum": 1}
    assert [row.total for row in table.rows] == sorted(row.total for row in table.rows)[::-1]
    assert sum(row.total for row in table.rows) <= table.seconds
    for row in table.rows:
        assert row.mean == pytest.approx(row.total / row.calls)
        assert row.share == pytest.approx(row.total / table.seconds)
        (line,) = [line for line in printed.splitlines() if line.startswith(f"{row.op} ")]
        assert line.split()[1] == str(row.calls) and line.endswith(row.shapes)
    assert printed.splitlines()[0].split() == [
        "op", "calls", "total", "mean", "share", "engine", "shapes"
    ]  # fmt: skip


def test_profile_cuts_long_tables_and_saves(capsys, tmp_path):
    table = tf.profile(lambda: [tf.ones([n]) for n in range(30)])
    lines = capsys.readouterr().out.splitlines()
    assert len(table.rows) == 1 and len(lines) == 3
    table = tf.profile(lambda: [tf.ones([n]) + 1.0 for n in range(1, 31)])
    lines = capsys.readouterr().out.splitlines()
    assert len(table.rows) == 31 and len(lines) == 1 + 20 + 1 + 1
    assert lines[-2].startswith("11 more")
    table.save(str(tmp_path))
    space, _ = profile_files(tmp_path)
    assert sum(len(line.events) for line in space.planes[0].lines if line.name != "memory") == 60


def test_profile_ends_when_the_function_fails():
    with pytest.raises(ZeroDivisionError):
        tf.profile(lambda: 1 / 0)
    assert Recorder.active is None
