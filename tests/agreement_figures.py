"""Gather every figure of an agreement under one flat name each, for `test_agreement_goldens`.

The names do not depend on how alignkit computes or holds the figures: whoever changes that changes
`figures` and nothing else of the goldens.
"""

from collections.abc import Mapping
from typing import Union

from alignkit.agreement import LEVELS, agree
from alignkit.agreement.disagreements import disagreements
from alignkit.agreement.figures import alpha_level, split
from alignkit.scoring.link_classes import FunctionWords

Number = Union[int, float]
Row = tuple[str, str, str, Mapping[str, Number]]
"""Who, in which section, at which level: the statistics."""
SEED = 12345
_WORDS = frozenset(("the", "a", "an", "of", "to", "in", "is", "was", "and", "that"))
FUNCTION_WORDS = FunctionWords(_WORDS, _WORDS)
RATIOS = ("precision", "recall", "f1")
FACES = ("pi", "pi0", "C")
COUNTS = ("hypothesis", "hypothesis_found", "reference", "reference_found")


def figures(corpus, annotators=None, *, by=None, include_identical=False, initial=None,
            adjudicated=None, systems=None, chance_alone=False, different=False, seed=SEED,
            **chance):  # fmt: skip
    """Return every figure of ``alignkit agree``, named ``pairing | section | level | statistic``.

    With `chance_alone` without what no option of chance can change; with `different` there are
    kappa, AC1 and alpha over words that are not identical, too. C is computed where an option of
    it is given.
    """
    computed = bool(chance) or initial is not None or adjudicated is not None
    if not computed:
        chance["bootstrap"] = "none"
    if chance.get("bootstrap") == "none":
        chance.pop("resamples", None)
    if initial is None and chance.get("missing_initial") != "empty":
        chance.pop("samples", None)
    found = agree(corpus, annotators, initial=initial, adjudicated=adjudicated, systems=systems,
                  by=by, seed=seed, ignore_identical=not include_identical, **chance)  # fmt: skip
    rows = [*_beyond_chance(found), *_edits(found)] if computed else []
    if not chance_alone:
        rows += [*_overlaps(found, computed), *_report(found), *_disagreements(found)]
    if different:
        rows += _different(found)
    return _flat(rows)


def _flat(rows):
    flat = {}
    for who, section, level, statistics in rows:
        for name, value in statistics.items():
            key = f"{who} | {section} | {level} | {name}"
            # an annotator's edits come with each pairing, and must be the same in all
            assert repr(flat.setdefault(key, value)) == repr(value), key
    return flat


def _who(pairing):
    second = "others" if pairing.kind == "consensus" else pairing.second
    kind = "" if pairing.kind == "annotators" else f"{pairing.kind}: "
    return f"{kind}{pairing.first} ~ {second}"


def _sections(found):
    return [(place, name or "(none)") for place, name in enumerate(found.sections)]


def _left_out(reasons):
    return {f"left out: {reason}": count for reason, count in reasons.items()}


# words and phrases
def _overlaps(found, computed):
    for place, section in _sections(found):
        for pairing in found.pairings:
            overlap = pairing.sections[place].overlap
            if overlap is not None and (computed or pairing.kind != "consensus"):
                yield _who(pairing), section, "pairs", {"overlap": overlap.pairs}
                for level, row in overlap.rows().items():
                    statistics = {name: getattr(row, name) for name in (*RATIOS, *COUNTS)}
                    yield _who(pairing), section, level, statistics
        means = found.together[place].automatic
        yield from _split("automatic: mean", section, means, ("words", "phrases"))


def _split(who, section, values, kinds):
    for name, value in values.items():
        level, statistic = split(name)
        if level.split(".")[0] in kinds and statistic not in FACES:
            yield who, section, level, {statistic: value}


# kappa, AC1, alpha, Fleiss' kappa
def _report(found):
    for place, name in _sections(found):
        pairings = [one for one in found.of("annotators")
                    if one.sections[place].overlap is not None]  # fmt: skip
        for pairing in pairings:
            part = pairing.sections[place]
            yield _who(pairing), name, "pairs", {"annotated by both": part.pairs}
            if part.cells is not None:
                yield from _cells(_who(pairing), name, "", part.cells)
            yield from _alphas(_who(pairing), name, part.alpha, different=False)
        together = found.together[place]
        if len(pairings) > 1:
            kinds = ("words", "phrases", "cells", "alpha")
            yield from _split("mean", name, together.mean, kinds)
        yield from _joint(together, name)


def _cells(who, section, before, cells):
    for level in ("all", "possible", "sure"):
        table = getattr(cells, level)
        statistics = {name: getattr(table, name) for name in ("items", "observed", "kappa", "ac1")}
        for category, share in zip(table.categories, table.prevalence, strict=True):
            statistics[f"prevalence {category}"] = share
        for first, row in zip(table.categories, table.table, strict=True):
            for second, count in zip(table.categories, row, strict=True):
                statistics[f"{first} ~ {second}"] = count
        yield who, section, f"{before}cells.{level}", statistics


def _alphas(who, section, alphas, *, different):
    parts = ("alpha", "observed", "expected", "units", "values", "distinct")
    for name, alpha in alphas.items():
        if name.startswith("different.") == different:
            statistics = {part: getattr(alpha, part) for part in parts}
            yield who, section, alpha_level(name), statistics


def _joint(together, name):
    counts = {"all": together.pairs, "annotated by two": together.used}
    yield "joint", name, "pairs", counts | _left_out(together.left_out)
    yield from _alphas("joint", name, together.alpha, different=False)
    fleiss = together.fleiss
    if fleiss is not None:
        parts = ("kappa", "observed", "expected", "items", "annotators", "pairs")
        statistics = {part: getattr(fleiss, part) for part in parts}
        statistics |= {f"share {one}": share for one, share in fleiss.categories.items()}
        statistics |= {f"{n} agree": count for n, count in fleiss.agreeing.items()}
        yield "joint", name, "fleiss", statistics


def _different(found):
    for pairing in found.of("annotators"):
        part = pairing.sections[0]
        assert part.different is not None
        yield from _cells(_who(pairing), "all", "different.", part.different)
        yield from _alphas(_who(pairing), "all", part.alpha, different=True)
    if len(found.annotators) > 2:
        yield from _alphas("joint", "all", found.together[0].alpha, different=True)


# agreement beyond chance, by the main model
def _beyond_chance(found):
    for place, section in _sections(found):
        for level in LEVELS:
            for pairing in found.pairings:
                result = pairing.main(level)
                part = result.groups[place - 1] if place else result
                statistics = _corrected(part)
                if not place:
                    statistics |= _whole(result)
                    statistics["one_sided"] = result.one_sided
                yield _who(pairing), section, level, statistics
            together = found.together[place]
            for who, means in (("mean", together.mean), ("automatic: mean", together.automatic)):
                if who != "mean" or len(found.of("annotators")) > 1:
                    names = [name for name in FACES if f"{level}.{name}" in means]
                    yield who, section, level, {name: means[f"{level}.{name}"] for name in names}


def _corrected(part):
    names = ("pi", "pi0", "C", "pi0_error", "C_error", "pairs", "used")
    statistics = {name: getattr(part, name) for name in names} | _left_out(part.left_out)
    if part.interval is not None:
        for name in ("low", "high", "standard_error", "undefined"):
            statistics[f"interval {name}"] = getattr(part.interval, name)
    return statistics


def _whole(result):
    used = [one for one in result.sentences if not one.left_out]
    statistics = {name: sum(getattr(one, name) for one in used)
                  for name in ("first", "second", "common")}  # fmt: skip
    # weighed by their places: no two pairs can change theirs
    for name in ("observed", "expected", "expected_error"):
        statistics[f"{name} by place"] = sum(one.place * getattr(one, name) for one in used)
    statistics |= {"samples": result.samples, "redrawn": result.redrawn}
    if len(result.distribution):
        for name in ("mean", "min", "max"):
            statistics[f"distribution {name}"] = float(getattr(result.distribution, name)())
    return statistics


def _edits(found):
    for pairing in found.pairings:
        for level in LEVELS:
            for name, models in pairing.main(level).models.items():
                who = f"others of {pairing.first}" if name.startswith("majority ") else name
                for part, model in models.items():
                    names = ("a", "b", "log_likelihood", "pairs")
                    statistics = {name: getattr(model, name) for name in names}
                    for column in ("edits", "trials"):
                        statistics[column] = int(getattr(model.data, column).sum())
                    yield who, "all", f"edits.{LEVELS[level][1]}.{part}", statistics


# what the page tells besides
def _disagreements(found):
    corpus = found.corpus
    for pairing in found.of("annotators"):
        if not all(pair.has_text for pair in corpus.annotated_by(pairing.first, pairing.second)):
            continue
        result = disagreements(corpus, pairing.first, pairing.second, function_words=FUNCTION_WORDS)
        for kind, counts in {"total": result.total, **result.kinds}.items():
            yield _who(pairing), "all", f"disagreements.{kind}", vars(counts)
        differing = [one for one in result.pairs if one.outcome.alone or one.outcome.unsure]
        more = {"word pairs": len(result.words), "sentence pairs": len(differing)}
        yield _who(pairing), "all", "disagreements.total", more
