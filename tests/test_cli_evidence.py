"""Evidence on the command line: what is read, refused, reported and warned of."""

from itertools import accumulate
from pathlib import Path

import pytest
from command import EFLOMAL, FAST, FRENCH, GOLD, TEXTS, made, run

from alignkit.align import Aligner
from alignkit.cli.main import main

FR, EN = FRENCH / "fr.txt", FRENCH / "en.txt"
LEARN = ["learn", GOLD, *TEXTS, "--format", "pharaoh"]
ALIGN = ["align", FR, EN]
VOTE = [*ALIGN, "--vote", "--evidence"]
LINES = Path(FAST).read_text("utf-8").splitlines()
WORDS = [[line.split() for line in path.read_text("utf-8").splitlines()] for path in (FR, EN)]


def write_lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return a model that learned from two systems, and the options for their files."""
    folder = tmp_path_factory.mktemp("evidence")
    neural = [
        " ".join(link if k % 9 else f"{link}:0.2" for k, link in enumerate(line.split()))
        for line in Path(GOLD).read_text("utf-8").replace("?", "-").splitlines()
    ]
    neural = write_lines(folder / "neural", neural)
    turned = [" ".join("-".join(link.split("-")[::-1]) for link in line.split()) for line in LINES]
    two = f"two={EFLOMAL},{write_lines(folder / 'turned', turned)}:transpose"
    evidence = ["--evidence", f"neural={neural}", "--evidence", two]
    assert main([*LEARN, *evidence, "--save", str(folder / "m"), "--quiet"]) == 0
    return folder, evidence


def test_a_model_needs_the_evidence_that_it_learned_from(capsys, files):
    folder, evidence = files
    learned = Aligner.load(folder / "m").parameters.learned
    systems = [list(system) for system in learned.lessons.evidence]
    assert systems == [["neural", 1, True], ["two", 2, False]]
    align = [*ALIGN, "--load", folder / "m"]
    ran = made(capsys, *align, *evidence)
    assert "neural: 52 of 52 pairs" in ran.err
    assert run(capsys, *align, *evidence[2:], *evidence[:2]).out == ran.out
    f1, alone = (f"{100 * x:.1f}" for x in learned.lessons.measures[:2])
    run(capsys, *align, *evidence[:2]).failed(
        "needs evidence of neural and two (2 files); given: neural: add --evidence two=FILE,FILE, "
        f"or --no-evidence to align without any (learned so too: F1 {alone} instead of {f1})"
    )
    told = "given: neural and two (2 files) and fast: give exactly these systems"
    run(capsys, *align, *evidence, "--evidence", f"fast={FAST}").failed(told)
    other = ["--evidence", f"two={FAST}"]
    run(capsys, *align, *evidence[:2], *other).failed("neural and two: give")
    assert made(capsys, *align, "--no-evidence").out != ran.out
    run(capsys, *align, "--no-learned", *evidence).failed("--evidence needs")
    plain = ["--evidence", f"neural={GOLD}", *evidence[2:]]  # without weights
    assert "weights of neural" in run(capsys, *align, *plain, "--quiet").err
    for side in (FR, EN):
        (folder / f"1.{side.stem}").write_bytes(side.read_bytes())
    parts = "align", folder / "*.fr", folder / "*.en", "-o", folder / "*.align"
    run(capsys, *parts, *align[3:]).failed("add --no-learned")


def test_all_at_once_is_the_same_as_by_a_model(capsys, files, tmp_path):
    folder, evidence = files
    corpus, every, out = (tmp_path / name for name in ("c.jsonl", "all.jsonl", "o"))
    run(capsys, "convert", GOLD, corpus, *TEXTS, "--format", "pharaoh")
    add = [
        "--add",
        f"neural={folder / 'neural'}",
        "--add",
        f"two/1={EFLOMAL}",
        "--add",
        f"two/2={folder / 'turned'}:transpose",
    ]
    run(capsys, "merge", corpus, *add, "-o", every)
    named = ["--learn", "alignment", "--evidence", "neural", "--evidence", "two"]
    ran = made(capsys, "align", every, *named, "--json", "-o", out)
    assert ran.json["evidence"] == ["neural", "two (2 files)"]
    kinds = [row["kind"] for row in ran.json["learned"]["systems"]]
    assert kinds == ["system:neural", "system:two", "vote"]
    run(capsys, "align", corpus, "--load", folder / "m", *evidence, "-o", tmp_path / "p")
    assert out.read_text() == (tmp_path / "p").read_text()
    run(capsys, *LEARN, "--evidence", "nobody").failed("nobody")
    run(capsys, *LEARN, "--evidence", f"alignment={FAST}").failed("annotator of the gold")


def test_a_model_that_learned_without_evidence_ignores_it_with_a_warning(capsys, files, tmp_path):
    model = tmp_path / "m"
    assert main([*LEARN, "--save", str(model), "--quiet"]) == 0
    align = [*ALIGN, "--load", model]
    plain = made(capsys, *align, "--json", "-o", tmp_path / "plain")
    ran = made(capsys, *align, *files[1], "--json", "-o", tmp_path / "out", "--quiet")
    caution = f"{model}: the evidence of neural and two is not used"
    caution += ": the model learned without evidence"
    assert ran.err == f"alignkit: {caution}\n"
    assert (ran.json["cautions"], "cautions" in plain.json) == ([caution], False)
    assert "evidence" not in ran.json
    assert (tmp_path / "out").read_text() == (tmp_path / "plain").read_text()


def test_the_vote_needs_no_gold(capsys, files):
    ran = made(capsys, *ALIGN, *files[1], "--vote", "--probs")
    assert all(0.5 <= float(link.split(":")[1]) <= 1 for link in ran.out.split())
    assert ran.out.split()
    run(capsys, *ALIGN, "--vote").failed("--vote needs --evidence")
    run(capsys, *ALIGN, *files[1]).failed("--evidence needs")


def test_evidence_and_vectors_work_together(capsys, files, tmp_path):
    vectors = write_lines(tmp_path / "v.vec", ["le 1 0", "the 1 0.1", "la 0 1", "a 0 1"])
    ran = made(capsys, *ALIGN, *files[1], "--vote", "--vectors", vectors)
    assert "words have no vector" in ran.err
    made(capsys, *LEARN, *files[1], "--vectors", vectors, "--prior", "none")


def test_files_that_do_not_fit_are_refused(capsys, tmp_path):
    file = tmp_path / "e"

    def ran(lines, *more, ending=""):
        return run(capsys, *VOTE, f"s={write_lines(file, lines)}{ending}", *more)

    ran(LINES[:50]).failed("50 of 52 pairs", "--partial")
    part = ran([*LINES[:40], "", *LINES[41:50]], "--partial")
    assert part.code == 0, part.err
    assert "s: 50 of 52 pairs; 2 without its evidence; 1 line is empty" in part.err
    ran([*LINES, "0-0"]).failed("line 53", "none of the 52 pairs")
    told = "read with base 0, source first", ":base1", ":transpose"
    ran(["0-99", *LINES[1:]]).failed(f"{file}:1: link 0-99", *told)
    for weight in ("1.5", "-0.1", "nan"):
        ran([*LINES[:2], f"0-0:{weight}", *LINES[3:]]).failed(f"{file}:3", weight)
    ran(LINES, ending=":nonsense").failed("nonsense")
    ran(LINES, "--evidence-source", f"other={FR}").failed("other", "no such --evidence")
    ran(LINES, "--evidence", f"s={file}").failed("each name once")
    ran(LINES, ending=",").failed("expected")
    ran(LINES, "--sure", "0.45").failed("--sure")  # all links have more votes


def test_files_with_ids_or_a_comma_in_the_name(capsys, tmp_path):
    ids = [f"{k}\t{line}" for k, line in enumerate(LINES, 1)]
    file, plain = tmp_path / "a,b", run(capsys, *VOTE, f"s={FAST}").out
    assert made(capsys, *VOTE, f"s={write_lines(file, ids[::-1])}:base0").out == plain
    run(capsys, *VOTE, f"s={write_lines(file, [*ids[:51], ids[0]])}").failed("the same id")


def test_a_wrong_direction_is_warned_of_and_not_turned(capsys, files):
    folder, _ = files
    turned = (folder / "turned").read_text().splitlines()

    def fits(link, *sides):
        return all(int(at) < len(side) for at, side in zip(link.split("-"), sides, strict=True))

    kept = [
        " ".join(link for link in line.split() if fits(link, *sides))
        for line, *sides in zip(turned, *WORDS, strict=True)
    ]
    wrong = write_lines(folder / "wrong", kept)
    told = run(capsys, *VOTE, f"two={EFLOMAL},{wrong}", "--quiet").err
    assert "aligner with :transpose" in told
    assert not run(capsys, *VOTE, f"two={EFLOMAL},{folder / 'turned'}:transpose", "--quiet").err


def test_other_tokens_are_carried_over(capsys, tmp_path):
    """A system that divides words into pieces votes as one that does not."""

    def pieces(word):
        return [f"{'##' * bool(k)}{word[k : k + 3]}" for k in range(0, len(word), 3)]

    own, firsts = [], []
    for name, side in zip(("source", "target"), WORDS, strict=True):
        lines = (" ".join(piece for word in line for piece in pieces(word)) for line in side)
        own += [f"--evidence-{name}", f"s={write_lines(tmp_path / name, lines)}"]
        firsts.append([[0, *accumulate(len(pieces(word)) for word in line)] for line in side])
    links = ([map(int, link.split("-")) for link in line.split()] for line in LINES)
    carried = [
        " ".join(f"{source[i]}-{target[j]}" for i, j in line)
        for source, target, line in zip(*firsts, links, strict=True)
    ]
    cut = write_lines(tmp_path / "e", carried)
    plain = run(capsys, *VOTE, f"s={FAST}", "--probs")
    assert made(capsys, *VOTE, f"s={cut}", "--probs", *own).out == plain.out


def test_what_is_saved_has_no_vote_in_it(capsys, files, tmp_path):
    saved = [tmp_path / "v", tmp_path / "p"]
    for path, vote in zip(saved, ([*files[1], "--vote"], []), strict=True):
        run(capsys, *ALIGN, *vote, "--save", path, "-o", tmp_path / "o")
    assert saved[0].read_bytes() == saved[1].read_bytes()
