"""The address and the port at which a server listens, and the host names that it answers to."""

from __future__ import annotations

import ipaddress
import os
import re
import socket
import zlib
from collections.abc import Iterable
from contextlib import suppress

from alignkit.errors import OptionError

_FIRST_PORT = 20_000  # the ports of projects are from here on
_PORTS = 10_000  # so many
_TRIES = 20  # ports that are tried, from the one of the project on
_ANY_FREE_PORT = 0  # as the system understands it
_WAITING = 128  # connections that the system keeps until they are accepted
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(:[0-9]{1,5})?", re.ASCII)


def check_address(address: str) -> str:
    """Return the loopback address of a name or number; refuse any other."""
    with suppress(ValueError):
        ip = ipaddress.ip_address("127.0.0.1" if address == "localhost" else address)
        if ip.is_loopback:
            return str(ip)
    raise OptionError(
        f"--host {address[:100]}: alignkit listens only on this machine (127.0.0.1 or ::1), "
        "because it has no passwords; to reach it from another machine, use ssh -L"
    )


def url_host(address: str) -> str:
    """Return an address in the form for a URL."""
    return f"[{address}]" if ":" in address else address


def allowed_hosts(address: str, port: int, names: Iterable[str] = ()) -> frozenset[str]:
    """Return the values allowed in the header Host, in lower case."""
    own = ("127.0.0.1", "localhost", "[::1]", url_host(address))
    hosts = {f"{host}:{port}" for host in own}
    for name in names:
        if not _NAME.fullmatch(name):
            raise OptionError(
                f"--allow-host {name[:100]!r} is not a host name; expected e.g. lab.example or "
                "lab.example:8080"
            )
        host = name.lower()
        hosts.add(host)
        if ":" not in host:
            hosts.add(f"{host}:{port}")
    return frozenset(hosts)


def own_port(project: str) -> int:
    """Return the port of a project: always the same, because browsers keep unsent work by port."""
    place = os.path.realpath(project).encode(errors="surrogateescape")
    return _FIRST_PORT + zlib.crc32(place) % _PORTS


def listen(address: str, port: int | None, project: str) -> socket.socket:
    """Open a socket at a port, or at the first free port of the project."""
    reason: str | None = ""
    if port is None:
        own = own_port(project)
        named = f"--host {address}"
        ports = [*range(own, own + _TRIES), _ANY_FREE_PORT]
    else:
        named = f"--port {port}"
        ports = [port]
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    for number in ports:
        # TCP is named, though it is the default: only then does asyncio send small replies at once
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            if os.name == "posix":  # elsewhere it lets two servers share a port
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((address, number))
            listener.listen(_WAITING)
            return listener
        except OSError as error:
            listener.close()
            reason = error.strerror
    raise OptionError(f"{named}: cannot listen there: {reason}; choose another")
