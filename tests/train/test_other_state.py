"""Checkpoints of what is no variable: lookup tables, Python state; averages and coordinators."""

import threading

import numpy as np
import pytest
import tensorflow as original

import runnel as tf

BOTH = [(original, tf), (tf, original), (tf, tf)]


def tables(module):
    lookup = module.lookup.experimental
    return {
        "words": lookup.MutableHashTable(module.string, module.int64, -1),
        "vectors": lookup.MutableHashTable(module.int64, module.float32, [0.0, 0.0]),
        "dense": lookup.DenseHashTable(
            module.int64, module.float32, -1.0, empty_key=-1, deleted_key=-2, initial_num_buckets=16
        ),
        "names": lookup.DenseHashTable(
            module.string, module.int64, -1, empty_key="", deleted_key="-", initial_num_buckets=16
        ),
        "fixed": module.lookup.StaticHashTable(
            module.lookup.KeyValueTensorInitializer(["a"], [1]), 0
        ),
    }


# Keys that share places in a table of 16.
KEYS = np.array([1, 17, 33, 5, 21, 7], np.int64)


@pytest.mark.parametrize("writer, reader", BOTH)
def test_tables_go_both_ways(writer, reader, tmp_path):
    saved = tables(writer)
    saved["words"].insert(["a", "b"], np.array([1, 2]))
    saved["vectors"].insert(np.array([3]), [[1.0, 2.0]])
    saved["dense"].insert(KEYS, KEYS.astype(np.float32))
    saved["dense"].remove(KEYS[1:2])
    names = [f"name {i}" for i in range(9)]
    saved["names"].insert(names, np.arange(9))
    path = writer.train.Checkpoint(**saved).save(str(tmp_path / "ckpt"))

    loaded = tables(reader)
    loaded["words"].insert(["z"], np.array([9]))
    loaded["dense"].insert(np.array([99]), [9.0])
    reader.train.Checkpoint(**loaded).restore(path).assert_consumed()
    found = loaded["words"].lookup(reader.constant(["a", "b", "z"])).numpy()
    np.testing.assert_array_equal(found, [1, 2, -1])
    np.testing.assert_array_equal(
        loaded["vectors"].lookup(np.array([3, 4])).numpy(), [[1.0, 2.0], [0.0, 0.0]]
    )
    expected = KEYS.astype(np.float32)
    expected[1] = -1
    np.testing.assert_array_equal(loaded["dense"].lookup(KEYS).numpy(), expected)
    assert loaded["dense"].lookup(np.array([99])).numpy() == [-1.0]
    assert int(loaded["dense"].size()) == 5
    np.testing.assert_array_equal(
        loaded["names"].lookup(reader.constant(names)).numpy(), np.arange(9)
    )


def test_a_table_made_later_gets_its_values(tmp_path):
    table = tables(tf)["words"]
    table.insert(["a"], [5])
    path = tf.train.Checkpoint(table=table).save(str(tmp_path / "ckpt"))
    checkpoint = tf.train.Checkpoint()
    status = checkpoint.restore(path)
    checkpoint.table = tables(tf)["words"]
    status.assert_consumed()
    assert checkpoint.table.lookup(["a"]).numpy() == [5]


def test_a_table_of_other_values_is_refused_and_kept(tmp_path):
    for module in (original, tf):
        table = tables(module)["words"]
        table.insert(["a"], np.array([5]))
        path = module.train.Checkpoint(table=table).save(str(tmp_path / module.__name__))
        other = module.lookup.experimental.MutableHashTable(module.string, module.int32, -1)
        other.insert(["b"], [6])
        with pytest.raises(module.errors.InvalidArgumentError, match="table-values"):
            module.train.Checkpoint(table=other).restore(path)
        assert other.lookup(module.constant(["b"])).numpy() == [6]


def state(module, text):
    class State(module.train.experimental.PythonState):
        def __init__(self):
            self.text = text

        def serialize(self):
            return self.text

        def deserialize(self, string_value):
            self.text = string_value

    return State()


@pytest.mark.parametrize("writer, reader", BOTH)
def test_python_state_goes_both_ways(writer, reader, tmp_path):
    path = writer.train.Checkpoint(state=state(writer, "kept")).save(str(tmp_path / "ckpt"))
    target = state(reader, "")
    reader.train.Checkpoint(state=target).restore(path).assert_consumed()
    assert target.text == b"kept"
    assert [name for name, _ in reader.train.list_variables(path)][2:] == [
        "state/.ATTRIBUTES/py_state"
    ]


def test_python_state_needs_both_methods():
    for module in (original, tf):
        with pytest.raises(TypeError):
            module.train.experimental.PythonState()


def test_moving_averages_are_the_originals():
    def history(module):
        v, w = module.Variable(1.0, name="v"), module.Variable([1.0, 2.0], dtype=module.float64)
        count = module.Variable(0)
        averages = [
            module.train.ExponentialMovingAverage(0.5),
            module.train.ExponentialMovingAverage(0.9, num_updates=count, name="slow"),
            module.train.ExponentialMovingAverage(0.9, zero_debias=True),
        ]
        told = []
        for step in range(4):
            v.assign_add(step)
            w.assign(w * 2)
            count.assign_add(1)
            for each in averages:
                assert each.apply([v, w]) is None
                told += [each.average(v).numpy(), *each.average(w).numpy()]
        each = averages[1]
        told += [each.name, each.average_name(v), each.average(count)]
        told += [list(each.variables_to_restore([v])), each.average(v).trainable]
        return told

    ours, theirs = history(tf), history(original)
    np.testing.assert_allclose(ours[:36], theirs[:36], rtol=1e-6)
    assert ours[36:] == theirs[36:]


def test_averages_inside_a_function():
    v = tf.Variable(1.0)
    average = tf.train.ExponentialMovingAverage(0.5)
    average.apply([v])

    @tf.function
    def step():
        v.assign_add(2.0)
        average.apply([v])

    step()
    step()
    assert average.average(v).numpy() == 3.5


@pytest.mark.parametrize("given", [lambda tf: [tf.constant(1.0)], lambda tf: [tf.Variable(1)]])
def test_what_cannot_be_averaged(given):
    for module in (original, tf):
        with pytest.raises(TypeError):
            module.train.ExponentialMovingAverage(0.5).apply(given(module))


@pytest.mark.parametrize("module", [original, tf])
def test_threads_stop_together(module):
    coordinator = module.train.Coordinator()
    stopped = []

    def wait():
        coordinator.wait_for_stop()
        stopped.append(1)

    def fail():
        with coordinator.stop_on_exception():
            raise ValueError("broken")

    threads = [threading.Thread(target=each) for each in (wait, wait, fail)]
    coordinator.register_thread(threads[0])
    for thread in threads:
        thread.start()
    with pytest.raises(ValueError, match="broken"):
        coordinator.join(threads)
    assert len(stopped) == 2 and coordinator.joined and coordinator.should_stop()
    with pytest.raises(ValueError, match="broken"):
        coordinator.raise_requested_exception()
    coordinator.clear_stop()
    assert not coordinator.should_stop() and not coordinator.joined
    coordinator.raise_requested_exception()


@pytest.mark.parametrize("module", [original, tf])
def test_the_end_of_data_is_no_error(module):
    coordinator = module.train.Coordinator()
    coordinator.request_stop(module.errors.OutOfRangeError(None, None, "end"))
    coordinator.join()
    assert coordinator.should_stop()


@pytest.mark.parametrize("module", [original, tf])
def test_threads_that_do_not_stop(module):
    coordinator = module.train.Coordinator()
    end = threading.Event()
    thread = threading.Thread(target=end.wait, name="stubborn")
    thread.start()
    coordinator.request_stop()
    with pytest.raises(RuntimeError, match="stubborn"):
        coordinator.join([thread], stop_grace_period_secs=0.05)
    coordinator.join([thread], stop_grace_period_secs=0.05, ignore_live_threads=True)
    end.set()
