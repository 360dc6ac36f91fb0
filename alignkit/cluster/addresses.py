"""Find the scheduler of a cluster by what people type: ``local:4``, ``tcp://HOST:8786``, a file."""

from __future__ import annotations

import json
import logging
import platform
import re
import time
import unicodedata
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from alignkit.errors import AlignkitError, FileError, OptionError
from alignkit.version import __version__

if TYPE_CHECKING:
    from distributed import Client


_PAIRS = 60


@dataclass(frozen=True)
class Canary:
    """What decides over the bits of a result."""

    alignkit: str  # versions; that of Unicode, which Python brings, says what folding of case does
    numpy: str
    numba: str
    unicode: str
    bits: str  # A digest of what an aligner makes of a toy text
    packed: str  # A digest of a text that zlib packed
    processor: str  # what the machine is called; for messages

    def differs(self, theirs: Canary) -> str:
        """Return what another process has that would give other bytes; empty if all is equal."""
        for name, mine in asdict(self).items():
            other = getattr(theirs, name)
            if name == "processor" or other == mine:
                continue
            if name in ("bits", "packed"):
                what = "aligns" if name == "bits" else "packs"
                return (
                    f"{what} a toy text with other bits than this process does (its processor: "
                    f"{theirs.processor}; this one: {self.processor}); leave it out"
                )
            return f"has {name} {other}, but this process has {mine}; install the same"
        return ""


@cache
def canary() -> Canary:
    """Return what this process would compute; it takes a second, once."""
    toy = "\n".join(f"{' '.join(source)} ||| {' '.join(target)}" for source, target in _toy())
    return Canary(
        alignkit=__version__,
        numpy=version("numpy"),
        numba=version("numba"),
        unicode=unicodedata.unidata_version,
        bits=_bits(),
        packed=_digest(zlib.compress(toy.encode(), 6)),
        processor=f"{platform.machine()} {_processor()}".strip(),
    )


def _toy() -> list[tuple[list[str], list[str]]]:
    pairs = []
    state = 1
    for _ in range(_PAIRS):
        words = []
        for _ in range(3 + state % 9):
            state = state * 48271 % 2147483647
            words.append(state % 37)
        turned = words[1:2] + words[:1] + words[2:] if len(words) > 4 else words
        pairs.append(([f"s{word}" for word in words], [f"t{word // 2}" for word in turned]))
    return pairs


def _bits() -> str:
    from alignkit.align.aligner import Aligner
    from alignkit.align.bitext import Bitext

    bitext = Bitext.pack(_toy())
    aligner = Aligner.train(bitext, threads=1)
    links = aligner.align_bitext(bitext, threads=1)
    scores = aligner.scores(bitext, threads=1)
    return _digest(links.arrays.links.tobytes(), links.probabilities.tobytes(), scores.tobytes())


def _digest(*parts: bytes) -> str:
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            names = (line for line in lines if line.startswith("model name"))
            return next(names, ":").partition(":")[2].strip()
    except OSError:
        return platform.processor()


PATIENCE = 30
"""Seconds to wait for a scheduler, and for the first worker of this machine."""

_LOCAL = re.compile(r"local(?::(\d+))?")


class ClusterError(AlignkitError):
    """A cluster that cannot be reached, or workers that cannot do what is asked of them."""


def check_address(address: str) -> None:
    """Refuse what is no address, and any where Dask is not there."""
    local = _LOCAL.fullmatch(address)
    known = local or address.startswith(("tcp://", "tls://", "ucx://")) or address.endswith(".json")
    if not known or (local and local[1] and int(local[1]) < 1):
        raise OptionError(
            f"{address!r} is no address of a cluster; say local:4 (so many processes of this "
            "machine), tcp://HOST:8786, or FILE.json, which a scheduler wrote"
        )
    missing = [name for name in ("dask", "distributed") if find_spec(name) is None]
    if missing:
        raise ClusterError(
            f"a cluster needs more libraries ({', '.join(missing)}); type: "
            "pip install 'alignkit[cluster]'"
        )


@contextmanager
def connected(address: str, wait: float = 0) -> Iterator[Client]:
    """Connect to the scheduler of an address, perhaps one that is begun for it."""
    check_address(address)
    from distributed import Client, LocalCluster

    from alignkit._support.parallel import available_cores

    local = _LOCAL.fullmatch(address)
    with ExitStack() as stack:
        if local:
            cluster = stack.enter_context(
                LocalCluster(
                    n_workers=int(local[1]) if local[1] else available_cores(),
                    threads_per_worker=1,
                    dashboard_address=":0",
                    silence_logs="CRITICAL",
                )
            )
            yield stack.enter_context(Client(cluster))
            return
        stack.enter_context(_silent())
        wait = max(wait, PATIENCE)
        place = _address_in(address, wait) if address.endswith(".json") else address
        try:
            client = stack.enter_context(Client(place, timeout=wait))
        except (OSError, ValueError) as problem:
            raise ClusterError(f"{address}: no scheduler answers: {problem}") from None
        yield client


@contextmanager
def _silent() -> Iterator[None]:
    """Keep Dask from printing how it lost a scheduler; that is told as an error."""
    logs = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    before = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for log, level in zip(logs, before, strict=True):
            log.setLevel(level)


def _address_in(path: str, wait: float) -> str:
    """Return the address in the file that a scheduler writes when it has begun; wait for it."""
    end = time.monotonic() + wait
    while True:
        try:
            content = json.loads(Path(path).read_text("utf-8"))
        except (FileNotFoundError, ValueError):  # not there, or not whole
            if time.monotonic() > end:
                raise ClusterError(
                    f"{path}: no scheduler has written it in {wait:g} seconds"
                ) from None
            time.sleep(0.2)
            continue
        except OSError as problem:
            raise FileError.of(problem, path) from None
        if not (isinstance(content, dict) and isinstance(content.get("address"), str)):
            raise ClusterError(f"{path}: is no file of a scheduler: it holds no address")
        return str(content["address"])
