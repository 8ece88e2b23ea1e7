"""Servers of a cluster within this process: sessions on them share the values of variables."""

from __future__ import annotations

import re
import socket
import threading
from contextlib import ExitStack
from typing import Any, NamedTuple

from ...core import errors
from ...core.devices import DeviceSpec
from ...formats.example_messages import ServerDef
from ...train.cluster import ClusterSpec
from .variables import by_key

# All servers of the process by target. As in the original, a server never ends: any thread with its
# target may open a session on it.
_SERVERS: dict[str, Server] = {}
_TARGET = re.compile(r"grpc://.")


class _Cell:
    """The cell of a variable's value."""

    __slots__ = ("lock", "tensor")

    def __init__(self) -> None:
        # Held by updates; reads do not take it.
        self.lock = threading.RLock()
        self.tensor: Any = None


class SessionDevice(NamedTuple):
    """A device of a session on a server."""

    name: str
    device_type: str


class Server:
    """A task of a cluster. Sessions on its target store their variables in its cluster's servers.

    All servers of a cluster live in one process, in which the operations of all sessions run; a
    server there holds the variables that are placed on its task.
    """

    def __init__(self, cluster: ClusterSpec, job_name: str, task_index: int, protocol: str) -> None:
        self._cluster = cluster
        self._job, self._index = job_name, task_index
        self._protocol = protocol
        self._cells: dict[tuple[str, str], _Cell] = {}
        self._making = threading.Lock()
        # Incremented by resets, which end the existing sessions.
        self.resets = 0
        _SERVERS[self.target] = self

    @property
    def target(self) -> str:
        """The target for `tf.compat.v1.Session` to use this server."""
        return f"{self._protocol}://{self._cluster.task_address(self._job, self._index)}"

    @property
    def server_def(self) -> Any:
        """The server and its cluster as a `tf.train.ServerDef` message."""
        return ServerDef(
            cluster=self._cluster.as_cluster_def(),
            job_name=self._job,
            task_index=self._index,
            protocol=self._protocol,
        )

    def start(self) -> None:
        """No-op: a server runs from its creation on."""

    def join(self) -> None:
        """Wait for the server to end, which never happens."""
        threading.Event().wait()

    def devices(self) -> list[SessionDevice]:
        """The devices of the cluster, this server's own first."""
        tasks = [
            (job, index)
            for job in sorted(self._cluster.jobs)
            for index in self._cluster.task_indices(job)
        ]
        tasks.sort(key=lambda task: task != (self._job, self._index))
        return [
            SessionDevice(f"/job:{job}/replica:0/task:{index}/device:CPU:0", "CPU")
            for job, index in tasks
        ]

    def require_device(self, name: str, operation: str) -> tuple[str, int]:
        """The job and the task of a device; InvalidArgumentError where the cluster lacks it."""
        spec = DeviceSpec.from_string(name)
        if spec.job is None and spec.task is None:
            return self._job, self._index
        job = self._job if spec.job is None else spec.job
        index = 0 if spec.task is None else spec.task
        if job not in self._cluster.jobs or index not in self._cluster.task_indices(job):
            available = ", ".join(each.name for each in self.devices())
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Cannot assign a device for operation {operation}: it was explicitly assigned to "
                f"{name} but available devices are [ {available} ].",
            )
        return job, index

    def task(self, job: str, index: int) -> Server:
        """The server of a task of this cluster."""
        return _SERVERS[f"{self._protocol}://{self._cluster.task_address(job, index)}"]

    def cell(self, container: str, name: str) -> _Cell:
        """The cell of the variable of a name, created on first use."""
        key = container or self._job, name
        with self._making:
            return self._cells.setdefault(key, _Cell())

    def reset(self, containers: Any) -> None:
        """Release all values of the cluster, or those in containers of these names."""
        for job in self._cluster.jobs:
            for index in self._cluster.task_indices(job):
                self.task(job, index)._clear(containers)
        self.resets += 1

    def _clear(self, containers: Any) -> None:
        with self._making:
            for key in list(self._cells):
                if not containers or key[0] in containers:
                    del self._cells[key]


class SharedValues:
    """The values of a session's variables by key, stored in servers."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._resets = server.resets
        self._cells: dict[int, _Cell] = {}

    def _cell(self, key: int) -> _Cell:
        found = self._cells.get(key)
        if found is None:
            operation = by_key[key].op
            task = self._server.require_device(operation.device, operation.name)
            container = operation.graph.container_of(operation)
            found = self._server.task(*task).cell(container, operation.name)
            self._cells[key] = found
        return found

    def lock(self, key: int) -> Any:
        """The lock held during an update of a variable."""
        return self._cell(key).lock

    def get(self, key: int) -> Any:
        """The value of a variable, or None."""
        return self._cell(key).tensor

    def __contains__(self, key: int) -> bool:
        cell = self._cell(key)
        with cell.lock:
            return cell.tensor is not None

    def __setitem__(self, key: int, tensor: Any) -> None:
        self._cell(key).tensor = tensor

    def __delitem__(self, key: int) -> None:
        self._cell(key).tensor = None

    def require_open(self) -> None:
        """AbortedError after a reset of the server."""
        if self._resets != self._server.resets:
            raise errors.AbortedError(
                None, None, "The session is not found: its server was reset. Make a new one."
            )

    def require_devices(self, operations: Any) -> None:
        """Refuse operations on devices that the cluster lacks."""
        for operation in operations:
            self._server.require_device(operation.device, operation.name)

    def devices(self) -> list[SessionDevice]:
        """The devices of the cluster."""
        return self._server.devices()


def server_of(target: str | bytes) -> Server:
    """The server of a target."""
    target = target.decode() if isinstance(target, bytes) else target
    server = _SERVERS.get(target)
    if server is not None:
        return server
    if not _TARGET.match(target):
        raise errors.NotFoundError(
            None,
            None,
            f"No session factory registered for the target {target!r}. It may be empty, for a "
            "session of its own, or the target of a server.",
        )
    raise errors.UnavailableError(
        None,
        None,
        f"There is no server at {target!r} in this process; servers of other processes are not "
        "reached. tf.test.create_local_cluster makes some here.",
    )


def local_cluster(
    num_workers: int, num_ps: int, protocol: str
) -> tuple[list[Server], list[Server]]:
    """The workers and the parameter servers of a new cluster."""
    ports = _free_ports(num_workers + num_ps)
    addresses = [f"localhost:{port}" for port in ports]
    cluster = ClusterSpec({"worker": addresses[:num_workers], "ps": addresses[num_workers:]})
    workers = [Server(cluster, "worker", index, protocol) for index in range(num_workers)]
    return workers, [Server(cluster, "ps", index, protocol) for index in range(num_ps)]


def _free_ports(count: int) -> list[int]:
    """Free ports, so that their numbers are unique server names."""
    with ExitStack() as stack:
        found = []
        for _ in range(count):
            opened = stack.enter_context(socket.socket())
            opened.bind(("localhost", 0))
            found.append(opened.getsockname()[1])
    taken = {target.rpartition(":")[2] for target in _SERVERS}
    return _free_ports(count) if any(str(port) in taken for port in found) else found
