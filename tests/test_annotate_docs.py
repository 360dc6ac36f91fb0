"""The pages on annotation say what the key maps, the table of schemes and the commands say."""

import json
import re
import shutil
from pathlib import Path

import pytest
from annotation import Tab, done, project, sent
from console import ROOT, page_text, printed, run, walk

import alignkit
from alignkit import read_corpus
from alignkit.annotate.project.project_events import Setting
from alignkit.annotate.project.store import Store
from alignkit.model.labels import REMARKS, SCHEMES

FOLDER = Path(alignkit.__file__).parent / "annotate" / "server" / "page"
PAGES = {name: page_text(name) for name in ("annotating.md", "projects.md", "projects_review.md")}
KEYS = {
    "keys.js": ("annotating.md", "The keys"),
    "adjudicate-keys.js": ("projects_review.md", "Adjudicating"),
}


def table_under(page, heading):
    section = PAGES[page].partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split(" | ") for line in section.splitlines() if line[:1] == "|"]
    return [[cell.strip() for cell in row] for row in rows[2:]]


@pytest.mark.parametrize("name", KEYS)
def test_the_table_of_keys_is_that_of_the_page(name):
    """Rows of the key map: keys, action, what it does, and what to show in place of the keys."""
    table = (FOLDER / name).read_text(encoding="utf-8")
    table = table.partition("export const KEYS = {\n")[2].partition("\n}\n")[0]
    table = re.sub(r'" \+\s+"', "", table)  # long texts are in parts
    rows = re.findall(r'\[(\s*"[^\]]*?"),?\s*\]', table)
    found = [json.loads(f"[{row}]") for row in rows]
    assert {row[1] for row in found} > {"step", "far", "undo", "done", "help"}
    told = [[f"`{row[-1] if row[3:] else row[0]}`", row[2]] for row in found if row[2:]]
    assert table_under(*KEYS[name]) == told


def test_the_table_of_schemes_is_that_of_the_package():
    rows = table_under("annotating.md", "Judgments and flags")
    assert [row[0] for row in rows] == [f"`{name}`" for name in SCHEMES]
    for row, scheme in zip(rows, SCHEMES.values(), strict=True):
        values = [*scheme.values, *(flag.value for flag in scheme.flags)]
        assert (re.findall("`([^`]+)`", row[1]), row[2]) == (values, scheme.about)
    assert all(f"*{flag.name.lower()}*" in PAGES["annotating.md"] for flag in REMARKS)


def test_the_table_at_the_end_of_the_walk_is_what_agree_prints(tmp_path, capsys, monkeypatch):
    """Of the links that the samples have; that they come out of the walk, the story tests."""
    chosen, suggested, _, assigned, *_, exported, agreed = walk()
    shutil.copytree(ROOT / "samples", tmp_path / "samples")
    monkeypatch.chdir(tmp_path)
    run(chosen, tmp_path, capsys)
    run(suggested, tmp_path, capsys)
    corpus = read_corpus(tmp_path / "four.xml", format="alignkit-xml")
    store = project(tmp_path, corpus, "four.xml.alignkit", annotator=None)
    eflomal = [pair.alignment("eflomal") for pair in corpus]
    hints = [[(*link, None, 2) for link in links.possible] for links in eflomal]
    store.set_suggestions("eflomal", list(enumerate(hints, 1)))
    store.settings(Setting(suggestions="eflomal"))
    store.close()
    assert run(assigned, tmp_path, capsys).startswith(printed()[0])
    samples = read_corpus(tmp_path / "samples" / "paraphrases.jsonl")
    store = Store.open(store.path)
    for k, pair in enumerate(corpus, 1):
        for name in ("anna", "ben"):
            links = samples[pair.id].alignment(name).items()
            cells = [[i, j, 0, 1 + sure] for (i, j), sure in links]
            Tab(store, k, name).send(sent("edit", how="block", cells=cells), done())
    store.close()
    run(exported.removesuffix(" --done"), tmp_path, capsys)
    assert printed()[-1] in run(agreed, tmp_path, capsys)
