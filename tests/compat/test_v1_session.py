"""Sessions: what is fetched, fed and kept, as TensorFlow 1 does it."""

import collections

import numpy as np
import pytest
import tensorflow
from both_v1 import agree, error_of

import runnel

Point = collections.namedtuple("Point", ["x", "y"])


def test_fetches_of_any_structure():
    def program(v1, tf):
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        y = tf.identity(x * 2.0, name="y")
        w = v1.Variable([1.0, 2.0], name="w")
        total = tf.reduce_sum(y, name="total")
        init = v1.global_variables_initializer()
        feed = {x: [[1.0, 2.0], [3.0, 4.0]]}
        with v1.Session() as session:
            nothing = session.run(init)
            return [
                nothing,
                session.run(y, feed),
                session.run([y, total, init], feed),
                session.run((total,), feed),
                session.run({"a": y, "b": [total, (w, "y:0")]}, feed),
                session.run(Point(total, {"w": w}), feed),
                session.run("total:0", {"x:0": [[1.0, 1.0]]}),
                session.run([], feed),
                session.run(y[0], feed_dict={y: [[5.0, 6.0]]}),
                session.run([x, x], feed),
            ]

    agree(program)


def test_values_belong_to_the_session():
    def program(v1, tf):
        w = v1.get_variable("w", [2], initializer=v1.zeros_initializer())
        add = v1.assign_add(w, [1.0, 2.0])
        init = v1.global_variables_initializer()
        ready = v1.is_variable_initialized(w)
        missing = v1.report_uninitialized_variables()
        one, two = v1.Session(), v1.Session()
        seen = [one.run([ready, missing])]
        one.run(init)
        seen += [one.run(add), one.run(add), one.run([ready, missing]), two.run(ready)]
        seen.append(error_of(lambda: two.run(w)))
        two.run(init)
        seen += [two.run(w), one.run(w)]
        one.close()
        seen.append(error_of(lambda: one.run(w)))
        return seen

    agree(program)


def test_updates_give_the_new_value():
    def program(v1, tf):
        v = v1.Variable(1.0, name="v")
        rows = v1.Variable(tf.zeros([3, 2]), name="rows")
        x = v1.placeholder(tf.float32, [])
        updates = [
            v.assign(x), v.assign_add(x), v1.assign_sub(v, 0.5), v.assign(v * 3.0),
            v1.scatter_add(rows, [0, 2], [[1.0, 1.0], [2.0, 2.0]]),
            v1.scatter_update(rows, [1], [[7.0, 7.0]]),
            v1.scatter_nd_update(rows, [[0, 1]], [9.0]), rows[1, 0].assign(4.0),
        ]  # fmt: skip
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            seen = [session.run(update, {x: 5.0}) for update in updates]
            v.load(8.0, session)
            return [*seen, v.eval(), session.run(v.initializer), v.eval()]

    agree(program)


def test_control_dependencies_and_groups():
    def program(v1, tf):
        v = v1.Variable(0, name="v")
        other = v1.Variable(10, name="other")
        with tf.control_dependencies([v.assign_add(1)]):
            after = tf.identity(v.read_value())
        both = v1.group(v.assign_add(10), other.assign_add(1), name="both")
        pair = v1.tuple([v.assign_add(100), other.read_value()])
        unused = v.assign(-1)
        assert unused is not None
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            seen = [session.run(after), session.run(v), session.run(after)]
            both.run()
            seen += [session.run([v, other]), both.name, session.run("both")]
            return [*seen, session.run(pair), session.run([v, other])]

    agree(program)


def test_default_sessions():
    def program(v1, tf):
        seen = [v1.get_default_session() is None]
        x = v1.placeholder_with_default([1.0, 2.0], [None], name="x")
        y = x + 1.0
        seen.append(error_of(lambda: y.eval()))
        session = v1.Session()
        with session.as_default():
            seen += [v1.get_default_session() is session, y.eval(), y.eval({x: [5.0]})]
        seen.append(y.eval(session=session))
        session.close()
        interactive = v1.InteractiveSession()
        seen += [y.eval(), v1.get_default_session() is interactive]
        interactive.close()
        return [*seen, v1.get_default_session() is None]

    agree(program)


def test_callables():
    def program(v1, tf):
        x = v1.placeholder(tf.float32, [None])
        y = v1.placeholder(tf.float32, [])
        w = v1.Variable([1.0, 2.0])
        with v1.Session() as session:
            session.run(w.initializer)
            call = session.make_callable([x * y, w.assign_add([1.0, 1.0])], [x, y])
            return [call([1.0, 2.0], 3.0), call([4.0], 2.0)]

    agree(program)


def test_what_cannot_be_run():
    def program(v1, tf):
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        y = x * 2.0
        w = v1.Variable(1.0, name="w")
        with tf.Graph().as_default():
            foreign = tf.constant(1.0)
        empty = v1.Session(graph=tf.Graph())
        session = v1.Session()
        calls = [
            lambda: session.run(y),
            lambda: session.run(y, {x: [1.0]}),
            lambda: session.run(y, {x: x}),
            lambda: session.run(y, {"nothing:0": 1.0}),
            lambda: session.run(y, {foreign: 1.0}),
            lambda: session.run(foreign),
            lambda: session.run("nothing"),
            lambda: session.run(None),
            lambda: session.run([y, None], {x: [[1.0, 2.0]]}),
            lambda: session.run(3),
            lambda: session.run(w),
            lambda: empty.run(y),
            lambda: bool(y),
        ]
        return [error_of(call) for call in calls]

    agree(program)


def test_messages_of_missing_values():
    def program(v1, tf):
        x = v1.placeholder(tf.int32, [None, 2], name="inputs")
        w = v1.Variable(1.0, name="weights")
        told = []
        with v1.Session() as session:
            for fetch in (x, w):
                with pytest.raises(tf.errors.OpError) as caught:
                    session.run(fetch + 1)
                told.append(caught.value.message)
        return told

    for fed, read in map(tuple, [program(lib.compat.v1, lib) for lib in _in_graphs()]):
        assert "You must feed a value for placeholder tensor 'inputs' with dtype int32" in fed
        assert "and shape [?,2]" in fed
        assert "Could not find variable weights" in read


def _in_graphs():
    for library in (tensorflow, runnel):
        with library.Graph().as_default():
            yield library


def test_results_are_the_users_own():
    with runnel.Graph().as_default():
        v1 = runnel.compat.v1
        start = np.zeros(3, np.float32)
        x = v1.placeholder(runnel.float32, [3])
        w = v1.Variable(start)
        assign, keep = w.assign(x), runnel.constant([1.0, 2.0])
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            fed = np.ones(3, np.float32)
            session.run(assign, {x: fed})
            fed[:] = 7
            np.testing.assert_array_equal(session.run(w), np.ones(3))
            for fetch in (w, keep):
                got = session.run(fetch)
                got[:] = 9
                assert not (session.run(fetch) == 9).any()
            out = session.run(x, {x: fed})
            out[:] = 3
            np.testing.assert_array_equal(fed, np.full(3, 7))


def test_sparse_values():
    def program(v1, tf):
        sparse = v1.sparse_placeholder(tf.float32, [2, 3])
        dense = tf.sparse.to_dense(sparse)
        gradient = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([1]), tf.constant([3, 1]))
        value = v1.SparseTensorValue([[0, 1], [1, 2]], [1.0, 2.0], [2, 3])
        with v1.Session() as session:
            found = session.run(sparse, {sparse: value})
            slices = session.run(gradient)
            return [session.run(dense, {sparse: value}), found, type(slices).__name__, slices]

    agree(program)


def test_random_numbers_begin_anew_in_each_session():
    def program(v1, tf):
        v1.set_random_seed(3)
        drawn = v1.random_uniform([4])
        seeded = v1.random_normal([3], seed=5)
        w = v1.get_variable("w", [3, 2])
        cut = v1.truncated_normal([2, 2], stddev=0.1)
        seen = []
        for _ in range(2):
            with v1.Session() as session:
                session.run(v1.global_variables_initializer())
                seen.append(session.run([drawn, seeded, w, cut]))
                seen.append(session.run([drawn, seeded]))
        return seen

    agree(program)


def test_conditions_loops_and_functions():
    def program(v1, tf):
        x = v1.placeholder(tf.float32, [])
        w = v1.Variable(2.0)
        branch = v1.cond(x > 0.0, lambda: x * w, lambda: x - w)
        loop = v1.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s * w), [0, x])
        single = v1.while_loop(lambda i: i < 10, lambda i: i + 3, [0])

        @tf.function
        def traced(a):
            return a * w + 1.0

        slopes = v1.gradients([branch, loop[1], traced(x)], [x, w])
        with v1.Session() as session:
            session.run(w.initializer)
            fetches = [branch, loop, single, traced(x), slopes]
            return [session.run(fetches, {x: 3.0}), session.run(fetches, {x: -3.0})]

    agree(program)


def test_assertions_and_prints(capfd):
    def program(v1, tf):
        x = v1.placeholder(tf.float32, [None])
        checks = [
            v1.assert_positive(x),
            tf.debugging.assert_less(x, 5.0),
            v1.Assert(x[0] < 9.0, [x]),
        ]
        with tf.control_dependencies(checks):
            y = x * 2.0
        shown = v1.Print(y, [x], "shown: ")
        told = tf.print("told:", x)
        with v1.Session() as session:
            results = [session.run(shown, {x: [1.0, 2.0]}), session.run(told, {x: [3.0]})]
            for bad in ([-1.0], [7.0]):
                results.append(error_of(lambda bad=bad: session.run(y, {x: bad})))
            return results

    agree(program)
    printed = capfd.readouterr().err
    assert printed.count("shown: ") == 2
    assert printed.count("told: [3]") == 2


def test_settings():
    config = runnel.compat.v1.ConfigProto(allow_soft_placement=True)
    config.gpu_options.allow_growth = True
    config.device_count["GPU"] = 0
    copy = runnel.compat.v1.ConfigProto()
    copy.CopyFrom(config)
    assert copy == config
    assert copy.gpu_options.allow_growth
    assert not copy.log_device_placement
    with pytest.raises(AttributeError):
        config.gpu_opts = 1
    with runnel.Graph().as_default():
        assert runnel.compat.v1.Session(config=config).run(runnel.constant(2)) == 2
