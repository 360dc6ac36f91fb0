"""Share fixtures: where the real corpora are."""

import gc
import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings
from platforms import needs_posix
from repetitions import FULL

examples = 200 if FULL else 20
settings.register_profile("alignkit", deadline=None, derandomize=True, max_examples=examples)
settings.load_profile("alignkit")
LONG = (
    "test_style",
    "test_processors",
    "test_cluster_workers",
    "test_site",
    "test_annotate_page",
    "test_annotate_leaving",
    "test_annotate_judging",
    "test_annotate_story",
    "test_annotate_learning_page",
    "test_model_forged",
    "test_annotate_forged",
    "test_find_format",
    "agreement_c",
)


@pytest.fixture(scope="session")
def data():
    """Return the folder of real corpora that ALIGNKIT_DATA names, or skip the test."""
    folder = os.environ.get("ALIGNKIT_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("ALIGNKIT_DATA names no folder of real corpora")
    return Path(folder)


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """Give a test a cache folder of its own; compiled kernels stay where they are.

    So what the test keeps is its own, and no kernel is compiled for this test alone.
    """
    import numba

    from alignkit._support.cache_folder import cache_home

    kernels = numba.config.CACHE_DIR or cache_home()
    monkeypatch.setattr("numba.config.CACHE_DIR", kernels)
    monkeypatch.setenv("NUMBA_CACHE_DIR", kernels)  # of processes that the test starts
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "alignkit"


@pytest.fixture
def no_collection():
    """Hold back the garbage collector in a test that reads deeply nested text.

    A finalizer that runs where the stack is full fails, whoever left its object behind.
    """
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def problems():
    found = []
    yield found
    assert found == []


@pytest.fixture(scope="module", autouse=True)
def _environment():
    """End the browser of a module, and take out what was added to the environment.

    Dask, to start workers, has memory trimmed.
    """
    before = set(os.environ)
    yield
    if "annotate_browser" in sys.modules:
        sys.modules["annotate_browser"].quit_chromium()
    for name in set(os.environ) - before - {"PYTEST_CURRENT_TEST"}:
        del os.environ[name]


def pytest_configure(config):
    """Have xdist take the modules in our order, not those with most tests first."""
    config.option.loadscopereorder = False


@pytest.hookimpl(hookwrapper=True)
def pytest_collection():
    """Keep the garbage collector from what is imported and collected, which stays to the end.

    It would look at all of that again and again, which takes more time than all else it does.
    """
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items):
    """Check the marks of tests of real corpora, and begin with the modules that take longest.

    So no worker waits for another at the end.
    """
    wrong = []
    for item in items:
        own = getattr(item, "callspec", None)  # a parameter may have the name of the fixture
        reads = "data" in item.fixturenames and (own is None or "data" not in own.params)
        if reads != (item.get_closest_marker("real_data") is not None):
            wrong.append(item.nodeid)
    if wrong:
        problem = "these tests must have both the fixture `data` and the mark real_data"
        raise pytest.UsageError(f"{problem}: {', '.join(wrong)}")
    if os.name != "posix":
        skip = pytest.mark.skip(reason="uses what only POSIX systems have")
        for item in items:
            own = getattr(item, "callspec", None)
            function = getattr(item, "function", None)
            if function and needs_posix(function, own.params if own else ()):
                item.add_marker(skip)
    items.sort(key=lambda item: (*LONG, item.path.stem).index(item.path.stem))


def pytest_sessionfinish(session):
    """Fail with ALIGNKIT_BROWSER where a module or a test in a browser was skipped."""
    told = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = told.stats.get("skipped", []) if told is not None else []
    # a module that lacks an extra has no keywords
    if os.environ.get("ALIGNKIT_BROWSER") and any(
        "browser" in getattr(report, "keywords", ["browser"]) for report in skipped
    ):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
