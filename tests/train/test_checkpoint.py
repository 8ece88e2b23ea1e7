"""tf.train.Checkpoint beside the original's: files, results, errors, and values that come later."""

import gc
import os
import threading
import tracemalloc

import numpy as np
import pytest
import tensorflow as original

import runnel as tf

BOTH = [(original, tf), (tf, original), (tf, tf)]
VALUE = ".ATTRIBUTES/VARIABLE_VALUE"


def module_with_everything(tf):
    class Everything(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([1.0, 2.0], name="w")
            self.nested = [tf.Variable(1.0), {"a/b": tf.Variable(2.0), "c.d": 3}]
            self.pair = (tf.Variable(3.0), 4)
            self.number = 5
            self.nothing = []
            self._private = tf.Variable(7)
            self.generator = tf.random.Generator.from_seed(3)
            self.function = tf.function(lambda: 1)

    return Everything()


def variables_of(everything):
    return [
        *[everything.w, everything.nested[0], everything.nested[1]["a/b"], everything.pair[0]],
        *[everything._private, everything.generator.state],
    ]


@pytest.mark.parametrize("writer, reader", BOTH)
def test_objects_of_every_kind_go_both_ways(writer, reader, tmp_path):
    def objects(module):
        everything = module_with_everything(module)
        parts = {
            "everything": everything,
            "step": module.Variable(1, dtype=module.int64),
            "listed": [module.Variable(1.0)],
            "named": {"x": module.Variable(1.0), "y": [module.Variable(2.0)]},
            "inner": module.train.Checkpoint(a=module.Variable(4.0)),
        }
        others = [parts["step"], parts["listed"][0], parts["named"]["y"][0], parts["inner"].a]
        return parts, variables_of(everything) + others

    parts, variables = objects(writer)
    for number, variable in enumerate(variables):
        variable.assign(np.full(variable.shape, number + 10))
    path = writer.train.Checkpoint(**parts).save(str(tmp_path / "ckpt"))
    again, targets = objects(reader)
    checkpoint = reader.train.Checkpoint(**again)
    checkpoint.restore(path).assert_consumed()
    for number, variable in enumerate(targets):
        np.testing.assert_array_equal(variable.numpy(), np.full(variable.shape, number + 10))
    assert int(checkpoint.save_counter) == 1
    assert reader.train.list_variables(path) == reader.train.list_variables(
        reader.train.Checkpoint(**again).save(str(tmp_path / "names"))
    )


@pytest.mark.parametrize("writer, reader", BOTH)
def test_a_root_and_more_beside_it(writer, reader, tmp_path):
    path = writer.train.Checkpoint(module_with_everything(writer), more=writer.Variable(9.0)).save(
        str(tmp_path / "ckpt")
    )
    more = reader.Variable(0.0)
    status = reader.train.Checkpoint(module_with_everything(reader), more=more).restore(path)
    status.assert_consumed()
    assert more.numpy() == 9.0


@pytest.mark.parametrize("writer", [original, tf])
def test_a_variable_as_the_root(writer, tmp_path):
    path = writer.train.Checkpoint(writer.Variable(4.0)).write(str(tmp_path / "v"))
    variable = tf.Variable(0.0)
    tf.train.Checkpoint(variable).read(path).assert_consumed()
    assert variable.numpy() == 4.0


def test_checkpoints_of_names_only(tmp_path):
    older = original.compat.v1
    with original.Graph().as_default(), older.Session() as session:
        older.get_variable("scope/v", initializer=[1.0, 2.0])
        session.run(older.global_variables_initializer())
        path = older.train.Saver().save(session, str(tmp_path / "named"))
    variable = tf.Variable([0.0, 0.0], name="scope/v")
    tf.train.Checkpoint(any_name=variable).restore(path).assert_consumed()
    np.testing.assert_array_equal(variable.numpy(), [1.0, 2.0])


def outcome(action):
    """What an action gives, or the class of its exception."""
    try:
        return action()
    except Exception as error:
        return type(error).__name__


WRONG = {
    "number": lambda tf, path: tf.train.Checkpoint(a=3),
    "tensor": lambda tf, path: tf.train.Checkpoint(a=tf.constant(1)),
    "root number": lambda tf, path: tf.train.Checkpoint(3),
    "root list": lambda tf, path: tf.train.Checkpoint([tf.Variable(1)]),
    "taken": lambda tf, path: tf.train.Checkpoint(
        tf.train.Checkpoint(v=tf.Variable(1.0)), v=tf.Variable(2.0)
    ),
    "shape": lambda tf, path: tf.train.Checkpoint(v=tf.Variable([1.0, 2.0, 3.0])).restore(path),
    "dtype": lambda tf, path: tf.train.Checkpoint(v=tf.Variable([1, 2])).restore(path),
    "missing": lambda tf, path: tf.train.Checkpoint(v=tf.Variable(1.0)).restore(path + "none"),
    "read missing": lambda tf, path: tf.train.Checkpoint(v=tf.Variable(1.0)).read(path + "none"),
    "folder": lambda tf, path: tf.train.Checkpoint().restore(os.path.dirname(path)),
    "unused": lambda tf, path: (
        tf.train.Checkpoint(v=tf.Variable([1.0, 2.0]))
        .restore(path)
        .expect_partial()
        .assert_consumed()
    ),
    "unmatched": lambda tf, path: (
        tf.train.Checkpoint(q=tf.Variable(1.0))
        .restore(path)
        .expect_partial()
        .assert_existing_objects_matched()
    ),
    "none": lambda tf, path: tf.train.Checkpoint().restore(None).assert_consumed(),
    "key": lambda tf, path: tf.train.Checkpoint(d={3: tf.Variable(1.0)}).save(path),
    "no tensor": lambda tf, path: tf.train.load_variable(path, "nothing"),
    "no file": lambda tf, path: tf.train.list_variables(path + "none"),
    "empty folder": lambda tf, path: tf.train.load_checkpoint(os.path.dirname(path) + "/.."),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_uses_raise_as_in_the_original(name, tmp_path):
    (tmp_path / "a").mkdir()
    path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0]), w=tf.Variable(3)).save(
        str(tmp_path / "a" / "ckpt")
    )
    raised = outcome(lambda: WRONG[name](original, path))
    assert isinstance(raised, str)
    assert outcome(lambda: WRONG[name](tf, path)) == raised


def test_nothing_is_overwritten_where_something_does_not_fit(tmp_path):
    path = tf.train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable([1.0])).save(str(tmp_path / "c"))
    a = tf.Variable(5.0)
    with pytest.raises(ValueError, match=r"\(1,\).*\(2,\)"):
        tf.train.Checkpoint(a=a, b=tf.Variable([1.0, 2.0])).restore(path)
    assert a.numpy() == 5.0


def test_values_wait_for_their_variables_and_come_once(tmp_path):
    path = tf.train.Checkpoint(m=module_with_everything(tf)).save(str(tmp_path / "ckpt"))
    module = tf.Module()
    status = tf.train.Checkpoint(m=module).restore(path)
    assert "waiting" in str(status)
    module.w = tf.Variable([0.0, 0.0])
    np.testing.assert_array_equal(module.w.numpy(), [1.0, 2.0])
    module.nested = [tf.Variable(0.0), {"a/b": tf.Variable(0.0)}]
    assert module.nested[1]["a/b"].numpy() == 2.0
    with pytest.raises(AssertionError, match="Unresolved object"):
        status.assert_consumed()
    module.pair = (tf.Variable(0.0),)
    module._private = tf.Variable(0)
    module.generator = tf.random.Generator.from_seed(1)
    status.assert_consumed()
    assert "0 waiting for their variables, 0 unused" in str(status)
    module.w = tf.Variable([0.0, 0.0])
    np.testing.assert_array_equal(module.w.numpy(), [0.0, 0.0])
    assert tf.Module.__setattr__ is object.__setattr__


def test_hooks_go_when_the_objects_do(tmp_path):
    path = tf.train.Checkpoint(m=module_with_everything(tf)).save(str(tmp_path / "ckpt"))
    checkpoint = tf.train.Checkpoint(m=tf.Module())
    checkpoint.restore(path).expect_partial()
    assert tf.Module.__setattr__ is not object.__setattr__
    del checkpoint
    gc.collect()
    tf.Module().v = tf.Variable(1.0)
    assert tf.Module.__setattr__ is object.__setattr__


def test_attributes_set_later_are_saved_and_restored(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).save(str(tmp_path / "ckpt"))
    checkpoint = tf.train.Checkpoint()
    status = checkpoint.restore(path)
    checkpoint.v = tf.Variable([0.0, 0.0])
    status.assert_consumed()
    np.testing.assert_array_equal(checkpoint.v.numpy(), [1.0, 2.0])


def test_what_an_update_returns_is_the_variable(tmp_path):
    def checkpoint(number):
        v = tf.Variable(0.0)
        return v, tf.train.Checkpoint(first=v, again=v.assign(number))

    path = checkpoint(3.0)[1].save(str(tmp_path / "ckpt"))
    v, target = checkpoint(0.0)
    target.restore(path).assert_consumed()
    assert v.numpy() == 3.0


def test_a_restored_variable_changes_in_place_without_changing_what_was_read(tmp_path):
    v = tf.Variable([1.0, 2.0])
    checkpoint = tf.train.Checkpoint(v=v)
    path = checkpoint.save(str(tmp_path / "ckpt"))
    checkpoint.restore(path)
    read = v.read_value()
    v.assign_add([1.0, 1.0])
    np.testing.assert_array_equal(read.numpy(), [1.0, 2.0])
    np.testing.assert_array_equal(v.numpy(), [2.0, 3.0])


def test_writing_in_a_thread_keeps_the_values_of_its_moment(tmp_path, monkeypatch):
    from runnel.train import checkpoint as module

    may_write = threading.Event()
    write_bundle = module.write_bundle

    def slowly(*args):
        may_write.wait()
        write_bundle(*args)

    monkeypatch.setattr(module, "write_bundle", slowly)
    v = tf.Variable(np.arange(4.0))
    checkpoint = tf.train.Checkpoint(v=v)
    options = tf.train.CheckpointOptions(enable_async=True)
    path = checkpoint.save(str(tmp_path / "ckpt"), options)
    v.assign_add(np.ones(4))
    assert tf.train.latest_checkpoint(str(tmp_path)) is None
    may_write.set()
    checkpoint.sync()
    assert tf.train.latest_checkpoint(str(tmp_path)) == path
    np.testing.assert_array_equal(tf.train.load_variable(path, f"v/{VALUE}"), np.arange(4.0))


def test_errors_of_the_thread_come_out_of_sync(tmp_path):
    (tmp_path / "file").write_text("")
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    checkpoint.write(str(tmp_path / "file" / "x"), tf.train.CheckpointOptions(enable_async=True))
    with pytest.raises(tf.errors.FailedPreconditionError, match="Not a directory"):
        checkpoint.sync()


@pytest.mark.parametrize("module", [original, tf])
def test_callbacks_after_writing(module, tmp_path):
    seen = []
    options = module.train.CheckpointOptions(
        experimental_write_callbacks=[seen.append, lambda: seen.append("done")]
    )
    path = module.train.Checkpoint(v=module.Variable(1.0)).save(str(tmp_path / "ckpt"), options)
    assert seen == [path, "done"]


def test_the_state_file_is_the_originals(tmp_path):
    texts = []
    for module in (original, tf):
        folder = tmp_path / module.__name__
        checkpoint = module.train.Checkpoint(v=module.Variable(1.0))
        checkpoint.save(str(folder / "ckpt"))
        checkpoint.save(str(folder / "ckpt"))
        texts.append((folder / "checkpoint").read_text())
        state = module.train.get_checkpoint_state(str(folder))
        assert state.model_checkpoint_path == str(folder / "ckpt-2")
        assert list(state.all_model_checkpoint_paths) == [str(folder / "ckpt-2")]
    assert texts[0] == texts[1]


def test_views(tmp_path):
    found = []
    for module in (original, tf):
        root = module.train.Checkpoint(a=module.Variable(1.0), l=[module.Variable(2.0)])
        view = module.train.CheckpointView(root.save(str(tmp_path / module.__name__)))
        other = module.train.Checkpoint(a=module.Variable(1.0), q=module.Variable(3.0))
        matches, only_saved, only_here = view.diff(other)
        found.append(
            (view.children(0), view.descendants(), sorted(matches), only_saved, len(only_here))
        )
    assert found[0] == found[1]


def test_memory_beyond_the_model_is_that_of_its_largest_tensor(tmp_path):
    def peak(action):
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        action()
        return tracemalloc.get_traced_memory()[1] - before

    tracemalloc.start()
    try:
        sizes = [100_000, 500_000, 1_000_000, 1_000_000, 300_000]
        parts = [tf.Variable(np.ones(size)) for size in sizes]
        checkpoint = tf.train.Checkpoint(parts=parts)
        # The first time loads modules.
        path = checkpoint.write(str(tmp_path / "first"))
        checkpoint.read(path)
        limit = 1.2 * 8 * max(sizes)
        assert peak(lambda: checkpoint.write(str(tmp_path / "second"))) < limit
        assert peak(lambda: checkpoint.read(path).assert_consumed()) < limit
        late = tf.train.Checkpoint()
        status = late.read(path)
        assert peak(lambda: str(status)) < limit
    finally:
        tracemalloc.stop()
