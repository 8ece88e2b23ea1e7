"""Queues against TensorFlow, and between threads."""

import threading

import numpy as np
import pytest
from compare import check, check_raises, noted

import runnel


def test_first_in_first_out():
    def program(tf):
        queue = tf.queue.FIFOQueue(10, [tf.int32, tf.float32], shapes=[[], [2]])
        queue.enqueue((1, [1.0, 2.0]))
        queue.enqueue([2, [3.0, 4.0]])
        queue.enqueue_many([[3, 4, 5], [[0.0, 1.0]] * 3])
        found = [queue.size(), queue.dequeue(), queue.dequeue_many(2), queue.dequeue_up_to(2)]
        return [*found, queue.size(), queue.is_closed()]

    with noted():
        check(program, traced=False)


def test_one_component():
    def program(tf):
        queue = tf.queue.FIFOQueue(3, tf.string)
        queue.enqueue("a")
        queue.enqueue(["b"])
        return queue.dequeue(), queue.dequeue()

    check(program, traced=False)


def test_names():
    def program(tf):
        queue = tf.queue.FIFOQueue(9, [tf.int32, tf.float32], [[], []], names=["a", "b"])
        queue.enqueue({"a": 1, "b": 2.0})
        queue.enqueue_many({"a": [1, 2], "b": [2.0, 3.0]})
        return queue.dequeue(), queue.dequeue_many(2)

    check(program, traced=False)


def test_priorities():
    def program(tf):
        queue = tf.queue.PriorityQueue(10, [tf.string], [[]])
        for priority, value in [(3, "c"), (1, "a"), (2, "b")]:
            queue.enqueue((priority, value))
        queue.enqueue_many(([5, 0], ["e", "z"]))
        return queue.dequeue(), queue.dequeue_many(4)

    with noted():
        check(program, traced=False)


def test_padding():
    def program(tf):
        queue = tf.queue.PaddingFIFOQueue(9, [tf.int32, tf.string], [[None], [None, 2]])
        queue.enqueue([[1], [["a", "b"]]])
        queue.enqueue([[1, 2, 3], [["c", "d"], ["e", "f"]]])
        queue.enqueue([[], [["g", "h"]]])
        return queue.dequeue_many(2), queue.dequeue_up_to(1)

    with noted():
        check(program, traced=False)


def test_shuffled_alike():
    def program(tf):
        tf.random.set_seed(7)
        queue = tf.queue.RandomShuffleQueue(20, 2, [tf.int32], [[]], seed=3)
        queue.enqueue_many([list(range(12))])
        found = [queue.dequeue_many(4), queue.dequeue()]
        queue.enqueue(99)
        queue.close()
        return [*found, queue.dequeue_up_to(20)]

    with noted():
        check(program, traced=False)


def test_what_is_left_after_closing():
    def program(tf):
        queue = tf.queue.FIFOQueue(10, tf.int32, [[]])
        queue.enqueue_many([[1, 2, 3]])
        queue.close()
        return queue.is_closed(), queue.dequeue_up_to(2), queue.dequeue_up_to(2), queue.size()

    check(program, traced=False)


def closed(use):
    def program(tf):
        queue = tf.queue.FIFOQueue(10, tf.int32, [[]])
        queue.enqueue(1)
        queue.close()
        return use(queue)

    return program


def test_refusals_of_closed_queues():
    check_raises(closed(lambda queue: (queue.dequeue(), queue.dequeue())))
    check_raises(closed(lambda queue: queue.dequeue_many(2)))
    check_raises(closed(lambda queue: (queue.dequeue(), queue.dequeue_up_to(2))))
    check_raises(closed(lambda queue: queue.enqueue(1)))
    check_raises(closed(lambda queue: queue.close()))
    check_raises(closed(lambda queue: queue.enqueue_many([[1]])))


def test_refusals_of_elements():
    def one(tf, **keywords):
        return tf.queue.FIFOQueue(10, tf.int32, **keywords)

    check_raises(lambda tf: one(tf, shapes=[[2]]).enqueue([[1, 2, 3]]))
    check_raises(lambda tf: one(tf, shapes=[[2]]).enqueue([1]))
    check_raises(lambda tf: one(tf).enqueue(1.5))
    check_raises(lambda tf: one(tf).enqueue(tf.constant(1.5)))
    check_raises(lambda tf: one(tf, shapes=[[]]).enqueue_many([1]))
    check_raises(lambda tf: one(tf, names=["a"]).enqueue(1))
    check_raises(lambda tf: one(tf).enqueue({"a": 1}))
    check_raises(lambda tf: one(tf).dequeue_many(2))
    check_raises(lambda tf: tf.queue.FIFOQueue(10, [tf.int32] * 2).enqueue([1]))
    check_raises(lambda tf: tf.queue.FIFOQueue(9, [tf.int32] * 2).enqueue_many([[1, 2], [1]]))
    check_raises(lambda tf: tf.queue.FIFOQueue(9, [tf.int32] * 2, names="ab").enqueue({"a": 1}))
    check_raises(lambda tf: tf.queue.PaddingFIFOQueue(9, [tf.int32], [[None, 2]]).enqueue([[[1]]]))


def test_refusals_of_queues():
    for arguments in [([np.int32] * 2, [[]]), (np.int32, [[None]]), ([np.int32] * 2, None, ["a"])]:
        check_raises(lambda tf: tf.queue.FIFOQueue(10, *arguments))
    for shapes in (None, [], [None]):
        check_raises(lambda tf: tf.queue.PaddingFIFOQueue(10, [tf.int32], shapes))
    check_raises(lambda tf: tf.queue.PriorityQueue(10, [tf.string]).enqueue((1, "a")))


def test_a_queue_from_a_list():
    def program(tf, index=1):
        queues = [tf.queue.FIFOQueue(10, tf.int32, [[]]) for _ in range(2)]
        queues[1].enqueue(7)
        return tf.queue.QueueBase.from_list(index, queues).dequeue()

    check(program, traced=False)
    check_raises(lambda tf: program(tf, 5))
    check_raises(lambda tf: tf.queue.QueueBase.from_list(0, [1, 2]))
    dtypes = [np.int32, np.float32]
    check_raises(
        lambda tf: tf.queue.QueueBase.from_list(0, [tf.queue.FIFOQueue(1, d) for d in dtypes])
    )


def test_inside_functions():
    def program(tf):
        queue = tf.queue.FIFOQueue(10, [tf.int32, tf.float32], [[], [2]])
        shapes = []

        @tf.function
        def step(x):
            queue.enqueue((x, [1.0, 2.0]))
            one = queue.dequeue()
            queue.enqueue_many([[1, 2, 3], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]])
            two, rest = queue.dequeue_many(2), queue.dequeue_up_to(1)
            shapes.extend(str(each.shape) for each in [*one, *two, *rest])
            return one, two, rest, queue.size(), queue.is_closed()

        return step(tf.constant(3)), step(tf.constant(4)), shapes

    check(program, traced=False)


@pytest.fixture
def beside():
    """Calls a function in another thread; its outcome is there once it is joined."""
    threads = []

    def start(function):
        outcome = []

        def run():
            try:
                outcome.append(function())
            except Exception as failure:
                outcome.append(failure)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        threads.append(thread)
        return thread, outcome

    yield start
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()


def test_taking_waits_for_putting(beside):
    queue = runnel.queue.FIFOQueue(2, runnel.int32, [[]])
    thread, outcome = beside(lambda: [int(queue.dequeue()) for _ in range(50)])
    for number in range(50):
        queue.enqueue(number)
    thread.join(10)
    assert outcome == [list(range(50))]


def test_putting_waits_for_room_and_may_be_cancelled(beside):
    queue = runnel.queue.FIFOQueue(1, runnel.int32, [[]])
    queue.enqueue(1)
    waiting = [beside(lambda: queue.enqueue(2)) for _ in range(2)]
    queue.close(cancel_pending_enqueues=True)
    for thread, outcome in waiting:
        thread.join(10)
        assert isinstance(outcome[0], runnel.errors.CancelledError)
    assert int(queue.dequeue()) == 1


def test_who_waits_to_put_goes_on_after_closing(beside):
    queue = runnel.queue.FIFOQueue(1, runnel.int32, [[]])
    thread, outcome = beside(lambda: queue.enqueue_many([[1, 2, 3]]))
    first = int(queue.dequeue())
    queue.close()
    rest = [int(queue.dequeue()) for _ in range(2)]
    thread.join(10)
    assert [first, *rest] == [1, 2, 3]
    assert outcome == [None]
    with pytest.raises(runnel.errors.OutOfRangeError):
        queue.dequeue()


def test_a_mixing_queue_keeps_some_until_it_is_closed(beside):
    queue = runnel.queue.RandomShuffleQueue(10, 2, runnel.int32, [[]])
    queue.enqueue_many([[1, 2]])
    thread, outcome = beside(lambda: int(queue.dequeue()))
    thread.join(0.05)
    assert outcome == []
    queue.enqueue(3)
    thread.join(10)
    queue.close()
    assert sorted([*outcome, *queue.dequeue_many(2).numpy()]) == [1, 2, 3]


def test_who_waits_to_take_learns_of_the_end(beside):
    queue = runnel.queue.FIFOQueue(5, runnel.int32, [[]])
    thread, outcome = beside(queue.dequeue)
    queue.close()
    thread.join(10)
    assert isinstance(outcome[0], runnel.errors.OutOfRangeError)
