"""fit, evaluate and predict do with their arguments what Keras 2 does with them."""

import random

import numpy as np
import pytest
from side_by_side import compare, compare_failure

RNG = np.random.default_rng(0)
X = RNG.standard_normal((50, 6)).astype(np.float32)
Y = RNG.integers(0, 3, 50).astype(np.int32)
TARGETS = RNG.standard_normal((50, 2)).astype(np.float32)
WEIGHTS = RNG.random(50).astype(np.float32)
ROWS = np.arange(10, dtype=np.float32)[:, None]
QUIETLY = {"verbose": 0, "shuffle": False}


def arrays(logs):
    """Logs as arrays of their own types, which are compared with a tolerance."""
    return {name: np.asarray(value) for name, value in logs.items()}


def classifier(keras, units=3, loss=None, **options):
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [keras.layers.Dense(8, activation="relu", input_shape=(6,)), keras.layers.Dense(units)]
    )
    loss = loss or keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.05), loss, **options)
    return model


def two_outputs(keras, **options):
    keras.utils.set_random_seed(1)
    inputs = keras.Input((6,))
    outputs = [keras.layers.Dense(3, name="b")(inputs), keras.layers.Dense(3, name="a")(inputs)]
    model = keras.Model(inputs, outputs)
    model.compile(keras.optimizers.SGD(0.05), **options)
    return model


def recorder(tf, keras):
    """A model that does not learn, and the rows it has seen."""
    seen = []

    class Recorder(keras.Model):
        def train_step(self, data):
            seen.append([int(row) for row in data[0].numpy().ravel()])
            return {"loss": tf.reduce_sum(data[0])}

        def test_step(self, data):
            seen.append([-int(row) for row in data[0].numpy().ravel()])
            return {"loss": tf.reduce_sum(data[0])}

    model = Recorder()
    model.compile("sgd", "mse", run_eagerly=True)
    return model, seen


@pytest.mark.parametrize("shuffle", [True, "batch"])
def test_rows_are_shuffled_in_the_originals_order(shuffle):
    def program(tf, keras):
        keras.utils.set_random_seed(3)
        model, seen = recorder(tf, keras)
        for _ in range(2):
            model.fit(ROWS, ROWS, batch_size=4, epochs=2, shuffle=shuffle, verbose=0)
        return seen, float(np.random.rand())

    compare(program)


def test_batches_of_sequences_are_shuffled_by_pythons_generator():
    def program(tf, keras):
        class Batches(keras.utils.Sequence):
            def __len__(self):
                return 5

            def __getitem__(self, index):
                return ROWS[2 * index : 2 * index + 2], ROWS[2 * index : 2 * index + 2]

        model, seen = recorder(tf, keras)
        random.seed(5)
        model.fit(Batches(), epochs=2, verbose=0)
        model.fit(Batches(), epochs=2, steps_per_epoch=3, **QUIETLY)
        model.fit(Batches(), epochs=2, steps_per_epoch=7, **QUIETLY)
        return seen

    compare(program)


@pytest.mark.parametrize("steps", [2, 5])
def test_steps_of_another_number_than_the_batches_of_arrays(steps):
    def program(tf, keras):
        model, seen = recorder(tf, keras)
        options = {"batch_size": 4, "epochs": 3, "steps_per_epoch": steps}
        history = model.fit(ROWS, ROWS, validation_data=(ROWS, ROWS), **options, **QUIETLY)
        return seen, arrays(history.history)

    compare(program)


def test_shuffled_datasets_in_training_and_validation():
    def program(tf, keras):
        def data(size):
            return tf.data.Dataset.from_tensor_slices((ROWS, ROWS)).shuffle(10, 3).batch(size)

        model, seen = recorder(tf, keras)
        model.fit(data(4), epochs=2, verbose=0, validation_data=data(5))
        model.evaluate(data(5), verbose=0)
        return seen

    compare(program)


def test_a_generator_that_ends():
    def program(tf, keras):
        def batches(count):
            for start in range(count):
                yield X[start * 4 : start * 4 + 4], Y[start * 4 : start * 4 + 4]

        model = classifier(keras)
        weights = {0: 1.0, 1: 2.0, 2: 0.5}
        options = {"epochs": 3, "verbose": 0}
        return (
            arrays(model.fit(batches(5), **options).history),
            arrays(model.fit(batches(5), steps_per_epoch=3, **options).history),
            arrays(model.fit(batches(6), steps_per_epoch=3, **options).history),
            arrays(
                model.fit(batches(5), steps_per_epoch=3, class_weight=weights, **options).history
            ),
        )

    compare(program, tolerance=2e-5)


@pytest.mark.parametrize("method", ["fit", "evaluate", "predict"])
def test_a_dataset_without_end_needs_steps(method):
    def program(tf, keras):
        endless = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4).repeat()
        getattr(classifier(keras), method)(endless, verbose=0)

    compare_failure(program, message="number of steps")


def test_the_same_tensors_in_other_structures():
    def program(tf, keras):
        keras.utils.set_random_seed(1)
        a, b = keras.Input((6,), name="a"), keras.Input((6,), name="b")
        model = keras.Model([b, a], keras.layers.Dense(2)(b - 2.0 * a))
        model.compile(keras.optimizers.SGD(0.01), "mse")
        double = 2.0 * X
        losses = [
            model.train_on_batch(inputs, TARGETS)
            for inputs in ([X, double], {"a": double, "b": X}, {"a": X, "b": double}, (X, double))
        ]
        outputs = [
            model.predict(inputs, verbose=0) for inputs in ([X, double], {"a": double, "b": X})
        ]
        return [np.asarray(loss) for loss in losses], outputs

    compare(program, tolerance=2e-5)


def test_targets_in_a_dictionary_after_targets_in_a_list():
    def program(tf, keras):
        model = two_outputs(keras, loss={"a": "mse", "b": "mae"})
        left, right = X[:, :3], X[:, 3:]
        targets = [left, right], {"a": right, "b": left}, {"a": left, "b": right}
        return [arrays(model.train_on_batch(X, y, return_dict=True)) for y in targets]

    compare(program, tolerance=2e-5)


def test_class_weights():
    def program(tf, keras):
        weights = {0: 1.0, 1: 3.0, 2: 0.5}
        several = np.eye(3, dtype=np.float32)[np.arange(15).reshape(3, 5) % 3]
        labels = np.array([0.7, 1.2, 0.0, 1.9, 0.4, 1.5])
        found = []
        for x, y, loss in (
            (X, np.eye(3, dtype=np.float32)[Y], "mse"),
            (X[:15].reshape(3, 5, 6), several, "mae"),
            (X[:6], labels, "mse"),
        ):
            keras.utils.set_random_seed(1)
            model = keras.Sequential([keras.layers.Dense(y.shape[-1] if y.ndim > 1 else 1)])
            model.compile("sgd", loss)
            found.append(arrays(model.fit(x, y, class_weight=weights, **QUIETLY).history))
        return found

    compare(program, tolerance=2e-5)


@pytest.mark.parametrize("label", [-1, 5])
def test_class_weights_of_unknown_classes(label):
    def program(tf, keras):
        labels = np.append(Y[:-1], label)
        classifier(keras, 1, "mse").fit(X, labels, class_weight={0: 1, 1: 2, 2: 3}, **QUIETLY)

    compare_failure(program)


def test_class_weights_of_several_outputs():
    def program(tf, keras):
        model = two_outputs(keras, loss="mse")
        model.fit(X, [X[:, :3], X[:, 3:]], class_weight={0: 1.0, 1: 2.0, 2: 3.0}, **QUIETLY)

    compare_failure(program, message="single output")


def test_metrics_with_and_without_weights_have_names_of_their_own():
    def program(tf, keras):
        mean = keras.metrics.MeanSquaredError(name="q")
        weighted = keras.metrics.MeanSquaredError(name="q")
        one = classifier(keras, metrics=["accuracy", mean], weighted_metrics=["accuracy", weighted])
        two = two_outputs(
            keras, loss="mse", metrics=["mae", "mse"], weighted_metrics={"a": ["mse", "mae"]}
        )
        shared = two_outputs(
            keras, loss="mse", metrics=[keras.metrics.MeanAbsoluteError(name="error")]
        )
        targets = [X[:, :3], X[:, 3:]]
        return (
            arrays(one.fit(X, Y, sample_weight=WEIGHTS, **QUIETLY).history),
            arrays(two.fit(X, targets, sample_weight=[WEIGHTS, WEIGHTS], **QUIETLY).history),
            arrays(shared.fit(X, targets, **QUIETLY).history),
        )

    compare(program, tolerance=2e-5)


def test_two_metrics_of_one_name():
    def program(tf, keras):
        classifier(keras, metrics=["accuracy", "accuracy"]).fit(X, Y, **QUIETLY)

    compare_failure(program, message="two metrics with the same name")


def test_outputs_in_a_dictionary_are_named_after_their_layers():
    def program(tf, keras):
        keras.utils.set_random_seed(1)
        inputs = keras.Input((6,))
        outputs = {name: keras.layers.Dense(3, name=f"of_{name}")(inputs) for name in "ab"}
        model = keras.Model(inputs, outputs)
        model.compile("sgd", {"a": "mse"}, metrics={"b": "mae"})
        return arrays(model.fit(X, {"a": X[:, :3], "b": X[:, 3:]}, **QUIETLY).history)

    compare(program, tolerance=2e-5)


@pytest.mark.parametrize("names", [["loss"], ["mae", "loss"], ["loss", "mae", "more"]])
def test_an_epoch_of_a_step_of_ones_own_reports_the_metrics_it_names(names):
    def program(tf, keras):
        class Own(keras.Sequential):
            def test_step(self, data):
                x, y = data
                outputs = self(x, training=False)
                loss = self.compiled_loss(y, outputs)
                self.compiled_metrics.update_state(y, outputs)
                return dict.fromkeys(names, loss)

            def train_step(self, data):
                return self.test_step(data)

        keras.utils.set_random_seed(1)
        model = Own([keras.layers.Dense(2)])
        model.compile("sgd", "mse", metrics=["mae"] if "mae" in names else None)
        history = model.fit(X, TARGETS, batch_size=8, validation_split=0.4, **QUIETLY)
        evaluated = model.evaluate(X, TARGETS, batch_size=8, verbose=0, return_dict=True)
        return arrays(history.history), arrays(evaluated)

    compare(program, tolerance=2e-5)


@pytest.mark.parametrize("form", ["as it is", "from its config", "cloned"])
def test_losses_and_metrics_of_values_inside_of_a_model(form):
    def program(tf, keras):
        keras.utils.set_random_seed(1)
        inputs = keras.Input((6,))
        hidden = keras.layers.Dense(4, activation="tanh", kernel_regularizer="l2")(inputs)
        model = keras.Model(inputs, keras.layers.Dense(2)(hidden))
        model.add_loss(tf.reduce_mean(hidden**2))
        model.add_metric(tf.reduce_max(hidden), name="largest")
        weights = model.get_weights()
        if form == "from its config":
            model = keras.Model.from_config(model.get_config())
        elif form == "cloned":
            model = keras.models.clone_model(model)
        model.set_weights(weights)
        model.compile(keras.optimizers.SGD(0.1))
        alone = model.fit(X, batch_size=8, epochs=2, **QUIETLY).history
        model.compile(keras.optimizers.SGD(0.1), "mse")
        both = model.fit(X, TARGETS, batch_size=8, epochs=2, **QUIETLY).history
        return arrays(alone), arrays(both), model.get_weights()

    compare(program, tolerance=2e-5)


def test_functions_as_losses():
    def program(tf, keras):
        seen = []

        def loss(y_true, y_pred):
            seen.append((y_true.dtype.name, y_true.shape.as_list()))
            return tf.reduce_mean((tf.cast(y_true, y_pred.dtype) - y_pred) ** 2, axis=-1)

        model = classifier(keras, loss=loss)
        plain = model.fit(X, Y, **QUIETLY).history
        keras.utils.set_random_seed(1)
        masked = keras.Sequential([keras.layers.Embedding(4, 3, mask_zero=True)])
        masked.compile("sgd", loss, metrics=[loss], weighted_metrics=["mae"])
        words = np.arange(40).reshape(8, 5) % 4
        options = {"batch_size": 3, **QUIETLY}
        targets = X[:40].reshape(8, 5, 6)[:, :, :3]
        return (
            seen[0],
            arrays(plain),
            arrays(masked.fit(words, targets, **options).history),
            arrays(masked.fit(words, targets, sample_weight=WEIGHTS[:8], **options).history),
        )

    compare(program, tolerance=2e-5)


def test_lists_of_numbers_and_series():
    pandas = pytest.importorskip("pandas")

    def program(tf, keras):
        model = classifier(keras)
        listed = model.fit(X.tolist(), Y.tolist(), sample_weight=WEIGHTS.tolist(), **QUIETLY)
        column = keras.Sequential([keras.layers.Dense(1, kernel_initializer="ones")])
        column.compile("sgd", "mse")
        history = column.fit(pandas.Series(X[:, 0]), pandas.Series(X[:, 1]), **QUIETLY).history
        return arrays(listed.history), arrays(history), model.predict([X], verbose=0)

    compare(program, tolerance=2e-5)


@pytest.mark.parametrize(
    "change",
    [
        lambda model: model.fit(X, Y.tolist(), verbose=0),
        lambda model: model.evaluate(X[:0], Y[:0], verbose=0),
        lambda model: model.fit(X, Y, validation_data=(X[:0], Y[:0]), verbose=0),
        lambda model: model.fit(X, Y, validation_data=(X, Y), validation_freq=1.5, verbose=0),
        lambda model: model.compile("sgd", "mse", target_tensors=[1]),
    ],
    ids=["a list beside an array", "no rows", "none for validation", "frequency", "older argument"],
)
def test_refused(change):
    compare_failure(lambda tf, keras: change(classifier(keras)))


def test_a_dataset_without_batches():
    def program(tf, keras):
        empty = tf.data.Dataset.from_tensor_slices((X, Y)).take(0).batch(4)
        classifier(keras).evaluate(empty, verbose=0)

    compare_failure(program)


def test_arguments_of_older_programs_change_nothing():
    def program(tf, keras):
        model = classifier(keras, sample_weight_mode=None, experimental_run_tf_function=False)
        return arrays(model.fit(X, Y, **QUIETLY).history)

    compare(program, tolerance=2e-5)
