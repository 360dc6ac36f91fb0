"""numba is imported without what it only asks for, and nobody else misses it."""

import subprocess
import sys
import threading
from importlib.util import find_spec

import numba  # noqa: F401 (loaded, as in each process that has called a kernel)
import pytest

from alignkit._support.numba_import import Hiding, import_numba

CALL = """
import sys
{first}
from alignkit.io.words_kernel import number_words
number_words.compiled  # at its first call
import numba
{then}
"""


def run(folder, first="", then=""):
    script = CALL.format(first=first, then=then)
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_a_kernel_starts_without_coverage_scipy_and_yaml_which_can_be_imported_later(tmp_path):
    then = "print(*sorted({'coverage', 'scipy', 'yaml'} & set(sys.modules)))\nimport scipy\n"
    then += "print(scipy.__name__)"
    assert run(tmp_path, then=then) == ["scipy"]


def test_a_file_of_settings_is_read_as_numba_does(tmp_path):
    pytest.importorskip("yaml")
    (tmp_path / ".numba_config.yaml").write_text("developer_mode: 1\n", "utf-8")
    assert run(tmp_path, then="print(numba.config.DEVELOPER_MODE)") == ["1"]
    (tmp_path / ".numba_config.yaml").unlink()
    assert run(tmp_path, then="print(numba.config.DEVELOPER_MODE)") == ["0"]


def test_a_coverage_that_runs_is_seen_by_numba(tmp_path):
    pytest.importorskip("coverage")
    then = "from numba.misc import coverage_support\nprint(coverage_support.coverage_available)"
    assert run(tmp_path, "import coverage", then) == ["True"]
    assert run(tmp_path, "", then) == ["False"]


def test_other_threads_import_what_is_hidden_from_this_thread():
    hiding = Hiding(["colorsys"])
    specs = []
    sys.modules.pop("colorsys", None)
    sys.meta_path.insert(0, hiding)
    try:
        with pytest.raises(ModuleNotFoundError):
            import colorsys
        thread = threading.Thread(target=lambda: specs.append(find_spec("colorsys")))
        thread.start()
        thread.join()
        hiding.end()
        import colorsys  # noqa: F401
    finally:
        sys.meta_path.remove(hiding)
    assert specs[0] is not None


def test_nothing_is_hidden_where_numba_is_loaded():
    finders = list(sys.meta_path)
    import_numba()
    assert sys.meta_path == finders
