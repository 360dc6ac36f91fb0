"""The figures of the dashboard, which a child process computes from the finished work."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import combinations

from sqlalchemy import Connection

from alignkit.agreement.cautions import cautions_of
from alignkit.agreement.unseen_links import shared_links
from alignkit.annotate.assignment import read_plan
from alignkit.annotate.control_sample import ControlPair, control_pairs
from alignkit.annotate.dashboard import links, times, view
from alignkit.annotate.dashboard.corrections import gathered
from alignkit.annotate.dashboard.labels import judged_view, label_cautions, label_view
from alignkit.annotate.dashboard.work import Work, read_work
from alignkit.annotate.exporting import exported
from alignkit.annotate.preannotation_bias import estimate_pull
from alignkit.annotate.project import queries
from alignkit.annotate.project.store import Store
from alignkit.annotate.pull_result import Estimate
from alignkit.annotate.training_table import training_table
from alignkit.model.corpus import Corpus
from alignkit.model.labels import View

_NO_CONTROL = "no pair is in a control sample; `alignkit project assign` draws one"
_ALONE = "agreement needs two annotators who have marked pairs as done"


def times_view(store: Store) -> view.TimesView:
    """Compute the figures that may change although no more work is finished."""
    with store.reading() as conn:
        n = queries.last_n(conn)
        lines = list(times.annotator_lines(conn))
        return view.TimesView(n, lines, _corrections(conn), training_table(conn))


def dashboard_view(store: Store, file: str, report: links.Report) -> view.DashboardView:
    """Compute all figures of a project; `file` is its name in the commands that are shown."""
    report("reading", None)
    with store.reading() as conn:
        n = queries.last_n(conn)
    corpus = Corpus(exported(store, done=True))
    with store.reading() as conn:
        work = read_work(conn)
        # what has a default is added below, by the task
        shown = view.DashboardView(
            n=n,  # from before the export: what came meanwhile makes the figures out of date
            pairs=work.pairs,
            settled=len(work.settled),
            annotators=list(times.annotator_lines(conn)),
            initial=work.compared.initial,
            pull=_pull(conn),
            reason="" if len(work.names) > 1 else _ALONE,
            corrections=_corrections(conn),
            training=training_table(conn),
        )
        if queries.task_of(conn) == "judge":
            _add_labels(conn, shown, work, corpus, file)
        elif not shown.reason:
            _add_links(conn, shown, work, corpus, file, report)
    return shown


def _add_labels(
    conn: Connection, shown: view.DashboardView, work: Work, corpus: Corpus, file: str
) -> None:
    """Add the agreement on labels: the judgments, cautions and commands."""
    scheme = queries.scheme_of(conn)
    scored = label_view(scheme)
    shown.judged = judged_view(conn, work)
    if not shown.reason:
        shown.cautions = label_cautions(corpus, work.compared, scheme)
        if scored is not None:
            shown.commands = commands(file, work.names, None, scored)


def _add_links(
    conn: Connection,
    shown: view.DashboardView,
    work: Work,
    corpus: Corpus,
    file: str,
    report: links.Report,
) -> None:
    """Add the agreement on links: of every two, on average, and the pairs with the lowest."""
    initial = work.compared.initial
    # the corpus was read a moment before the work: an annotator may be new in this
    names = [name for name in work.names if name in corpus.aligners]
    agreement, data = links.agreement_of(corpus, names, initial, report)
    counts = {two: shared_links(data, *two) for two in combinations(names, 2)}
    shown.twos = links.two_lines(agreement, counts)
    if len(shown.twos) > 1:
        shown.mean = links.means(shown.twos)
    shown.lowest = list(links.lowest(conn, work, counts.values()))
    shown.cautions = list(cautions_of(agreement))
    shown.commands = commands(file, names, initial)


def _corrections(conn: Connection) -> view.Corrections | None:
    """Return the corrections of suggestions, if links are suggested."""
    return None if queries.task_of(conn) == "judge" else gathered(conn)


def commands(
    file: str, annotators: Sequence[str], initial: str | None = None, scored: View | None = None
) -> list[str]:
    """Return the commands that print the figures of the dashboard for the finished work."""
    # not the corpus itself, beside which the project is
    work = file.removesuffix(".alignkit").removesuffix(".jsonl") + ".done.jsonl"
    export = ["alignkit", "project", "export", file, work, "--to", "alignkit-jsonl", "--done"]
    compared = [work, "--annotators", *annotators]
    if scored is not None:
        agree = ["alignkit", "agree-judgments", *compared, "--scheme", scored.scheme.text]
        agree += ["--view", scored.name, "--lenient-labels"]
    else:
        agree = ["alignkit", "agree", *compared]
    if initial is not None:
        agree += ["--initial", initial, "--missing-initial", "leave-out"]
    return [shlex.join(export), shlex.join(agree)]


# The pull of suggestions


def _pull(conn: Connection) -> view.PullLine:
    """Return the pull of suggestions; without a control sample, the reason why it is unknown."""
    pairs: list[ControlPair] = []
    if read_plan(conn) is not None:
        pairs = list(control_pairs(conn))
    if not any(pair.arm for pair in pairs):
        unknown = view.DashboardFigure(None, reason=_NO_CONTROL)
        return view.PullLine(unknown, unknown, unknown, unknown)
    bias = estimate_pull(pairs)
    pull = _estimated(bias.pull)
    accepted = _estimated(bias.accepted)
    unseen = _estimated(bias.unseen)
    rejected = _estimated(bias.rejected)
    return view.PullLine(pull, accepted, unseen, rejected, list(bias.cautions))


def _estimated(estimate: Estimate) -> view.DashboardFigure:
    """Return an estimate as a figure of the dashboard, with its interval or why it has none."""
    interval = estimate.interval
    undefined = interval if isinstance(interval, str) else ""
    return view.figure_of(estimate.value, interval, estimate.pairs, undefined)
