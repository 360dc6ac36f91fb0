"""Roles: who made an alignment is kept, written, and decides with whom annotators are compared."""

import json

import pytest
from command import PARAPHRASES, run
from refusals import refuses

from alignkit import (
    Alignment,
    Annotation,
    Corpus,
    SentencePair,
    agree,
    agree_on_judgments,
    read_corpus,
    write_corpus,
)
from alignkit.errors import AlignkitError, AlignmentError, OptionError, UnknownNameError

ROLES = {
    "start": "initial",
    "anna": "annotator",
    "ben": "annotator",
    "gold": "adjudicated",
    "tool": "system",
}
BOTH = ("start", "tool")
LINKS = dict(zip(ROLES, ("0-0", "0-0 1-1", "0-0 1?1", "0-0 1-1", "1-0"), strict=True))


def corpus(**changes):
    roles = ROLES | changes
    said = {who: Annotation(Alignment.parse(text), role=roles[who]) for who, text in LINKS.items()}
    return Corpus(SentencePair(str(k), ["a", "b"], ["x", "y"], said) for k in range(4))


@pytest.mark.parametrize("format", ["alignkit-jsonl", "alignkit-xml"])
def test_roles_come_back_from_formats_that_hold_them(format, tmp_path):
    path = tmp_path / "corpus"
    assert not write_corpus(corpus(), path, format=format)
    assert read_corpus(path, format=format) == corpus()
    assert read_corpus(path, format=format).roles == ROLES


def test_goldalign_holds_the_roles_of_two_names_and_counts_others_as_pharaoh_counts_all(tmp_path):
    tool = corpus().map(lambda pair: pair.without_annotations("start", "anna", "ben", "gold"))
    assert write_corpus(tool, tmp_path / "a", format="pharaoh")["role"] == 4
    named = corpus().rename({"start": "initial", "gold": "arbit"})
    assert write_corpus(named, tmp_path / "some", format="goldalign")["role"] == 4
    people = named.map(lambda pair: pair.without_annotations("tool"))
    assert not write_corpus(people, tmp_path / "all", format="goldalign")["role"]
    assert read_corpus(tmp_path / "all", format="goldalign").roles == people.roles


def test_judgments_of_other_roles_are_counted_and_not_compared():
    said = {name: Annotation(None, judgment="1", role=role) for name, role in ROLES.items()}
    judged = Corpus(SentencePair(str(k), ["a"], ["x"], said) for k in range(4))
    agreement = agree_on_judgments(judged, scheme="binary", resamples=20)
    assert agreement.annotators == ("anna", "ben")
    assert "4 judgments of tool (system)" in str(agreement)
    named = agree_on_judgments(judged, ["anna", "tool"], scheme="binary", resamples=20)
    assert named.annotators == ("anna", "tool")


def test_a_role_that_there_is_not_is_an_error_with_its_place(tmp_path):
    with pytest.raises(AlignmentError, match="annotator, initial"):
        Annotation(Alignment(), role="boss")
    line = {
        "id": "1",
        "source": ["a"],
        "target": ["x"],
        "annotations": {"A": {"sure": "0-0", "role": "boss"}},
    }
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"alignkit": "corpus", "version": 1}}\n{json.dumps(line)}\n', "utf-8")
    refuses(AlignkitError, r"a\.jsonl:2: .*'boss'", read_corpus, path)


@pytest.mark.parametrize(
    ("changes", "options", "who"),
    [
        ({}, {}, (("anna", "ben"), "start", "gold", BOTH)),
        ({}, {"initial": "", "adjudicated": ""}, (("anna", "ben"), None, None, ("tool",))),
        ({}, {"systems": []}, (("anna", "ben"), "start", "gold", ())),
        ({}, {"annotators": ["anna", "gold"]}, (("anna", "gold"), "start", None, BOTH)),
        ({}, {"initial": "tool"}, (("anna", "ben"), "tool", "gold", ("tool",))),
        ({}, {"initial": "gold"}, (("anna", "ben"), "gold", None, ("gold", "tool"))),
        ({}, {"adjudicated": "start"}, (("anna", "ben"), None, "start", ("tool",))),
        ({}, {"systems": ["gold"]}, (("anna", "ben"), "start", None, ("gold",))),
        ({"tool": "initial"}, {}, (("anna", "ben"), None, "gold", ())),  # which of the two?
        ({"start": "annotator"}, {}, (("start", "anna", "ben"), None, "gold", ("tool",))),
    ],
)
def test_roles_say_who_is_compared_with_whom(changes, options, who):
    agreement = agree(corpus(**changes), resamples=20, **options)
    compared = agreement.annotators, agreement.initial, agreement.adjudicated, agreement.systems
    assert compared == who
    left = set(LINKS) - {*who[0], *who[1:3], *who[3]}
    text = " ".join(str(agreement).split())
    assert all(name in text.partition("not compared: ")[2] for name in left)
    assert ("not compared" in text) == bool(left)


def test_an_initial_alignment_that_nobody_asked_for_refuses_no_pair():
    some = corpus()[:1].map(lambda pair: pair.without_annotations("start")) + corpus()[1:]
    agreement = agree(some, resamples=20, samples=20)
    assert (agreement.initial, agreement.options.missing_initial) == ("start", "leave-out")
    refuses(OptionError, "missing_initial", agree, some, initial="start", resamples=20)


def test_the_samples_lead_with_the_people():
    agreement = agree(read_corpus(PARAPHRASES), resamples=20)
    assert agreement.annotators == ("anna", "ben")
    assert round(100 * agreement.together[0].mean["words.sure.f1"], 1) == 90.5
    assert (agreement.initial, agreement.systems) == (None, ("eflomal",))


@pytest.mark.real_data
def test_goldalign_compares_its_users(data):
    agreement = agree(read_corpus(data / "goldalign", format="goldalign"), resamples=20, samples=20)
    assert agreement.annotators == ("demo-user-1", "demo-user-2")
    assert (agreement.initial, agreement.adjudicated) == ("initial", "arbit")
    f1 = agreement.pairing("demo-user-1", "demo-user-2").sections[0].figures["words.possible.f1"]
    assert agreement.together[0].mean["words.possible.f1"] == f1


def test_annotators_get_other_names_and_roles(capsys, tmp_path):
    renamed = corpus().rename({"anna": "A", "ben": "anna"})
    assert renamed.annotators == ("start", "A", "anna", "gold", "tool")
    refuses(UnknownNameError, "'bob'", lambda: corpus().rename({"bob": "x"}))
    refuses(OptionError, "the name 'ben'", lambda: corpus().rename({"anna": "ben"}))
    alone = corpus().map(lambda pair: pair.without_annotations("ben"))
    for call, problem in (
        (lambda: agree(alone), r"also start \(role initial\), gold"),
        (lambda: agree(alone, annotators=5), "annotators is 5"),
        (lambda: alone.rename("anna"), "names is the string"),
        (lambda: alone.with_roles(["anna"]), "roles is a list"),
    ):
        refuses(AlignkitError, problem, call)
    refuses(UnknownNameError, "role", lambda: corpus().with_roles({"anna": "boss"}))
    agree_on = "agree", PARAPHRASES, "--resamples", "20", "--json"
    given = "--rename", "anna=A", "--rename", "eflomal=auto", "--role", "gold=annotator"
    shown = run(capsys, *agree_on, *given).json
    assert (shown["annotators"], shown["systems"]) == (["A", "ben", "gold"], ["auto"])
    assert run(capsys, *agree_on, "--systems", "").json["systems"] == []
    assert "\nroles: eflomal system, gold adjudicated\n" in run(capsys, "stats", PARAPHRASES).out
    for wrong, hint in (("anna", "expected OLD=NEW"), ("ann=A", "did you mean 'anna'")):
        run(capsys, *agree_on, "--rename", wrong).failed(hint)
    run(capsys, *agree_on, "--role", "anna=sytem").failed("did you mean 'system'")
    path = tmp_path / "merged.jsonl"
    run(
        capsys,
        "merge",
        PARAPHRASES,
        "--add",
        f"carla={PARAPHRASES}",
        "-o",
        path,
        "--role",
        "carla/eflomal=initial",
        "--role",
        "eflomal=initial",
    )
    assert read_corpus(path).roles["carla/eflomal"] == "initial"
