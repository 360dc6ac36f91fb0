"""Training and aligning stay within the memory they are given, and say what they cannot have."""

import os
from itertools import islice
from pathlib import Path

import aligner_reference as plain
import numpy as np
import pytest
from refusals import refuses
from repetitions import FULL

from alignkit.align import Aligner, Bitext, Settings, cooccurrence
from alignkit.align import aligner as home
from alignkit.errors import AlignerError

TEXT = plain.random_text(7, 90)
TEXTS = {
    "roen": ["roen/roen.src-tgt"],
    "greek": ["grc-eng/grc.txt", "grc-eng/eng.txt"],
    "hansards 10,000": ["hansards/train.fr", "hansards/train.en"],
    "hansards": ["hansards/train.fr", "hansards/train.en"],
    "bible": ["bible/text.f", "bible/text.e"],
}


@pytest.mark.parametrize(("model", "block"), [("ibm2", 300), ("hmm", 1), ("ibm4", 300)])
def test_large_bitexts_are_aligned_part_by_part_with_the_same_result(monkeypatch, model, block):
    aligner, bitext = Aligner.train(TEXT, model=model), Bitext.pack(TEXT)
    whole, scores = aligner.align_bitext(bitext), aligner.scores(bitext)
    monkeypatch.setattr(home, "BLOCK", block)
    parts = aligner.align_bitext(bitext)
    assert parts.arrays.links.tolist() == whole.arrays.links.tolist()
    assert parts.arrays.offsets.tolist() == whole.arrays.offsets.tolist()
    assert np.array_equal(parts.probabilities, whole.probabilities)
    assert np.array_equal(aligner.scores(bitext), scores)


def test_a_full_disk_is_told_before_training(monkeypatch, tmp_path):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(AlignerError, match=r"cannot store .* MB .*No space left.*another folder"):
        Aligner.train(TEXT, folder=tmp_path)
    assert not list(tmp_path.iterdir())
    refuses(AlignerError, "another folder", Aligner.train, TEXT, folder="/no/such/folder")


def test_what_goes_wrong_elsewhere_is_not_blamed_on_the_disk(tmp_path):
    def broken(*_):
        raise BrokenPipeError

    refuses(BrokenPipeError, None, Aligner.train, TEXT, folder=tmp_path, progress=broken)
    assert not list(tmp_path.iterdir())


def test_memory_goes_with_the_cells():
    bitext = Bitext.pack(TEXT)
    for options, size in (({}, 5), ({"inference": "em"}, 12), ({"best": True}, 15)):
        on_disk = cooccurrence.bytes_on_disk(bitext, Settings(**options))
        assert on_disk == size * bitext.starts[-1]
    assert cooccurrence.bytes_of_training(bitext, Settings()) > 5 * bitext.starts[-1]
    assert cooccurrence.fits(bitext, Settings())


def test_the_word_pairs_of_a_large_text_are_estimated():
    rng = np.random.default_rng(3)
    pairs = [
        [[f"{word:.0f}" for word in rng.pareto(0.8, 30) * 20] for _ in range(2)] for _ in range(400)
    ]
    bitext = Bitext.pack(pairs)
    assert bitext.starts[-1] > 5 * cooccurrence.SAMPLE
    found = len({(a, b) for source, target in pairs for a in source for b in target})
    assert abs(cooccurrence.word_pairs(bitext) / found - 1) < 0.1


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize("name", TEXTS)
def test_the_memory_that_is_told_is_about_what_is_taken(data, tmp_path, monkeypatch, name):
    if not FULL and name not in ("greek", "hansards 10,000"):
        pytest.skip("takes long: set ALIGNKIT_FULL")
    monkeypatch.syspath_prepend(Path(__file__).parent.parent)
    from benchmarks.training_memory import measure

    paths = [str(data / part) for part in TEXTS[name]]
    if "10,000" in name:
        for k, path in enumerate(paths):
            with open(path, "rb") as lines:
                paths[k] = str(tmp_path / str(k))
                Path(paths[k]).write_bytes(b"".join(islice(lines, 10_000)))
    told, measured = measure(paths, len(paths))
    assert abs(told / measured - 1) < 0.3
