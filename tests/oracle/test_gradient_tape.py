"""GradientTape, custom gradients and forward mode: the same programs on both libraries."""

import logging

import numpy as np
import pytest
import tensorflow
from compare import assert_same, assert_same_failure

import runnel


def both(program, *arguments):
    """Run `program(tf)` on both libraries and compare results or exception classes."""
    outcomes = []
    for tf in (tensorflow, runnel):
        try:
            outcomes.append(program(tf, *arguments))
        except Exception as failure:
            outcomes.append(failure)
    expected, actual = outcomes
    if isinstance(expected, Exception) or isinstance(actual, Exception):
        assert_same_failure(expected, actual)
    else:
        assert_same(expected, actual)
    return actual


def simple(tf, **tape_options):
    v = tf.Variable(3.0)
    with tf.GradientTape(**tape_options) as tape:
        y = v * v
    return tape, y, v


def test_variables_are_watched_and_constants_are_not():
    def program(tf):
        v, c = tf.Variable(3.0), tf.constant(2.0)
        with tf.GradientTape(persistent=True) as tape:
            y = v * v * c
        return tape.gradient(y, v), tape.gradient(y, c), tape.gradient(y, [c, {"a": v}])

    both(program)


def test_a_tape_knows_only_what_it_watches_itself():
    def program(tf):
        v, c = tf.Variable(3.0), tf.constant(2.0)
        with tf.GradientTape() as outer:
            outer.watch(c)
            with tf.GradientTape() as inner:
                y = v * v * c
        return inner.gradient(y, [v, c]), outer.gradient(y, [v, c])

    both(program)


def test_untrainable_variables_need_watch():
    def program(tf):
        v = tf.Variable(3.0, trainable=False)
        with tf.GradientTape() as tape:
            y = v * v
        unwatched = tape.gradient(y, v)
        with tf.GradientTape() as tape:
            tape.watch(v)
            y = v * v
        return unwatched, tape.gradient(y, v)

    both(program)


def test_watch_accessed_variables_false():
    both(lambda tf: (lambda t, y, v: t.gradient(y, v))(*simple(tf, watch_accessed_variables=False)))


def test_unconnected_gradients():
    def program(tf, kind):
        v, w = tf.Variable([1.0, 2.0]), tf.Variable(1.0)
        with tf.GradientTape() as tape:
            y = v * v
        kind = tf.UnconnectedGradients.ZERO if kind == "enum" else kind
        return tape.gradient(y, [v, w], unconnected_gradients=kind)

    for kind in ("none", "zero", "enum", "foo"):
        both(program, kind)


def test_output_gradients_weigh_the_targets():
    def program(tf):
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            a, b = x * x, x * 3.0
        weights = [tf.constant([1.0, 2.0]), tf.constant([10.0, 20.0])]
        return tape.gradient([a, b], x, output_gradients=weights)

    both(program)


@pytest.mark.parametrize("weight", [3.0, np.float32(3.0), np.array([1.0, 2.0], np.float32)])
def test_one_weight_serves_all_elements_of_a_target(weight):
    def program(tf):
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tape.gradient(y, x, output_gradients=weight)

    both(program)


def test_weights_that_do_not_fit_the_targets():
    x = runnel.constant([1.0, 2.0])
    with runnel.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    with pytest.raises(ValueError, match=r"holds 3 gradients for 1 target.*tf.constant"):
        tape.gradient(y, x, output_gradients=[1.0, 2.0, 3.0])
    for shape in ([3], [2, 2]):
        with pytest.raises(runnel.errors.InvalidArgumentError):
            tape.gradient(y, x, output_gradients=runnel.ones(shape))


def test_integers_have_no_gradient():
    def program(tf):
        v, x, z = tf.Variable([2, 3]), tf.constant([2, 3]), tf.Variable(1.0)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            a, b, c = v * v, x * x, z * tf.cast(v, tf.float32)
        names = [w.dtype.name for w in tape.watched_variables()]
        return names, tape.gradient([a, b], [v, x]), tape.jacobian(a, v), tape.gradient(c, [v, z])

    both(program)


def test_the_gradient_of_a_tensor_with_respect_to_itself():
    def program(tf):
        x, v = tf.constant([1.0, 2.0]), tf.Variable(3.0)
        with tf.GradientTape(persistent=True) as tape:
            pass
        return tape.gradient(x, x), tape.gradient(v, v), tape.gradient(x, v)

    both(program)


def test_several_targets_add_up():
    def program(tf):
        v = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y, z, unrelated = v * v, v * 5.0, tf.constant(1.0) * 2.0
        return tape.gradient({"a": y, "b": [z, unrelated]}, v)

    both(program)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_tapes_inside_tapes(order):
    def derivative(tf, x, order):
        if order == 0:
            return x * x * x * x
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = derivative(tf, x, order - 1)
        return tape.gradient(y, x)

    both(lambda tf: derivative(tf, tf.constant([1.5, -2.0]), order))


def test_gradient_inside_the_context():
    def program(tf, persistent):
        v = tf.Variable(3.0)
        with tf.GradientTape(persistent=persistent) as tape:
            g = tape.gradient(v * v * v, v)
        return g, tape.gradient(g, v) if persistent else None

    both(program, True)
    both(program, False)


def test_reads_before_and_after_an_assignment():
    def program(tf):
        v = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = v * v
            v.assign(7.0)
            y = y + v * v
        return y, tape.gradient(y, v)

    both(program)


def test_gradient_for_a_value_read_from_a_variable():
    def program(tf):
        v = tf.Variable(3.0)
        with tf.GradientTape(persistent=True) as tape:
            a = v.read_value()
            b = tf.convert_to_tensor(v)
            y = a * v * b
        return tape.gradient(y, a), tape.gradient(y, b), tape.gradient(y, v)

    both(program)


def test_intermediate_sources():
    def program(tf):
        x = tf.constant(2.0)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
            z = y * y
        return tape.gradient(z, y), tape.gradient(z, [x, y]), tape.gradient(y, y)

    both(program)


def test_stop_recording_and_reset():
    def program(tf):
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
            with tape.stop_recording():
                y = y + x * 100.0
            a = tape.gradient(y, x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
            tape.reset()
            tape.watch(x)
            z = x * 5.0
        return a, tape.gradient([y, z], x)

    both(program)


def test_watched_variables():
    def program(tf):
        a, b, c = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b"), tf.Variable(3.0, name="c")
        with tf.GradientTape() as tape:
            c * a
            tape.watch(b)
        return sorted(v.name for v in tape.watched_variables())

    both(program)


@pytest.mark.parametrize("method", ["gradient", "jacobian"])
def test_watched_variables_after_the_gradient(method):
    def program(tf):
        v = tf.Variable([1.0, 2.0], name="v")
        with tf.GradientTape() as tape:
            y = v * v
        getattr(tape, method)(y, v)
        return [each.name for each in tape.watched_variables()]

    both(program)


def test_a_used_tape_records_anew_when_entered_again():
    def program(tf):
        v = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            y = v * v
        first = tape.gradient(y, v)
        with tape:
            z = v * 3.0
        return first, tape.gradient([y, z], v)

    both(program)


def _entered_twice(tape):
    with tape:
        tape.__enter__()


MISTAKES = {
    "target of NumPy": lambda tf, t, y, v: t.gradient(y.numpy(), v),
    "target of Python": lambda tf, t, y, v: t.gradient([y, 3.0], v),
    "reset when stopped": lambda tf, t, y, v: t.reset(),
    "second use": lambda tf, t, y, v: (t.gradient(y, v), t.gradient(y, v)),
    "source None": lambda tf, t, y, v: t.gradient(y, None),
    "target None": lambda tf, t, y, v: t.gradient(None, v),
    "watch number": lambda tf, t, y, v: t.watch(3.0),
    "stop when stopped": lambda tf, t, y, v: t.stop_recording().__enter__(),
    "re-enter": lambda tf, t, y, v: _entered_twice(t),
    "batch_jacobian of vectors": lambda tf, t, y, v: t.batch_jacobian(
        tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0])
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes(mistake):
    failure = both(lambda tf: MISTAKES[mistake](tf, *simple(tf)))
    assert isinstance(failure, Exception) and len(str(failure)) > 20
    assert runnel.core.context.state.tapes == ()


def test_a_source_that_is_not_a_tensor_is_named():
    tape, y, _ = simple(runnel)
    with pytest.raises(TypeError, match=r"tf\.Tensor or tf\.Variable, got 3"):
        tape.gradient(y, 3)


@pytest.mark.parametrize(
    ("kind", "words"),
    [("watch", "watched tensor must be floating"), ("target", "target tensor must be floating"),
     ("source", "source tensor must be floating")],
)  # fmt: skip
def test_warnings_about_integers(kind, words, caplog, monkeypatch):
    logger = runnel.get_logger()
    monkeypatch.setattr(logger, "propagate", True)
    i, v = runnel.constant(1), runnel.Variable(2.0)
    with caplog.at_level(logging.WARNING), runnel.GradientTape() as tape:
        if kind == "watch":
            tape.watch(i)
        y = v * v
        if kind == "target":
            assert tape.gradient(i, v) is None
        if kind == "source":
            assert tape.gradient(y, i) is None
    assert words in caplog.text and "tf.int32" in caplog.text


def test_a_warning_names_the_source_that_was_not_watched(caplog, monkeypatch):
    monkeypatch.setattr(runnel.get_logger(), "propagate", True)
    c, v, unused = runnel.constant([1.0, 2.0]), runnel.Variable(2.0), runnel.Variable(3.0)
    with caplog.at_level(logging.WARNING), runnel.GradientTape(persistent=True) as tape:
        y = v * c
        with tape.stop_recording():
            assert tape.gradient(y, [unused]) == [None] and not caplog.text
            assert tape.gradient(y, [v, c])[1] is None
    assert "source 1 (shape (2,), float32) is None" in caplog.text
    assert "tape.watch" in caplog.text


def test_jacobian():
    def program(tf, zero):
        x, w, unrelated = tf.constant([1.0, 2.0]), tf.Variable(3.0), tf.constant([1.0, 1.0, 1.0])
        with tf.GradientTape() as tape:
            tape.watch([x, unrelated])
            y = tf.reshape(tf.stack([x * x * w, x * 5.0]), [2, 2])
        return tape.jacobian(y, [x, w, unrelated], unconnected_gradients=zero)

    both(program, "none")
    both(program, "zero")


def test_jacobian_of_a_scalar_and_second_order():
    def program(tf):
        x = tf.constant([1.0, 2.0, 3.0])
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(x * x * x)
            gradient = inner.gradient(y, x)
        return outer.jacobian(gradient, x)

    both(program)


def test_batch_jacobian():
    def program(tf):
        x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.concat([x * x, x * 2.0], 1)
            unrelated = tf.constant([[1.0], [1.0], [1.0]]) * 2.0
        return tape.batch_jacobian(y, x), tape.batch_jacobian(unrelated, x)

    both(program)


def test_custom_gradient():
    def program(tf):
        @tf.custom_gradient
        def cube(x):
            y = x * x * x

            def gradient(upstream):
                return upstream * 3.0 * x * x

            return y, gradient

        x = tf.constant(2.0)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = cube(x)
            first = inner.gradient(y, x)
        return y, first, outer.gradient(first, x)

    both(program)


def test_custom_gradient_that_uses_its_result():
    def program(tf):
        @tf.custom_gradient
        def f(x):
            y = tf.exp(x)
            return y, lambda upstream: upstream * y

        x = tf.constant(2.0)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            first = inner.gradient(y, x)
        return first, outer.gradient(first, x)

    both(program)


def test_custom_gradient_with_variables_and_several_outputs():
    def program(tf):
        v = tf.Variable(3.0)

        @tf.custom_gradient
        def f(a, b, factor=2.0):
            def gradient(d1, d2, variables=None):
                return (d1 * 10.0 * factor, d2 * 20.0), [d1 * 7.0]

            return (a * b * v, a + b), gradient

        a, b = tf.constant(1.0), tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch([a, b])
            result = f(a, b, factor=5.0)
        return result, tape.gradient(result, [a, b, v])

    both(program)


def test_custom_gradient_mistakes():
    def unaware_of_variables(tf):
        v = tf.Variable(3.0)

        @tf.custom_gradient
        def f(x):
            return x * v, lambda upstream: upstream

        x = tf.constant(1.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    def too_few(tf):
        @tf.custom_gradient
        def f(a, b):
            return a * b, lambda upstream: upstream

        a = tf.constant(1.0)
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = f(a, a)
        return tape.gradient(y, a)

    both(unaware_of_variables)
    both(too_few)


def test_recompute_grad_and_pass_through():
    def program(tf):
        v, x = tf.Variable(3.0), tf.constant(2.0)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.recompute_grad(lambda x: tf.sin(x) * v)(x)
            z = tf.grad_pass_through(tf.round)(x)
        return y, z, tape.gradient(y, [x, v]), tape.gradient(z, x)

    both(program)


def test_recompute_grad_computes_again():
    calls = []

    def f(x):
        calls.append(1)
        return x * x

    x = runnel.Variable(2.0)
    with runnel.GradientTape() as tape:
        y = runnel.recompute_grad(f)(x)
    assert float(tape.gradient(y, x)) == 4.0
    assert len(calls) == 2


def test_stop_gradient():
    def program(tf):
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * tf.stop_gradient(x * x)
        return tape.gradient(y, x)

    both(program)


def test_forward_accumulator():
    def program(tf):
        x, v = tf.constant([2.0, 3.0]), tf.Variable(4.0)
        with tf.autodiff.ForwardAccumulator((x, v), (tf.constant([1.0, 0.5]), 2.0)) as acc:
            y = tf.sin(x) * x * v
            i = tf.cast(x, tf.int32)
        unrelated = tf.constant(1.0)
        return (
            y, acc.jvp(y), acc.jvp(x), acc.jvp(i), acc.jvp(unrelated),
            acc.jvp(unrelated, unconnected_gradients=tf.UnconnectedGradients.ZERO),
            acc.jvp({"a": y}),
        )  # fmt: skip

    both(program)


def test_forward_over_reverse_and_reverse_over_forward():
    def program(tf):
        x = tf.constant(2.0)
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x * x
            g = tape.gradient(y, x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as inner:
                y = x * x * x
            j = inner.jvp(y)
        with (
            tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as outer,
            tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as nested,
        ):
            y = x * x * x
        return acc.jvp(g), tape.gradient(j, x), nested.jvp(y), outer.jvp(y)

    both(program)


def test_forward_accumulator_mistakes():
    both(lambda tf: tf.autodiff.ForwardAccumulator([tf.constant(1.0)], tf.constant(1.0)))
    both(lambda tf: tf.autodiff.ForwardAccumulator(tf.constant(1.0), tf.constant(1)))


def test_gathers_give_indexed_slices_and_sum():
    def program(tf):
        w = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        with tf.GradientTape(persistent=True) as tape:
            y = tf.gather(w, [0, 0, 2])
            z = y * 2.0
            both = tf.reduce_sum(z) + tf.reduce_sum(tf.gather(w, [1]))
            mixed = tf.reduce_sum(y) + tf.reduce_sum(w * w)
        slices = tape.gradient(y, w)
        return (
            slices.values, slices.indices, slices.dense_shape, str(slices),
            tape.gradient(z, w), tape.gradient(both, w).indices, tape.gradient(mixed, w),
        )  # fmt: skip

    both(program)


def test_graph_functions_are_refused_in_eager_mode():
    x = np.float32(1)
    both(lambda tf: tf.gradients(tf.constant(x), [tf.constant(x)]))
    both(lambda tf: tf.hessians(tf.constant(x), [tf.constant(x)]))


def test_gradients_and_hessians_in_a_graph():
    def program(tf, graph, run):
        with graph.as_default():
            x = tf.constant([1.0, 2.0])
            y = x * x * x
            gradients = tf.gradients(y, [x], grad_ys=[tf.constant([1.0, 10.0])])
            hessian = tf.hessians(tf.reduce_sum(y), x)
            unrelated = tf.gradients(y, [tf.constant(1.0)])
        assert unrelated == [None]
        return run([gradients[0], hessian[0]])

    graph = tensorflow.Graph()
    expected = program(tensorflow, graph, tensorflow.compat.v1.Session(graph=graph).run)
    ours = runnel.core.graph.graph.Graph()
    actual = program(runnel, ours, lambda fetches: ours.compute(fetches, []))
    for a, b in zip(expected, actual, strict=True):
        np.testing.assert_allclose(b, a)
