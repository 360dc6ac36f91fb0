"""What the child process learns from done pairs, when, and for which pairs it suggests links."""

import io
import json

import pytest
from annotation import Tab, project, sent, small_corpus
from command import PARAPHRASES

from alignkit import Aligner, Alignment, Corpus, SentencePair, read_corpus
from alignkit._support import compiling
from alignkit.align.supervised import Refiner
from alignkit.annotate.dashboard import figures
from alignkit.annotate.learning import TAUGHT, Learner
from alignkit.annotate.server import worker
from alignkit.annotate.server.child import Job, SuggestionPlan
from alignkit.annotate.server.worker import Course

SAMPLES = read_corpus(PARAPHRASES)
WORDS = [pair.words for pair in SAMPLES]


@pytest.fixture(scope="module")
def aligner():
    return Aligner.train(SAMPLES, identity=3, threads=1)


@pytest.fixture
def validated(monkeypatch):
    counts, validate = [], Refiner.validate

    def counted(refiner, threads=None):
        counts.append(len(refiner.ids))
        return validate(refiner, threads)

    monkeypatch.setattr(Refiner, "validate", counted)
    return counts


def said(k):
    source, target = WORDS[k - 1]
    return Alignment((i, j) for i, s in enumerate(source) for j, t in enumerate(target) if s == t)


def work(*numbers, **links):
    said_of = {k: {TAUGHT: links.get(f"p{k}", said(k))} for k in numbers}
    return {k: SentencePair(str(k), *WORDS[k - 1], said_of[k]) for k in numbers}


def suggested(aligner, k):
    aligned = aligner.align_bitext(WORDS[k - 1 : k + 9], threshold=0.05, threads=1)
    return aligned.arrays.links.tolist(), aligned.probabilities.tolist()


def test_each_done_pair_is_learned_and_cross_validation_comes_now_and_then(aligner, validated):
    pupil = Learner(aligner)
    lesson = pupil.learn(work(1, 2, 3))
    assert (lesson.pairs, lesson.used) == (3, False)
    assert "starts after 5" in lesson.verdict
    lesson = pupil.learn(work(*range(1, 8)))
    assert (lesson.pairs, lesson.used, lesson.verdict[:8]) == (7, True, "learned:")
    assert 0 < lesson.before < lesson.after < 1
    assert pupil.learn(work(*range(1, 8))) is None
    before = suggested(pupil.aligner, 40)
    assert before != suggested(aligner, 40)
    assert pupil.learn(work(*range(1, 9))).pairs == 8
    after = suggested(pupil.aligner, 40)
    assert after != before
    other = {**work(*range(1, 9)), **work(8, p8=Alignment())}
    assert pupil.learn(other).pairs == 8  # other links of a pair that is done
    assert suggested(pupil.aligner, 40) != after
    assert validated == [7]
    for count in range(9, 23):
        pupil.learn(work(*range(1, count + 1)))
    # 8, 8 again, 8 as before and 9, 10, and so on
    assert validated == [7, 15]


def test_nothing_remains_of_a_pair_that_is_not_done_any_more(aligner, validated):
    pupil = Learner(aligner)
    pupil.learn(work(*range(1, 9)))
    pupil.learn(work(1, 2, 3, 5, 6, 7, 8))
    anew = Learner(aligner)
    anew.learn(work(1, 2, 3, 5, 6, 7, 8))
    assert (validated, suggested(pupil.aligner, 40)) == ([8, 7, 7], suggested(anew.aligner, 40))
    assert pupil.learn(work(1, 2)).used is False
    assert pupil.learn(work(1, 2, 3, 5, 6, 7, 8)).used is True
    assert (validated, suggested(pupil.aligner, 40)) == ([8, 7, 7, 7], suggested(anew.aligner, 40))


def test_where_there_is_no_gain_nothing_is_suggested_otherwise(aligner):
    pupil, nothing = Learner(aligner), {f"p{k}": Alignment() for k in range(1, 6)}
    lesson = pupil.learn(work(*range(1, 6), **nothing))
    assert (lesson.used, lesson.verdict.startswith("not used: no gain")) == (False, True)


@pytest.fixture
def store(tmp_path):
    with project(tmp_path, Corpus(SentencePair(pair.id, *pair.words) for pair in SAMPLES)) as store:
        store.set_suggestions("trained", [(k, []) for k in range(1, len(SAMPLES) + 1)])
        yield store


def finish(store, k):
    tab, cells = Tab(store, k), [[i, j, 0, 2] for i, j in said(k)]
    tab.send(sent("edit", how="restore", cells=cells), sent("done", before=False, after=True))


def test_links_are_suggested_for_the_next_pairs_that_nobody_has_opened(store, aligner, monkeypatch):
    monkeypatch.setattr(worker, "aligner_of", lambda *_: aligner)
    monkeypatch.setattr(worker, "_MANY", 30)
    monkeypatch.setattr(worker, "_NEXT", 4)
    running = Course(store, SuggestionPlan("trained"), lambda *_: None)
    for k in range(1, 5):
        finish(store, k)
        lesson, rows = running.go_on()
        assert (lesson, list(rows)) == (None, [])  # nothing can be learned yet
    for k in range(5, 9):
        finish(store, k)
    Tab(store, 10).send(sent("open", rev=1, suggestions=True))
    Tab(store, 8).send(sent("open", rev=1, suggestions=True))  # and back
    lesson, rows = running.go_on()
    given = dict(rows)
    assert (list(given), lesson.revs) == ([9, *range(11, 40)], dict.fromkeys(given, 1))
    assert all(0.05 <= p <= 1 and strength == 2 for *_, p, strength in given[9])
    name = store.add_learned("", given.items(), lesson)
    assert store.pair(9, "anna").suggestions.set == name == "learned-1"
    lesson, rows = running.go_on()
    assert (lesson, list(rows)) == (None, [])
    finish(store, 9)
    lesson, rows = running.go_on()
    assert (lesson.pairs, [k for k, _ in rows]) == (9, [11, 12, 13, 14])


def test_a_model_that_has_learned_from_gold_keeps_what_it_suggests(store, aligner, monkeypatch):
    refined = Refiner.train(aligner, work(*range(1, 9)).values(), TAUGHT, threads=1).aligner
    monkeypatch.setattr(worker, "aligner_of", lambda *_: refined)
    for k in range(1, 6):
        finish(store, k)
    running = Course(store, SuggestionPlan("model", "m.model"), lambda *_: None)
    lesson, rows = running.go_on()
    assert (lesson.used, list(rows)) == (False, [])
    assert "has already learned" in lesson.verdict
    finish(store, 6)
    assert running.go_on()[0] is None


def test_a_child_tells_of_compiling_in_a_line_of_its_own(monkeypatch, tmp_path):
    def compiles(*_, **__):
        compiling._ANNOUNCER.tell()
        raise LookupError

    monkeypatch.setattr(compiling._ANNOUNCER, "tell", pytest.fail)
    monkeypatch.setattr(worker, "give_way", lambda: None)
    monkeypatch.setattr(figures, "dashboard_view", compiles)
    monkeypatch.setattr(worker, "Course", compiles)
    path = project(tmp_path, small_corpus(2)).path
    for act, more in ((worker._measure, ()), (worker._learn, (None,))):
        out = io.BytesIO()
        with pytest.raises(LookupError):
            act(Job(path, plan=SuggestionPlan("trained")), worker.Output(out), *more)
        assert json.loads(out.getvalue())["text"] == "compiling kernels, once per machine"
