"""Serve a lab: projects, accounts and pages for many annotators on their own machines.

PLACE is a folder, which is made if necessary, or a PostgreSQL database as in
postgresql+psycopg://user@host/database. The first start prints a link for the first owner, who then
makes projects, invites people and assigns pairs in the browser. Ctrl-C stops the server; everything
it acknowledged is saved.

Beyond this machine, people connect by https: give --certificate and --key, or put a web server such
as nginx or Caddy before it, with --url and --behind-proxy.

For example:
  alignkit serve lab
  alignkit serve lab --url https://align.lab.example --behind-proxy 127.0.0.1
  alignkit serve lab --host 0.0.0.0 --url https://lab.example:8000 --certificate c.pem --key k.pem
  alignkit serve lab --owner-link
"""

from __future__ import annotations

import ipaddress
import os
from contextlib import closing, suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from alignkit.cli.common.encoders import add_encoder, check_encoder, encoder_of
from alignkit.cli.common.files import require_extra
from alignkit.cli.common.messages import say, warn
from alignkit.cli.parser import Options, Parser, add_options, number
from alignkit.errors import OptionError
from alignkit.io.atomic_files import apart

if TYPE_CHECKING:
    from alignkit.annotate.lab.server import Address
    from alignkit.annotate.server.child import LabEncoder

_NEEDS_TLS = "needs TLS: give --certificate and --key, or --behind-proxy ADDRESS"


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit serve`."""
    add_options(
        parser,
        """
        PLACE  folder of the lab, or a PostgreSQL database
        --host A  address to listen on (default: 127.0.0.1, this machine only)
        --port N  port to listen on (default: 8000)
        --url URL  public address of the lab, such as https://lab.example/align (default: http, host
            and port)
        --behind-proxy ADDRESS  accept requests only from this proxy, which reports the address of
            each visitor in X-Forwarded-For; repeatable
        --certificate FILE  TLS certificate with its chain, as PEM
        --key FILE  private key of the certificate
        --owner-link  print a link with which to create an owner, or to reset an owner's password,
            and exit
        """,
        PLACE="place",
        host={"default": "127.0.0.1"},
        port={"type": number(0, 65535), "default": 8000},
        behind_proxy={"action": "append", "default": []},
    )
    add_encoder(parser.add_argument_group("suggestions of new projects"))


def run(options: Options) -> int:
    require_extra("annotate", "starlette", "uvicorn", "markdown_it")
    os.umask(0o077)  # what is written is for this user only
    host = _checked(options)
    check_encoder(options)
    from alignkit.annotate.lab.lab import Lab
    from alignkit.annotate.lab.server import LabServer
    from alignkit.annotate.lab.values import Actor
    from alignkit.annotate.project.file_systems import network_warning
    from alignkit.annotate.project.names import is_url, shown_place
    from alignkit.annotate.server import listening, serving

    if options.owner_link:
        if not is_url(options.place) and not os.path.isdir(options.place):
            raise OptionError(f"{options.place}: no such lab")
        with closing(Lab.open(options.place)) as lab:
            token = lab.links.owner_link(Actor("", "command"))
            print(f"{_address(options, options.port).url}join#{token}")
        return 0
    with closing(Lab.open(options.place, serve=True)) as lab:
        if not is_url(options.place) and (text := network_warning(options.place)):
            warn(text)
        listener = listening.listen(host, options.port, "")
        address = _address(options, listener.getsockname()[1])
        own = LabServer(
            lab, address, proxies=options.behind_proxy, encoder=_encoder(options), note=say
        )

        def started() -> None:
            say(f"the lab {shown_place(options.place)} is at {address.url}; Ctrl-C stops")
            if (token := lab.links.first_owner()) is not None:
                say(f"Create the first owner: {address.url}join#{token}")

        server = serving.Server(
            own.app,
            started,
            hang=10.0,
            ssl_certfile=options.certificate,
            ssl_keyfile=options.key,
            limit_concurrency=2000,
            fair=not options.behind_proxy,
        )
        with closing(own), apart():  # files are in place when they are complete, not at the end
            code = server.serve_until_stopped(listener)
    say("stopped")
    return 128 + code if code else 0


def _encoder(options: Options) -> LabEncoder | None:
    """Return the encoder that owners of projects can choose, which must be usable."""
    encoder = encoder_of(options)
    if encoder is None:
        return None
    from alignkit.annotate.server.child import LabEncoder

    return LabEncoder(str(encoder.folder.resolve()), encoder.layer)


def _checked(options: Options) -> str:
    """Return the address to listen on; refuse what would send passwords in the open."""
    name = "127.0.0.1" if options.host == "localhost" else options.host
    try:
        ip = ipaddress.ip_address(name)
        for proxy in options.behind_proxy:
            ipaddress.ip_address(proxy)
    except ValueError as problem:
        raise OptionError(f"--host, --behind-proxy: {problem}") from None
    if (options.certificate is None) != (options.key is None):
        raise OptionError("--certificate and --key belong together: give both")
    for option in ("certificate", "key"):
        path = getattr(options, option)
        if path is not None and not os.path.isfile(path):
            raise OptionError(f"--{option} {path}: no such file")
    if not ip.is_loopback and options.certificate is None and not options.behind_proxy:
        raise OptionError(f"--host {options.host} {_NEEDS_TLS}")
    if options.url is None:
        if not ip.is_loopback or options.behind_proxy:
            raise OptionError("give the address that people type: --url https://NAME")
        return str(ip)
    parts = urlsplit(options.url)
    port = None
    with suppress(ValueError):
        port = parts.port or 1
    plain = parts.path.replace("/", "").replace("-", "").replace("_", "")
    if parts.scheme not in ("http", "https") or not parts.hostname or port is None:
        raise OptionError(f"--url {options.url}: expected an address such as https://lab.example")
    if parts.query or parts.fragment or (plain and not plain.isalnum()):
        raise OptionError(f"--url {options.url}: a path may have letters, digits, - and _ only")
    local = parts.hostname == "localhost"
    with suppress(ValueError):
        local = local or ipaddress.ip_address(parts.hostname).is_loopback
    if parts.scheme == "http" and not local:
        raise OptionError(f"--url {options.url}: people's passwords need https")
    return str(ip)


def _address(options: Options, port: int) -> Address:
    """Return the address that people use."""
    from alignkit.annotate.lab.server import Address
    from alignkit.annotate.server.listening import url_host

    scheme = "http" if options.certificate is None else "https"
    return Address.of(options.url or f"{scheme}://{url_host(options.host)}:{port}/")
