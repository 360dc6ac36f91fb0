"""What a corpus takes is estimated from the beginnings of some parts."""

from __future__ import annotations

import re

from command import run
from test_cluster_tables import corpus, written

from alignkit.cluster.estimate import estimate_texts, spread
from alignkit.cluster.parts import Part, find_parts
from alignkit.io.options import ReadOptions


def test_some_parts_stand_for_all():
    parts = [Part(str(k), (f"{k}",)) for k in range(100)]
    assert [part.name for part in spread(parts)] == [str(k) for k in range(0, 100, 13)]
    assert spread(parts[:5]) == parts[:5]


def test_texts_are_counted_where_all_is_read(tmp_path):
    lines = corpus(1, 200)
    _, *patterns = written(tmp_path, lines, [50, 120])
    found = estimate_texts(find_parts(*patterns), ReadOptions())
    sides = [[len(line[side].split()) for line in lines] for side in (1, 2)]
    assert (found.pairs, found.parts) == (200, 3)
    assert (found.source_words, found.target_words) == tuple(map(sum, sides))
    assert found.cells == sum(n * m for n, m in zip(*sides, strict=True))
    assert 60 < found.largest < 100  # by the sizes of files


def test_many_parts_are_estimated(tmp_path):
    lines = corpus(2, 2000)
    _, *patterns = written(tmp_path, lines, list(range(100, 2000, 100)))
    found = estimate_texts(find_parts(*patterns), ReadOptions())
    assert abs(found.pairs - 2000) < 200
    assert abs(found.source_words - sum(len(line[1].split()) for line in lines)) < 600


def test_commands_print_what_they_would_take(capsys, tmp_path):
    links, source, target = written(tmp_path, corpus(3, 60), [20])
    ran = run(capsys, "align", source, target, "--estimate")
    assert "about 60 pairs of" in ran.out
    assert "training on one machine takes about" in ran.out
    sides = ["--source", source, "--target", target, "--format", "pharaoh", "--table"]
    found = run(capsys, "phrases", links, *sides, "--estimate").out
    run(capsys, "phrases", links, *sides, "-o", f"{tmp_path}/t")
    told = run(capsys, "phrases", links, *sides, "-o", f"{tmp_path}/t").err
    known = re.search(r"([\d,]+) phrase pairs", told)[1]
    assert f"; {known} phrase pairs" in found
    for side in ("fr", "en"):
        for k in range(2):
            (tmp_path / f"part{k}.{side}").write_text("", "utf-8")
    run(capsys, "align", source, target, "--estimate").failed("holds no sentence pairs")
