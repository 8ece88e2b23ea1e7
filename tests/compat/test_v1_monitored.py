"""Monitored sessions and their hooks."""

import os

import numpy as np
import pytest
import tensorflow
from both_v1 import agree, error_of

import runnel

LIBRARIES = [tensorflow, runnel]


def training(v1, tf):
    step = v1.train.get_or_create_global_step()
    weights = v1.get_variable("w", [2], initializer=v1.zeros_initializer())
    loss = tf.reduce_sum((weights - tf.constant([1.0, 2.0])) ** 2)
    v1.summary.scalar("loss", loss)
    optimizer = v1.train.GradientDescentOptimizer(0.1)
    return step, weights, loss, optimizer.minimize(loss, global_step=step)


def noting_hook(v1, notes, step, loss):
    class Noting(v1.train.SessionRunHook):
        def begin(self):
            notes.append("begin")

        def after_create_session(self, session, coord):
            notes.append("created")

        def before_run(self, run_context):
            return v1.train.SessionRunArgs([loss])

        def after_run(self, run_context, run_values):
            notes.append(run_values.results[0])

        def end(self, session):
            notes.append(session.run(step))

    return Noting()


def test_training_session_with_a_checkpoint_directory(tmp_path):
    def program(v1, tf):
        directory = f"{tmp_path}/{tf.__name__}"
        notes = []
        with tf.Graph().as_default():
            step, weights, loss, train = training(v1, tf)
            final = v1.train.FinalOpsHook(weights)
            hooks = [
                v1.train.StopAtStepHook(last_step=5), noting_hook(v1, notes, step, loss), final,
                v1.train.NanTensorHook(loss),
            ]  # fmt: skip
            with v1.train.MonitoredTrainingSession(
                checkpoint_dir=directory, hooks=hooks, save_checkpoint_steps=2,
                save_summaries_steps=2, log_step_count_steps=2,
            ) as session:  # fmt: skip
                while not session.should_stop():
                    session.run(train)
        files = sorted(os.listdir(directory))
        events = [
            (event.step, [value.tag for value in event.summary.value])
            for name in files
            if "events" in name
            for event in v1.train.summary_iterator(f"{directory}/{name}")
            if event.summary.value
        ]
        with tf.Graph().as_default():
            step, _, _, train = training(v1, tf)
            with v1.train.MonitoredTrainingSession(
                checkpoint_dir=directory, hooks=[v1.train.StopAtStepHook(num_steps=3)]
            ) as session:
                runs = 0
                while not session.should_stop():
                    session.run(train)
                    runs += 1
        latest = os.path.basename(tf.train.latest_checkpoint(directory))
        kept = [name for name in files if name.endswith((".index", ".pbtxt"))]
        return [notes, final.final_ops_values, kept, events, runs, latest]

    agree(program)


def test_feeds_and_the_session_inside():
    def program(v1, tf):
        step, _, _, _ = training(v1, tf)
        number = v1.placeholder(tf.float32, [])
        double = number * 2.0
        hook = v1.train.FeedFnHook(lambda: {number: 3.0})
        with v1.train.SingularMonitoredSession(hooks=[hook]) as session:
            return [session.run(double), session.raw_session().run(step)]

    agree(program)


def test_the_end_of_the_data_ends_the_session():
    def program(v1, tf):
        element = v1.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next()
        found = []
        with v1.train.MonitoredSession() as session:
            while not session.should_stop():
                found.append(session.run(element))
        return found

    agree(program)


def test_scaffold():
    def program(v1, tf):
        weight = v1.get_variable("w", [], initializer=v1.zeros_initializer())
        scaffold = v1.train.Scaffold(init_fn=lambda scaffold, session: weight.load(7.0, session))
        creator = v1.train.ChiefSessionCreator(scaffold)
        with v1.train.MonitoredSession(creator) as session:
            return [session.run(weight), session.graph.finalized]

    agree(program)


def test_step_functions():
    def program(v1, tf):
        weight = v1.get_variable("w", [], initializer=v1.zeros_initializer())
        update, found = weight.assign_add(1.0), []

        def step(step_context):
            found.append(step_context.run_with_hooks(update))
            if found[-1] >= 3:
                step_context.request_stop()

        with v1.train.MonitoredSession() as session:
            while not session.should_stop():
                session.run_step_fn(step)
        return found

    agree(program)


@pytest.mark.parametrize("fails", [True, False])
def test_a_loss_that_is_not_a_number(fails):
    def program(v1, tf):
        loss = tf.constant(0.0) / tf.constant(0.0)
        hook = v1.train.NanTensorHook(loss, fail_on_nan_loss=fails)

        def run():
            with v1.train.MonitoredSession(hooks=[hook]) as session:
                session.run(loss)
                assert session.should_stop()

        return [error_of(run)]

    agree(program)


def test_errors_end_the_session():
    def program(v1, tf):
        training(v1, tf)
        ended = []

        class Ending(v1.train.SessionRunHook):
            def end(self, session):
                ended.append(True)

        def run():
            with v1.train.MonitoredSession(hooks=[Ending()]):
                raise ValueError("of the user")

        errors = [error_of(run), error_of(lambda: v1.train.StopAtStepHook())]
        return [errors, ended]

    agree(program)


def test_listeners(tmp_path):
    def program(v1, tf):
        _, _, _, train = training(v1, tf)
        notes = []

        class Listener(v1.train.CheckpointSaverListener):
            def begin(self):
                notes.append("begin")

            def before_save(self, session, global_step_value):
                notes.append(("before", int(global_step_value)))

            def after_save(self, session, global_step_value):
                notes.append(("after", int(global_step_value)))
                return global_step_value >= 4

            def end(self, session, global_step_value):
                notes.append(("end", int(global_step_value)))

        hook = v1.train.CheckpointSaverHook(
            f"{tmp_path}/{tf.__name__}", save_steps=2, saver=v1.train.Saver(),
            listeners=[Listener()],
        )  # fmt: skip
        with v1.train.MonitoredSession(hooks=[hook]) as session:
            while not session.should_stop():
                session.run(train)
        return notes

    agree(program)


def test_logged_tensors(caplog):
    values = []
    for tf in LIBRARIES:
        v1, lines = tf.compat.v1, []
        with tf.Graph().as_default():
            _, _, loss, train = training(v1, tf)
            hook = v1.train.LoggingTensorHook(
                {"loss": loss}, every_n_iter=2, formatter=lambda found, to=lines: to.append(found)
            )
            with v1.train.MonitoredSession(hooks=[hook]) as session:
                for _ in range(5):
                    session.run(train)
        values.append([float(each["loss"]) for each in lines])
    np.testing.assert_allclose(values[0], values[1], rtol=1e-5)
