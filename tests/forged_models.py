"""Forge model files with right checksums: run as a program, which a crash ends without a word.

    python forged_models.py SEED COUNT FOLDER

Each forged model must be refused by an error that names a field, or load, align and give numbers.
The last line tells as JSON how many did which, and what was said.
"""

import json
import sys
from pathlib import Path

import aligner_reference as plain
import numpy as np

from alignkit import Aligner, AlignkitError, Bitext
from alignkit.align.model_files import read_model, write_model
from alignkit.io.atomic_files import WriteError

KINDS = [
    {"model": "ibm1", "inference": "vb"},
    {"model": "ibm2", "inference": "em", "agree": False},
    {"model": "ibm2"},
    {"model": "hmm"},
    {"model": "hmm", "inference": "em", "agree": False, "band": 3, "kinds": 5},
    {"model": "ibm3"},
    {"model": "ibm4", "inference": "em"},
]
TEXT = plain.random_text(21, 60, 20)
NUMBERS = [0, -1, 1, 2, 7, 1e-30, 1e30, 1e-45, -1e-9]
NUMBERS += [2**20, 2**31 - 1, 2**31, 2**32, 2**62, -(2**63)]
FLOATS = [np.nan, np.inf, -np.inf, 3.4e38]
ODD = [
    None,
    True,
    "",
    "hmm",
    "ibm3",
    "ibm4",
    [],
    {},
    [1],
    -1,
    0,
    1,
    0.5,
    7,
    10**12,
    10**400,
    1e308,
    "x" * 100_000,
    {"a": 1},
    [[["deep"]]],
]


def odd_number(rng, array):
    """Choose a number that an array of its kind can hold, and that it should perhaps not."""
    if array.dtype.kind == "f":
        return rng.choice(NUMBERS + FLOATS)
    bounds = np.iinfo(array.dtype)
    fitting = [n for n in NUMBERS if n == int(n) and bounds.min <= n <= bounds.max]
    return int(rng.choice(np.array([*fitting, bounds.min, bounds.max], object)))


def changed(rng, array):
    way, array = rng.integers(12), array.copy()
    if way < 4 and array.size:
        array.reshape(-1)[rng.integers(array.size)] = odd_number(rng, array)
    elif way == 4:
        array[...] = odd_number(rng, array)
    elif way == 5 and array.ndim and len(array):
        return array[rng.integers(len(array)) :]
    elif way == 6 and array.ndim:
        return np.concatenate([array, array[: 1 + rng.integers(3)]])
    elif way == 7:
        return array.reshape([(array.size,), (1, array.size), (array.size, 1)][rng.integers(3)])
    elif way == 8:
        return array.astype(rng.choice(["float32", "float64", "int32", "int64", "uint8", "uint64"]))
    elif way == 9 and array.size:
        return rng.permutation(array.reshape(-1)).reshape(array.shape)
    elif way == 10:
        return np.zeros([(0,), (), (0, 2), (0, 1 << 40), (1, 0, 1)][rng.integers(5)], array.dtype)
    elif array.size:
        raw = array.reshape(-1).view(np.uint8)
        raw[rng.integers(raw.size)] ^= np.uint8(1 << rng.integers(8))
    return array


def forge(rng, header, arrays, words):
    way, name = rng.integers(10), str(rng.choice(list(arrays)))
    if way < 5:
        with np.errstate(all="ignore"):
            arrays[name] = changed(rng, arrays[name])
    elif way == 5:  # tables of one size, cut alike
        sized = [key for key, one in arrays.items() if one.shape == arrays[name].shape]
        for key in sized:
            arrays[key] = arrays[key][: len(arrays[name]) // 2] if arrays[key].ndim else arrays[key]
    elif way == 6:
        other = str(rng.choice(list(arrays)))
        arrays[name], arrays[other] = arrays[other], arrays[name]
        if rng.random() < 0.3:
            del arrays[other]
        elif rng.random() < 0.3:
            arrays["stranger"] = arrays[name]
    elif way == 7:
        odd = [*ODD, json.loads("[" * 301 + "]" * 301)][rng.integers(len(ODD) + 1)]
        key = str(rng.choice([*header, "stranger"]))
        if rng.random() < 0.2:
            header.pop(key, None)
        elif key == "history" and rng.random() < 0.7:
            header[key][0][rng.integers(4)] = odd
        else:
            header[key] = odd
    elif way == 8 and isinstance(header.get("settings"), dict):
        key = str(rng.choice([*header["settings"], "stranger"]))
        header["settings"][key] = ODD[rng.integers(len(ODD))]
    else:
        side = str(rng.choice(list(words)))
        some = list(words[side])
        at = rng.integers(len(some)) if some else 0
        words[side] = [
            some[at:],
            [*some, some[0] if some else ""],
            [*some[:-1], ""],
            [*some, "?"],
            some[::-1],
            [],
        ][rng.integers(6)]
        if rng.random() < 0.1:
            words["stranger"] = some


def check(path):
    """Align with a model that was believed: it must say numbers, and links of the pairs."""
    aligner = Aligner.load(path)
    pairs = [*TEXT[:3], (["unheard", *TEXT[4][0]], ["of", *TEXT[5][1]]), ([], ["x"])]
    bitext = Bitext.pack(pairs, casefold=aligner.parameters.casefold)
    assert np.isfinite(aligner.scores(bitext, threads=1)).all(), "scores"
    for method in ("posterior", "grow-diag-final-and"):
        found = aligner.align_bitext(bitext, symmetrize=method, threads=1)
        links = found.arrays
        assert ((found.probabilities >= 0) & (found.probabilities <= 1)).all(), "probabilities"
        type(links)(links.links, links.sure, links.offsets, links.lengths)  # checks itself
    for source, target, forward, reverse in aligner.lexicon(0):
        assert isinstance(source, str)
        assert isinstance(target, str)
        assert 0 <= forward < 1.01, "lexicon"
        assert 0 <= reverse < 1.01, "lexicon"


def main(seed, count, folder):
    path, bases = Path(folder) / "m", []
    for kind in KINDS:
        Aligner.train(TEXT, threads=1, **kind).save(path)
        bases.append(read_model(path))
    names = {key for one in bases for key in (*one.header, *one.arrays)} | {"words", "stranger"}
    told = {"refused": 0, "loaded": 0, "said": []}
    for number in range(count):
        rng, base = np.random.default_rng([seed, number]), bases[number % len(bases)]
        header = json.loads(json.dumps(dict(base.header)))
        arrays, words = dict(base.arrays), dict(base.words)
        for _ in range(rng.choice([1, 1, 2, 3])):
            forge(rng, header, arrays, words)
        try:
            write_model(path, header=header, arrays=arrays, words=words)
        except WriteError:  # no file can say this
            continue
        try:
            check(path)
            told["loaded"] += 1
        except AlignkitError as problem:
            said = str(problem).removeprefix(f"{path}: ")
            assert any(name in said for name in names), said
            assert len(said) < 600, said
            told["refused"] += 1
            told["said"].append(said)
        except BaseException:
            print(f"seed {seed}, model {number} of {KINDS[number % len(KINDS)]}", file=sys.stderr)
            raise
    print(json.dumps(told))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
