"""Queue-based input pipelines: threads that fill queues, and batches dequeued from them."""

from __future__ import annotations

import contextlib
import threading

import runnel as tf

from ....core.errors import CancelledError, OutOfRangeError
from ..building import add_to_collection, get_collection
from ..defaults import sessions
from ..keys import GraphKeys


class QueueRunner:
    """Fills a queue: one thread for each of its operations, until they are exhausted."""

    def __init__(
        self,
        queue=None,
        enqueue_ops=None,
        close_op=None,
        cancel_op=None,
        queue_closed_exception_types=None,
        queue_runner_def=None,
        import_scope=None,
    ):
        if queue is None or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        self._queue = queue
        self._enqueue_ops = enqueue_ops
        self._close_op = queue.close() if close_op is None else close_op
        self._cancel_op = queue.close(True) if cancel_op is None else cancel_op
        self._ends = queue_closed_exception_types or (OutOfRangeError, CancelledError)
        self._lock = threading.Lock()
        self._running = {}
        self._exceptions = []

    queue = property(lambda self: self._queue)
    enqueue_ops = property(lambda self: self._enqueue_ops)
    close_op = property(lambda self: self._close_op)
    cancel_op = property(lambda self: self._cancel_op)
    queue_closed_exception_types = property(lambda self: self._ends)
    exceptions_raised = property(lambda self: self._exceptions)

    @property
    def name(self):
        """The name of the queue."""
        return self._queue.name

    def create_threads(self, sess, coord=None, daemon=False, start=False):
        """The threads that fill the queue in a session; none if some are running already."""
        with self._lock:
            if self._running.get(sess):
                return []
            self._running[sess] = len(self._enqueue_ops)
        threads = [
            threading.Thread(target=self._run, args=(sess, op, coord), daemon=daemon)
            for op in self._enqueue_ops
        ]
        if coord is not None:
            threads.append(threading.Thread(target=self._cancel, args=(sess, coord), daemon=daemon))
        for thread in threads:
            if coord is not None:
                coord.register_thread(thread)
            if start:
                thread.start()
        return threads

    def _run(self, session, operation, coordinator):
        try:
            while coordinator is None or not coordinator.should_stop():
                session.run(operation)
        except self._ends:
            # Closing the queue ends the input.
            pass
        except Exception as error:
            if coordinator is not None:
                coordinator.request_stop(error)
            else:
                self._exceptions.append(error)
                raise
        finally:
            with self._lock:
                self._running[session] -= 1
                is_last = not self._running[session]
            if is_last:
                self._try(session, self._close_op)

    def _cancel(self, session, coordinator):
        coordinator.wait_for_stop()
        self._try(session, self._cancel_op)

    def _try(self, session, operation):
        """Run an operation of a session that may have been closed meanwhile."""
        with contextlib.suppress(RuntimeError, CancelledError):
            session.run(operation)


def add_queue_runner(qr, collection=GraphKeys.QUEUE_RUNNERS):
    """Register a queue runner for `start_queue_runners`."""
    add_to_collection(collection, qr)


def start_queue_runners(
    sess=None, coord=None, daemon=True, start=True, collection=GraphKeys.QUEUE_RUNNERS
):
    """Start the threads of all queue runners of the graph; returns the threads."""
    session = sessions.innermost() if sess is None else sess
    if session is None:
        raise ValueError(
            "Cannot start queue runners: No default session is registered. Use `with "
            "sess.as_default()` or pass an explicit session to start_queue_runners(sess=sess)"
        )
    session = getattr(session, "_session", session)
    threads = []
    with session.graph.as_default():
        for runner in get_collection(collection):
            threads += runner.create_threads(session, coord, daemon, start)
    return threads


# Producers.


def limit_epochs(tensor, num_epochs=None, name=None):
    """The tensor, for this many runs; OutOfRangeError afterwards. Needs local variables."""
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with tf.name_scope(name or "limit_epochs"):
        epochs = tf.compat.v1.Variable(
            tf.constant(0, tf.int64), name="epochs", trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )  # fmt: skip
        with tf.control_dependencies([epochs.count_up_to(num_epochs)]):
            return tf.identity(tensor)


def input_producer(
    input_tensor,
    element_shape=None,
    num_epochs=None,
    shuffle=True,
    seed=None,
    capacity=32,
    shared_name=None,
    summary_name=None,
    name=None,
    cancel_op=None,
):
    """A queue of the rows of a tensor, repeated endlessly or for a number of epochs."""
    rows = tf.convert_to_tensor(input_tensor)
    shape = rows.shape[1:].merge_with(element_shape)
    if not shape.is_fully_defined():
        raise ValueError(
            "Either `input_tensor` must have a fully defined shape or `element_shape` must be "
            "specified"
        )
    if shuffle:
        rows = tf.random.shuffle(rows, seed=seed)
    rows = limit_epochs(rows, num_epochs)
    queue = tf.queue.FIFOQueue(capacity, [rows.dtype], [shape])
    add_queue_runner(QueueRunner(queue, [queue.enqueue_many([rows])], cancel_op=cancel_op))
    return queue


def string_input_producer(
    string_tensor,
    num_epochs=None,
    shuffle=True,
    seed=None,
    capacity=32,
    shared_name=None,
    name=None,
    cancel_op=None,
):
    """A queue of strings, such as the names of files."""
    strings = tf.convert_to_tensor(string_tensor, tf.string)
    if strings.shape.num_elements() == 0:
        raise ValueError("string_input_producer requires a non-null input tensor")
    return input_producer(
        strings, [], num_epochs, shuffle, seed, capacity, shared_name, name=name,
        cancel_op=cancel_op,
    )  # fmt: skip


def range_input_producer(
    limit, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None
):
    """A queue of the integers below a limit."""
    return input_producer(tf.range(limit), [], num_epochs, shuffle, seed, capacity, shared_name)


def slice_input_producer(
    tensor_list, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None
):
    """One row of each of several tensors at a time, from a queue of row indices."""
    if not tensor_list:
        raise ValueError("Expected at least one tensor in slice_input_producer().")
    tensors = [tf.convert_to_tensor(each) for each in tensor_list]
    queue = range_input_producer(
        tf.shape(tensors[0])[0], num_epochs, shuffle, seed, capacity, shared_name
    )
    index = queue.dequeue()
    return [tf.gather(each, index) for each in tensors]


# Batches.


def _batched(lists, size, make, capacity, enqueue_many, shapes, smaller, keep=None):
    """Batches from a queue that is filled by one thread per list of tensors."""
    is_dict = isinstance(lists[0], dict)
    names = list(lists[0]) if is_dict else None
    is_one = not is_dict and not isinstance(lists[0], list | tuple)
    rows = []
    for each in lists:
        values = [each[name] for name in names] if is_dict else [each] if is_one else list(each)
        rows.append([tf.convert_to_tensor(value) for value in values])
    if shapes is None:
        shapes = [each.shape[1:] if enqueue_many else each.shape for each in rows[0]]
    queue = make([each.dtype for each in rows[0]], shapes)
    operations = []
    for values in rows:
        if keep is not None:
            operations.append(_put_if(keep, queue, values, enqueue_many))
        else:
            operations.append((queue.enqueue_many if enqueue_many else queue.enqueue)(values))
    add_queue_runner(QueueRunner(queue, operations))
    found = queue.dequeue_up_to(size) if smaller else queue.dequeue_many(size)
    found = found if isinstance(found, list) else [found]
    if is_dict:
        return dict(zip(names, found, strict=True))
    return found[0] if len(found) == 1 else found


def _put_if(keep, queue, values, enqueue_many):
    put = queue.enqueue_many if enqueue_many else queue.enqueue
    if enqueue_many and tf.convert_to_tensor(keep).shape.rank == 1:
        return put([tf.boolean_mask(each, keep) for each in values])
    return tf.cond(tf.reshape(keep, []), lambda: put(values), tf.no_op).op


def _fifo(capacity, dynamic_pad):
    kind = tf.queue.PaddingFIFOQueue if dynamic_pad else tf.queue.FIFOQueue
    return lambda types, shapes: kind(capacity, types, shapes)


def _shuffling(capacity, min_after_dequeue, seed):
    def make(types, shapes):
        return tf.queue.RandomShuffleQueue(capacity, min_after_dequeue, types, shapes, seed=seed)

    return make


def batch(
    tensors,
    batch_size,
    num_threads=1,
    capacity=32,
    enqueue_many=False,
    shapes=None,
    dynamic_pad=False,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
):
    """Batches of tensors, filled by a queue runner."""
    return _batched(
        [tensors] * num_threads, batch_size, _fifo(capacity, dynamic_pad), capacity, enqueue_many,
        shapes, allow_smaller_final_batch,
    )  # fmt: skip


def maybe_batch(
    tensors,
    keep_input,
    batch_size,
    num_threads=1,
    capacity=32,
    enqueue_many=False,
    shapes=None,
    dynamic_pad=False,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
):
    """Batches of the tensors whose `keep_input` is true."""
    return _batched(
        [tensors] * num_threads, batch_size, _fifo(capacity, dynamic_pad), capacity, enqueue_many,
        shapes, allow_smaller_final_batch, keep_input,
    )  # fmt: skip


def batch_join(
    tensors_list,
    batch_size,
    capacity=32,
    enqueue_many=False,
    shapes=None,
    dynamic_pad=False,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
):
    """Batches of the tensors of several lists, one thread each."""
    return _batched(
        tensors_list, batch_size, _fifo(capacity, dynamic_pad), capacity, enqueue_many, shapes,
        allow_smaller_final_batch,
    )  # fmt: skip


def shuffle_batch(
    tensors,
    batch_size,
    capacity,
    min_after_dequeue,
    num_threads=1,
    seed=None,
    enqueue_many=False,
    shapes=None,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
):
    """Batches of tensors in random order, filled by a queue runner."""
    return _batched(
        [tensors] * num_threads, batch_size, _shuffling(capacity, min_after_dequeue, seed),
        capacity, enqueue_many, shapes, allow_smaller_final_batch,
    )  # fmt: skip


def shuffle_batch_join(
    tensors_list,
    batch_size,
    capacity,
    min_after_dequeue,
    seed=None,
    enqueue_many=False,
    shapes=None,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
):
    """Batches of the tensors of several lists in random order."""
    return _batched(
        tensors_list, batch_size, _shuffling(capacity, min_after_dequeue, seed), capacity,
        enqueue_many, shapes, allow_smaller_final_batch,
    )  # fmt: skip


def match_filenames_once(pattern, name=None):
    """A local variable with the names of the matching files."""
    return tf.compat.v1.Variable(
        tf.io.matching_files(pattern), name=name, trainable=False, validate_shape=False,
        collections=[GraphKeys.LOCAL_VARIABLES],
    )  # fmt: skip
