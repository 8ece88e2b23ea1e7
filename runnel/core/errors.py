"""The exceptions of `tf.errors`: one class for each status code an operation can fail with."""

from __future__ import annotations

from typing import Any, ClassVar

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OperatorNotAllowedInGraphError(TypeError):
    """Raised when Python needs the value of a symbolic tensor, as in `if tensor:`."""


class OpError(Exception):
    """The base of all errors an operation raises.

    Args:
        node_def: The NodeDef of the failing operation, None in eager mode.
        op: The graph operation that failed, None in eager mode.
        message: The error message.
        error_code: One of the status codes of this module.
        *args: Optionally a dictionary with further information about the error.
    """

    def __init__(
        self, node_def: Any, op: Any, message: str, error_code: int | None, *args: Any
    ) -> None:
        super().__init__()
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code
        self._experimental_payloads: Any = args[0] if args else {}

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = (self._node_def, self._op, self._message, self._error_code)
        return type(self), arguments + self._payload_arguments()

    def _payload_arguments(self) -> tuple[Any, ...]:
        return (self._experimental_payloads,) if self._experimental_payloads else ()

    @property
    def message(self) -> str:
        """What happened."""
        return self._message

    @property
    def op(self) -> Any:
        """The graph operation that failed, or None."""
        return self._op

    @property
    def error_code(self) -> int | None:
        """The status code, such as `tf.errors.INVALID_ARGUMENT`."""
        return self._error_code

    @property
    def node_def(self) -> Any:
        """The NodeDef of the failing operation, or None."""
        return self._node_def

    @property
    def experimental_payloads(self) -> Any:
        """A dictionary of further information about the error, empty if there is none."""
        return self._experimental_payloads

    def __str__(self) -> str:
        if self._op is None:
            return self._message
        import traceback

        frames = getattr(self._op, "traceback", None) or ()
        lines = "".join(traceback.format_list(list(frames)))
        return f"{self._message}\n\nOriginal stack trace for {self._op.name!r}:\n{lines}"


class _CodedError(OpError):
    """An error whose status code is determined by its class."""

    _code: ClassVar[int]

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, self._code, *args)

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = (self._node_def, self._op, self._message)
        return type(self), arguments + self._payload_arguments()


class CancelledError(_CodedError):
    """Raised when an operation was cancelled while it ran."""

    _code = CANCELLED


class UnknownError(_CodedError):
    """Raised when the cause of the failure is unknown."""

    _code = UNKNOWN


class InvalidArgumentError(_CodedError):
    """Raised when an operation receives a value, shape or dtype it cannot take.

    >>> try:
    ...     tf.gather([1, 2, 3], 7)
    ... except tf.errors.InvalidArgumentError as error:
    ...     print(error.error_code == tf.errors.INVALID_ARGUMENT)
    True
    """

    _code = INVALID_ARGUMENT


class DeadlineExceededError(_CodedError):
    """Raised when the time limit of an operation passed before it was done."""

    _code = DEADLINE_EXCEEDED


class NotFoundError(_CodedError):
    """Raised when a requested file, key or resource does not exist."""

    _code = NOT_FOUND


class AlreadyExistsError(_CodedError):
    """Raised when an entity to be created already exists."""

    _code = ALREADY_EXISTS


class PermissionDeniedError(_CodedError):
    """Raised when the caller lacks the permission for the operation."""

    _code = PERMISSION_DENIED


class UnauthenticatedError(_CodedError):
    """Raised when the caller is not authenticated."""

    _code = UNAUTHENTICATED


class ResourceExhaustedError(_CodedError):
    """Raised when memory, disk space or a quota is exhausted."""

    _code = RESOURCE_EXHAUSTED


def out_of_memory(failure: MemoryError, op: str) -> ResourceExhaustedError:
    """The error to raise when NumPy cannot allocate an array."""
    shape, dtype = getattr(failure, "shape", None), getattr(failure, "dtype", None)
    if shape is None:
        return ResourceExhaustedError(None, None, f"Out of memory: {failure} [Op:{op}]")
    sizes = ",".join(map(str, shape))
    return ResourceExhaustedError(
        None,
        None,
        f"OOM when allocating tensor with shape[{sizes}] and type {dtype}: {failure}. Check the "
        f"sizes, or work on smaller batches. [Op:{op}]",
    )


class FailedPreconditionError(_CodedError):
    """Raised when the state does not allow the operation, as when reading an uninitialized
    variable.
    """

    _code = FAILED_PRECONDITION


class AbortedError(_CodedError):
    """Raised when an operation was aborted, typically by a conflicting one."""

    _code = ABORTED


class OutOfRangeError(_CodedError):
    """Raised when iteration or reading went past the end."""

    _code = OUT_OF_RANGE


class UnimplementedError(_CodedError):
    """Raised when an operation does not support the request."""

    _code = UNIMPLEMENTED


class InternalError(_CodedError):
    """Raised when an internal invariant is violated."""

    _code = INTERNAL


class UnavailableError(_CodedError):
    """Raised when a service is currently unavailable."""

    _code = UNAVAILABLE


class DataLossError(_CodedError):
    """Raised when stored data is truncated or unrecoverably corrupt."""

    _code = DATA_LOSS


__all__ = [
    "ABORTED",
    "ALREADY_EXISTS",
    "CANCELLED",
    "DATA_LOSS",
    "DEADLINE_EXCEEDED",
    "FAILED_PRECONDITION",
    "INTERNAL",
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "OK",
    "OUT_OF_RANGE",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "UNAUTHENTICATED",
    "UNAVAILABLE",
    "UNIMPLEMENTED",
    "UNKNOWN",
    "AbortedError",
    "AlreadyExistsError",
    "CancelledError",
    "DataLossError",
    "DeadlineExceededError",
    "FailedPreconditionError",
    "InternalError",
    "InvalidArgumentError",
    "NotFoundError",
    "OpError",
    "OperatorNotAllowedInGraphError",
    "OutOfRangeError",
    "PermissionDeniedError",
    "ResourceExhaustedError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "UnknownError",
]
