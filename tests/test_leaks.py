"""No pair and no group stands on both sides of a split unseen."""

import json
from collections import Counter
from dataclasses import replace
from unicodedata import normalize

import pytest
from command import run
from hypothesis import given
from hypothesis import strategies as st

from alignkit import agree_on_judgments
from alignkit.align.bitext import Bitext
from alignkit.align.supervised.gold import Gold, different
from alignkit.corpora import diversity
from alignkit.corpora.leaks import find_leaks
from alignkit.corpora.pairings import pair_translations
from alignkit.corpora.split import connected_groups, split_corpus
from alignkit.corpora.validation import examine
from alignkit.io import ReadOptions, read_corpus, write_corpus
from alignkit.model.annotation import Annotation
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair


def pair(id, source, target, judgment="4", **attributes):
    annotation = Annotation(None, judgment=judgment)
    return SentencePair(id, source.split(), target.split(), {"ann": annotation}, attributes)


def saved(folder, *parts):
    """Write corpora to files a.jsonl, b.jsonl, ..."""
    paths = [folder / f"{name}.jsonl" for name, _ in zip("abc", parts, strict=False)]
    for path, part in zip(paths, parts, strict=True):
        write_corpus(part, path, format="alignkit-jsonl")
    return paths


def examined(path, format="alignkit-jsonl"):
    return examine(str(path), format=format, options=ReadOptions()).counts


def judged_differently(counts):
    return {f"{kind} pairs judged differently": count for kind, count in counts.items()}


TEXT = st.sampled_from(["a", "b", "a b"])
PARTS = st.lists(st.tuples(TEXT, TEXT, st.sampled_from(["", "g", "h"])), max_size=6)


@given(PARTS, PARTS)
def test_leaks_are_what_a_plain_search_finds(train, test):
    parts = [
        Corpus(pair(f"{name}{k}", s, t, goeswith=g) for k, (s, t, g) in enumerate(rows))
        for name, rows in (("r", train), ("t", test))
    ]
    expected = Counter()
    for source, target, group in test:
        same = any((source, target) == row[:2] for row in train)
        expected["equal"] += same
        expected["reversed"] += not same and any((target, source) == row[:2] for row in train)
        expected["grouped"] += bool(group) and any(group == row[2] for row in train)
    assert Counter(leak.kind for leak in find_leaks(*parts)) == +expected


def test_rewrites_belong_to_their_pair_and_stay_together_without_it():
    first, anew = pair("1", "a", "b"), pair("1/r1", "c", "d", **{"rewrite_of": "1"})
    for train, test in ((first, anew), (anew, first)):
        (leak,) = find_leaks(Corpus([train]), Corpus([test]))
        assert (leak.kind, leak.group) == ("grouped", "rewrite_of=1")
    many = [pair(str(k), str(k), "x", g=str(k)) for k in range(20)]
    many += [pair(f"{k}/r1", str(k), "y", **{"rewrite_of": str(k)}) for k in range(20)]
    halves = {"train": 0.5, "test": 0.5}
    parts = split_corpus(Corpus(many), halves, keep_together="g")
    assert not find_leaks(parts["train"], parts["test"])
    many = [pair(str(k), str(k), "x", g=str(k)) for k in range(40)]
    many += [pair(f"0/r{k}", str(k), "y", rewrite_of="0") for k in range(1, 9)]
    many += [pair(f"lost/r{k}", str(k), "z", rewrite_of="lost") for k in range(1, 9)]
    for seed in range(5):
        parts = split_corpus(Corpus(many), halves, keep_together="g", seed=seed)
        assert not find_leaks(parts["train"], parts["test"])
        for first in ("0/r", "lost/r"):
            assert sum(any(p.id.startswith(first) for p in part) for part in parts.values()) == 1
    cut = find_leaks(Corpus(many[40:44]), Corpus(many[44:48]))
    assert {leak.group for leak in cut} == {"rewrite_of=0"}


def test_judgments_are_strata():
    corpus = Corpus(pair(str(k), "a", str(k), "1" if k % 5 else "4<") for k in range(100))
    for part in split_corpus(corpus, {"train": 0.8, "test": 0.2}, stratify="judgment").values():
        counts = Counter(one.annotation("ann").judgment for one in part)
        assert counts["1"] == 4 * counts["4<"]


def test_check_tells_pairs_judged_differently(tmp_path, capsys):
    rows = ["1 a b 4<", "2 b a 4>", "3 a b 3", "4 b a 2", "5 c c 4", "6 d e 2", "7 e d 4<"]
    (path,) = saved(tmp_path, Corpus(pair(*row.split()) for row in rows))
    assert examined(path) == judged_differently({"equal": 2, "reversed": 1})
    ran = run(capsys, "check", path)
    assert ran.code == 1
    assert "pair '3' is '3' by 'ann', but pair '1' is '4<'" in ran.out


def test_the_command(tmp_path, capsys):
    second = Corpus([pair("2", "b", "a"), pair("3", "c", "d", film="x")])
    train, test = saved(tmp_path, Corpus([pair("1", "a", "b", film="x")]), second)
    ran = run(capsys, "check", "--leaks", train, test)
    assert ran.code == 1
    assert "1 of 2 pairs match" in ran.out
    ran = run(capsys, "check", "--leaks", train, test, "--group", "film", "--json")
    assert ran.json["counts"] == {"equal": 0, "reversed": 1, "grouped": 1}
    assert ran.json["test"]["known"] == 2
    write_corpus(Corpus([pair("3", "c", "d")]), test, format="alignkit-jsonl")
    assert run(capsys, "check", "--leaks", train, test).code == 0
    run(capsys, "check", "--leaks", train).failed("two files")
    run(capsys, "check", train, "--group", "film").failed("--group needs --leaks")


def test_single_shared_texts_are_counted_and_no_leaks(tmp_path, capsys):
    second = Corpus([pair("2", "x", "a"), pair("3", "b", "a"), pair("4", "y", "z")])
    paths = saved(tmp_path, Corpus([pair("1", "a", "b")]), second)
    ran = run(capsys, "check", "--leaks", *paths)
    assert "1 of 3 pairs share" in ran.out
    ran = run(capsys, "check", "--leaks", *paths, "--json")
    assert (ran.json["test"]["shared_texts"], ran.json["counts"]["reversed"]) == (1, 1)


def test_usual_groups_leak_by_default_and_select_warns_of_them():
    halves = [
        Corpus(pair(f"{x}{k}", f"{x}{k}", "t", entity=str(k)) for k in range(3)) for x in "ab"
    ]
    assert {leak.group for leak in find_leaks(*halves)} == {"entity=0", "entity=1", "entity=2"}
    parts = split_corpus(Corpus([*halves[0], *halves[1]]), {"x": 0.5, "y": 0.5}, seed=1)
    assert "in several parts" in parts.cautions[0]


def test_case_counts_unless_one_says_otherwise(tmp_path, capsys):
    parts = Corpus([pair("1", "A b", "c")]), Corpus([pair("2", "a  b", "C"), pair("3", "c", "a B")])
    assert find_leaks(*parts) == []
    assert [leak.kind for leak in find_leaks(*parts, ignore_case=True)] == ["equal", "reversed"]
    paths = saved(tmp_path, *parts)
    assert run(capsys, "check", "--leaks", *paths).code == 0
    ran = run(capsys, "check", "--leaks", *paths, "--ignore-case")
    assert (ran.code, "2 of 2 pairs match" in ran.out) == (1, True)
    run(capsys, "check", paths[0], "--ignore-case").failed("--ignore-case needs --leaks")
    run(capsys, "check", "--leaks", *paths, "--group", "flim").failed("unknown attribute 'flim'")


def plain_leaks(train, test):
    """Compare every two records of two files of JSON lines, as the definitions say."""

    def has(key, value):
        return any(key(record) == value for record in train)

    def texts(record):
        return record["source"], record["target"]

    def group(record):
        return record["attributes"].get("goeswith")

    def entity(record):
        return record["attributes"].get("entity")

    def family(record):
        return record["attributes"].get("rewrite_of", record["id"])

    counts = Counter()
    for record in test:
        equal = has(texts, texts(record))
        counts["equal"] += equal
        counts["reversed"] += not equal and has(texts, texts(record)[::-1])
        counts["goeswith"] += bool(group(record)) and has(group, group(record))
        counts["entity"] += bool(entity(record)) and has(entity, entity(record))
        counts["rewrite_of"] += has(family, family(record))
    return +counts


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["turku/sv-test.json", "turku/opus-pb-dev.json", "parade"])
@pytest.mark.parametrize("together", [True, False])
def test_leaks_of_real_files_are_those_of_a_plain_script(data, tmp_path, capsys, name, together):
    path = next((data / name).iterdir()) if (data / name).is_dir() else data / name
    words = ["--split", "train=.7,test=.3", "--stratify", "judgment", "--seed", 5]
    if together and "goeswith" not in read_corpus(path).attributes:
        pytest.skip("it has no groups")
    words += ["--keep-together", "goeswith"] if together else []
    ran = run(capsys, "select", path, *words, "-o", tmp_path / "x.jsonl")
    assert ran.code == 0, ran.err
    files = [tmp_path / f"x-{part}.jsonl" for part in ("train", "test")]
    records = [
        [one for one in map(json.loads, file.read_text("utf-8").splitlines()) if "id" in one]
        for file in files
    ]
    expected = plain_leaks(*records)
    ran = run(capsys, "check", "--leaks", *files, "--json")
    counts = Counter(
        name.partition("=")[0] or leak["kind"]
        for leak in ran.json["leaks"]
        for name in (leak["group"], *leak["also"])
    )
    assert (counts, ran.code) == (expected, bool(expected))
    assert sum(map(len, records)) == len(read_corpus(path))
    if together:
        assert not {"goeswith", "rewrite_of"} & set(counts)
    else:
        assert counts["rewrite_of"] > 0 or not any(
            "rewrite_of" in one["attributes"] for part in records for one in part
        )


@pytest.mark.real_data
def test_repeats_in_goldalign_that_were_judged_differently(data):
    """612 rows hold 567 different pairs; each is compared with the first of its texts."""
    corpus = read_corpus(data / "goldalign")
    assert (len(corpus), len({one.words for one in corpus})) == (612, 567)
    expected = Counter()
    for name in corpus.annotators:
        noted = [(one.words, one.annotations[name]) for one in corpus if name in one.annotations]
        rows = [(words, said.judgment) for words, said in noted if said.judgment]
        for k, ((source, target), judgment) in enumerate(rows):
            same = [other for words, other in rows[:k] if words == (source, target)]
            back = [other for words, other in rows[:k] if words == (target, source)]
            if same:
                expected["equal"] += judgment != same[0]
            elif back:
                expected["reversed"] += judgment != back[0]
    assert expected == {"equal": 3, "reversed": 4}
    assert examined(data / "goldalign", "goldalign").items() >= judged_differently(expected).items()


NFC, NFD = "caf\u00e9", "cafe\u0301"


def test_texts_in_two_unicode_forms_are_equal(tmp_path, capsys):
    """\u1fbc\u0301 and its parts in another order are one text too, once case does not count."""
    train = Corpus([pair("1", NFC, "\u0391\u0301\u0345", "4<")])
    test = Corpus([pair("2", NFD, "\u0386\u0345", "3"), pair("3", "\u0386\u0345", NFD, "2")])
    assert [leak.kind for leak in find_leaks(train, test)] == ["equal", "reversed"]
    folded = Corpus([pair("4", NFD.upper(), "\u03b1\u0345\u0301", "3")])
    assert [leak.kind for leak in find_leaks(train, folded, ignore_case=True)] == ["equal"]
    assert not find_leaks(Corpus([pair("1", "\ufb01", "x")]), Corpus([pair("2", "fi", "x")]))
    (path,) = saved(tmp_path, train + test)
    assert examined(path) == judged_differently({"equal": 1, "reversed": 1})
    made = pair_translations([[["x"], [NFC], [NFD]]], drop_identical=True, drop_repeated=True)
    assert [one.id for one in made] == ["1/1-2"]
    twice = [pair("1", NFC, "b"), pair("2", NFD, "b")]
    assert different(twice) == 1
    assert Gold(Bitext.pack(one.words for one in twice), None, None).groups.tolist() == [0, 0]
    assert diversity(Corpus([pair("1", NFC, NFD)])).identical.all()
    judged = [
        replace(one, annotations={"b": Annotation(None, judgment="3"), **one.annotations})
        for one in twice
    ]
    found = agree_on_judgments(
        Corpus(judged), scheme="turku", view="base", resamples=1, permutations=1
    )
    assert found.repeated == 1


def test_groups_are_read_as_select_reads_them(tmp_path, capsys):
    """Several values in one attribute, blanks around them, and months of annotations."""
    train = [pair("1", "a", "b", film="d1, d2", doc="x"), pair("2", "c", "d", film=NFC)]
    test = [pair("3", "e", "f", film=" d2 ", doc="x"), pair("4", "g", "h", film=f"d3,{NFD}")]
    parts = Corpus(train), Corpus(test)
    assert not find_leaks(*parts, ["film"])
    leaks = find_leaks(*parts, ["film"], separator=",")
    assert [(leak.train, leak.test, leak.group) for leak in leaks] == [
        ("1", "3", "film=d2"),
        ("2", "4", f"film={NFC}"),
    ]
    assert connected_groups(parts[0] + parts[1], ["film"], ",") == [[0, 2], [1, 3]]
    paths = saved(tmp_path, *parts)
    ran = run(capsys, "check", "--leaks", *paths, "--group", "film", "--separator", ",", "--json")
    assert (ran.code, ran.json["counts"]["grouped"]) == (1, 2)
    run(capsys, "check", paths[0], "--separator", ",").failed("--separator needs --leaks")
    when = Annotation(None, judgment="1", when="2026-11-22T13:06:28Z")
    timed = [Corpus([SentencePair(id, [id], ["b"], {"ann": when})]) for id in "12"]
    assert find_leaks(*timed, ["month"])[0].group == "month=2026-11"


def test_a_pair_of_several_groups_is_one_finding(tmp_path, capsys):
    parts = [Corpus([pair(id, id, "b", film="x", doc="d", rewrite_of="0")]) for id in "12"]
    (leak,) = find_leaks(*parts, ["film", "doc", "doc", "rewrite_of"])
    assert (leak.group, leak.also) == ("film=x", ("doc=d", "rewrite_of=0"))
    paths = saved(tmp_path, *parts)
    ran = run(capsys, "check", "--leaks", *paths, "--group", "film", "--group", "doc")
    assert ran.out.count("pair '2'") == 1
    assert "by film=x; the first file also has doc=d, rewrite_of=0" in ran.out
    assert "1 of 1 pairs match" in ran.out


def test_equal_pairs_on_both_sides_of_a_split_are_told(tmp_path, capsys):
    """Quiet or not, in JSON and in Python; `keep_texts` leaves none, nor a text on two sides."""
    words = [("a", NFC), (NFD, "A"), (NFD, "a"), ("b", "c"), ("c", "b")]
    corpus = Corpus(pair(str(k), *words[k % 5], number=str(k)) for k in range(50))
    corpus += Corpus(pair(str(k), f"s{k}", f"t{k}") for k in range(50, 150))
    parts = split_corpus(corpus, {"train": 0.7, "test": 0.3})
    known = sum(
        any(in_nfc(one) in (in_nfc(other), in_nfc(other)[::-1]) for other in parts["train"])
        for one in parts["test"]
    )
    (caution,) = parts.cautions
    assert known > 0
    assert caution.startswith(f"{known} of 45 pairs")
    (path,) = saved(tmp_path, corpus)
    given = ["select", path, "--split", "train=.7,test=.3", "-o", tmp_path / "o.jsonl", "--json"]
    ran = run(capsys, *given, "--quiet")
    (told,) = ran.json["cautions"]
    assert told == caution.replace("`keep_texts=True`", "--keep-texts")
    assert f"{path}: caution: {told}" in ran.err
    for more in ([], ["--stratify", "judgment"], ["--keep-together", "number"]):
        ran = run(capsys, *given, "--keep-texts", *more)
        assert (ran.json["cautions"], ran.json["parts"][0]["pairs"]) == ([], 105)
        files = [tmp_path / f"o-{name}.jsonl" for name in ("train", "test")]
        assert run(capsys, "check", "--leaks", "--ignore-case", *files).code == 0
        one, other = (
            {text for pair in read_corpus(file) for text in in_nfc(pair)} for file in files
        )
        assert not {text.lower() for text in one} & {text.lower() for text in other}
    run(capsys, "select", path, "--ids", "1", "--keep-texts", "-o", "-").failed("add --share or")


def in_nfc(one):
    return tuple(normalize("NFC", " ".join(side)) for side in one.words)


@pytest.mark.real_data
def test_no_group_of_the_swedish_set_stands_on_both_sides(data):
    corpus = read_corpus(data / "turku" / "sv-test.json")
    shares = {"train": 0.8, "test": 0.2}
    parts = split_corpus(corpus, shares, stratify="judgment", keep_together="goeswith")
    assert sum(map(len, parts.values())) == 1217
    assert not [leak for leak in find_leaks(*parts.values()) if leak.kind == "grouped"]
    assert find_leaks(corpus[:600], corpus[600:])
