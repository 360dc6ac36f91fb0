"""Where the server may listen, and by which names it may be called."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

from alignkit.errors import OptionError

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(:[0-9]{1,5})?", re.ASCII)


def check_address(address: str) -> str:
    """Return the loopback address that is meant."""
    try:
        found = ipaddress.ip_address("127.0.0.1" if address == "localhost" else address)
    except ValueError:
        found = None
    if found is None or not found.is_loopback:
        raise OptionError(
            f"--host {address[:100]}: beyond this machine nobody would be asked who they are, so "
            "alignkit listens on the loopback alone (127.0.0.1 or ::1); reach it from elsewhere "
            "by ssh -L"
        )
    return str(found)


def url_host(address: str) -> str:
    """Return an address as it stands in a URL.

    Examples
    --------
    >>> url_host("127.0.0.1"), url_host("::1")
    ('127.0.0.1', '[::1]')
    """
    return f"[{address}]" if ":" in address else address


def allowed_hosts(address: str, port: int, names: Iterable[str] = ()) -> frozenset[str]:
    """Return what may stand in the header Host, lower case."""
    hosts = {f"{host}:{port}" for host in ("127.0.0.1", "localhost", "[::1]", url_host(address))}
    for name in names:
        if not _NAME.fullmatch(name):
            raise OptionError(
                f"--allow-host {name[:100]!r} is no name of a host; expected one such as "
                "lab.example or lab.example:8080"
            )
        host = name.lower()
        hosts |= {host} if ":" in host else {host, f"{host}:{port}"}
    return frozenset(hosts)
