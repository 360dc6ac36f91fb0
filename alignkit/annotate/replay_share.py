"""Share the replay of a long log with a second process, each with half of the streams."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

_MOST = 1000
_CODE = (
    "import sys; part, of, path, *sys.path[:] = sys.argv[1:]; "
    "from alignkit.annotate.replay import main; main(int(part), int(of), path)"
)


@dataclass
class Replay:
    """How many events and streams were folded, and where that differs from the tables."""

    events: int = 0  # how many there are
    streams: int = 0
    differences: list[str] = field(default_factory=list)  # what is otherwise, in words
    more: int = 0  # how many differences are not listed

    def tell(self, difference: str) -> None:
        """Add a difference."""
        if len(self.differences) < _MOST:
            self.differences.append(difference)
        else:
            self.more += 1

    def joined(self, other: Replay) -> Replay:
        """Return this with what another share found; what both found is told once."""
        result = Replay(self.events + other.events, self.streams + other.streams)
        for difference in dict.fromkeys([*self.differences, *other.differences]):
            result.tell(difference)
        result.more += self.more + other.more
        return result


class Share(NamedTuple):
    """Name the streams that one process looks at: every `of`-th."""

    part: int
    of: int

    @property
    def first(self) -> bool:
        """Whether it is the share of the process that was asked."""
        return self.part == 0

    def has(self, stream: int) -> bool:
        """Return whether a stream is in it."""
        return stream % self.of == self.part


WHOLE = Share(0, 1)


class Helper:
    """Replay a share in a process of its own; at the end of a `with` it is gone."""

    def __init__(self, path: str, share: Share) -> None:
        command = [sys.executable, "-c", _CODE, str(share.part), str(share.of), path]
        self._process: subprocess.Popen[bytes] | None = None
        with suppress(OSError):
            self._process = subprocess.Popen(
                [*command, *filter(None, sys.path)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )

    def __enter__(self) -> Helper:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stdout is not None:
                self._process.stdout.close()

    def result(self) -> Replay | None:
        """Wait for what it found; None if it could not be done."""
        if self._process is None:
            return None
        said, _ = self._process.communicate()
        if self._process.returncode:
            return None
        return msgspec.json.decode(said, type=Replay)
