"""Calls that type checkers accept, and calls that they refuse: those end with the word wrong.

A test checks that mypy and pyright find exactly the wrong ones. It runs none of them.
"""

import alignkit as ak
from alignkit.align import Settings

ANNA = ["yes", "no", "yes"]
BEN = ["yes", "yes", "yes"]
LINKS = [{(0, 0), (1, 1)}]


def right(corpus: ak.Corpus) -> list[float]:
    """Return the figures of ten right calls."""
    aligner = ak.Aligner.train([("la maison", "the house")], model="hmm", settings=Settings(hmm=2))
    agreement = ak.agree(corpus, annotators=["anna", "ben"], chance="kupper-hafner", samples=500)
    return [
        ak.score(corpus, "eflomal", "gold").links.f1,
        ak.score(LINKS, LINKS, level="phrases", max_length=4).phrases["sure"].f1,
        ak.aer("system.align", "gold.align", hyp_base=1, links="all-sure"),
        agreement.pairing("anna", "ben").main("words.sure").C,
        ak.kappa(corpus, "anna", "ben", links="sure", universe="judged"),
        ak.alpha([{"a", "b"}, None], [{"a"}, {"b"}], distance="masi"),
        ak.fleiss(ANNA, BEN, ANNA),
        ak.C(ANNA, BEN, choices=2, normalizer="max"),
        max(aligner.align("la", "the", probs=True, threshold=0.6).values()),
    ]


def wrong(corpus: ak.Corpus) -> None:
    """Make ten wrong calls."""
    ak.score(corpus, "eflomal", "gold", levl="links")  # wrong
    print(ak.score(LINKS, LINKS, level="phrases").links.f1)  # wrong
    ak.aer("system.align", "gold.align", hyp_base="1")  # wrong
    ak.agree(corpus, chance="edti")  # wrong
    ak.kappa(corpus, "anna", "ben", links="sur")  # wrong
    ak.alpha(ANNA, BEN, distnace="masi")  # wrong
    ak.fleiss(ANNA, BEN, links="sure")  # wrong
    ak.C(ANNA, BEN)  # wrong
    ak.Aligner.train([("la maison", "the house")], model="hm")  # wrong
    ak.read_corpus("system.align", source=["la maison"])  # wrong
