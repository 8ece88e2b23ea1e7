"""Safe extraction of archives: nothing is written outside of the target folder."""

from __future__ import annotations

import os
import tarfile
import warnings
import zipfile
from typing import Any

from ...formats.safe_files import flush_folder, workspace


def extract_archive(path: str, folder: str, archive_format: Any = "auto") -> bool:
    """Extract a tar or zip archive into a folder; False if it has neither format.

    It is extracted to a temporary folder first, so that an interruption leaves no partial result.
    """
    for each in _formats(archive_format):
        is_one, extract = (
            (tarfile.is_tarfile, _extract_tar)
            if each == "tar"
            else (zipfile.is_zipfile, _extract_zip)
        )
        if is_one(path):
            with workspace(os.path.join(folder, os.path.basename(path))) as aside:
                content = os.path.join(aside, "content")
                os.mkdir(content)
                extract(path, content)
                # Thousands of small files, synced together: a file that exists is complete.
                if hasattr(os, "sync"):
                    os.sync()
                _move_content(content, folder)
            flush_folder(folder)
            return True
    return False


def _formats(archive_format: Any) -> list[str]:
    if archive_format is None:
        return []
    if archive_format == "auto":
        return ["tar", "zip"]
    formats = [archive_format] if isinstance(archive_format, str) else list(archive_format)
    for each in formats:
        if each not in ("tar", "zip"):
            raise ValueError(
                f'Unknown `archive_format`: {each}. It is "auto", "tar", "zip", None or a list.'
            )
    return formats


def _extract_zip(path: str, folder: str) -> None:
    with zipfile.ZipFile(path) as archive:
        # zipfile itself drops drive letters, leading slashes and "..".
        archive.extractall(folder)


def _extract_tar(path: str, folder: str) -> None:
    # Python since 3.12, and patched older versions, strip permissions and reject devices too.
    careful: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    with tarfile.open(path) as archive:
        for member in archive:
            if not _stays_inside(member, folder):
                warnings.warn(
                    f"Skipping invalid path during archive extraction: '{member.name}'.",
                    stacklevel=2,
                )
                continue
            archive.extract(member, folder, **careful)


def _stays_inside(member: tarfile.TarInfo, folder: str) -> bool:
    places = [member.name]
    if member.issym():
        places.append(os.path.join(os.path.dirname(member.name), member.linkname))
    elif member.islnk():
        places.append(member.linkname)
    elif not (member.isfile() or member.isdir()):
        return False
    root = os.path.realpath(folder)
    # Resolved after the earlier members are extracted: one of them may be a symbolic link.
    return all(
        not os.path.isabs(place)
        and os.path.commonpath([root, os.path.realpath(os.path.join(root, place))]) == root
        for place in places
    )


def _move_content(source: str, target: str) -> None:
    with os.scandir(source) as entries:
        for entry in list(entries):
            place = os.path.join(target, entry.name)
            if entry.is_dir(follow_symlinks=False) and os.path.isdir(place):
                _move_content(entry.path, place)
            else:
                os.replace(entry.path, place)
