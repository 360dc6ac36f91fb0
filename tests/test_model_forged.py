"""Model files with right checksums and impossible contents are refused with the field's name."""

import json
import subprocess
import sys
from pathlib import Path

import aligner_reference as plain
import numpy as np
import pytest
from repetitions import repetitions

from alignkit.align import Aligner
from alignkit.align.model_files import read_model, write_model
from alignkit.errors import AlignerError

TEXT, MODELS = plain.random_text(21, 60, 20), ("ibm2", "hmm", "ibm3", "ibm4")
VECTORS = {"dimensions": 3, "spread": 0.17}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    kinds = {"best": {"best": True}, **{name: {"model": name} for name in MODELS}}
    for name, options in kinds.items():
        Aligner.train(TEXT, threads=1, **options).save(folder / name)
    return {name: read_model(folder / name) for name in kinds}


def refused(tmp_path, stored, *said, header=None, arrays=None, words=None):
    write_model(
        tmp_path / "m",
        header={**stored.header, **(header or {})},
        arrays={**stored.arrays, **(arrays or {})},
        words={**stored.words, **(words or {})},
    )
    with pytest.raises(AlignerError) as caught:
        Aligner.load(tmp_path / "m")
    assert str(caught.value).startswith(f"{tmp_path / 'm'}: not a model")
    assert all(text in str(caught.value) for text in said), str(caught.value)


def at(array, place, value):
    array = array.copy()
    array.reshape(-1)[place] = value
    return array


@pytest.mark.parametrize(
    ("model", "name", "value"),
    [
        ("hmm", "forward", -1),
        ("hmm", "forward", 1e30),
        ("hmm", "source_totals", 0),
        ("hmm", "target_totals", np.nan),
        ("hmm", "source_null", 2),
        ("hmm", "jumps", 0),
        ("hmm", "jumps", np.inf),
        ("hmm", "columns", -1),
        ("hmm", "columns", 2**31 - 1),
        ("hmm", "rows", 2**62),
        ("hmm", "memory_offsets", -1),
        ("hmm", "memory_levels", 0),
        ("hmm", "memory_keys", 2**64 - 1),
        ("ibm2", "positions_shapes", -1),
        ("ibm2", "positions_shapes", 2**40),
        ("ibm2", "positions_shape_starts", 2**62),
        ("ibm2", "positions_forward", -0.5),
        ("ibm3", "forward_sizes", -1),
        ("ibm3", "reverse_sizes", 2**33),
        ("ibm3", "forward_distortion", 0),
        ("ibm3", "reverse_diagonal", 0),
        ("ibm3", "forward_fertilities", 0),
        ("ibm3", "fertile_target_null", np.nan),
        ("ibm3", "forward_source_classes", 1),
        ("ibm4", "forward_source_classes", 50),
        ("ibm4", "reverse_target_classes", -1),
        ("ibm4", "forward_first", 0),
        ("ibm4", "reverse_rest", -1),
        ("best", "prefix5_forward", -7),
        ("best", "prefix5_columns", -7),
    ],
)
def test_numbers_that_cannot_be_are_refused(tmp_path, models, model, name, value):
    stored = models[model]
    said = f"({name.removeprefix('prefix5_')} "
    refused(tmp_path, stored, said, arrays={name: at(stored.arrays[name], 0, value)})


@pytest.mark.parametrize("model", [*MODELS, "best"])
def test_tables_of_other_forms_are_refused(tmp_path, models, model):
    stored = models[model]
    for name, table in stored.arrays.items():
        # IBM 4 may have seen more classes than it has words of: `first` may be longer
        kind = np.int32 if table.dtype == np.float32 else np.float32
        longer = np.concatenate([table, table[-1:]][: 1 + (not name.endswith("_first"))])
        for other in (table[:-1], longer, table[..., None], table[..., :-1], table.astype(kind)):
            if (other.shape, other.dtype) != (table.shape, table.dtype):
                refused(tmp_path, stored, arrays={name: other})


def test_places_that_do_not_rise_to_their_end_are_refused(tmp_path, models):
    for model, name in (
        ("hmm", "rows"),
        ("hmm", "memory_offsets"),
        ("ibm2", "positions_shape_starts"),
        ("best", "prefix4_memory_offsets"),
    ):
        stored = models[model]
        starts = stored.arrays[name]
        wraps = at(at(starts, 1, 2**62 + 5), 2, -(2**62) - 5)
        for other in (
            at(starts, 0, 1),
            at(starts, 2, -5),
            at(starts, -1, 10**6),
            starts + 1,
            wraps,
        ):
            refused(tmp_path, stored, arrays={name: other})
    stored = models["ibm2"]
    refused(tmp_path, stored, arrays={"positions_shapes": stored.arrays["positions_shapes"] + 1})


@pytest.mark.parametrize("kind", ["header", "arrays", "words"])
@pytest.mark.parametrize("model", ["ibm2", "best"])
def test_models_that_lack_a_part_are_refused(tmp_path, models, model, kind):
    parts = {name: dict(getattr(models[model], name)) for name in ("header", "arrays", "words")}
    for name in parts[kind]:
        if name != "reverse":  # without it, it is the forward one
            less = {key: part for key, part in parts[kind].items() if key != name}
            write_model(tmp_path / "m", **{**parts, kind: less})
            with pytest.raises(AlignerError, match="train it again"):
                Aligner.load(tmp_path / "m")


@pytest.mark.parametrize("change", ["list", "none", "odd size", "no object", "one less", "case"])
def test_models_of_cut_words_that_do_not_fit_are_refused(tmp_path, models, change):
    prefixes = models["best"].header["prefixes"]
    four = prefixes["4"]
    changed = {
        "list": [4, 5],
        "none": {},
        "odd size": {**prefixes, "x": four},
        "no object": {"4": 1},
        "one less": {"4": four},
        "case": {**prefixes, "4": {**four, "casefold": False}},
    }
    refused(tmp_path, models["best"], header={"prefixes": changed[change]})


def test_parts_that_do_not_fit_each_other_are_refused(tmp_path, models):
    settings = {**models["best"].header["settings"], "best": False}
    refused(tmp_path, models["best"], "if the setting best is true", header={"settings": settings})
    stored = models["hmm"]
    totals = at(stored.arrays["source_totals"], 0, 1e-20)
    refused(tmp_path, stored, "forward exceeds source_totals", arrays={"source_totals": totals})
    wide = [2**20, 2**20]
    for model, name, array, said in (
        ("ibm4", "forward_distortion", np.ones(3, np.float32), "is float32 (3,)"),
        ("ibm3", "forward_first", np.ones((1, 1, 81), np.float32), "is float32 (1, 1, 81)"),
        ("ibm3", "forward_sizes", np.array([wide] * 3, np.int64), "do not increase"),
        ("ibm3", "forward_sizes", np.array([[1, 1], wide], np.int64), "need 1099511627777"),
        ("hmm", "stranger", np.zeros(1, np.float32), "is not a known table"),
    ):
        refused(tmp_path, models[model], f"{name} {said}", arrays={name: array})
    source = stored.words["source"]
    twice = (*source[:-1], source[0])
    refused(tmp_path, stored, "occurs twice in the words of source", words={"source": twice})
    refused(tmp_path, stored, "rows is int64", words={"source": (*source, "more")})
    refused(tmp_path, stored, "source, stranger, target", words={"stranger": source})


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ({"settings": None}, "settings are None"),
        ({"settings": ["ibm1"]}, "settings are"),
        ({"history": 7}, "history is 7"),
        ({"casefold": "yes"}, "casefold is 'yes'"),
        ({"casefold": 1}, "casefold is 1"),
        ({"stranger": 1}, "stranger is not"),
        ({"null_shares": [0.5, 0.5]}, "are a list of 2; hmm"),
        ({"vectors": None}, "vectors is None"),
        ({"vectors": {"dimensions": 3}}, "is a dict of 1"),
        ({"vectors": {**VECTORS, "dimensions": 0}}, "dimensions is 0"),
        ({"vectors": {**VECTORS, "dimensions": 1.5}}, "dimensions is 1.5"),
        ({"vectors": {**VECTORS, "spread": 0.0}}, "spread is 0.0"),
        ({"history": [["hmm", 0, -1.0, -1.0]]}, "history has the round"),
        ({"history": [["hmm", 1, -1.0, None]]}, "history has the round"),
        ({"history": [["hmm", 1, -1.0, 10**400]]}, "history has the round"),
        ({"history": []}, "jumps is float32"),
    ],
    ids=str,
)
def test_headers_that_cannot_be_are_refused(tmp_path, models, header, said):
    refused(tmp_path, models["hmm"], said, header=header)


@pytest.mark.parametrize("share", [0, 1, 0.0, 1.0, 7.0, -0.1, 5e-324, "0.5", True])
def test_shares_of_null_are_between_0_and_1(tmp_path, models, share):
    refused(tmp_path, models["ibm3"], "null_shares", header={"null_shares": [0.1, share]})


@pytest.mark.parametrize(
    "setting",
    [
        {"band": 10**12},
        {"null": 7},
        {"null": "much"},
        {"stranger": 1},
        {"kinds": 0},
        {"model": "m" * 10**6},
        {"stem": [[[1]]]},
    ],
    ids=lambda setting: str(setting)[:40],
)
def test_settings_that_cannot_be_are_refused(tmp_path, models, setting):
    stored = models["hmm"]
    header = {"settings": {**stored.header["settings"], **setting}}
    refused(tmp_path, stored, "settings: ", *setting, header=header)


@pytest.mark.slow
def test_forged_models_are_refused_or_align(tmp_path):
    """Forged in a process of its own."""
    number, program = repetitions(1000), Path(__file__).parent / "forged_models.py"
    command = [sys.executable, "-W", "error", str(program), "1", str(number), str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout.splitlines()[-1])
    assert told["refused"] > 0.7 * number
    assert told["loaded"] > 0.05 * number
