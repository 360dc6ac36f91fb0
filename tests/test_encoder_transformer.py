"""Encoders of transformers: their layers, windows and batches, against plain use of the library."""

import json
import subprocess
import sys

import numpy as np
import pytest
from command import run
from tiny_encoder import tiny_encoder

from alignkit import errors, read_corpus
from alignkit.align import Aligner
from alignkit.align.encoder import Encoder
from alignkit.align.encoder.joined_words import JoinedWords

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_cache")]
SENTENCES = [
    ["das", "haus", "ist", "gut", "."],
    ["a"],
    [],
    ["今日", "は", "良い"],
    ["\u200b"],
    ["unknown", "ß", "x"],
    ["ab", "\u200b", "cd"],
    ["ab" * 9] * 14,
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_encoder(tmp_path_factory.mktemp("encoder"), layers=3)


def plain_vectors(folder, words, layer, window=None):
    """Return the vectors of words with all layers of the model, one window at a time."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder).eval()
    sentence = JoinedWords.of(words)
    tokens = tokenizer(sentence.text, add_special_tokens=False, return_offsets_mapping=True)
    ids = tokens["input_ids"]
    assert window is None or len(ids) <= window
    with torch.inference_mode():
        states = model(torch.tensor([[1, *ids, 2]]), output_hidden_states=True).hidden_states
    rows = states[layer][0, 1:-1].numpy()
    vectors = np.zeros((len(words), rows.shape[1]))
    pieces = tokenizer.convert_ids_to_tokens(ids)
    for piece, (begin, end), state in zip(pieces, tokens["offset_mapping"], rows, strict=True):
        if piece == "\u2581":  # a space, which is of no word
            continue
        for character in range(begin, end):
            if sentence.owners[character] >= 0:
                vectors[sentence.owners[character]] += state
    lengths = np.sqrt((vectors**2).sum(axis=1, keepdims=True))
    return vectors / np.where(lengths, lengths, 1)


@pytest.mark.parametrize("layer", [1, 2, 3])
def test_vectors_are_those_of_the_whole_model_at_this_layer(folder, layer):
    encoder = Encoder(folder, layer=layer)
    made = encoder.vectors(SENTENCES[:-1])
    for words, vectors in zip(SENTENCES, made, strict=False):
        assert vectors == pytest.approx(plain_vectors(folder, words, layer), abs=1e-5)
    assert not made[4].any()  # a word without pieces
    assert made[5].any(axis=1).all()  # unknown pieces count
    assert made[6].any(axis=1).tolist() == [True, False, True]
    assert encoder(SENTENCES[0]) == pytest.approx(made[0], abs=1e-5)


@pytest.mark.parametrize("positions", ["bert", "xlm-roberta"])
def test_long_sentences_are_read_in_windows(tmp_path, positions):
    places = 66 if positions == "bert" else 67  # of which the marks and the padding take some
    folder = tiny_encoder(tmp_path / "e", places=places, positions=positions)
    encoder = Encoder(folder, layer=2)
    words = SENTENCES[-1]
    (vectors,) = encoder.vectors([words])
    assert vectors.any(axis=1).all()
    assert encoder._window == 64
    short = words[:3]
    assert encoder.vectors([short])[0] == pytest.approx(plain_vectors(folder, short, 2), abs=1e-5)
    # the first words are farther from the cut than from the beginning, which is no cut
    ids = len(encoder._tokenizer(" ".join(words), add_special_tokens=False)["input_ids"])
    assert ids > 2 * 64
    text = " ".join(words)[:64]
    first = plain_vectors(folder, text.split()[:3], 2)
    assert np.einsum("ij,ij->i", first, vectors[:3]).min() > 0.9


def test_batches_and_order_change_nothing(folder):
    encoder = Encoder(folder)
    rng = np.random.default_rng(0)
    sentences = [["ab"[k % 2] * 3] * int(k) for k in rng.integers(1, 20, 70)]
    together = encoder.vectors(sentences)
    for words, vectors in list(zip(sentences, together, strict=True))[::10]:
        assert encoder(words) == pytest.approx(vectors, abs=1e-5)


def test_the_layer_is_seven_twelfths_of_all(tmp_path):
    for layers, layer in ((1, 1), (3, 2), (4, 2), (6, 4)):
        assert Encoder(tiny_encoder(tmp_path / str(layers), layers=layers)).layer == layer


def test_the_command_aligns_learns_and_loads(folder, capsys, tmp_path):
    source, target, model = (tmp_path / name for name in ("s", "t", "model"))
    source.write_text("das haus\nein Haus .\n" * 4, encoding="utf-8")
    target.write_text("the house\na House .\n" * 4, encoding="utf-8")
    words = "align", source, target, "--encoder", folder, "--save", model, "-o", tmp_path / "o"
    ran = run(capsys, *words, "--json")
    assert ran.code == 0, ran.err
    record = ran.json["encoder"]
    assert (record["encoded"], record["kept"]) == (4, 12)  # equal pairs are encoded once
    assert (record["layer"], record["layers"]) == (2, 3)
    assert "layer 2 of 3" in ran.err
    again = run(capsys, *words, "--json")
    assert (again.json["encoder"]["encoded"], again.json["encoder"]["kept"]) == (0, 16)
    load = "align", source, target, "--load", model
    assert run(capsys, *load, "--encoder", folder).code == 0
    run(capsys, *load).failed("with the encoder")
    run(capsys, *load, "--encoder", folder, "--encoder-layer", "9").failed("has layers 1 to 3")
    corpus = "samples/paraphrases.jsonl"
    learned = run(capsys, "learn", corpus, "--encoder", folder)
    assert learned.code == 0, learned.err


def test_nothing_is_printed_and_nothing_sent(folder):
    code = (
        "import socket\n"
        "def refuse(*_): raise AssertionError('the network was used')\n"
        "socket.socket.connect = refuse\n"
        "from alignkit.align.encoder import Encoder\n"
        f"print(Encoder({str(folder)!r})(['das', 'haus']).shape)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "(2, 16)\n"
    assert ran.stderr == ""


@pytest.mark.parametrize(
    ("file", "content", "problem"),
    [
        ("config.json", "{", "config.json cannot be"),
        ("config.json", "{}", "number of layers"),
        ("config.json", '{"num_layers": 2, "is_encoder_decoder": true}', "is no encoder"),
        ("config.json", '{"num_hidden_layers": 3, "model_type": "none"}', "cannot be loaded"),
        ("tokenizer.json", "{}", "cannot be loaded"),
        ("tokenizer.json", None, "has no tokenizer.json"),
        ("model.safetensors", "no weights", "cannot be loaded"),
        ("model.safetensors", None, "has no weights"),
    ],
)
def test_a_damaged_folder_is_refused(tmp_path, file, content, problem):
    folder = tiny_encoder(tmp_path / "e")
    if content is None:
        (folder / file).unlink()
    else:
        (folder / file).write_text(content)
    with pytest.raises(errors.EncoderError, match=problem):
        Encoder(folder)(["a"])


def test_other_weights_have_another_digest(tmp_path):
    one = tiny_encoder(tmp_path / "1")
    two = tiny_encoder(tmp_path / "2", places=80)
    same = tiny_encoder(tmp_path / "3")
    assert Encoder(one).digest == Encoder(one).digest == Encoder(same).digest
    assert Encoder(one).digest != Encoder(two).digest
    config = json.loads((same / "config.json").read_text())
    (same / "config.json").write_text(json.dumps(config | {"layer_norm_eps": 0.5}))
    assert Encoder(one).digest != Encoder(same).digest


def test_a_corpus_is_aligned_from_python(folder):
    corpus = read_corpus("samples/paraphrases.jsonl")
    aligner = Aligner.train(corpus, encoder=folder)
    assert aligner.encoding.encoded == 2 * len(corpus)
    assert len(aligner.align_bitext(corpus).arrays) == len(corpus)


def test_suggestions_of_a_project_use_the_encoder(folder, tmp_path):
    from annotation import project

    from alignkit.annotate.server.child import SuggestionPlan
    from alignkit.annotate.server.worker import aligner_of, suggest

    texts = []
    plan = SuggestionPlan("trained", encoder=str(folder), encoder_layer=1)
    with project(tmp_path) as store:
        rows = list(suggest(store, plan, lambda text, _: texts.append(text)))
    assert any(cells for _, cells in rows)
    assert any(text.startswith("encoding: ") for text in texts)
    words = [(["das", "haus"], ["the", "house"])] * 3
    aligner = aligner_of(plan, words, lambda *_: None)
    assert aligner.parameters.encoder.layer == 1
    aligner.save(tmp_path / "model")
    without = SuggestionPlan("model", str(tmp_path / "model"))
    with pytest.raises(errors.OptionError, match="give it again"):
        aligner_of(without, words, lambda *_: None)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--initial", "gold"], "links that are there"),
        (["--suggestions", "none"], "is for suggestions"),
        (["--encoder-layer", "9"], "has layers 1 to 3"),
    ],
)
def test_annotate_refuses_an_encoder_without_an_aligner(folder, words, problem, capsys):
    options = "annotate", "samples/paraphrases.jsonl", "--encoder", folder, "--no-browser"
    run(capsys, *options, *words).failed(problem)
