"""Decisions are events of the gold standard: cells and whys, checked, corrected, rebuilt."""

import json

import pytest
from annotation import Tab, ask, cells_of, project, sent, small_corpus
from refusals import refuses

from alignkit import SentencePair
from alignkit.annotate.importing import import_pairs
from alignkit.annotate.project.appending import append_sent
from alignkit.annotate.project.events import Request, Why, read_why, write_why
from alignkit.annotate.project.names import ADJUDICATOR, BadEvent, ProjectError, Visitor
from alignkit.annotate.project.rebuilding import build_project
from alignkit.annotate.project.replay import replay
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.sessions import admit, gold_status
from alignkit.io.format import EVERYTHING

pytestmark = pytest.mark.usefixtures("no_collection")  # some texts are nested deeply

AGREED = '{"why":"agreed","votes":{"anna":[2,3],"ben":[2,1]}}'
VOTE = '{"why":"vote","as":"ben","votes":{"anna":[2,3],"ben":[0,1]},"note":"too free"}'
OWN = '{"why":"own","votes":{"anna":[1,3],"ben":[0,1]}}'


def send(store, *events):
    with store.database.writing() as conn:
        return append_sent(conn, 1, "gold", Request(0, 1, list(events)), actor="carla")


@pytest.fixture
def small(tmp_path):
    store = project(tmp_path, small_corpus(2, {}))
    admit(store, Visitor("carla", ADJUDICATOR))
    return store


def whys_of(store, k=1):
    return {(i, j): why for i, j, why in store.pair(k, "gold").state.whys or ()}


def decide(*rows, cells=(), **more):
    return sent("decide", cells=[list(c) for c in cells], whys=[list(row) for row in rows], **more)


def test_whys_are_stored_in_one_form(small):
    spaced = json.dumps({"votes": {"ben": [2, 1], "anna": [2, 3]}, "why": "agreed"}, indent=1)
    send(small, decide((0, 0, None, spaced), cells=[(0, 0, 0, 2)]))
    assert whys_of(small) == {(0, 0): AGREED}
    send(small, decide((0, 0, spaced, None), cells=[(0, 0, 2, 0)]))
    assert whys_of(small) == {}
    found = read_why(VOTE)
    assert found == Why("vote", "ben", {"anna": (2, 3), "ben": (0, 1)}, "too free")
    assert write_why(found) == VOTE
    assert write_why(read_why('{"note":"","votes":{},"as":"","why":"own"}')) == '{"why":"own"}'


def test_a_why_that_is_none_is_refused(small):
    texts = '{"why":"own","votes":{"anna":[3,1]}}', '{"why":"own","votes":{"anna":[1,-1]}}'
    texts += "", "{}", '"agreed"', '{"why":"because"}', '{"why":"own","more":1}', "[" * 9999
    texts += '{"why":"own","note":"\\u0007"}', '{"why":"vote","as":"' + "x" * 201 + '"}'
    for text in texts:
        refuses(BadEvent, None, send, small, decide((0, 0, None, text)))
    assert small.history(1, "gold") == []


def test_only_the_gold_standard_holds_decisions(small):
    with pytest.raises(BadEvent, match="only the gold standard"):
        Tab(small, 1, "anna").send(decide((0, 0, None, OWN)))
    refuses(BadEvent, None, send, small, decide((4, 0, None, OWN)))


def test_corrected_words_carry_decisions_along_and_the_log_rebuilds_them(tmp_path, small):
    send(small, decide((0, 0, None, AGREED), (2, 2, None, VOTE), cells=[(0, 0, 0, 2)]))
    words = ["new", "a", "b", "d"], ["w", "x", "y", "z"]
    import_pairs(small, [SentencePair("p1", *words)], holds=EVERYTHING)
    assert cells_of(small, 1, "gold") == {(1, 0): 2}
    assert whys_of(small) == {(1, 0): AGREED}  # c is gone, and what was decided of it
    assert not replay(small).differences
    again = str(tmp_path / "again")
    build_project(again, small.log())
    with Store.open(again) as rebuilt:
        assert whys_of(rebuilt) == {(1, 0): AGREED}


def test_the_name_of_the_gold_standard_is_nobody_else_s(tmp_path, small):
    assert ask(small, gold_status) == "free"
    refuses(ProjectError, "name of the gold", admit, small, Visitor("gold", ADJUDICATOR))
    send(small, sent("open", rev=1, suggestions=False))
    assert ask(small, gold_status) == "begun"
    refuses(ProjectError, "annotate under another", admit, small, Visitor("gold"))
    refuses(ProjectError, "leave out --gold", admit, small, Visitor("carla", ADJUDICATOR), "truth")
    brought = project(tmp_path, name="brought")  # with annotations by gold
    assert ask(brought, gold_status) == "taken"
    refuses(ProjectError, "by --gold NAME", admit, brought, Visitor("carla", ADJUDICATOR))
    admit(brought, Visitor("carla", ADJUDICATOR), "truth")
    assert (brought.project().gold, ask(brought, gold_status)) == ("truth", "free")
    admit(brought, Visitor("carla", ADJUDICATOR))
    admit(brought, Visitor("gold"))
