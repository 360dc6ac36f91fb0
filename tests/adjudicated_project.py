"""Make a project that two annotators have done, for the tests of adjudication in the browser."""

from annotation import Tab, cell, done, sent

from alignkit import Corpus, SentencePair
from alignkit.annotate.assignment import assign_pairs
from alignkit.annotate.creation import create_project
from alignkit.annotate.project.store import Store

_SOURCE = "they discussed the aspects in detail and reached an extensive agreement ."
_TARGET = "both parties discussed the specific issues and arrived at a general consensus ."
SOURCE, TARGET = (text.split() for text in (_SOURCE, _TARGET))
_SHARED = {(0, 1): 1, (1, 2): 2, (2, 3): 2, (3, 5): 2}
_SHARED |= {(6, 6): 2, (7, 7): 2, (10, 11): 2, (11, 12): 2}
ANNA = {**_SHARED, (0, 0): 1, (4, 4): 1, (5, 4): 1, (7, 8): 2, (8, 9): 2, (9, 10): 1}
BEN = {**_SHARED, (2, 9): 1, (4, 4): 2, (5, 4): 2, (7, 8): 1, (8, 9): 1, (9, 10): 2}
"""The links of the pair on the picture of the page."""
_REMARKS = {
    "anna": [
        sent("comment", key="7-8", before="", after="“arrived at” is one verb."),
        sent("judge", label=["", "paraphrase"]),
    ],
    "ben": [sent("judge", label=["", "partial"])],
}


def draw(store, k, name, links, *, shown):
    tab = Tab(store, k, name)
    tab.send(sent("open", rev=1, suggestions=shown))
    tab.send(*(cell(*place, 0, value) for place, value in links.items()))
    return tab


def two_annotators(path, pairs=3):
    texts = [(SOURCE, TARGET), (["one", "two"], ["eins", "zwei"]), (["a", "b"], ["אחת", "שתיים"])]
    corpus = Corpus(
        SentencePair(f"p{k:02}", *texts[(k - 1) % 3], attributes={"context": "A talk."})
        for k in range(1, pairs + 1)
    )
    create_project(path, corpus, name="talks")
    with Store.open(path) as store:
        assign_pairs(store, ["anna", "ben"], control=0)
        for k in range(1, pairs + 1):
            for name, links in (("anna", ANNA), ("ben", BEN)):
                other = {(0, 0): 2, (1, 1): 2}
                if k % 3 == 0 and name == "ben":
                    other = {(0, 0): 2, (1, 1): 1, (1, 0): 1}
                tab = draw(store, k, name, links if k % 3 == 1 else other, shown=name == "anna")
                tab.send(*(_REMARKS[name] if k == 1 else ()), done())
