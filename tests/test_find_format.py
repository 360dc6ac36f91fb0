"""The format of a file is found by its first records, damaged or not, unless two read it alike."""

import gzip
import json
import logging
import os
import re
import threading

import pytest
from command import FRENCH, GOLD, PARAPHRASES, TEXTS, feed, run, write
from refusals import refuses
from repetitions import FULL
from test_formats_judged import PARADE, RELATIONS, TSV, TURKU

from alignkit import iterate_pairs, read_corpus, write_corpus
from alignkit.errors import FormatError, UnknownFormatError
from alignkit.io import FORMATS, WRITTEN, ReadOptions, find_format, get_format
from alignkit.io.sniffing import Likeness, read_head

ALIKE = {"goldalign"}
"""A loose batch of it reads as multimwa too, which took over its columns."""

OF_DATA = {
    path: format
    for format, paths in {
        "pharaoh": "hansards/dev.fr-en.align roen/roen.gold roen/giza/test.roen.reverse.talp "
        "roen/fastalign/test.roen.talp bible/text.a grc-eng/alignment_grc_eng.txt "
        "formats/alibi/ali_w2w_LaBarbeBleue_BlueBeard.txt formats/ugarit/alignment_grc_lat.txt "
        "reports/silveralign/gold.txt reports/machine-py.txt reports/awesome-prob/alignments.out",
        "giza": "reports/short_head.A3",
        "apty": "reports/apty/apty_base.csv",
        "rte": "rte2/RTE2_dev_A.align.txt rte2/RTE2_dev_B.align.txt rte2/RTE2_dev_C.align.txt",
        "jacana": "rte2/RTE2_dev_M.align.json edinburgh edinburgh/gold.train.sure.json",
        "goldalign": "goldalign goldalign/datasets/vpd-corpus/batch_0000.tsv "
        "goldalign/users/demo-user-1/complete/vpd-corpus/batch_0001.tsv",
        "multimwa": "multimwa/mtref-train.tsv multimwa/mtref-dev.tsv multimwa/wiki-dev.tsv",
        "xlwa": "xl-wa/bg/dev.tsv xl-wa/da/dev.tsv xl-wa/es/dev.tsv",
        "yawat": "formats/yawat formats/yawat/ep-96-04-15.0000-0099 "
        "formats/yawat/ep-96-04-15.0000-0099.aln formats/yawat/ep-96-04-15.0000-0099.crp",
        "naacl": "formats/wpt-eng-hin/data/test.eng.hin.wa",
        "ists": "formats/ists/STSint.testinput.images.wa reports/ldc/sample_arabic.wa "
        "reports/ldc/sample_chinese.wa",
        "transread": "formats/transread formats/transread/task_1_es-en "
        "formats/transread/task_1_es-en/task_1_es-en.txt "
        "formats/transread/task_1_es-en/task_1_es-en_annotation_1.txt",
        "turku": "turku/sv-test.json turku/opus-sample-first-3000.tsv",
        "parade": "parade/PARADE_validation.txt",
        "etpc": "etpc etpc/textual_np_neg.xml",
        "": "hansards/train.en rte2 edinburgh/train.parsed.xml.gz roen/roen.src-tgt "
        "roen/giza/roen-results.txt multimwa bible bible/text.e grc-eng/grc.txt turku "
        "kovatchev/table3.tsv formats/alibi/BlueBeard_sents.txt formats/wpt-eng-hin/data/test.eng",
    }.items()
    for path in paths.split()
}
NO_CORPUS = [path for path, format in OF_DATA.items() if not format]
OF_DATA = {path: format for path, format in OF_DATA.items() if format}


@pytest.mark.real_data
@pytest.mark.parametrize("path", OF_DATA)
def test_real_corpora_are_found(data, path):
    assert find_format(data / path) == OF_DATA[path]


@pytest.mark.real_data
@pytest.mark.parametrize("path", NO_CORPUS)
def test_what_is_no_corpus_is_not_taken_for_one(data, path):
    refuses(UnknownFormatError, None, find_format, data / path)


@pytest.fixture(scope="module")
def paraphrases():
    return read_corpus(PARAPHRASES)


@pytest.fixture(scope="module")
def gold(paraphrases):
    return paraphrases.map(lambda pair: pair.without_annotations("eflomal", "anna", "ben"))


@pytest.fixture(scope="module")
def french():
    return read_corpus(GOLD, source=TEXTS[1], target=TEXTS[3])


def written(corpus, format, folder):
    kind = get_format(format)
    pairs = corpus
    if "annotators" not in kind.holds or format == "goldalign":
        drop = set(corpus.annotators) - {corpus.annotators[-1]}
        pairs = corpus.map(lambda pair: pair.without_annotations(*drop))
    path = folder / ("out.tsv" if format == "goldalign" else "out")
    write_corpus(pairs, path, format=format)
    return path


@pytest.mark.parametrize("format", WRITTEN)
@pytest.mark.parametrize("samples", ["paraphrases", "french"])
def test_what_alignkit_writes_is_found(request, tmp_path, format, samples):
    path = written(request.getfixturevalue(samples), format, tmp_path)
    if format in ALIKE:
        with pytest.raises(UnknownFormatError, match='`format="goldalign"` or `format="multimwa"`'):
            find_format(path)
    else:
        assert find_format(path) == format


def formats_that_are_sure(path):
    head = read_head(str(path), ReadOptions())
    return [name for name in FORMATS if get_format(name).sniff(head) is Likeness.SURE]


@pytest.mark.parametrize("format", WRITTEN)
@pytest.mark.parametrize("samples", ["paraphrases", "french"])
def test_only_its_own_format_is_sure_of_what_alignkit_writes(request, tmp_path, format, samples):
    path = written(request.getfixturevalue(samples), format, tmp_path)
    assert formats_that_are_sure(path) == ([] if format in ALIKE else [format])


@pytest.mark.real_data
@pytest.mark.parametrize("path", OF_DATA)
def test_only_its_own_format_is_sure_of_a_real_corpus(data, path):
    assert formats_that_are_sure(data / path) == [OF_DATA[path]]


@pytest.mark.real_data
@pytest.mark.parametrize("path", NO_CORPUS)
def test_no_format_is_sure_of_what_is_no_corpus(data, path):
    if (data / path).is_dir():
        return  # it has a corpus as well as other files
    assert formats_that_are_sure(data / path) == []


SHOWN = [name for name in WRITTEN if "alignkit" in name or name in ("jacana", "edinburgh")]


@pytest.mark.parametrize("format", [*SHOWN, "paraphrase-xml", "yawat", "transread"])
def test_a_corpus_without_pairs_is_found(tmp_path, format):
    write_corpus([], tmp_path / "out", format=format)
    assert find_format(tmp_path / "out") == format
    assert len(read_corpus(tmp_path / "out")) == 0


@pytest.mark.parametrize("text", ["[[]]", "[1]", "<root/>", "<corpus><a/></corpus>", '{"a": []}'])
def test_what_only_looks_empty_is_no_corpus(tmp_path, text):
    refuses(UnknownFormatError, None, find_format, write(tmp_path, "x", text))


@pytest.mark.parametrize("format", WRITTEN)
def test_packed_files_and_standard_input_are_found(tmp_path, monkeypatch, paraphrases, format):
    path = written(paraphrases[:20], format, tmp_path)
    if not path.is_file() or format in ALIKE or format in ("yawat", "transread", "scripture"):
        return
    packed, raw = tmp_path / "out.gz", path.read_bytes()
    packed.write_bytes(gzip.compress(raw))
    assert find_format(packed) == format
    for data in (raw, packed.read_bytes()):
        feed(monkeypatch, data)
        assert read_corpus("-") == read_corpus(path, format=format)


def test_more_than_the_head_of_standard_input_is_read(monkeypatch):
    feed(monkeypatch, b"0-0 1-1\n" * 80_000)
    assert len(read_corpus("-")) == 80_000


def test_a_pipe_is_found_and_read_whole(tmp_path):
    pipe, plain, text = tmp_path / "pipe", tmp_path / "text", "1 1 1\n1 2 2\n"
    plain.write_text(text)
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(text,))
    writer.start()
    corpus = read_corpus(pipe)
    writer.join()
    assert corpus == read_corpus(plain, format="naacl")


@pytest.mark.parametrize(
    ("text", "format"),
    [
        *((text, "pharaoh") for text in ("", "\n\n", "a1\t0-0\na2\t\n", "0-0\n0-x\n")),
        ("0-0\n\n1?1 2p2 3-3P\n", "pharaoh"),
        *((text, "naacl") for text in ("1 1 1\n1 2 0\n", "1 0 0\n")),
        *((text, "blinker") for text in ("1 1\n2 0\n", "0 0\n")),
        ("a b\tc\t0-0\t\t\t\t\t\t\t\n", "xlwa"),
        ("\ufeff# sentence pair 1\na\nNULL ({ / / }) b ({ 1 / / })\n", "rte"),
        ('\n{"src_words": ["a"], "tgt_words": ["b"], "alignment": [[0, 0]]}\n', "jsonl"),
        ('{"paraphrases": [{"S": {"string": "a"}, "T": {"string": "b"}}]}', "edinburgh"),
    ],
)
def test_small_files_are_found(tmp_path, text, format):
    assert find_format(write(tmp_path, "file", text)) == format


def test_a_file_without_links_is_known_by_its_name(tmp_path):
    (tmp_path / "samp1.SentPair0").write_text("")
    (tmp_path / "samp1.SentPair1").write_text("\n")
    assert find_format(tmp_path) == find_format(tmp_path / "samp1.SentPair1") == "blinker"


def test_base_and_direction_do_not_matter(tmp_path):
    path = write(tmp_path, "file", "a b\tc d\t1-1 2-2\n" * 5)
    assert find_format(path) == "xlwa"
    refuses(FormatError, "check `base` and `transpose`", read_corpus, path)


def test_the_encoding_does_not_matter(tmp_path):
    path = tmp_path / "file"
    path.write_bytes("é\tà\t0-0\n".encode("latin-1"))
    assert find_format(path) == "xlwa"
    refuses(FormatError, "with `encoding`", read_corpus, path)
    assert read_corpus(path, encoding="latin-1")[0].source == ("é",)
    path.write_bytes("a\tb\t0-0\n".encode("utf-16"))
    assert find_format(path, encoding="utf-16") == "xlwa"


def test_what_looks_like_nothing_lists_all(tmp_path, capsys):
    path = write(tmp_path, "file", "<nothing/>\n")
    with pytest.raises(UnknownFormatError) as caught:
        read_corpus(path)
    assert all(name in str(caught.value) for name in FORMATS)
    assert caught.value.fitting == []
    run(capsys, "stats", path).failed(f"{path}: no format fits", "by --format")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[{"src": "a"}]', "jacana, but line 1: 'source'"),
        ("a b\tc d\t0-0 1-", "xlwa, but line 1: '1-'"),
        ("a b\tc", "xlwa, but line 1: 2"),
        ("3\t1\tstack\ta b\tc d\n", "parade, but line 1: expected"),
        ("4>\ta b\tc d\n", "turku, but line 1: expected"),
        ("1 2 x\n", "naacl, but line 1: "),
        ("the house is small\n", "give it by `source`"),
        ("das haus ||| the house\n", "it is text, 'source ||| target'; give it by `source`"),
        ("0-0 1-1\r2-2\r", "carriage returns only"),
    ],
)
def test_what_fits_nothing_is_told_why(tmp_path, text, why):
    with pytest.raises(FormatError) as caught:
        read_corpus(write(tmp_path, "file", text))
    assert why in str(caught.value)
    assert "by `format`" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "format", "why"),
    [
        ("0-0 1_1 2-2\n", "pharaoh", "'1_1' is not a link"),
        ('{"src_words": [],, "x": []}\n' * 3, "jsonl", "not JSON"),
        ('{"paraphrases": [1]}', "edinburgh", "expected an object"),
        ('[{"source": "a", "target": "b"}, {"x": ]', "jacana", "not JSON"),
        ('[{"label": "4', "turku", "not JSON"),
        ("label\tsource\n4\tx\n", "turku", "expected a JSON list"),
        ('<corpus xmlns="x"><pair/><annotation/>', "alignkit-xml", "expected <corpus"),
        ("<sentence id=1>\n", "ists", "expected '<sentence id"),
        ('{"alignmentGroups": [], "x": ]', "alpheios", "not JSON"),
    ],
)
def test_a_broken_file_that_looks_like_a_format_is_told_by_its_reader(tmp_path, text, format, why):
    path = write(tmp_path, "file", text)
    assert find_format(path) == format
    with pytest.raises(FormatError, match=re.escape(why)) as caught:
        read_corpus(path)
    assert not isinstance(caught.value, UnknownFormatError)
    assert caught.value.line in (None, 1)


def test_the_empty_name_is_no_folder_and_a_missing_file_is_missing(tmp_path):
    refuses(FileNotFoundError, None, read_corpus, tmp_path / "none")
    for format in (None, "pharaoh"):
        refuses(FileNotFoundError, "name is empty", read_corpus, "", format=format)


def test_a_folder_of_two_formats_is_refused(tmp_path, gold):
    write_corpus(gold, tmp_path / "gold.json", format="jacana")
    assert find_format(tmp_path) == "jacana"
    (tmp_path / "README.txt").write_text("about the corpus\n")
    assert find_format(tmp_path) == "jacana"
    write_corpus(gold, tmp_path / "gold.txt", format="rte")
    refuses(UnknownFormatError, "jacana and rte", find_format, tmp_path)


@pytest.mark.parametrize("format", ["jacana", "transread", "yawat"])
def test_a_corpus_in_a_deeper_folder_is_not_left_out(tmp_path, gold, format):
    write_corpus(gold, tmp_path / ("x.json" if format == "jacana" else "x"), format=format)
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "notes.txt").write_text("about the corpus\n")
    assert find_format(tmp_path) == find_format(f"{tmp_path}/./") == format
    write_corpus(gold, deep / "more.tsv", format="xlwa")
    told = rf'{format} and xlwa \(a/b/more.tsv\); give one of them, or use `format="{format}"`'
    refuses(UnknownFormatError, told, read_corpus, tmp_path)


def test_a_deeper_folder_of_the_same_format_is_not_left_out(tmp_path, gold):
    (tmp_path / "old").mkdir()
    for path in ("gold.json", "old/gold.json"):
        write_corpus(gold, tmp_path / path, format="jacana")
    refuses(UnknownFormatError, r"jacana and jacana \(old/gold.json\)", find_format, tmp_path)
    (tmp_path / "old").rename(tmp_path / ".old")
    assert find_format(tmp_path) == "jacana"


def test_a_folder_that_holds_a_corpus_names_it(tmp_path, gold):
    write_corpus(gold, tmp_path / "dev.tsv", format="xlwa")
    refuses(UnknownFormatError, r"files of xlwa \(dev.tsv\); give one", read_corpus, tmp_path)


@pytest.mark.real_data
@pytest.mark.parametrize("folder", ["", "formats"])
def test_a_folder_of_many_corpora_is_not_one(data, folder):
    refuses(UnknownFormatError, r"transread, .*naacl .*; give one", read_corpus, data / folder)


def test_a_refused_file_names_the_format_that_fits(tmp_path, capsys, paraphrases):
    path = written(paraphrases, "jacana", tmp_path)
    with pytest.raises(FormatError, match='reads as jacana: `format="jacana"`'):
        read_corpus(path, format="pharaoh")
    told = "the file reads as jacana: --format jacana"
    for words in (["stats", path], ["convert", path, tmp_path / "o", "--to", "xlwa"]):
        run(capsys, *words, "--format", "pharaoh").failed(told)
    run(capsys, "score", path, path, "--format", "naacl").failed(told)
    run(capsys, "check", path, "--format", "multimwa").failed("read as multimwa", told)


@pytest.mark.parametrize("format", [*WRITTEN, "goldalign/"])
def test_whatever_it_is_refused_as_the_format_that_fits_is_named(tmp_path, paraphrases, format):
    format, folder, _ = format.partition("/")
    path = tmp_path / "folder"
    if folder:
        write_corpus(paraphrases[:8], path, format=format)
    else:
        path = written(paraphrases[:8], format, tmp_path)
        path = path if path.exists() else next(tmp_path.iterdir())
    alike = {"multimwa"} if format in ALIKE and not folder else set()
    others = sorted(set(FORMATS) - {format} - alike)
    if not FULL:  # a third for each format, not the same for all
        others = others[len(format) % 3 :: 3]
    for wrong in others:
        if (format, wrong) == ("multimwa", "goldalign"):
            continue  # which is read: the columns are the same
        with pytest.raises(FormatError) as caught:
            read_corpus(path, format=wrong)
        assert f'`format="{format}"`' in str(caught.value), wrong


def test_a_file_that_lacks_its_other_half_is_still_missing_it(tmp_path, paraphrases):
    path = written(paraphrases, "xlwa", tmp_path)
    with pytest.raises(FileNotFoundError) as caught:
        read_corpus(path, format="transread")
    assert f"{path} reads as xlwa" in str(caught.value)
    assert caught.value.filename == f"{path}.txt"


def test_the_name_is_told_and_logged(capsys, caplog):
    with caplog.at_level(logging.INFO, "alignkit"):
        read_corpus(GOLD)
    assert (caplog.messages, capsys.readouterr()) == ([f"{GOLD}: read as pharaoh"], ("", ""))
    assert run(capsys, "score", GOLD, GOLD, *TEXTS).err == f"alignkit: {GOLD}: read as pharaoh\n"
    assert run(capsys, "stats", GOLD, "--format", "pharaoh").err == ""
    assert run(capsys, "stats", PARAPHRASES).err == ""
    assert run(capsys, "stats", GOLD, "--quiet").err == ""


def test_what_check_suspects_is_logged(tmp_path, caplog):
    path = tmp_path / "from-one"
    corpus = read_corpus(GOLD)
    write_corpus(corpus, path, format="pharaoh", base=1)
    read_corpus(path)
    list(iterate_pairs(path))
    (told,) = {record.getMessage() for record in caplog.records}
    assert told.startswith(f"{path}: suspicious base")
    assert "declare base 1 (" in told
    assert {record.levelname for record in caplog.records} == {"WARNING"}
    write_corpus(corpus, path, format="pharaoh", transpose=True)
    caplog.clear()
    read_corpus(path, source=TEXTS[1], target=TEXTS[3], drop_out_of_range=True)
    assert "are written target first" in caplog.text
    caplog.clear()
    read_corpus(path, source=TEXTS[1], target=TEXTS[3], transpose=True)
    write_corpus(corpus, path, format="pharaoh", base=1)
    read_corpus(path, base=1)
    read_corpus(GOLD)
    read_corpus(PARAPHRASES)
    assert caplog.text == ""


def numbered_from_one(tmp_path, *kinds):
    """Write a file of a format that counts from 1, and its texts; each kind is given by number."""
    kept = {
        "plain": ("haus , katze .", "house , cat .", "1-1 3-3"),  # moved by a word: commas
        "right": ("haus , Ada 1843 .", "house , Ada 1843 .", "3-3 4-4"),
        "moved": ("haus , Ada 1843 .", "house , Ada 1843 .", "2-2 3-3"),  # counted from 0
        "swapped": ("Ada und 1843 .", "the Ada , 1843", "2-1 4-3"),  # target first
    }
    paths = [tmp_path / name for name in ("links.wa", "source", "target")]
    pairs = [kept[kind] for kind, times in kinds for _ in range(times)]
    for path, side in zip(paths[1:], zip(*pairs, strict=True), strict=False):
        path.write_text("".join(f"{text}\n" for text in side))
    lines = (
        f"{k} {link.replace('-', ' ')}\n"
        for k, (_, _, links) in enumerate(pairs, 1)
        for link in links.split()
    )
    paths[0].write_text("".join(lines))
    return paths


def suspected(capsys, caplog, paths):
    """Return the suspicions while reading, and those of `check`."""
    caplog.clear()
    read_corpus(paths[0], source=paths[1], target=paths[2], drop_out_of_range=True)
    words = ("check", paths[0], "--source", paths[1], "--target", paths[2], "--json")
    counts = run(capsys, *words).json[0]["counts"]
    names = "suspicious base", "suspicious direction"
    return [{name for name in names if name in text} for text in (caplog.text, counts)]


@pytest.mark.parametrize(
    ("kinds", "suspicion"),
    [
        ([("plain", 300)], set()),
        ([("plain", 300), ("right", 3)], set()),
        ([("moved", 300)], {"suspicious base"}),
        ([("plain", 50), ("moved", 300)], {"suspicious base"}),
        ([("moved", 100), ("right", 300)], set()),  # the first records are not all
        ([("swapped", 300)], {"suspicious direction"}),
    ],
)
def test_reading_and_check_suspect_the_same_by_names_and_numbers(
    tmp_path, capsys, caplog, kinds, suspicion
):
    assert suspected(capsys, caplog, numbered_from_one(tmp_path, *kinds)) == [suspicion] * 2


@pytest.mark.real_data
@pytest.mark.parametrize("folder", ["reports/pud-en-ru", "interchange"])
def test_universal_dependencies_are_counted_as_declared(data, folder, capsys, caplog):
    (links,) = (data / folder).glob("*alignment.json")
    (english,) = (data / folder).glob("*en.conllu")
    (other,) = {*(data / folder).glob("*.conllu")} - {english}
    assert suspected(capsys, caplog, (links, english, other)) == [set(), set()]
    words = ("check", links, "--source", english, "--target", other, "--json")
    fits = run(capsys, *words).json[0]["fits"]
    equal = {fit["base"]: fit["equal"] for fit in fits if not fit["transposed"]}
    assert equal[1] > 1.5 * equal[0]


@pytest.mark.real_data
@pytest.mark.parametrize("path", OF_DATA)
def test_of_real_corpora_only_the_wrong_base_is_suspected(data, path, caplog):
    encoding = "latin-1" if "yawat" in path else "utf-8"
    next(iterate_pairs(data / path, encoding=encoding, partial=True, drop_out_of_range=True))
    found = any("suspicious base" in text for text in caplog.messages)
    assert found == (path in ("roen/roen.gold",))


def test_a_text_is_not_taken_for_a_corpus(capsys, tmp_path):
    sides = [(FRENCH / name).read_text().splitlines() for name in ("fr.txt", "en.txt")]
    path = write(tmp_path, "text", "".join(f"{a} ||| {b}\n" for a, b in zip(*sides, strict=True)))
    assert "read as" not in run(capsys, "align", path, "-o", tmp_path / "out", "--rounds", "1").err


LISTS = {
    "turku": [{"label": "3", "txt1": f"a {k}", "txt2": f"b {k}"} for k in range(3)],
    "jacana": [{"id": f"{k}", "source": "a b", "target": "c", "sureAlign": "0-0"} for k in "123"],
}
PARAPHRASE = {"S": {"string": "a b"}, "T": {"string": "c"}, "annotations": {}}
LINES = {
    "jsonl": [{"src_words": ["a"], "tgt_words": ["b"], "alignment": [[0, 0]]}] * 3,
    "alignkit-jsonl": [
        {"id": str(k), "source": ["a"], "target": ["b"], "annotations": {"x": {"judgment": "3"}}}
        for k in range(3)
    ],
}
DAMAGES = [
    lambda text: text[: len(text) // 2],  # cut short, and the rest goes on
    *(lambda text, sign=sign: text.replace(sign, "", 1) for sign in ':"}'),
    lambda text: "7",
    lambda text: "{}",
    lambda text: text + "}",
    lambda text: "€" + text,
]


def whole(format):
    """Return what stands before the records, these, what stands between them, and behind."""
    if format in LISTS:
        return "[\n", [json.dumps(one) for one in LISTS[format]], ",\n", "\n]\n"
    if format == "edinburgh":
        return '{"paraphrases": [\n', [json.dumps(PARAPHRASE)] * 3, ",\n", "\n]}\n"
    return "", [json.dumps(one) for one in LINES[format]], "\n", "\n"


@pytest.mark.parametrize("damage", range(len(DAMAGES)))
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("format", [*LISTS, "edinburgh", *LINES])
def test_a_damaged_object_is_told_by_its_own_reader(tmp_path, format, place, damage):
    before, records, between, behind = whole(format)
    records = [*records]
    records[place] = DAMAGES[damage](records[place])
    path = write(tmp_path, "file.json", before + between.join(records) + behind)
    assert find_format(path) == format
    with pytest.raises(FormatError) as caught:
        read_corpus(path)
    assert not isinstance(caught.value, UnknownFormatError)
    assert caught.value.path == path
    first = 1 if format in LINES else 2
    assert caught.value.line in (place + first, place + first + 1)  # a gap shows in the next line


ROWS = [
    lambda text: text.replace("\t", " ", 1),
    lambda text: text + "\tx",
    lambda text: "",
    lambda text: "9" + text[1:],
]


@pytest.mark.parametrize("damage", range(len(ROWS)))
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize(("format", "text"), [("turku", TSV), ("parade", PARADE)])
def test_a_damaged_row_is_told_by_its_own_reader(tmp_path, format, text, place, damage):
    lines = text.splitlines()
    lines[place] = ROWS[damage](lines[place])
    path = write(tmp_path, "file.tsv", "\n".join(lines) + "\n")
    if lines[0]:  # else there is nothing to tell it by but the labels
        assert find_format(path) == format
    with pytest.raises(FormatError) as caught:
        read_corpus(path)
    if lines[0]:  # one heading too many shows in the first row
        assert caught.value.line in (place + 1, 2)
    else:
        assert re.search(f"{format}, but line [12]: expected", str(caught.value))


@pytest.mark.parametrize("label", ["5", 5, None, "４"])
def test_a_bad_label_in_the_first_record_is_told_by_turku(tmp_path, label):
    path = write(tmp_path, "file.json", json.dumps([{**TURKU[0], "label": label}, TURKU[1]]))
    with pytest.raises(FormatError, match="judgment") as caught:
        read_corpus(path)
    assert (caught.value.path, caught.value.line) == (path, 1)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("<s1_scope>", "<s1_scop>", "not XML"),
        ("<s1_scope>0, 1</s1_scope>", "", "expected <s1_scope>"),
        ("<s1_scope>0, 1</s1_scope>", "<s1_scope>0, x</s1_scope>", "'x' in s1_scope"),
        ("<pair_id>10</pair_id>", "<pair_id>10</pair_id><pair_id>1</pair_id>", "occurs twice"),
        ("<relation>", "<relation", "not XML"),
    ],
)
def test_a_damaged_relation_is_told_by_etpc(tmp_path, old, new, told):
    path = write(tmp_path, "relations.xml", RELATIONS.replace(old, new, 1))
    assert find_format(tmp_path) == "etpc"
    with pytest.raises(FormatError, match=told) as caught:
        read_corpus(tmp_path)
    assert (caught.value.path, caught.value.line) == (path, 2)


def test_keys_of_no_format_show_none(tmp_path):
    path = write(tmp_path, "file.json", '[{"source": "a", "text": "b", "number": 1}, {"x": ]')
    refuses(UnknownFormatError, None, read_corpus, path)
