"""Files take their places together or not at all, whatever stands there and whatever goes wrong."""

import gzip
import os
import stat
import threading
from pathlib import Path

import pytest
from refusals import refuses
from test_cli import posix

from alignkit.io import atomic_files
from alignkit.io.atomic_files import WriteError, refuse_same, replacing, replacing_bytes, together


def put(path, text="new"):
    with replacing(str(path)) as out:
        out.write(text)


def tree(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_files_that_belong_together_take_their_places_together(tmp_path):
    (tmp_path / "a").write_text("old")
    with together() as outputs:
        put(tmp_path / "a")
        put(tmp_path / "b")
        assert (outputs.placed, (tmp_path / "a").read_text()) == (0, "old")
    assert (tree(tmp_path), outputs.placed) == ({"a": "new", "b": "new"}, 2)


def test_an_error_after_some_files_leaves_all_as_they_were(tmp_path):
    (tmp_path / "a").write_text("old")

    def act():
        with together():
            put(tmp_path / "a")
            put(tmp_path / "b")
            with replacing(str(tmp_path / "c")) as out:
                out.write("half")
                raise KeyboardInterrupt

    refuses(KeyboardInterrupt, None, act)
    assert tree(tmp_path) == {"a": "old"}


@pytest.mark.parametrize("failing", range(4))
def test_a_renaming_that_fails_is_undone(tmp_path, monkeypatch, failing):
    fill(tmp_path, *"abc")

    def act():
        with together():
            for name in "abcd":
                put(tmp_path / name)
            fail_at(failing, monkeypatch)

    refuses(WriteError, r"[a-d]: .*Input/output error; nothing was changed", act)
    assert tree(tmp_path) == dict.fromkeys("abc", "old")


def fail_at(failing, monkeypatch):
    calls, replace = [], os.replace

    def sometimes(old, new):
        calls.append(new)
        if len(calls) == failing + 1:
            raise OSError(5, "Input/output error")
        replace(old, new)

    monkeypatch.setattr(os, "replace", sometimes)


def test_what_cannot_be_put_back_is_told(tmp_path, monkeypatch):
    fill(tmp_path, "a", "b")
    replace, rename = os.replace, os.rename

    def first(old, new):
        if new != tmp_path / "a":
            raise OSError(5, "Input/output error")
        monkeypatch.setattr(os, "rename", never)
        replace(old, new)

    def never(*_):
        raise OSError(30, "Read-only file system")

    def act():
        with together():
            put(tmp_path / "a")
            put(tmp_path / "b")
            monkeypatch.setattr(os, "replace", first)

    problem = r"could not restore everything: the old .*a is now "
    with pytest.raises(WriteError, match=problem) as told:
        act()
    monkeypatch.setattr(os, "rename", rename)
    assert Path(str(told.value).rpartition(" is now ")[2]).read_text(encoding="utf-8") == "old"


def test_a_dangling_link_makes_the_file_it_leads_to(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to("sub/file")
    put(tmp_path / "link")
    put(tmp_path / "link", "newer")
    assert (tmp_path / "link").is_symlink()
    assert tree(tmp_path / "sub") == {"file": "newer"}
    (tmp_path / "round").symlink_to("round")
    refuses(WriteError, r"round: .*symbolic links", put, tmp_path / "round")
    (tmp_path / "nowhere").symlink_to("none/file")
    refuses(WriteError, "nowhere: cannot be written", put, tmp_path / "nowhere")


def test_other_names_of_files_alone_or_in_a_folder_keep_their_contents_and_that_is_told(tmp_path):
    (tmp_path / "a").write_text("old")
    os.link(tmp_path / "a", tmp_path / "b")
    with together() as outputs:
        put(tmp_path / "a")
    assert tree(tmp_path) == {"a": "new", "b": "old"}
    assert "a: replaced; other hard links" in outputs.notes[0]
    fill(tmp_path, "out/a/1", "out/a/2")
    os.link(tmp_path / "out" / "a" / "1", tmp_path / "mine")
    with together() as outputs, atomic_files.replacing_folder(str(tmp_path / "out")) as made:
        fill(made.root, "a/1", "a/2", text="new")
    assert (tmp_path / "mine").read_text() == "old"
    assert "replaced; other hard links" in outputs.notes[0]


@posix
def test_mode_and_owner_are_kept(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(path, 1234, 1235)
    before = path.stat()
    with replacing(str(path)) as out:
        out.write("new")
        (beside,) = set(tmp_path.iterdir()) - {path}
        assert stat.S_IMODE(beside.stat().st_mode) & 0o7 == 0  # nobody else may read it meanwhile
    after = path.stat()
    for name in ("st_mode", "st_uid", "st_gid"):
        assert getattr(after, name) == getattr(before, name)


@posix
def test_a_new_file_has_the_mode_of_new_files(tmp_path):
    before = os.umask(0o027)
    try:
        put(tmp_path / "a")
        assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640
    finally:
        os.umask(before)


def test_a_read_only_file_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_text("old")
    monkeypatch.setattr(os, "access", lambda *_: False)  # as it is for all but root
    refuses(WriteError, "it is read-only", put, path)
    assert tree(tmp_path) == {"a": "old"}


def test_a_folder_that_takes_no_file_is_told(tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "a").write_text("old")
    monkeypatch.setattr(os, "open", refused)
    refuses(WriteError, "files in its folder", put, tmp_path / "a")


def test_names_beside_are_nobody_elses(tmp_path):
    """Many threads write one file at once: one of them is there at the end, whole."""
    texts = {f"{k}" * 10_000 for k in range(10)}
    threads = [threading.Thread(target=put, args=(tmp_path / "a", text)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (left,) = tree(tmp_path).values()
    assert left in texts


@posix
@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="no /dev/shm")
def test_a_file_under_dev_is_a_file():
    path = Path(f"/dev/shm/alignkit-test-{os.getpid()}")
    try:
        for name in (path, f"/dev/..{path}"):
            path.write_text("old", encoding="utf-8")
            with replacing(str(name)) as out:
                out.write("new")
                assert path.read_text(encoding="utf-8") == "old"
            assert path.read_text(encoding="utf-8") == "new"
    finally:
        path.unlink()


@posix
def test_pipes_and_devices_are_written_as_they_are(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    put(pipe)
    reader.join()
    assert got == ["new"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    put("/dev/null")
    refuses(WriteError, "/dev/full: cannot be written", put, "/dev/full")
    assert Path("/dev/null").is_char_device()
    assert Path("/dev/full").is_char_device()


def same(*paths):
    refuses(ValueError, r"same file|twice", refuse_same, map(str, paths))


def test_one_file_by_two_names_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    same("s.txt", "./s.txt")
    same("s.txt", tmp_path / "s.txt")
    same("-", "-")
    (tmp_path / "sub").symlink_to(".")
    same("s.txt", "sub/s.txt")
    (tmp_path / "link").symlink_to("s.txt")
    same("s.txt", "link")  # which is not there yet
    (tmp_path / "a").write_text("")
    os.link("a", "b")
    same("a", "b")
    refuse_same(["s.txt", "a", "new/s.txt", "-", "/dev/null", "/dev/null"])


def test_two_outputs_found_to_be_one_file_late_change_nothing(tmp_path):
    def act():
        with together():
            put(tmp_path / "a", "one")
            put(tmp_path / "a", "two")

    refuses(WriteError, r"same file|twice", act)
    assert tree(tmp_path) == {}


def fill(folder, *names, text="old"):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_a_folder_is_made_beside_and_put_in_its_place(tmp_path):
    with atomic_files.replacing_folder(str(tmp_path / "x" / "y")) as made:
        fill(made.root, "a/1", "b/2", text="new")
        assert not (tmp_path / "x" / "y").exists()
    assert tree(tmp_path) == {"x/y/a/1": "new", "x/y/b/2": "new"}


def test_what_else_is_in_a_folder_stays(tmp_path):
    fill(tmp_path, "out/a/1", "out/a/mine", "out/b/2", "out/README")
    with atomic_files.replacing_folder(str(tmp_path / "out")) as made:
        fill(made.root, "a/1", "b/2", "c/3", text="new")
    assert tree(tmp_path / "out") == {
        **{"a/1": "new", "a/mine": "old", "b/2": "new", "c/3": "new"},
        "README": "old",
    }


@pytest.mark.parametrize("failing", range(4))
def test_files_of_a_folder_take_their_places_all_or_none(tmp_path, monkeypatch, failing):
    fill(tmp_path, "out/a/1", "out/a/mine", "out/b/2", "out/README", "out/d")
    before = tree(tmp_path)

    def act():
        with atomic_files.replacing_folder(str(tmp_path / "out")) as made:
            fill(made.root, "a/1", "b/2", "c/3", "d", text="new")
            fail_at(failing, monkeypatch)

    refuses(WriteError, "nothing was changed", act)
    assert tree(tmp_path) == before


def test_what_somebody_puts_into_a_folder_meanwhile_stays(tmp_path, monkeypatch):
    fill(tmp_path, "out/a/1", "out/a/sub/2")
    replace = os.replace

    def meanwhile(old, new):
        fill(tmp_path, "out/a/mine", "out/a/sub/mine")
        replace(old, new)

    with atomic_files.replacing_folder(str(tmp_path / "out")) as made:
        fill(made.root, "a/1", "a/sub/2", text="new")
        monkeypatch.setattr(os, "replace", meanwhile)
    expected = {"a/1": "new", "a/sub/2": "new", "a/mine": "old", "a/sub/mine": "old"}
    assert tree(tmp_path / "out") == expected


def test_an_interrupted_folder_leaves_nothing(tmp_path):
    def act():
        with atomic_files.replacing_folder(str(tmp_path / "x" / "y")) as made:
            fill(made.root, "a/1")
            raise KeyboardInterrupt

    refuses(KeyboardInterrupt, None, act)
    assert not list(tmp_path.iterdir())


def test_a_folder_is_not_put_over_a_file_of_its_name(tmp_path):
    fill(tmp_path, "out/a", "out/b/mine")

    def act(name):
        with atomic_files.replacing_folder(str(tmp_path / "out")) as made:
            fill(made.root, name, text="new")

    refuses(WriteError, "expected a folder; nothing", act, "a/1")
    refuses(WriteError, "expected a file; nothing", act, "b")
    assert tree(tmp_path) == {"out/a": "old", "out/b/mine": "old"}


def test_bytes_take_their_place_when_they_are_whole(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with replacing_bytes(str(path)) as out:
        out.write(b"\r\n\xff")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"\r\n\xff"
    with pytest.raises(WriteError, match="is a folder"), replacing_bytes(str(tmp_path)):
        pass


def test_texts_and_bytes_go_to_standard_output_in_order(capfdbinary):
    with replacing("-") as out:
        out.write("one\n")
        with replacing_bytes("-") as raw:
            raw.write(b"\xff\n")
        out.write("two\n")
    assert capfdbinary.readouterr().out == b"one\n\xff\ntwo\n"


def test_a_name_in_gz_packs_text_to_the_same_bytes_at_any_time(tmp_path):
    path = str(tmp_path / "a.txt.gz")
    lines = [f"line {number} of ü\n" for number in range(5000)]
    with replacing(path) as stream:
        stream.writelines(lines)
    first = Path(path).read_bytes()
    assert gzip.decompress(first).decode() == "".join(lines)
    assert first[:10] == bytes([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3])  # no name, no time; Unix
    other = str(tmp_path / "b.gz")
    with replacing_bytes(other) as stream:
        for line in lines:
            stream.write(line.encode())
    assert Path(other).read_bytes() == first


def test_packing_that_fails_changes_nothing(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(b"before")
    with pytest.raises(WriteError, match="written as UTF-8"):
        write_texts([(path, "whole\n" * 9999 + "\ud800")])
    assert path.read_bytes() == b"before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.gz"]


def test_what_is_written_apart_stays_whatever_fails_later(tmp_path):
    texts = [(tmp_path / "kept", "1"), (tmp_path / "gone", "\ud800")]
    with pytest.raises(WriteError), together(), atomic_files.apart():
        write_texts(texts)
    assert [entry.name for entry in tmp_path.iterdir()] == ["kept"]
    (tmp_path / "kept").unlink()
    with pytest.raises(WriteError), together():
        write_texts(texts)
    assert not list(tmp_path.iterdir())


def write_texts(texts):
    for path, text in texts:
        with replacing(str(path)) as out:
            out.write(text)
