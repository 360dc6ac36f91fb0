"""`alignkit samples` copies what is installed with alignkit, all files or none."""

import pytest
from command import ROOT, made, run

FILES = {
    path.relative_to(ROOT / "samples").as_posix(): path.read_bytes()
    for path in (ROOT / "samples").rglob("*")
    if path.is_file() and ".alignkit" not in path.name
}


def held(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_all_samples_are_copied_into_the_folder_that_examples_name(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert f"{len(FILES)} files copied to samples" in made(capsys, "samples").err
    assert held(tmp_path / "samples") == FILES
    (tmp_path / "samples" / "paraphrases.jsonl").unlink()
    assert "1 file copied" in made(capsys, "samples").err
    assert "has all files already" in made(capsys, "samples").err
    assert held(tmp_path / "samples") == FILES


def test_a_folder_that_is_named_is_made_with_those_above_it(capsys, tmp_path):
    made(capsys, "samples", tmp_path / "a" / "b")
    assert held(tmp_path / "a" / "b") == FILES


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_nothing_is_written_where_a_file_differs(kind, capsys, tmp_path):
    place = tmp_path / "structures.jsonl"
    if kind == "file":
        place.write_text("mine")
    else:
        place.mkdir()
    run(capsys, "samples", tmp_path).failed("structures.jsonl differs", "another folder")
    assert list(tmp_path.iterdir()) == [place]


def test_guidelines_are_copied_too(capsys, tmp_path):
    made(capsys, "samples", "--guidelines", tmp_path / "own")
    assert (tmp_path / "own" / "README.md").read_bytes() == (
        ROOT / "guidelines" / "README.md"
    ).read_bytes()
    assert (tmp_path / "own" / "examples" / "tenses.jsonl").exists()
