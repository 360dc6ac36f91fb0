"""Gather the figures of an agreement under one flat name each, for `test_agreement_goldens`.

The names do not depend on how alignkit computes or holds the figures: whoever changes that changes
`figures` and nothing else of the goldens.
"""

from alignkit.agreement import LEVELS, agree
from alignkit.agreement.disagreements import disagreements
from alignkit.scoring.link_classes import FunctionWords

SEED = 12345
_WORDS = frozenset(("the", "a", "an", "of", "to", "in", "is", "was", "and", "that"))
FUNCTION_WORDS = FunctionWords(_WORDS, _WORDS)
FACES = ("pi", "pi0", "C", "pi0_error", "C_error", "used", "one_sided")
KINDS = {"joint": "joint", "mean": "mean", "automatic mean": "automatic: mean"}


def figures(
    corpus,
    annotators=None,
    *,
    by=None,
    include_identical=False,
    initial=None,
    adjudicated=None,
    systems=None,
    chance_alone=False,
    different=False,
    seed=SEED,
    **chance,
):
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
    found = agree(
        corpus,
        annotators,
        initial=initial,
        adjudicated=adjudicated,
        systems=systems,
        by=by,
        seed=seed,
        ignore_identical=not include_identical,
        **chance,
    )
    flat = {}
    for figure in found.figures():
        level, statistic = figure.level, figure.statistic
        of_chance = level in LEVELS and statistic in FACES
        plain = level.split(".")[0] in ("words", "phrases") and not of_chance
        wanted = (plain or level[:5] in ("cells", "alpha", "fleis")) and not chance_alone
        wanted |= (computed and of_chance) or (different and level.startswith("different."))
        if wanted and statistic.partition(".")[2] == "" and figure.kind != "edits":
            second = "others" if figure.kind == "consensus" else figure.second
            kind = "" if figure.kind == "annotators" else f"{figure.kind}: "
            who = KINDS.get(figure.kind, f"{kind}{figure.first} ~ {second}")
            at = f"{who} | {figure.section or '(none)'} | {level} | "
            flat[at + statistic] = figure.value
            if statistic == "C":
                flat[f"{at}interval low"], flat[f"{at}interval high"] = figure.low, figure.high
    if computed:
        flat |= dict(_models(found))
    return flat if chance_alone else flat | dict(_disagreements(found))


def _models(found):
    for pairing in found.pairings:
        for level in LEVELS:
            for name, models in pairing.main(level).models.items():
                who = f"others of {pairing.first}" if name.startswith("majority ") else name
                for part, model in models.items():
                    at = f"{who} | all | edits.{LEVELS[level][1]}.{part} | "
                    for field in ("a", "b", "log_likelihood", "pairs"):
                        yield at + field, getattr(model, field)


def _disagreements(found):
    corpus = found.corpus
    for pairing in found.of("annotators"):
        if not all(pair.has_text for pair in corpus.annotated_by(pairing.first, pairing.second)):
            continue
        result = disagreements(corpus, pairing.first, pairing.second, function_words=FUNCTION_WORDS)
        for kind, counts in {"total": result.total, **result.kinds}.items():
            for name, count in vars(counts).items():
                yield f"{pairing.name} | all | disagreements.{kind} | {name}", count
