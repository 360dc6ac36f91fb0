"""The options of agreement on judgments of whole pairs, and of the quality of a crowd."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Literal

from alignkit._support.options import DeclaredOptions, about, option
from alignkit.agreement.options import DRAWS, WHO, Annotators, Draws, Grouped, Threads
from alignkit.errors import OptionError
from alignkit.model.labels import OWN, SCHEMES, Scheme, View, get_view, open_scheme
from alignkit.stats.defaults import CONFIDENCE

MAJORITY = "majority"  # the consensus that is no adjudicated version
_JUDGMENTS = "judgments of pairs"
_RULES = "rules"
_PHRASES = "good phrases"


@dataclass(frozen=True)
class SchemeOfJudgments(DeclaredOptions):
    """What judgments mean."""

    _: KW_ONLY
    scheme: Scheme | str = field(
        metadata=about(
            f"scheme of the judgments (default: that of the format): {', '.join(SCHEMES)}; {OWN}",
            metavar="S",
            group=_JUDGMENTS,
            implied=True,
        )
    )
    nominal: bool = option(
        False,
        "the labels of a scheme of your own have no order (default: from low to high, as given)",
        group=_JUDGMENTS,
        silent=True,
    )
    lenient_labels: bool = option(
        False,
        "leave out and count labels that are not in the scheme (default: an error)",
        python=True,  # the command has it among the options of reading
    )

    def __post_init__(self) -> None:
        if not self.scheme:
            raise OptionError("judgments need a scheme: name it with `scheme`")
        scheme = self.scheme
        if isinstance(scheme, str):
            scheme = open_scheme(scheme)
        if self.nominal and isinstance(scheme, Scheme):
            scheme = scheme.as_nominal()
        object.__setattr__(self, "scheme", scheme)
        super().__post_init__()


@dataclass(frozen=True)
class JudgmentOptions(Threads, Draws, SchemeOfJudgments, Grouped, Annotators):
    """The options of `alignkit.agree_on_judgments`.

    A view without an order raises an OptionError if an order is needed.

    `agree_on_judgments` takes the fields as keywords.

    Examples
    --------
    >>> import alignkit
    >>> corpus = alignkit.read_corpus("samples/paraphrases.jsonl")
    >>> names = ["anna", "ben"]
    >>> agreement = alignkit.agree_on_judgments(corpus, names, scheme="paraphrase", seed=7)
    >>> agreement.options.resamples, agreement.options.seed
    (1000, 7)
    """

    _: KW_ONLY
    view: str | Sequence[str] | None = option(
        None,
        "views of the scheme, which merge its labels into fewer (default: all; with weights, or "
        "ties decided by the order, only those with ordered labels)",
        metavar="V",
        group=_JUDGMENTS,
    )
    weights: Literal["nominal", "linear", "quadratic"] = option(
        "nominal",
        "weights for kappa: none, or by the distance of labels in their order",
        group=_JUDGMENTS,
    )
    consensus: str = option(
        MAJORITY,
        "version to compare annotators with: the majority, or also an adjudicated version, which "
        "has no test against chance",
        metavar="majority|NAME",
        group=_JUDGMENTS,
    )
    ties: Literal["leave-out", "error", "lowest", "adjudicated"] = option(
        "leave-out",
        "how to decide a tied majority: leave the pair out and count it, report an error, take "
        "the lowest of the tied labels, or take the adjudicated label",
        group=_JUDGMENTS,
    )
    null: Literal["all", "one"] = option(
        "all",
        "labels that chance permutes: of all annotators, or only of the one being tested",
        group=_JUDGMENTS,
        rare=True,
    )
    groups: Mapping[str, str] | None = option(
        None,
        "group of each annotator; annotators are compared within and between groups",
        metavar="FILE",
        group=_JUDGMENTS,
        rare=True,
    )
    permutations: int = option(
        1000,
        "permutations for the test against chance",
        metavar="N",
        group=DRAWS,
        least=1,
        rare=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ties == "adjudicated" and self.settled is None:
            raise OptionError(
                "`ties='adjudicated'` needs the adjudicated version: name it with `consensus`"
            )
        _ = self.views

    @property
    def settled(self) -> str | None:
        """The name of the adjudicated version; None without one."""
        return None if self.consensus == MAJORITY else self.consensus

    @property
    def views(self) -> tuple[View, ...]:
        """The requested views; if views are alike, only the first."""
        return tuple(view for view, *_ in self.alike)

    @property
    def alike(self) -> tuple[tuple[View, ...], ...]:
        """The requested views, grouped if they map all judgments to the same labels."""
        scheme = get_view(self.scheme).scheme
        named = [self.view] if isinstance(self.view, str) else self.view
        chosen = tuple(get_view(scheme, name) for name in dict.fromkeys(named or scheme.views))
        needed = self.weights != "nominal" or self.ties == "lowest"
        if not named and needed:
            chosen = tuple(view for view in chosen if view.order is not None)
            if not chosen:
                raise OptionError(
                    f"no view of {scheme.name} has ordered labels: leave out `weights` and "
                    "`ties='lowest'`"
                )
        groups: list[list[View]] = []
        for view in chosen:
            for group in groups:
                if _says_the_same(view, group[0]):
                    group.append(view)
                    break
            else:
                groups.append([view])
        return tuple(map(tuple, groups))


def _says_the_same(view: View, other: View) -> bool:
    """Return whether two views have the same labels, of the same judgments."""
    return (
        view.labels == other.labels
        and view.order == other.order
        and dict(view.rows) == dict(other.rows)
    )


# the quality of a crowd
@dataclass(frozen=True)
class QualityOptions(SchemeOfJudgments, Annotators):
    """The options of `alignkit.agreement.crowd_quality`.

    `crowd_quality` takes the fields as keywords.

    Examples
    --------
    >>> from alignkit import Corpus
    >>> from alignkit.agreement import crowd_quality
    >>> texts, key = [f"text {k}" for k in range(12)], ["0", "1"] * 6
    >>> judged = {"key": key, "ann": key, "ben": ["1"] * 12}
    >>> corpus = Corpus.from_texts(texts, texts, judgments=judged)
    >>> quality = crowd_quality(corpus, ["ann", "ben"], scheme="binary", gold="key")
    >>> quality.options.gold, quality.options.view
    ('key', 'full')
    """

    _: KW_ONLY
    gold: str = field(
        metadata=about(
            "annotator with the correct judgments; the pairs that this one judged are gold "
            "questions",
            metavar="NAME",
            group=WHO,
        )
    )
    view: str = option(
        "full",
        "view of the scheme: how to merge its labels into fewer labels",
        metavar="V",
        group=_JUDGMENTS,
    )
    rewrites: bool = option(
        False,
        "count rewrites too, with the label that their annotators gave them",
        group=_JUDGMENTS,
        rare=True,
    )
    sequential: bool = option(
        False,
        "check annotators after each gold question, by the times of their judgments or, if one is "
        "missing, in the order of the corpus (default: once, at the end)",
        group=_RULES,
    )
    after: int = option(
        10,
        "number of gold questions that an annotator must answer before being rejected; not of "
        "tasks, as in Pavlick et al. 2015: if a task has g gold questions, 10 tasks are 10 g",
        metavar="N",
        group=_RULES,
        least=1,
    )
    like: Literal["parade"] | None = option(
        None,
        "pairs of annotators with a kappa below .4 are judged again; parade: kappa with the "
        "majority of all, including that annotator (default: only with the others)",
        group=_RULES,
    )
    model: bool = option(
        False,
        "estimate for each annotator the probability of giving the right label; pairs to judge "
        "again are then listed by the doubt of this model",
        group=_RULES,
    )
    confidence: float = option(
        CONFIDENCE,
        "confidence of the intervals",
        metavar="P",
        group=_RULES,
        above=0,
        below=1,
        rare=True,
    )
    over: str | None = option(
        None,
        "also report which phrases are good; ATTRIBUTE holds the phrase that a pair is a context "
        "of",
        metavar="ATTRIBUTE",
        group=_PHRASES,
    )
    good: Sequence[str] | None = option(
        None,
        "labels for a good context (default: those with 1 in the view binary)",
        metavar="LABEL",
        group=_PHRASES,
        needs="over",
        rare=True,
    )
    good_in: Literal["any", "majority", "all"] = option(
        "any",
        "contexts in which a good phrase must be good",
        group=_PHRASES,
        needs="over",
        rare=True,
    )

    @property
    def compared(self) -> str:
        """Whose majority kappa is with: that of the ``"others"``, or the ``"consensus"``."""
        return "others" if self.like is None else "consensus"
