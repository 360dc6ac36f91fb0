"""Agreement beyond chance of two annotators: of each sentence pair, of groups, of the corpus."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np

from alignkit._support.array_types import F8
from alignkit._support.values import FrozenMap, named_json
from alignkit.agreement.chance import correction
from alignkit.agreement.chance.correction import BOTH_EMPTY, Correction
from alignkit.agreement.chance.edits import EditModel
from alignkit.agreement.chance.models import EditRates
from alignkit.stats.resampling import Interval, of_corpus

LEVELS = {
    "phrases.possible": ("phrases", "possible"),
    "phrases.sure": ("phrases", "sure"),
    "words.possible": ("links", "possible"),
    "words.sure": ("links", "sure"),
}
"""The levels of agreement beyond chance by name: the unit, and the links it is made of."""

NO_INITIAL = "without an initial alignment"
OTHER_START = "the two did not both start from the initial alignment"
"""Reasons to leave out a pair that both annotated; `correction` has the others."""

NOT_ANNOTATED = "not annotated"
"""The reason to leave out other pairs begins with this, and goes on with who did not."""


@dataclass(frozen=True)
class SentenceAgreement:
    """The agreement in one sentence pair.

    Part of `BeyondChance.sentences`.

    Parameters
    ----------
    place, id : Its position in the corpus, from 0, and its id.
    left_out : Why it is left out of pi and pi0; empty if it is used.
    first, second, common : The sizes of A, of B and of A & B.
    observed : common / norm; NaN if both sets are empty.
    expected : The same ratio by chance; NaN if it was not computed or all samples are empty.
    expected_error : Its Monte-Carlo error.

    Examples
    --------
    >>> import alignkit
    >>> corpus = alignkit.Corpus.from_texts(["a b"], ["c d"], anna=["0-0"], ben=["0-0 1-1"])
    >>> pairing = alignkit.agree(corpus, bootstrap="none").pairing("anna", "ben")
    >>> sentence = pairing.main("words.sure").sentences[0]
    >>> sentence.id, sentence.first, sentence.second, sentence.common, sentence.observed
    ('1', 1, 2, 1, 1.0)
    """

    place: int
    id: str
    left_out: str
    first: int
    second: int
    common: int
    observed: float
    expected: float
    expected_error: float


@dataclass(frozen=True)
class BeyondChanceSection(Correction):
    """The agreement beyond chance of some sentence pairs; see `Correction` for the numbers.

    Returned by `Pairing.part`.

    Parameters
    ----------
    name : The group; ``"all"`` for the whole corpus.
    pairs : The number of sentence pairs.
    used : The number of used pairs.
    one_sided : The number of used pairs in which only one marked anything; their ratio is 0.
    left_out : The number of pairs left out, by reason.
    interval : The bootstrap interval of C; None if not requested, or if all resamples are the same.
    no_interval : Why a requested interval has no bounds; empty otherwise.

    Examples
    --------
    >>> import alignkit
    >>> corpus = alignkit.Corpus.from_texts(["a b"], ["c d"], anna=["0-0"], ben=["0-0 1-1"])
    >>> pairing = alignkit.agree(corpus, bootstrap="none").pairing("anna", "ben")
    >>> section = pairing.part("words.sure", "all")
    >>> section.name, section.pairs, section.used, section.pi
    ('all', 1, 1, 1.0)
    """

    name: str
    pairs: int
    used: int
    one_sided: int
    left_out: FrozenMap[str, int]
    interval: Interval | None
    no_interval: str

    @property
    def both_empty(self) -> int:
        """The number of pairs left out because neither has anything to compare."""
        return self.left_out.get(BOTH_EMPTY, 0)

    def section_json(self) -> dict[str, object]:
        """Return the numbers for JSON; NaN becomes None."""
        names = (*(field.name for field in fields(Correction)), "interval", "no_interval")
        pairs = named_json(self, ("used", "one_sided", "left_out"))
        return {**named_json(self, names), "pairs": {"all": self.pairs, **pairs}}


@dataclass(frozen=True, eq=False)
class BeyondChance(BeyondChanceSection):
    """The agreement beyond chance of two annotators in the whole corpus, and in each group.

    Part of `Pairing.beyond`.

    Parameters
    ----------
    annotators : The two.
    chance : The name of the model of chance.
    groups : The agreement in each group, with the same edit models and samples.
    sentences : Every sentence pair that both annotated, in order.
    models : The fitted edit models of each annotator, by name; empty if chance has a closed form.
    rates : The add and the delete rate of each annotator; empty if edits are not known.
    samples : The number of samples of each sentence pair; 0 if chance has a closed form.
    distribution : (samples,): the agreement over the whole corpus in each sample.
    redrawn : How often a pair was sampled again for the interval with refitted edit models.
    by : The attribute that defines the groups; None without groups.
    signature : The settings.

    Examples
    --------
    >>> import alignkit
    >>> corpus = alignkit.Corpus.from_texts(["a b"], ["c d"], anna=["0-0"], ben=["0-0 1-1"])
    >>> pairing = alignkit.agree(corpus, bootstrap="none").pairing("anna", "ben")
    >>> result = pairing.main("words.sure")
    >>> result.chance, result.pi, len(result.sentences)
    ('kupper-hafner', 1.0, 1)
    """

    annotators: tuple[str, str]
    chance: str
    groups: tuple[BeyondChanceSection, ...]
    sentences: tuple[SentenceAgreement, ...]
    models: FrozenMap[str, FrozenMap[str, EditModel]]
    rates: FrozenMap[str, EditRates]
    samples: int
    distribution: F8
    redrawn: int
    by: str | None = field(default=None, kw_only=True)
    signature: str = field(default="", kw_only=True)

    def to_json(self) -> dict[str, object]:
        """Return everything for JSON; NaN becomes None.

        Examples
        --------
        >>> import alignkit
        >>> corpus = alignkit.Corpus.from_texts(["a b"], ["c d"], anna=["0-0"], ben=["0-0 1-1"])
        >>> [pairing] = alignkit.agree(corpus, bootstrap="none").pairings
        >>> pairing.main("words.sure").to_json()["chance"]
        'kupper-hafner'
        """
        groups = {group.name: group.section_json() for group in self.groups}
        rest = ("models", "rates", "samples", "distribution", "redrawn", "sentences", "signature")
        return {
            "annotators": list(self.annotators),
            **self.section_json(),
            **{"chance": self.chance, "by": self.by, "groups": groups},
            **named_json(self, rest),
        }


def by_both(
    closed: BeyondChance, normalizer: str, aggregate: str
) -> dict[str, tuple[float, float]]:
    """Return pi and C with each of `NORMALIZERS`, for the closed form of Kupper & Hafner."""
    used = [sentence for sentence in closed.sentences if not sentence.left_out]
    columns = [(pair.first, pair.second, pair.common, pair.expected) for pair in used]
    first, second, common, chance = np.array(columns, np.float64).reshape(-1, 4).T
    product = chance * correction.NORMALIZERS[normalizer](first, second)
    result = {}
    for name in correction.NORMALIZERS:
        observed = correction.ObservedTerms.of(first, second, common, name)
        expected = correction.ChanceTerms.exact(first, second, product, name)
        terms = correction.rows(observed, expected, aggregate)
        ratios = of_corpus(correction.correction_ratios, terms)
        result[name] = ratios["pi"], ratios["C"]
    return result
