"""MonitoredSession: a session that initializes or restores, runs hooks, and stops in order."""

from __future__ import annotations

import time

from ....core import errors
from ....train import Coordinator
from ....train.state_file import get_checkpoint_state
from ..building import (
    global_variables,
    global_variables_initializer,
    group,
    local_variables_initializer,
    report_uninitialized_variables,
    tables_initializer,
)
from ..defaults import get_default_graph
from ..keys import GraphKeys
from ..session import Session
from ..summary import merge_all
from .hooks import (
    CheckpointSaverHook,
    SessionRunArgs,
    SessionRunContext,
    SessionRunValues,
    StepCounterHook,
    SummarySaverHook,
)
from .saver import Saver

_NOT_GIVEN = object()
_SECONDS_BETWEEN_CHECKPOINTS = 600
_STEPS_BETWEEN_SUMMARIES = 100
# Exceptions that end a session without being an error.
_ENDS = (errors.OutOfRangeError, StopIteration)


def only_of_collection(key):
    """The only value of a collection; None if it is empty."""
    values = get_default_graph().get_collection(key)
    if len(values) > 1:
        raise RuntimeError(f"More than one item in the collection {key}: {values}")
    return values[0] if values else None


def _from_collection(key, make):
    """The value of a collection, or a new one that is added to it."""
    value = only_of_collection(key)
    if value is None:
        value = make()
        if value is not None:
            get_default_graph().add_to_collection(key, value)
    return value


class Scaffold:
    """What a training session needs: initializer operations, a saver, summaries.

    Missing parts are created, or taken from the collections of the graph, by `finalize()`.
    """

    def __init__(
        self,
        init_op=None,
        init_feed_dict=None,
        init_fn=None,
        ready_op=None,
        ready_for_local_init_op=None,
        local_init_op=None,
        summary_op=None,
        saver=None,
        copy_from_scaffold=None,
        local_init_feed_dict=None,
    ):
        given = copy_from_scaffold
        if given is not None and not isinstance(given, Scaffold):
            raise TypeError("copy_from_scaffold is not a Scaffold instance.")

        def value(name, own):
            return getattr(given, name) if own is None and given is not None else own

        self._init_op = value("init_op", init_op)
        self._init_feed_dict = value("init_feed_dict", init_feed_dict)
        init_fn = value("_user_init_fn", init_fn)
        self._user_init_fn = init_fn
        self._init_fn = None if init_fn is None else lambda session: init_fn(self, session)
        self._ready_op = value("ready_op", ready_op)
        self._ready_for_local_init_op = value("ready_for_local_init_op", ready_for_local_init_op)
        self._local_init_op = value("local_init_op", local_init_op)
        self._local_init_feed_dict = value("local_init_feed_dict", local_init_feed_dict)
        self._summary_op = value("summary_op", summary_op)
        self._saver = value("saver", saver)

    def finalize(self):
        """Create missing parts, and finalize the graph."""
        if self._init_op is None:
            self._init_op = _from_collection(GraphKeys.INIT_OP, global_variables_initializer)
        if self._ready_op is None:
            self._ready_op = _from_collection(GraphKeys.READY_OP, report_uninitialized_variables)
        if self._ready_for_local_init_op is None:
            self._ready_for_local_init_op = _from_collection(
                GraphKeys.READY_FOR_LOCAL_INIT_OP,
                lambda: report_uninitialized_variables(global_variables()),
            )
        if self._local_init_op is None:
            self._local_init_op = _from_collection(
                GraphKeys.LOCAL_INIT_OP, Scaffold.default_local_init_op
            )
        if self._summary_op is None:
            self._summary_op = _from_collection(GraphKeys.SUMMARY_OP, merge_all)
        if self._saver is None:
            self._saver = _from_collection(GraphKeys.SAVERS, lambda: Saver(allow_empty=True))
        get_default_graph().finalize()
        return self

    @staticmethod
    def default_local_init_op():
        """Initializes local variables and tables."""
        return group(local_variables_initializer(), tables_initializer())

    init_op = property(lambda self: self._init_op)
    init_feed_dict = property(lambda self: self._init_feed_dict)
    init_fn = property(lambda self: self._init_fn)
    ready_op = property(lambda self: self._ready_op)
    ready_for_local_init_op = property(lambda self: self._ready_for_local_init_op)
    local_init_op = property(lambda self: self._local_init_op)
    local_init_feed_dict = property(lambda self: self._local_init_feed_dict)
    summary_op = property(lambda self: self._summary_op)
    saver = property(lambda self: self._saver)


class SessionManager:
    """Creates sessions that are initialized or restored from a checkpoint."""

    def __init__(
        self,
        local_init_op=None,
        ready_op=None,
        ready_for_local_init_op=None,
        graph=None,
        recovery_wait_secs=30,
        local_init_run_options=None,
        local_init_feed_dict=None,
    ):
        self._local_init_op = local_init_op
        self._local_init_feed_dict = local_init_feed_dict
        self._ready_op = ready_op
        self._graph = get_default_graph() if graph is None else graph
        self._wait = recovery_wait_secs

    def prepare_session(
        self,
        master,
        init_op=None,
        saver=None,
        checkpoint_dir=None,
        checkpoint_filename_with_path=None,
        wait_for_checkpoint=False,
        max_wait_secs=7200,
        config=None,
        init_feed_dict=None,
        init_fn=None,
    ):
        """A session restored from a checkpoint if there is one, else initialized."""
        session, restored = self._restored(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, config
        )
        if not restored:
            if init_op is None and not init_fn and self._local_init_op is None:
                raise RuntimeError(
                    "Model is not initialized and no init_op or init_fn or local_init_op was given"
                )
            if init_op is not None:
                session.run(init_op, feed_dict=init_feed_dict)
            if init_fn:
                init_fn(session)
        if self._local_init_op is not None:
            session.run(self._local_init_op, feed_dict=self._local_init_feed_dict)
        missing = self._missing(session)
        if missing:
            raise RuntimeError(
                f"Init operations did not make model ready. Not initialized: {missing}."
            )
        return session

    def recover_session(
        self,
        master,
        saver=None,
        checkpoint_dir=None,
        checkpoint_filename_with_path=None,
        wait_for_checkpoint=False,
        max_wait_secs=7200,
        config=None,
    ):
        """A session, and whether it was restored from a checkpoint and is ready."""
        session, restored = self._restored(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, config
        )
        if restored and self._local_init_op is not None:
            session.run(self._local_init_op, feed_dict=self._local_init_feed_dict)
        return session, restored and not self._missing(session)

    def wait_for_session(self, master, config=None, max_wait_secs=float("Inf")):
        """A session, after others have initialized the variables."""
        deadline = time.time() + max_wait_secs
        while True:
            session = Session(master, graph=self._graph, config=config)
            if self._local_init_op is not None:
                session.run(self._local_init_op, feed_dict=self._local_init_feed_dict)
            if not self._missing(session):
                return session
            session.close()
            if time.time() + self._wait > deadline:
                raise errors.DeadlineExceededError(
                    None, None, f"Session was not ready after waiting {max_wait_secs} secs."
                )
            time.sleep(self._wait)

    def _restored(self, master, saver, directory, path, config):
        if directory and path:
            raise ValueError(
                "Can not provide both checkpoint_dir and checkpoint_filename_with_path."
            )
        session = Session(master, graph=self._graph, config=config)
        if saver is not None and not path and directory:
            state = get_checkpoint_state(directory)
            path = state.model_checkpoint_path if state is not None else None
        if saver is None or not path:
            return session, False
        saver.restore(session, path)
        return session, True

    def _missing(self, session):
        """The variables without values, according to the ready operation."""
        if self._ready_op is None:
            return []
        found = session.run(self._ready_op)
        return [] if found is None else [each.decode() for each in found]


class SessionCreator:
    """Creates the session of a monitored session."""

    def create_session(self):
        """A session."""
        raise NotImplementedError(f"create_session is not implemented for {self}.")


class ChiefSessionCreator(SessionCreator):
    """Creates a session that is initialized, or restored from a checkpoint."""

    def __init__(
        self,
        scaffold=None,
        master="",
        config=None,
        checkpoint_dir=None,
        checkpoint_filename_with_path=None,
    ):
        self._checkpoint_dir = checkpoint_dir
        self._path = checkpoint_filename_with_path
        self._scaffold = scaffold or Scaffold()
        self._master = master
        self._config = config

    def create_session(self):
        """The session, ready to train."""
        scaffold = self._scaffold.finalize()
        return _manager_of(scaffold).prepare_session(
            self._master,
            saver=scaffold.saver,
            checkpoint_dir=self._checkpoint_dir,
            checkpoint_filename_with_path=self._path,
            config=self._config,
            init_op=scaffold.init_op,
            init_feed_dict=scaffold.init_feed_dict,
            init_fn=scaffold.init_fn,
        )


class WorkerSessionCreator(SessionCreator):
    """Creates a session after the chief has initialized the variables."""

    def __init__(self, scaffold=None, master="", config=None, max_wait_secs=1800):
        self._scaffold = scaffold or Scaffold()
        self._master = master
        self._config = config
        self._max_wait_secs = max_wait_secs

    def create_session(self):
        """The session, ready to train."""
        manager = _manager_of(self._scaffold.finalize())
        return manager.wait_for_session(self._master, self._config, self._max_wait_secs)


def _manager_of(scaffold):
    return SessionManager(
        local_init_op=scaffold.local_init_op,
        local_init_feed_dict=scaffold.local_init_feed_dict,
        ready_op=scaffold.ready_op,
        ready_for_local_init_op=scaffold.ready_for_local_init_op,
        graph=get_default_graph(),
    )


class MonitoredSession:
    """A session whose runs call hooks, until one of them requests a stop.

    >>> with tf.Graph().as_default():
    ...     step = tf.compat.v1.train.get_or_create_global_step()
    ...     train = tf.compat.v1.assign_add(step, 1)
    ...     hook = tf.compat.v1.train.StopAtStepHook(last_step=3)
    ...     with tf.compat.v1.train.MonitoredSession(hooks=[hook]) as session:
    ...         while not session.should_stop():
    ...             done = session.run(train)
    >>> print(done)
    3
    """

    class StepContext:
        """The argument of a function for `run_step_fn`: the session, and how to stop."""

        def __init__(self, session, run_with_hooks_fn):
            self._session = session
            self._run_with_hooks = run_with_hooks_fn

        @property
        def session(self):
            """The session, whose runs call no hooks."""
            return self._session

        def run_with_hooks(self, *args, **kwargs):
            """Run fetches with the hooks; once per step."""
            return self._run_with_hooks(*args, **kwargs)

        def request_stop(self):
            """End the loop."""
            raise StopIteration("step_fn has requested the iterations to stop.")

    def __init__(self, session_creator=None, hooks=None, stop_grace_period_secs=120):
        self._hooks = hooks or []
        for hook in self._hooks:
            hook.begin()
        self._creator = session_creator or ChiefSessionCreator()
        self._grace = stop_grace_period_secs
        self._closed = False
        self._start()

    def _start(self):
        self._coordinator = Coordinator(clean_stop_exception_types=())
        self._session = self._creator.create_session()
        from .queue_runners import start_queue_runners

        start_queue_runners(sess=self._session, coord=self._coordinator)
        for hook in self._hooks:
            hook.after_create_session(self._session, self._coordinator)

    @property
    def graph(self):
        """The graph of the session."""
        return None if self._closed else self._session.graph

    def should_stop(self):
        """Whether a hook requested a stop, or the session is closed."""
        return self._closed or self._coordinator.should_stop()

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """Run fetches, with what the hooks add to them."""
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        if self._coordinator.should_stop():
            self._coordinator.raise_requested_exception()
            raise RuntimeError("Run called even after should_stop requested.")
        return self._run_with_hooks(fetches, feed_dict, options, run_metadata)

    def _run_with_hooks(self, fetches, feed_dict=None, options=None, run_metadata=None):
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self._session)
        wanted, feeds, asked = {"caller": fetches}, dict(feed_dict or {}), {}
        for number, hook in enumerate(self._hooks):
            request = hook.before_run(context)
            if request is None:
                continue
            asked[number] = request
            if request.fetches is not None:
                wanted[number] = request.fetches
            for key, value in (request.feed_dict or {}).items():
                if any(key is known for known in feeds):
                    raise RuntimeError("Same tensor is fed by a hook and by the user or another.")
                feeds[key] = value
        results = self._session.run(wanted, feeds or None, options, run_metadata)
        for number, hook in enumerate(self._hooks):
            values = SessionRunValues(results.get(number), options, run_metadata)
            hook.after_run(context, values)
        if context.stop_requested:
            self._coordinator.request_stop()
        return results["caller"]

    def run_step_fn(self, step_fn):
        """Run a function of a `StepContext`, which may request a stop."""
        import inspect

        names = list(inspect.signature(step_fn).parameters)
        if "step_context" not in names or len(names) > 2:
            raise ValueError(
                "step_fn may either have one `step_context` argument, or `self` and `step_context`."
            )
        try:
            return step_fn(self.StepContext(self._session, self.run))
        except StopIteration:
            self._coordinator.request_stop()
            raise

    def close(self):
        """End the hooks, and the session."""
        self._close(None)

    def _close(self, error):
        if self._closed:
            return
        try:
            if error is None:
                for hook in self._hooks:
                    hook.end(self._session)
        finally:
            try:
                self._coordinator.request_stop()
                self._coordinator.join(stop_grace_period_secs=self._grace, ignore_live_threads=True)
            finally:
                self._session.close()
                self._closed = True

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        if kind is not None and issubclass(kind, _ENDS):
            kind = None
        self._close(kind)
        return kind is None


class SingularMonitoredSession(MonitoredSession):
    """A monitored session over a single session, available as `raw_session()`."""

    def __init__(
        self,
        hooks=None,
        scaffold=None,
        master="",
        config=None,
        checkpoint_dir=None,
        stop_grace_period_secs=120,
        checkpoint_filename_with_path=None,
    ):
        creator = ChiefSessionCreator(
            scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path
        )
        super().__init__(creator, hooks, stop_grace_period_secs)

    def raw_session(self):
        """The session itself."""
        return self._session


def MonitoredTrainingSession(
    master="",
    is_chief=True,
    checkpoint_dir=None,
    scaffold=None,
    hooks=None,
    chief_only_hooks=None,
    save_checkpoint_secs=_NOT_GIVEN,
    save_summaries_steps=_NOT_GIVEN,
    save_summaries_secs=_NOT_GIVEN,
    config=None,
    stop_grace_period_secs=120,
    log_step_count_steps=100,
    max_wait_secs=7200,
    save_checkpoint_steps=_NOT_GIVEN,
    summary_dir=None,
    save_graph_def=True,
):
    """A monitored session for training, with hooks for checkpoints and summaries."""
    if save_summaries_steps is _NOT_GIVEN and save_summaries_secs is _NOT_GIVEN:
        save_summaries_steps, save_summaries_secs = _STEPS_BETWEEN_SUMMARIES, None
    if save_checkpoint_secs is _NOT_GIVEN and save_checkpoint_steps is _NOT_GIVEN:
        save_checkpoint_secs, save_checkpoint_steps = _SECONDS_BETWEEN_CHECKPOINTS, None
    summary_steps, summary_secs, secs, steps = (
        None if each is _NOT_GIVEN else each
        for each in (
            save_summaries_steps, save_summaries_secs, save_checkpoint_secs, save_checkpoint_steps,
        )
    )  # fmt: skip
    scaffold = scaffold or Scaffold()
    if not is_chief:
        creator = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
        return MonitoredSession(creator, hooks, stop_grace_period_secs)
    all_hooks = list(chief_only_hooks or [])
    summary_dir = summary_dir or checkpoint_dir
    if summary_dir:
        if log_step_count_steps and log_step_count_steps > 0:
            all_hooks.append(StepCounterHook(log_step_count_steps, output_dir=summary_dir))
        if (summary_steps or 0) > 0 or (summary_secs or 0) > 0:
            all_hooks.append(
                SummarySaverHook(summary_steps, summary_secs, summary_dir, scaffold=scaffold)
            )
    if checkpoint_dir and ((secs or 0) > 0 or (steps or 0) > 0):
        all_hooks.append(
            CheckpointSaverHook(
                checkpoint_dir, secs, steps, scaffold=scaffold, save_graph_def=save_graph_def
            )
        )
    all_hooks += hooks or []
    creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    return MonitoredSession(creator, all_hooks, stop_grace_period_secs)
