"""Safe output: write files and folders under temporary names, and rename them when complete.

A file system performs a rename completely or not at all.
"""

from __future__ import annotations

import errno
import io
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from tempfile import gettempdir
from typing import Any, BinaryIO, TextIO, cast

from alignkit._support.signals import undisturbed
from alignkit._support.wording import visible_data
from alignkit.errors import AlignkitError, OptionError
from alignkit.io.compression import codec_named

Identity = tuple[object, ...]

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL
for _name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):
    _NEW_FILE |= getattr(os, _name, 0)
_UNCHANGED = "nothing was changed"


class WriteError(AlignkitError):
    """An output that could not be written; the previous file is unchanged."""


def identity(path: str | os.PathLike[str]) -> Identity | None:
    """Return a key of a file, existing or not; None for devices and pipes."""
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
    if stat.S_ISCHR(status.st_mode):
        return None
    return (status.st_dev, status.st_ino)


def free_name(folder: Path) -> Path:
    """Return a new unique path in a folder."""
    return folder / f".alignkit-{os.urandom(8).hex()}.part"


class New:
    """A new file, or a folder of new files, next to its final place."""

    def __init__(self, path: str, *, folder: bool) -> None:
        self.is_folder = folder
        if folder:
            self.place = Path(os.path.realpath(path))
            parents = (self.place, *self.place.parents)
            self.root = free_name(next(here for here in parents if here.exists()))
            self.root.mkdir()
            return
        self.place = Path(os.path.realpath(path) if os.path.islink(path) else path)
        self.root = free_name(self.place.parent)
        old = _old_status(self.place)
        mode = 0o666 if old is None else stat.S_IMODE(old.st_mode) & 0o777
        try:
            self.descriptor = os.open(self.root, _NEW_FILE, mode)
        except PermissionError as problem:
            raise PermissionError(
                problem.errno,
                f"cannot create files in its folder ({problem.strerror}); new files start there",
            ) from None
        if old is not None:
            _copy_mode(self.descriptor, old)

    def moves(self) -> list[tuple[Path, Path]]:
        """Return the new files and their final places."""
        if not self.is_folder:
            return [(self.root, self.place)]
        files = sorted(path for path in self.root.rglob("*") if path.is_file())
        places = (os.path.realpath(self.place / new.relative_to(self.root)) for new in files)
        return list(zip(files, map(Path, places), strict=True))

    def discard(self) -> None:
        """Remove the files that are not in place yet."""
        if self.is_folder:
            shutil.rmtree(self.root, ignore_errors=True)
        else:
            _remove(self.root)


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
    else:  # the group is another one: it may do what anybody may
        mode = mode & ~0o2070 | (mode & 0o007) << 3
    with suppress(OSError):
        os.chmod(new, mode)


class _Exchange:
    """Renames files to their places; all renames can be undone."""

    def __init__(self) -> None:
        self._folders: list[Path] = []
        self._steps: list[tuple[Path, Path, Path | None]] = []  # new, place, where the old one is

    def put(self, item: New, *, alone: bool) -> bool:
        """Rename new files to their places; return whether an old file has other hard links."""
        linked = False
        if item.is_folder:
            self._make_folder(item.place)
        for new, place in item.moves():
            if item.is_folder:
                self._make_folder(place.parent)
            old = _old_status(place)
            if item.is_folder and old is not None:
                if not stat.S_ISREG(old.st_mode):
                    if stat.S_ISDIR(old.st_mode):
                        kind = "a folder"
                    else:
                        kind = "not a regular file"
                    raise OSError(errno.EEXIST, f"{place} is {kind}; expected a file")
                _copy_mode(new, old)
            linked = linked or (old is not None and old.st_nlink > 1)
            if alone or not os.path.lexists(place):
                kept = None
            else:
                kept = free_name(place.parent)
            if kept is not None:
                try:
                    os.link(place, kept, follow_symlinks=False)  # so that the place is never empty
                except OSError:  # a file system without such links
                    os.rename(place, kept)
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
                    _remove(kept)  # renaming leaves two names of one file as they are
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


class Outputs:
    """Files and folders that are put in place together."""

    def __init__(self) -> None:
        self.placed = 0
        self.kept = ""
        self.notes: list[str] = []
        self._unfinished: list[New] = []
        self._whole: dict[Identity, tuple[str, New]] = {}

    def __len__(self) -> int:
        return len(self._unfinished) + len(self._whole)

    def place(self) -> None:
        """Put all complete outputs in place; if one fails, none."""
        exchange = _Exchange()
        path = ""
        linked: list[str] = []
        with undisturbed():
            try:
                for path, item in self._whole.values():
                    alone = not item.is_folder and len(self._whole) == 1
                    if exchange.put(item, alone=alone):
                        linked += [path]
            except OSError as problem:
                lost = exchange.undo()
                if lost:
                    state = f"could not restore everything: {'; '.join(lost)}"
                else:
                    state = unchanged()
                raise _cannot_write(path, problem, state) from None
            exchange.finish()
            for path in linked:
                kept = "other hard links of the old file keep the old content"
                self.notes.append(f"{path}: replaced; {kept}")
            self.placed += len(self._whole)
            self.discard()

    def discard(self) -> None:
        """Remove all outputs that are not in place yet."""
        for item in self._unfinished:
            item.discard()
        for _, item in self._whole.values():
            item.discard()
        self._unfinished.clear()
        self._whole.clear()

    @contextmanager
    def making(self, path: str, *, folder: bool = False) -> Iterator[New]:
        """Create a file or folder; it is complete when the block ends."""
        with undisturbed():
            item = New(path, folder=folder)
            self._unfinished.append(item)
        try:
            yield item
            key = identity(item.place) or (str(item.place),)
            if key in self._whole:
                raise WriteError(_same(path, self._whole[key][0]))
            self._unfinished.remove(item)
            self._whole[key] = path, item
        except BaseException:
            item.discard()
            raise


_outputs: ContextVar[Outputs | None] = ContextVar("outputs", default=None)
_apart: ContextVar[bool] = ContextVar("apart", default=False)


def unchanged() -> str:
    """Describe what a failed output leaves unchanged: everything, or only its own file."""
    outputs = _outputs.get()
    if outputs is not None and outputs.kept:
        return f"this output was not changed; {outputs.kept}"
    if _apart.get():
        return "this output was not changed"
    return _UNCHANGED


@contextmanager
def together() -> Iterator[Outputs]:
    """Put all outputs of the block in place at its end, or none; blocks can be nested."""
    outer = _outputs.get()
    if outer is not None:
        yield outer
        return
    outputs = Outputs()
    token = _outputs.set(outputs)
    try:
        yield outputs
        outputs.place()
    finally:
        _outputs.reset(token)
        outputs.discard()


@contextmanager
def apart() -> Iterator[None]:
    """Put each file of the block in place as soon as it is complete, whatever else fails."""
    token = _outputs.set(None)
    flag = _apart.set(True)
    try:
        yield
    finally:
        _outputs.reset(token)
        _apart.reset(flag)


def replacing(path: str) -> AbstractContextManager[TextIO]:
    """Open a file for writing UTF-8 text; it is put in place when it is complete.

    ``-`` is standard output; if that is a terminal, control characters are made harmless. Names
    in ``.gz``, ``.xz``, ``.bz2`` and ``.zst`` are compressed, always to the same bytes. Devices,
    pipes and the file behind standard output are written directly. Hard links of a replaced file
    keep the old content.
    """
    return _opened(path, text=True)


def replacing_bytes(path: str) -> AbstractContextManager[BinaryIO]:
    """Open a file for writing bytes, like `replacing`."""
    return _opened(path, text=False)


@contextmanager
def replacing_file(path: str) -> Iterator[str]:
    """Yield the name of a new, empty file for other code to write; put it in place at the end."""
    with _clear_errors(path), together() as outputs:
        if _is_written_in_place(path):
            raise WriteError(f"{path}: is a device or a pipe; name a file")
        with outputs.making(path) as item:
            os.close(item.descriptor)
            yield str(item.root)


@contextmanager
def replacing_folder(path: str) -> Iterator[New]:
    """Create files in `New.root`; at the end, all are moved into the folder."""
    with _clear_errors(path), together() as outputs, outputs.making(path, folder=True) as item:
        yield item


@contextmanager
def _opened(path: str, *, text: bool) -> Iterator[Any]:
    """Open a file for writing text or bytes, compressed or not."""
    standard = standard_stream(path)
    if standard is not None:
        standard.flush()
        shown = _Terminal(standard) if standard.isatty() else standard
        yield shown if text else standard.buffer
        standard.flush()
        return
    with _clear_errors(path), together() as outputs, ExitStack() as stack:
        in_place = _is_written_in_place(path)
        file = path if in_place else stack.enter_context(outputs.making(path)).descriptor
        raw = stack.enter_context(open(file, "wb"))
        codec = codec_named(path)
        out = cast("BinaryIO", _Packer(raw, codec.packer()) if codec else raw)
        stream = io.TextIOWrapper(out, "utf-8", newline="\n") if text else out
        try:
            yield stream
            stream.flush()
            if isinstance(out, _Packer):
                out.finish()
            if isinstance(stream, io.TextIOWrapper):
                stream.detach()
        except BaseException:
            with suppress(Exception):  # what failed once may do so again
                stream.close()
            raise
        if not in_place:
            raw.flush()
            os.fsync(raw.fileno())


class _Packer(io.BufferedIOBase):
    """A compressed file without name and time: the same data give the same bytes."""

    def __init__(self, raw: BinaryIO, packing: Any) -> None:
        self._raw = raw
        self._packing = packing

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._raw.write(self._packing.compress(data))
        return len(data)

    def finish(self) -> None:
        self._raw.write(self._packing.flush())


class _Terminal:
    """A terminal that gets no control characters."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.flush = stream.flush

    def write(self, text: str) -> int:
        return self._stream.write(visible_data(text))

    def writelines(self, lines: Iterable[str]) -> None:
        self._stream.writelines(map(visible_data, lines))


@contextmanager
def _clear_errors(path: str) -> Iterator[None]:
    """Turn errors of writing a file into one clear line."""
    try:
        yield
    except UnicodeEncodeError as problem:
        text = problem.object[problem.start : problem.end]
        message = f"{path}: {text!r} cannot be written as UTF-8; {unchanged()}"
        raise WriteError(message) from None
    except (BrokenPipeError, AlignkitError):  # the latter of what is read meanwhile
        raise
    except OSError as problem:
        raise _cannot_write(path, problem, unchanged()) from None


def _cannot_write(path: str, problem: OSError, state: str) -> WriteError:
    return WriteError(f"{path}: cannot be written: {problem.strerror or problem}; {state}")


def _is_written_in_place(path: str) -> bool:
    """Return whether a path is a device or a pipe, which is written directly."""
    try:
        mode = os.stat(path).st_mode
    except ValueError:
        raise WriteError(f"{path!r}: cannot be the name of a file; {_UNCHANGED}") from None
    except FileNotFoundError:
        if path.endswith(os.sep):
            raise WriteError(f"{path}: is the name of a folder; name a file") from None
        return False
    if stat.S_ISDIR(mode) or stat.S_ISBLK(mode):
        kind = "folder" if stat.S_ISDIR(mode) else "disk"
        raise WriteError(f"{path or repr(path)}: is a {kind}; name a file")
    return not stat.S_ISREG(mode)


def standard_stream(path: str) -> TextIO | None:
    """Return the open stream for a path: ``-``, or the file behind a standard stream."""
    if path == "-":
        return sys.stdout
    key = identity(path)  # replacing that file would lose what is still to be written to it
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed, or no file
            status = os.fstat(stream.fileno())
            if key == (status.st_dev, status.st_ino):
                return stream
    return None


def sorting_folder(path: str) -> str:
    """Return the folder for sorting an output's rows: its own folder, if it has one."""
    if standard_stream(path) is not None or _is_written_in_place(path):
        return gettempdir()
    return os.path.dirname(path) or "."


def refuse_address(path: str) -> None:
    """Reject a URL; it would only create a folder named ``s3:``."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", path):
        raise OptionError(f"{path}: is a URL; alignkit needs the path of a file or folder")


def refuse_unwritable(paths: Iterable[str], *, in_new_folders: bool = False) -> None:
    """Reject files that cannot be written, before any work."""
    for path in paths:
        refuse_address(path)
        if standard_stream(path) is not None:
            continue
        place = os.path.realpath(path)
        problem = ""
        if os.path.isdir(place):
            folder = place
        else:
            folder = os.path.dirname(place)
        replaced = os.path.isfile(place) or not os.path.exists(place)
        if not os.path.isdir(folder):
            if in_new_folders:
                problem = ""
            else:
                problem = f"there is no folder {os.path.dirname(path)}"
        elif os.path.exists(place) and not os.access(place, os.W_OK):
            problem = "it is read-only"
        elif replaced and not os.access(folder, os.W_OK):
            problem = "cannot create files in its folder"
        if problem:
            raise OptionError(f"{path}: cannot be written: {problem}; {_UNCHANGED}")


def refuse_same(paths: Iterable[str]) -> None:
    """Reject outputs that are the same file, under any name."""
    seen: dict[Identity, str] = {}
    for path in paths:
        stream = standard_stream(path)
        key = identity(path) if stream is None else (id(stream),)
        if key in seen:
            raise OptionError(_same(path, seen[key]))
        if key is not None:  # a device takes what comes
            seen[key] = path


def _same(path: str, other: str) -> str:
    """Return the message for two outputs that are the same file."""
    named = "is named twice" if path == other else f"and {other} are the same file"
    return f"{path} {named}; write the outputs to different files; {_UNCHANGED}"
