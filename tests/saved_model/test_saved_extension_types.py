"""Extension types in SavedModels and saved datasets, beside the original's and both ways."""

import typing

import pytest
import tensorflow as original

import runnel

BOTH = [(original, runnel), (runnel, original), (runnel, runnel)]


def types_of(tf):
    class Masked(tf.experimental.BatchableExtensionType):
        __name__ = "runnel_tests.saved.Masked"
        values: tf.Tensor
        mask: tf.Tensor

        def kept(self, default):
            return tf.where(self.mask, self.values, default)

    class Meta(tf.experimental.ExtensionType):
        __name__ = "runnel_tests.saved.Meta"
        values: tf.Tensor
        kind: str
        sizes: tuple[int, ...] = (1,)
        extra: typing.Optional[tf.Tensor] = None  # noqa: UP045
        rows: typing.Union[tf.Tensor, tf.RaggedTensor] = 0.0  # noqa: UP007
        more: typing.Mapping[str, tf.Tensor] = {}
        dtype: tf.DType = tf.int32

    class Nest(tf.experimental.ExtensionType):
        __name__ = "runnel_tests.saved.Nest"
        meta: Meta
        both: tuple[Masked, ...]

    return Masked, Meta, Nest


TYPES = {tf: types_of(tf) for tf in (original, runnel)}


def model_of(tf):
    Masked, _, Nest = TYPES[tf]
    spec = Masked.Spec(tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool))

    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.v = tf.Variable(2.0)
            self.default = Masked([7.0], [True])

        @tf.function(input_signature=[spec])
        def typed(self, x):
            return Masked(x.values * self.v, x.mask)

        @tf.function
        def traced(self, x, other):
            return x, {"other": other}, [x.values + other.values]

        @tf.function
        def nested(self, x):
            return Nest(x.meta, x.both[:1])

        @tf.function(input_signature=[spec])
        def kept(self, x):
            return {"kept": x.kept(self.default.values[0])}

    return Model()


def nested_value(tf, kind):
    Masked, Meta, Nest = TYPES[tf]
    meta = Meta([1.0], kind, (2, 3), [5.0], tf.ragged.constant([[1.0], [2.0, 3.0]]), {"q": [1.0]})
    return Nest(meta, (Masked([1.0], [True]), Masked([2.0], [False])))


@pytest.mark.parametrize(("writer", "reader"), BOTH)
def test_functions_take_and_return_them(writer, reader, tmp_path):
    model = model_of(writer)
    Masked = TYPES[writer][0]
    value = Masked([1.0, 2.0], [True, False])
    model.traced(value, value)
    model.nested(nested_value(writer, "k"))
    writer.saved_model.save(model, str(tmp_path), signatures=model.kept)

    loaded = reader.saved_model.load(str(tmp_path))
    Masked = TYPES[reader][0]
    value = Masked([1.0, 2.0, 3.0], [True, False, True])
    with reader.GradientTape() as tape:
        result = loaded.typed(value)
    assert type(result) is Masked and result.values.numpy().tolist() == [2.0, 4.0, 6.0]
    assert float(tape.gradient(result.values, loaded.v)) == 6.0
    value = Masked([1.0, 2.0], [True, False])
    first, named, listed = loaded.traced(value, value)
    assert type(first) is Masked and type(named["other"]) is Masked
    assert listed[0].numpy().tolist() == [2.0, 4.0]

    found = loaded.nested(nested_value(reader, "k"))
    assert type(found) is TYPES[reader][2] and len(found.both) == 1
    meta = found.meta
    assert (meta.kind, meta.sizes, meta.dtype) == ("k", (2, 3), reader.int32)
    assert meta.rows.to_list() == [[1.0], [2.0, 3.0]] and meta.more["q"].numpy() == [1.0]
    with pytest.raises(ValueError, match="Could not find matching concrete function"):
        loaded.nested(nested_value(reader, "other"))

    signature = loaded.signatures["serving_default"]
    assert sorted(signature.structured_input_signature[1]) == ["x", "x_1"]
    tensors = {"x": reader.constant([1.0, 2.0]), "x_1": reader.constant([True, False])}
    assert signature(**tensors)["kept"].numpy().tolist() == [1.0, 7.0]


def test_classes_need_a_name_for_files(tmp_path):
    class Unnamed(runnel.experimental.ExtensionType):
        values: runnel.Tensor

    module = runnel.Module()
    module.f = runnel.function(lambda x: x.values)
    module.f(Unnamed([1.0]))
    with pytest.raises(TypeError, match=r'No TypeSpec has been registered.*__name__ = "my_project'):
        runnel.saved_model.save(module, str(tmp_path / "m"))


def test_which_names_can_be():
    def outcome(tf, given):
        class Value(tf.experimental.ExtensionType):
            __name__ = given
            x: tf.Tensor

    for name in ("plain{}", "a.b.{}", "a b.c", "", "a.", "1a.b", "runnel_tests.saved.Masked", 3):
        outcomes = []
        for tf in (original, runnel):
            given = name if name == 3 else name.format(tf.__name__)
            try:
                outcomes.append(outcome(tf, given))
            except (TypeError, ValueError) as failure:
                outcomes.append(type(failure))
        assert outcomes[0] is outcomes[1], name


def test_a_class_defined_once_more_takes_its_place(tmp_path):
    def define():
        class Again(runnel.experimental.ExtensionType):
            __name__ = "runnel_tests.saved.Again"
            x: runnel.Tensor

        return Again

    define()
    Again = define()
    module = runnel.Module()
    module.f = runnel.function(lambda x: Again(x.x + 1))
    module.f(Again(1))
    runnel.saved_model.save(module, str(tmp_path / "m"))
    assert type(runnel.saved_model.load(str(tmp_path / "m")).f(Again(2))) is Again


@pytest.mark.parametrize(("writer", "reader"), BOTH)
def test_datasets_are_saved_with_them(writer, reader, tmp_path):
    value = TYPES[writer][0]([[1.0, 2.0], [3.0, 4.0]], [[True, False], [False, True]])
    dataset = writer.data.Dataset.from_tensor_slices((value, ["a", "b"]))
    dataset.save(str(tmp_path))
    elements = list(reader.data.Dataset.load(str(tmp_path)))
    assert [type(each) for each, _ in elements] == [TYPES[reader][0]] * 2
    assert [each.kept(0.0).numpy().tolist() for each, _ in elements] == [[1.0, 0.0], [0.0, 4.0]]
    assert [text.numpy() for _, text in elements] == [b"a", b"b"]
