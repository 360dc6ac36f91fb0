"""Scores of plain links and of two files: what notebooks type."""

from pathlib import Path

import pytest
from command import EFLOMAL, GOLD, PARAPHRASES, TEXTS, run, write
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

import alignkit as ak
from alignkit import errors

small_links = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=6)
alignments = st.builds(ak.Alignment, small_links, small_links)


def plain(alignment, how):
    if how == "text":
        return str(alignment)
    marked = [(link.i, link.j, "S" if sure else "P") for link, sure in alignment.items()]
    return {
        "links": alignment,
        "list": marked,
        "set": set(marked),
        "frozen": frozenset(marked),
    }[how]


@given(
    st.lists(st.tuples(alignments, alignments), max_size=4),
    st.lists(st.sampled_from(["text", "links", "list", "set", "frozen"]), min_size=8, max_size=8),
)
def test_links_are_scored_alike_however_they_are_held(pairs, how):
    corpus = ak.Corpus(
        ak.SentencePair(str(k), None, None, {"system": a, "gold": b})
        for k, (a, b) in enumerate(pairs)
    )
    expected = ak.score(corpus, level="both") if pairs else None
    hyp = [plain(a, how[k]) for k, (a, _) in enumerate(pairs)]
    ref = [plain(b, how[-1 - k]) for k, (_, b) in enumerate(pairs)]
    found = ak.score(hyp, ref, level="both")
    if pairs:
        assert found.links.counts == expected.links.counts
        assert found.phrases["sure"].counts == expected.phrases["sure"].counts
        assert ak.aer(iter(hyp), tuple(ref)) == pytest.approx(found.links.aer, nan_ok=True)
    packed = [ak.LinkArrays.pack(side) for side in zip(*pairs, strict=True)]
    if pairs:
        assert ak.score(*packed, level="both").links.counts == found.links.counts


def test_what_other_libraries_and_corpora_hold():
    one = pytest.importorskip("nltk.translate").Alignment([(0, 0), (1, None), (2, 1)])
    assert ak.score([one], ["0-0 2-1"]).links.f1 == 1  # a null is no link
    numpy = pytest.importorskip("numpy")
    assert ak.score([numpy.array([[0, 0], [1, 1]])], [[ak.Link(0, 0), (1, 1, "P")]]).links.aer == 0
    corpus = ak.read_corpus(PARAPHRASES, format="alignkit-jsonl")
    found = ak.score(corpus, "eflomal", "gold")
    assert found.rows["links"].shape == (64, 8)
    assert ak.aer(corpus, "eflomal", "gold") == found.links.aer
    assert ak.aer(corpus, "eflomal", "gold", ignore_identical=True) > found.links.aer
    assert ak.score(corpus, hypothesis="anna", reference="gold").pairs == 64


def test_two_files_with_ids_are_joined_by_them(tmp_path, capsys):
    first = write(tmp_path, "first", "x\t0-0\ny\t1-1\n")
    assert ak.score(first, write(tmp_path, "second", "y\t1-1\nx\t0-0\n")).links.f1 == 1
    third = write(tmp_path, "third", "y\t1-1\nz\t0-0\n")
    refuses(errors.JoinError, "first", ak.score, first, third)
    longer = write(tmp_path, "longer", "0-0\n0-0\n")
    shorter = write(tmp_path, "shorter", "0-0\n")
    told = r"longer has 2 lines, but .*shorter has 1; .* `partial=True`"
    refuses(errors.JoinError, told, ak.score, shorter, longer)
    run(capsys, "score", shorter, longer).failed("use --partial")
    assert ak.score(shorter, longer, partial=True).pairs == 1
    with pytest.raises(errors.MissingTextError, match=r"shorter.*words"):
        ak.score(shorter, shorter, ignore_identical=True)


LINKS = [{(0, 0)}]
CORPUS = ak.Corpus([ak.SentencePair("1", None, None, {"gold": ak.Alignment.parse("0-0")})])


@pytest.mark.parametrize(
    ("kind", "given_"),
    [
        (errors.OptionError, (LINKS, [{(0, 0)}] * 2)),
        (errors.ArgumentError, (CORPUS, LINKS)),
        (errors.ArgumentError, (LINKS, "gold.align")),
        (errors.ArgumentError, (LINKS, CORPUS)),
        (errors.ArgumentError, (LINKS, LINKS, "gold")),
        (errors.AlignmentError, (LINKS, ["0~0"])),
        (errors.ArgumentError, ({(0, 0)}, {(0, 0)})),
        (errors.AlignmentError, (LINKS, [{(0, -1)}])),
        (errors.ArgumentError, (LINKS, [{(0, 0, 0)}])),
        (ak.FormatError, ("nothing.align", "x")),
        (errors.ArgumentError, ([(0, 0)], [(0, 0)])),
        (errors.MissingFileError, ("0-0 1-1", "0-0")),
    ],
)
def test_what_cannot_be_scored_is_refused(kind, given_):
    with pytest.raises(kind) as caught:
        ak.score(*given_)
    assert isinstance(caught.value, ak.AlignkitError)


def links_file(folder, name, base=0, turned=False):
    text = "".join(
        " ".join(f"{(j if turned else i) + base}-{(i if turned else j) + base}" for i, j in line)
        + "\n"
        for line in (((k % 3, 0), (1, k % 4)) for k in range(30))
    )
    return write(folder, name, text)


def test_files_are_read_as_is_said_of_both_or_of_one(tmp_path):
    plain, from_one = links_file(tmp_path, "plain"), links_file(tmp_path, "one", base=1)
    turned = links_file(tmp_path, "turned", turned=True)
    assert ak.score(plain, from_one, ref_base=1).links.f1 == 1
    assert ak.score(from_one, from_one, base=1).links.f1 == 1
    assert ak.score(from_one, plain, base=1, ref_base=0).links.f1 == 1
    assert ak.score(turned, plain, hyp_transpose=True).links.f1 == 1
    assert ak.score(turned, plain, transpose=True, ref_transpose=False).links.f1 == 1
    assert ak.aer(plain, from_one, ref_base=1) == 0
    assert ak.aer(plain, turned, ref_transpose=True) == 0
    found = ak.score(plain, from_one, format="pharaoh", ref_base=1)
    assert "format:pharaoh/pharaoh|base:0/1|" in str(found.signature)


def test_files_are_scored_as_the_command_scores_them(tmp_path, capsys):
    own = write(tmp_path, "own.align", "".join(f"{k}\t0-0\n" for k in range(52)))
    texts = {"source": TEXTS[1], "target": TEXTS[3]}
    for given_, options in (
        ((Path(EFLOMAL), GOLD), {"ignore_identical": True, **texts}),
        ((PARAPHRASES, PARAPHRASES), {"hyp_annotator": "anna", "ref_annotator": "gold"}),
        ((own, GOLD), {"in_order": True}),
        ((EFLOMAL, GOLD), {"hyp_format": "pharaoh", "ref_format": "pharaoh", "encoding": "utf-8"}),
        ((EFLOMAL, GOLD), {**texts, "base": 0, "ref_base": 1, "drop_out_of_range": True}),
    ):
        flags = []
        for name, value in options.items():
            flags += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
        ran = run(capsys, "score", *given_, *flags, "--level", "links", "--json").json
        assert ran["links"] == ak.score(*given_, **options).links.to_json()


def test_a_base_that_looks_wrong_is_told(tmp_path, caplog, capsys):
    plain, from_one = links_file(tmp_path, "plain"), links_file(tmp_path, "one", base=1)
    ak.score(plain, from_one)
    (told,) = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]
    suspicion = told.removeprefix(f"{from_one}: ")
    assert suspicion.endswith("use `ref_base=1`")
    ran = run(capsys, "score", plain, from_one)
    assert f"{from_one}: warning: {suspicion.replace('`ref_base=1`', '--ref-base 1')}" in ran.err
    caplog.clear()
    ak.score(plain, from_one, ref_base=1)
    assert not [one for one in caplog.records if one.levelname == "WARNING"]


def test_how_to_read_is_refused_where_nothing_is_read(tmp_path):
    plain = links_file(tmp_path, "plain")
    told = r"base only applies to two files: use read_corpus\(path, base="
    refuses(errors.OptionError, told, ak.score, CORPUS, "gold", "gold", base=1)
    told = "ref_base only applies to two files"
    refuses(errors.OptionError, told, ak.score, LINKS, LINKS, ref_base=1)
    for given_ in ((CORPUS, "gold", "gold"), (LINKS, LINKS), (plain, plain)):
        refuses(errors.UnknownNameError, "ref_bas", ak.score, *given_, ref_bas=1)
    for options, error, told in (
        ({"hyp_format": "pharoah"}, errors.UnknownNameError, "pharoah"),
        ({"hyp_base": 2}, errors.OptionError, "base"),
        ({"ref_annotator": 3}, errors.ArgumentError, "ref_annotator is 3"),
    ):
        refuses(error, told, ak.score, plain, plain, **options)
    refuses(OSError, "use a list", ak.score, "0-0 1-1", "0-0")
    refuses(ak.FormatError, None, ak.score, tmp_path / "none", tmp_path)
    refuses(errors.MissingTextError, "words", ak.score, LINKS, LINKS, ignore_identical=True)
    told = "unknown argument of aer: .level."
    refuses(errors.UnknownNameError, told, ak.aer, LINKS, LINKS, level="both")


def test_a_file_and_a_corpus_are_scored_as_two_files_are(tmp_path):
    corpus = ak.read_corpus(PARAPHRASES)
    path = tmp_path / "eflomal.tsv"
    ak.write_corpus(corpus, path, format="multimwa", annotator="eflomal")
    expected = ak.score(corpus, "eflomal", "gold").links
    assert ak.score(path, corpus, hyp_format="multimwa", ref_annotator="gold").links == expected
    other = ak.score(corpus, str(path), ref_format="multimwa", hyp_annotator="gold").links
    assert (other.precision, other.recall) == (expected.recall, expected.precision)
    refuses(errors.OptionError, "choose one with `ref_annotator`", ak.score, path, corpus)


def test_an_annotator_goes_before_a_file_of_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "eflomal", "0-0\n")
    corpus = ak.read_corpus(PARAPHRASES)
    assert ak.score(corpus, "eflomal").links == ak.score(corpus, "eflomal", "gold").links


def test_intervals_are_asked_for_by_ci():
    names = ak.read_corpus(PARAPHRASES), "eflomal", "gold"
    assert ak.score(*names, ci=True).to_json() == ak.score(*names).with_intervals().to_json()
    assert "[" in str(ak.score(EFLOMAL, GOLD, ci=True))
