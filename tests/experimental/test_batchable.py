"""Batchable extension types beside the original: encoders, datasets, tf.map_fn and Keras."""

import functools
import typing
from types import SimpleNamespace

import pytest
import tensorflow
from both import same

import runnel


@functools.cache
def kinds(tf):
    """Types with plain, ragged and nested fields, one that has no batches, and two encoders."""

    class Pair(tf.experimental.BatchableExtensionType):
        a: tf.Tensor
        b: tf.Tensor

    class Rows(tf.experimental.BatchableExtensionType):
        x: tf.Tensor
        r: tf.RaggedTensor
        s: tf.TensorShape = tf.TensorShape([])
        n: str = "n"

    class Nested(tf.experimental.BatchableExtensionType):
        v: Pair
        t: tuple[tf.Tensor, ...]
        m: typing.Mapping[str, tf.Tensor]

    class Single(tf.experimental.ExtensionType):
        a: tf.Tensor

    class Holder(tf.experimental.BatchableExtensionType):
        p: Single

    class ByRows(tf.experimental.ExtensionTypeBatchEncoder):
        def batch(self, spec, batch_size):
            shape = tf.TensorShape([batch_size]).concatenate(spec.outer)
            return Network.Spec(tf.RaggedTensorSpec([batch_size, None], tf.int32, 1), shape)

        def unbatch(self, spec):
            return Network.Spec(tf.TensorSpec([None], tf.int32), spec.outer[1:])

        def encode(self, spec, value, minimum_rank=0):
            return {"nodes": value.nodes}

        def decode(self, spec, encoded_value):
            return Network(encoded_value["nodes"], spec.outer)

        def encoding_specs(self, spec):
            if isinstance(spec.nodes, tf.RaggedTensorSpec):
                return {"nodes": spec.nodes}
            return {"nodes": tf.RaggedTensorSpec([None], tf.int32, 0)}

    class Network(tf.experimental.BatchableExtensionType):
        nodes: typing.Union[tf.Tensor, tf.RaggedTensor]  # noqa: UP007 - as programs write it
        outer: tf.TensorShape
        __batch_encoder__ = ByRows()

    found = SimpleNamespace(**{key: value for key, value in locals().items() if key != "tf"})
    found.pair = Pair([1, 2, 3], [[1.0], [2.0], [3.0]])
    found.pair_row = Pair.Spec(tf.TensorSpec([], tf.int32), tf.TensorSpec([1]))
    found.rows = Rows([1, 2, 3], tf.ragged.constant([[1], [2, 3], []]), [3])
    columns = {"k": [7, 8, 9], "j": [[1], [2], [3]]}
    found.nested = Nested(found.pair, ([1, 2, 3], [4, 5, 6]), columns)
    found.network_row = Network.Spec(tf.TensorSpec([None], tf.int32), tf.TensorShape([]))
    found.networks = Network(tf.ragged.constant([[1], [2, 3]]), [2])
    return found


def slices(tf, value):
    return tf.data.Dataset.from_tensor_slices(value)


def whole(tf, value):
    return tf.data.Dataset.from_tensors(value)


DATASETS = [
    lambda tf, k: slices(tf, k.pair),
    lambda tf, k: slices(tf, (k.pair, [1, 2, 3])),
    lambda tf, k: slices(tf, k.rows),
    lambda tf, k: slices(tf, k.nested),
    lambda tf, k: slices(tf, k.networks),
    lambda tf, k: whole(tf, k.pair),
    lambda tf, k: whole(tf, k.Single([1, 2])),
    lambda tf, k: slices(tf, k.pair).batch(2),
    lambda tf, k: slices(tf, k.pair).batch(2, drop_remainder=True),
    lambda tf, k: slices(tf, k.rows).batch(2),
    lambda tf, k: slices(tf, k.rows).batch(2, drop_remainder=True),
    lambda tf, k: slices(tf, k.nested).batch(2),
    lambda tf, k: slices(tf, k.networks).batch(2),
    lambda tf, k: whole(tf, k.rows).batch(2),
    lambda tf, k: whole(tf, k.pair).repeat(2).unbatch(),
    lambda tf, k: whole(tf, k.rows).unbatch(),
    lambda tf, k: whole(tf, k.networks).unbatch().batch(1),
    lambda tf, k: slices(tf, k.pair).batch(3).rebatch(2),
    lambda tf, k: slices(tf, k.pair).ragged_batch(2),
    lambda tf, k: slices(tf, k.pair).map(lambda each: k.Pair(each.a + 1, each.b * 2)),
    lambda tf, k: slices(tf, k.pair).map(lambda each: each, num_parallel_calls=2).batch(2),
    lambda tf, k: slices(tf, (k.pair, [1, 2, 3])).map(lambda each, n: each.a + n).batch(3),
    lambda tf, k: slices(tf, k.pair).filter(lambda each: each.a > 1).cache().batch(2),
    lambda tf, k: slices(tf, k.pair).group_by_window(
        lambda each: tf.cast(each.a % 2, tf.int64), lambda key, window: window.batch(3), 3
    ),
    lambda tf, k: tf.data.Dataset.zip((slices(tf, k.pair), tf.data.Dataset.range(3))).batch(2),
    lambda tf, k: whole(tf, k.pair).flat_map(tf.data.Dataset.from_tensor_slices),
    lambda tf, k: whole(tf, k.Pair([1], [1, 2])).concatenate(whole(tf, k.Pair([1, 2], [3, 4]))),
    lambda tf, k: whole(tf, k.Pair([1], [1])).concatenate(whole(tf, k.Pair([1, 2], [3]))).batch(2),
    lambda tf, k: tf.data.Dataset.from_generator(
        lambda: iter([k.Pair(1, [2.0]), k.Pair(3, [4.0])]), output_signature=k.pair_row
    ).batch(2),
    lambda tf, k: slices(tf, k.Pair([1, 2], [1, 2, 3])),
    lambda tf, k: slices(tf, k.Pair(1, [1, 2, 3])),
    lambda tf, k: whole(tf, k.Pair(1, [1, 2, 3])).unbatch(),
    lambda tf, k: slices(tf, k.Single([1, 2])),
    lambda tf, k: whole(tf, k.Single([1, 2])).batch(2),
    lambda tf, k: whole(tf, k.Single([1, 2])).unbatch(),
    lambda tf, k: slices(tf, k.pair).padded_batch(2),
    lambda tf, k: slices(tf, k.pair).padded_batch(2, padded_shapes=k.Pair([], [2])),
]


@pytest.mark.parametrize("make", DATASETS)
def test_datasets(make):
    def program(tf, note):
        dataset = make(tf, kinds(tf))
        note(repr(dataset.element_spec))
        return [repr(each) for each in dataset]

    same(program)


ENCODED = ["pair", "rows", "nested", "networks"]


@pytest.mark.parametrize("name", ENCODED)
def test_the_default_encoder(name):
    def program(tf, note):
        encoder = tf.experimental.ExtensionTypeBatchEncoder()
        value = getattr(kinds(tf), name)
        spec = tf.type_spec_from_value(value)
        note(repr(encoder.batch(spec, 5)), repr(encoder.batch(spec, None)))
        note(repr(encoder.unbatch(spec)), repr(encoder.encoding_specs(spec)))
        for rank in (0, 1):
            note(repr(encoder.encode(spec, value, rank)))
        decoded = encoder.decode(encoder.unbatch(spec), encoder.encode(spec, value, 1))
        return repr(decoded)

    same(program)


@pytest.mark.parametrize(
    "use",
    [
        lambda tf, k, e: e.unbatch(tf.type_spec_from_value(k.Pair(1, 2))),
        lambda tf, k, e: e.batch(tf.type_spec_from_value(k.Holder(k.Single(1))), 2),
        lambda tf, k, e: e.encode(k.Holder(k.Single(1))._type_spec, k.Holder(k.Single(1))),
        lambda tf, k, e: isinstance(k.pair_row, tf.experimental.ExtensionTypeSpec),
        lambda tf, k, e: k.Pair([1], [2]) == k.Pair([1], [2]),
        lambda tf, k, e: tf.scan(lambda total, each: total + each.a, k.pair, 0),
    ],
)  # fmt: skip
def test_what_encoders_say_of_other_values(use):
    encoder = {tf: tf.experimental.ExtensionTypeBatchEncoder() for tf in (tensorflow, runnel)}
    same(lambda tf, note: repr(use(tf, kinds(tf), encoder[tf])))


MAPPED = [
    lambda tf, k: tf.map_fn(lambda each: each.a * 2, k.pair, fn_output_signature=tf.int32),
    lambda tf, k: tf.map_fn(lambda each: k.Pair(each.a * 2, each.b), k.pair),
    lambda tf, k: tf.map_fn(lambda each: each, k.pair, fn_output_signature=k.pair_row),
    lambda tf, k: tf.map_fn(
        lambda n: k.Pair(n, [2.0]), tf.constant([1, 2]), fn_output_signature=k.pair_row
    ),
    lambda tf, k: tf.map_fn(
        lambda n: k.Pair(n, [2.0, 3.0]), tf.constant([1, 2]), fn_output_signature=k.pair_row
    ),
    lambda tf, k: tf.map_fn(
        lambda each: tf.reduce_sum(each.r) + each.x, k.rows, fn_output_signature=tf.int32
    ),
    lambda tf, k: tf.map_fn(
        lambda each: each.v.a + each.t[0] + each.m["k"], k.nested, fn_output_signature=tf.int32
    ),
    lambda tf, k: tf.map_fn(
        lambda each: (each[0].a + each[1], each[0]), (k.pair, tf.constant([10, 20, 30])),
        fn_output_signature=(tf.int32, k.pair_row),
    ),
    lambda tf, k: tf.map_fn(
        lambda each: tf.reduce_sum(each.nodes), k.networks, fn_output_signature=tf.int32
    ),
    lambda tf, k: tf.map_fn(
        lambda n: k.Network(tf.range(n), []), tf.constant([1, 3]),
        fn_output_signature=k.network_row,
    ),
    lambda tf, k: tf.map_fn(
        lambda each: each, k.Pair(tf.zeros([0], tf.int32), tf.zeros([0, 1])),
        fn_output_signature=k.pair_row,
    ),
    lambda tf, k: tf.map_fn(lambda each: each.a, k.Single([1, 2]), fn_output_signature=tf.int32),
    lambda tf, k: tf.map_fn(
        lambda n: k.Single(n), tf.constant([1]),
        fn_output_signature=k.Single.Spec(tf.TensorSpec([], tf.int32)),
    ),
    lambda tf, k: tf.map_fn(lambda each: each.a, k.Pair(1, [2]), fn_output_signature=tf.int32),
    lambda tf, k: tf.map_fn(lambda each: each.a, k.Pair([1, 2], [2]), fn_output_signature=tf.int32),
    lambda tf, k: tf.vectorized_map(lambda each: each.a, k.pair),
    lambda tf, k: tf.vectorized_map(lambda each: k.Pair(each.a * 2, each.b), k.pair),
]  # fmt: skip


@pytest.fixture
def scope():
    """The original's map_fn leaves its scope changed where the function fails."""
    yield
    tensorflow.compat.v1.get_variable_scope()._caching_device = None


@pytest.mark.usefixtures("scope")
@pytest.mark.parametrize("traced", [False, True], ids=["eager", "traced"])
@pytest.mark.parametrize("use", MAPPED)
def test_mapping(use, traced):
    def program(tf, note):
        def call():
            return use(tf, kinds(tf))

        return repr(tf.function(call)() if traced else call())

    same(program)


def test_unknown_sizes_in_functions():
    def program(tf, note):
        k = kinds(tf)
        spec = k.Pair.Spec(tf.TensorSpec([None], tf.int32), tf.TensorSpec([None, None]))

        @tf.function(input_signature=[spec])
        def function(pair):
            doubled = tf.map_fn(lambda each: k.Pair(each.a * 2, each.b), pair)
            total = slices(tf, pair).reduce(0, lambda total, each: total + each.a)
            return doubled, total

        doubled, total = function(k.pair)
        note(doubled.a, doubled.b, total)

    same(program)


def test_placeholders_hold_the_parts_of_a_spec():
    seen = []
    spec = kinds(runnel).pair_row

    @runnel.function
    def function():
        seen.append(spec.placeholder_value(None))

    function()
    (value,) = seen
    assert isinstance(value, kinds(runnel).Pair)
    assert repr(runnel.type_spec_from_value(value)) == repr(spec)
    with pytest.raises(ValueError, match="traced"):
        spec.placeholder_value(None)
    assert spec.experimental_type_proto().__name__ == "TypeSpecProto"
    with pytest.raises(TypeError, match="No TypeSpec has been registered"):
        spec.experimental_as_proto()


def masked_kind(tf):
    class Masked(tf.experimental.BatchableExtensionType):
        values: tf.Tensor
        mask: tf.Tensor

        @property
        def shape(self):
            return self.values.shape

        @property
        def dtype(self):
            return self.values.dtype

        class Spec:
            @property
            def shape(self):
                return self.values.shape

            @property
            def dtype(self):
                return self.values.dtype

    class Filled(tf.keras.layers.Layer):
        def call(self, inputs):
            return tf.where(inputs.mask, inputs.values, 0.0)

    class Positive(tf.keras.layers.Layer):
        def call(self, inputs):
            return Masked(inputs, inputs > 0.0)

    return Masked, Filled, Positive


def test_keras_models_take_and_make_them():
    def program(tf, note):
        Masked, Filled, Positive = masked_kind(tf)
        data = Masked([[1.0, 2.0], [3.0, 4.0]], [[True, False], [True, True]])
        note(Filled()(data))
        spec = Masked.Spec(tf.TensorSpec([None, 2]), tf.TensorSpec([None, 2], tf.bool))
        inputs = tf.keras.Input(type_spec=spec)
        note(repr(inputs.shape), str(inputs).split("description")[0])
        dense = tf.keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")
        model = tf.keras.Model(inputs, dense(Filled()(inputs)))
        note(model(data), model.predict(data, verbose=0), model.predict(data, 1, verbose=0))
        model.compile("sgd", "mse")
        targets = tf.constant([[1.0], [2.0]])
        note(round(model.fit(data, targets, epochs=1, verbose=0).history["loss"][0], 4))
        batches = slices(tf, (data, targets)).batch(1)
        note(round(model.evaluate(batches, verbose=0), 4))
        stack = tf.keras.Sequential([Filled(), tf.keras.layers.Dense(1)])
        stack.compile("sgd", "mse")
        stack.fit(data, targets, batch_size=1, epochs=1, verbose=0)
        note(stack.predict(data, verbose=0).shape)
        inputs = tf.keras.Input([2])
        between = Positive()(inputs)
        note(tf.keras.Model(inputs, Filled()(between))(tf.constant([[1.0, -2.0]])))
        made = tf.keras.Model(inputs, between)(tf.constant([[1.0, -2.0]]))
        note(made.values, made.mask)

    same(program)
