"""The recipe of docs/align/vectors.md runs, and its vectors help."""

import re
from pathlib import Path

import numpy as np
import pytest
from command import PARAPHRASES, ROOT, run
from console import page_text

from alignkit import Aligner, Bitext, Corpus, read_corpus, score
from alignkit.align.vectors import WordVectors

PAGE = page_text("vectors.md")


def blocks(kind):
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def recipe(tmp_path, monkeypatch):
    """Run the recipe where it cannot write into the project; return the file it makes."""
    pytest.importorskip("wordllama", reason="wordllama is not installed")
    monkeypatch.chdir(tmp_path)
    Path("samples").symlink_to(ROOT / "samples")
    (code,) = (block for block in blocks("python") if "import wordllama" in block)
    made = {}
    exec(compile(code, "docs/align/vectors.md", "exec"), made)
    return made


def test_the_recipe_of_wordllama_gives_what_the_page_says(recipe, capsys):
    (commands,) = (block for block in blocks("sh") if "wordllama.npz" in block)
    align, score = (line.split()[1:] for line in commands.splitlines())
    told = run(capsys, *align)
    assert told.code == 0
    for line in blocks("text")[0].splitlines():
        assert line in told.err
    assert run(capsys, *score).out.startswith(blocks("text")[1].rstrip())
    without = [word for word in align if word not in ("--vectors", "wordllama.npz")]
    assert run(capsys, *without).code == 0
    found = run(capsys, *score).out
    f1 = {line[:17].strip(): line.split()[-4] for line in found.splitlines()[4:5]}
    assert f"F1 of these links is {f1['links']}" in PAGE


def test_its_encoder_is_a_function_of_a_sentence(recipe):
    embed = recipe["llama"].embed
    pairs = [pair.words for pair in read_corpus(PARAPHRASES)]
    words = sorted({word for sides in pairs for side in sides for word in side})
    ways = WordVectors(words, embed(words)), embed
    static, called = (Aligner.train(pairs, vectors=vectors) for vectors in ways)
    assert static.parameters.vectors == called.parameters.vectors
    np.testing.assert_allclose(static.parameters.forward, called.parameters.forward, atol=0.1)


@pytest.mark.real_data
def test_vectors_find_rare_words_of_a_real_corpus(recipe, data):
    gold = read_corpus(data / "edinburgh" / "gold.train.sure.json").rename({"alignment": "gold"})
    bitext = Bitext.pack((pair.words for pair in gold), written=True)
    found = []
    for vectors in (None, recipe["llama"].embed):
        links = Aligner.train(bitext, identity=3.0, vectors=vectors).align_bitext(bitext)
        pairs = [x.with_annotation("auto", links.arrays.alignment(k)) for k, x in enumerate(gold)]
        scored = score(Corpus(pairs), "auto", "gold", level="both", ignore_identical=True)
        found.append((100 * scored.links.f1, 100 * scored.phrases["sure"].f1))
    gains = np.subtract(found[1], found[0])
    assert gains[0] > 2
    assert gains[1] > 1.5
