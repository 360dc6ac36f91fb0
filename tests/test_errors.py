"""Errors say where, and survive being sent between processes."""

import errno
import inspect
import pickle

import pytest
from command import run, write
from refusals import refuses

from alignkit import errors, iterate_pairs, read_corpus, write_corpus
from alignkit.cli import main
from alignkit.errors import AlignkitError, FormatError, NotAlignedError, UnknownNameError


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (FormatError("is odd", "a.txt", 3, 7), "a.txt:3:7: is odd"),
        (FormatError("is odd", "a.txt", 3), "a.txt:3: is odd"),
        (FormatError("is odd", "a.txt"), "a.txt: is odd"),
        (FormatError("is odd"), "is odd"),
        (
            UnknownNameError("format", "pharao", ["pharaoh", "naacl"]),
            "unknown format 'pharao'; did you mean 'pharaoh'? (known: pharaoh, naacl)",
        ),
        (UnknownNameError("annotator", "x", []), "unknown annotator 'x' (known: none)"),
        (
            NotAlignedError("pair 'p1'", "anna", ["ben"]),
            "'anna' judged pair 'p1', but gave no alignment (aligned by: ben)",
        ),
    ],
)
def test_the_message_says_where_and_what(error, text):
    again = pickle.loads(pickle.dumps(error))
    assert str(error) == str(again) == text
    assert type(again) is type(error)
    assert vars(again) == vars(error)


def test_every_error_is_of_the_package():
    kinds = [one for one in vars(errors).values() if inspect.isclass(one)]
    kinds = [kind for kind in kinds if kind.__module__ == errors.__name__]
    assert len(kinds) > 10
    for kind in kinds:
        assert issubclass(kind, AlignkitError)
        assert kind.__doc__


def test_a_missing_file_or_text_and_a_folder_are_errors_of_the_system_too(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        read_corpus(tmp_path / "none", format="pharaoh")
    error = caught.value
    assert isinstance(error, FormatError)
    assert (error.errno, error.filename) == (errno.ENOENT, str(tmp_path / "none"))
    assert str(error) == f"{tmp_path / 'none'}: cannot be read: No such file or directory"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.errno, again.filename) == (str(error), error.errno, error.filename)
    refuses(IsADirectoryError, None, read_corpus, tmp_path, format="naacl")
    (tmp_path / "a").write_text("0-0\n")
    with pytest.raises(FileNotFoundError, match="words: cannot be read"):
        read_corpus(tmp_path / "a", format="pharaoh", source=tmp_path / "words")


def test_a_missing_input_is_not_taken_for_a_bad_output(tmp_path):
    pairs = iterate_pairs(tmp_path / "none", format="xlwa")
    told = "none: cannot be read"
    refuses(FileNotFoundError, told, write_corpus, pairs, tmp_path / "out", format="xlwa")


def test_the_library_speaks_of_arguments_and_the_command_of_options(tmp_path, capsys):
    path, texts = write(tmp_path, "a", "0-7\n"), write(tmp_path, "s", "a ||| b\n")
    told = "check `base` and `transpose`"
    refuses(FormatError, told, read_corpus, path, format="pharaoh", source=texts)
    ran = run(capsys, "stats", path, "--source", texts)
    ran.failed("--base and --transpose")


def test_debug_shows_where_an_error_came_from(tmp_path, capsys):
    assert main(["stats", str(tmp_path / "none"), "--debug"]) == 2
    told = capsys.readouterr().err
    assert "Traceback" in told
    assert told.endswith("none: cannot be read: No such file or directory\n")


def test_quiet_tells_errors_alone(tmp_path, capsys):
    path = write(tmp_path, "a", "0-0 0-0\n")
    assert "duplicate link" in run(capsys, "convert", path, "-", "--to", "naacl").err
    for words in (["convert", path, "-", "--to", "naacl", "--quiet"], ["--quiet", "stats", path]):
        assert run(capsys, *words).err == ""
    run(capsys, "stats", tmp_path / "none", "--quiet").failed("cannot be read")
