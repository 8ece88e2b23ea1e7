"""Checkpoints of sessions: written by one, read by the other."""

import numpy as np
import pytest
import tensorflow

import runnel

LIBRARIES = {"tensorflow": tensorflow, "runnel": runnel}


def build(v1, tf):
    w = v1.get_variable("layer/w", initializer=tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    n = v1.Variable(7, name="n", dtype=tf.int64)
    return w, n


@pytest.mark.parametrize("writer", LIBRARIES)
@pytest.mark.parametrize("reader", LIBRARIES)
def test_one_writes_and_the_other_reads(writer, reader, tmp_path):
    tf = LIBRARIES[writer]
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        w, n = build(v1, tf)
        saver = v1.train.Saver(max_to_keep=2)
        paths = []
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for step in range(3):
                session.run([w.assign_add([[1.0, 1.0], [1.0, 1.0]]), n.assign_add(1)])
                paths.append(saver.save(session, str(tmp_path / "model"), global_step=step))
        assert [str(each) for each in saver.last_checkpoints] == paths[1:]
    assert v1.train.latest_checkpoint(str(tmp_path)) == paths[-1]
    assert not (tmp_path / "model-0.index").exists()
    tf = LIBRARIES[reader]
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        w, n = build(v1, tf)
        with v1.Session() as session:
            v1.train.Saver().restore(session, v1.train.latest_checkpoint(str(tmp_path)))
            np.testing.assert_array_equal(session.run(w), [[4.0, 5.0], [6.0, 7.0]])
            assert session.run(n) == 10
            v1.train.Saver({"layer/w": w}).restore(session, paths[1])
            np.testing.assert_array_equal(session.run(w), [[3.0, 4.0], [5.0, 6.0]])


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_cannot_be_restored(library, tmp_path):
    tf = LIBRARIES[library]
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="No variables to save"):
            v1.train.Saver()
        w, _ = build(v1, tf)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            path = v1.train.Saver([w]).save(session, str(tmp_path / "model"))
            with pytest.raises(tf.errors.NotFoundError):
                v1.train.Saver({"other": w}).restore(session, path)
            with pytest.raises(ValueError, match="not a valid checkpoint"):
                v1.train.Saver().restore(session, str(tmp_path / "none"))


def test_another_shape_is_refused(tmp_path):
    v1 = runnel.compat.v1
    with runnel.Graph().as_default(), v1.Session() as session:
        w, _ = build(v1, runnel)
        session.run(v1.global_variables_initializer())
        path = v1.train.Saver([w]).save(session, str(tmp_path / "model"))
        long = v1.get_variable("long", [4])
        with pytest.raises(runnel.errors.InvalidArgumentError, match="layer/w"):
            v1.train.Saver({"layer/w": long}).restore(session, path)
        v1.train.Saver({"layer/w": long}, reshape=True).restore(session, path)
        np.testing.assert_array_equal(session.run(long), [1.0, 2.0, 3.0, 4.0])
