"""Find where phrases occur in sentences, fast, for phrases that come one by one."""

from __future__ import annotations

from collections.abc import Sequence

_NOWHERE: dict[int, list[int]] = {}


class PhraseIndex:
    """Find the occurrences of phrases in some sentences."""

    def __init__(self, sentences: Sequence[Sequence[str]]) -> None:
        self._sentences = sentences
        self._places: dict[int, dict[str, dict[int, list[int]]]] = {}

    def find(self, phrase: str) -> dict[int, list[int]]:
        """Return where a phrase begins: for each sentence that has it, the rising positions."""
        words = phrase.count(" ") + 1
        known = self._places.get(words)
        if known is None:
            known = self._places[words] = self._index(words)
        return known.get(phrase, _NOWHERE)

    def _index(self, words: int) -> dict[str, dict[int, list[int]]]:
        places: dict[str, dict[int, list[int]]] = {}
        for number, sentence in enumerate(self._sentences):
            for start in range(len(sentence) - words + 1):
                phrase = " ".join(sentence[start : start + words])
                places.setdefault(phrase, {}).setdefault(number, []).append(start)
        return places
