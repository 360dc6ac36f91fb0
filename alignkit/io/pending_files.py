"""New files and folders under temporary names, and their renames to their final places.

A file system performs a rename completely or not at all. See `alignkit.io.atomic_files`.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL
for _name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):
    _NEW_FILE |= getattr(os, _name, 0)


def free_name(folder: Path) -> Path:
    """Return a new unique path in a folder."""
    return folder / f".alignkit-{os.urandom(8).hex()}.part"


class PendingFile:
    """A new file, next to its final place."""

    def __init__(self, path: str) -> None:
        if os.path.islink(path):  # the link stays, and the file behind it is replaced
            path = os.path.realpath(path)
        self.place = Path(path)
        self.root = free_name(self.place.parent)
        old = _old_status(self.place)
        mode = 0o666 if old is None else old.st_mode & 0o777  # no more rights than the old file
        try:
            self.descriptor = os.open(self.root, _NEW_FILE, mode)
        except PermissionError as problem:
            raise PermissionError(
                problem.errno,
                f"cannot create files in its folder ({problem.strerror}); a new file is written "
                "there before it replaces the old one",
            ) from None
        if old is not None:
            _copy_mode(self.descriptor, old)

    def moves(self) -> list[tuple[Path, Path]]:
        """Return the new file and its final place."""
        return [(self.root, self.place)]

    def discard(self) -> None:
        """Remove the file unless it is in place."""
        _remove(self.root)


class PendingFolder:
    """A folder of new files, next to its final place or in the folder above that is missing."""

    def __init__(self, path: str) -> None:
        self.place = Path(os.path.realpath(path))
        parents = (self.place, *self.place.parents)
        self.root = free_name(next(parent for parent in parents if parent.exists()))
        self.root.mkdir()

    def write(self, name: str, lines: Iterable[str]) -> None:
        """Write a file with this name in the folder."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "x", encoding="utf-8", newline="\n") as stream:
            stream.writelines(lines)
            stream.flush()
            os.fsync(stream.fileno())

    def moves(self) -> list[tuple[Path, Path]]:
        """Return the new files and their final places."""
        files = sorted(path for path in self.root.rglob("*") if path.is_file())
        places = (os.path.realpath(self.place / new.relative_to(self.root)) for new in files)
        return list(zip(files, map(Path, places), strict=True))

    def discard(self) -> None:
        """Remove the files that are not in place yet."""
        shutil.rmtree(self.root, ignore_errors=True)


class Exchange:
    """Renames files to their places; all renames can be undone."""

    def __init__(self) -> None:
        self._folders: list[Path] = []
        self._steps: list[tuple[Path, Path, Path | None]] = []  # new, place, where the old one is

    def put(self, item: PendingFile | PendingFolder, *, alone: bool) -> bool:
        """Rename new files to their places; return whether an old file has other hard links.

        An item that is `alone` is a single rename, which is not undone: the old file is not kept.
        """
        linked = False
        if isinstance(item, PendingFolder):
            self._make_folder(item.place)
        for new, place in item.moves():
            if isinstance(item, PendingFolder):
                self._make_folder(place.parent)
            old = _old_status(place)
            if isinstance(item, PendingFolder) and old is not None:
                _check_is_file(place, old)
                _copy_mode(new, old)
            linked = linked or (old is not None and old.st_nlink > 1)
            kept = None
            if not alone and os.path.lexists(place):
                kept = _keep(place)
            self._steps.append((new, place, kept))
            os.replace(new, place)
        return linked

    def _make_folder(self, folder: Path) -> None:
        """Create a folder and those above it that are missing."""
        for path in (*reversed(folder.parents), folder):
            if not path.exists():
                path.mkdir()
                self._folders.append(path)
            elif not path.is_dir():
                raise OSError(errno.EEXIST, f"{path} is a file; expected a folder")

    def undo(self) -> list[str]:
        """Undo all renames; return a description of those that failed."""
        lost: list[str] = []
        for new, place, kept in reversed(self._steps):
            try:
                if os.path.lexists(place) and not os.path.lexists(new):
                    os.rename(place, new)
                if kept is not None:
                    os.replace(kept, place)
                    _remove(kept)  # `replace` does nothing if both are names of the same file
            except OSError:
                lost.append(f"the old {place} is now {kept}" if kept else f"{place} is new")
        for folder in reversed(self._folders):
            with suppress(OSError):
                folder.rmdir()  # fails if something is in it
        return lost

    def finish(self) -> None:
        """Remove the replaced files."""
        for _, _, kept in self._steps:
            if kept is not None:
                _remove(kept)


def _check_is_file(place: Path, status: os.stat_result) -> None:
    """Refuse a place that has a folder, a device or a pipe."""
    if stat.S_ISREG(status.st_mode):
        return
    kind = "not a regular file"
    if stat.S_ISDIR(status.st_mode):
        kind = "a folder"
    raise OSError(errno.EEXIST, f"{place} is {kind}; expected a file")


def _keep(place: Path) -> Path:
    """Give an old file a second name, and return it."""
    kept = free_name(place.parent)
    try:
        os.link(place, kept, follow_symlinks=False)  # so that the place is never empty
    except OSError:  # a file system without such links
        os.rename(place, kept)
    return kept


def _remove(file: Path) -> None:
    with suppress(OSError):
        file.unlink()


def _old_status(place: Path) -> os.stat_result | None:
    """Return the status of the file to be replaced, None if there is none."""
    try:
        status = os.stat(place)
    except FileNotFoundError:
        return None
    if not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, "it is read-only")
    return status


def _copy_mode(new: int | Path, old: os.stat_result) -> None:
    """Copy the owner (as far as allowed) and the mode of another file."""
    if not hasattr(os, "chown"):
        return
    mode = stat.S_IMODE(old.st_mode)
    for owner in ((old.st_uid, old.st_gid), (-1, old.st_gid)):
        with suppress(OSError):
            os.chown(new, *owner)
            break
    else:
        mode = _group_as_others(mode)
    with suppress(OSError):
        os.chmod(new, mode)


def _group_as_others(mode: int) -> int:
    """Return the mode of a file of another group: that may do what anybody may."""
    rights_of_others = mode & 0o007
    without_group = mode & ~0o2070  # nor does the file run with the rights of its group
    return without_group | rights_of_others << 3
