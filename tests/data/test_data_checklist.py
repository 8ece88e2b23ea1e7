"""Corners of tf.data that are easily missed: bad arguments, sparse batches, loops in loops."""

import threading

import numpy as np
import pytest
from pipelines import same

import runnel

GENERATED = [
    (1.5, "int32", []),
    ([1.5, 2], "int32", [None]),
    ([1.5, 2], "int32", None),
    (1, "bool", []),
    ("12", "int32", []),
    ("a", "int32", []),
    (None, "int32", []),
    (300, "uint8", []),
    (np.float64(2.7), "int64", None),
    ([1, 2, 3], "int32", [2]),
]


@pytest.mark.parametrize(("value", "kind", "shape"), GENERATED)
def test_what_generators_yield_is_converted(value, kind, shape):
    def generated(tf):
        spec = tf.TensorSpec(shape, tf.as_dtype(kind))
        return list(tf.data.Dataset.from_generator(lambda: iter([value]), output_signature=spec))

    same(generated)


def test_tensors_of_another_type_are_converted():
    same(
        lambda tf: list(
            tf.data.Dataset.from_generator(lambda: iter([tf.constant(1.5)]), tf.int32, [])
        )
    )


@pytest.mark.parametrize("stop", [True, False])
def test_one_endless_dataset_makes_a_choice_endless(stop):
    def sizes(tf):
        few, endless = tf.data.Dataset.range(3), tf.data.Dataset.range(3).repeat()
        kind = tf.data.Dataset
        choices = kind.range(2).repeat()
        return [
            int(made.cardinality())
            for pair in ([few, few], [few, endless], [endless, endless])
            for made in (
                kind.choose_from_datasets(pair, choices, stop),
                kind.sample_from_datasets(pair, [0.5, 0.5], stop_on_empty_dataset=stop),
            )
        ]

    same(sizes)


def test_sparse_tensors_of_several_shapes_in_a_batch():
    same(
        lambda tf: (
            tf.data.Dataset.range(1, 4)
            .map(lambda x: tf.sparse.from_dense(tf.fill([x, 2], x)))
            .batch(2)
        )
    )


BAD = {
    "an object as a result": lambda tf: tf.data.Dataset.range(2).map(lambda x: object()),
    "an object in a result": lambda tf: tf.data.Dataset.range(2).map(lambda x: (x, object())),
    "no parallel calls": lambda tf: tf.data.Dataset.range(2).map(abs, num_parallel_calls=0),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_functions_and_arguments(name):
    assert "raised" in same(BAD[name])


@pytest.mark.parametrize("sizes", [0, [2, 0], -1, []])
def test_empty_batches_are_refused(sizes):
    # The original gives empty batches for ever.
    with pytest.raises(runnel.errors.InvalidArgumentError, match="greater than zero"):
        runnel.data.Dataset.range(4).batch(2).rebatch(sizes)


def test_no_file_at_all():
    same(lambda tf: tf.data.TFRecordDataset([]))
    same(lambda tf: tf.data.TextLineDataset([]))


@pytest.mark.parametrize("value", [True, 1, 1.5, "x", None])
def test_types_of_options(value):
    def outcomes(tf):
        found = []
        options = tf.data.Options()
        for group in (options, options.threading, options.autotune, options.experimental_distribute,
                      options.experimental_optimization):  # fmt: skip
            for name in sorted(n for n in dir(group) if not n.startswith("_") and n != "merge"):
                try:
                    setattr(group, name, value)
                    found.append((name, "set"))
                except Exception as error:
                    found.append((name, type(error).__name__))
        return found

    same(outcomes)


def test_names_that_load_later_are_listed():
    assert {"CsvDataset", "make_csv_dataset", "SqlDataset"} <= set(dir(runnel.data.experimental))


def test_loops_over_datasets_in_loops():
    def loops(tf):
        @tf.function
        def summed(dataset):
            total = tf.constant(0, tf.int64)
            for epoch in tf.range(3):
                for x in dataset:
                    if x > 5:
                        break
                    total += x
                if epoch > 0:
                    break
            for x in dataset.batch(2):
                for y in tf.data.Dataset.range(x[1]):
                    if y % 2 == 0:
                        continue
                    total += y * x[0]
            return total

        return [summed(tf.data.Dataset.range(8)), summed(tf.data.Dataset.range(4))]

    same(loops)


@pytest.mark.parametrize(("epochs", "steps"), [(3, 2), (4, 3)])
def test_training_ends_when_the_data_does(epochs, steps):
    def history(tf):
        layer = tf.keras.layers.Dense(1, kernel_initializer="ones")
        model = tf.keras.Sequential([layer])
        model.compile("sgd", "mse")
        dataset = tf.data.Dataset.from_tensors(([[1.0]], [[3.0]])).repeat(4)
        found = model.fit(dataset, epochs=epochs, steps_per_epoch=steps, verbose=0)
        return found.epoch, np.array(found.history["loss"], np.float32), layer.kernel.numpy()

    same(history)


def test_leaving_every_kind_of_loop_ends_its_threads():
    before = set(threading.enumerate())
    dataset = runnel.data.Dataset.range(1000).map(lambda x: x, num_parallel_calls=2).prefetch(2)
    for _ in dataset:
        break
    next(iter(dataset))
    next(dataset.as_numpy_iterator())
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
        assert not thread.is_alive()
