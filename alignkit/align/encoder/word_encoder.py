"""What an encoder is: vectors for the words of a sentence, and what they depend on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from alignkit._support.array_types import F4

Progress = Callable[[int, int], None]
"""Called with the number of sentences that are done, and of all."""


@runtime_checkable
class WordEncoder(Protocol):
    """What gives the words of a sentence their vectors."""

    name: str
    layer: int  # 0 for a function
    layers: int
    progress: Progress | None

    @property
    def digest(self) -> str:
        """What its vectors depend on; "" if that is not known, and then nothing is kept."""

    def vectors(self, sentences: Sequence[Sequence[str]]) -> list[F4]:
        """Return the vectors (n, d) of the words of each sentence, of length 1 or zeros."""


@dataclass(frozen=True)
class NamedEncoder:
    """What names an encoder in a file: a saved model, or a saved system that identifies pairs."""

    name: str
    layer: int  # whose states are used; 0 for a function
    layers: int  # how many the encoder has
    digest: str  # SHA-256 of its weights, tokenizer and configuration; "" for a function

    @classmethod
    def of(cls, encoder: WordEncoder) -> NamedEncoder:
        """Return what names an encoder."""
        return cls(encoder.name, encoder.layer, encoder.layers, encoder.digest)

    def gives_as(self, encoder: WordEncoder) -> bool:
        """Return whether an encoder gives the vectors of this one; functions are told by name."""
        if not self.digest and not encoder.digest:
            return self.name == encoder.name
        return (self.digest, self.layer) == (encoder.digest, encoder.layer)
