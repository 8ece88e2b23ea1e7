"""tf.test: the same test cases pass and fail with TensorFlow and with Runnel."""

import sys
import unittest

import numpy as np
import pytest
import tensorflow

import runnel

BOTH = [tensorflow, runnel]


def rows_of(tf):
    return tf.ragged.constant([[1.0], [2.0, 3.0]])


# Each assertion as a function of the case and the library; whether it holds.
ASSERTIONS = {
    "all equal": (lambda t, tf: t.assertAllEqual(tf.constant([1, 2]), [1, 2]), True),
    "not all equal": (lambda t, tf: t.assertAllEqual([1, 2], [1, 3]), False),
    "equal shapes": (lambda t, tf: t.assertAllEqual([1, 2], [[1, 2]]), False),
    "close": (lambda t, tf: t.assertAllClose({"a": tf.ones([2])}, {"a": [1.0, 1.0]}), True),
    "far": (lambda t, tf: t.assertAllClose(tf.ones([2]), [1.0, 1.1]), False),
    "not close": (lambda t, tf: t.assertNotAllClose([1.0], [1.1], rtol=1e-3), True),
    "close after all": (lambda t, tf: t.assertNotAllClose([1.0], [1.1], rtol=0.5), False),
    "near": (lambda t, tf: t.assertNear(1.0, 1.05, 0.1), True),
    "not near": (lambda t, tf: t.assertNear(1.0, 1.5, 0.1), False),
    "arrays near": (lambda t, tf: t.assertNDArrayNear(np.ones(2), np.full(2, 1.05), 0.1), True),
    "arrays far": (lambda t, tf: t.assertNDArrayNear(np.ones(2), np.full(2, 2.0), 0.1), False),
    "equal dicts": (lambda t, tf: t.assertDictEqual({"a": tf.ones([2])}, {"a": np.ones(2)}), True),
    "other keys": (lambda t, tf: t.assertDictEqual({"a": 1}, {"b": 1}), False),
    "other values": (lambda t, tf: t.assertDictEqual({"a": [1, 2]}, {"a": [1, 3]}), False),
    "items": (lambda t, tf: t.assertItemsEqual([0, 1, 1], [1, 0, 1]), True),
    "other items": (lambda t, tf: t.assertItemsEqual([0, 0, 1], [0, 1]), False),
    "begins": (lambda t, tf: t.assertStartsWith("a name", "a n"), True),
    "begins otherwise": (lambda t, tf: t.assertStartsWith("a name", "n"), False),
    "device": (lambda t, tf: t.assertDeviceEqual("/device:CPU:0", "/cpu:0"), True),
    "other device": (lambda t, tf: t.assertDeviceEqual("/cpu:0", "/cpu:1"), False),
    "greater": (lambda t, tf: t.assertAllGreater(tf.constant([1, 2]), 0), True),
    "in range": (lambda t, tf: t.assertAllInRange([1, 2], 1, 2, open_upper_bound=True), False),
    "in set": (lambda t, tf: t.assertAllInSet(tf.constant([1, 2]), {1, 2, 3}), True),
    "equal rows": (lambda t, tf: t.assertAllEqual(rows_of(tf), [[1.0], [2.0, 3.0]]), True),
    "other rows": (lambda t, tf: t.assertAllEqual(rows_of(tf), [[1.0, 2.0], [3.0]]), False),
    "a row more": (lambda t, tf: t.assertAllEqual(rows_of(tf), [[1.0], [2.0, 3.0], []]), False),
    "close rows": (lambda t, tf: t.assertAllClose(rows_of(tf), rows_of(tf) + 1e-7), True),
    "far rows": (lambda t, tf: t.assertAllClose(rows_of(tf), rows_of(tf) + 0.1), False),
    "texts": (lambda t, tf: t.assertAllEqual(["a", "é"], tf.constant(["a", "é"])), True),
    "other texts": (lambda t, tf: t.assertAllEqual("a", tf.constant("b")), False),
    "dtype": (lambda t, tf: t.assertDTypeEqual(tf.constant(1), tf.int32), True),
    "other dtype": (lambda t, tf: t.assertDTypeEqual(tf.constant(1), tf.int64), False),
    "empty": (lambda t, tf: t.assertEmpty([]), True),
    "length": (lambda t, tf: t.assertLen([1], 2), False),
    "between": (lambda t, tf: t.assertBetween(1, 0, 2), True),
    "same elements": (lambda t, tf: t.assertSameElements([1, 2, 2], [2, 1]), True),
    "in order": (lambda t, tf: t.assertContainsInOrder(["a", "b"], "b a"), False),
}


def case_of(tf):
    class Case(tf.test.TestCase):
        def runTest(self):
            """What a case needs to be made outside of a suite."""

    case = Case()
    case.setUp()
    return case


@pytest.mark.parametrize("name", ASSERTIONS)
def test_assertions(name):
    assertion, holds = ASSERTIONS[name]
    for tf in BOTH:
        if holds:
            assertion(case_of(tf), tf)
        else:
            with pytest.raises(AssertionError):
                assertion(case_of(tf), tf)


@pytest.mark.parametrize("tf", BOTH)
def test_evaluated_composites(tf):
    rows, places = case_of(tf).evaluate([rows_of(tf), tf.sparse.from_dense([0, 5])])
    assert type(rows).__name__ == "RaggedTensorValue"
    assert rows.to_list() == [[1.0], [2.0, 3.0]]
    assert type(places).__name__ == "SparseTensorValue"
    assert [places.indices.tolist(), places.values.tolist()] == [[[1]], [5]]


@pytest.mark.parametrize("tf", BOTH)
def test_failures_that_are_expected(tf):
    case = case_of(tf)
    with case.assertRaisesOpError("ncompatible"):
        tf.ones([2]) + tf.ones([3])
    with case.assertRaisesIncompatibleShapesError():
        tf.ones([2]) + tf.ones([3])
    with case.assertRaisesWithPredicateMatch(ValueError, lambda failure: "b" in str(failure)):
        raise ValueError("abc")
    for kind, text, predicate in [(ValueError, "a", "x"), (TypeError, "a", "a")]:
        with (
            pytest.raises(AssertionError),
            case.assertRaisesWithPredicateMatch(ValueError, predicate),
        ):
            raise kind(text)
    with pytest.raises(AssertionError), case.assertRaisesOpError("never"):
        pass


def test_messages():
    """TensorFlow's own comparison does not work with newer versions of protobuf."""
    case = case_of(runnel)
    message = runnel.train.Example()
    message.features.feature["a"].float_list.value.append(1.5)
    text = 'features { feature { key: "a" value { float_list { value: %s } } } }'
    case.assertProtoEquals(text % 1.5, message)
    with pytest.raises(AssertionError):
        case.assertProtoEquals(text % 2.5, message)
    case.assertProtoEquals(text % 1.5001, message, relative_tolerance=1e-3)
    with pytest.raises(AssertionError):
        case.assertProtoEquals(text % 1.6, message, relative_tolerance=1e-3)


@pytest.mark.parametrize("tf", BOTH)
def test_sessions(tf):
    case = case_of(tf)
    assert case.evaluate(tf.constant([1, 2])).tolist() == [1, 2]
    with case.session() as session, pytest.raises(AttributeError):
        session.run(tf.constant([1, 2]))
    with case.cached_session() as session:
        assert session.run(tf.constant(1) + 1) == 2
        assert session.run({"a": [tf.Variable([1.0])]})["a"][0].tolist() == [1.0]
        for error, arguments in (
            (ValueError, ("x",)), (ValueError, (lambda: 1,)), (RuntimeError, (tf.constant(1), {})),
        ):  # fmt: skip
            with pytest.raises(error):
                session.run(*arguments)
        with pytest.raises(AttributeError):
            session.graph.as_default()
    with tf.Graph().as_default():
        three = tf.constant(1) + 2
        with case.session() as session:
            assert session.run(three) == 3
            assert case.evaluate(three) == 3
            case.assertAllEqual(three, 3)
        with case.cached_session() as first:
            assert first.run(three) == 3
        with case.cached_session() as second:
            assert second.run(three) == 3
            assert second is first
    case.doCleanups()


@pytest.mark.parametrize("tf", BOTH)
def test_threads_and_directories(tf):
    import os

    case = case_of(tf)
    done = []
    thread = case.checkedThread(target=done.append, args=(5,))
    thread.start()
    thread.join()
    assert done == [5]

    def fail():
        raise ValueError("in a thread")

    thread = case.checkedThread(fail)
    thread.start()
    with pytest.raises(AssertionError, match="in a thread"):
        thread.join()
    assert os.path.isdir(case.get_temp_dir())
    assert case.get_temp_dir() == case.get_temp_dir()


def test_contents_of_captured_writes(capfd):
    case = case_of(runnel)
    with case.captureWritesToStream(sys.stderr) as captured:
        sys.stderr.write("inside\n")
    sys.stderr.write("outside\n")
    assert captured.contents() == "inside\n"
    case.doCleanups()
    assert capfd.readouterr().err == "outside\n"


def test_every_test_begins_with_the_same_random_numbers():
    numbers = []
    for tf in BOTH:
        case_of(tf)
        numbers.append([tf.random.uniform([3]).numpy().tolist(), np.random.rand(2).tolist()])
    assert numbers[0] == numbers[1]


def results(tf):
    class Case(tf.test.TestCase):
        def test_sum(self):
            self.assertAllEqual(tf.add([1, 2], [3, 4]), [4, 6])

        def test_wrong(self):
            self.assertAllEqual(tf.add([1, 2], [3, 4]), [4, 7])

        @tf.test.disable_with_predicate(lambda: True, "not here")
        def test_nowhere(self):
            raise ValueError("must not run")

    found = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(found)
    names = [[case._testMethodName for case, _ in kind] for kind in (found.failures, found.skipped)]
    return found.testsRun, len(found.errors), *[sorted(each) for each in names]


def test_a_suite():
    assert results(runnel) == results(tensorflow)


def test_graphs_are_compared():
    def graph(tf, value, name="x"):
        with tf.Graph().as_default() as made:
            tf.constant(value, name=name)
        return made.as_graph_def()

    for tf in BOTH:
        tf.test.assert_equal_graph_def(graph(tf, 1), graph(tf, 1))
        for other in (graph(tf, 2), graph(tf, 1, "y")):
            with pytest.raises(AssertionError):
                tf.test.assert_equal_graph_def(graph(tf, 1), other)
        with pytest.raises(TypeError):
            tf.test.assert_equal_graph_def(graph(tf, 1), "x")


@pytest.mark.parametrize("tf", BOTH)
def test_evaluation_in_a_graph(tf):
    case = case_of(tf)
    with tf.Graph().as_default():
        variable = tf.Variable(2.0)
        case.evaluate(tf.compat.v1.global_variables_initializer())
        assert case.evaluate(variable) == 2.0
        assert case.evaluate({"a": [variable.assign_add(1.0)]}) == {"a": [3.0]}
        case.assertAllClose(variable + 1.0, 4.0)
        with pytest.raises(AssertionError):
            case.assertAllClose({"a": variable + 0.0}, {"a": 4.0})
        case.assertAllEqual(tf.constant([1, 2]), [1, 2])
        assert case._GetNdArray(tf.constant([1.0]) * 2.0).tolist() == [2.0]
        with case.cached_session() as session, case.cached_session() as other:
            assert session is other
            assert session.run(variable) == 3.0
    for value in (tf.constant([1.0]), tf.Variable([1.0]), np.ones(1), [1.0]):
        assert case._GetNdArray(value).tolist() == [1.0]


def test_benchmarks(capsys):
    class Sums(runnel.test.Benchmark):
        def benchmark_one(self):
            self.report_benchmark(iters=3, wall_time=0.5, extras={"size": "small"})

        def benchmark_two(self):
            with runnel.Graph().as_default():
                total = runnel.reduce_sum([1.0, 2.0])
                with runnel.compat.v1.Session() as session:
                    self.run_op_benchmark(session, total, min_iters=2)

    assert runnel.test.Benchmark.is_abstract()
    assert not Sums.is_abstract()
    runnel.test.main(["program", "--benchmarks=Sums"])
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith('entry { name: "Sums.benchmark_one" iters: 3 wall_time: 0.5 extras')
    assert second.startswith('entry { name: "Sums.benchmark_two" iters: 2 wall_time: ')


def test_what_the_library_can_do():
    assert runnel.test.is_cpu_target_available("x86") != runnel.test.is_cpu_target_available(
        "aarch64"
    )
    assert not runnel.sysconfig.get_build_info()["is_cuda_build"]
    assert runnel.test.with_eager_op_as_function(int) is int
    assert runnel.test.with_eager_op_as_function(only_as_function=True)(int) is int
