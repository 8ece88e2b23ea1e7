"""Batches prefetched by background workers."""

from __future__ import annotations

import concurrent.futures
import queue
import random
import threading
from collections.abc import Iterator
from typing import Any

# How often a waiting thread polls whether it was stopped.
_PATIENCE = 0.05


class SequenceEnqueuer:
    """Base class of background prefetchers.

    ```python
    enqueuer = tf.keras.utils.OrderedEnqueuer(sequence)
    enqueuer.start(workers=4, max_queue_size=10)
    for batch in enqueuer.get():
        ...
    enqueuer.stop()
    ```
    """

    def __init__(self, sequence: Any, use_multiprocessing: bool = False) -> None:
        self.sequence = sequence
        self.use_multiprocessing = use_multiprocessing
        self.workers = 0
        self.queue: queue.Queue | None = None
        self.run_thread: threading.Thread | None = None
        self.stop_signal: threading.Event | None = None

    def is_running(self) -> bool:
        """Whether it was started and not stopped since."""
        return self.stop_signal is not None and not self.stop_signal.is_set()

    def start(self, workers: int = 1, max_queue_size: int = 10) -> None:
        """Start workers that prefetch up to `max_queue_size` batches."""
        self.workers = max(1, workers)
        self.queue = queue.Queue(max_queue_size)
        self.stop_signal = threading.Event()
        self._taken = threading.Semaphore(0)
        self.run_thread = threading.Thread(
            target=self._run, args=(self.queue, self.stop_signal), daemon=True
        )
        self.run_thread.start()

    def stop(self, timeout: float | None = None) -> None:
        """Stop the workers; waits at most `timeout` seconds for busy ones."""
        if self.stop_signal is not None:
            self.stop_signal.set()
        if self.run_thread is not None:
            self.run_thread.join(timeout)

    def get(self) -> Iterator[Any]:
        """The batches, in order, until they end or `stop` is called."""
        raise NotImplementedError("use OrderedEnqueuer or GeneratorEnqueuer")

    def _run(self, waiting: queue.Queue, stop: threading.Event) -> None:
        raise NotImplementedError("use OrderedEnqueuer or GeneratorEnqueuer")

    def __del__(self) -> None:
        if self.is_running():
            assert self.stop_signal is not None
            self.stop_signal.set()


def _put(waiting: queue.Queue, item: Any, stop: threading.Event) -> bool:
    while not stop.is_set():
        try:
            waiting.put(item, timeout=_PATIENCE)
        except queue.Full:
            continue
        return True
    return False


class OrderedEnqueuer(SequenceEnqueuer):
    """Batches of a `Sequence`, in order and repeated, prefetched by threads or processes.

    Args:
      sequence: The `tf.keras.utils.Sequence`.
      use_multiprocessing: Whether the workers are processes instead of threads.
      shuffle: Whether to shuffle each pass.
    """

    def __init__(
        self, sequence: Any, use_multiprocessing: bool = False, shuffle: bool = False
    ) -> None:
        super().__init__(sequence, use_multiprocessing)
        self.shuffle = shuffle

    def get(self) -> Iterator[Any]:
        """The batches, in order, until `stop` is called."""
        while self.is_running():
            assert self.queue is not None
            try:
                future = self.queue.get(timeout=_PATIENCE)
            except queue.Empty:
                continue
            try:
                batch = future.result()
            except Exception:
                self.stop()
                raise
            self._taken.release()
            yield batch

    def _run(self, waiting: queue.Queue, stop: threading.Event) -> None:
        while not stop.is_set():
            order = list(range(len(self.sequence)))
            if self.shuffle:
                random.shuffle(order)
            # New workers for each pass: processes hold a copy of the sequence, which `on_epoch_end`
            # may have changed.
            with self._pool() as pool:
                for index in order:
                    if not _put(waiting, pool.submit(*self._task(index)), stop):
                        pool.shutdown(wait=False, cancel_futures=True)
                        return
                for _ in order:
                    while not self._taken.acquire(timeout=_PATIENCE):
                        if stop.is_set():
                            pool.shutdown(wait=False, cancel_futures=True)
                            return
            self.sequence.on_epoch_end()

    def _pool(self) -> concurrent.futures.Executor:
        if self.use_multiprocessing:
            return concurrent.futures.ProcessPoolExecutor(
                self.workers, initializer=_remember, initargs=(self.sequence,)
            )
        return concurrent.futures.ThreadPoolExecutor(self.workers)

    def _task(self, index: int) -> tuple:
        if self.use_multiprocessing:
            return _remembered_batch, index
        return self.sequence.__getitem__, index


_in_this_process: list[Any] = []


def _remember(sequence: Any) -> None:
    _in_this_process[:] = [sequence]


def _remembered_batch(index: int) -> Any:
    return _in_this_process[0][index]


_END = object()


class GeneratorEnqueuer(SequenceEnqueuer):
    """Batches of a generator, in order, prefetched by a thread.

    A generator has a single read position, so there is one worker, in this process, whatever is
    requested: no batch is repeated.

    Args:
      generator: The generator, or another iterator.
      use_multiprocessing: Accepted and ignored.
      random_seed: Accepted and ignored.
    """

    def __init__(
        self, generator: Any, use_multiprocessing: bool = False, random_seed: int | None = None
    ) -> None:
        super().__init__(generator, use_multiprocessing)
        self.random_seed = random_seed

    def get(self) -> Iterator[Any]:
        """The batches until the generator ends or `stop` is called."""
        while self.is_running():
            assert self.queue is not None
            try:
                batch, failure = self.queue.get(timeout=_PATIENCE)
            except queue.Empty:
                continue
            if failure is not None:
                self.stop()
                raise failure
            if batch is _END:
                return
            yield batch

    def _run(self, waiting: queue.Queue, stop: threading.Event) -> None:
        try:
            for batch in self.sequence:
                if not _put(waiting, (batch, None), stop):
                    return
        except Exception as failure:
            _put(waiting, (None, failure), stop)
        else:
            _put(waiting, (_END, None), stop)
