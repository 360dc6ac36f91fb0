"""Training with an encoder over parts and shards gives the bytes of one machine."""

import re

import pytest
from command import run
from test_cluster_training import divided, random_lines
from tiny_encoder import tiny_encoder

from alignkit.align import Aligner, Bitext, Settings
from alignkit.align.encoder import Encoder
from alignkit.cluster import align
from alignkit.cluster.connecting import open_session
from alignkit.cluster.encoding import PartEncoder
from alignkit.cluster.training import train
from alignkit.errors import AlignerError, OptionError
from alignkit.io.link_lines import format_lines

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_cache")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_encoder(tmp_path_factory.mktemp("encoder"), layers=2, places=600)


def on_one_machine(folder, lines, encoder, **options):
    """Return the bytes of the model and of the links of the text of training."""
    bitext = Bitext.pack([tuple(line) for line in lines], written=True)
    aligner = Aligner.train(bitext, threads=1, encoder=encoder, **options)
    aligner.save(folder / "one.model")
    links = format_lines(aligner.align_bitext(bitext, threads=1).arrays)
    return (folder / "one.model").read_bytes(), links


def joined(folder, parts):
    return b"".join((folder / f"{k}.align").read_bytes() for k in range(parts))


@pytest.mark.parametrize(
    ("parts", "shards", "pairs", "options"),
    [
        (1, 1, 60, {"hmm": 2}),
        (3, 2, 60, {"vector_weight": 1.0}),
        (5, 3, 250, {"hmm": 1, "prune": True, "ibm1": 2}),  # the first 200 pairs lie in many parts
    ],
)
def test_any_parts_and_shards_give_one_machine_s_bytes(
    tmp_path, folder, parts, shards, pairs, options
):
    lines = random_lines(parts, pairs)
    patterns = divided(tmp_path, lines, parts, seed=shards)
    encoder = Encoder(folder)
    wanted = on_one_machine(tmp_path, lines, encoder, **options)
    train(
        None,
        *patterns,
        work=str(tmp_path / "work"),
        save=str(tmp_path / "model"),
        output=str(tmp_path / "*.align"),
        settings=Settings(**options),
        encoder=encoder,
        shards=shards,
    )
    assert ((tmp_path / "model").read_bytes(), joined(tmp_path, parts)) == wanted


def test_parts_are_aligned_with_a_model_and_its_encoder(tmp_path, folder):
    encoder = Encoder(folder)
    on_one_machine(tmp_path, random_lines(3, 60), encoder, hmm=2)
    lines = random_lines(4, 60)  # with other words, which the model knows by the encoder alone
    patterns = divided(tmp_path, lines, 3)
    model = str(tmp_path / "one.model")
    output = str(tmp_path / "*.align")
    with pytest.raises(OptionError, match=r"the encoder .*--no-encoder"):
        align(None, *patterns, output, model=model)
    align(None, *patterns, output, model=model, encoder=encoder)
    links = joined(tmp_path, 3)
    loaded = Aligner.load(model, encoder=encoder)
    pairs = [tuple(line) for line in lines]
    assert links == format_lines(loaded.align_bitext(pairs, threads=1).arrays)
    align(None, *patterns, output, model=model, encoder=False)
    assert joined(tmp_path, 3) != links


def test_the_command_trains_on_parts_with_an_encoder(tmp_path, folder, capsys):
    patterns = divided(tmp_path, random_lines(2, 40), 2)
    output = str(tmp_path / "*.align")
    words = ["align", *patterns, "-o", output, "--work", tmp_path / "work", "--hmm", "1"]
    ran = run(capsys, *words, "--encoder", folder)
    assert ran.code == 0, ran.err
    assert "sentences encoded" in ran.err
    assert "mutual best match" in ran.err
    assert (tmp_path / "0.align").exists()
    ran = run(capsys, "align", *patterns, "--estimate", "--encoder", folder)
    bare = run(capsys, "align", *patterns, "--estimate")
    memory = [re.search(r"needs about (.*?) of memory", text.out)[1] for text in (ran, bare)]
    assert memory[0] != memory[1]


def test_functions_and_other_encoders_are_refused(tmp_path, folder):
    patterns = divided(tmp_path, random_lines(2, 30), 2)
    with pytest.raises(OptionError, match="sent to workers"):
        train(None, *patterns, work=str(tmp_path / "work"), save=str(tmp_path / "m"), encoder=len)
    with open_session(None) as session:
        known = PartEncoder.of(Encoder(folder), session, None)
    other = tiny_encoder(tmp_path / "other", layers=1)
    with pytest.raises(AlignerError, match="is not the encoder"):
        PartEncoder(known.used, str(other), 0).encoder()
