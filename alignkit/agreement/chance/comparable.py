"""On which pairs of a corpus two annotators can be compared, and why not on others.

A closed form of chance needs pairs that both annotated. Models of edits also need an initial
alignment from which both started.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from alignkit._support.array_types import B1, I8
from alignkit.agreement.chance import result
from alignkit.agreement.options import CLOSED, AgreementOptions, edits_known
from alignkit.agreement.pairs import CorpusData
from alignkit.errors import OptionError


@dataclass(frozen=True)
class ComparablePairs:
    """The pairs on which any two annotators of a corpus of Q pairs can be compared."""

    data: CorpusData
    initial: str | None  # the name of the initial alignment; None without one
    systems: tuple[str, ...]  # the automatic alignments
    options: AgreementOptions  # settled

    @property
    def edits_known(self) -> bool:
        """Whether there is an initial alignment that annotators may have edited."""
        return edits_known(self.initial, self.options.missing_initial)

    def edited_places(self, names: Sequence[str]) -> I8:
        """Return the positions of the pairs that all annotated from the initial alignment."""
        places = self.data.places(names)
        edited = self._has_initial & self._both_started(names)
        return places[edited[places]]

    def same_start(self, names: tuple[str, str]) -> int | None:
        """Return in how many shared pairs both started from the initial alignment.

        Pairs of which the start is not known count. None if edits are not known.
        """
        automatic = {self.initial, *self.systems}.intersection(names)
        if automatic or not self.edits_known:
            return None
        places = self.data.places(names)
        return int(self._both_started(names)[places].sum())

    @cached_property
    def _has_initial(self) -> B1:
        """(Q,): whether there is an initial alignment, or none is needed."""
        if self.initial is None or self.options.missing_initial == "empty":
            return np.ones(len(self.data.corpus), bool)
        return self.data.aligned(self.initial)

    def _both_started(self, names: Sequence[str]) -> B1:
        """(Q,): the pairs in which all started from the initial alignment, as far as is known."""
        masks = [self._started(name) for name in names]
        return np.asarray(np.all(masks, axis=0))

    def _started(self, name: str) -> B1:
        """(Q,): the pairs in which an annotator started from the initial alignment."""
        started = self.data.started(name, self.initial or "")
        if self.initial is not None and self.options.missing_initial == "empty":
            without_links = self.data.started(name, "") & ~self.data.aligned(self.initial)
            started = started | without_links
        return started

    # reasons
    def why_no_edits(self, names: tuple[str, str]) -> str:
        """Return why models of edits do not apply to two annotators; empty if they do.

        Raises
        ------
        OptionError : If initial alignments are missing that the main model of chance needs.
        """
        if not self.edits_known:
            return "no initial alignment is named, so edits are not known"
        for name in names:
            if name == self.initial:
                why = "the initial alignment, which has no edits"
                return f"{name!r} is {why}; compare it by {CLOSED}"
            if name in self.systems:
                why = "an automatic alignment, not an edit of the initial one"
                return f"{name!r} is {why}; compare it by {CLOSED}"
        if self.options.universe == "judged":
            for name in names:
                if not self.data.records_judged(name):
                    return f"{name!r} records no judged cells; compare it by {CLOSED}"
        return self._why_no_start(names)

    def _why_no_start(self, names: tuple[str, str]) -> str:
        """Return why two annotators have no common start in their pairs; empty if they have one."""
        places = self.data.places(names)
        started = places[self._both_started(names)[places]]
        if len(places) and not len(started):
            start = repr(self.initial) if self.initial else "nothing"
            first, second = names
            return (
                f"{first!r} and {second!r} did not both start from {start} in any of the "
                f"{len(places)} pairs that both annotated; compare them by {CLOSED}"
            )
        missing = started[~self._has_initial[started]]
        if self.options.missing_initial != "error" or not len(missing):
            return ""
        message = (
            f"pair {self.data.corpus[int(missing[0])].id!r} has no initial alignment "
            f"{self.initial!r}: name another one with `initial` (the aligner makes one, `merge` "
            "adds it), or choose how to treat such pairs with `missing_initial='empty'` or "
            "`missing_initial='leave-out'`"
        )
        if self.options.model != CLOSED:  # the main model needs them
            raise OptionError(message)
        return message

    def why_not_compared(self, names: tuple[str, str], outside: I8) -> Counter[str]:
        """Count why pairs at some positions are not compared, the first one's reason first."""
        first, second = names
        without_first = ~self.data.aligned(first)[outside]
        without_second = ~self.data.aligned(second)[outside]
        # if both annotated a pair and started alike, only the initial alignment can be missing
        reasons = np.full(len(outside), result.NO_INITIAL, object)
        reasons[~self._both_started(names)[outside]] = result.OTHER_START
        by = f"{result.NOT_ANNOTATED} by"
        reasons[without_first] = f"{by} {first}"
        reasons[without_second] = f"{by} {second}"
        reasons[without_first & without_second] = f"{by} {first}, {second}"
        return Counter(reasons.tolist())
