"""Schemes of one's own: ranges, lists and files of labels, in Python, commands and projects."""

import json

import pytest
from command import made, run
from hypothesis import given
from hypothesis import strategies as st

from alignkit import Annotation, Corpus, SentencePair, agree_on_judgments, write_corpus
from alignkit.errors import AlignkitError, FormatError, MissingFileError, OptionError
from alignkit.model.labels import SCHEMES, Label, Scheme, get_scheme, get_view, open_scheme

PARTLY = {
    "name": "sameness",
    "about": "Whether both say the same.",
    "labels": ["no", {"value": "partly", "name": "In part", "about": "Some of it."}, "yes", "?"],
    "order": ["no", "partly", "yes"],
    "unscored": ["?"],
}
LABELS = ["0", "1", "3", "3", "2", "0", "1", "2"]


def judged(*rows):
    return Corpus(
        SentencePair(
            f"p{k}",
            ("a", str(k)),
            ("b",),
            {
                name: Annotation(None, judgment=label)
                for name, label in zip(("ann", "ben", "eve"), labels, strict=False)
            },
        )
        for k, labels in enumerate(zip(*rows, strict=True))
    )


# the texts of schemes
@pytest.mark.parametrize(
    ("text", "values", "ordered"),
    [
        ("0-3", ("0", "1", "2", "3"), True),
        ("5-1", ("5", "4", "3", "2", "1"), True),
        ("-1-1", ("-1", "0", "1"), True),
        ("no,partly,yes", ("no", "partly", "yes"), True),
        ("no, partly , yes", ("no", "partly", "yes"), True),
        ("nominal:no,partly,yes", ("no", "partly", "yes"), False),
        ("nominal:1-3", ("1", "2", "3"), False),
    ],
)
def test_ranges_and_lists(text, values, ordered):
    scheme = get_scheme(text)
    assert scheme.values == values
    assert scheme.order == (values if ordered else None)
    assert get_scheme(scheme.text) == scheme
    assert get_view(scheme).order == scheme.order
    assert [scheme.parse(value).label for value in values] == list(values)


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_own_schemes_of_alignkit_can_be_written(scheme):
    assert scheme.text == scheme.name
    assert get_scheme(json.dumps(scheme.to_json())) == scheme


TEXTS = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=5)


@given(st.lists(TEXTS, min_size=2, max_size=6, unique=True), st.booleans(), TEXTS)
def test_schemes_are_read_as_they_are_written(values, ordered, name):
    labels = tuple(Label(value, value.upper(), "about it") for value in values)
    scheme = Scheme(f"{name} of mine", "", labels, order=tuple(values) if ordered else None)
    assert get_scheme(scheme.text) == scheme
    assert scheme.as_nominal().order is None
    assert scheme.as_nominal().as_nominal() == scheme.as_nominal()
    listed = get_scheme(",".join(values))
    assert listed.as_nominal() == get_scheme("nominal:" + ",".join(values))


def test_a_file_has_names_and_labels_that_are_not_scored(tmp_path):
    path = tmp_path / "sameness.json"
    path.write_text(json.dumps(PARTLY), encoding="utf-8")
    scheme = open_scheme(path)
    assert scheme.labels[1] == Label("partly", "In part", "Some of it.")
    assert get_view(scheme).of("?") is None
    assert get_view(scheme).labels == ("no", "partly", "yes")
    assert get_scheme(scheme.text) == scheme


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0-500", "more than 101 labels"),
        ("yes,", "is no label"),
        ("yes,yes", "twice"),
        ("3-3", "2 to 101 labels, not 1"),
        ('{"labels": ["a"]}', "2 to 101"),
        ('{"name": "x"}', '"labels"'),
        ("{", "not valid JSON"),
        ('{"labels": ["a", 1]}', "lists of texts"),
        ('{"labels": "ab"}', None),
        ('{"labels": ["a", "b"], "order": ["a"]}', "scored labels once"),
        ('{"labels": ["a", "b"], "order": ["a", "c"]}', "'c' in the order"),
        ('{"labels": ["a", "b"], "colour": "red"}', "colour"),
        ('{"name": "turku", "labels": ["a", "b"]}', "give yours another name"),
        ("trku", "turku"),
    ],
)
def test_what_is_no_scheme_is_refused(text, said):
    if said is None:
        assert get_scheme(text).values == ("a", "b")
    else:
        with pytest.raises(AlignkitError, match=said):
            get_scheme(text)


@pytest.mark.parametrize("name", ["a,a", "0-500", "nominal:a,,b", "0-3"])
def test_a_scheme_from_json_may_be_named_like_a_list(name):
    scheme = get_scheme(json.dumps({"name": name, "labels": ["no", "yes"]}))
    assert get_scheme(scheme.text) == scheme
    nominal = scheme.as_nominal()
    assert (nominal.name, nominal.values, nominal.order) == (name, scheme.values, None)
    assert get_scheme(nominal.text) == nominal


def test_a_file_that_is_too_large_for_a_scheme_is_refused_as_such(tmp_path):
    path = tmp_path / "scheme.json"
    text = json.dumps(PARTLY)
    path.write_text(text + " " * (1_000_000 - len(text)), encoding="utf-8")
    assert open_scheme(path).name == "sameness"
    path.write_text(text + " " * (1_000_001 - len(text)), encoding="utf-8")
    with pytest.raises(FormatError, match=r"scheme\.json: .* 1,000,000"):
        open_scheme(path)


def test_files_that_are_no_schemes_are_named(tmp_path):
    path = tmp_path / "scheme.json"
    with pytest.raises(MissingFileError):
        open_scheme(path)
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(FormatError, match=r"scheme\.json: .* JSON object"):
        open_scheme(path)
    path.write_bytes(b"\xff")
    with pytest.raises(FormatError, match="UTF-8"):
        open_scheme(path)


def test_orders_of_alignkits_schemes_stay():
    with pytest.raises(OptionError, match="scheme of your own"):
        get_scheme("turku").as_nominal()


# agreement
def test_agreement_over_an_own_scheme_weights_its_order():
    corpus = judged(LABELS, LABELS[::-1])
    linear = agree_on_judgments(corpus, scheme="0-3", weights="linear", resamples=20)
    parade = agree_on_judgments(
        corpus, scheme="parade", view="full", weights="linear", resamples=20
    )
    assert linear.figure("pairing", "kappa", "ann", "ben") == parade.figure(
        "pairing", "kappa", "ann", "ben"
    )
    with pytest.raises(OptionError, match="has ordered labels"):
        agree_on_judgments(corpus, scheme="0-3", nominal=True, weights="linear")


# commands
@pytest.fixture
def corpus_file(tmp_path):
    path = tmp_path / "corpus.jsonl"
    write_corpus(judged(LABELS, [*LABELS[1:], "3"], LABELS), path)
    return path


def test_commands_take_own_schemes(capsys, corpus_file, tmp_path):
    scheme = tmp_path / "mine.json"
    scheme.write_text(json.dumps({"name": "mine", "labels": list("0123")}), encoding="utf-8")
    said = []
    for own in ("0-3", "0,1,2,3", scheme):
        drawn = ["--resamples", "10", "--permutations", "10", "--json"]
        weighted = ["--scheme", own, "--weights", "quadratic"]
        said.append(made(capsys, "agree-judgments", corpus_file, *weighted, *drawn).json["figures"])
        labels = made(capsys, "labels", corpus_file, "--scheme", own, "--json").json
        assert labels["order"] == list("0123")
        assert labels["counts"]["ann"] == {"0": 2, "1": 2, "2": 2, "3": 2}
        quality = made(capsys, "quality", corpus_file, "--gold", "eve", "--scheme", own, "--json")
        assert [each["annotator"] for each in quality.json["annotators"]] == ["ann", "ben"]
        sides = ["--hyp-annotator", "ann", "--ref-annotator", "eve"]
        scored = made(capsys, "score-labels", corpus_file, *sides, "--scheme", own, "--json")
        assert scored.json["systems"][0]["accuracy"] == 1
    assert said[0] == said[1] == said[2]


def test_nominal_labels_have_no_weights(capsys, corpus_file):
    for own in (["0-3", "--nominal"], ["nominal:0-3"]):
        words = ["agree-judgments", corpus_file, "--weights", "linear", "--scheme", *own]
        run(capsys, *words).failed("has ordered labels")


def test_commands_refuse_what_is_no_scheme(capsys, corpus_file):
    run(capsys, "labels", corpus_file, "--scheme", "trku").failed("trku", "turku", "--scheme")
    run(capsys, "agree-judgments", corpus_file, "--scheme", "yes,yes").failed("'yes' is twice")
    missing = run(capsys, "labels", corpus_file, "--scheme", "no.json")
    missing.failed("no.json")
    other = run(capsys, "labels", corpus_file, "--scheme", "1-4")
    other.failed("'0' is not a judgment of 1-4")


# projects
def test_projects_offer_own_labels(tmp_path):
    pytest.importorskip("sqlalchemy", reason="needs the extra [annotate]")
    from alignkit.annotate.creation import create_project
    from alignkit.annotate.project.names import Visitor
    from alignkit.annotate.project.store import Store
    from alignkit.annotate.server.answers import project_answer

    texts = ["no,partly,yes", "nominal:a,b", json.dumps(PARTLY)]
    for k, text in enumerate(texts):
        path = str(tmp_path / f"{k}.alignkit")
        create_project(path, judged(LABELS), scheme=text, task="judge")
        scheme = get_scheme(text)
        with Store.open(path) as store:
            answer = project_answer(store, Visitor("ann"), None)
            assert answer.scheme.labels == scheme.labels
            assert answer.scheme.name == scheme.name
