"""Profile by phenomenon the judgments that systems give, by accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from alignkit.arguments import check_arguments
from alignkit.brief import how_many
from alignkit.corpus import Corpus, group_texts, values_of
from alignkit.errors import OptionError
from alignkit.labels import get_view
from alignkit.labels.label_matrix import judged_part, judgments_of
from alignkit.profiles.phenomena import Profile
from alignkit.profiles.systems import profile_rows
from alignkit.scoring.bootstrap import SEED
from alignkit.scoring.measures import Counts, ratio


def profile_labels(
    corpus: Corpus,
    systems: Sequence[str],
    reference: str,
    *,
    scheme: str,
    view: str = "full",
    lenient: bool = False,
    rewrites: bool = False,
    by: str = "phenomena",
    split: str | None = ",",
    like: str | None = None,
    trials: int = 10_000,
    resamples: int = 1000,
    confidence: float = 0.95,
    alpha: float = 0.05,
    seed: int = SEED,
) -> Profile:
    """Profile systems by how often they judge pairs as a reference does, phenomenon by phenomenon.

    Two systems are compared by McNemar's exact test.

    Parameters
    ----------
    corpus, systems, reference
        Pairs count that all these annotators judged.
    scheme, view, lenient, rewrites
        See `score_labels`; and `profile_rows` for the options of the tests.
    by, split
        The attribute that names phenomena, and what stands between several in it.

    Raises
    ------
    UnknownNameError
        If one of them judged no pair, or there is no such scheme, view or attribute.
    FormatError
        If a text is no judgment of the scheme.
    OptionError
        If nobody is named, or one twice, or no pair was judged by all.
    """
    check_arguments(profile_labels, locals())
    names = [reference, *systems]
    if not systems or len(set(names)) < len(names):
        raise OptionError("name one system or more, each once, and the reference apart from them")
    corpus, left_out, told = judged_part(corpus, rewrites=rewrites)
    matrix = judgments_of(corpus, names, get_view(scheme, view), lenient=lenient)
    judged: NDArray[np.bool_] = np.all(matrix.values >= 0, axis=0)
    if not judged.any():
        raise OptionError(f"no pair was judged by all of {', '.join(names)}, and is scored")
    kept = Corpus(pair for pair, known in zip(corpus, judged.tolist(), strict=True) if known)
    groups = [values_of(text, split) for text in group_texts(kept, by, [reference])]
    values = matrix.values[:, judged]
    right = np.equal(values[1:], values[0])
    found = profile_rows(
        dict(zip(systems, np.stack([right, np.ones_like(right)], axis=2).astype(np.int64),
                 strict=True)),
        groups, _accuracy,
        "accuracy", by=by, paired="mcnemar", like=like, trials=trials, resamples=resamples,
        confidence=confidence, alpha=alpha, seed=seed,
    )  # fmt: skip
    notes = (*told, *found.notes)
    if left := len(corpus) - len(kept):
        notes = (
            f"{how_many(left, 'pair')} of {len(corpus)} left out, which not all judged, or the "
            "view does not score",
            *notes,
        )
    signature = f"scheme:{scheme}|view:{view}|reference:{reference}|{found.signature}"
    return replace(found, notes=notes, signature=signature, rewrites_left_out=left_out)


def _accuracy(sums: Counts) -> dict[str, NDArray[np.float64]]:
    right, every = np.asarray(sums, np.float64).T
    return {"accuracy": ratio(right, every)}
