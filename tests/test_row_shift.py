"""A line too many or too few in one of three files is found, named, and never met by dropping."""

import random

import pytest
from command import EFLOMAL, FRENCH, GOLD, run, write

import alignkit as ak
from alignkit.errors import FormatError
from alignkit.io.hints import with_shift
from alignkit.io.options import ReadOptions
from alignkit.io.shifted_texts import shift_of

FILES = {
    name: (FRENCH / file).read_text(encoding="utf-8").splitlines()
    for name, file in (("links", "gold.align"), ("fr", "fr.txt"), ("en", "en.txt"))
}


def written(folder, files):
    paths = {name: write(folder, name, "\n".join(lines) + "\n") for name, lines in files.items()}
    return paths["links"], ["--source", paths["fr"], "--target", paths["en"]]


def shifted(folder, who, k, line):
    """Write the files; the named ones have a line too many, or, with None, one too few."""
    files = {name: list(lines) for name, lines in FILES.items()}
    for name in who:
        files[name][k : k + (line is None)] = [] if line is None else [line]
    return written(folder, files)


@pytest.mark.parametrize("line", ["", "0-0 un chat", None])
@pytest.mark.parametrize("who", [["fr"], ["en"], ["links"], ["fr", "en"]])
@pytest.mark.parametrize("k", [0, 20])
def test_the_line_is_found(tmp_path, who, k, line):
    line = line and ("0-0" if who == ["links"] else "un chat")
    path, texts = shifted(tmp_path, who, k, line)
    found = shift_of(path, "pharaoh", ReadOptions(source=texts[1], target=texts[3]))
    assert abs(found.line - 1 - k) <= 2
    assert found.step == (-1 if (who == ["links"]) == (line is not None) else 1)
    moved = {"links": ["fr", "en"]}.get(who[0], who)
    assert [name.rsplit("/", 1)[-1] for name in found.texts] == moved


@pytest.mark.parametrize("options", [[], ["--drop-out-of-range"], ["--partial"]])
def test_the_error_offers_no_dropping(capsys, tmp_path, options):
    path, texts = shifted(tmp_path, ["fr", "en"], 20, "")
    ran = run(capsys, "stats", path, *texts, *options).failed("about line 21")
    assert "--drop" not in ran.err
    assert "--partial" not in ran.err
    with pytest.raises(FormatError, match="look shifted"):
        ak.read_corpus(path, source=texts[1], target=texts[3])


def test_check_names_the_line_and_mends_nothing(capsys, tmp_path):
    path, texts = shifted(tmp_path, ["fr"], 20, "un chat")
    (tmp_path / "en").write_text("\n".join([*FILES["en"], "one more"]), encoding="utf-8")
    (tmp_path / "links").write_text("\n".join([*FILES["links"], "0-0"]), encoding="utf-8")
    ran = run(capsys, "check", path, *texts, "--json")
    assert ran.code == 1
    (finding,) = [one for one in ran.json[0]["findings"] if one["kind"] == "row shift"]
    assert abs(finding["line"] - 21) <= 2
    run(capsys, "check", path, *texts, "--fix", tmp_path / "out").failed("nothing was fixed")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("line", ["un chat", None])
def test_check_names_the_line_where_texts_differ_in_length(capsys, tmp_path, line):
    path, texts = shifted(tmp_path, ["fr"], 20, line)
    run(capsys, "check", path, *texts).failed("sentences, but", "shifted from about line 2")


def test_dropping_on_request_still_warns_and_counts(capsys, tmp_path, caplog):
    path, texts = shifted(tmp_path, ["fr", "en"], 20, "")
    drop = ["--drop-out-of-range", "--partial", "--quiet"]
    assert "look shifted" in run(capsys, "stats", path, *texts, *drop).err
    told = run(capsys, "score", EFLOMAL, path, *texts, *drop, "--ignore-identical", "--json").json
    assert any("look shifted" in one for one in told["cautions"])
    assert any("of range were dropped" in one for one in told["cautions"])
    ak.read_corpus(path, source=texts[1], target=texts[3], drop_out_of_range=True, partial=True)
    assert "look shifted" in caplog.text


def test_healthy_files_and_bad_links_are_no_shift(capsys, tmp_path):
    path, texts = written(tmp_path, FILES)
    assert run(capsys, "check", path, *texts).code == 0
    rng = random.Random(1)
    options = ReadOptions(source=texts[1], target=texts[3])
    for share in (0.02, 0.1, 0.4, 1.0):
        links = [f"{one} 0-90" if rng.random() < share else one for one in FILES["links"]]
        written(tmp_path, {**FILES, "links": links})
        assert shift_of(path, "pharaoh", options) is None
    written(tmp_path, {**FILES, "links": rng.sample(FILES["links"], len(FILES["links"]))})
    assert shift_of(path, "pharaoh", options) is None
    assert shift_of(GOLD, "pharaoh", ReadOptions(source=texts[1], base=1)) is None


def test_links_by_number_and_bitexts_are_looked_at(tmp_path):
    gold = ak.read_corpus(GOLD, source=FRENCH / "fr.txt", target=FRENCH / "en.txt")
    path = tmp_path / "gold.wa"
    ak.write_corpus(gold, path, format="naacl")
    lines = [f"{fr} ||| {en}" for fr, en in zip(FILES["fr"], FILES["en"], strict=True)]
    bitext = write(tmp_path, "bitext", "\n".join([*lines[:20], " ||| ", *lines[20:]]) + "\n")
    with pytest.raises(FormatError, match=r"line 2[012] on.*in .*bitext"):
        ak.read_corpus(path, format="naacl", source=bitext)


def test_only_the_advice_of_an_error_goes_where_texts_are_shifted(tmp_path):
    files = {name: list(lines) for name, lines in FILES.items()}
    for name in ("fr", "en"):
        files[name].insert(20, "")
    folder = tmp_path / "a; b"
    folder.mkdir()
    path, texts = written(folder, files)
    error = FormatError("id 'a; b' is odd", path, 3, advice="drop it")
    assert str(error) == f"{path}:3: id 'a; b' is odd; drop it"
    told = with_shift(error, path, "pharaoh", ReadOptions(source=texts[1], target=texts[3]))
    assert "id 'a; b' is odd; " in str(told)
    assert "about line 21" in str(told)
    assert "drop it" not in str(told)
