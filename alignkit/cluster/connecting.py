"""Open a session: connect to the scheduler of a cluster, or start workers on this machine."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alignkit._support.arguments import kind_of
from alignkit._support.extras import missing_libraries
from alignkit.cluster.canary import Canary, canary
from alignkit.cluster.dask_session import DaskSession
from alignkit.cluster.session import ClusterError, Connection, Session
from alignkit.errors import ArgumentError, FileError, OptionError

if TYPE_CHECKING:
    from distributed import Client

PATIENCE = 30  # seconds to wait for a scheduler, and for the first worker of this machine
_LOCAL = re.compile(r"local(?::(\d+))?")


@contextmanager
def open_session(
    address: Connection, *, check: Callable[[], Canary] = canary, wait: float | None = None
) -> Iterator[Session]:
    """Connect to workers; release them at the end.

    Parameters
    ----------
    address : ``local:4`` starts 4 processes on this machine, ``local`` one per core;
        ``tcp://HOST:PORT``, ``tls://HOST:PORT`` or a scheduler's file ``*.json``; a `Client`, which
        stays open. None: only this process.
    check : Returns the properties that this process and the workers must share.
    wait : Seconds to wait for workers, at the start and when none are left; None: forever, but 30
        seconds for ``local``.

    Raises
    ------
    ClusterError : If Dask is not installed, or no scheduler or worker answers.
    OptionError, ArgumentError : If the address is invalid, the client cannot be used, or `wait` is
        not in seconds.

    Examples
    --------
    >>> with open_session(None) as session:
    ...     session.workers
    1
    """
    if wait is not None and not (isinstance(wait, Real) and wait >= 0):
        raise ArgumentError(f"wait is {wait!r}; give seconds, 0 or more, or None")
    if address is None:
        yield Session()
    elif isinstance(address, str):
        here = address.startswith("local")
        with connected(address, wait or 0) as client:
            if here and wait is None:
                wait = PATIENCE
            yield DaskSession(client, check=check, here=here, wait=wait)
    else:
        _check_client(address)
        yield DaskSession(address, check=check, wait=wait)


def _check_client(client: Connection) -> None:
    """Refuse what is no client that can be used."""
    if not (hasattr(client, "submit") and hasattr(client, "scheduler_info")):
        fault = f"{kind_of(client)}; give a Dask Client, an address, or None"
    elif client.status in ("closing", "closed"):
        fault = "closed; open another one: Client(...)"
    elif client.asynchronous:
        fault = "asynchronous; open it with Client(..., asynchronous=False), outside coroutines"
    else:
        return
    raise ArgumentError(f"client is {fault}")


def check_address(address: str) -> None:
    """Raise an error if a text is not an address or Dask is not installed."""
    local = _LOCAL.fullmatch(address)
    known = local or address.startswith(("tcp://", "tls://", "ucx://")) or address.endswith(".json")
    if not known or (local and local[1] and int(local[1]) < 1):
        raise OptionError(
            f"{address!r} is not the address of a cluster; use local:4 (4 processes on this "
            "machine), tcp://HOST:8786, or the FILE.json of a scheduler"
        )
    missing = [name for name in ("dask", "distributed") if find_spec(name) is None]
    if missing:
        raise ClusterError(missing_libraries("a cluster", missing, "cluster"))


@contextmanager
def connected(address: str, wait: float = 0) -> Iterator[Client]:
    """Connect to the scheduler of an address; start one for ``local``."""
    check_address(address)
    import dask
    from distributed import Client, LocalCluster

    from alignkit._support.parallel import available_cores

    local = _LOCAL.fullmatch(address)
    if local:
        # Dask gives a worker up for good that is dead 15 seconds after it died before
        lost = dask.config.set({"distributed.deploy.lost-worker-timeout": "1 day"})
        number = int(local[1]) if local[1] else available_cores()
        options: Any = {"dashboard_address": ":0", "silence_logs": "CRITICAL"}
        with (
            lost,
            LocalCluster(n_workers=number, threads_per_worker=1, **options) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    with ExitStack() as stack:
        stack.enter_context(_silent())
        wait = max(wait, PATIENCE)
        place = address
        if address.endswith(".json"):
            place = _address_in(address, wait)
        try:
            client = stack.enter_context(Client(place, timeout=wait))
        except (OSError, ValueError) as problem:
            raise ClusterError(f"{address}: no scheduler answers: {problem}") from None
        yield client


@contextmanager
def _silent() -> Iterator[None]:
    """Silence Dask's report of a lost scheduler, which becomes an error."""
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
    """Return the address in a scheduler's file; wait until it is written."""
    end = time.monotonic() + wait
    while True:
        try:
            content = json.loads(Path(path).read_text("utf-8"))
            break
        except (FileNotFoundError, ValueError):  # not there, or not whole
            if time.monotonic() > end:
                raise ClusterError(
                    f"{path}: no scheduler wrote this file within {wait:g} seconds"
                ) from None
            time.sleep(0.2)
        except OSError as problem:
            raise FileError.of(problem, path) from None
    if not (isinstance(content, dict) and isinstance(content.get("address"), str)):
        raise ClusterError(f"{path}: is not a scheduler's file: it has no address")
    return str(content["address"])
