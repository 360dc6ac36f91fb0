"""Annotate sentence pairs in the browser: correct suggested links, or draw one's own.

CORPUS is in any format that alignkit reads: it is found, or named by --format; and where it holds
no words (pharaoh, naacl) their files by --source and --target. What was done is kept
in a project beside it, CORPUS.alignkit, and goes on there the next time. CORPUS may also be such a
project. Without CORPUS the samples are opened, to try it: their project is in the folder of your
data (~/.local/share/alignkit).

The page is at the URL that is printed, which lets one browser in; for another, a new one is
printed. The server listens on this machine alone. Ctrl-C stops it; all that was acknowledged is on
the disk. What a browser could not send it keeps until the next start at the same host and port; a
project has a port of its own, and where that is taken you are told.

For example:
  alignkit annotate
  alignkit annotate pairs.jsonl --annotator anna
  alignkit annotate paraphrases.json --format jacana
  alignkit annotate auto.align --source fr.txt --target en.txt --name auto --initial auto
  alignkit annotate pairs.jsonl --annotator ben --model fr-en.model --no-browser
"""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING

from alignkit.cli.extras import require_extra
from alignkit.cli.inputs import add_reading_arguments, detect_format, reading_options
from alignkit.cli.messages import say
from alignkit.cli.parser import annotator_name, number
from alignkit.errors import OptionError

if TYPE_CHECKING:
    from alignkit.annotate.server.job import Job
    from alignkit.annotate.server.opening import Opening

__all__ = ["add_arguments", "run"]

_ELSEWHERE = (
    "its own port {own} is taken, so it is at {port}: edits that a browser could not send wait at "
    "{own}, until you stop what is there and start this again"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "corpus",
        metavar="CORPUS",
        nargs="?",
        help="file or folder to annotate, or a project (default: the samples)",
    )
    parser.add_argument(
        "--annotator",
        metavar="NAME",
        type=_who,
        help="who annotates (default: the name you are logged in by)",
    )
    parser.add_argument(
        "--project", metavar="FILE", help="the project (default: CORPUS.alignkit beside the corpus)"
    )
    group = parser.add_argument_group("which links are suggested")
    chosen = group.add_mutually_exclusive_group()
    chosen.add_argument(
        "--initial", metavar="NAME", help="those of this annotator or system in the corpus"
    )
    chosen.add_argument(
        "--model", metavar="FILE", help="those of an aligner that 'alignkit align --save' saved"
    )
    chosen.add_argument(
        "--suggestions",
        choices=("trained", "none"),
        help="those of an aligner trained on these very pairs (default), or none",
    )
    group = parser.add_argument_group("the page")
    group.add_argument("--scheme", metavar="NAME", help="labels of a new project's pairs")
    group.add_argument(
        "--guidelines", metavar="FILE", help="your guidelines, Markdown (default: alignkit's)"
    )
    group.add_argument(
        "--port",
        type=number(0, 65535),
        metavar="N",
        help="default: one that stays the project's own",
    )
    group.add_argument(
        "--host", default="127.0.0.1", metavar="A", help="an address of the loopback alone"
    )
    group.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a further name by which browsers reach it, e.g. through a tunnel",
    )
    group.add_argument("--no-browser", action="store_true", help="only print the URL")
    add_reading_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    require_extra("annotate", "starlette", "uvicorn", "markdown_it")
    from alignkit.annotate.server.hosts import allowed_hosts, check_address, url_host

    address = check_address(options.host)
    allowed_hosts(address, 0, options.allow_host)
    project, corpus = _places(options)
    _check(options)
    opening = _opening(options, project, corpus)
    from alignkit.annotate.server.beforehand import check_beforehand

    known = check_beforehand(opening.job, opening.plan)
    if corpus is None:
        _tell_of_samples(opening.job, known)
    from alignkit.annotate.server.serving import listen

    listener = listen(address, options.port, project)
    port = listener.getsockname()[1]
    from alignkit.annotate.server.security import Entrance
    from alignkit.annotate.server.server import AnnotationServer
    from alignkit.annotate.server.serving import Server, own_port

    host = f"{url_host(address)}:{port}"
    entrance = Entrance(lambda token: say(f"for another browser: http://{host}/#{token}"))

    def started() -> None:
        say(f"project {project}, annotator {opening.job.annotator}; Ctrl-C stops")
        if options.port is None and port != own_port(project):
            say(_ELSEWHERE.format(own=own_port(project), port=port))
        url = f"http://{host}/#{entrance.token}"
        print(url, flush=True)
        if not options.no_browser:
            from alignkit.annotate.server.browsing import open_browser

            open_browser(url)

    hosts = allowed_hosts(address, port, options.allow_host)
    app = AnnotationServer(opening, entrance, hosts, lambda: _guidelines(options.guidelines)).app
    server = Server(app, started)
    opening.start(failed=server.end)
    code = server.serve_until_stopped(listener)
    opening.stop()
    if opening.problem is not None:
        raise opening.problem
    if opening.opened is None:
        say("stopped; the project was not yet made: start again")
        return 128 + code if code else 0
    again = "" if corpus is None else f" {shlex.quote(project)}"
    name = shlex.quote(opening.job.annotator)
    say(f"stopped; the work is in {project}; go on by: alignkit annotate{again} --annotator {name}")
    return 128 + code if code else 0


def _places(options: argparse.Namespace) -> tuple[str, str | None]:
    """Return the project, and the corpus of which it is made; None where the samples are."""
    corpus = options.corpus
    if corpus is None:
        from alignkit.annotate.places import own_folder

        project = options.project or own_folder() / "paraphrases.alignkit"
        return os.path.abspath(project), None
    if corpus == "-":
        raise OptionError("a corpus from standard input cannot be kept; write it into a file")
    if not os.path.exists(corpus):
        raise OptionError(f"{corpus}: there is no such file; name a corpus or a project")
    from alignkit.annotate.tables.project_file import is_project

    if is_project(corpus):
        if options.project is not None:
            raise OptionError(f"{corpus} is a project itself: leave out --project")
        return os.path.abspath(corpus), corpus
    beside = corpus.rstrip("/" + os.sep) + ".alignkit"
    return os.path.abspath(options.project or beside), corpus


def _check(options: argparse.Namespace) -> None:
    for option, path in (("--model", options.model), ("--guidelines", options.guidelines)):
        if path is not None and not os.path.isfile(path):
            raise OptionError(f"{option} {path}: there is no such file")
    if options.scheme is not None:
        from alignkit.labels import get_scheme

        get_scheme(options.scheme)


def _opening(options: argparse.Namespace, project: str, corpus: str | None) -> Opening:
    from alignkit.annotate.server.job import Plan
    from alignkit.annotate.server.opening import Opening

    plan = fallback = Plan("trained")
    given = True
    if options.initial is not None:
        plan = Plan("initial", options.initial)
    elif options.model is not None:
        plan = Plan("model", os.path.abspath(options.model))
    elif options.suggestions is not None:
        plan = Plan(options.suggestions)
    else:
        given = False
        fallback = Plan("initial", "initial") if corpus is None else fallback
    return Opening(
        _job(options, project, corpus),
        plan if given else None,
        fallback=fallback,
        note=say,
    )


def _job(options: argparse.Namespace, project: str, corpus: str | None) -> Job:
    """Return what is to be done where there is no project yet."""
    from alignkit.annotate.server.job import Job

    job = Job(project, scheme=options.scheme or "", annotator=options.annotator or _login())
    if os.path.exists(project):
        if corpus is not None and os.path.abspath(corpus) != project:
            say(f"{project} is there: going on with it; {corpus} is not read again")
        return job
    if corpus is None:
        from alignkit.annotate.resources import samples

        job.corpus, job.format = str(samples() / "paraphrases.jsonl"), "alignkit-jsonl"
    else:
        job.corpus, job.format = corpus, _format(options)
    job.reading = asdict(reading_options(options))
    job.name = os.path.basename(job.corpus.rstrip("/" + os.sep))
    return job


def _tell_of_samples(job: Job, known: Sequence[str]) -> None:
    """Say that the samples are annotated by somebody of this name already."""
    if job.annotator not in known:
        return
    from alignkit.annotate.resources import samples
    from alignkit.annotate.server.beforehand import annotators_of

    file = str(samples() / "paraphrases.jsonl")
    taken = known if job.corpus else annotators_of(type(job)("", file, "alignkit-jsonl")) or ()
    if job.annotator in taken:
        say(
            f"the samples hold the finished work of {', '.join(taken)}, and you go on with that of "
            f"{job.annotator}; to begin anew, stop this and name yourself otherwise, e.g. "
            f"alignkit annotate --annotator {job.annotator}2"
        )


def _format(options: argparse.Namespace) -> str:
    """Return the corpus's format; one of links alone needs its words."""
    path = options.corpus
    found = detect_format(path, options.format, reading_options(options))
    if found == "pharaoh" and options.source is None:
        raise OptionError(
            f"{path}: pharaoh holds links alone; add --source FILE --target FILE (its words, a "
            "sentence a line)"
        )
    return found


def _who(text: str) -> str:
    name = annotator_name(text)
    if not name.strip() or len(name) > 200 or not name.isprintable():
        raise argparse.ArgumentTypeError(f"{name[:40]!r} is no name; give 1 to 200 letters")
    return name


def _login() -> str:
    from getpass import getuser

    with suppress(Exception):  # of several kinds, where the system knows no name
        return getuser()
    return "annotator"


def _guidelines(path: str | None) -> str:
    from alignkit.annotate.server.guidelines_page import render_guidelines

    return render_guidelines(path)
