"""Downloads with a local cache."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException
from typing import Any

from ...formats.safe_files import make_folders, replacing
from .archives import extract_archive
from .interactive import print_message
from .progbar import Progbar

_CHUNK = 1 << 16
_PATIENCE = 60.0


def get_file(
    fname: Any = None,
    origin: str | None = None,
    untar: bool = False,
    md5_hash: str | None = None,
    file_hash: str | None = None,
    cache_subdir: str = "datasets",
    hash_algorithm: str = "auto",
    extract: bool = False,
    archive_format: Any = "auto",
    cache_dir: Any = None,
) -> str:
    """The local path of a file, downloaded unless cached.

    The file goes to `cache_dir/cache_subdir/fname`, by default `~/.keras/datasets/fname`. It
    appears there only once complete and its hash verified.

    Args:
      fname: Name of the file, by default the one in `origin`. An absolute path is used unchanged.
      origin: URL of the file.
      untar: Extract a tar archive and return the path of its content (older than `extract`).
      md5_hash: The expected MD5 hash (older than `file_hash`).
      file_hash: The expected hash of the file.
      cache_subdir: Folder in the cache.
      hash_algorithm: "md5", "sha256" or "auto" (by the length of the hash).
      extract: Extract the file if it is an archive.
      archive_format: "auto", "tar", "zip" or None, or a list of them.
      cache_dir: The cache root; by default `$KERAS_HOME` or `~/.keras`.
    """
    if origin is None:
        raise ValueError('Please specify the "origin" argument (URL of the file to download).')
    name = os.fspath(fname) if fname else os.path.basename(urllib.parse.urlsplit(origin).path)
    if not name:
        raise ValueError(
            f"Can't parse the file name from the origin provided: '{origin}'. "
            "Please specify the `fname` as the input param."
        )
    if file_hash is None and md5_hash is not None:
        file_hash, hash_algorithm = md5_hash, "md5"
    folder = os.path.join(_cache(cache_dir), cache_subdir)
    content = os.path.join(folder, name)
    if untar:
        content = content.removesuffix(".tar.gz")
        path = content + ".tar.gz"
    else:
        path = content
    make_folders(os.path.dirname(path))
    if not _is_there(path, file_hash, hash_algorithm):
        _download(origin, path, file_hash, hash_algorithm)
    if untar:
        if not os.path.exists(content):
            extract_archive(path, folder, "tar")
        return content
    if extract:
        extract_archive(path, folder, archive_format)
    return path


def _cache(cache_dir: Any) -> str:
    home = cache_dir or os.environ.get("KERAS_HOME") or os.path.expanduser("~/.keras")
    home = os.path.expanduser(os.fspath(home))
    with contextlib.suppress(OSError):
        os.makedirs(home, exist_ok=True)
    if not os.access(home, os.W_OK):
        home = os.path.join(tempfile.gettempdir(), ".keras")
    return home


def _is_there(path: str, file_hash: str | None, algorithm: str) -> bool:
    if not os.path.exists(path):
        return False
    if file_hash is None or _has_hash(path, file_hash, algorithm):
        return True
    print_message(
        "A local file was found, but it seems to be incomplete or outdated because the "
        f"{algorithm} file hash does not match the original value of {file_hash} so we will "
        "re-download the data."
    )
    return False


def _has_hash(path: str, file_hash: str, algorithm: str) -> bool:
    if algorithm not in ("auto", "md5", "sha256"):
        raise ValueError(
            f'Unknown `hash_algorithm`: {algorithm}. It is one of "auto", "md5", "sha256".'
        )
    by_length = "sha256" if len(file_hash) == 64 else "md5"
    digest = hashlib.new(by_length if algorithm == "auto" else algorithm, usedforsecurity=False)
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest() == file_hash.lower()


def _download(origin: str, path: str, file_hash: str | None, algorithm: str) -> None:
    print_message(f"Downloading data from {origin}")
    with replacing(path) as partial:
        _fetch(origin, partial)
        if file_hash is not None and not _has_hash(partial, file_hash, algorithm):
            raise ValueError(
                f"Incomplete or corrupted file detected. The {algorithm} file hash does not "
                f"match the provided value of {file_hash}."
            )


def _fetch(origin: str, partial: str) -> None:
    with contextlib.ExitStack() as stack:
        with _readable_failures(origin):
            answer = stack.enter_context(urllib.request.urlopen(origin, timeout=_PATIENCE))
        # Disk errors are not reported as network errors.
        file = stack.enter_context(open(partial, "wb"))
        announced = answer.headers.get("Content-Length")
        size = int(announced) if announced else None
        bar = Progbar(size)
        received = 0
        while chunk := _received(answer, origin):
            file.write(chunk)
            received += len(chunk)
            bar.update(received, finalize=received == size)
        if size is None:
            bar.update(received, finalize=True)
        elif received < size:
            with _readable_failures(origin):
                raise OSError(f"the connection ended after {received} of {size} bytes")


def _received(answer: Any, origin: str) -> bytes:
    with _readable_failures(origin):
        chunk: bytes = answer.read(_CHUNK)
        return chunk


@contextlib.contextmanager
def _readable_failures(origin: str) -> Iterator[None]:
    # The original raises bare Exception here, which programs may rely on.
    try:
        yield
    except urllib.error.HTTPError as error:
        error.close()
        raise Exception(f"URL fetch failure on {origin}: {error.code} -- {error.msg}") from None
    except (urllib.error.URLError, HTTPException, OSError) as error:
        reason = getattr(error, "reason", error)
        raise Exception(
            f"URL fetch failure on {origin}: None -- {reason}. If this machine is offline, put "
            "the file into the cache by hand, or give `cache_dir` of one that has it."
        ) from error
