"""tf.summary writes what TensorFlow writes, eagerly and in functions."""

import numpy as np
import pytest
from both_files import LIBRARIES, check, messages, values

import runnel as tf

RANDOM = np.random.default_rng(5)
PICTURES = RANDOM.random((4, 3, 5, 3)).astype(np.float32) * 1.4 - 0.2
GREY = RANDOM.integers(0, 256, (5, 3, 2, 1), np.uint8)
SOUND = (RANDOM.random((4, 20, 2)) * 2.4 - 1.2).astype(np.float32)


def every_kind(tf, step):
    done = [
        tf.summary.scalar("loss", 0.25, step=step),
        tf.summary.scalar("loss", tf.constant(3), step=step, description="how *bad* it is"),
        tf.summary.scalar("a b/c$", np.float64(1 / 3), step=step),
        tf.summary.histogram("weights", tf.constant([[-1.0, 2.0], [0.5, 0.75]]), step=step),
        tf.summary.histogram("few", [1, 2, 5], step=step, buckets=3, description="three"),
        tf.summary.image("float", PICTURES, step=step),
        tf.summary.image("grey", GREY, step=step, max_outputs=2, description="bytes"),
        tf.summary.image("none", GREY, step=step, max_outputs=0),
        tf.summary.audio("sound", SOUND, 8000, step=step, description="noise"),
        tf.summary.audio("short", SOUND[:1], 44100, step=step, max_outputs=1, encoding="wav"),
        tf.summary.text("note", "a **text**", step=step),
        tf.summary.text("table", [["a", "b"], ["c", "d"]], step=step),
        tf.summary.write("matrix", tf.eye(2), step=step),
        tf.summary.write("lazy", lambda: tf.constant([1, 2]), step=step, metadata=b"\x12\x01x"),
        tf.summary.experimental.write_raw_pb(b"\n\x08\n\x01q\x15\x00\x00\xc0?", step=step),
        tf.summary.experimental.write_raw_pb([b"", b""], step=step),
    ]
    with tf.name_scope("outer"):
        done.append(tf.summary.scalar("loss", 2.0, step=step))
        with tf.name_scope("inner"):
            done.append(tf.summary.text("note", "deep", step=step))
    return done


def test_every_kind_eagerly(tmp_path):
    def program(tf, folder):
        writer = tf.summary.create_file_writer(folder)
        with writer.as_default():
            done = every_kind(tf, 3) + every_kind(tf, tf.Variable(0, dtype=tf.int64))
        writer.close()
        return [bool(each) for each in done]

    rows = check(program, tmp_path)["."]
    assert len(rows) == 1 + 2 * 18


def test_every_kind_in_a_function(tmp_path):
    def program(tf, folder):
        writer = tf.summary.create_file_writer(folder)
        step = tf.Variable(7, dtype=tf.int64)

        @tf.function
        def run():
            with writer.as_default():
                done = every_kind(tf, step)
            step.assign_add(1)
            return done

        done = [*run(), *run()]
        writer.close()
        return [bool(each) for each in done]

    check(program, tmp_path)


def test_scalars_are_the_same_bytes(tmp_path):
    """But for the time, which is the first field."""
    files = {}
    for name in LIBRARIES:
        library = pytest.importorskip(name)
        with library.summary.create_file_writer(str(tmp_path / name)).as_default():
            for step in (0, 1, 127, 128, 300, 2**40, -1):
                library.summary.scalar("loss", step / 7, step=step, description="d")
                library.summary.scalar("läss", 1e-3, step=step)
        files[name] = [event.SerializeToString() for event in messages(tmp_path / name)["."]]
    assert files["tensorflow"] == files["runnel"]


@pytest.mark.parametrize(
    "data",
    [
        [],
        [2, 2, 2],
        [0.1, 0.2, 0.3, 0.7],
        [-1e30, 1e30, 5.0],
        [np.nan, 1.0],
        RANDOM.normal(size=1000),
        RANDOM.integers(-50, 50, (10, 10)),
        [True, False, True],
    ],
    ids=["none", "equal", "few", "wide", "nan", "normal", "integers", "booleans"],
)
@pytest.mark.parametrize("buckets", [None, 1, 0, 7])
def test_histograms(tmp_path, data, buckets):
    array = np.asarray(data)

    def program(tf, folder):
        with tf.summary.create_file_writer(folder).as_default(step=1):
            tf.summary.histogram("h", array, buckets=buckets)

            @tf.function(input_signature=[tf.TensorSpec(None, array.dtype)])
            def traced(values):
                tf.summary.histogram("traced", values, buckets=buckets)

            traced(array)

    check(program, tmp_path)


def test_steps_and_writers(tmp_path):
    def program(tf, folder):
        seen = []
        one = tf.summary.create_file_writer(folder + "/one")
        two = tf.summary.create_file_writer(folder + "/two", filename_suffix=".end")
        get_step, set_step = tf.summary.experimental.get_step, tf.summary.experimental.set_step
        with one.as_default(step=3) as entered:
            seen += [entered is one, get_step()]
            tf.summary.scalar("a", 1.0)
            with two.as_default():
                tf.summary.scalar("b", 1.0)
                seen.append(get_step())
            with two.as_default(step=tf.constant(9, tf.int64)):
                tf.summary.scalar("c", 1.0)
                set_step(10)
                tf.summary.scalar("d", 1.0)
            seen.append(get_step())
            set_step(tf.Variable(12, dtype=tf.int64))
            tf.summary.scalar("e", 1.0)
        seen.append(get_step())
        two.set_as_default(step=5)
        tf.summary.scalar("f", 1.0)
        two.set_as_default()
        tf.summary.scalar("g", 1.0)
        seen += [bool(tf.summary.should_record_summaries()), get_step()]
        tf.summary.flush()
        tf.summary.flush(one)
        with tf.summary.create_noop_writer().as_default(step=8):
            seen += [bool(tf.summary.scalar("h", 1.0, step=1)), get_step()]
        one.init(), one.flush(), one.close(), one.close(), one.flush(), two.close()
        for action in (one.as_default, one.set_as_default, one.init):
            try:
                action()
            except RuntimeError as failure:
                seen.append("already closed" in str(failure))
        return seen

    rows = check(program, tmp_path)
    assert [row[1] for row in rows["two"][1:]] == ["b", "c", "d", "f", "g", "h"]
    assert [path.name.endswith(".end") for path in (tmp_path / "runnel" / "two").iterdir()] == [
        True
    ]


def test_conditions(tmp_path):
    def program(tf, folder):
        seen = []
        step = tf.Variable(0, dtype=tf.int64)
        with tf.summary.create_file_writer(folder).as_default(step=step):

            @tf.function
            def traced(x):
                with tf.summary.record_if(x > 1.0):
                    done = tf.summary.scalar("above", x)
                with tf.summary.record_if(lambda: tf.equal(step % 2, 0)):
                    tf.summary.histogram("even", [x])
                    tf.summary.experimental.write_raw_pb(b"")
                with tf.summary.record_if(False):
                    tf.summary.scalar("never", x)
                return done

            for number in range(4):
                seen.append(bool(traced(tf.constant(float(number)))))
                step.assign_add(1)
            conditions = (True, None, False, lambda: tf.constant(True), tf.constant(False))
            for place, condition in enumerate(conditions):
                with tf.summary.record_if(condition):
                    seen.append(bool(tf.summary.should_record_summaries()))
                    seen.append(bool(tf.summary.scalar("eager", place)))
            with tf.summary.record_if(lambda: False):
                seen.append(bool(tf.summary.scalar("no step is needed", 1.0, step=None)))
        seen.append(bool(tf.summary.scalar("no writer", 1.0)))
        return seen

    check(program, tmp_path)


def test_effects_in_loops_and_conditions_are_in_program_order(tmp_path):
    def program(tf, folder):
        writer = tf.summary.create_file_writer(folder)

        @tf.function
        def run(count):
            with writer.as_default():
                for i in tf.range(count):
                    tf.summary.scalar("i", i, step=tf.cast(i, tf.int64))
                    if i % 2 == 0:
                        tf.summary.scalar("even", i, step=tf.cast(i, tf.int64))
            return count

        run(tf.constant(5))
        writer.close()

    rows = check(program, tmp_path)["."]
    odd, even = ["while/i"], ["while/i", "while/cond/even"]
    assert [row[1] for row in rows[1:]] == [*even, *odd, *even, *odd, *even]


def test_names_in_a_graph(tmp_path):
    writers = {}
    for name in LIBRARIES:
        library = pytest.importorskip(name)
        with library.summary.create_file_writer(str(tmp_path)).as_default():

            @library.function
            def run(x, library=library):
                library.summary.scalar("loss", x, step=1)
                with library.name_scope("deep"):
                    library.summary.scalar("loss", x, step=1)
                    library.summary.histogram("loss", [x], step=1)
                library.summary.experimental.write_raw_pb(b"", step=1)
                return x

            graph = run.get_concrete_function(library.TensorSpec([], library.float32)).graph
        kinds = ("WriteSummary", "WriteRawProtoSummary")
        writers[name] = [op.name for op in graph.get_operations() if op.type in kinds]
    assert writers["runnel"] == writers["tensorflow"]


def wrong(action):
    """A program that is refused."""

    def program(tf, folder):
        with tf.summary.create_file_writer(folder).as_default(step=1):
            action(tf)

    return program


@pytest.mark.parametrize(
    "action",
    [
        lambda tf: tf.summary.scalar("x", [1.0, 2.0]),
        lambda tf: tf.summary.scalar("x", "text"),
        lambda tf: tf.summary.scalar("x", 1.0, step=2.5),
        lambda tf: tf.summary.scalar("x", 1.0, step="3"),
        lambda tf: tf.summary.scalar("x", 1.0, step=tf.constant(3)),
        lambda tf: tf.summary.scalar("x", 1.0, step=tf.Variable(3)),
        lambda tf: tf.summary.histogram("x", ["text"]),
        lambda tf: tf.summary.image("x", tf.zeros([2, 3, 3])),
        lambda tf: tf.summary.image("x", tf.zeros([1, 2, 3, 5])),
        lambda tf: tf.summary.image("x", tf.zeros([1, 2, 3, 1]), max_outputs=-1),
        lambda tf: tf.summary.audio("x", tf.zeros([2, 5]), 8000),
        lambda tf: tf.summary.audio("x", tf.zeros([2, 5, 1], tf.float64), 8000),
        lambda tf: tf.summary.audio("x", tf.zeros([2, 5, 1]), 8000, encoding="mp3"),
        lambda tf: tf.summary.text("x", 3),
        lambda tf: tf.summary.experimental.write_raw_pb(b"no message"),
        lambda tf: tf.summary.graph("no graph"),
        lambda tf: tf.summary.trace_export("not on"),
        lambda tf: tf.function(lambda: tf.summary.graph(tf.Graph()))(),
        lambda tf: tf.function(lambda x: tf.summary.scalar("x", x))(tf.zeros([2])),
        lambda tf: tf.function(
            lambda x: tf.summary.scalar("x", x), input_signature=[tf.TensorSpec(None)]
        )(1.0),
        lambda tf: tf.summary.create_file_writer(None),
        lambda tf: tf.summary.create_file_writer(3),
        lambda tf: tf.summary.create_file_writer(__file__ + "/below"),
        lambda tf: tf.summary.create_file_writer("/proc/none/such"),
        lambda tf: tf.summary.create_file_writer("/tmp/unused", max_queue="many"),
        lambda tf: under(tf.summary.record_if(3), tf),
    ],
)
def test_bad_input(action, tmp_path):
    check(wrong(action), tmp_path)
    with pytest.raises(Exception) as failure:
        wrong(action)(tf, str(tmp_path / "again"))
    assert len(str(failure.value)) > 20


def under(condition, tf):
    with condition:
        tf.summary.scalar("x", 1.0)


def test_a_missing_step(tmp_path):
    def program(tf, folder):
        with tf.summary.create_file_writer(folder).as_default():
            tf.summary.scalar("x", 1.0)

    check(program, tmp_path)
    with pytest.raises(ValueError, match="No step set"):
        program(tf, str(tmp_path / "again"))


def test_a_closed_writer_is_an_error(tmp_path):
    def program(tf, folder):
        writer = tf.summary.create_file_writer(folder)
        with writer.as_default(step=1):
            writer.close()
            tf.summary.scalar("x", 1.0)

    check(program, tmp_path)
    with pytest.raises(tf.errors.NotFoundError, match="is closed"):
        program(tf, str(tmp_path / "again"))


def test_threads_have_defaults_of_their_own(tmp_path):
    import threading

    seen = []
    with tf.summary.create_file_writer(tmp_path).as_default(step=1):
        thread = threading.Thread(
            target=lambda: seen.append((
                bool(tf.summary.should_record_summaries()), tf.summary.experimental.get_step(),
            ))
        )  # fmt: skip
        thread.start()
        thread.join()
    assert seen == [(False, None)]


def test_scopes(tmp_path):
    for names in ("sc", "s c", "/sc/"):
        found = []
        for name in LIBRARIES:
            library = pytest.importorskip(name)
            scope = library.summary.experimental.summary_scope
            with library.name_scope("outer"), scope(names, values=[1]) as inside:
                found.append((inside, library.get_current_name_scope()))
        assert found[0] == found[1]


def test_gradients_write_nothing_twice(tmp_path):
    def program(tf, folder):
        writer = tf.summary.create_file_writer(folder)

        @tf.function
        def inner(x):
            tf.summary.scalar("inner", x, step=1)
            return x * x

        @tf.function
        def outer(x):
            with writer.as_default():
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = inner(x)
                    if x > 0.0:
                        with tf.name_scope(""):
                            tf.summary.histogram("positive", x, step=2)
                        y = y * 2.0
                gradient = tape.gradient(y, x)
                tf.summary.scalar("gradient", gradient, step=3)
            return y

        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = outer(tf.convert_to_tensor(x))
        found = [float(y), float(tape.gradient(y, x))]
        writer.close()
        return found

    rows = check(program, tmp_path)["."]
    assert [row[1] for row in rows[1:]] == ["inner", "positive", "gradient"]


def test_a_writer_made_in_a_function(tmp_path):
    @tf.function
    def run(x):
        with tf.summary.create_file_writer(str(tmp_path)).as_default(step=1):
            return tf.summary.scalar("x", x)

    assert bool(run(tf.constant(1.0))) and bool(run(tf.constant(2.0)))
    assert [row[-1][1] for row in values(tmp_path)["."][1:]] == [1.0, 2.0]


def test_functions_run_eagerly(tmp_path):
    tf.config.run_functions_eagerly(True)
    try:
        with tf.summary.create_file_writer(str(tmp_path)).as_default(step=1):
            tf.function(lambda x: tf.summary.scalar("x", x))(tf.constant(1.0))
    finally:
        tf.config.run_functions_eagerly(False)
    assert len(values(tmp_path)["."]) == 2
