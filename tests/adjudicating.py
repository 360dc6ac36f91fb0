"""Adjudicate in a store as the page does, and by the words of the design alone: for the tests."""

from annotation import Tab, ask, cell, project, sent, small_corpus

from alignkit.annotate.adjudication.adjudication_queue import Docket
from alignkit.annotate.adjudication.gold import decide, read_case
from alignkit.annotate.adjudication.gold_view import gold_view
from alignkit.annotate.assignment import assign_pairs
from alignkit.annotate.project.events import JUDGMENT, Request, Why, write_why
from alignkit.annotate.project.names import ADJUDICATOR, Visitor
from alignkit.annotate.server.sessions import admit

LEFT = {(0, 0): 2, (1, 1): 2, (2, 2): 2, (3, 3): 1}
RIGHT = {(0, 0): 2, (1, 1): 1, (2, 2): 1, (2, 3): 1}
"""Links that differ in four places, and are alike in one."""


class Bench:
    """What an adjudicator's page knows of a pair."""

    def __init__(self, store, k=1, actor="carla"):
        self.store, self.k, self.actor, self.seq = store, k, actor, 0
        self.docket = Docket(store)
        self._view = None

    @property
    def view(self):
        if self._view is None or self._view.n != self.store.project().n:
            self._view = gold_view(self.store, self.k, self.docket)
        return self._view

    @property
    def gold(self):
        return values_of(self.view.state)

    @property
    def whys(self):
        return {(i, j): why for i, j, why in self.view.state.whys or ()}

    def send(self, *events):
        request = Request(self.seq, self.view.rev, list(events))
        answer, _ = decide(self.store, self.k, self.actor, request)
        self.seq = answer.seq
        return answer

    def open(self):
        return self.send(sent("open", rev=self.view.rev, suggestions=False))

    def done(self, after=True):
        return self.send(sent("done", before=not after, after=after))

    def settled(self, name):
        """Take all in which `RIGHT` differs as somebody said it, and mark the pair done."""
        self.open()
        for place in ((1, 1), (2, 2), (2, 3), (3, 3)):
            self.take(place, name)
        self.done()
        return self

    def back(self, kind="undo"):
        return self.send(sent(kind, of=getattr(self.view.state, kind) or "none"))

    def decision(self, places, value, why, as_="", note=""):
        view, data = self.view, {"cells": [], "whys": []}
        gold, whys = values_of(view.state), self.whys
        for place in places:
            none = () if place == JUDGMENT else 0
            votes = {vote.id: (values_of(vote).get(place, none), vote.seq) for vote in view.votes}
            data["whys"].append([*place, whys.get(place), write_why(Why(why, as_, votes, note))])
            if place == JUDGMENT:
                label, *flags = value or ("",)
                data["label"] = [view.state.judgment, label]
                data["flags"] = [view.state.flags, flags]
            elif gold.get(place, 0) != value:
                data["cells"].append([*place, gold.get(place, 0), value])
        return sent("decide", **data)

    def take(self, place, name, **more):
        vote = next(vote for vote in self.view.votes if vote.name == name)
        value = values_of(vote).get(place, () if place == JUDGMENT else 0)
        return self.send(self.decision([place], value, "vote", vote.id, **more))

    def own(self, place, value, **more):
        return self.send(self.decision([place], value, "own", **more))


def values_of(said):
    values = {(i, j): value for i, j, value, *_ in said.cells}
    if said.judgment or said.flags:
        values[JUDGMENT] = (said.judgment, *said.flags)
    return values


def expected_states(votes, decided, majority=False):
    """Return the state of each place as the design says.

    `votes`: by annotator, the values by place. `decided`: by place, the value that gold has,
    whether it was agreed, the votes at that time.
    """
    states = {}
    for place in {place for said in votes.values() for place in said} | set(decided):
        none = () if place == JUDGMENT else 0
        now = {name: said.get(place, none) for name, said in votes.items()}
        if place in decided:
            value, agreed, then = decided[place]
            same = all(now[name] == then.get(name, value) for name in now)
            states[place] = ("agreed" if agreed else "decided") if same else "reopened"
            continue
        most = max(list(now.values()).count(value) for value in now.values())
        enough = most == len(now) or (majority and most > len(now) / 2)
        if any(now.values()):
            states[place] = "agreed" if enough else "open"
    return states


def drawn(store, k, name, links, *, done=True, judgment=None):
    tab = Tab(store, k, name)
    tab.send(sent("open", rev=1, suggestions=name == "anna"))
    for place, value in links.items():
        tab.send(cell(*place, tab.state.cells.get(place, 0), value))
    if judgment is not None:
        tab.send(sent("judge", label=["", judgment[0]], flags=[[], list(judgment[1:])]))
    if done:
        tab.send(sent("done", before=False, after=True))


def case(folder, votes, pairs=1, **rules):
    store = project(folder, small_corpus(pairs, {}), annotator=None)
    assign_pairs(store, list(votes), control=0)
    for name, links in votes.items():
        drawn(store, 1, name, links)
    admit(store, Visitor("carla", ADJUDICATOR), **rules)
    return store


def row(bench):
    found = next(row for row in bench.docket.rows() if row.k == bench.k)
    return found.state, found.left


def states(bench):
    case = ask(bench.store, read_case, bench.k)
    return {item.place: item.state for item in case.votes.items(case.gold.state)}
