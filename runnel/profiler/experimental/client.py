"""`tf.profiler.experimental.client`: profiles of programs that run a profiler server."""

from ...core import errors
from ..files import profiles_folder, run_name
from ..service import request_profile, request_summary
from ..session import ProfilerOptions


def trace(
    service_addr: str,
    logdir: str,
    duration_ms: int,
    worker_list: str = "",
    num_tracing_attempts: int = 3,
    options: ProfilerOptions | None = None,
) -> None:
    """Request profiles from servers, written below `logdir/plugins/profile`.

    Args:
        service_addr: The servers' addresses, separated by commas: `"grpc://localhost:6009"`.
        logdir: TensorBoard's log folder, in the servers' file system.
        duration_ms: The duration of the recording.
        worker_list: For TPUs; not used.
        num_tracing_attempts: The number of retries if there were no events.
        options: `ProfilerOptions`, the level of detail.

    Raises:
        InvalidArgumentError: The duration is not positive.
        RuntimeError: A server could not be reached, or there were no events.
    """
    if duration_ms <= 0:
        raise errors.InvalidArgumentError(None, None, "duration_ms must be greater than zero.")
    addresses = [_address(each) for each in service_addr.split(",")]
    folder, run = profiles_folder(logdir), run_name()
    for remaining in reversed(range(num_tracing_attempts)):
        print(f"Starting to trace for {duration_ms} ms. Remaining attempt(s): {remaining}")
        if _any_traced(addresses, folder, run, duration_ms, options or ProfilerOptions()):
            return
        if remaining:
            print("No trace event is collected. Automatically retrying.\n")
    raise RuntimeError(
        "UNAVAILABLE: No trace event was collected because there were no responses from clients "
        "or the responses did not have trace data."
    )


def _any_traced(
    addresses: list[str], folder: str, run: str, duration_ms: int, options: ProfilerOptions
) -> bool:
    """Request profiles of all servers concurrently; one that does not respond traces nothing."""
    from concurrent.futures import ThreadPoolExecutor

    def ask(address: str) -> bool:
        try:
            return request_profile(address, folder, run, duration_ms, options)
        except RuntimeError as failure:
            print(f"{address}: {failure}")
            return False

    with ThreadPoolExecutor(len(addresses)) as pool:
        return any(list(pool.map(ask, addresses)))


def monitor(service_addr: str, duration_ms: int, level: int = 1) -> str:
    """A summary of a server's program: the table of its slowest operations.

    Args:
        service_addr: The server's address: `"grpc://localhost:6009"`.
        duration_ms: The duration of the recording.
        level: 1 or 2, the original's level of detail.

    Raises:
        RuntimeError: The server could not be reached, or has no summaries.
    """
    return request_summary(_address(service_addr), duration_ms, level)


def _address(text: str) -> str:
    address = text.strip().removeprefix("grpc://")
    host, colon, port = address.rpartition(":")
    if not (host and colon and port.isdigit()):
        raise RuntimeError(
            f'INVALID_ARGUMENT: Could not interpret "{address}" as a host-port pair, such as '
            "grpc://localhost:6009."
        )
    return address
