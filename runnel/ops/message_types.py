"""Protocol message types by name: from descriptor sets, or from the process's default pool."""

from __future__ import annotations

import functools
import importlib
import os
import pkgutil
from typing import Any

from ..core import errors
from ..formats.paths import local

_LOCAL = (b"", b"local://")
_BYTES = b"bytes://"
# Aliases of the messages of the package `tensorflow`, under other packages.
_FAMILIES = "tensorboard", "runnel.checkpoint", "runnel.saved_model"


def message_type(source: bytes, name: str) -> tuple[Any, Any]:
    """The descriptor of a message and the pool that knows it.

    `source` is `local://`, `bytes://` with a serialized FileDescriptorSet, or a file with one.
    """
    if source in _LOCAL:
        return _known_here(name)
    pool = _pool(source, _state_of_file(source))
    try:
        return pool.FindMessageTypeByName(name), pool
    except KeyError:
        raise _no_descriptor(name, source) from None


def _no_descriptor(name: str, source: bytes) -> errors.InvalidArgumentError:
    where = "this process" if source in _LOCAL else "the descriptor_source"
    return errors.InvalidArgumentError(
        None,
        None,
        f"No descriptor found for message type {name}: {where} does not describe it. Names are "
        "full names, with the package and without a dot in front.",
    )


def _state_of_file(source: bytes) -> tuple[int, int] | None:
    """A file's fingerprint that changes when it is rewritten."""
    if source.startswith(_BYTES):
        return None
    try:
        found = os.stat(local(source))
    except (OSError, ValueError, errors.UnimplementedError):
        return None
    return found.st_mtime_ns, found.st_size


@functools.lru_cache(maxsize=32)
def _pool(source: bytes, state_of_file: tuple[int, int] | None) -> Any:
    """The pool of the files in a FileDescriptorSet."""
    from google.protobuf import descriptor_pb2, descriptor_pool
    from google.protobuf.message import DecodeError

    described = descriptor_pb2.FileDescriptorSet()
    try:
        if source.startswith(_BYTES):
            content = source[len(_BYTES) :]
        else:
            with open(local(source), "rb") as file:
                content = file.read()
        described.ParseFromString(content)
    except (OSError, ValueError, DecodeError, errors.UnimplementedError) as failure:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Source does not represent serialized file descriptor set proto: {failure}. "
            f"descriptor_source is {source[:80]!r}; it may be a file that protoc wrote with "
            "--descriptor_set_out and --include_imports, bytes://<such a file's content>, or "
            "local://.",
        ) from None
    pool = descriptor_pool.DescriptorPool()
    for file in described.file:
        try:
            pool.AddSerializedFile(file.SerializeToString())
        except (TypeError, ValueError) as failure:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Failed to load FileDescriptorProto of {file.name!r}: {failure}. The files that "
                "it imports must stand before it in the set (protoc --include_imports).",
            ) from None
    return pool


def _known_here(name: str) -> tuple[Any, Any]:
    from google.protobuf import descriptor_pool

    found = _in_pool(descriptor_pool.Default(), name)
    package, _, rest = name.partition(".")
    if found is None and package == "google":
        _register("google.protobuf")
        found = _in_pool(descriptor_pool.Default(), name)
    if found is None and package == "tensorflow":
        found = next(filter(None, (_in_pool(pool, full) for pool, full in _like(rest))), None)
    if found is None:
        raise _no_descriptor(name, _LOCAL[0])
    return found


def _in_pool(pool: Any, name: str) -> tuple[Any, Any] | None:
    try:
        return pool.FindMessageTypeByName(name), pool
    except KeyError:
        return None


def _like(rest: str) -> Any:
    """The pools and names of messages that are, field by field, equal to those of `tensorflow`."""
    from ..formats import bundle_messages, example_messages, saved_model_messages

    yield example_messages.Example.DESCRIPTOR.file.pool, f"tensorflow.{rest}"
    _register("tensorboard.compat.proto")
    for message in (saved_model_messages.SavedModel, bundle_messages.BundleEntryProto):
        for family in _FAMILIES:
            yield message.DESCRIPTOR.file.pool, f"{family}.{rest}"


@functools.cache
def _register(package: str) -> None:
    """Register all messages of a package in the default pool."""
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
        if module.name.endswith("_pb2"):
            importlib.import_module(f"{package}.{module.name}")
