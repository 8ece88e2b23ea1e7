"""Checkpoints of objects whose variables belong to a graph, written and read in sessions."""

import os

import numpy as np
import pytest
import tensorflow
from both_v1 import agree, error_of, same

import runnel

LIBRARIES = [tensorflow, runnel]


def saved(tf, directory):
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        a, b = tf.Variable(1.0, name="a"), tf.Variable([1, 2], name="b")
        checkpoint = tf.train.Checkpoint(a=a, b=b)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            session.run(a.assign_add(4.0))
            paths = [checkpoint.save(f"{directory}/c"), checkpoint.save(f"{directory}/c")]
            session.run(a.assign_add(1.0))
            paths.append(checkpoint.write(f"{directory}/w"))
            counter = session.run(checkpoint.save_counter)
    return [[os.path.basename(path) for path in paths], counter]


def test_saving(tmp_path):
    found = []
    for tf in LIBRARIES:
        directory = f"{tmp_path}/{tf.__name__}"
        os.mkdir(directory)
        found.append(saved(tf, directory))
        reader = tensorflow.train.load_checkpoint(f"{directory}/c-2")
        shapes = reader.get_variable_to_shape_map()
        found[-1] += [shapes, reader.get_tensor("a/.ATTRIBUTES/VARIABLE_VALUE")]
        found[-1].append(reader.get_tensor("save_counter/.ATTRIBUTES/VARIABLE_VALUE"))
        found[-1].append(os.path.basename(tf.train.latest_checkpoint(directory)))
        found[-1][2] = dict(sorted(shapes.items()))
    same(*found)


@pytest.mark.parametrize("writer", LIBRARIES)
def test_restoring(tmp_path, writer):
    saved(writer, str(tmp_path))

    def program(v1, tf):
        a, b, other = tf.Variable(10.0), tf.Variable([10, 20]), tf.Variable(3.0)
        whole, part = tf.train.Checkpoint(a=a, b=b), tf.train.Checkpoint(a=a, other=other)
        # The status is there before the session.
        status = whole.restore(f"{tmp_path}/c-1")
        status.assert_consumed()
        partial = part.restore(f"{tmp_path}/c-2").expect_partial()
        read = whole.read(f"{tmp_path}/w").expect_partial()
        nothing = part.restore(None)
        found = [error_of(partial.assert_consumed), error_of(partial.assert_nontrivial_match),
                 error_of(nothing.run_restore_ops)]  # fmt: skip
        with v1.Session() as session:
            status.run_restore_ops()
            found.append(session.run([a, b]))
            session.run(a.assign(7.0))
            status.run_restore_ops(session)
            found.append(session.run([a, whole.save_counter]))
            read.run_restore_ops()
            found.append(session.run(a))
        with v1.Session() as session:
            partial.initialize_or_restore(session)
            found.append(session.run([a, other, part.save_counter]))
        with v1.Session() as session:
            nothing.initialize_or_restore(session)
            found.append(session.run([a, other]))
        return found

    agree(program)


def test_model_and_optimizer(tmp_path):
    def program(v1, tf):
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        x = v1.placeholder(tf.float32, [None, 2])
        optimizer = v1.train.AdamOptimizer(0.1)
        step = optimizer.minimize(tf.reduce_sum(model(x)))
        checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
        found = []
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            session.run(step, {x: [[1.0, 2.0]]})
            path = checkpoint.save(f"{tmp_path}/{tf.__name__}/m")
            found += [session.run(model.weights), tf.train.list_variables(path)]
            session.run(step, {x: [[5.0, 2.0]]})
            checkpoint.restore(path).assert_consumed().run_restore_ops()
            found.append(session.run(model.weights))
            session.run(step, {x: [[1.0, 2.0]]})
            return [*found, session.run(model.weights)]

    agree(program, rtol=1e-4)


def test_manager(tmp_path):
    def program(v1, tf):
        a = tf.Variable(1.0)
        directory = f"{tmp_path}/{tf.__name__}"
        manager = tf.train.CheckpointManager(tf.train.Checkpoint(a=a), directory, max_to_keep=2)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for _ in range(3):
                session.run(a.assign_add(1.0))
                manager.save()
            return [os.path.basename(path) for path in manager.checkpoints]

    agree(program)


def test_weights_of_a_model(tmp_path):
    def program(v1, tf):
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        model(v1.placeholder(tf.float32, [None, 2]))
        path = f"{tmp_path}/{tf.__name__}"
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            model.save_weights(path)
            session.run(model.weights[0].assign([[5.0], [5.0]]))
            model.load_weights(path)
            return session.run(model.weights)

    agree(program)


def test_saver_of_a_keras_model(tmp_path):
    """Files of one are read by the other: the weights have the same names."""
    batch = np.array([[1.0, 2.0]], np.float32)

    def made(v1, tf, value):
        layers = tf.keras.layers
        model = tf.keras.Sequential([
            layers.Dense(2, kernel_initializer="ones"),
            layers.BatchNormalization(),
            tf.keras.Sequential([layers.Dense(1, kernel_initializer="ones")]),
        ])  # fmt: skip
        x = v1.placeholder(tf.float32, [None, 2])
        return x, model(x) * value, v1.train.Saver()

    for writer, reader in (LIBRARIES, LIBRARIES[::-1]):
        path = f"{tmp_path}/{writer.__name__}/model"
        with writer.Graph().as_default(), writer.compat.v1.Session() as session:
            x, y, saver = made(writer.compat.v1, writer, 1.0)
            session.run(writer.compat.v1.global_variables_initializer())
            session.run(
                [each.assign_add(each + 0.5) for each in writer.compat.v1.global_variables()]
            )
            expected = session.run(y, {x: batch})
            path = saver.save(session, path, global_step=3)
        with reader.Graph().as_default(), reader.compat.v1.Session() as session:
            x, y, saver = made(reader.compat.v1, reader, 1.0)
            saver.restore(session, path)
            np.testing.assert_allclose(session.run(y, {x: batch}), expected, rtol=1e-5)
