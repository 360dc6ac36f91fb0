"""Listen on the loopback, open the browser, and stop at once when the user says so."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import ipaddress
import os
import re
import signal
import socket
import sys
import threading
import time
import webbrowser
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from html import escape
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import msgspec
import uvicorn
from msgspec import DecodeError, Struct, json

from alignkit._support.signals import STOPS
from alignkit.annotate.creation import read_documents
from alignkit.annotate.project.database import (
    ServerLock,
    check_file,
    read_annotators,
    read_assigned,
)
from alignkit.annotate.project.names import (
    ADJUDICATOR,
    ANNOTATOR,
    GOLD,
    ProjectError,
    Visitor,
    check_adjudicable,
    check_gold,
    not_assigned,
    own_folder,
)
from alignkit.annotate.server.child import Job, SuggestionPlan
from alignkit.errors import AlignkitError, OptionError, UnknownNameError
from alignkit.io.options import ReadOptions
from alignkit.io.reading import open_reading, read_pairs
from alignkit.model.corpus import Corpus

if TYPE_CHECKING:
    from starlette.types import ASGIApp


_FIRST, _PORTS, _TRIES = 20_000, 10_000, 20
_HANG = 3.0  # seconds after which a stop does not wait any longer


def own_port(project: str) -> int:
    """Return the port that belongs to a project's place.

    A browser keeps what waits, and its session, by host and port; so each start should have the
    same.
    """
    place = os.path.realpath(project).encode(errors="surrogateescape")
    return _FIRST + zlib.crc32(place) % _PORTS


def listen(address: str, port: int | None, project: str) -> socket.socket:
    """Open a socket."""
    own = own_port(project)
    ports = [*range(own, own + _TRIES), 0] if port is None else [port]
    problem: OSError | None = None
    for one in ports:
        try:
            return _bound(address, one)
        except OSError as error:
            problem = error
    assert problem is not None
    named = f"--port {port}" if port is not None else f"--host {address}"
    raise OptionError(f"{named}: cannot listen there: {problem.strerror}; choose another")


def _bound(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # only where the protocol is named does asyncio send small replies without delay
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # elsewhere it lets two servers share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(128)
    except OSError:
        listener.close()
        raise
    return listener


class Server(uvicorn.Server):
    """Serve until a signal comes; uvicorn would end quietly, whatever the signal was."""

    def __init__(
        self, app: ASGIApp, started: Callable[[], None], ready: Callable[[], bool] = lambda: True
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http="h11",
                ws="none",
                loop="asyncio",
                lifespan="off",
                log_config=None,
                log_level="error",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=75,
                timeout_graceful_shutdown=1,
            )
        )
        self._tell, self._ready = started, ready
        self.signal = 0

    def serve_until_stopped(self, listener: socket.socket) -> int:
        """Serve; return the signal that ended it, 0 if `end` did."""
        with self._heeding():
            self.run(sockets=[listener])
        return self.signal

    def end(self) -> None:
        """Stop serving, from any thread."""
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets=sockets)
        while not (self.should_exit or self._ready()):
            await asyncio.sleep(0.02)
        if not self.should_exit:
            self._tell()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to `serve_until_stopped`."""
        yield

    def install_signal_handlers(self) -> None:
        """Leave signals to `serve_until_stopped`; of older versions of uvicorn."""

    @contextlib.contextmanager
    def _heeding(self) -> Iterator[None]:
        before: dict[int, Any] = {}
        if threading.current_thread() is threading.main_thread():
            for kind in STOPS:
                handler = signal.getsignal(kind)
                if handler not in (signal.SIG_IGN, None):
                    before[kind] = signal.signal(kind, self._stop)
        try:
            yield
        finally:
            for kind, handler in before.items():
                signal.signal(kind, handler)

    def _stop(self, kind: int, _frame: FrameType | None) -> None:
        if self.signal:  # again: whatever hangs need not be waited for, all is on the disk
            os._exit(128 + kind)
        self.signal = kind
        self.should_exit = True
        timer = threading.Timer(_HANG, os._exit, [128 + kind])
        timer.daemon = True
        timer.start()


_PAGE = """<!doctype html>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={url}">
<title>alignkit</title>
<p><a href="{url}">Go to the annotation page</a></p>
"""


def open_browser(url: str, *, wait: float = 0.0) -> None:
    """Open a page in the user's browser, if there is one that can be seen.

    Notes
    -----
    The command line of a browser can be read by everybody on the machine, and the token in `url`
    lets in who comes first. So the browser is given a file that only the user may read.
    """
    seen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if sys.platform not in ("win32", "darwin", "cygwin") and not seen:
        return  # a browser in the terminal cannot show the page
    with contextlib.suppress(AlignkitError, OSError):  # the URL is printed anyway
        page = _written(own_folder() / f"open-{urlsplit(url).port}.html", url)
        thread = threading.Thread(target=_browse, args=[page.as_uri()], daemon=True)
        thread.start()
        thread.join(wait)


def _written(path: Path, url: str) -> Path:
    path.unlink(missing_ok=True)  # of an earlier run, whose token is void
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(number, "w", encoding="utf-8") as stream:
        stream.write(_PAGE.format(url=escape(url)))
    return path


def _browse(page: str) -> None:
    with contextlib.suppress(webbrowser.Error, OSError):
        webbrowser.open(page)


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


_SMALL = 1 << 18  # bytes of a corpus that is read in a tenth of a second


def check_plan(plan: SuggestionPlan, annotators: Iterable[str], annotator: str) -> None:
    """Check that suggestions can come from there."""
    if plan.kind != "initial":
        return
    if plan.name not in annotators:
        raise UnknownNameError("annotator (--initial)", plan.name, annotators)
    if plan.name == annotator:
        raise OptionError(
            f"--initial {plan.name} and --annotator {annotator} are one: annotate under another "
            "name"
        )


def check_beforehand(
    job: Job, plan: SuggestionPlan | None, role: str = ANNOTATOR, gold: str = ""
) -> Sequence[str]:
    """Check a project and, where there is none yet, its place and its corpus.

    What takes long, such as to read a large corpus, is left for later.
    """
    known: Sequence[str] | None
    if os.path.exists(job.project):
        check_file(job.project)
        ServerLock(job.project).release()
        known = read_annotators(job.project)
        assigned = read_assigned(job.project)
        if role == ANNOTATOR and assigned and job.annotator not in assigned:
            raise ProjectError(not_assigned(job.annotator, assigned))
        if role == ADJUDICATOR:
            _check_adjudicator(job, gold)
    else:
        _check_place(job.project)
        known = annotators_of(job) if not job.documents else _check_documents(job)
        if role == ADJUDICATOR:
            check_adjudicable(job.task)
            gold = gold or GOLD
            check_gold(gold, job.annotator, taken=gold in (known or ()))
    if plan is not None and plan.kind == "model":
        from alignkit.align.model_files import check_head

        check_head(plan.name)
    elif plan is not None and known is not None:
        check_plan(plan, known, job.annotator)
    return known or ()


def _check_adjudicator(job: Job, gold: str) -> None:
    """Check that somebody may adjudicate a project; it takes the store, which opening it takes."""
    from alignkit.annotate.project.store import Store
    from alignkit.annotate.server.sessions import check_adjudicator

    with Store.open(job.project) as store:  # read-only leaves files beside it
        check_adjudicator(store, job.annotator, gold)


def _check_documents(job: Job) -> tuple[str, ...]:
    """Check that there are documents, by the first; nobody has annotated them."""
    encoding = job.reading.get("encoding", "utf-8")
    if next(read_documents(job.documents, tokenize=job.tokenize, encoding=encoding), None) is None:
        names = " and ".join(job.documents)
        raise ProjectError(f"{names}: no documents; there is nothing to extract from")
    return ()


def annotators_of(job: Job) -> tuple[str, ...] | None:
    """Return who annotated the corpus; None where it is too large to read it now."""
    options = ReadOptions(**job.reading)
    files = [path for path in (job.corpus, options.source, options.target) if path is not None]
    for path in files:
        try:
            if os.path.isdir(path):
                os.scandir(path).close()
            else:
                open(path, "rb").close()
        except OSError as problem:
            raise OptionError(f"{path}: cannot be read: {problem.strerror or problem}") from None
    if not all(map(os.path.isfile, files)) or sum(map(os.path.getsize, files)) > _SMALL:
        return None
    kind, reading = open_reading(job.corpus, format=job.format, options=options)
    corpus = Corpus(read_pairs(kind, reading))
    if not len(corpus):
        raise ProjectError(f"{job.corpus}: holds no sentence pairs; there is nothing to annotate")
    return corpus.annotators


def _check_place(project: str) -> None:
    folder = os.path.dirname(os.path.realpath(project))
    if not os.path.isdir(folder):
        raise OptionError(f"{project}: there is no folder {folder}; make it, or name another file")
    ServerLock(project).release()


SECRET = "X-Alignkit-Secret"
"""The header by which the command shows that it may ask."""
_PAUSE, _ANSWER = 0.3, 30.0  # seconds
_TRIES_BESIDE = 20
_Rule = Literal["blind", "majority"]


class Invitation(Struct, forbid_unknown_fields=True):
    """Who is to be let in: the body of the request."""

    name: str
    role: str
    gold: str = ""
    rules: dict[_Rule, bool] = {}


class Invited(Struct):
    """The way in: a path, and the token that goes behind it."""

    path: str
    token: str


class ServerFile(Struct):
    """Where a project's server is."""

    host: str  # the address and port, as in a URL
    secret: str  # what the server asks for before it lets somebody in

    def write(self, project: str) -> None:
        """Write it beside a project, for nobody else to read; what was there is of the past."""
        path = _path(project)
        try:
            with suppress(FileNotFoundError):
                if old := Path(path).read_bytes():
                    json.decode(old, type=ServerFile)  # of the user's, if it is something else
                os.unlink(path)
            number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(number, "wb") as stream:
                stream.write(json.encode(self))
        except OSError as problem:
            raise ProjectError(f"{path}: cannot be written: {problem.strerror}") from None
        except (DecodeError, UnicodeDecodeError):
            raise ProjectError(
                f"{path}: alignkit needs the name, and did not make the file; move it elsewhere"
            ) from None

    def remove(self, project: str) -> None:
        """Take it away, if it still is this one."""
        if _read(project) == self:
            with suppress(OSError):
                os.unlink(_path(project))


def _path(project: str) -> str:
    return os.path.realpath(project) + "-server"


def _read(project: str) -> ServerFile | None:
    try:
        with open(_path(project), "rb") as stream:
            server = json.decode(stream.read(10_000), type=ServerFile)
    except (OSError, DecodeError, UnicodeDecodeError):
        return None
    return server if _on_loopback(server.host) else None


def _on_loopback(host: str) -> bool:
    """Return whether it is an address of this machine with a port; no other gets the secret."""
    address, _, port = host.rpartition(":")
    with suppress(OptionError, ValueError):
        return url_host(check_address(address.strip("[]"))) == address and 0 < int(port) < 2**16
    return False


def invited(
    project: str,
    visitor: Visitor,
    gold: str = "",
    *,
    rules: Mapping[str, bool] | None = None,
    waiting: Callable[[str], None] | None = None,
) -> str | None:
    """Return the URL by which one browser gets in; None where no server has the project."""
    known = msgspec.convert(dict(rules or {}), dict[_Rule, bool])
    silent = 0
    while True:
        try:
            ServerLock(project).release()
            return None
        except ProjectError:
            server = _read(project)
            if server is None:  # or it has not yet written where it is
                silent += 1
                if silent > _TRIES_BESIDE // 5:
                    raise
                time.sleep(_PAUSE / 3)
                continue
        status, body = _asked(server, Invitation(visitor.name, visitor.role, gold, known))
        if status == 200:
            way = json.decode(body, type=Invited)
            return f"http://{server.host}{way.path}#{way.token}"
        reason = _reason(body)
        silent = 0 if status else silent + 1
        if status not in (0, 503) or silent > _TRIES_BESIDE:
            raise ProjectError(
                reason if status else f"{project}: {reason} at {server.host}; stop it"
            )
        if waiting is not None:
            waiting(reason)
        time.sleep(_PAUSE)


def _asked(server: ServerFile, invitation: Invitation) -> tuple[int, bytes]:
    """Return the status, 0 where nobody answers, and the body."""
    headers = {"Content-Type": "application/json", SECRET: server.secret, "Prefer": "wait=5"}
    connection = http.client.HTTPConnection(server.host, timeout=_ANSWER)
    try:
        connection.request("POST", "/invite", json.encode(invitation), headers)
        reply = connection.getresponse()
        return reply.status, reply.read()
    except (OSError, http.client.HTTPException):
        return 0, b'{"error": "the server does not answer"}'
    finally:
        connection.close()


def _reason(body: bytes) -> str:
    with suppress(DecodeError, UnicodeDecodeError):
        answer = json.decode(body)
        if isinstance(answer, dict) and answer.get("error"):
            return str(answer["error"])
    return "the server does not let anybody in; stop it and start it again"
