"""Vocabularies that follow their inputs, dataset creators, tuners, evaluators, beside tf_keras."""

import os

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import runnel
import runnel.keras.callbacks
import runnel.keras.utils

tf_keras = pytest.importorskip("tf_keras")
tensorflow = pytest.importorskip("tensorflow")
BOTH = [(tensorflow, tf_keras), (runnel, runnel.keras)]

LETTERS = "abcdefghij"
WORDS = [list("ajcde"), list("ahijb"), list("ihcje")]


def outcome(function):
    try:
        return function()
    except Exception as error:
        return type(error).__name__


def lookup_state(layer):
    table = (layer.vocabulary_table_keys, layer.vocabulary_table_values)
    return [each.numpy().tolist() for each in table]


def course(tf, keras, kind, size, initial, batches):
    """The outputs and the states of a layer through some batches, as plain values."""
    layer = keras.layers.experimental.DynamicLookup(size, tf.constant(initial, kind))
    seen = []
    for batch, learn in batches:
        tokens = tf.constant(np.array(batch), kind)
        seen.append(outcome(lambda: layer(tokens, learn_vocab=learn).numpy().tolist()))
        seen.append(lookup_state(layer))
        seen.append([layer.get_top_vocabulary(k).numpy().tolist() for k in (1, size, 2 * size)])
    return seen


@settings(max_examples=25, deadline=None)
@given(
    size=st.integers(2, 7),
    initial=st.lists(st.sampled_from(range(6)), min_size=1, max_size=7, unique=True),
    batches=st.lists(
        st.tuples(st.lists(st.sampled_from(range(10)), min_size=1, max_size=6), st.booleans()),
        min_size=1,
        max_size=6,
    ),
    kind=st.sampled_from(["int32", "int64", "string"]),
)
def test_lookup_follows_its_inputs(size, initial, batches, kind):
    if kind == "string":
        initial = [LETTERS[each] for each in initial]
        batches = [([LETTERS[each] for each in batch], learn) for batch, learn in batches]
    expected, found = (course(tf, keras, kind, size, initial, batches) for tf, keras in BOTH)
    assert found == expected


@pytest.mark.parametrize("rank", [0, 1, 2, 3])
def test_lookup_keeps_shapes(rank):
    tokens = np.resize(np.array(["b", "x", "a", "b"]), (2,) * rank)
    for tf, keras in BOTH:
        layer = keras.layers.experimental.DynamicLookup(3, tf.constant(["a", "b", "c"]))
        found = layer(tf.constant(tokens)).numpy()
        assert found.dtype == np.int64
        expected = np.where(tokens == "b", 1, np.where(tokens == "a", 0, 3))
        np.testing.assert_array_equal(found, expected)
        function = tf.function(lambda x, layer=layer: layer(x, learn_vocab=False))
        np.testing.assert_array_equal(function(tf.constant(tokens)), expected)


def test_lookup_of_ragged_tokens():
    for tf, keras in BOTH:
        layer = keras.layers.experimental.DynamicLookup(3, tf.constant([1, 2, 3]))
        assert layer(tf.ragged.constant([[1], [2, 9]], dtype=tf.int32)).to_list() == [[0], [1, 3]]


def test_lookup_in_a_function_learns():
    states = []
    for tf, keras in BOTH:
        layer = keras.layers.experimental.DynamicLookup(3, tf.constant(["a", "b", "c"]))
        function = tf.function(layer, input_signature=[tf.TensorSpec([None], tf.string)])
        states.append([])
        for words in (["x", "a", "x"], ["z", "y", "a"], ["b"]):
            states[-1].append((function(tf.constant(words)).numpy().tolist(), lookup_state(layer)))
    assert states[0] == states[1]


def wrong_lookups(tf):
    three = tf.constant([1, 2, 3])
    return [
        (3, tf.float32), (3, [1, 2, 3]), (3, None), (3, three, "LRU"), (3, three, None),
        (3, tf.constant([[1, 2, 3]])), ("3", three),
    ]  # fmt: skip


def test_lookup_refuses():
    names = []
    for tf, keras in BOTH:
        make = keras.layers.experimental.DynamicLookup
        names.append([outcome(lambda: make(*each)) for each in wrong_lookups(tf)])
    assert names[1] == names[0]
    assert all(isinstance(name, str) for name in names[0])


@pytest.mark.parametrize("kind", ["int32", "int64", "string"])
def test_lookup_of_random_tokens(kind):
    runnel.random.set_seed(1)
    layer = runnel.keras.layers.experimental.DynamicLookup(50, getattr(runnel, kind))
    tokens = layer.initial_vocabulary.numpy()
    assert tokens.shape == (50,) and layer.vocabulary_dtype == getattr(runnel, kind)
    if kind == "string":
        assert len(set(tokens)) == 50
        assert all(len(token) == 10 and token.isalpha() for token in tokens)
    else:
        assert tokens.min() >= 0 and tokens.max() < 50


def test_weights_and_configs(tmp_path):
    found = []
    for (tf, keras), folder in zip(BOTH, ("theirs", "ours"), strict=True):
        experimental = keras.layers.experimental
        vocabulary = tf.constant(["a", "b", "c"])
        lookup = experimental.DynamicLookup(3, vocabulary, name="lookup")
        embedding = experimental.DynamicEmbedding(3, 2, vocabulary, input_length=2, name="e")
        files = tmp_path / folder
        files.mkdir()
        for layer in (lookup, embedding):
            layer(tf.constant([["a", "z"]]))
            layer.save_assets(str(files))
            weights = [(w.name, tuple(w.shape), w.dtype.name, w.trainable) for w in layer.weights]
            saved = keras.saving.serialize_keras_object(layer)
            del saved["build_config"]
            found.append((layer.get_config(), saved, weights, layer.count_params()))
        found.append({each.name: each.read_text() for each in files.iterdir()})
    assert found[3:] == found[:3]


def test_configs_make_the_layers_again():
    experimental = runnel.keras.layers.experimental
    vocabulary = runnel.constant(["a", "b", "c"])
    for layer in (
        experimental.DynamicLookup(3, vocabulary),
        experimental.DynamicEmbedding(3, 2, vocabulary, embedding_initializer="ones"),
    ):
        again = type(layer).from_config(layer.get_config())
        assert again.get_config() == layer.get_config()
        tokens = runnel.constant([["c", "q"]])
        np.testing.assert_array_equal(again(tokens), layer(tokens))


def embedding_course(tf, keras):
    layer = keras.layers.experimental.DynamicEmbedding(
        4, 1, tf.constant(list("abcd")), embedding_initializer="ones"
    )
    strategy = tensorflow.distribute.get_strategy()
    assert layer.update_embeddings(strategy) is None
    layer(tf.constant([["a"]]))
    layer.embedding_layer.set_weights([np.array([[10.0], [20.0], [30.0], [40.0], [50.0]])])
    for words in ("aabx", "xxxyy", "UPDATE", "xyabcd", "UPDATE", "qq", "q", "UPDATE", "qxyabcd"):
        if words == "UPDATE":
            layer.update_embeddings(strategy)
        else:
            yield layer(tf.constant([list(words)])).numpy().tolist()
        yield lookup_state(layer.dynamic_lookup_layer)
        yield layer.get_vocabulary().numpy().tolist()
        yield layer.embedding_layer.get_weights()[0].tolist()


def test_embedding_updates_its_vocabulary():
    expected, found = (list(embedding_course(tf, keras)) for tf, keras in BOTH)
    assert found == expected


def test_embedding_of_integers_updates_too():
    layer = runnel.keras.layers.experimental.DynamicEmbedding(
        2, 1, runnel.constant([1, 2]), embedding_initializer="zeros"
    )
    layer(runnel.constant([[1]]))
    layer.embedding_layer.set_weights([np.array([[10.0], [20.0], [30.0]])])
    layer(runnel.constant([[7, 8]]), learn_vocab=False)
    layer(runnel.constant([[1, 7]]))
    layer.update_embeddings(None)
    assert layer.get_vocabulary().numpy().tolist() == [1, 7]
    vectors = layer(runnel.constant([[1, 7, 2]]), learn_vocab=False)
    assert vectors.numpy().ravel().tolist() == [10, 0, 0]


def test_tables_are_summed():
    for tf, keras in BOTH:
        layer = keras.layers.experimental.DynamicEmbedding(2, 1, tf.constant(["a", "b"]))
        keys, counts = layer.aggregate_lookup_table(
            [tf.constant(["a", "b"]), tf.constant(["b", "c"])],
            [tf.constant([3, 5]), tf.constant([3, 1])],
        )
        assert (keys.numpy().tolist(), counts.numpy().tolist()) == ([b"a", b"b", b"c"], [3, 8, 1])
        assert layer.get_top_vocabulary(keys, counts, 2).numpy().tolist() == [b"b", b"a"]
        assert len(layer.get_top_vocabulary(keys, counts, 9)) == 3


@pytest.mark.parametrize("optimizer", ["adam", "adagrad", "sgd"])
def test_callback_updates_and_forgets(optimizer):
    found = []
    for tf, keras in BOTH:
        layer = keras.layers.experimental.DynamicEmbedding(
            5, 2, tf.constant(list("abcde")), input_length=5, name="dynamic_embedding"
        )
        dense = keras.layers.Dense(3, name="classes")
        model = keras.Sequential([layer, keras.layers.Flatten(), dense])
        model.compile(optimizer, "mse")
        callback = keras.callbacks.experimental.UpdateEmbeddingCallback(layer, interval=3600)
        assert callback.on_interval() is None
        with callback as entered:
            assert entered is callback and callback.is_alive()
            history = model.fit(
                np.array(WORDS), np.ones((3, 3)), epochs=2, batch_size=1, shuffle=False,
                callbacks=[callback], verbose=0,
            )  # fmt: skip
        assert len(history.history["loss"]) == 2
        callback.on_interval()
        slots = [(each.name, bool(np.any(each.numpy()))) for each in model.optimizer.variables]
        found.append((slots, layer.get_vocabulary().numpy().tolist()))
    assert found[1] == found[0]


def dataset_of(tf, seen):
    def make(context):
        seen.append((
            context.num_input_pipelines, context.input_pipeline_id, context.num_replicas_in_sync,
            context.get_per_replica_batch_size(64), str(context),
        ))  # fmt: skip
        return (
            tf.data.Dataset.range(1, 100)
            .map(lambda x: (tf.cast([x], "float32"), tf.cast([2 * x], "float32") / 100))
            .batch(4)
        )

    return make


def test_dataset_creator_feeds_a_model():
    found = []
    for tf, keras in BOTH:
        seen = []
        creator = keras.utils.experimental.DatasetCreator(dataset_of(tf, seen))
        model = keras.Sequential([keras.layers.Dense(1, kernel_initializer="zeros")])
        model.compile(keras.optimizers.SGD(1e-4), "mse")
        history = model.fit(
            creator, epochs=2, steps_per_epoch=3, validation_data=creator, validation_steps=2,
            verbose=0,
        ).history  # fmt: skip
        numbers = history["loss"] + history["val_loss"]
        numbers.append(model.evaluate(creator, steps=2, verbose=0))
        numbers += model.predict(creator, steps=2, verbose=0).ravel().tolist()
        found.append((numbers, set(seen)))
        assert outcome(lambda: model.fit(creator, verbose=0)) == "ValueError"
    np.testing.assert_allclose(found[1][0], found[0][0], rtol=1e-5)
    assert found[1][1] == found[0][1]


def test_dataset_creator_refuses():
    for tf, keras in BOTH:
        creator = keras.utils.experimental.DatasetCreator
        for wrong in (lambda: creator(3), lambda: creator(len, input_options=3)):
            assert outcome(wrong) == "TypeError"
        assert outcome(lambda: creator(lambda context: 5)(None)) == "TypeError"
        assert isinstance(creator(lambda a: tf.data.Dataset.range(a))(3), tf.data.Dataset)


@pytest.mark.parametrize("every", [1, 2, 3])
def test_tuner_changes_steps(every):
    """The rule by hand: means of the last measurements, and the last direction."""
    tf, keras = BOTH[1]
    optimizer, steps = keras.optimizers.SGD(), tf.Variable(4, dtype="int64")
    tuner = keras.utils.StepsPerExecutionTuner(
        optimizer, steps, interval=3600, change_spe_interval=every
    )
    thread = tuner.start()
    assert thread is tuner.thread and thread.is_alive() and thread.daemon
    moment = tuner._last_time
    total, rates, upward, last, expected, count = 0, [0.0], True, 0.0, 4, 1
    for rate in (50, 100, 103, 200, 0, 100, 300, 300, 50, 60, 100, 400):
        total += rate
        moment += 1
        tuner._measure(total, moment)
        rates, count = [*rates, rate][-every:], count + 1
        if rate and count % every == 0:
            mean = sum(rates) / len(rates)
            if not last or abs(mean - last) / last > 0.1:
                upward = upward if mean > last else not upward
                expected = max(1, round(expected * (1.5 if upward else 0.5)))
            last = mean
        assert steps.numpy() == expected
    tuner.stop()
    assert not thread.is_alive()


def test_tuner_sets_steps():
    for tf, keras in BOTH:
        steps = tf.Variable(1, dtype="int64")
        tuner = keras.utils.StepsPerExecutionTuner(keras.optimizers.SGD(), steps)
        tuner.stop()
        tuner.start()
        tuner.steps_per_execution = 7
        assert steps.numpy() == 7 and tuner.steps_per_execution is steps and tuner.init_spe == 7
        tuner.stop()
        assert tuner.steps_per_execution_stop_event.is_set()


def trained(keras):
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(2,))])
    model.compile("adam", "mse", metrics=["mae"])
    return model


X, Y = np.ones((8, 2), "float32"), np.full((8, 1), 3, "float32")


@pytest.mark.parametrize("way", ["callback", "manager", "model"])
def test_sidecar_evaluates_the_latest(way, tmp_path, capsys):
    folder = str(tmp_path)
    tf, keras = BOTH[1]
    model = trained(keras)
    saving = keras.callbacks.ModelCheckpoint(folder + "/ckpt-{epoch}", save_weights_only=True)
    model.fit(X, Y, epochs=2, verbose=0, callbacks=[saving] if way == "callback" else [])
    if way != "callback":
        parts = {"model": model} | ({"optimizer": model.optimizer} if way == "manager" else {})
        manager = tf.train.CheckpointManager(tf.train.Checkpoint(**parts), folder, 3)
        manager.save()
        manager.save()
    expected = model.evaluate(X, Y, verbose=0)
    for other, their in BOTH:
        logs = []
        recorder = their.callbacks.LambdaCallback()
        recorder.on_test_end = lambda given=None, logs=logs: logs.append(dict(given))
        fresh = trained(their)
        data = other.data.Dataset.from_tensor_slices((X, Y)).batch(4)
        their.utils.SidecarEvaluator(
            fresh, data, folder, max_evaluations=2, callbacks=[recorder]
        ).start()
        np.testing.assert_allclose([logs[0]["loss"], logs[0]["mae"]], expected, rtol=1e-6)
        assert len(logs) == 1 and fresh.optimizer.iterations.numpy() == 2
        for one, two in zip(fresh.get_weights(), model.get_weights(), strict=True):
            np.testing.assert_array_equal(one, two)


def test_sidecar_refuses_foreign_checkpoints(tmp_path):
    for (tf, keras), folder in zip(BOTH, ("theirs", "ours"), strict=True):
        foreign, good = str(tmp_path / folder / "a"), str(tmp_path / folder / "b")
        model = trained(keras)
        tf.train.CheckpointManager(tf.train.Checkpoint(m=model), foreign, 3).save()
        tf.train.CheckpointManager(tf.train.Checkpoint(model=model), good, 3).save()
        evaluator = keras.utils.SidecarEvaluator
        data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)
        assert outcome(lambda: evaluator(trained(keras), data, foreign).start()) == "AssertionError"
        bare = keras.Sequential([keras.layers.Dense(1, input_shape=(2,))])
        assert outcome(lambda: evaluator(bare, data, good).start()) == "RuntimeError"


def test_sidecar_exports_the_best(tmp_path, capsys):
    for (tf, keras), part in zip(BOTH, ("theirs", "ours"), strict=True):
        folder = str(tmp_path / part)
        model = trained(keras)
        path = folder + "/ckpt-{epoch:04d}"
        saving = keras.callbacks.ModelCheckpoint(path, save_weights_only=True)
        model.fit(X, Y, epochs=3, verbose=0, callbacks=[saving])
        export = keras.callbacks.SidecarEvaluatorModelExport(
            folder + "/best/model-{epoch:02d}", path, save_weights_only=True, monitor="loss",
            mode="min",
        )  # fmt: skip
        assert export.save_best_only and export.save_freq == "epoch"
        data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)
        fresh = trained(keras)
        keras.utils.SidecarEvaluator(
            fresh, data, folder, max_evaluations=3, callbacks=[export]
        ).start()
        assert "model-03.index" in os.listdir(folder + "/best")
        assert export.export_index == 2
        assert export.best == pytest.approx(model.evaluate(X, Y, verbose=0)[0], rel=1e-6)
        again = trained(keras)
        again.load_weights(folder + "/best/model-03").expect_partial()
        for one, two in zip(again.get_weights(), model.get_weights(), strict=True):
            np.testing.assert_array_equal(one, two)


def test_models_with_dynamic_embeddings_are_saved(tmp_path):
    inputs = runnel.keras.Input((2,), dtype="string")
    layer = runnel.keras.layers.experimental.DynamicEmbedding(
        3, 2, runnel.constant(["a", "b", "c"])
    )
    model = runnel.keras.Model(inputs, layer(inputs))
    words = runnel.constant([["a", "z"], ["z", "b"]])
    model(words)
    layer.update_embeddings(None)
    path = str(tmp_path / "model.keras")
    model.save(path)
    again = runnel.keras.models.load_model(path)
    np.testing.assert_array_equal(again(words), model(words))
    assert again.layers[-1].get_vocabulary().numpy().tolist() == (
        layer.get_vocabulary().numpy().tolist()
    )
