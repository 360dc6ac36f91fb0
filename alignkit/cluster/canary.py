"""What decides which bits a process computes: its versions, and a toy text that it aligns."""

from __future__ import annotations

import platform
import unicodedata
import zlib
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import blake2b
from importlib.metadata import version

from alignkit.version import __version__

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
    from alignkit.aligner import Aligner, Bitext

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
