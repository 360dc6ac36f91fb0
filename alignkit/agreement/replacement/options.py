"""The options of the question whether a system may replace an annotator."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal

from alignkit._support.options import option
from alignkit.agreement.options import DRAWS, Annotators, Grouped
from alignkit.errors import OptionError
from alignkit.model.labels import OWN, SCHEMES, Scheme, View, get_view, open_scheme
from alignkit.stats.defaults import SEED

_TEST = "test"
_JUDGMENTS = "judgments of pairs"

Measure = Literal["links", "sure", "phrases", "judgments"]


@dataclass(frozen=True)
class ReplaceOptions(Grouped, Annotators):
    """The options of `alignkit.replaceable`.

    `replaceable` takes the fields as keywords.

    Examples
    --------
    >>> import alignkit
    >>> corpus = alignkit.read_corpus("samples/paraphrases.jsonl")
    >>> alignkit.replaceable(corpus, "eflomal", epsilon=0.2).options.epsilon
    0.2
    """

    _: KW_ONLY
    measure: Measure = option(
        "links",
        "what is compared in each pair: F1 of all links, of the sure ones, or of phrase pairs; or "
        "judgments, which are equal or not (ordered ones: by their distance)",
        group=_TEST,
    )
    epsilon: float = option(
        0.1,
        "by how much the system may be at least as good less often than the annotator, because it "
        "costs less: 0.2 in place of experts, 0.15 of trained annotators, 0.1 of crowds",
        metavar="E",
        group=_TEST,
        above=0,
        below=1,
    )
    keep_together: str | None = option(
        None,
        "attribute of pairs that depend on each other, such as the document: the test is over its "
        "values, each by the mean of its pairs (default: over pairs)",
        metavar="ATTRIBUTE",
        group=_TEST,
    )
    ignore_identical: bool = option(
        False, "leave out links and phrase pairs of equal words", group=_TEST, rare=True
    )
    exact_case: bool = option(
        False, "distinguish upper and lower case in words", group=_TEST, rare=True
    )
    scheme: Scheme | str | None = option(
        None,
        "scheme of the judgments, for --measure judgments (default: that of the format): "
        f"{', '.join(SCHEMES)}; {OWN}",
        metavar="S",
        group=_JUDGMENTS,
        rare=True,
    )
    view: str = option(
        "full",
        "view of the scheme: how to merge its labels into fewer labels",
        metavar="V",
        group=_JUDGMENTS,
        rare=True,
    )
    lenient_labels: bool = option(
        False,
        "leave out and count labels that are not in the scheme (default: an error)",
        python=True,  # the command has it among the options of reading
    )
    samples: int = option(
        1000,
        "samples of pairs for each number of pairs, to find out how many pairs are needed",
        metavar="N",
        group=DRAWS,
        least=100,
        rare=True,
    )
    seed: int = option(
        SEED, "seed of all random draws", metavar="N", group=DRAWS, least=0, rare=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.scheme, str):
            object.__setattr__(self, "scheme", open_scheme(self.scheme))
        if self.measure != "judgments":
            if self.view != "full":
                raise OptionError("`view` is about judgments: use `measure='judgments'` too")
            return
        if self.ignore_identical:
            raise OptionError(
                "`ignore_identical` is about links, but `measure='judgments'` compares none"
            )

    @property
    def labels(self) -> View:
        """The view of the scheme of judgments.

        Raises an OptionError if there is no scheme.
        """
        if self.scheme is None:
            raise OptionError("judgments need a scheme: name it with `scheme`")
        return get_view(self.scheme, self.view)
