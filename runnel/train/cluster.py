"""tf.train.ClusterSpec: the jobs of a cluster and the addresses of their tasks."""

from __future__ import annotations

from typing import Any

from ..formats.example_messages import ClusterDef


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str | bytes):
        raise TypeError(f"{what} {value!r} must be bytes or unicode")
    return value.decode() if isinstance(value, bytes) else value


def _tasks(job: str, tasks: Any) -> dict[int, str]:
    if isinstance(tasks, list | tuple):
        tasks = dict(enumerate(tasks))
    elif not isinstance(tasks, dict):
        raise TypeError(
            f"The tasks for job {job!r} must be a list or a dictionary from integers to strings, "
            f"not {tasks!r}."
        )
    found = {int(index): _text(address, "Task address") for index, address in tasks.items()}
    return {index: found[index] for index in sorted(found)}


class ClusterSpec:
    """The addresses of a cluster's tasks, by job.

    >>> cluster = tf.train.ClusterSpec({"worker": ["first:2222", "second:2222"]})
    >>> cluster.task_address("worker", 1)
    'second:2222'
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, cluster: Any) -> None:
        if isinstance(cluster, ClusterSpec):
            cluster = cluster.as_dict()
        elif isinstance(cluster, ClusterDef):
            cluster = {job.name: dict(job.tasks) for job in cluster.job}
        elif not isinstance(cluster, dict):
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of network "
                f"addresses, or a `ClusterDef` protocol buffer, not {cluster!r}"
            )
        self._jobs: dict[str, dict[int, str]] = {}
        for name, tasks in cluster.items():
            job = _text(name, "Job name")
            self._jobs[job] = _tasks(job, tasks)

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        return self._jobs == (other._jobs if isinstance(other, ClusterSpec) else other)

    def __repr__(self) -> str:
        jobs = self.as_dict()
        return f"ClusterSpec({ {name: jobs[name] for name in sorted(jobs)} })"

    def _job(self, job_name: str) -> dict[int, str]:
        try:
            return self._jobs[job_name]
        except KeyError:
            raise ValueError(
                f"No such job in cluster: {job_name!r}; its jobs are {self.jobs}"
            ) from None

    def as_dict(self) -> dict[str, Any]:
        """The addresses by job: lists, or dictionaries if the indices have gaps."""
        result: dict[str, Any] = {}
        for name, tasks in self._jobs.items():
            dense = tasks and list(tasks) == list(range(len(tasks)))
            result[name] = list(tasks.values()) if dense else dict(tasks)
        return result

    def as_cluster_def(self) -> Any:
        """The cluster as a `tf.train.ClusterDef` message."""
        message = ClusterDef()
        for name in sorted(self._jobs):
            job = message.job.add(name=name)
            for index, address in self._jobs[name].items():
                job.tasks[index] = address
        return message

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._jobs)

    def num_tasks(self, job_name: str) -> int:
        """The number of a job's tasks."""
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The indices of a job's tasks, sorted."""
        return list(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """The address of one task."""
        tasks = self._job(job_name)
        if task_index not in tasks:
            raise ValueError(
                f"No task with index {task_index!r} in job {job_name!r}; there are {list(tasks)}"
            )
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """The addresses of a job's tasks by index; None for missing tasks."""
        tasks = self._job(job_name)
        return [tasks.get(index) for index in range(max(tasks, default=-1) + 1)]
