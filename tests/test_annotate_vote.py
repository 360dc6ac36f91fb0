"""Systems of the corpus vote on suggestions: what is suggested, told, hidden, kept and learned."""

from dataclasses import replace
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
from annotation import Tab, ask, done, project, sent
from annotation_server import served
from command import FRENCH
from refusals import refuses

from alignkit import Alignment, Corpus, SentencePair
from alignkit.annotate.adjudication.voters import voters
from alignkit.annotate.assignment import assign_pairs
from alignkit.annotate.creation import create_project
from alignkit.annotate.dashboard.work import compared
from alignkit.annotate.importing import import_pairs
from alignkit.annotate.learning import TAUGHT, Learner, pairs_of
from alignkit.annotate.project.names import ADJUDICATOR, ProjectError, Visitor, vote_name, vote_of
from alignkit.annotate.server import worker
from alignkit.annotate.server.child import SuggestionPlan
from alignkit.annotate.server.learning_thread import learns
from alignkit.annotate.server.sessions import Sessions, admit
from alignkit.errors import OptionError, UnknownNameError
from alignkit.io.format import EVERYTHING

FILES = {
    "source": "fr.txt",
    "target": "en.txt",
    "gold": "gold.align",
    "giza/1": "eflomal.align",
    "giza/2": "fast_align.align",
}
WISH = SuggestionPlan("vote", vote_name({"neural": [], "giza": []}))
NAME = 'vote {"neural":["neural"],"giza":["giza/1","giza/2"]}'
SYSTEMS = {"neural": ["neural"], "giza": ["giza/1", "giza/2"]}
CHANNELS = ["neural", "giza/1", "giza/2"]


def silent(*_, **__):
    pass


@pytest.fixture(scope="module")
def known():
    """Return pairs with gold links, a soft system that lacks each third, and two directions."""
    lines = {name: (FRENCH / file).read_text("utf-8").splitlines() for name, file in FILES.items()}
    texts, rng, pairs = [lines.pop("source"), lines.pop("target")], np.random.default_rng(0), []
    for k, pair in enumerate(Corpus.from_texts(*texts, **lines), 1):
        weights = {
            link: float(rng.uniform(0.5, 1))
            for link in sorted(pair.alignment("gold"))
            if rng.random() < 0.8
        }
        soft = Alignment(list(weights), weights=weights)
        pairs.append(pair if k % 3 == 0 else pair.with_annotation("neural", soft))
    return pairs


@pytest.fixture(scope="module")
def aligner(known):
    return worker.aligner_of(WISH, [pair.words for pair in known], silent)


@pytest.fixture(scope="module")
def corpus(known):
    return Corpus(pair.without_annotations("gold") for pair in known)


@pytest.fixture
def store(tmp_path, corpus, aligner, monkeypatch):
    """Return a project in which the vote is suggested."""
    monkeypatch.setattr(worker, "aligner_of", lambda *_: aligner)
    monkeypatch.setattr(worker, "_BLOCK", 20)
    with project(tmp_path, corpus) as store:
        plan = WISH.checked(store.project().annotators, "anna")
        store.set_suggestions(plan.name, worker.suggest(store, plan, silent))
        yield store


def test_the_name_of_a_set_holds_who_votes():
    plan = WISH.checked(["zoe", "giza/2", "giza/10", "giza/1", "neural"], "anna")
    assert plan.systems == {"neural": ["neural"], "giza": ["giza/1", "giza/2", "giza/10"]}
    assert (vote_name(SYSTEMS), vote_of(NAME)) == (NAME, SYSTEMS)
    for other in ("trained", "vote", "vote {", 'vote {"a": 3}', "vote []", "", f"x {NAME}"):
        assert vote_of(other) == {}
    refuses(UnknownNameError, r"\(--evidence\) 'giza'", WISH.checked, ["neural", "anna"], "anna")
    for name in ("giza", "giza/2", "neural"):
        refuses(OptionError, f"--annotator {name} are the same", WISH.checked, CHANNELS, name)
    twice = SuggestionPlan("vote", vote_name({"giza": [], "giza/1": []}))
    refuses(OptionError, "have the same name", twice.checked, CHANNELS, "anna")
    assert learns(msgspec.structs.replace(WISH, learning=True))


def test_what_is_suggested_is_the_mean_of_those_who_know_the_pair(store, corpus, aligner):
    assert store.project().suggestions == NAME
    for k, pair in enumerate(corpus, 1):
        shares = [np.minimum(sum(aligner.posteriors(*pair.words)) / 2, 1)]
        for names in SYSTEMS.values():
            if pair.aligned_by(*names):
                said = np.zeros((len(names), *pair.lengths))
                for channel, name in zip(said, names, strict=True):
                    for link in pair.alignment(name):
                        channel[link] = pair.alignment(name).weights.get(link, 1)
                shares.append(said.mean(axis=0))
        share = np.mean(shares, axis=0)
        cells = {(i, j): p for i, j, p, _ in store.pair(k, "anna").suggestions.cells}
        assert set(cells) == {(i, j) for i, j in np.argwhere(share > 0.05).tolist()}
        assert all(p == pytest.approx(share[cell], abs=1e-4) for cell, p in cells.items())


def test_the_page_hears_who_has_each_link_and_adjudicators_do_not(tmp_path, corpus):
    path = str(tmp_path / "work.alignkit")
    create_project(path, corpus[:12])
    with served(path, plan=WISH) as server:
        found = server.client().ask("GET", "/api/pairs/2").json["suggestions"]
        assert (found["set"], found["by"]) == ("vote", "vote of neural, giza and the aligner")
        cells = {(i, j) for i, j, *_ in found["cells"]}
        linked = {name: {tuple(link) for link in links} for name, links in found["links"]}
        assert linked == {name: cells & set(corpus[1].alignment(name)) for name in CHANNELS}
        carla = server.visitor("carla", ADJUDICATOR)
        for place in ("project", "gold", "gold/2", "progress"):
            assert b"neural" not in carla.ask("GET", f"/api/{place}").body
    with served(path, goes_on=True, annotator="ben", hide_systems=True) as server:
        plan = Sessions(server.opening.opened.store.database).plan
        assert (plan.systems, plan.pending, plan.learning) == (SYSTEMS, False, True)
        ben = server.client()
        hidden = ben.ask("GET", "/api/pairs/2").json["suggestions"]
        assert hidden == {**found, "by": "vote of 2 systems and the aligner", "links": []}
        for place in ("project", "queue", "pairs/2", "pairs/3", "pairs/2/history"):
            assert b"neural" not in ben.ask("GET", f"/api/{place}").body


def test_a_link_of_weight_0_is_none_and_corrected_words_take_their_systems_along(tmp_path):
    said = {"s": Alignment([(0, 0), (1, 1)], weights={(1, 1): 0.0})}
    with project(tmp_path, Corpus([SentencePair("1", ["a", "b"], ["x", "y"], said)])) as store:
        cells = [(0, 0, 0.9, 2), (1, 1, 0.4, 2)]
        store.set_suggestions('vote {"s":["s"],"gone":["t"]}', [(1, cells)])
        assert store.pair(1, "anna").suggestions.links == [("s", [(0, 0)])]
        import_pairs(store, [SentencePair("1", ["new", "a", "b"], ["x", "y"])], holds=EVERYTHING)
        assert store.pair(1, "anna").suggestions.links == [("s", [(1, 0)])]
        [pair] = ask(store, pairs_of, [1], {"s": ["s"]})
        assert pair.alignment("s") == Alignment([(1, 0), (2, 1)], weights={(2, 1): 0.0})


def test_systems_are_no_annotators_and_who_sees_no_suggestions_hears_nothing(store, corpus):
    assert (ask(store, voters), list(ask(store, compared).annotators)) == ({}, ["anna"])
    for name in ("giza", "giza/1", "neural"):
        refuses(ProjectError, "annotate under another name", admit, store, Visitor(name))
        refuses(ProjectError, "annotate under another name", assign_pairs, store, [name])
    assign_pairs(store, ["anna", "ben"], control=1.0)
    views = [store.pair(k, name) for k in range(1, len(corpus) + 1) for name in ("anna", "ben")]
    shown = [view.suggestions is not None for view in views]
    assert shown == [b"giza/1" in msgspec.json.encode(view) for view in views]
    assert set(shown) == {True, False}


def f1(rows, known):
    """Return F1 of the suggestions of at least a half."""
    both = [
        ({(i, j) for i, j, p, _ in cells if p >= 0.5}, set(known[k - 1].alignment("gold")))
        for k, cells in rows
    ]
    return 2 * sum(len(a & b) for a, b in both) / sum(len(a) + len(b) for a, b in both)


def test_learning_uses_the_links_of_systems(store, known):
    for k in range(1, 31):
        cells = [[i, j, 0, 1 + sure] for (i, j), sure in known[k - 1].alignment("gold").items()]
        Tab(store, k).send(sent("edit", how="restore", cells=cells), done())
    found = []
    for plan in SuggestionPlan("trained"), SuggestionPlan("vote", NAME):
        course = worker.Course(store, plan, silent)
        lesson, rows = course.go_on()
        assert lesson.used
        found.append(list(rows))
    lessons = course._learner.aligner.parameters.learned.lessons
    assert [system.name for system in lessons.evidence] == list(SYSTEMS)
    assert all({k for k, _ in rows} == set(range(31, 53)) for rows in found)
    assert lesson.before < lesson.after
    assert f1(found[1], known) > f1(found[0], known) + 0.02
    assert store.add_learned("", found[1], lesson) == "learned-1"
    view = store.pair(40, "anna").suggestions
    assert (view.set, view.by) == ("learned-1", "learned from 30 done pairs")
    assert [name for name, _ in view.links] == CHANNELS
    # other links of a system in a done pair are learned, too
    assert course.go_on()[0] is None
    other = known[4].without_annotations("gold").with_annotation("giza/1", Alignment())
    import_pairs(store, [other], holds=EVERYTHING)
    assert course.go_on()[0].pairs == 30


def test_what_does_best_is_used_also_if_nothing_was_learned(aligner, known):
    pupil, pairs = Learner(aligner, {"oracle": ["oracle"]}), {}
    for k, pair in enumerate(known[:20], 1):
        links = pair.alignment("gold")
        pairs[k] = SentencePair(str(k), *pair.words, {TAUGHT: links, "oracle": links})
    lesson = pupil.learn(pairs)
    assert pupil.aligner.parameters.learned.lessons.kind == "system:oracle"
    assert (lesson.used, "instead: system:oracle" in lesson.verdict) == (True, True)
    assert lesson.before <= lesson.after == 1
    report, used = pupil._refiner.report, []
    pupil = Learner(aligner, {"oracle": ["oracle"]})
    for k, base in enumerate(["vote", "without", "vote"], 1):  # of which the first is shown
        changed = replace(report, base=base)
        pupil._refiner = SimpleNamespace(report=changed, update=silent, validate=silent)
        used.append(pupil.learn({n: pairs[n] for n in range(1, 6 + k)}).used)
    assert used == [False, True, True]
