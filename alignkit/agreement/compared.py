"""Gather the sentence pairs that can be compared, and what two annotators have in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.chance import Edits
from alignkit.agreement.corrected_settings import CorrectedSettings
from alignkit.agreement.correction import ObservedTerms
from alignkit.agreement.items import Items
from alignkit.agreement.shared import check_annotators
from alignkit.alignment import Alignment
from alignkit.arrays import LinkArrays
from alignkit.corpus import Corpus, SentencePair
from alignkit.errors import OptionError
from alignkit.scoring.counts import LINK_COLUMNS, count_links

__all__ = ["NO_INITIAL", "ComparedPairs"]

NO_INITIAL = "without an initial alignment"


class ComparedPairs:
    """Hold the P sentence pairs that both annotated, and that have what chance needs.

    Parameters
    ----------
    corpus
        All sentence pairs.
    names
        The two annotators.
    settings
        The options.

    Attributes
    ----------
    places
        The positions of the pairs in the corpus.
    pairs
        The pairs.
    items
        Their words, and what is compared.
    observed
        What both annotators have.

    Raises
    ------
    OptionError
        If the annotators cannot be compared, or an initial alignment is missing.
    UnknownNameError
        If a name annotated nothing.
    MissingTextError
        If the words of a pair are not known.
    """

    def __init__(self, corpus: Corpus, names: tuple[str, str], settings: CorrectedSettings) -> None:
        self.corpus, self.names, self.settings = corpus, names, settings
        self._needs_initial = settings.sampled and settings.missing_initial != "empty"
        check_annotators(corpus, names)
        if settings.sampled:
            self._check_initial()
        self.places = self._annotated_by(*names)
        self.pairs = [corpus[place] for place in self.places]
        self.items = self.items_of(self.places)
        sizes = self.items.sizes(*(self.links(self.places, name) for name in names))
        self.observed = ObservedTerms.of(sizes[:, 0], sizes[:, 1], sizes[:, 2], settings.normalizer)

    def __len__(self) -> int:
        return len(self.places)

    def items_of(self, places: Sequence[int]) -> Items:
        """Return the words of some pairs, and what is compared in them."""
        one = self.settings
        pairs = [self.corpus[place] for place in places]
        return Items.of(pairs, one.unit, one.include_identical, one.exact_case)

    def links(self, places: Sequence[int], name: str | None) -> LinkArrays:
        """Return the links of one annotator in some pairs: none where there is no annotation."""
        pairs = [self.corpus[place] for place in places]
        found = [
            pair.alignment(name) if name is not None and pair.aligned_by(name) else Alignment()
            for pair in pairs
        ]
        arrays = LinkArrays.pack(found, [pair.lengths for pair in pairs])
        return arrays.sure_only() if self.settings.links == "sure" else arrays

    def edits(self, name: str) -> Edits:
        """Count what one annotator changed, in all pairs that this annotator annotated."""
        places = self._annotated_by(name)
        counts = count_links(self.links(places, name), self.links(places, self.settings.initial))
        mine, filled, kept = (
            counts[:, LINK_COLUMNS.index(column)]
            for column in ("hyp_possible", "ref_possible", "possible_in_possible")
        )
        lengths = np.array([self.corpus[place].lengths for place in places], np.int64)
        return Edits(
            np.array(places, np.int64), lengths.reshape(-1, 2), filled, mine - kept, filled - kept
        )

    def outside(self, members: NDArray[np.int64]) -> Counter[str]:
        """Count the pairs at some positions of the corpus that are not compared, by reason."""
        found: Counter[str] = Counter()
        for place in np.setdiff1d(members, self.places).tolist():
            done = self.corpus[place].alignments
            missing = [name for name in self.names if name not in done]
            found[f"not annotated by {', '.join(missing)}" if missing else NO_INITIAL] += 1
        return found

    def _annotated_by(self, *names: str) -> list[int]:
        return [
            place
            for place, pair in enumerate(self.corpus)
            if pair.aligned_by(*names) and self._has_initial(pair)
        ]

    def _has_initial(self, pair: SentencePair) -> bool:
        initial = self.settings.initial
        return not self._needs_initial or (initial is not None and pair.aligned_by(initial))

    def _check_initial(self) -> None:
        name, missing = self.settings.initial, self.settings.missing_initial
        if name is None:
            if missing != "empty":
                raise OptionError(
                    f"chance model {self.settings.chance!r} starts from the initial alignment, and "
                    "none is named: name it by --initial NAME (`alignkit align` makes one, `merge` "
                    "adds it), or ask for an empty one by --missing-initial empty"
                )
            return
        self.corpus.require(name)
        if missing != "error":
            return
        for pair in self.corpus:
            if not pair.aligned_by(name) and pair.aligned_by(*self.names):
                raise OptionError(
                    f"pair {pair.id!r} has no initial alignment {name!r}: name another one by "
                    "--initial NAME (`alignkit align` makes one, `merge` adds it), or say what "
                    "becomes of such pairs by --missing-initial empty or leave-out"
                )
