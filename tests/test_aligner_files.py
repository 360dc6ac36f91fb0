"""A saved aligner is the trained one; files that do not fit together are refused."""

import os
from dataclasses import replace

import aligner_reference as plain
import numpy as np
import pytest
from refusals import refuses

from alignkit.align import SYMMETRIZATIONS, Aligner, Bitext
from alignkit.align.model_contents import save_parameters
from alignkit.errors import FormatError
from alignkit.io.atomic_files import WriteError

TEXT = [
    *plain.random_text(21, 50),
    ([], ["1bt"]),
    (["parlement", "parlé", "parler"], ["parliament", "parles", "parle"]),
    (["1bs", "1bs", "2cs", "1bs"], ["1bt", "2ct", "2ct", "1bt"]),
    *plain.random_text(21, 3),  # pairs that occur twice
    (["2cs"], []),
]
COMBINATIONS = [
    {"model": "ibm1"},
    {"model": "ibm1", "inference": "vb", "agree": False},
    {"model": "ibm2", "diagonal": True},
    {"model": "ibm2", "inference": "em"},
    {"identity": 2.0, "stem_weight": 0.0},
    {"inference": "em", "agree": False},
    {"inference": "vb"},
    {"best": True},
    {"model": "ibm3"},
    {"model": "ibm4", "inference": "em", "agree": False},
    {"model": "ibm4"},
]


def outcome(aligner, bitext, threads=None):
    said = [aligner.scores(bitext, threads=threads).tobytes()]
    for method in SYMMETRIZATIONS:
        links = aligner.align_bitext(bitext, symmetrize=method, sure=0.8, threads=threads)
        arrays = links.arrays
        said += [arrays.links.tobytes(), arrays.sure.tobytes(), arrays.offsets.tobytes()]
        said.append(links.probabilities.tobytes())
    return said


@pytest.fixture(scope="module", params=COMBINATIONS, ids=str)
def both(request, tmp_path_factory):
    bitext = Bitext.pack(TEXT)
    trained = Aligner.train(bitext, **request.param)
    path = tmp_path_factory.mktemp("models") / "m"
    trained.save(path)
    return trained, Aligner.load(path), bitext


def test_an_aligner_that_was_loaded_or_trained_on_disk_aligns_as_training_did(both, tmp_path):
    trained, loaded, bitext = both
    wanted = outcome(trained, bitext)
    assert outcome(loaded, Bitext.pack(TEXT)) == wanted
    assert len(trained.align_bitext(bitext).probabilities) > len(TEXT)
    on_disk = Aligner.train(bitext, settings=trained.settings, folder=tmp_path)
    assert (os.listdir(tmp_path), on_disk.history) == ([], trained.history)
    assert outcome(on_disk, bitext) == wanted


def test_other_selections_of_the_same_pairs_are_aligned_alike(both):
    trained, loaded, bitext = both
    whole = trained.align_bitext(bitext, threshold=0.3).arrays
    picked = np.random.default_rng(0).permutation(len(TEXT))[:30].tolist()
    mixed = [pair for k in picked for pair in (TEXT[k], (["?", *TEXT[k][0]], TEXT[k][1]))]
    found = loaded.align_bitext(Bitext.pack([TEXT[k] for k in picked]), threshold=0.3).arrays
    among = loaded.align_bitext(Bitext.pack(mixed), threshold=0.3).arrays
    for at, k in enumerate(picked):
        assert found.alignment(at) == among.alignment(2 * at) == whole.alignment(k)


def test_equal_aligners_make_equal_files_by_any_number_of_threads(both, tmp_path):
    trained, loaded, bitext = both
    assert (loaded.settings, loaded.history) == (trained.settings, trained.history)
    assert list(loaded.lexicon()) == list(trained.lexicon())
    trained.save(tmp_path / "a")
    loaded.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    wanted = outcome(trained, bitext)
    for threads in (1, 7):
        again = Aligner.train(TEXT, threads=threads, settings=trained.settings)
        again.save(tmp_path / "b")
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
        assert outcome(again, bitext, threads) == wanted


def test_words_never_seen_are_aligned(both):
    _, loaded, _ = both
    pairs = [
        (["unheard", "1bs", "2cs"], ["1bt", "2ct", "unheard-of"]),
        (["?"], ["!"]),
        (["3ds"] * 30, ["new"] * 20),
        (["brand"], [word for pair in TEXT[:4] for word in pair[1]]),
    ]
    bitext = Bitext.pack(pairs)
    assert np.isfinite(loaded.scores(bitext)).all()
    for method in SYMMETRIZATIONS:
        arrays = loaded.align_bitext(bitext, symmetrize=method).arrays
        assert arrays.lengths.tolist() == [[3, 3], [1, 1], [30, 20], [1, len(pairs[3][1])]]


def test_words_never_seen_are_linked_if_spelled_alike(tmp_path):
    Aligner.train(TEXT).save(tmp_path / "m")
    loaded = Aligner.load(tmp_path / "m")
    source, target = ["1bs", "konstantinopel", "2cs"], ["1bt", "2ct", "konstantinople"]
    assert (1, 2) in loaded.align(source, target).sure
    swapped = loaded.align(["xyzzy", "plugh", "1bs"], ["plugh", "xyzzy", "1bt"])
    assert {(0, 1), (1, 0), (2, 2)} <= swapped.sure


def test_an_aligner_remembers_nothing_of_pairs_with_a_word_more():
    aligner, (source, target) = Aligner.train(TEXT), TEXT[0]
    longer = [*source, "never"], target
    both = aligner.scores(Bitext.pack([longer, (source, target)])).tolist()
    assert both == [aligner.scores([pair]).tolist()[0] for pair in (longer, (source, target))]


def test_a_memory_of_other_pairs_reads_nothing_outside(tmp_path):
    known = Aligner.train(TEXT, model="ibm2").parameters
    cells, path = np.full_like(known.memory.cells, 2**32 - 1), str(tmp_path / "m")
    save_parameters(path, replace(known, remember=lambda: replace(known.memory, cells=cells)))
    assert np.isfinite(Aligner.load(path).scores(Bitext.pack(TEXT))).all()


def test_what_is_no_file_of_a_model_is_refused(tmp_path):
    refuses(FormatError, "No such file", Aligner.load, tmp_path / "none")
    (tmp_path / "text").write_text("das haus ||| the house\n", encoding="utf-8")
    refuses(FormatError, "is not a model", Aligner.load, tmp_path / "text")
    refuses(WriteError, None, Aligner.train(TEXT).save, tmp_path / "no folder" / "m")
