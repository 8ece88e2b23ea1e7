"""Input of graphs: iterators over datasets, queues and the threads that fill them."""

import numpy as np
from both_v1 import agree


def all_of(tf, session, fetch, feeds=None):
    """What a fetch gives until there is nothing more."""
    found = []
    try:
        while True:
            found.append(session.run(fetch, feeds))
    except tf.errors.OutOfRangeError:
        return found


def test_one_shot_iterator():
    def program(v1, tf):
        iterator = v1.data.make_one_shot_iterator(tf.data.Dataset.range(5).map(lambda x: x * 2))
        element = iterator.get_next()
        found = []
        for _ in range(2):
            with v1.Session() as session:
                found.append(all_of(tf, session, [element + 1, element]))
        shapes = v1.data.get_output_shapes(iterator).as_list()
        return [found, v1.data.get_output_types(iterator).name, shapes]

    agree(program)


def test_structures():
    def program(v1, tf):
        rows = {"a": [1, 2], "b": ([1.0, 2.0], [[1], [2]])}
        dataset = tf.data.Dataset.from_tensor_slices(rows)
        element = v1.data.make_one_shot_iterator(dataset).get_next()
        with v1.Session() as session:
            return all_of(tf, session, element)

    agree(program)


def test_initializable_iterator():
    def program(v1, tf):
        rows, count = v1.placeholder(tf.float32, [None]), v1.placeholder(tf.int64, [])
        dataset = v1.data.Dataset.from_tensor_slices(rows).repeat(count)
        iterator = dataset.make_initializable_iterator()
        element = iterator.get_next()
        found = []
        with v1.Session() as session:
            try:
                session.run(element)
            except tf.errors.FailedPreconditionError as error:
                found.append(type(error).__name__)
            for number in (1, 2):
                session.run(iterator.initializer, {rows: [1.0, 2.0], count: number})
                found.append(all_of(tf, session, element))
        return found

    agree(program)


def test_reinitializable_iterator():
    def program(v1, tf):
        one, other = tf.data.Dataset.range(3), tf.data.Dataset.range(10, 12)
        types, shapes = v1.data.get_output_types(one), v1.data.get_output_shapes(one)
        iterator = v1.data.Iterator.from_structure(types, shapes)
        element = iterator.get_next()
        initializers = [iterator.make_initializer(each) for each in (one, other)]
        found = []
        with v1.Session() as session:
            for initializer in (*initializers, initializers[0]):
                session.run(initializer)
                found.append(all_of(tf, session, element))
        return found

    agree(program)


def test_feedable_iterator():
    def program(v1, tf):
        one, other = tf.data.Dataset.range(3), tf.data.Dataset.range(10, 12)
        handle = v1.placeholder(tf.string, [])
        types, shapes = v1.data.get_output_types(one), v1.data.get_output_shapes(one)
        element = v1.data.Iterator.from_string_handle(handle, types, shapes).get_next()
        first = v1.data.make_one_shot_iterator(one)
        second = v1.data.make_initializable_iterator(other)
        with v1.Session() as session:
            session.run(second.initializer)
            handles = session.run([first.string_handle(), second.string_handle()])
            found = [session.run(element, {handle: each}) for each in handles * 2]
            return [found, all_of(tf, session, element, {handle: handles[0]})]

    agree(program)


def test_queue_is_of_the_session():
    def program(v1, tf):
        queue = tf.queue.FIFOQueue(10, [tf.int32], [()])
        fill, take, size = queue.enqueue_many([[1, 2, 3]]), queue.dequeue(), queue.size()
        found = []
        for _ in range(2):
            with v1.Session() as session:
                session.run(fill)
                found += [session.run(take), session.run(take), session.run(size)]
        return found

    agree(program)


def test_batches_of_strings():
    def program(v1, tf):
        queue = v1.train.string_input_producer(["a", "b", "c"], num_epochs=2, shuffle=False)
        batch = v1.train.batch([queue.dequeue()], 4, allow_smaller_final_batch=True)
        with v1.Session() as session:
            session.run(v1.local_variables_initializer())
            coordinator = tf.train.Coordinator()
            threads = v1.train.start_queue_runners(session, coordinator)
            found = all_of(tf, session, batch)
            coordinator.request_stop()
            coordinator.join(threads)
        return [each.tolist() for each in found]

    agree(program)


def test_shuffled_batches_of_slices():
    def program(v1, tf):
        numbers, tens = np.arange(6), np.arange(6) * 10
        slices = v1.train.slice_input_producer([numbers, tens], num_epochs=1, shuffle=False)
        batch = v1.train.shuffle_batch(slices, 2, capacity=10, min_after_dequeue=2, seed=1)
        found = []
        with v1.train.MonitoredSession() as session:
            while not session.should_stop():
                one, other = session.run(batch)
                found += zip(one.tolist(), other.tolist(), strict=True)
        return sorted(found)

    agree(program)
