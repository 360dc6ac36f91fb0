"""An encoder over parts: workers open it by its folder, and compute the shares of their parts.

All workers must see the folder, and find the same files in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

from alignkit.align.bitext import Bitext
from alignkit.align.encoder.encoding import EncoderUsed, PairEncoder
from alignkit.align.encoder.encoding_counts import EncodingCounts
from alignkit.align.encoder.shares import FIRST_PAIRS
from alignkit.align.encoder.transformer import Encoder
from alignkit.align.numbered_texts import lines_of, numbered
from alignkit.cluster.session import Session
from alignkit.cluster.training_files import cut_pairs, whole_part, write_arrays
from alignkit.errors import AlignerError, OptionError
from alignkit.io.options import ReadOptions

_LIBRARIES = 900_000_000  # bytes of PyTorch, transformers and a batch of sentences


@dataclass(frozen=True)
class PartEncoder:
    """The encoder of a run, as its tasks open it."""

    used: EncoderUsed  # with spread 0 until it is known
    folder: str  # as workers see it
    memory: int  # bytes of a process for it
    threads: int = 1

    @classmethod
    def of(cls, encoder: object, session: Session, threads: int | None) -> PartEncoder:
        """Describe an `Encoder`, its folder or its name; others cannot be sent to workers."""
        if isinstance(encoder, (str, os.PathLike)):
            encoder = Encoder(encoder)
        if not isinstance(encoder, Encoder):
            raise OptionError(
                "over parts an encoder is a folder or a name: a function cannot be sent to workers"
            )
        used = EncoderUsed(encoder.name, encoder.layer, encoder.layers, encoder.digest, 0.0)
        folder = session.path(os.fspath(encoder.folder))
        return cls(used, folder, memory_of_encoder(encoder), threads or 1)

    def encoder(self) -> Encoder:
        """Return the encoder; this process keeps it for the next part."""
        used = self.used
        return _encoder(self.folder, used.name, used.layer, used.digest, self.threads)

    def pair_encoder(self) -> PairEncoder:
        """Return what encodes pairs; its spread is computed if it is not known.

        It warns of nothing: what it counts is told once for all parts.
        """
        return PairEncoder(self.encoder(), spread=self.used.spread or None, warn=False)


def memory_of_encoder(encoder: Encoder) -> int:
    """Return about how many bytes a process needs for an encoder."""
    return _LIBRARIES + encoder.size


@lru_cache(maxsize=1)
def _encoder(folder: str, name: str, layer: int, digest: str, threads: int) -> Encoder:
    """Open an encoder on this computer; refuse another than that of the run."""
    encoder = Encoder(folder, layer=layer, threads=threads)
    if encoder.digest != digest:
        raise AlignerError(
            f"{folder}: is not the encoder {name} with which this run began; copy its folder to "
            "where all workers see it"
        )
    return encoder


def spread_of_parts(
    encoder: PartEncoder, parts: Sequence[Sequence[str]], reading: ReadOptions, casefold: bool
) -> tuple[float, int]:
    """Return the standard deviation of the cosines of the first pairs, as on one machine.

    Return also how many sentences were encoded for it.
    """
    pairs = list(islice(_full_pairs(parts, reading), FIRST_PAIRS))
    pair_encoder = encoder.pair_encoder()
    pair_encoder.encoded(Bitext.pack(pairs, casefold=casefold, written=True))
    assert pair_encoder.spread is not None
    return pair_encoder.spread, pair_encoder.counts.encoded


def _full_pairs(
    parts: Sequence[Sequence[str]], reading: ReadOptions
) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the words of the pairs of parts, in order, that have words on both sides."""
    for paths in parts:
        for lines in lines_of(list(paths), reading, format=None, whole=False):
            bitext = numbered(lines, casefold=False, threads=1)
            for number in range(len(bitext)):
                source = bitext.source.sentence(number)
                target = bitext.target.sentence(number)
                if source and target:
                    yield source, target


def encode_part(
    encoder: PartEncoder, paths: Sequence[str], reading: ReadOptions, casefold: bool, file: str
) -> EncodingCounts:
    """Write the shares of the cells of a part, after cutting long pairs; return the counts."""
    bitext = whole_part(paths, reading, casefold, written=True)
    pair_encoder = encoder.pair_encoder()
    encoded = cut_pairs(pair_encoder.encoded(bitext))
    assert encoded.shares is not None
    write_arrays(file, {"shares": encoded.shares})
    return pair_encoder.counts


def counts_from(record: Mapping[str, Any]) -> EncodingCounts:
    """Return counts that were kept as JSON, in which pairs are lists."""
    both = {name: tuple(record[name]) for name in ("words", "unknown")}
    return EncodingCounts(**{**record, **both})
