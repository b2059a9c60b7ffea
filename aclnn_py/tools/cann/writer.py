# SPDX-License-Identifier: Apache-2.0
"""Write the tree, or bring one up to date, and touch nothing else below its directory."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from aclnn_py.tools.cann.layout import Entry, Link, Shipped, Text

__all__ = ["MANIFEST", "OccupiedError", "write_tree"]

MANIFEST = "aclnn_py_tree.json"
_WRITTEN_BY = "aclnn-py cann"


class OccupiedError(Exception):
    """The directory, or a place in it, holds something that this command did not write."""


def write_tree(root: Path, entries: Sequence[Entry], *, copy: bool) -> None:
    """Make a directory hold these files and links.

    What an earlier call wrote and this one does not is removed; other files stay.

    Parameters
    ----------
    root : Path
        The directory; it is made if it does not exist.
    entries : Sequence[Entry]
        Files and links.
    copy : bool
        Copy what the package ships instead of linking it.

    Raises
    ------
    OccupiedError
        The directory has other content, such as a real CANN.
    OSError
        A file cannot be written.
    """
    root.mkdir(parents=True, exist_ok=True)
    with _locked(root):
        known = _known(root)
        if known is None and any(root.iterdir()):
            raise OccupiedError(
                f"{root} is not empty, and `aclnn-py cann` did not write it;"
                " name a new or an empty directory"
            )
        wanted = list(_expanded(entries) if copy else entries)
        paths = {entry.path for entry in wanted}
        # First: a link of an earlier tree may stand where this one has a directory.
        _remove(root, set(known or ()) - paths)
        _write_text(root / MANIFEST, _manifest(sorted(paths | set(known or ()))))
        for entry in wanted:
            _write(root, entry, copy=copy)
        _write_text(root / MANIFEST, _manifest(sorted(paths)))


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    """Let one process at a time write the tree."""
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _known(root: Path) -> list[str] | None:
    """Return the paths that an earlier call wrote, or None where there was none."""
    try:
        content = json.loads((root / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError:
        content = None
    if not isinstance(content, dict) or content.get("written_by") != _WRITTEN_BY:
        raise OccupiedError(f"{root / MANIFEST} is damaged; remove {root} and write it again")
    paths = [path for path in content.get("paths", []) if isinstance(path, str)]
    if any(Path(path).is_absolute() or ".." in Path(path).parts for path in paths):
        raise OccupiedError(f"{root / MANIFEST} names places outside {root}; remove it")
    return paths


def _manifest(paths: Sequence[str]) -> str:
    return json.dumps({"written_by": _WRITTEN_BY, "paths": paths}, indent=0) + "\n"


def _expanded(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Yield the entries with each directory of the package as the files in it."""
    for entry in entries:
        if not isinstance(entry, Shipped) or not entry.source.is_dir():
            yield entry
            continue
        for path in sorted(entry.source.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield Shipped(f"{entry.path}/{path.relative_to(entry.source)}", path)


def _remove(root: Path, paths: set[str]) -> None:
    for path in sorted(paths, reverse=True):
        place = root / path
        if _has_link_above(root, path) or (place.is_dir() and not place.is_symlink()):
            continue
        place.unlink(missing_ok=True)
        for folder in place.parents:
            if folder == root or any(folder.iterdir()):
                break
            folder.rmdir()


def _write(root: Path, entry: Entry, *, copy: bool) -> None:
    place = root / entry.path
    if _has_link_above(root, entry.path):
        raise OccupiedError(f"{place.parent} is a link that `aclnn-py cann` did not make")
    if place.is_dir() and not place.is_symlink():
        raise OccupiedError(f"{place} is a directory that `aclnn-py cann` did not make")
    place.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(entry, Text):
        _write_text(place, entry.text)
    elif isinstance(entry, Link):
        _write_link(place, entry.target)
    elif copy:
        _write_copy(place, entry.source)
    else:
        _write_link(place, str(entry.source))


def _has_link_above(root: Path, path: str) -> bool:
    """Whether writing there would write somewhere else."""
    return any((root / folder).is_symlink() for folder in Path(path).parents)


def _write_text(place: Path, text: str) -> None:
    content = text.encode("utf-8", "surrogateescape")  # paths in it may be no text
    if not place.is_symlink() and place.is_file() and place.read_bytes() == content:
        return
    _aside(place).write_bytes(content)
    _aside(place).replace(place)


def _write_link(place: Path, target: str) -> None:
    if place.is_symlink() and os.readlink(place) == target:
        return
    _aside(place).unlink(missing_ok=True)
    _aside(place).symlink_to(target)
    _aside(place).replace(place)


def _write_copy(place: Path, source: Path) -> None:
    if place.is_file() and not place.is_symlink():
        mine, theirs = place.stat(), source.stat()
        if (mine.st_size, mine.st_mtime_ns) == (theirs.st_size, theirs.st_mtime_ns):
            return
    shutil.copy2(source, _aside(place))
    _aside(place).replace(place)


def _aside(place: Path) -> Path:
    """The name under which a file is made, so that nobody sees half of one."""
    return place.with_name(f".{place.name}.new")
