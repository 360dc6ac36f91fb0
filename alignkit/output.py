"""Write a file beside its place first, then rename it, so that nothing is ever half there."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, TextIO, cast

from alignkit.errors import AlignkitError

__all__ = ["WriteError", "replacing", "replacing_bytes"]


class WriteError(AlignkitError):
    """An output that could not be written; what was there before is still there."""


@contextmanager
def replacing(path: str) -> Iterator[TextIO]:
    """Open a file for writing text; it takes its place only when all is written.

    ``-`` is standard output. Lines end in a line feed, the encoding is UTF-8.

    Raises
    ------
    WriteError
        If the file cannot be written.
    """
    if path == "-":
        yield sys.stdout
        sys.stdout.flush()
        return
    with _placed(path, mode="w", encoding="utf-8", newline="\n") as stream:
        yield cast("TextIO", stream)


@contextmanager
def replacing_bytes(path: str) -> Iterator[BinaryIO]:
    """Open a file for writing bytes; as `replacing` otherwise."""
    if path == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with _placed(path, mode="wb") as stream:
        yield cast("BinaryIO", stream)


@contextmanager
def _placed(path: str, **how: Any) -> Iterator[IO[Any]]:
    place = Path(path).resolve() if _is_link(path) else Path(path)
    if os.path.isdir(place):  # Path.is_dir fails at names that are too long
        raise WriteError(f"{path or repr(path)}: is a folder; name a file")
    beside = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        if _is_device(place):
            with open(place, **how) as stream:
                yield stream
            return
        with open(beside, **how) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if place.exists():
            os.chmod(beside, place.stat().st_mode)
        os.replace(beside, place)
    except UnicodeEncodeError as problem:
        raise WriteError(
            f"{path}: {problem.object[problem.start : problem.end]!r} cannot be written as UTF-8; "
            "nothing was changed"
        ) from None
    except OSError as problem:
        raise WriteError(
            f"{path}: cannot be written: {problem.strerror or problem}; nothing was changed"
        ) from None
    finally:
        with suppress(OSError):
            beside.unlink()


def _is_link(path: str) -> bool:
    """Return whether a path is a link to a file, which is to be replaced where it is."""
    return os.path.islink(path) and os.path.isfile(path) and not _is_device(Path(path))


def _is_device(place: Path) -> bool:
    """Return whether a path is a device or a pipe, which has nothing to lose and none beside it.

    ``/dev/stdout`` is one even where it leads to a file.
    """
    return place.exists() and (not place.is_file() or place.is_relative_to("/dev"))
