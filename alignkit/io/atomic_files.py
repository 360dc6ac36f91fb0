"""Safe output: write files and folders under temporary names, and rename them when complete.

`pending_files` has the files with temporary names, and their renames.
"""

from __future__ import annotations

import io
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from contextvars import ContextVar
from typing import Any, BinaryIO, TextIO, TypeVar, cast

from alignkit._support.signals import undisturbed
from alignkit._support.wording import visible_data
from alignkit.errors import AlignkitError, OptionError
from alignkit.io.pending_files import Exchange, PendingFile, PendingFolder

Identity = tuple[object, ...]

_UNCHANGED = "nothing was changed"


class WriteError(AlignkitError):
    """An output that could not be written; the previous file is unchanged."""


def identity(path: str | os.PathLike[str]) -> Identity | None:
    """Return a key of a file, existing or not; None for terminals and other character devices."""
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


Pending = TypeVar("Pending", PendingFile, PendingFolder)


class Outputs:
    """Files and folders that are put in place together.

    Parameters
    ----------
    placed : How many are in place.
    kept_note : What an error says about work that is kept; empty if none is.
    notes : Notes for the user.
    """

    def __init__(self) -> None:
        self.placed = 0
        self.kept_note = ""
        self.notes: list[str] = []
        self._unfinished: list[PendingFile | PendingFolder] = []
        self._whole: dict[Identity, tuple[str, PendingFile | PendingFolder]] = {}

    def __len__(self) -> int:
        return len(self._unfinished) + len(self._whole)

    def place(self) -> None:
        """Put all complete outputs in place; if one fails, none."""
        exchange = Exchange()
        path = ""
        linked: list[str] = []
        with undisturbed():
            try:
                for path, item in self._whole.values():
                    alone = isinstance(item, PendingFile) and len(self._whole) == 1
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
    def making(self, path: str, kind: type[Pending]) -> Iterator[Pending]:
        """Create a file or folder; it is complete when the block ends."""
        with undisturbed():
            item = kind(path)
            self._unfinished.append(item)
        try:
            yield item
            key = identity(item.place) or (str(item.place),)  # it may be a device meanwhile
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
    """Describe what a failed output leaves unchanged: everything, or only its own file.

    What is refused before any work leaves everything: `_UNCHANGED`.
    """
    outputs = _outputs.get()
    if outputs is not None and outputs.kept_note:
        return f"this output was not changed; {outputs.kept_note}"
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
        with outputs.making(path, PendingFile) as item:
            os.close(item.descriptor)
            yield str(item.root)


@contextmanager
def replacing_folder(path: str) -> Iterator[PendingFolder]:
    """Create files in `PendingFolder.root`; at the end, all are moved into the folder."""
    with _clear_errors(path), together() as outputs, outputs.making(path, PendingFolder) as item:
        yield item


@contextmanager
def _opened(path: str, *, text: bool) -> Iterator[Any]:
    """Open a file for writing text or bytes, compressed or not."""
    from alignkit.io.compression import codec_named

    standard = standard_stream(path)
    if standard is not None:
        yield from _written_to(standard, text=text)
        return
    with _clear_errors(path), together() as outputs, ExitStack() as stack:
        in_place = _is_written_in_place(path)
        file: str | int = path
        if not in_place:
            file = stack.enter_context(outputs.making(path, PendingFile)).descriptor
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


def _written_to(standard: TextIO, *, text: bool) -> Iterator[Any]:
    """Yield a standard stream once, for text or bytes."""
    standard.flush()
    if not text:
        yield standard.buffer
    elif standard.isatty():
        yield _Terminal(standard)
    else:
        yield standard
    standard.flush()


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
    """Return whether a path is a device or a pipe, which is written directly.

    Raises
    ------
    WriteError : If it is a folder or a disk, or cannot be the name of a file.
    """
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
        from tempfile import gettempdir

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
        problem = _problem_of(path, in_new_folders=in_new_folders)
        if problem:
            raise OptionError(f"{path}: cannot be written: {problem}; {_UNCHANGED}")


def _problem_of(path: str, *, in_new_folders: bool) -> str:
    """Return why a file or folder cannot be written; empty if it can."""
    place = os.path.realpath(path)
    is_folder = os.path.isdir(place)
    folder = os.path.dirname(place)
    if not is_folder and not os.path.isdir(folder):
        if in_new_folders:
            return ""
        return f"there is no folder {os.path.dirname(path)}"
    if os.path.exists(place) and not os.access(place, os.W_OK):
        return "it is read-only"
    needs_new_file = os.path.isfile(place) or not os.path.exists(place)
    if needs_new_file and not os.access(folder, os.W_OK):
        return "cannot create files in its folder"
    return ""


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
