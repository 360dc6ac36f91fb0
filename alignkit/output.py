"""Write files beside their places first, then rename them, so that nothing is ever half there."""

from __future__ import annotations

import io
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import IO, Any, BinaryIO, TextIO, TypeVar, cast

from alignkit.errors import AlignkitError, OptionError
from alignkit.placing import Exchange, Identity, NewFile, NewFolder, identity
from alignkit.signals import undisturbed
from alignkit.visible import visible_data

T = TypeVar("T", NewFile, NewFolder)


class WriteError(AlignkitError):
    """An output that could not be written; what was there before is still there."""


class Outputs:
    """Hold files and folders that are to take their places together."""

    def __init__(self) -> None:
        self.placed = 0
        self.kept = ""
        self.notes: list[str] = []
        self._making: list[NewFile | NewFolder] = []
        self._whole: dict[Identity, tuple[str, NewFile | NewFolder]] = {}

    def __len__(self) -> int:
        return len(self._making) + len(self._whole)

    def begin(self, item: NewFile | NewFolder) -> None:
        """Take in a file or folder that is being written."""
        self._making.append(item)

    def end(self, path: str, item: NewFile | NewFolder) -> None:
        """Take note that a file or folder is whole."""
        key = identity(item.place) or (str(item.place),)
        if key in self._whole:
            raise WriteError(_same(path, self._whole[key][0]))
        self._making.remove(item)
        self._whole[key] = path, item

    def place(self) -> None:
        """Put everything that is whole in its place, or, if that fails, nothing."""
        exchange = Exchange()
        path = ""
        with undisturbed():
            try:
                for path, item in self._whole.values():  # noqa: B007 - the error names it
                    item.put(exchange, alone=len(self._whole) == 1)
            except OSError as problem:
                lost = exchange.undo()
                state = f"not all could be put back: {'; '.join(lost)}" if lost else unchanged()
                raise WriteError(
                    f"{path}: cannot be written: {_reason(problem)}; {state}"
                ) from None
            exchange.finish()
            self.notes += [
                f"{path}: replaced; other names (hard links) of the old file keep what it held"
                for path, item in self._whole.values()
                if item.names
            ]
            self.placed += len(self._whole)
            self.discard()

    def discard(self) -> None:
        """Remove what has not been put in its place."""
        for item in (*self._making, *(item for _, item in self._whole.values())):
            item.discard()
        self._making.clear()
        self._whole.clear()


_outputs: ContextVar[Outputs | None] = ContextVar("outputs", default=None)
_apart: ContextVar[bool] = ContextVar("apart", default=False)
_UNCHANGED = "nothing was changed"


def unchanged() -> str:
    """Say what an output that fails leaves as it was: all, or only itself among parts."""
    outputs = _outputs.get()
    if outputs is not None and outputs.kept:
        return f"this output was not changed; {outputs.kept}"
    return "this output was not changed" if _apart.get() else _UNCHANGED


@contextmanager
def together() -> Iterator[Outputs]:
    """Let all that is written inside be one act: everything takes its place at the end, or nothing.

    Inside another such act it is a part of that.
    """
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
    """Let each file that is written inside take its place when it is whole, whatever else fails.

    This is for work of many parts, each of which is kept.
    """
    token, flag = _outputs.set(None), _apart.set(True)
    try:
        yield
    finally:
        _outputs.reset(token)
        _apart.reset(flag)


@contextmanager
def replacing(path: str) -> Iterator[TextIO]:
    """Open a file for writing text; it takes its place only when all is written.

    ``-`` is standard output; if that is a terminal, nothing in the text can act on it. Lines end in
    a line feed, the encoding is UTF-8. What has a name in ``.gz`` is packed; its header holds
    neither name nor time. A terminal, another character device, a pipe and the file
    that standard output goes to are written in place. Other names (hard links) of a file that is
    replaced keep what it held.
    """
    stream = standard_stream(path)
    if stream is not None:
        yield cast("TextIO", _Terminal(stream)) if stream.isatty() else stream
        stream.flush()
        return
    with _staged(path, text=True, packed=_is_packed(path)) as file:
        yield cast("TextIO", file)


class _Terminal:
    """Write data to a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(visible_data(text))

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        self._stream.flush()


@contextmanager
def replacing_bytes(path: str, *, text: bool = False) -> Iterator[BinaryIO]:
    """Open a file for writing bytes; as `replacing` otherwise.

    With `text` they are a text, which is packed as its name says.
    """
    stream = standard_stream(path)
    if stream is not None:
        stream.flush()
        yield stream.buffer
        stream.buffer.flush()
        return
    with _staged(path, text=False, packed=text and _is_packed(path)) as file:
        yield cast("BinaryIO", file)


@contextmanager
def replacing_file(path: str) -> Iterator[str]:
    """Name a new, empty file for code that opens files itself; it takes its place when whole."""
    with _told(path), together() as outputs:
        if _is_written_in_place(path):
            raise WriteError(f"{path}: is a device or a pipe; name a file")
        with _begun(outputs, NewFile, path) as item:
            os.close(item.descriptor)
            yield str(item.beside)
            outputs.end(path, item)


@contextmanager
def replacing_folder(path: str) -> Iterator[NewFolder]:
    """Make files in `NewFolder.root`; they take their places in the folder when all are written."""
    with _told(path), together() as outputs, _begun(outputs, NewFolder, path) as item:
        yield item
        outputs.end(path, item)


@contextmanager
def _staged(path: str, *, text: bool, packed: bool) -> Iterator[IO[Any]]:
    with _told(path), together() as outputs:
        if _is_written_in_place(path):
            with open(path, "wb") as raw, _written(raw, text, packed) as stream:
                yield stream
            return
        with _begun(outputs, NewFile, path) as item:
            with os.fdopen(item.descriptor, "wb") as raw:
                with _written(raw, text, packed) as stream:
                    yield stream
                raw.flush()
                os.fsync(raw.fileno())
            outputs.end(path, item)


def _is_packed(path: str) -> bool:
    return path.endswith(".gz")


@contextmanager
def _written(raw: BinaryIO, text: bool, packed: bool) -> Iterator[IO[Any]]:
    """Write text or bytes to a file, packed or not; the file stays open if nothing fails."""
    out = cast("BinaryIO", _Packer(raw) if packed else raw)
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


class _Packer(io.BufferedIOBase):
    """Pack what is written as gzip does, always to the same bytes."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._packing = zlib.compressobj(6, wbits=31)  # a header without name and time

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._raw.write(self._packing.compress(data))
        return len(data)

    def finish(self) -> None:
        """Write what is left."""
        self._raw.write(self._packing.flush())


@contextmanager
def _begun(outputs: Outputs, kind: Callable[[str], T], path: str) -> Iterator[T]:
    with undisturbed():
        item = kind(path)
        outputs.begin(item)
    try:
        yield item
    except BaseException:
        item.discard()
        raise


@contextmanager
def _told(path: str) -> Iterator[None]:
    """Turn what can go wrong with a file into one clear line."""
    try:
        yield
    except UnicodeEncodeError as problem:
        raise WriteError(
            f"{path}: {problem.object[problem.start : problem.end]!r} cannot be written as UTF-8; "
            f"{unchanged()}"
        ) from None
    except (BrokenPipeError, AlignkitError):  # the latter of what is read meanwhile
        raise
    except OSError as problem:
        raise WriteError(f"{path}: cannot be written: {_reason(problem)}; {unchanged()}") from None


def _reason(problem: OSError) -> str:
    return problem.strerror or str(problem)


def sorting_folder(path: str) -> str:
    """Return the folder where what becomes of an output is sorted: its own, if it has one."""
    if standard_stream(path) is not None or _is_written_in_place(path):
        from tempfile import gettempdir

        return gettempdir()
    return os.path.dirname(path) or "."


def _is_written_in_place(path: str) -> bool:
    """Return whether a path is a device or a pipe, which has nothing to lose and none beside it."""
    try:
        mode = os.stat(path).st_mode
    except ValueError:
        raise WriteError(f"{path!r}: cannot be the name of a file; {_UNCHANGED}") from None
    except FileNotFoundError:
        if path.endswith(os.sep):
            raise WriteError(f"{path}: is the name of a folder; name a file") from None
        return False
    if stat.S_ISDIR(mode):
        raise WriteError(f"{path or repr(path)}: is a folder; name a file")
    if stat.S_ISBLK(mode):
        raise WriteError(f"{path}: is a disk; name a file")
    return not stat.S_ISREG(mode)


def standard_stream(path: str) -> TextIO | None:
    """Return the open stream that a path means: ``-``, or the file that one of them goes to.

    That file may have been opened to be added to, and another one in its place would lose what is
    still to be written; a shell has it open as ``/dev/stdout`` and by its name.
    """
    if path == "-":
        return sys.stdout
    key = identity(path)
    for stream in (sys.stdout, sys.stderr):
        try:
            status = os.fstat(stream.fileno())
        except (OSError, ValueError, AttributeError):
            continue  # closed, or no file
        if key == (status.st_dev, status.st_ino):
            return stream
    return None


def refuse_address(path: str) -> None:
    """Refuse a URL, of which nothing but a folder called ``s3:`` would come."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", path):
        raise OptionError(f"{path}: is a URL; alignkit needs the path of a file or folder")


def refuse_unwritable(paths: Iterable[str]) -> None:
    """Refuse files, before any work, that could not be made."""
    for path in paths:
        refuse_address(path)
        folder = os.path.dirname(path) or "."
        if standard_stream(path) is not None:
            continue
        if not os.path.isdir(folder):
            raise OptionError(f"{path}: cannot be written: there is no folder {folder}")
        if not os.access(folder, os.W_OK) and not os.path.exists(path):
            raise OptionError(f"{path}: cannot be written: nothing can be made in {folder}")


def refuse_same(paths: Iterable[str]) -> None:
    """Refuse outputs that are the same file, however they are named."""
    seen: dict[Identity, str] = {}
    for path in paths:
        stream = standard_stream(path)
        key = identity(path) if stream is None else (id(stream),)
        if key is None:  # a device takes what comes
            continue
        if key in seen:
            raise OptionError(_same(path, seen[key]))
        seen[key] = path


def _same(path: str, other: str) -> str:
    named = "is named twice" if path == other else f"and {other} are the same file"
    return f"{path} {named}; outputs go to different files, each to a file of its own; {_UNCHANGED}"
