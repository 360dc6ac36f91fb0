"""Whatever is the matter with the cache of compiled kernels costs a compilation, nothing else."""

import os
import pickle
import stat
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

import numba
import numpy as np
import pytest
from command import COMPILING
from console import ROOT
from numba.core import event
from numba.core.registry import cpu_target
from numba.core.runtime import nrtdynmod
from numba.core.runtime.nrt import rtsys
from packaging.specifiers import SpecifierSet

from alignkit._support import compiling, kernel_cache, kernel_files
from alignkit._support.jit import jit
from alignkit.align import decoding_kernel
from alignkit.cli.common.messages import begin, heard

POSIX = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Give a cache and a folder for temporary files that hold nothing."""
    kernel_cache._start_runtime(cpu_target.target_context)  # its file is not counted below
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("numba.config.CACHE_DIR", "")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def run():
    """Call a small kernel as a new process would; return whether it was compiled."""
    kernel = jit(decoding_kernel.mixed.py_func)
    assert kernel(np.uint64(7), 5) == decoding_kernel.mixed(np.uint64(7), 5)
    stats = kernel.compiled.stats
    assert sum(stats.cache_hits.values()) + sum(stats.cache_misses.values()) == 1
    return not stats.cache_hits


def kept(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_kernel_is_compiled_once_and_kept_with_what_it_needs(home):
    assert run()
    assert not run()
    (path,) = kept(home)
    assert path.is_relative_to(home / "cache" / "alignkit")
    run()
    (path,) = kept(home)
    sig, needed, *_ = pickle.loads(kernel_files.read(path))
    assert len(sig) == 2
    assert "PyLong_AsUnsignedLongLong" in needed
    assert not any(name.startswith("llvm.") for name in needed)


LATE = """
import sys
from alignkit.cli.main import main
assert main(["score", "links", "links", "--quiet"]) == 0
assert "numba" not in sys.modules
assert main(["align", "texts", "others", "--quiet"]) == 0
print({"numba", "numba.np.arrayobj", "scipy.linalg"} & {*sys.modules}, file=sys.stderr)
"""


def test_small_files_need_no_numba_and_kernels_that_are_read_import_little_of_it(tmp_path):
    (tmp_path / "links").write_text("0-0 1-1\n")
    for name in ("texts", "others"):
        (tmp_path / name).write_text("a b\nb c\n")
    for _ in range(2):  # the first may compile
        command = [sys.executable, "-c", LATE]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stderr == "{'numba'}\n"


def test_the_runtime_is_read_as_it_was_compiled(home, monkeypatch):
    monkeypatch.setattr(rtsys, "_init", False)
    kernel_cache._start_runtime(cpu_target.target_context)
    (path,) = kept(home)
    monkeypatch.setattr(rtsys, "_init", False)
    monkeypatch.setattr(nrtdynmod, "create_nrt_module", None)  # it is not compiled again
    kernel_cache._start_runtime(cpu_target.target_context)
    pointer = rtsys.library.get_pointer_to_function("NRT_incref")
    assert pointer
    assert kept(home) == [path]


def test_a_kernel_that_was_read_can_be_called_by_one_that_is_compiled(home):
    assert run()
    inner = jit(decoding_kernel.mixed.py_func)

    @numba.njit
    def outer(seed, number):
        return inner(inner(seed, number), number)

    seed = np.uint64(7)
    assert outer(seed, 5) == decoding_kernel.mixed(decoding_kernel.mixed(seed, 5), 5)
    assert inner.compiled.stats.cache_hits
    assert not inner.compiled.stats.cache_misses


NO_KERNELS = [b"no pickle", pickle.dumps(("no", "kernel")), b""]


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:10],
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: data + b"x",
        lambda data: os.urandom(len(data)),
        lambda data: data[:3000] + bytes([data[3000] ^ 1]) + data[3001:],
        lambda data: NO_KERNELS[1],
        *(
            lambda data, payload=payload: kernel_files.MARK + sha256(payload).digest() + payload
            for payload in NO_KERNELS
        ),
    ],
)
def test_a_file_that_is_damaged_or_holds_no_kernel_costs_a_compilation(home, damage):
    run()
    (path,) = kept(home)
    path.write_bytes(damage(path.read_bytes()))
    assert run()
    assert not run()


def test_the_kernel_of_another_name_is_not_taken(home):
    run()
    (path,) = kept(home)
    jit(decoding_kernel.mixed.py_func)(np.uint64(7), np.int32(5))  # another signature
    (other,) = set(kept(home)) - {path}
    path.write_bytes(other.read_bytes())
    assert run()


def for_others(path, monkeypatch):
    path.chmod(0o666)


def of_somebody_else(path, monkeypatch):
    if os.name != "posix":
        pytest.skip("files have no owners")
    if os.geteuid() == 0:
        os.chown(path, 4321, -1)
    else:
        mine = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: mine + 1)


def linked(path, monkeypatch):
    path.symlink_to(path.rename(path.with_name("moved")))


@POSIX
@pytest.mark.parametrize("change", [for_others, of_somebody_else, linked])
def test_a_file_that_is_not_the_users_own_is_not_run(home, monkeypatch, change):
    run()
    (path,) = kept(home)
    change(path, monkeypatch)
    assert run()


@pytest.mark.slow
@POSIX
def test_what_others_put_into_a_folder_is_not_opened(home):
    assert run()
    (path,) = kept(home)
    path.unlink()
    os.mkfifo(path)
    assert run()


def no_space(*_):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(("module", "name"), [(tempfile, "mkstemp"), (os, "replace")])
def test_without_space_kernels_are_not_kept_nor_halves(home, monkeypatch, capsys, module, name):
    monkeypatch.setattr(module, name, no_space)
    assert run()
    assert not kept(home)
    assert capsys.readouterr() == ("", "")


def test_a_cache_that_is_no_folder_is_replaced_by_a_private_one(home):
    (home / "cache").write_text("a file")
    assert run()
    assert not run()
    (path,) = kept(home / "temporary")
    if os.name == "posix":
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert path.parent.parent.name == f"alignkit-{os.geteuid()}"


@POSIX
def test_a_folder_that_others_can_write_to_is_not_used(home):
    run()
    (path,) = kept(home)
    for folder in (path.parent, path.parent.parent):
        folder.chmod(0o777)
        assert run(), "what is in a folder that others can write to is not run"
        assert not run()
        assert kept(home / "cache") == [path]
        for private in kept(home / "temporary"):
            private.unlink()
        folder.chmod(0o700)


@POSIX
def test_a_private_folder_that_somebody_else_made_is_not_used(home):
    (home / "cache").write_text("a file")
    (home / "elsewhere").mkdir()
    (home / "temporary" / f"alignkit-{os.geteuid()}").symlink_to(home / "elsewhere")
    assert run()
    assert run()
    assert not kernel_files.can_keep()
    assert not kept(home / "elsewhere")


@POSIX
@pytest.mark.parametrize("named", [None, "", "~", "~/caches", "caches", "./caches"])
@pytest.mark.parametrize("user", [None, "", "~", "here"])
def test_no_folder_appears_in_the_working_directory(home, monkeypatch, named, user):
    import pwd

    for name, value in (("XDG_CACHE_HOME", named), ("HOME", user)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    (home / "work").mkdir()
    monkeypatch.chdir(home / "work")

    def unknown(_):
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert [path.parent.parent for path in kernel_files.places()] == [home / "temporary"]
    assert kernel_files.can_keep()
    assert not list(Path().iterdir())
    monkeypatch.setattr(pwd, "getpwuid", lambda _: pwd.struct_passwd(["x"] * 5 + ["/of/x", "x"]))
    assert next(kernel_files.places()).parent == Path("/of/x/.cache/alignkit")


@pytest.fixture
def untold(monkeypatch):
    monkeypatch.setattr(compiling, "_ANNOUNCER", compiling._Announcer())
    event.register("numba:compile", compiling._ANNOUNCER)
    yield
    event.unregister("numba:compile", compiling._ANNOUNCER)


def test_a_library_call_that_compiles_says_so_once_where_users_see_it(home, untold, caplog):
    @numba.njit
    def of_others(number):
        return number + 1

    assert of_others(1) == 2
    assert not caplog.records
    run()
    jit(decoding_kernel.mixed.py_func)(np.uint64(7), np.uint64(5))
    (told,) = caplog.records
    assert (told.name, told.levelname) == ("alignkit", "WARNING")
    assert told.getMessage() == COMPILING.removeprefix("alignkit: ").rstrip("\n")


def test_what_cannot_be_kept_is_told(home, capsys):
    begin(quiet=False)  # as a command does; another test's may have been quiet
    with heard():
        compiling._warn()
        (home / "cache" / "alignkit").rename(home / "cache" / "gone")
        (home / "cache" / "alignkit").write_text("")
        for path in (home / "temporary").iterdir():
            path.rename(home / "gone")
        (home / "temporary").rmdir()
        (home / "temporary").write_text("")
        compiling._warn()
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == COMPILING.rstrip("\n")
    assert "they cannot be kept" in lines[1]
    assert len(lines) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sources", "environment"])
def test_kernels_of_other_sources_or_another_numba_are_not_taken(home, monkeypatch, name):
    run()
    kernel_files._drop_stale.cache_clear()
    monkeypatch.setattr(kernel_files, name, lambda: "0123")
    assert run()
    assert not run()
    assert len(kept(home)) == (1 if name == "sources" else 2)  # stale ones are dropped


def test_each_processor_has_kernels_of_its_own(home, monkeypatch):
    run()
    monkeypatch.setattr("numba.config.CPU_NAME", "another")
    assert run()
    assert not run()
    assert len(kept(home)) == 2


def test_without_sources_nothing_is_kept(home, monkeypatch):
    monkeypatch.setattr(kernel_files, "sources", lambda: "")
    assert run()
    assert run()
    assert not kept(home)


@pytest.mark.slow
def test_nothing_is_compiled_where_numba_is_switched_off(tmp_path):
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "XDG_CACHE_HOME": str(tmp_path)}
    code = "from alignkit.align.decoding_kernel import mixed; assert callable(mixed)"
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert not kept(tmp_path)


@pytest.mark.slow
def test_two_processes_compile_into_one_cache(tmp_path):
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": ""}
    code = (
        "import numpy as np; from alignkit.align.decoding_kernel import mixed;"
        "print(mixed(np.uint64(7), 5), *mixed.compiled.stats.cache_hits.values())"
    )

    def start():
        command = [sys.executable, "-c", code]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)

    first, second = (process.communicate()[0] for process in [start(), start()])
    assert first.split()[0] == second.split()[0]
    assert sorted(len(ran.split()) for ran in (first, second)) == [1, 2]  # one of them compiled
    assert start().communicate()[0].split() == [first.split()[0], b"1"]
    names = sorted("runtime" in path.name for path in kept(tmp_path))
    assert names == [False, True]  # numba's runtime is kept beside the kernel


@pytest.mark.slow
def test_a_lock_that_is_not_given_back_ends_with_its_process_and_no_wait_is_endless(
    home, monkeypatch
):
    run()
    (path,) = kept(home)
    path.unlink()
    code = (
        "import os, sys, time; from alignkit._support.locks import lock_alone;"
        "lock_alone(os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)); print(flush=True);"
        "time.sleep(60)"
    )
    command = [sys.executable, "-c", code, f"{path}.lock"]
    monkeypatch.setattr(kernel_cache, "_LONGEST", 0.2)
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        assert run()
        holder.kill()
    path.unlink()
    monkeypatch.setattr(kernel_cache, "_LONGEST", 1000)
    assert run()
    assert not run()


def test_the_names_of_numba_that_the_cache_uses_exist():
    """The upper bound in setup.cfg is the newest numba that was tried."""
    assert kernel_cache.KEEPS
    wanted = next(
        line.strip() for line in (ROOT / "setup.cfg").read_text().splitlines() if "numba" in line
    )
    assert SpecifierSet(wanted.removeprefix("numba")).contains(numba.__version__)
    assert "<" in wanted


@pytest.mark.slow  # each compiles the kernels of a command
@pytest.mark.parametrize("name", ["_Cache", "_reduce", "_rebuild"])
def test_without_a_private_name_of_numba_commands_work_and_say_that_nothing_is_kept(tmp_path, name):
    code = (
        "import sys, numba.core.caching, numba.core.compiler as compiler;"
        "owner = numba.core.caching if sys.argv[1] == '_Cache' else compiler.CompileResult;"
        "delattr(owner, sys.argv[1]);"
        "from alignkit.cli.main import main; code = main(['score', *sys.argv[2:]]);"
        "import numpy as np; from alignkit.align.decoding_kernel import mixed;"
        "mixed(np.uint64(7), 5); sys.exit(code)"
    )
    for side in ("a", "b"):
        (tmp_path / side).write_text("0-0 1-1\n")
    command = [sys.executable, "-c", code, name, "a", "b", "--format", "pharaoh", "--quiet"]
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    ran = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.count("each run compiles them") == 1
    assert not kept(tmp_path / "cache")


def test_a_kernel_that_cannot_be_saved_is_used_and_reported_once(home, monkeypatch, caplog):
    def fail(*_):
        raise AttributeError("no such name")

    monkeypatch.setattr(kernel_cache, "WARNED", [])
    monkeypatch.setattr(kernel_cache, "dumps", fail)
    assert run()
    assert run()
    told = [record.getMessage() for record in caplog.records]
    assert sum("(AttributeError: no such name)" in text for text in told) == 1
