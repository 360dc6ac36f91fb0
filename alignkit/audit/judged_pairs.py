"""Draw an audit of judged pairs: pairs that annotators rewrote as paraphrases, and plain pairs.

A rewrite counts as a paraphrase because its author says so. Judges see rewrites and plain pairs,
mixed, without knowing which is which, or the earlier judgments.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from alignkit._support.arguments import check_arguments, check_known, naming_keywords, words
from alignkit._support.values import FrozenMap
from alignkit.audit.audit import Audit, Item, Origin, Scale, assigned, draw, item_ids
from alignkit.audit.sheets import check_judges
from alignkit.corpora.labelled import judges_of
from alignkit.errors import FormatError, MissingTextError, OptionError
from alignkit.model.annotation import PERIODS
from alignkit.model.corpus import JUDGMENT, Corpus, group_text, group_texts
from alignkit.model.labels import SCHEMES, View, get_scheme, get_view
from alignkit.model.sentence_pair import REWRITE_OF, SentencePair, origin_of
from alignkit.scoring.settings import Signature
from alignkit.stats.defaults import SEED
from alignkit.stats.resampling import check_seed

PLAIN = {
    "upheld": "those whose judgments in the corpus would uphold them: paraphrases",
    "all": "all that are not rewrites, judged or not",
}
"""The choices of plain pairs to draw."""

_COLUMNS = ("source", "target")


@dataclass(frozen=True)
class _Question:
    """The question for judges, and the annotators with judgments that count."""

    view: View
    upheld: tuple[str, ...]
    plain: str
    annotators: tuple[str, ...]


@naming_keywords
def draw_pairs(
    corpus: Corpus,
    *,
    n: int,
    mix: float = 0.5,
    seed: int = SEED,
    judges: Sequence[str] = ("A", "B"),
    each: int = 2,
    scheme: str | None = None,
    view: str | None = None,
    upheld: Sequence[str] | None = None,
    plain: str = "upheld",
    annotators: Sequence[str] | None = None,
    by: str | None = None,
) -> Audit:
    """Draw rewrites and plain pairs for blind judging.

    Every rewrite is equally likely to be drawn, and so is every plain pair. If there are too few of
    one kind, more of the other are drawn. Nobody gets an item that they judged or wrote in the
    corpus. Judges who aligned it, or who know its original or another rewrite of the original, only
    get it if there is no other judge.

    Parameters
    ----------
    corpus : The pairs, rewrites among them, and their judgments.
    n, seed : The number of items to draw (all, if there are fewer), and the seed of all draws.
    judges, each : The judges, named as in the corpus if they are annotators; the number of judges
        per item.
    mix : The share of rewrites among the items, 0 to 1.
    scheme : The scheme of the judgments; None: the scheme that fits all judgments of the corpus.
    view : The view that judges choose from, see `alignkit.model.labels.get_view`; None:
        ``"binary"``, or the full scheme if it has no such view.
    upheld : The labels of the view that uphold a pair; None: those that only mean paraphrase.
    plain : ``"upheld"``: only plain pairs upheld by all who judged them; ``"all"``: every plain
        pair.
    annotators : The annotators with judgments that count for `plain`; None: all who judged.
    by : Spread both samples over the values of this attribute of the pairs, or of ``"day"``,
        ``"week"``, ``"month"``, ``"judgment"``.

    Raises
    ------
    OptionError : If a number is out of range, there are no such pairs, the judgments do not show
        the scheme, or too few judges are left for an item.
    UnknownNameError : If an option has an unknown value, or no pair has the attribute.

    References
    ----------
    Kanerva et al. 2023, Natural Language Engineering, let others judge rewrites.

    Examples
    --------
    >>> from alignkit.model.annotation import Annotation
    >>> said = {"ann": Annotation(None, judgment="4")}
    >>> corpus = Corpus([SentencePair("1", ("a", "b"), ("c",), said),
    ...                  SentencePair("1/r1", ("a",), ("c",), said, {"rewrite_of": "1"})])
    >>> audit = draw_pairs(corpus, n=2, judges=["ben", "eva"])
    >>> audit, audit.scale.words(), audit.upheld
    (Audit(pairs, 2 items: 1 rewrite, 1 plain), '0 (no paraphrase), 1 (paraphrase)', ('1',))
    """
    check_arguments(draw_pairs, locals())
    _check(n, seed, mix, judges, each)
    named = None if annotators is None else tuple(words("annotators", annotators))
    question = _question(corpus, scheme, view, upheld, plain, named)
    pools = _pools(corpus, question, mix)
    if by is not None:
        group_texts(list(chain.from_iterable(pools.values())), by)  # refuses an unknown attribute

    def group(pair: SentencePair) -> str:
        return "" if by is None else group_text(pair, by) or ""

    rng = np.random.default_rng(seed)
    drawn = draw(pools, _counts(n, mix, pools), group, rng)
    barred, familiar = _known(corpus, [pair for _, pair in drawn])
    drawn_origins = [origin for origin, _ in drawn]
    given = assigned(judges, each, barred, familiar, drawn_origins, rng)
    chosen = question.view
    signature = f"audit:pairs|mix:{mix:g}|each:{each}|scheme:{chosen.scheme.name}"
    signature += f"|view:{chosen.name}|upheld:{'+'.join(question.upheld)}|plain:{plain}"
    if by is not None:
        signature += f"|by:{by}"
    signature += f"|{Signature(seed=seed)}"
    facts = [_facts(pair) for _, pair in drawn]
    ids = item_ids(facts, signature)
    items = []
    for id, (origin, pair), fact, item_judges in zip(ids, drawn, facts, given, strict=True):
        source, target = pair.words
        cells = (" ".join(source), " ".join(target))
        items.append(Item(id, origin, cells, FrozenMap(fact), item_judges))
    about = {"rewrite": "pairs that annotators rewrote", "plain": "pairs that nobody rewrote"}
    if plain == "upheld":
        about["plain"] += f", judged {' or '.join(question.upheld)} in the corpus"
    origins = {}
    for name, pool in pools.items():
        origins[name] = Origin(about[name], len(pool), drawn_origins.count(name))
    return Audit(
        kind="pairs",
        items=tuple(items),
        columns=_COLUMNS,
        marked=(),
        scale=_scale(chosen),
        origins=FrozenMap(origins),
        rates=FrozenMap(),
        seed=seed,
        signature=signature,
        judges=tuple(judges),
        upheld=question.upheld,
        by=by or "",
    )


def _check(n: int, seed: int, mix: float, judges: Sequence[str], each: int) -> None:
    """Check the options of `draw_pairs` that do not depend on the corpus."""
    check_judges(judges)
    check_seed(seed)
    if n < 1:
        raise OptionError(f"`n` is {n}; it must be at least 1")
    if not 0 <= mix <= 1:
        raise OptionError(f"`mix` is {mix}; give the share of rewrites, between 0 and 1")
    if each < 1:
        raise OptionError(f"`each` is {each}; it must be at least 1")
    if each > len(judges):
        raise OptionError(
            f"each pair needs {each} judges, but there are {len(judges)}; name more judges"
        )


def fitting_scheme(texts: Iterable[str]) -> str:
    """Return the name of the scheme that fits all judgments."""
    given = dict.fromkeys(texts)
    if not given:
        return "binary"
    fits = [name for name, scheme in SCHEMES.items() if given.keys() <= set(scheme.judgments)]
    if not fits:
        sample = ", ".join(repr(text[:20]) for text in list(given)[:5])
        raise OptionError(
            f"no scheme fits all judgments of the corpus ({sample}): name one with `scheme`"
        )
    binary = [name for name in fits if "binary" in SCHEMES[name].views]
    if not binary:  # only schemes of ranks, which do not say what a paraphrase is
        return fits[0]
    meanings = [list(map(get_view(name, "binary").of, given)) for name in binary]
    if any(meaning != meanings[0] for meaning in meanings):
        raise OptionError(
            f"the judgments of the corpus ({', '.join(sorted(given))}) fit several schemes: "
            f"name one with `scheme`: {', '.join(binary)}"
        )
    return binary[0]


def _question(
    corpus: Corpus,
    scheme: str | None,
    view: str | None,
    upheld: Sequence[str] | None,
    plain: str,
    annotators: tuple[str, ...] | None,
) -> _Question:
    """Check the options of the question, and fill in those that are None."""
    check_known("choice of plain pairs", plain, PLAIN)
    known = judges_of(corpus)
    for name in annotators or ():
        check_known("annotator who judged pairs", name, known)
    if scheme is None:
        judgments = []
        for pair in corpus:
            judgments += [said.judgment for said in pair.annotations.values() if said.judgment]
        scheme = fitting_scheme(judgments)
    known_scheme = get_scheme(scheme)
    if view is None:
        view = "binary" if "binary" in known_scheme.views else "full"
    chosen = get_view(known_scheme, view)
    scheme = known_scheme.name
    labels = _paraphrases(chosen) if upheld is None else tuple(words("upheld", upheld))
    for label in labels:
        check_known(f"label of {scheme}, {view}", label, chosen.labels)
    if not labels:
        raise OptionError(
            f"it is not known which labels of {scheme}, {view}, uphold a pair: name them "
            f"with `upheld`: {', '.join(chosen.labels)}"
        )
    return _Question(chosen, labels, plain, known if annotators is None else annotators)


def _paraphrases(view: View) -> tuple[str, ...]:
    """Return the labels of a view that only mean paraphrase; none if the scheme does not say."""
    if "binary" not in view.scheme.views:
        return ()
    binary = get_view(view.scheme, "binary")
    others = {label for text, label in view.rows.items() if binary.rows[text] != "1"}
    return tuple(label for label in view.labels if label not in others)


def _scale(view: View) -> Scale:
    """Return the labels of a view as judgments, with their names unless these are labels too."""
    if view.name == "binary":
        return Scale(view.labels, ("no paraphrase", "paraphrase"))
    known = {label.casefold() for label in view.labels}
    names = {}
    for label in view.scheme.labels:
        name = label.name.removeprefix(label.value).strip()
        if name.casefold() not in known:
            names[label.value] = name
    return Scale(view.labels, tuple(names.get(label, "") for label in view.labels))


def _pools(corpus: Corpus, question: _Question, mix: float) -> dict[str, list[SentencePair]]:
    """Return the pairs to draw from by origin, after checking that there are some, with text."""
    pools: dict[str, list[SentencePair]] = {"rewrite": [], "plain": []}
    for pair in corpus:
        if origin_of(pair) is not None:
            pools["rewrite"].append(pair)
        elif question.plain == "all" or _holds(pair, question):
            pools["plain"].append(pair)
    if mix > 0 and not pools["rewrite"]:
        raise OptionError(
            f"no pair is a rewrite: none has the attribute {REWRITE_OF}; `mix=0` draws only "
            "plain pairs"
        )
    if mix < 1 and not pools["plain"]:
        raise OptionError(
            "no plain pair is upheld by its judgments; `plain=all` draws any plain pairs, "
            "`mix=1` only rewrites"
        )
    used = []
    if mix > 0:
        used += pools["rewrite"]
    if mix < 1:
        used += pools["plain"]
    for pair in used:
        if not pair.has_text:
            raise MissingTextError(f"pair {pair.id!r}: judges need its words; add them")
    return pools


def _holds(pair: SentencePair, question: _Question) -> bool:
    """Return whether annotators judged a pair, and all of them upheld it."""
    labels: list[str | None] = []
    for name in question.annotators:
        annotation = pair.annotations.get(name)
        if annotation is not None and annotation.judgment:
            try:
                labels.append(question.view.of(annotation.judgment))
            except FormatError as error:
                raise FormatError(
                    f"pair {pair.id[:40]!r}, annotator {name[:40]!r}: {error}"
                ) from None
    return bool(labels) and all(label in question.upheld for label in labels)


def _counts(n: int, mix: float, pools: dict[str, list[SentencePair]]) -> dict[str, int]:
    """Return how many to draw from each origin; if one has too few, the other gives more."""
    sizes = {name: len(pool) for name, pool in pools.items()}
    if mix == 1:
        sizes["plain"] = 0
    elif mix == 0:
        sizes["rewrite"] = 0
    rewrites = min(max(round(n * mix), n - sizes["plain"]), sizes["rewrite"])
    return {"rewrite": rewrites, "plain": min(n - rewrites, sizes["plain"])}


def _known(corpus: Corpus, drawn: Sequence[SentencePair]) -> tuple[list[set[str]], list[set[str]]]:
    """Return for each drawn pair who judged or wrote it, and who knows it or a related pair."""
    families: dict[str, set[str]] = {}  # by the id of an original: who judged it or a rewrite of it
    for pair in corpus:
        family = families.setdefault(origin_of(pair) or pair.id, set())
        family.update(name for name, said in pair.annotations.items() if said.judgment)
    barred = []
    familiar = []
    for pair in drawn:
        writers = pair.attributes.get("rewritten_by", "").split(",")
        barred.append({*filter(None, writers), *judges_of([pair])})
        family = families.get(origin_of(pair) or pair.id, set())
        familiar.append(set(pair.annotations) | family)
    return barred, familiar


def _facts(pair: SentencePair) -> dict[str, object]:
    """Return what the key says of a pair: its id, its original, its judgments, its attributes."""
    facts: dict[str, object] = {"pair": pair.id}
    original = origin_of(pair)
    if original is not None:
        facts[REWRITE_OF] = original
    annotations = pair.annotations.items()
    facts["judged"] = {name: said.judgment for name, said in annotations if said.judgment}
    groups = {name: group_text(pair, name) for name in (*PERIODS, JUDGMENT)}
    present = {name: text for name, text in groups.items() if text}
    facts["attributes"] = {**present, **pair.attributes}
    return facts
