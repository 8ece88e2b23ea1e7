"""Public functions on extension types, beside the original."""

import contextlib
import inspect
import typing

import numpy as np
import pytest
import tensorflow
from both import same

import runnel


def masked(tf):
    class Masked(tf.experimental.ExtensionType):
        values: tf.Tensor
        mask: tf.Tensor

    return Masked


def dispatched(tf, *handlers):
    """Whatever happens, the functions are given back."""

    class Registered:
        def __enter__(self):
            return self

        def __exit__(self, *failure):
            for handler in handlers:
                # The original forgets to note its handlers of assertions.
                with contextlib.suppress(KeyError):
                    tf.experimental.unregister_dispatch_for(handler)

    return Registered()


def test_one_function():
    def program(tf, note):
        Masked = masked(tf)
        experimental = tf.experimental

        @experimental.dispatch_for_api(tf.math.add, {"x": Masked, "y": Masked})
        def masked_add(x, y, name=None):
            return Masked(x.values + y.values, x.mask & y.mask)

        @experimental.dispatch_for_api(tf.concat, {"values": typing.List[Masked]})  # noqa: UP006
        def masked_concat(values, axis):
            parts = [tf.concat([getattr(v, part) for v in values], axis) for part in FIELDS]
            return Masked(*parts)

        @experimental.dispatch_for_api(tf.subtract, {"x": Masked}, {1: Masked})
        def masked_subtract(x, y, name=None):
            return "subtracted", name

        one, two = Masked([1, 2], [True, False]), Masked([10, 20], [True, True])
        with dispatched(tf, masked_add, masked_concat, masked_subtract):
            total = tf.add(one, two)
            note(total.values, total.mask, tf.math.add(y=two, x=one).values)
            note(tf.concat([one, two], 0).values, tf.concat((one,), axis=0).mask)
            note(tf.subtract(one, 1), tf.subtract(1, one, name="n"), tf.subtract(3, 1))
            note(tf.add(1, 2), tf.concat([[1], [2]], 0), tf.add([1], tf.constant([2])))
            note(tf.function(lambda x: tf.add(x, x))(one).values)
            for bad in (lambda: tf.add(one, 1), lambda: tf.add(one), lambda: tf.abs(one)):
                with pytest.raises((ValueError, TypeError)) as raised:
                    bad()
                note(raised.type.__name__)
        with pytest.raises(ValueError, match="unsupported type") as raised:
            tf.add(one, two)
        return tf.add(2, 3)

    same(program)


FIELDS = ("values", "mask")


def test_by_annotations_and_passing_on():
    def program(tf, note):
        Masked = masked(tf)
        either = typing.Union[Masked, tf.Tensor]  # noqa: UP007

        def handler(x, y, name=None):
            return NotImplemented if name == "plain" else "handled"

        handler.__annotations__ = {"x": either, "y": either}
        note(tf.experimental.dispatch_for_api(tf.multiply)(handler) is handler)
        one = Masked([1], [True])
        with dispatched(tf, handler):
            note(tf.multiply(one, tf.constant(1)), tf.multiply(tf.constant(2), one))
            note(tf.multiply(tf.constant(2), tf.constant(3)))
            return tf.multiply(one, one, name="plain")

    same(program)


def test_families():
    def program(tf, note):
        Masked = masked(tf)

        @tf.experimental.dispatch_for_unary_elementwise_apis(Masked)
        def unary(api_func, x):
            return Masked(api_func(x.values), x.mask)

        @tf.experimental.dispatch_for_binary_elementwise_apis(Masked, Masked)
        def binary(api_func, x, y):
            return Masked(api_func(x.values, y.values), x.mask & y.mask)

        @tf.experimental.dispatch_for_binary_elementwise_assert_apis(Masked, Masked)
        def assertion(assert_func, x, y):
            kept = tf.logical_and(x.mask, y.mask)
            return assert_func(tf.boolean_mask(x.values, kept), tf.boolean_mask(y.values, kept))

        one = Masked([1.0, -2.0, 4.0], [True, False, True])
        two = Masked([3.0, 5.0, 4.0], [True, True, False])
        with dispatched(tf, unary, binary, assertion):
            for result in (
                tf.abs(one), tf.math.square(x=one), tf.cast(one, tf.int32), tf.nn.relu(one),
                tf.ones_like(one, dtype=tf.int8), tf.clip_by_value(one, -1.0, 1.0),
                tf.math.sigmoid(one), tf.strings.as_string(one),
                tf.add(one, two), tf.math.squared_difference(one, two), tf.pow(two, two),
                tf.maximum(one, two), tf.equal(one, two), tf.nn.leaky_relu(one, alpha=0.5),
            ):  # fmt: skip
                note(result.values, result.mask)
            tf.debugging.assert_less(one, two)
            for bad in (
                lambda: tf.debugging.assert_equal(one, two),
                lambda: tf.add(one, 1.0),
                lambda: tf.reduce_sum(one),
            ):
                try:
                    bad()
                except Exception as error:
                    note(type(error).__name__)
        return tf.abs(-1.0)

    same(program)


MISTAKES = [
    lambda tf, kind: tf.experimental.dispatch_for_api(tf.add)(lambda x, y: 1),
    lambda tf, kind: tf.experimental.dispatch_for_api(tf.add, {"x": kind})(lambda a, b: 1),
    lambda tf, kind: tf.experimental.dispatch_for_api(tf.add, {"x": kind})(lambda x: 1),
    lambda tf, kind: tf.experimental.dispatch_for_api(tf.add, {"q": kind})(lambda x, y: 1),
    lambda tf, kind: tf.experimental.dispatch_for_api(print, {"x": kind}),
    lambda tf, kind: tf.experimental.dispatch_for_api("a"),
    lambda tf, kind: tf.experimental.dispatch_for_api(tf.add, 5)(lambda x, y: 1),
    lambda tf, kind: tf.experimental.dispatch_for_unary_elementwise_apis(5)(lambda f, x: 1),
    lambda tf, kind: tf.experimental.unregister_dispatch_for(print),
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes(mistake):
    same(lambda tf, note: mistake(tf, masked(tf)))


def test_a_function_is_given_back_as_it_was():
    before = runnel.add.__code__, runnel.add.__defaults__, inspect.signature(runnel.add)
    held = runnel.add
    Masked = masked(runnel)

    @runnel.experimental.dispatch_for_api(runnel.add, {"x": Masked})
    def handler(x, y, name=None):
        return "handled"

    assert held(Masked(1, True), 2) == "handled"
    assert inspect.signature(held) == before[2]
    runnel.experimental.unregister_dispatch_for(handler)
    assert (held.__code__, held.__defaults__, inspect.signature(held)) == before
    assert int(held(1, 2)) == 3


def test_dlpack_and_scopes():
    def program(tf, note):
        dlpack = tf.experimental.dlpack
        for array in (np.arange(6.0).reshape(2, 3), np.array([True]), np.array(1 + 2j)):
            note(dlpack.from_dlpack(dlpack.to_dlpack(tf.constant(array))))
        capsule = dlpack.to_dlpack(tf.constant([1, 2]))
        dlpack.from_dlpack(capsule)
        for bad in (
            lambda: dlpack.from_dlpack(capsule),
            lambda: dlpack.to_dlpack(5),
            lambda: dlpack.from_dlpack(5),
        ):
            try:
                bad()
            except Exception as error:
                note(type(error).__name__)
        with tf.experimental.async_scope(), tf.experimental.function_executor_type("X"):
            note(tf.add(1, 2))
        tf.experimental.async_clear_error()

    same(program)


def test_dlpack_between_the_libraries():
    ours = runnel.experimental.dlpack.to_dlpack(runnel.constant([[1.5, 2.5]]))
    assert tensorflow.experimental.dlpack.from_dlpack(ours).numpy().tolist() == [[1.5, 2.5]]
    theirs = tensorflow.experimental.dlpack.to_dlpack(tensorflow.constant([3, 4]))
    assert runnel.experimental.dlpack.from_dlpack(theirs).numpy().tolist() == [3, 4]


def test_types_for_annotations():
    def program(tf, note):
        types = tf.types.experimental
        function = tf.function(lambda x: x, autograph=False)
        concrete = function.get_concrete_function(1)
        for kind in (types.GenericFunction, types.PolymorphicFunction, types.ConcreteFunction,
                     types.Callable):  # fmt: skip
            note(isinstance(function, kind), isinstance(concrete, kind))
        note(isinstance(tf.TensorSpec([]), types.TraceType))
        note(set(typing.get_args(types.TensorLike)) >= {int, float, list, np.ndarray})

    same(program)


def test_errors_in_functions_still_show_the_users_line():
    Masked = masked(runnel)

    @runnel.experimental.dispatch_for_api(runnel.add, {"x": Masked})
    def handler(x, y, name=None):
        return x

    @runnel.function(input_signature=[runnel.TensorSpec([None])] * 2)
    def total(x, y):
        return runnel.add(x, y)

    with dispatched(runnel, handler), pytest.raises(runnel.errors.InvalidArgumentError) as failure:
        total(runnel.ones([2]), runnel.ones([3]))
    assert "test_dispatch.py" in str(failure.value)
