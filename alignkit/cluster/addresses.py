"""Find the scheduler of a cluster by what people type: ``local:4``, ``tcp://HOST:8786``, a file."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from alignkit.errors import AlignkitError, FileError, OptionError

if TYPE_CHECKING:
    from distributed import Client

PATIENCE = 30
"""Seconds to wait for a scheduler, and for the first worker of this machine."""

_LOCAL = re.compile(r"local(?::(\d+))?")


class ClusterError(AlignkitError):
    """A cluster that cannot be reached, or workers that cannot do what is asked of them."""


def check_address(address: str) -> None:
    """Refuse what is no address, and any where Dask is not there."""
    local = _LOCAL.fullmatch(address)
    known = local or address.startswith(("tcp://", "tls://", "ucx://")) or address.endswith(".json")
    if not known or (local and local[1] and int(local[1]) < 1):
        raise OptionError(
            f"{address!r} is no address of a cluster; say local:4 (so many processes of this "
            "machine), tcp://HOST:8786, or FILE.json, which a scheduler wrote"
        )
    missing = [name for name in ("dask", "distributed") if find_spec(name) is None]
    if missing:
        raise ClusterError(
            f"a cluster needs more libraries ({', '.join(missing)}); type: "
            "pip install 'alignkit[cluster]'"
        )


@contextmanager
def connected(address: str, wait: float = 0) -> Iterator[Client]:
    """Connect to the scheduler of an address, perhaps one that is begun for it."""
    check_address(address)
    from distributed import Client, LocalCluster

    from alignkit.parallel import available_cores

    local = _LOCAL.fullmatch(address)
    with ExitStack() as stack:
        if local:
            cluster = stack.enter_context(
                LocalCluster(
                    n_workers=int(local[1]) if local[1] else available_cores(),
                    threads_per_worker=1,
                    dashboard_address=":0",
                    silence_logs="CRITICAL",
                )
            )
            yield stack.enter_context(Client(cluster))
            return
        stack.enter_context(_silent())
        wait = max(wait, PATIENCE)
        place = _address_in(address, wait) if address.endswith(".json") else address
        try:
            client = stack.enter_context(Client(place, timeout=wait))
        except (OSError, ValueError) as problem:
            raise ClusterError(f"{address}: no scheduler answers: {problem}") from None
        yield client


@contextmanager
def _silent() -> Iterator[None]:
    """Keep Dask from printing how it lost a scheduler; that is told as an error."""
    logs = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    before = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for log, level in zip(logs, before, strict=True):
            log.setLevel(level)


def _address_in(path: str, wait: float) -> str:
    """Return the address in the file that a scheduler writes when it has begun; wait for it."""
    end = time.monotonic() + wait
    while True:
        try:
            content = json.loads(Path(path).read_text("utf-8"))
        except (FileNotFoundError, ValueError):  # not there, or not whole
            if time.monotonic() > end:
                raise ClusterError(
                    f"{path}: no scheduler has written it in {wait:g} seconds"
                ) from None
            time.sleep(0.2)
            continue
        except OSError as problem:
            raise FileError.of(problem, path) from None
        if not (isinstance(content, dict) and isinstance(content.get("address"), str)):
            raise ClusterError(f"{path}: is no file of a scheduler: it holds no address")
        return str(content["address"])
