"""What a process would compute: the bits of a toy text, compared between this process and workers.

Results must not depend on who computes them, so workers whose `Canary` differs are refused.
"""

from __future__ import annotations

import platform
import unicodedata
import zlib
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import blake2b
from importlib.metadata import version

from alignkit.version import __version__


@dataclass(frozen=True)
class Canary:
    """Everything that affects the bits of a result."""

    alignkit: str  # versions; that of Unicode, which Python brings, decides how case is folded
    numpy: str
    numba: str
    unicode: str
    bits: str  # a digest of what an aligner makes of a toy text
    packed: str  # a digest of a text that zlib packed
    processor: str  # the name of the processor, for messages

    def differs(self, theirs: Canary) -> str:
        """Describe why another process would give other bytes; empty if all is equal."""
        for name, mine in asdict(self).items():
            other = getattr(theirs, name)
            if other == mine or name == "processor":  # another one may compute the same bits
                continue
            if name in ("bits", "packed"):
                verb = "aligns" if name == "bits" else "packs"
                return (
                    f"{verb} a toy text with other bits than this process (its processor: "
                    f"{theirs.processor}; this one: {self.processor}); do not use this worker"
                )
            return f"has {name} {other}, but this process has {mine}; install the same version"
        return ""


@cache
def canary() -> Canary:
    """Return what this process would compute; the first call takes a second.

    A toy text is aligned: if any library computes other bits, the links' probabilities show it.
    """
    from alignkit.align.aligner import Aligner
    from alignkit.align.bitext import Bitext

    toy = _toy_pairs()
    text = "\n".join(f"{' '.join(source)} ||| {' '.join(target)}" for source, target in toy)
    bitext = Bitext.pack(toy)
    aligner = Aligner.train(bitext, threads=1)
    links = aligner.align_bitext(bitext, threads=1)
    scores = aligner.scores(bitext, threads=1)
    bits = links.arrays.links.tobytes() + links.probabilities.tobytes() + scores.tobytes()
    return Canary(
        alignkit=__version__,
        numpy=version("numpy"),
        numba=version("numba"),
        unicode=unicodedata.unidata_version,
        bits=_digest(bits),
        packed=_digest(zlib.compress(text.encode(), 6)),
        processor=f"{platform.machine()} {_processor()}".strip(),
    )


def _digest(data: bytes) -> str:
    """Return a digest of bytes."""
    return blake2b(data, digest_size=16).hexdigest()


def _toy_pairs() -> list[tuple[list[str], list[str]]]:
    """Return sentence pairs of made-up words, always the same."""
    pairs = []
    state = 1
    for _ in range(60):
        words = []
        for _ in range(3 + state % 9):
            state = state * 48271 % 2147483647
            words.append(state % 37)
        turned = words
        if len(words) > 4:
            turned = words[1:2] + words[:1] + words[2:]
        source = [f"s{word}" for word in words]
        target = [f"t{word // 2}" for word in turned]
        pairs.append((source, target))
    return pairs


def _processor() -> str:
    """Return the name of the processor, as far as the system gives it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
        return ""
    except OSError:
        return platform.processor()
