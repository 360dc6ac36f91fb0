"""Share fixtures: where the real corpora are."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings
from repetitions import FULL

examples = 100 if FULL else 50
settings.register_profile("alignkit", deadline=None, derandomize=True, max_examples=examples)
settings.load_profile("alignkit")


@pytest.fixture(scope="session")
def data():
    """Return the folder of real corpora that ALIGNKIT_DATA names, or skip the test."""
    folder = os.environ.get("ALIGNKIT_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("ALIGNKIT_DATA names no folder of real corpora")
    return Path(folder)


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


def pytest_sessionfinish(session):
    """Fail with ALIGNKIT_BROWSER where a test was skipped: no browser, or no extra, is there."""
    told = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("ALIGNKIT_BROWSER") and told is not None and told.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
