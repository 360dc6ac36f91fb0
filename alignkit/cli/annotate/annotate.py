"""Annotate sentence pairs in the browser: correct suggested links, or draw your own.

CORPUS can have any format that alignkit reads. If it has no words (pharaoh, naacl), name their
files by --source and --target. For sentences without links, name two plain texts (CORPUS and
TARGET, a sentence a line), or one with both on each line, divided by ||| or a tab. Your work is
saved next to CORPUS in a project, CORPUS.alignkit, and continues there the next time. CORPUS can
also be such a project. Without CORPUS, the samples open; their project is in your data folder
(~/.local/share/alignkit).

Several people can work on one machine, each in a browser. The first starts the server; for the
others, the same command prints an address that lets them in once. Annotators see only their own
pairs and links ('alignkit project assign' assigns pairs); with --adjudicate you decide where they
differ.

The printed address lets one browser in; run the command again for another one. The server listens
on this machine only. Ctrl-C stops it; everything it acknowledged is saved. A browser keeps unsent
edits until the server starts again at the same host and port. Each project has its own port; if it
is taken, the command says so.

For example:
  alignkit annotate
  alignkit annotate pairs.jsonl --annotator anna
  alignkit annotate news.de news.en --annotator anna
  alignkit annotate paraphrases.json --format jacana
  alignkit annotate auto.align --source fr.txt --target en.txt --name auto --initial auto
  alignkit annotate pairs.jsonl --annotator ben --model fr-en.model --no-browser
  alignkit annotate pairs.jsonl --suggestions vote --evidence neural --evidence giza
  alignkit annotate pairs.jsonl --annotator carla --adjudicate
  alignkit annotate pairs.jsonl --task judge --scheme turku
  alignkit annotate --task extract articles/en articles/fr
"""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from getpass import getuser
from typing import TYPE_CHECKING

from alignkit._support.shipped import samples
from alignkit.annotate.project import names
from alignkit.cli.annotate.project import ACCEPT_COPY
from alignkit.cli.common.encoders import add_encoder, check_encoder
from alignkit.cli.common.files import require_extra
from alignkit.cli.common.inputs import (
    add_reading_arguments,
    detect_format,
    is_bitext,
    reading_options,
)
from alignkit.cli.common.messages import say, warn
from alignkit.cli.parser import Options, Parser, add_options, annotator_name, number, option_values
from alignkit.errors import OptionError, UnknownNameError
from alignkit.model.labels import open_scheme
from alignkit.model.texts import TOKENIZERS

if TYPE_CHECKING:
    from alignkit.annotate.server.child import Job, SuggestionPlan
    from alignkit.annotate.server.opening import Opening

RARE = "--accept-copy --allow-host --doubt --hide-systems --nominal"
"""Options that only --help-all shows."""

_SUGGESTING = "eflomal"  # who suggests links in the samples

_ELSEWHERE = (
    "port {own} of this project is taken, so the server uses {port}. Unsent edits in a browser "
    "belong to port {own}: to send them, free that port and start the server again"
)


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit annotate`."""
    either = {"action": argparse.BooleanOptionalAction}
    add_options(
        parser,
        """
        CORPUS  file or folder to annotate, or a project (default: the samples)
        TARGET  target sentences, if CORPUS is a text with source sentences; with --task extract,
            target documents (CORPUS then has the source documents)
        --annotator NAME  name of the annotator (default: your login name)
        --project FILE  file of the project (default: CORPUS.alignkit next to the corpus)
        --adjudicate  settle the differences between annotators, instead of annotating
        --gold NAME  with --adjudicate, the name of the decided links (default: gold)
        --blind  with --adjudicate, hide who drew which link (default: as before)
        --majority  with --adjudicate, take links shared by more than half of the annotators as
            settled (default: as before; at first only links shared by all)
        """,
        CORPUS={"dest": "corpus", "nargs": "?"},
        TARGET={"dest": "second", "nargs": "?"},
        annotator=_who,
        gold=_who,
        blind=either,
        majority=either,
    )
    tokenizers = "; ".join(f"{name} ({text})" for name, text in TOKENIZERS.items())
    add_options(
        parser.add_argument_group("task"),
        f"""
        --task  task of the annotators (default: as in the project, or align); align: draw links;
            judge: give pairs a label, flags and corrected texts; extract: take pairs from documents
        --tokenize T  with --task extract, split texts into words with a tokenizer of nltk:
            {" or ".join(TOKENIZERS)}; put it last, or name it: {tokenizers} (default: white space)
        """,
        task=names.TASKS,
        tokenize={"nargs": "?", "const": "treebank"},
    )
    group = parser.add_argument_group("suggestions")
    add_options(
        group.add_mutually_exclusive_group(),
        """
        --initial NAME  suggest the links of this annotator or system in the corpus
        --model FILE  suggest links with an aligner saved by 'alignkit align --save'
        --suggestions  suggest links with an aligner trained on these pairs, or suggest none; vote:
            this aligner and the systems of --evidence vote on links (default: trained)
        """,
        suggestions=("trained", names.VOTE, "none"),
    )
    add_options(
        group,
        """
        --evidence NAME  with --suggestions vote, a system that votes (an annotator of the corpus,
            or all of NAME/1, NAME/2 and so on); repeatable
        --hide-systems  do not show which systems vote; for as long as the server runs
        --learning  let the aligner learn from finished pairs; its suggestions for pairs that nobody
            has opened improve; the setting is kept (default: on in a new project)
        --doubt  look at words whose suggested links are wrong with at least this probability; 0: at
            each word (default: as in the project, or 0.1)
        """,
        learning=either,
        doubt={"type": float, "choices": names.DOUBTS},
        evidence={"action": "append", "default": []},
        hide_systems={"default": None},
    )
    add_encoder(group)
    add_options(
        parser.add_argument_group("the page"),
        f"""
        --scheme S  labels for judging pairs: a scheme's name, 0-3, no,partly,yes or a JSON file
        --nominal  the labels of a scheme of your own have no order (default: from low to high)
        --guidelines FILE  your guidelines, in Markdown (default: those of alignkit)
        --port N  port of the server (default: the project's own)
        --host A  address of the server; only loopback addresses (default: 127.0.0.1)
        --allow-host NAME  also accept requests for this host name; for browsers that connect
            through a tunnel; repeatable
        --no-browser  print the URL without opening a browser
        {ACCEPT_COPY}
        """,
        port=number(0, 65535),
        host={"default": "127.0.0.1"},
        allow_host={"action": "append", "default": []},
    )
    add_reading_arguments(parser)


def run(options: Options) -> int:
    """Open or create a project, and serve it until a signal comes."""
    require_extra("annotate", "starlette", "uvicorn", "markdown_it")
    from alignkit.annotate.server import listening
    from alignkit.annotate.server.beforehand import check_beforehand

    address = listening.check_address(options.host)
    listening.allowed_hosts(address, 0, options.allow_host)
    project, corpus = _places(options)
    _check(options)
    opening = _opening(options, project, corpus)
    visitor = opening.visitor
    gold = options.gold or ""
    if (url := _invitation(options, opening)) is not None:
        say(f"the server of {project} is already running; address for {visitor.name} (works once):")
        _show(url, options, wait=5)
        return 0
    known = check_beforehand(opening.job, opening.plan, visitor.role, gold)
    if corpus is None and opening.job.annotator in known:
        _tell_of_samples(opening.job, known)
    code = _serve(options, opening, address)
    if opening.problem is not None:
        raise opening.problem
    if opening.opened is None:
        say("stopped before the project was created: start again")
        return 128 + code if code else 0
    again = "" if corpus is None else f" {shlex.quote(project)}"
    role = " --adjudicate" if options.adjudicate else ""
    say(
        f"stopped; the work is in {project}; to continue: alignkit annotate{again} "
        f"--annotator {shlex.quote(visitor.name)}{role}"
    )
    return 128 + code if code else 0


def _serve(options: Options, opening: Opening, address: str) -> int:
    """Serve the project until a signal comes; return its number, or 0."""
    from alignkit.annotate.project.file_systems import network_warning
    from alignkit.annotate.server import listening, serving
    from alignkit.annotate.server.guidelines_page import render_guidelines
    from alignkit.annotate.server.invitations import ServerFile
    from alignkit.annotate.server.security import Entrance
    from alignkit.annotate.server.server import AnnotationServer

    project = opening.job.project
    visitor = opening.visitor
    listener = listening.listen(address, options.port, project)
    port = listener.getsockname()[1]
    own = listening.own_port(project)
    host = f"{listening.url_host(address)}:{port}"
    url = f"http://{host}{names.page_of(visitor)}"
    entrance = Entrance(visitor, lambda token: say(f"for another browser: {url}#{token}"))
    beside = ServerFile(host, entrance.secret)

    def started() -> None:
        say(f"project {project}, {visitor.role} {visitor.name}; Ctrl-C stops")
        if text := network_warning(project):
            warn(text)
        if options.port is None and port != own:
            say(_ELSEWHERE.format(own=own, port=port))
        _show(f"{url}#{entrance.token}", options)

    hosts = listening.allowed_hosts(address, port, options.allow_host)
    guide = partial(render_guidelines, options.guidelines)
    app = AnnotationServer(opening, entrance, hosts, guide, hide_systems=options.hide_systems).app
    server = serving.Server(app, started, lambda: opening.opened is not None)
    opening.start(failed=server.end, opened=lambda: beside.write(project))
    code = server.serve_until_stopped(listener)
    beside.remove(project)
    opening.stop()
    return code


def _invitation(options: Options, opening: Opening) -> str | None:
    """Return the URL of a server that already has the project open, or None."""
    from alignkit.annotate.server.invitations import invited

    project = opening.job.project
    if not os.path.isdir(os.path.dirname(os.path.realpath(project))):
        return None  # which is told later
    printed: list[str] = []

    def waiting(text: str) -> None:
        if text not in printed:
            say(f"the server of {project}: {text}")
            printed.append(text)

    rules = _rules(options)
    url = invited(project, opening.visitor, options.gold or "", rules=rules, waiting=waiting)
    named = (
        "initial",
        "model",
        "suggestions",
        "learning",
        "scheme",
        "task",
        "doubt",
        "guidelines",
        "port",
        "hide_systems",
    )
    given = []
    for name in named:
        value = getattr(options, name)
        if value is not None:
            prefix = "--no-" if value is False else "--"
            given.append(prefix + name.replace("_", "-"))
    if url is not None and given:
        say(f"{', '.join(given)}: no effect; the server keeps its own settings")
    return url


def _show(url: str, options: Options, *, wait: float = 0) -> None:
    """Print an address, open it, and print that of the dashboard, where its session is valid."""
    print(url, flush=True)
    if not options.no_browser:
        from alignkit.annotate.server.serving import open_browser

        open_browser(url, wait=wait)
    if options.adjudicate:
        home = url.partition("/adjudicate")[0]
        say(f"dashboard, afterwards in the same browser: {home}/dashboard")


def _places(options: Options) -> tuple[str, str | None]:
    """Return the project and its corpus; None for the samples."""
    corpus = options.corpus
    if corpus is None:
        return os.path.abspath(options.project or names.own_folder() / "paraphrases.alignkit"), None
    if corpus == "-":
        raise OptionError("a project cannot be made from standard input; save the corpus in a file")
    if not os.path.exists(corpus):
        raise OptionError(f"{corpus}: no such file; name a corpus or a project")
    from alignkit.annotate.project.database import is_project

    if is_project(corpus):
        if options.project is not None:
            raise OptionError(f"{corpus} is already a project: leave out --project")
        return os.path.abspath(corpus), corpus
    return os.path.abspath(options.project or names.project_beside(corpus)), corpus


def _check(options: Options) -> None:
    """Refuse options that do not fit together, and files that do not exist."""
    check_task(options)
    if options.corpus is None and (options.source or options.target):
        raise OptionError("--source and --target add words to the links of CORPUS: name it")
    for_adjudication = list(_rules(options))
    if options.gold is not None:
        for_adjudication.insert(0, "gold")
    if for_adjudication and not options.adjudicate:
        flag = f"--{for_adjudication[0]}"
        raise OptionError(f"{flag} needs --adjudicate: add it, or leave {flag} out")
    _check_vote(options)
    check_encoder(options)
    if options.encoder is not None and options.initial is not None:
        raise OptionError("--encoder is for the aligner, and --initial takes links that are there")
    if options.encoder is not None and options.suggestions == "none":
        raise OptionError("--encoder is for suggestions, and there are none: leave one of them out")
    for option, path in (("--model", options.model), ("--guidelines", options.guidelines)):
        if path is not None and not os.path.isfile(path):
            raise OptionError(f"{option} {path}: no such file")
    if options.scheme is not None:
        scheme = open_scheme(options.scheme)
        if options.nominal:
            scheme = scheme.as_nominal()
        options.scheme = scheme.text
    elif options.nominal:
        raise OptionError("--nominal needs --scheme: add it, or leave --nominal out")


def _check_vote(options: Options) -> None:
    """Refuse systems without a vote, a vote without systems, and what is no name of a system."""
    systems = options.evidence
    votes = options.suggestions == names.VOTE
    if systems and not votes:
        raise OptionError("--evidence needs --suggestions vote: add it")
    if votes and not systems:
        raise OptionError("--suggestions vote needs --evidence NAME, an annotator of CORPUS")
    if len(set(systems)) < len(systems):
        raise OptionError("--evidence has a name twice: give each once")
    if any("=" in name for name in systems):
        raise OptionError(
            "--evidence takes only names here; to put the links of files into a corpus, use "
            "`alignkit merge CORPUS --add NAME=FILE --in-order -o NEW`"
        )


def _opening(options: Options, project: str, corpus: str | None) -> Opening:
    """Return how to open the project: what it is made from, and which suggestions it gets."""
    from alignkit.annotate.server.child import SuggestionPlan
    from alignkit.annotate.server.opening import Opening

    fallback = SuggestionPlan("trained")
    if corpus is None:
        fallback = SuggestionPlan("initial", _SUGGESTING)
    plan = _plan(options)
    if options.encoder is not None:
        plan = _with_encoder(plan or SuggestionPlan("trained"), options)
    return Opening(
        _job(options, project, corpus),
        plan,
        fallback=fallback,
        note=say,
        learning=options.learning,
        role=names.ROLES[options.adjudicate],
        gold=options.gold or "",
        rules=_rules(options),
    )


def _plan(options: Options) -> SuggestionPlan | None:
    """Return the plan for suggestions that was given; None for that of the project."""
    from alignkit.annotate.server.child import SuggestionPlan

    if options.initial is not None:
        return SuggestionPlan("initial", options.initial)
    if options.model is not None:
        return SuggestionPlan("model", os.path.abspath(options.model))
    if options.suggestions is not None or options.task in ("judge", "extract"):
        name = ""
        if options.evidence:
            name = names.vote_name(dict.fromkeys(options.evidence, ()))
        return SuggestionPlan(options.suggestions or "none", name)
    return None


def _with_encoder(plan: SuggestionPlan, options: Options) -> SuggestionPlan:
    """Return a plan whose aligner uses the encoder of --encoder, which must be usable."""
    from alignkit.align.encoder.transformer import Encoder, require_libraries

    require_libraries()
    encoder = Encoder(options.encoder, layer=options.encoder_layer, download=options.download)
    say(f"suggestions come from the encoder {encoder}")
    return plan.with_encoder(str(encoder.folder.resolve()), encoder.layer)


def _rules(options: Options) -> dict[str, bool]:
    """Return the adjudication settings that were given."""
    given = option_values(options, "blind", "majority")
    return {name: value for name, value in given.items() if value is not None}


def _job(options: Options, project: str, corpus: str | None) -> Job:
    """Return the description of a new project."""
    from alignkit.annotate.server.child import Job

    annotator = options.annotator or "annotator"
    with suppress(Exception):  # of several kinds, where the system knows no name
        annotator = options.annotator or getuser()
    job = Job(project, scheme=options.scheme or "", annotator=annotator)
    job.task = options.task or ""
    job.doubt = options.doubt
    job.accept_copy = options.accept_copy
    if os.path.exists(project):
        if corpus is not None and os.path.abspath(corpus) != project:
            say(f"continuing with {project}; {corpus} is not read again")
        return job
    documents = documents_of(options)
    declared = reading_options(options)
    if documents:
        job.documents = documents
        job.tokenize = options.tokenize
    elif corpus is None:
        job.corpus = str(samples() / "paraphrases.jsonl")
        job.format = "alignkit-jsonl"
    elif _is_text(options):
        job.corpus = corpus
        declared = reading_options(options, source=corpus, target=options.second)
        if options.second is None:
            say(f"{corpus}: read as plain text, two sentences a line")
    else:
        job.corpus = corpus
        job.format = detect_format(corpus, options.format, declared)
        if job.format == "pharaoh" and options.source is None:
            raise OptionError(
                f"{corpus}: format pharaoh has no words; add --source FILE --target FILE (one "
                "sentence a line)"
            )
    job.reading = asdict(declared)
    named = job.corpus or " ~ ".join(os.path.basename(path.rstrip(os.sep)) for path in documents)
    job.name = os.path.basename(named.rstrip("/" + os.sep))
    return job


def _is_text(options: Options) -> bool:
    """Return whether sentences without links are named: two plain texts, or a bitext."""
    if options.second is not None:
        return True
    named = options.format is not None or options.source is not None
    return not named and is_bitext(options.corpus, options.encoding)


def _tell_of_samples(job: Job, known: Sequence[str]) -> None:
    """Warn that somebody with this name has already annotated the samples."""
    from alignkit.annotate.server.beforehand import annotators_of

    file = str(samples() / "paraphrases.jsonl")
    taken = known
    if not job.corpus:
        taken = annotators_of(type(job)("", file, "alignkit-jsonl")) or ()
    if job.annotator in taken:
        say(
            f"the samples contain finished work of {', '.join(taken)}, and you continue that of "
            f"{job.annotator}; to start without it, stop this and use another name: "
            f"alignkit annotate --annotator {job.annotator}2"
        )


def _who(text: str) -> str:
    """Return the name of an annotator; others are errors of arguments."""
    name = annotator_name(text)
    if not name.strip() or len(name) > 200 or not name.isprintable():
        raise argparse.ArgumentTypeError(f"{name[:40]!r} is not a name; expected 1 to 200 letters")
    return name


def check_task(options: Options) -> None:
    """Refuse options that do not fit the task."""
    extracts = options.task == "extract"
    tokenizer = options.tokenize
    if options.adjudicate and options.task is not None:
        names.check_adjudicable(options.task)
    if options.second is not None and not extracts:
        _check_texts(options)
    if tokenizer is not None and not extracts:
        raise OptionError("--tokenize needs --task extract: add it, or leave --tokenize out")
    unknown = tokenizer is not None and tokenizer not in TOKENIZERS
    if unknown and os.path.exists(tokenizer):
        raise OptionError(
            f"--tokenize {tokenizer} names a file: put --tokenize after the documents"
        )
    if options.task in ("judge", "extract"):
        for name in ("initial", "model", "suggestions"):
            if getattr(options, name) not in (None, "none"):
                raise OptionError(
                    f"--{name} is about suggested links, but --task {options.task} has none; "
                    "leave it out"
                )
    if extracts and options.corpus is None:
        raise OptionError(
            "--task extract needs documents: two folders with the same file names, two files, "
            "or a file of JSON lines"
        )
    if unknown:
        raise UnknownNameError("tokenizer", tokenizer, TOKENIZERS)


def _check_texts(options: Options) -> None:
    """Refuse a second text that is none, and options about links, which plain texts do not have."""
    for path in (options.corpus, options.second):
        if not os.path.isfile(path):
            raise OptionError(
                f"{path}: no such file; name two texts with a sentence on each line, or "
                "documents with --task extract"
            )
    for name in ("format", "source", "target", "initial"):
        if getattr(options, name) is not None:
            raise OptionError(f"plain texts have no links: leave out --{name}, or name one corpus")


def documents_of(options: Options) -> tuple[str, ...]:
    """Return the named documents; none if a corpus is named."""
    if options.task != "extract" or (options.second is None and options.format is not None):
        return ()
    paths = tuple(path for path in (options.corpus, options.second) if path is not None)
    for path in paths:
        if not os.path.exists(path):
            raise OptionError(f"{path}: no such file or folder; name the documents")
    return paths
