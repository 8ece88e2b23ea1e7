"""Datasets and iterators in functions: loops, next, arguments, results."""

from __future__ import annotations

import numpy as np
from pipelines import same, same_error


def test_loops():
    def program(tf):
        @tf.function
        def total(dataset):
            result = tf.constant(0, tf.int64)
            for x in dataset:
                result += x
            return result

        numbers = tf.data.Dataset.range(5)
        return [total(numbers), total(numbers.skip(2)), total(tf.data.Dataset.range(0))]

    same(program)


def test_loops_over_structures_with_jumps():
    def program(tf):
        @tf.function
        def work(limit):
            total, last = tf.constant(0.0), tf.constant(-1, tf.int64)
            rows = tf.data.Dataset.from_tensor_slices({"a": tf.range(8.0), "b": tf.range(8)})
            for i, row in rows.enumerate():
                if row["b"] % 2 == 0:
                    continue
                if i > limit:
                    break
                total += row["a"]
                last = i
            return total, last

        return [work(tf.constant(n, tf.int64)) for n in (-1, 3, 20)]

    same(program)


def test_iterators_as_arguments():
    def program(tf):
        traces = []

        @tf.function
        def step(iterator):
            traces.append(1)
            x, y = next(iterator)
            return x + y + next(iterator)[0]

        dataset = tf.data.Dataset.zip(tf.data.Dataset.range(4), tf.data.Dataset.range(4))
        iterator = iter(dataset)
        results = [step(iterator), step(iterator)]
        try:
            step(iterator)
        except tf.errors.OutOfRangeError:
            results.append("ended")
        return results, len(traces)

    same(program)


def test_iterators_in_functions():
    def program(tf):
        @tf.function
        def first_two():
            iterator = iter(tf.data.Dataset.range(3, 9))
            return next(iterator), iterator.get_next()

        return [first_two(), first_two()]

    same(program)


def test_datasets_made_of_arguments():
    def program(tf):
        @tf.function
        def work(rows, factor):
            dataset = tf.data.Dataset.from_tensor_slices(rows).map(lambda x: x * factor)
            return dataset.batch(10).reduce(tf.zeros([2]), lambda s, x: s + tf.reduce_sum(x, 0))

        rows = np.arange(6, dtype=np.float32).reshape(3, 2)
        return [work(tf.constant(rows), tf.constant(f)) for f in (1.0, 3.0)]

    same(program)


def test_training_in_a_function():
    def program(tf):
        rows = np.linspace(-1, 1, 32, dtype=np.float32)
        dataset = tf.data.Dataset.from_tensor_slices((rows, 3 * rows + 1)).batch(8)
        weight, bias = tf.Variable(0.0), tf.Variable(0.0)

        @tf.function
        def epoch(dataset):
            total = tf.constant(0.0)
            for x, y in dataset:
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(tf.square(weight * x + bias - y))
                gradients = tape.gradient(loss, [weight, bias])
                weight.assign_sub(0.1 * gradients[0])
                bias.assign_sub(0.1 * gradients[1])
                total += loss
            return total

        return [epoch(dataset) for _ in range(3)], weight.numpy(), bias.numpy()

    same(program)


def test_functions_of_python():
    def program(tf):
        @tf.function
        def work(dataset):
            total = tf.constant(0, tf.int64)
            for i, (x, y) in enumerate(zip(dataset, dataset.skip(1))):  # noqa: B905
                total += i * x + y
            for x in map(lambda v: v * 2, filter(lambda v: v > 1, dataset)):
                total += x
            return total

        return work(tf.data.Dataset.range(5))

    same(program)


def test_optionals():
    def program(tf):
        @tf.function
        def next_or_minus_one(iterator):
            optional = iterator.get_next_as_optional()
            result = tf.constant(-1, tf.int64)
            if optional.has_value():
                result = optional.get_value()
            return result

        iterator = iter(tf.data.Dataset.range(2))
        results = [next_or_minus_one(iterator) for _ in range(3)]
        results.append(tf.data.experimental.get_next_as_optional(iterator).has_value())
        Optional = tf.experimental.Optional
        pair = Optional.from_value((1, {"a": 2.0}))
        results += [pair.get_value(), repr(pair.element_spec)]
        results.append(Optional.empty(tf.TensorSpec([], tf.int32)).has_value())
        made = tf.data.Dataset.range(2).map(lambda x: Optional.from_value(x + 1))
        return (
            results,
            [each.get_value() for each in made],
            repr(tf.OptionalSpec(made.element_spec)),
        )

    same(program)


def test_an_empty_optional_has_no_value():
    same_error(lambda tf: tf.experimental.Optional.empty(tf.TensorSpec([], tf.int32)).get_value())
