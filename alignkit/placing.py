"""Make files and folders beside their places, and put them there together, or none of them.

Renaming is the one step that a file system does wholly or not at all; so all that is to be written
is written first, under names that nobody else has, and renamed when it is whole.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
from contextlib import suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

Identity = tuple[object, ...]

_FLAGS = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


def identity(path: str | os.PathLike[str]) -> Identity | None:
    """Return what tells a file from all others, however it is named and whether it is there yet.

    None stands for a terminal or another character device, which many may write to.
    """
    try:
        status = os.stat(path)
    except ValueError:  # a NUL in the name: no file
        return (os.fspath(path),)
    except OSError:
        place = os.path.realpath(path)
        with suppress(OSError):
            folder = os.stat(os.path.dirname(place))
            return folder.st_dev, folder.st_ino, os.path.basename(place)
        return (place,)
    return None if stat.S_ISCHR(status.st_mode) else (status.st_dev, status.st_ino)


def free_name(folder: Path) -> Path:
    """Return a path in a folder that nobody else has."""
    return folder / f".alignkit-{os.urandom(8).hex()}.part"


def lock_alone(file: int) -> bool | None:
    """Lock an open file as long as this process lives; False: another has it, None: no locks there.

    A process that closes the file, however often it has it open, gives the lock back.
    """
    try:
        if sys.platform == "win32":
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        return False if problem.errno in (errno.EACCES, errno.EAGAIN) else None
    return True


class NewFile:
    """A new file next to its place, with the mode of the old one and, if allowed, its owner."""

    def __init__(self, path: str) -> None:
        self.place = Path(os.path.realpath(path) if os.path.islink(path) else path)
        old = _replaceable(self.place)
        self.names = 0 if old is None else old.st_nlink - 1
        mode = 0o666 if old is None else stat.S_IMODE(old.st_mode) & 0o777
        self.beside, self.descriptor = _made_beside(self.place, mode)
        if old is not None:
            _resemble(self.descriptor, old)

    def put(self, exchange: Exchange, *, alone: bool) -> None:
        """Rename the file to its place; with others, keep what was there until all are put."""
        if alone:
            os.replace(self.beside, self.place)
        else:
            exchange.put(self.beside, self.place)

    def discard(self) -> None:
        """Remove what was made, if it has not been put."""
        with suppress(OSError):
            self.beside.unlink()


def _made_beside(place: Path, mode: int) -> tuple[Path, int]:
    beside = free_name(place.parent)
    try:
        return beside, os.open(beside, _FLAGS, mode)
    except PermissionError as problem:
        raise PermissionError(
            problem.errno,
            f"its folder takes no new file ({problem.strerror}), and all is written beside first",
        ) from None


def _replaceable(place: Path) -> os.stat_result | None:
    """Return the status of the file that is to be replaced, None where there is none."""
    try:
        status = os.stat(place)
    except FileNotFoundError:
        return None
    if not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, "it is read-only")
    return status


def _resemble(new: int | Path, old: os.stat_result) -> None:
    """Give a file the owner, as far as that is allowed, and the mode of another."""
    if not hasattr(os, "chown"):
        return
    mode = stat.S_IMODE(old.st_mode)
    for owner in ((old.st_uid, old.st_gid), (-1, old.st_gid)):
        with suppress(OSError):
            os.chown(new, *owner)
            break
    else:  # the group is another one: it may do what anybody may
        mode = mode & ~0o2070 | (mode & 0o007) << 3
    with suppress(OSError):
        os.chmod(new, mode)


class NewFolder:
    """Hold new files that are to stand in a folder together with what else is there."""

    def __init__(self, path: str) -> None:
        self.place = Path(os.path.realpath(path))
        self.names = 0
        self._made: list[Path] = []
        here = self.place if self.place.is_dir() else self.place.parent
        self.root = free_name(here)
        try:
            for folder in (*reversed(here.parents), here):
                if not folder.exists():
                    folder.mkdir()
                    self._made.append(folder)
            self.root.mkdir()
        except OSError:
            self.discard()
            raise

    def put(self, exchange: Exchange, *, alone: bool) -> None:
        """Rename what was made to its place; what it replaces is kept until all is put."""
        del alone  # a folder is several files in any case
        if self.place.is_dir():
            self.names = _adapt(self.root, self.place)
            _merge(self.root, self.place, exchange)
        else:
            exchange.put(self.root, self.place)

    def discard(self) -> None:
        """Remove what was made and has not been put."""
        shutil.rmtree(self.root, ignore_errors=True)
        for folder in reversed(self._made):
            with suppress(OSError):
                folder.rmdir()  # fails where something is in it


def _adapt(new: Path, old: Path) -> int:
    """Give replacements the modes and owners of the old; return how many have more names."""
    linked = 0
    for entry in new.iterdir():
        there = old / entry.name
        status = _replaceable(there)
        if status is None:
            continue
        if not (stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)):
            raise OSError(errno.EEXIST, f"{there} is neither a file nor a folder")
        if stat.S_ISDIR(status.st_mode) != entry.is_dir():
            kinds = ("file", "folder") if entry.is_dir() else ("folder", "file")
            raise OSError(errno.EEXIST, f"{there} is a {kinds[0]}; a {kinds[1]} is to be there")
        _resemble(entry, status)
        linked += _adapt(entry, there) if entry.is_dir() else status.st_nlink > 1
    return linked


def _merge(new: Path, place: Path, exchange: Exchange) -> None:
    """Put all that is in a folder into another one, by as few renamings as keep what else is there.

    Where a folder there holds nothing but what is replaced, it is exchanged as a whole.
    """
    for entry in sorted(new.iterdir()):
        there = place / entry.name
        if entry.is_dir() and there.is_dir() and not _covers(entry, there):
            _merge(entry, there, exchange)
        else:
            exchange.put(entry, Path(os.path.realpath(there)))


def _covers(new: Path, old: Path) -> bool:
    """Return whether a folder has a file or folder for each that the other one has."""
    if old.is_symlink() or os.path.ismount(old):
        return False
    return all(
        (new / entry.name).is_dir() and _covers(new / entry.name, entry)
        if entry.is_dir()
        else (new / entry.name).is_file() and not entry.is_symlink()
        for entry in old.iterdir()
    )


class Exchange:
    """Rename files and folders to their places, and undo all of it if one of them fails."""

    def __init__(self) -> None:
        self._steps: list[tuple[Path, Path, Path | None]] = []

    def put(self, new: Path, place: Path) -> None:
        """Rename a file or folder to its place; what was there is kept beside until `finish`."""
        kept: Path | None = None
        if place.is_dir() and _swap(new, place):
            self._steps.append((new, place, new))
            return
        if os.path.lexists(place):
            kept = free_name(place.parent)
            try:
                os.link(place, kept, follow_symlinks=False)  # so that the place is never empty
            except OSError:  # a folder, or a file system without such links
                os.rename(place, kept)
        self._steps.append((new, place, kept))
        os.replace(new, place)

    def undo(self) -> list[str]:
        """Put everything back; return where things are that could not be."""
        lost: list[str] = []
        for new, place, kept in reversed(self._steps):
            try:
                if kept == new and _swap(new, place):
                    continue
                if os.path.lexists(place) and not os.path.lexists(new):
                    os.rename(place, new)
                if kept is not None:
                    os.replace(kept, place)
                    with suppress(OSError):
                        kept.unlink()  # renaming leaves two names of one file as they are
            except OSError:
                lost.append(f"the old {place} is now {kept}" if kept else f"{place} is new")
        self._steps.clear()
        return lost

    def finish(self) -> None:
        """Remove what was replaced."""
        for _, place, kept in self._steps:
            if kept is not None:
                with suppress(OSError):
                    _drop(kept, place)
        self._steps.clear()


def _swap(one: Path, other: Path) -> bool:
    """Exchange two folders in one step, so that there is one at each moment; only Linux can."""
    if sys.platform != "linux":
        return False
    import ctypes

    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return bool(rename(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0)


def _drop(old: Path, place: Path) -> None:
    """Remove what was replaced; what somebody put into a folder meanwhile goes to the new one."""
    if not old.is_dir() or old.is_symlink():
        old.unlink()
        return
    for entry in old.iterdir():
        there = place / entry.name
        if os.path.lexists(there):
            _drop(entry, there)
        else:
            os.rename(entry, there)
    old.rmdir()
