"""Older methods of models, paths of weights, sharpness-aware training, and CTC decoding."""

import numpy as np
import pytest
from side_by_side import compare, compare_failure

import runnel

X = np.arange(24).reshape(8, 3).astype("float32") / 10
Y = X.sum(axis=1, keepdims=True) * 2


def compiled(keras):
    layer = keras.layers.Dense(1, input_shape=(3,), kernel_initializer="ones", name="top")
    model = keras.Sequential([layer])
    model.compile("sgd", "mse", metrics=["mae"])
    return model


def batches():
    while True:
        yield X[:4], Y[:4]
        yield X[4:], Y[4:]


def test_generators_by_older_names():
    def results(tf, keras):
        model = compiled(keras)
        with pytest.warns(UserWarning, match="Please use `Model.fit`"):
            history = model.fit_generator(batches(), steps_per_epoch=2, epochs=2, verbose=0)
        with pytest.warns(UserWarning, match="Please use `Model.evaluate`"):
            losses = model.evaluate_generator(batches(), steps=2)
        with pytest.warns(UserWarning, match="Please use `Model.predict`"):
            outputs = model.predict_generator(batches(), steps=2)
        return np.array(history.history["loss"]), np.array(losses), outputs

    compare(results, tolerance=1e-5)


@pytest.mark.parametrize("run_eagerly", [True, False])
def test_functions_of_iterators(run_eagerly):
    def results(tf, keras):
        model = compiled(keras)
        model.compile("sgd", "mse", run_eagerly=run_eagerly)
        data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4) if tf is not runnel else None
        iterator = iter(data) if data is not None else batches()
        logs = model.make_train_function()(iterator)
        model.reset_metrics()
        tested = model.make_test_function()(iterator)
        iterator = iter(data) if data is not None else batches()
        return dict(logs), dict(tested), model.make_predict_function()(iterator)

    compare(results, tolerance=1e-5)


def test_jit_compile_as_compile_was_told():
    model = compiled(runnel.keras)
    assert model.jit_compile is None
    model.compile("sgd", "mse", jit_compile=False)
    assert model.jit_compile is False
    model.jit_compile = None
    assert model.jit_compile is None


def test_yaml_is_refused():
    compare_failure(lambda tf, keras: compiled(keras).to_yaml())
    assert compiled(runnel.keras).state_updates == []


def nested(tf, keras):
    class Nested(keras.Model):
        def __init__(self):
            super().__init__()
            self.first = keras.layers.Dense(1)
            self.several = [keras.layers.Dense(2), keras.layers.Dense(3)]
            self.named = {"last": keras.layers.Dense(1)}
            self.offset = tf.Variable(1.0)

        def call(self, inputs):
            hidden = self.several[1](self.several[0](self.first(inputs)))
            return self.named["last"](hidden) + self.offset

    model = Nested()
    model(tf.ones([5, 2]))
    return model


def test_paths_of_weights():
    def paths(tf, keras):
        model = nested(tf, keras)
        shapes = {path: tuple(v.shape) for path, v in model.get_weight_paths().items()}
        return sorted(shapes.items()), list(compiled(keras).get_weight_paths())

    compare(paths)


def test_specs_of_the_inputs():
    def specs(tf, keras):
        deferred = keras.Sequential([keras.layers.Dense(1)])
        before = deferred.save_spec()
        deferred(tf.ones([5, 2]))
        found = [model.save_spec() for model in (nested(tf, keras), deferred, compiled(keras))]
        found.append(nested(tf, keras).save_spec(dynamic_batch=False))
        return before, [
            (tuple(spec.shape), spec.dtype.name, len(kwargs)) for (spec,), kwargs in found
        ]

    compare(specs)


@pytest.mark.parametrize("splits", [None, 2])
def test_sharpness_aware_minimization(splits):
    def course(tf, keras):
        kind = keras.models.experimental.SharpnessAwareMinimization
        model = kind(compiled(keras), rho=0.05, num_batch_splits=splits)
        model.compile("sgd", "mse", metrics=["mae"])
        history = model.fit(X, Y, epochs=3, batch_size=4, shuffle=False, verbose=0)
        outputs = model.predict(X, verbose=0)
        config = model.get_config()
        return (
            {key: np.array(value) for key, value in history.history.items()},
            *(outputs, *model.get_weights()),
            (list(config), config["rho"]),
        )

    compare(course, tolerance=1e-5)


def test_sharpness_aware_minimization_from_its_config():
    kind = runnel.keras.models.experimental.SharpnessAwareMinimization
    model = kind(compiled(runnel.keras), rho=0.1)
    again = kind.from_config(model.get_config())
    assert again.rho == 0.1
    assert again(X).shape == (8, 1)


@pytest.mark.parametrize("kwargs", [{}, {"greedy": False, "beam_width": 5, "top_paths": 2}])
def test_ctc_decode(kwargs):
    scores = np.random.default_rng(0).dirichlet(np.ones(4), size=(3, 6)).astype("float32")
    compare(
        lambda tf, keras: keras.backend.ctc_decode(tf.constant(scores), [6, 4, 5], **kwargs),
        tolerance=1e-5,
    )


@pytest.mark.parametrize("lengths", [[3, 1], [0, 2], [3, 3]])
def test_ctc_labels(lengths):
    def sparse(tf, keras):
        labels = tf.constant([[1, 2, 3], [4, 5, 0]])
        found = keras.backend.ctc_label_dense_to_sparse(labels, tf.constant(lengths))
        return found.indices, found.values, found.dense_shape

    compare(sparse)


@pytest.mark.parametrize("count", [1, 3])
def test_steps_per_execution(count):
    """Callbacks see several batches as one."""

    def results(tf, keras):
        events = []

        class Watching(keras.callbacks.Callback):
            def on_train_batch_begin(self, batch, logs=None):
                events.append(batch)

            def on_train_batch_end(self, batch, logs=None):
                events.append(-batch)

            def on_test_batch_begin(self, batch, logs=None):
                events.append(100 + batch)

            def on_test_batch_end(self, batch, logs=None):
                events.append(200 + batch)

            def on_predict_batch_begin(self, batch, logs=None):
                events.append(300 + batch)

            def on_predict_batch_end(self, batch, logs=None):
                events.extend([400 + batch, *logs["outputs"].shape])

        model = compiled(keras)
        assert model.steps_per_execution == 1
        model.compile("sgd", "mse", steps_per_execution=count)
        data = {"batch_size": 1, "verbose": 0, "callbacks": [Watching()]}
        history = model.fit(X, Y, shuffle=False, validation_data=(X, Y), **data).history
        outputs = model.predict(X, **data)
        steps = model.steps_per_execution, model.autotune_steps_per_execution
        return events, history["loss"], history["val_loss"], outputs, [int(each) for each in steps]

    compare(results)


def test_steps_per_execution_can_be_changed():
    def results(tf, keras):
        model = keras.Sequential([keras.layers.Dense(1)])
        before = model.steps_per_execution is None, model.autotune_steps_per_execution
        model.compile("sgd", "mse", steps_per_execution="auto")
        chosen = int(model.steps_per_execution), model.autotune_steps_per_execution
        model.steps_per_execution = 5
        model.autotune_steps_per_execution = False
        after = int(model.steps_per_execution), model.autotune_steps_per_execution
        return [int(each) for each in (*before, *chosen, *after)]

    compare(results)
