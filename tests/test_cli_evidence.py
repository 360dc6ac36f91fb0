"""Evidence on the command line: what is read, refused, reported and warned of."""

from pathlib import Path

import pytest
from command import EFLOMAL, FAST, FRENCH, GOLD, TEXTS, run

from alignkit.align import Aligner

FR, EN = FRENCH / "fr.txt", FRENCH / "en.txt"
LEARN = ["learn", GOLD, *TEXTS, "--format", "pharaoh"]
LINES = Path(FAST).read_text("utf-8").splitlines()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return a model that learned from two systems, and the options for their files."""
    from alignkit.cli import main

    folder = tmp_path_factory.mktemp("evidence")
    golden = Path(GOLD).read_text("utf-8").splitlines()
    neural = [" ".join(link if k % 9 else f"{link}:0.2" for k, link in enumerate(line.split()))
              .replace("?", "-") for line in golden]  # fmt: skip
    (folder / "neural").write_text("\n".join(neural) + "\n")
    turned = [" ".join("-".join(link.split("-")[::-1]) for link in line.split()) for line in LINES]
    (folder / "turned").write_text("\n".join(turned) + "\n")
    evidence = ["--evidence", f"neural={folder / 'neural'}",
                "--evidence", f"two={EFLOMAL},{folder / 'turned'}:transpose"]  # fmt: skip
    assert main([*LEARN, *evidence, "--save", str(folder / "m"), "--quiet"]) == 0
    return folder, evidence


def test_a_model_needs_the_evidence_that_it_learned_from(capsys, files):
    folder, evidence = files
    learned = Aligner.load(folder / "m").parameters.learned
    assert [list(system) for system in learned.lessons.evidence] == [
        ["neural", 1, True], ["two", 2, False],
    ]  # fmt: skip
    align = ["align", FR, EN, "--load", folder / "m"]
    ran = run(capsys, *align, *evidence)
    assert ran.code == 0, ran.err
    assert "neural: 52 of 52 pairs" in ran.err
    assert run(capsys, *align, *evidence[2:], *evidence[:2]).out == ran.out
    measured = [f"{100 * x:.1f}" for x in learned.lessons.measures]
    run(capsys, *align, *evidence[:2]).failed(
        "needs evidence of neural and two (2 files); given: neural: add --evidence "
        f"two=FILE,FILE, or --no-evidence to align without any (learned so too: F1 {measured[1]} "
        f"instead of {measured[0]})"
    )
    run(capsys, *align, *evidence, "--evidence", f"fast={FAST}").failed(
        "given: neural and two (2 files) and fast: give exactly these systems"
    )
    run(capsys, *align, *evidence[:2], "--evidence", f"two={FAST}").failed(
        "given: neural and two: give"
    )
    without = run(capsys, *align, "--no-evidence")
    assert without.code == 0
    assert without.out != ran.out
    run(capsys, *align, "--no-learned", *evidence).failed("--evidence needs")
    plain = ["--evidence", f"neural={GOLD}", *evidence[2:]]  # without weights
    assert "learned from weights of neural" in run(capsys, *align, *plain, "--quiet").err


def test_all_at_once_is_the_same_as_by_a_model(capsys, files, tmp_path):
    folder, evidence = files
    corpus = tmp_path / "c.jsonl"
    run(capsys, "convert", GOLD, corpus, *TEXTS, "--format", "pharaoh")
    add = ["--add", f"neural={folder / 'neural'}", "--add", f"two/1={EFLOMAL}",
           "--add", f"two/2={folder / 'turned'}:transpose"]  # fmt: skip
    run(capsys, "merge", corpus, *add, "-o", tmp_path / "all.jsonl")
    named = ["--evidence", "neural", "--evidence", "two"]
    ran = run(capsys, "align", tmp_path / "all.jsonl", "--learn", "alignment", *named, "--json",
              "-o", tmp_path / "o")  # fmt: skip
    assert ran.code == 0, ran.err
    assert ran.json["evidence"] == ["neural", "two (2 files)"]
    learned = ran.json["learned"]
    assert [row["kind"] for row in learned["systems"]] == ["system:neural", "system:two", "vote"]
    run(capsys, "align", corpus, "--load", folder / "m", *evidence, "-o", tmp_path / "p")
    assert (tmp_path / "o").read_text() == (tmp_path / "p").read_text()
    run(capsys, *LEARN, "--evidence", "nobody").failed("nobody")
    run(capsys, *LEARN, "--evidence", f"alignment={FAST}").failed("annotator of the gold links")


def test_the_vote_needs_no_gold(capsys, files):
    ran = run(capsys, "align", FR, EN, *files[1], "--vote", "--probs")
    assert ran.code == 0, ran.err
    shares = {float(link.split(":")[1]) for link in ran.out.split()}
    assert min(shares) >= 0.5
    assert max(shares) <= 1
    run(capsys, "align", FR, EN, "--vote").failed("--vote needs --evidence")
    run(capsys, "align", FR, EN, *files[1]).failed("--evidence needs")


def test_files_that_do_not_fit_are_refused(capsys, tmp_path):
    vote = ["align", FR, EN, "--vote", "--evidence"]

    def of(lines, more=""):
        (tmp_path / "e").write_text("".join(f"{line}\n" for line in lines))
        return [*vote, f"s={tmp_path / 'e'}{more}"]

    run(capsys, *of(LINES[:50])).failed("has links for 50 of 52 pairs", "--partial")
    ran = run(capsys, *of([*LINES[:40], "", *LINES[41:50]]), "--partial")
    assert ran.code == 0, ran.err
    assert "s: 50 of 52 pairs; 2 are aligned without evidence; 1 line is empty" in ran.err
    run(capsys, *of([*LINES, "0-0"])).failed("line 53", "is about none of the 52 pairs")
    run(capsys, *of(["0-99", *LINES[1:]])).failed(
        f"{tmp_path / 'e'}:1: link 0-99", "read with base 0, source first", ":base1", ":transpose"
    )
    for weight in ("1.5", "-0.1", "nan"):
        bad = [*LINES[:2], f"0-0:{weight}", *LINES[3:]]
        run(capsys, *of(bad)).failed(f"{tmp_path / 'e'}:3", weight)
    run(capsys, *of(LINES, ":nonsense")).failed("nonsense")
    run(capsys, *of(LINES), "--evidence-source", f"other={FR}").failed(
        "other", "no such --evidence"
    )
    run(capsys, *of(LINES), *of(LINES)[-2:]).failed("each name once")


def test_a_wrong_direction_is_warned_of_and_not_turned(capsys, files):
    folder, _ = files
    turned = [" ".join(link for link in line.split()) for line in
              (folder / "turned").read_text().splitlines()]  # fmt: skip
    sizes = [len(line.split()) for line in EN.read_text("utf-8").splitlines()]
    others = [len(line.split()) for line in FR.read_text("utf-8").splitlines()]
    kept = [
        " ".join(x for x in line.split() if int(x.split("-")[0]) < n and int(x.split("-")[1]) < m)
        for line, n, m in zip(turned, others, sizes, strict=True)
    ]
    (folder / "wrong").write_text("\n".join(kept) + "\n")
    vote = ["align", FR, EN, "--vote", "--quiet", "--evidence"]
    ran = run(capsys, *vote, f"two={EFLOMAL},{folder / 'wrong'}")
    assert "evidence two/2: agrees more with the aligner with :transpose" in ran.err
    assert not run(capsys, *vote, f"two={EFLOMAL},{folder / 'turned'}:transpose").err


def test_other_tokens_are_carried_over(capsys, tmp_path):
    """A system that divides words into pieces votes as one that does not."""

    def pieces(line):
        return [f"{'##' * bool(k)}{word[k:k + 3]}" for word in line.split()
                for k in range(0, len(word), 3)]  # fmt: skip

    sides = [path.read_text("utf-8").splitlines() for path in (FR, EN)]
    for path, lines in zip((tmp_path / "fr", tmp_path / "en"), sides, strict=True):
        path.write_text("".join(" ".join(pieces(line)) + "\n" for line in lines), "utf-8")
    links = []
    for k, line in enumerate(LINES):
        firsts = []
        for side in sides:
            starts, at = [], 0
            for word in side[k].split():
                starts.append(at)
                at += -(-len(word) // 3)
            firsts.append(starts)
        pairs = [map(int, link.split("-")) for link in line.split()]
        links.append(" ".join(f"{firsts[0][i]}-{firsts[1][j]}" for i, j in pairs))
    (tmp_path / "e").write_text("\n".join(links) + "\n")
    vote = ["align", FR, EN, "--vote", "--probs", "--evidence"]
    plain = run(capsys, *vote, f"s={FAST}")
    own = ["--evidence-source", f"s={tmp_path / 'fr'}", "--evidence-target", f"s={tmp_path / 'en'}"]
    cut = run(capsys, *vote, f"s={tmp_path / 'e'}", *own)
    assert cut.code == 0, cut.err
    assert cut.out == plain.out


def test_what_is_saved_has_no_vote_in_it(capsys, files, tmp_path):
    run(
        capsys, "align", FR, EN, *files[1], "--vote", "--save", tmp_path / "v", "-o", tmp_path / "o"
    )
    run(capsys, "align", FR, EN, "--save", tmp_path / "p", "-o", tmp_path / "o")
    assert (tmp_path / "v").read_bytes() == (tmp_path / "p").read_bytes()
