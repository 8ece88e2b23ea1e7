"""SessionRunHook: callbacks before and after each run of a monitored session; the standard ones."""

from __future__ import annotations

import collections
import os
import time

import numpy as np

from ....core.graph.main_graph import GraphTensor
from ....core.logger import get_logger
from ..file_writer import FileWriterCache
from ..keys import GraphKeys
from .steps import get_global_step

_LOG = get_logger()

SessionRunValues = collections.namedtuple(
    "SessionRunValues", ["results", "options", "run_metadata"]
)


class SessionRunArgs(collections.namedtuple("SessionRunArgs", ["fetches", "feed_dict", "options"])):
    """What a hook adds to a run: fetches, feeds and options."""

    def __new__(cls, fetches, feed_dict=None, options=None):
        return super().__new__(cls, fetches, feed_dict, options)


class SessionRunContext:
    """A hook's view of a run; a hook requests a stop with it."""

    def __init__(self, original_args, session):
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self):
        """The `SessionRunArgs` of the user's own call."""
        return self._original_args

    @property
    def session(self):
        """The session of the run."""
        return self._session

    @property
    def stop_requested(self):
        """Whether a hook requested a stop."""
        return self._stop_requested

    def request_stop(self):
        """Make `should_stop()` of the monitored session true from now on."""
        self._stop_requested = True


class SessionRunHook:
    """Base of the hooks: each method does nothing."""

    def begin(self):
        """Called once before the session is created; the graph may still be modified."""

    def after_create_session(self, session, coord):
        """Called after the session is created; the graph is final."""

    def before_run(self, run_context):
        """Called before each run; may return `SessionRunArgs` to add to it."""

    def after_run(self, run_context, run_values):
        """Called after each run with the results of what `before_run` added."""

    def end(self, session):
        """Called at the end of the session, unless it ends with an error."""


class SecondOrStepTimer:
    """Triggers every given number of seconds or steps."""

    def __init__(self, every_secs=None, every_steps=None):
        if (every_secs is None) == (every_steps is None):
            raise ValueError("Exactly one of every_secs and every_steps should be provided.")
        self._every_secs = every_secs
        self._every_steps = every_steps
        self.reset()

    def reset(self):
        """Forget the last trigger."""
        self._last_step = self._last_time = None

    def should_trigger_for_step(self, step):
        """Whether to trigger at this step."""
        if self._last_step is None:
            return True
        if self._last_step == step:
            return False
        if self._every_secs is not None:
            return time.time() >= self._last_time + self._every_secs
        return step >= self._last_step + self._every_steps

    def update_last_triggered_step(self, step):
        """Record a trigger; returns the seconds and steps since the previous one, or None twice."""
        now = time.time()
        passed = (None, None)
        if self._last_step is not None:
            passed = now - self._last_time, step - self._last_step
        self._last_time, self._last_step = now, step
        return passed

    def last_triggered_step(self):
        """The step of the last trigger, or None."""
        return self._last_step


def _required_step(hook):
    step = get_global_step()
    if step is None:
        raise RuntimeError(
            f"Global step should be created to use {hook}: call "
            "tf.compat.v1.train.get_or_create_global_step()."
        )
    return step


class StopAtStepHook(SessionRunHook):
    """Stops after a number of steps, or at a step."""

    def __init__(self, num_steps=None, last_step=None):
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps = num_steps
        self._last_step = last_step

    def begin(self):
        self._step = _required_step("StopAtStepHook")

    def after_create_session(self, session, coord):
        if self._last_step is None:
            self._last_step = session.run(self._step) + self._num_steps

    def before_run(self, run_context):
        return SessionRunArgs(self._step)

    def after_run(self, run_context, run_values):
        # The value may be the one before the step of this run.
        may_be_last = run_values.results + 1 >= self._last_step
        if may_be_last and run_context.session.run(self._step) >= self._last_step:
            run_context.request_stop()


class CheckpointSaverListener:
    """Notified of the checkpoints that a `CheckpointSaverHook` saves."""

    def begin(self):
        """Called before the session is created."""

    def before_save(self, session, global_step_value):
        """Called before a checkpoint is saved."""

    def after_save(self, session, global_step_value):
        """Called after a checkpoint is saved; True requests a stop."""

    def end(self, session, global_step_value):
        """Called at the end of the session."""


class CheckpointSaverHook(SessionRunHook):
    """Saves checkpoints every given number of steps or seconds, at the start and at the end."""

    def __init__(
        self,
        checkpoint_dir,
        save_secs=None,
        save_steps=None,
        saver=None,
        checkpoint_basename="model.ckpt",
        scaffold=None,
        listeners=None,
        save_graph_def=True,
    ):
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver = saver
        self._directory = checkpoint_dir
        self._path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._listeners = listeners or []
        self._save_graph_def = save_graph_def

    def begin(self):
        self._writer = FileWriterCache.get(self._directory)
        self._step = _required_step("CheckpointSaverHook")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session, coord):
        step = session.run(self._step)
        if self._save_graph_def:
            from .graph_files import write_graph

            write_graph(session.graph, self._directory, "graph.pbtxt")
            self._writer.add_graph(session.graph)
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context):
        return SessionRunArgs(self._step)

    def after_run(self, run_context, run_values):
        if not self._timer.should_trigger_for_step(run_values.results + 1):
            return
        step = run_context.session.run(self._step)
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._save(run_context.session, step):
                run_context.request_stop()

    def end(self, session):
        step = session.run(self._step)
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _save(self, session, step):
        for listener in self._listeners:
            listener.before_save(session, step)
        self._saver_to_use().save(session, self._path, global_step=step)
        # All are notified, even if one requests a stop.
        asked = [bool(listener.after_save(session, step)) for listener in self._listeners]
        return any(asked)

    def _saver_to_use(self):
        if self._saver is None:
            if self._scaffold is not None:
                return self._scaffold.saver
            from .monitored import only_of_collection

            self._saver = only_of_collection(GraphKeys.SAVERS)
            if self._saver is None:
                raise RuntimeError(
                    "No items in collection savers. Please add a saver to the collection or "
                    "provide a saver or scaffold."
                )
        return self._saver


class LoggingTensorHook(SessionRunHook):
    """Logs the values of tensors every given number of runs or seconds, or at the end."""

    def __init__(self, tensors, every_n_iter=None, every_n_secs=None, at_end=False, formatter=None):
        only_at_end = at_end and every_n_iter is None and every_n_secs is None
        if not only_at_end and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError(
                "either at_end and/or exactly one of every_n_iter and every_n_secs must be "
                "provided."
            )
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        self._order = None
        if not isinstance(tensors, dict):
            self._order = tensors
            tensors = {_name(each): each for each in tensors}
        self._tensors = tensors
        self._names = list(tensors) if self._order is None else [_name(e) for e in self._order]
        self._timer = None if only_at_end else SecondOrStepTimer(every_n_secs, every_n_iter)
        self._at_end = at_end
        self._formatter = formatter

    def begin(self):
        if self._timer is not None:
            self._timer.reset()
        self._runs = 0
        graph = _graph()
        self._fetches = {
            name: graph.as_graph_element(each) if isinstance(each, str) else each
            for name, each in self._tensors.items()
        }

    def before_run(self, run_context):
        timer = self._timer
        self._due = timer is not None and timer.should_trigger_for_step(self._runs)
        return SessionRunArgs(self._fetches) if self._due else None

    def after_run(self, run_context, run_values):
        if self._due:
            self._log(run_values.results)
        self._runs += 1

    def end(self, session):
        if self._at_end:
            self._log(session.run(self._fetches))

    def _log(self, values):
        seconds = None
        if self._timer is not None:
            seconds, _ = self._timer.update_last_triggered_step(self._runs)
        if self._formatter is not None:
            _LOG.info(self._formatter(values))
            return
        text = ", ".join(f"{name} = {values[name]}" for name in self._names)
        _LOG.info(text if seconds is None else f"{text} ({seconds:.3f} sec)")


class StepCounterHook(SessionRunHook):
    """Logs, and writes as a summary, the steps per second."""

    def __init__(self, every_n_steps=100, every_n_secs=None, output_dir=None, summary_writer=None):
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_n_secs, every_n_steps)
        self._writer = summary_writer
        self._directory = output_dir

    def begin(self):
        if self._writer is None and self._directory:
            self._writer = FileWriterCache.get(self._directory)
        self._step = _required_step("StepCounterHook")
        self._tag = f"{self._step.op.name}/sec"

    def before_run(self, run_context):
        return SessionRunArgs(self._step)

    def after_run(self, run_context, run_values):
        if not self._timer.should_trigger_for_step(run_values.results + 1):
            return
        step = run_context.session.run(self._step)
        if self._timer.should_trigger_for_step(step):
            seconds, steps = self._timer.update_last_triggered_step(step)
            if seconds:
                self._log_and_record(steps, seconds, step)

    def _log_and_record(self, elapsed_steps, elapsed_time, global_step):
        rate = elapsed_steps / elapsed_time
        if self._writer is not None:
            from tensorboard.compat.proto.summary_pb2 import Summary

            summary = Summary()
            summary.value.add(tag=self._tag, simple_value=rate)
            self._writer.add_summary(summary, global_step)
        _LOG.info("%s: %g", self._tag, rate)


class NanLossDuringTrainingError(RuntimeError):
    """The loss of a step is NaN."""

    def __str__(self):
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Fails or stops when a loss is NaN."""

    def __init__(self, loss_tensor, fail_on_nan_loss=True):
        self._loss = loss_tensor
        self._fails = fail_on_nan_loss

    def before_run(self, run_context):
        return SessionRunArgs(self._loss)

    def after_run(self, run_context, run_values):
        if np.isnan(run_values.results):
            if self._fails:
                _LOG.error("Model diverged with loss = NaN.")
                raise NanLossDuringTrainingError
            _LOG.warning("Model diverged with loss = NaN.")
            run_context.request_stop()


class SummarySaverHook(SessionRunHook):
    """Writes summaries every given number of steps or seconds."""

    def __init__(
        self,
        save_steps=None,
        save_secs=None,
        output_dir=None,
        summary_writer=None,
        scaffold=None,
        summary_op=None,
    ):
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._summary_op = summary_op
        self._writer = summary_writer
        self._directory = output_dir
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self):
        if self._writer is None and self._directory:
            self._writer = FileWriterCache.get(self._directory)
        self._next_step = None
        self._step = _required_step("SummarySaverHook")

    def before_run(self, run_context):
        next_step = self._next_step
        self._due = next_step is None or self._timer.should_trigger_for_step(next_step)
        fetches = {"global_step": self._step}
        op = self._summary_op if self._scaffold is None else self._scaffold.summary_op
        if self._due and op is not None:
            fetches["summary"] = op if isinstance(op, list) else [op]
        return SessionRunArgs(fetches)

    def after_run(self, run_context, run_values):
        if self._writer is None:
            return
        step = run_values.results["global_step"] + 1
        if self._next_step is None or self._due:
            step = run_context.session.run(self._step)
        if self._next_step is None:
            from tensorboard.compat.proto.event_pb2 import SessionLog

            self._writer.add_session_log(SessionLog(status=SessionLog.START), step)
        if self._due:
            self._timer.update_last_triggered_step(step)
            for summary in run_values.results.get("summary", ()):
                self._writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session):
        if self._writer is not None:
            self._writer.flush()


class FinalOpsHook(SessionRunHook):
    """Runs fetches once, at the end of the session."""

    def __init__(self, final_ops, final_ops_feed_dict=None):
        self._final_ops = final_ops
        self._feed_dict = final_ops_feed_dict
        self._values = None

    @property
    def final_ops_values(self):
        """The results of the fetches; None before the end."""
        return self._values

    def end(self, session):
        if self._final_ops is not None:
            self._values = session.run(self._final_ops, feed_dict=self._feed_dict)


class FeedFnHook(SessionRunHook):
    """Feeds the result of a function in each run."""

    def __init__(self, feed_fn):
        self.feed_fn = feed_fn

    def before_run(self, run_context):
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())


class GlobalStepWaiterHook(SessionRunHook):
    """Waits before the first run until the global step has reached a number."""

    def __init__(self, wait_until_step):
        self._wait_until_step = wait_until_step
        self._started = False

    def begin(self):
        self._step = _required_step("GlobalStepWaiterHook")

    def before_run(self, run_context):
        if self._started or self._wait_until_step <= 0:
            self._started = True
            return
        while run_context.session.run(self._step) < self._wait_until_step:
            time.sleep(0.5)
        self._started = True


def _name(tensor):
    return tensor.name if isinstance(tensor, GraphTensor) or hasattr(tensor, "name") else tensor


def _graph():
    from ..defaults import get_default_graph

    return get_default_graph()
