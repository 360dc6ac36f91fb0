"""The command show draws trees, and refuses what it cannot draw."""

from __future__ import annotations

import re

import pytest
from command import made, run, write
from lxml import etree, html

from alignkit import Alignment, SentencePair, Tree, write_corpus
from alignkit.rules import draw_tree_svg, draw_tree_text

SOURCE = ["(S (NN rain) (VBZ falls))", "(S (NP (NNS dogs)) (VBP bark))", "(S (UH yes))"]
TARGET = ["(S (VBZ falls) (NN rain))", "(S (NNS hounds) (VBP bark))", "(S (UH no))"]
LINKS = ["0-1 1-0", "0-0 1?1", "0-0"]


@pytest.fixture
def pairs() -> list[SentencePair]:
    found = []
    for k, texts in enumerate(zip(SOURCE, TARGET, strict=True)):
        source, target = map(Tree.parse, texts)
        links = {"gold": Alignment.parse(LINKS[k])}
        pair = SentencePair(str(k + 1), source.words, target.words, links)
        found.append(pair.with_trees("parse", source=source, target=target))
    return found


def held(folder, name, pairs):
    """Write pairs; return the path."""
    write_corpus(pairs, folder / name, format="alignkit-jsonl")
    return str(folder / name)


@pytest.fixture
def bare(tmp_path, pairs) -> str:
    return held(tmp_path, "pairs.jsonl", [pair.without_trees() for pair in pairs])


@pytest.fixture
def both(tmp_path) -> str:
    """Write the trees of both sides in one file; return its path."""
    trees = [tree for pair in zip(SOURCE, TARGET, strict=True) for tree in pair]
    return write(tmp_path, "both.trees", "\n".join(trees) + "\n")


@pytest.fixture
def files(tmp_path) -> list[str]:
    sides = [
        write(tmp_path, f"{name}.trees", "\n".join(trees) + "\n")
        for name, trees in (("source", SOURCE), ("target", [TARGET[0], "", ""]))
    ]
    return ["--source-trees", sides[0], "--target-trees", sides[1]]


def test_trees_of_files_are_drawn_in_the_terminal(capsys, bare, files, pairs):
    ran = made(capsys, "show", bare, "--trees", *files, "--id", "1", "--width", "80")
    assert ran.out == draw_tree_text(pairs[0], width=80) + "\n"
    ran = run(capsys, "show", bare, "--trees", *files, "--annotators", "gold", "--ascii")
    assert ran.out.isascii()
    drawn = ran.out.split("\n\n\n")
    assert len(drawn) == 3
    assert "target (no tree)" in drawn[1]  # its line is blank
    assert "nodes matched" not in drawn[1]


def test_the_corpus_may_hold_them_and_both_sides_one_file(capsys, tmp_path, bare, both, pairs):
    out = held(tmp_path, "with.jsonl", [pairs[0], pairs[1].without_trees()])
    ran = run(capsys, "show", out, "--trees", "--links", "possible")
    assert ran.out == draw_tree_text(pairs[0], links="possible") + "\n"
    assert "1 pair without trees skipped" in ran.err
    ran = run(capsys, "show", bare, "--trees", "--both-trees", both, "--limit", "2")
    assert ran.out.count("matched by sure links") == 2


def test_pictures_and_pages(capsys, tmp_path, bare, files, pairs):
    image, page = tmp_path / "p.svg", tmp_path / "p.html"
    asked = ["show", bare, "--trees", *files]
    assert run(capsys, *asked, "--id", "1", "--svg", image).code == 0
    assert image.read_text("utf-8") == draw_tree_svg(pairs[0])
    etree.fromstring(image.read_bytes())
    assert run(capsys, *asked, "--html", page, "--pairs-a-page", "2").code == 0
    pages = [html.fromstring(one.read_text("utf-8")) for one in (page, tmp_path / "p-page-2.html")]
    assert [len(one.xpath("//article//svg")) for one in pages] == [2, 1]
    assert "1 with both trees" in pages[0].findtext(".//header/p")
    run(capsys, *asked, "--svg", image).failed("3", "--id")
    (tmp_path / "source-page-2.html").write_text("\n".join(SOURCE))
    told = run(
        capsys,
        "show",
        bare,
        "--trees",
        "--source-trees",
        tmp_path / "source-page-2.html",
        "--html",
        tmp_path / "source.html",
        "--pairs-a-page",
        "1",
    )
    told.failed("source-page-2.html", "would replace an input")


def test_what_cannot_be_drawn_is_refused(capsys, tmp_path, bare, files, pairs):
    run(capsys, "show", bare, "--trees").failed("no trees to draw", "--source-trees")
    run(capsys, "show", bare, *files).failed("needs --trees")
    run(capsys, "show", bare, "--links", "sure").failed("--links needs --trees")
    asked = ["show", bare, "--trees", *files]
    run(capsys, *asked, "--annotators", "gold", "ben").failed("one annotator")
    run(capsys, *asked, "--annotators", "ben").failed("'ben'", "gold")
    run(capsys, *asked, "--id", "9").failed("'9'")
    two = held(tmp_path, "two.jsonl", [pairs[0].with_annotation("ben", Alignment())])
    run(capsys, "show", two, "--trees").failed("gold, ben", "--annotators")
    wrong = write(tmp_path, "wrong.trees", "(S (NN snow) (VBZ falls))\n")
    run(capsys, "show", bare, "--trees", "--source-trees", wrong).failed(wrong, "snow", "rain")


def test_one_file_of_both_sides_has_one_name_in_all_commands(capsys, bare, both):
    for words in (
        ["show", bare, "--trees"],
        ["rules", bare],
        ["check", bare],
        ["score-rules", bare, bare],
    ):
        made(capsys, *words, "--both-trees", both)
    ran = run(capsys, "convert", bare, "-", "--to", "alignkit-jsonl", "--both-trees", both)
    assert ran.out.count("(NN rain)") == 2


def test_of_several_trees_one_is_to_be_named(capsys, tmp_path, pairs):
    more = [pair.with_trees("mended", source=pair.tree("source")) for pair in pairs]
    path = held(tmp_path, "more.jsonl", more)
    told = "pair '1' has the source trees parse, mended: choose one with --tree-name"
    for words in (["show", path, "--trees"], ["rules", path], ["score-rules", path, path]):
        run(capsys, *words).failed(told)
        assert run(capsys, *words, "--tree-name", "parse").code == 0
        run(capsys, *words, "--tree-name", "x").failed("'x' (known: parse, mended)")


def test_a_picture_larger_than_programs_show_is_drawn_whole_and_told(capsys, tmp_path):
    words = [f"w{k}" for k in range(1200)]
    pair = SentencePair("1", words, words[:1], {"gold": Alignment.parse("0-0")})
    flat = Tree.parse("(S " + " ".join(words) + ")")
    path = held(tmp_path, "wide.jsonl", [pair.with_trees("parse", source=flat)])
    ran = made(capsys, "show", path, "--trees", "--svg", tmp_path / "wide.svg")
    assert "too large for most" in ran.err
    image = (tmp_path / "wide.svg").read_text("utf-8")
    assert re.findall(r">(w\d+)</text>", image) == [*words, "w0"]
