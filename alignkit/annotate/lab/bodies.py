# ruff: noqa: D101 - a comment names the request or answer; the fields say the rest
"""The bodies of requests and answers of the API; the OpenAPI description is made from them.

Fields that a request may leave out have a default. Times are UTC, as in 2026-11-27T22:30:00Z.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from alignkit.annotate.project.names import PASS_MARK
from alignkit.annotate.training_table import TrainingTable

# `values.checked_name` refuses other names, in words for people
Name = Annotated[
    str, Meta(max_length=200, extra_json_schema={"pattern": "^[a-z0-9][a-z0-9._-]{0,39}$"})
]
Password = Annotated[str, Meta(min_length=12, max_length=200)]
Text = Annotated[str, Meta(max_length=200)]
Secret = Annotated[str, Meta(min_length=20, max_length=200)]
Guidelines = Annotated[str, Meta(max_length=200_000)]
SchemeText = Annotated[str, Meta(max_length=50_000)]  # none, or as `get_scheme` has it
Count = Annotated[int, Meta(ge=0, le=2**31)]
Doubt = Annotated[float, Meta(ge=0, le=0.2)]  # one of names.DOUBTS
Share = Annotated[float, Meta(ge=0, le=1)]
Etag = Annotated[str, Meta(min_length=1)]
Role = Literal["owner", "adjudicator", "annotator", "reader"]
Rank = Literal["owner", "member"]
Task = Literal["align", "judge", "extract"]


class Body(Struct, forbid_unknown_fields=True):
    """The body of a request."""


class Fault(Struct, omit_defaults=True):
    """The answer to a request that fails; `error` is a code, `message` is for people."""

    error: str
    message: str
    field: str = ""  # of the form, where the fault is


# Signing in


class SignIn(Body):  # POST session
    name: Text
    password: Text
    take_over: bool = False  # end the session of somebody else in this browser


class Entered(Struct):  # the answer to sign-in and join
    csrf: str  # the page keeps it by `lab`
    account: str
    lab: str  # key of the lab


class JoinLook(Body):  # POST join/look: ask whose link this is, without using it
    token: Secret


class JoinInfo(Struct):
    kind: Literal["first", "invite", "reset"]
    name: str  # empty: the first owner chooses one
    display: str = ""  # the name to show; empty: that of the account


class Join(Body):  # POST join
    token: Secret
    password: Password
    name: Text = ""  # of the first owner only
    display: Text | UnsetType = UNSET  # the name to show


class Prove(Body):  # POST prove: the password again, before what matters
    password: Text


# My own


class MyRole(Struct):
    """My role in a project; lab owners have the role owner in all."""

    slug: str
    name: str
    role: Role
    annotates: bool


class Me(Struct):  # GET me
    account: str
    rank: Rank
    may_create: bool
    lab: str
    roles: list[MyRole]
    encoder: str = ""  # the name of the server's encoder, which aligners can use
    display: str = ""  # the name to show


class ChangeDisplay(Body):  # PUT me/display
    display: Text


class ChangePassword(Body):  # PATCH me
    old: Text
    new: Password


class SessionRow(Struct):
    id: str
    device: str
    address: str
    made: str
    seen: str
    current: bool


class SessionList(Struct):  # GET me/sessions
    sessions: list[SessionRow]


class NewToken(Body):  # POST me/tokens
    name: Text
    project: str = ""  # slug; all projects if empty
    read_only: bool = False
    days: Annotated[int, Meta(ge=1, le=365)] = 90


class TokenRow(Struct, omit_defaults=True):
    id: str
    name: str
    begins: str  # its first characters
    project: str
    read_only: bool
    expires: str
    used: str
    token: str = ""  # in the answer to POST only


class TokenList(Struct):  # GET me/tokens
    tokens: list[TokenRow]


# The lab


class AccountRow(Struct):  # PATCH accounts/NAME
    name: str
    display: str  # the name to show; empty: that of the account
    rank: Rank
    may_create: bool
    state: Literal["invited", "open", "closed"]
    made: str
    seen: str
    projects: int
    etag: str


class AccountList(Struct):  # GET accounts
    accounts: list[AccountRow]


class ChangeAccount(Body):
    etag: Etag
    rank: Rank | UnsetType = UNSET
    may_create: bool | UnsetType = UNSET
    state: Literal["open", "closed"] | UnsetType = UNSET
    display: Text | UnsetType = UNSET


class LogQuery(Struct):  # GET projects/SLUG/log
    after: Count = 0
    limit: Count = 100
    person: str = ""
    day: str = ""  # as in 2026-11-27
    format: Literal["json", "jsonl"] = "json"


class AuditQuery(LogQuery):  # GET audit
    project: str = ""


class AuditRow(Struct):
    """A line of the log, the newest first; `after=N` asks for those before line N."""

    n: int
    at: str
    actor: str
    by: str
    address: str
    project: str
    action: str
    target: str
    before: str
    after: str


class AuditList(Struct):
    rows: list[AuditRow]


# Projects


class Need(Struct):
    """What a project needs from me: a page of the project to go to, and why in a few words."""

    page: Literal["adjudicate", "export", "assign", "people", "align", "judge", "extract"]
    text: str  # as in "37 to adjudicate"


class ProjectCard(Struct):
    slug: str
    name: str
    task: Task
    languages: str  # as in en-de
    state: Literal["making", "open", "archived"]
    pairs: int  # without those that are only for training
    done: int  # for annotators: my own; else pairs finished by all their annotators, or with gold
    decided: int | None  # pairs whose gold is finished; None for annotators, or not counted yet
    mine: tuple[int, int]  # my done pairs, and all my pairs
    reopened: list[tuple[int, str]]  # my pairs that were opened again: number, reason
    left: float | None  # minutes, by my pace; None where unknown
    hidden: int  # my pairs without suggestions
    role: Role
    annotates: bool
    needs: Need | None
    annotators: list[str]
    last: str  # time of the last work; empty if none
    made: str
    etag: str
    trains: bool = False  # whether I have to pass the training round first


class Claim(Struct):
    """A question to me: whether the work of an imported annotator of my name is mine."""

    project: str  # slug
    name: str  # of the project
    by: str  # the owner who asks


class ProjectList(Struct):  # GET projects, in the order of the page
    projects: list[ProjectCard]
    claims: list[Claim] = []


class AnswerClaim(Body):  # POST me/claims/SLUG
    mine: bool


class PageQuery(Struct):
    """GET projects/SLUG/project: the first data of a page of pairs, of gold, or to look at all."""

    at: Literal["pairs", "gold", "look"] = "pairs"


class ProjectSettings(Struct):  # for owners
    guidelines: str
    learning: bool
    blind: bool
    majority: bool
    doubt: float
    gold: str
    suggestions: str  # in words
    training: tuple[str, float | None] | None  # step and share, while an aligner trains


class ProjectDetail(ProjectCard, kw_only=True):  # GET projects/SLUG
    settings: ProjectSettings | None = None


class ChangeProject(Body):  # PATCH projects/SLUG
    etag: Etag
    name: Text | UnsetType = UNSET
    state: Literal["open", "archived"] | UnsetType = UNSET  # archive, or reopen
    guidelines: Guidelines | UnsetType = UNSET
    learning: bool | UnsetType = UNSET
    blind: bool | UnsetType = UNSET
    majority: bool | UnsetType = UNSET
    doubt: Doubt | UnsetType = UNSET
    suggestions: Literal["trained", "encoder", "none"] | UnsetType = UNSET
    stop_training: bool = False


class DeleteProject(Body):  # DELETE projects/SLUG, of an archived project
    name: str  # as it was typed


class Suggestions(Struct, forbid_unknown_fields=True, frozen=True):
    # encoder: trained on the pairs, with the server's encoder
    kind: Literal["trained", "encoder", "model", "initial", "none"] = "trained"
    name: Text = ""  # an annotator of the corpus (initial), or a model file


class NewProject(Body):
    """POST projects: 202, a ProjectCard with state making."""

    draft: str
    etag: str  # of the draft
    name: Text
    slug: str = ""  # made from the name if empty
    task: Task = "align"
    scheme: SchemeText = ""
    suggestions: Suggestions = Suggestions()
    learning: bool = True
    guidelines: Guidelines = ""
    blind: bool = False
    majority: bool = False
    doubt: Doubt = 0.1
    gold: Text = "gold"


# Drafts


class NewDraft(Body):  # POST drafts
    project: str = ""  # the one to import into


class NewFile(Body):
    """POST drafts/ID/files: {"n": N}; then PUT drafts/ID/files/N with the bytes."""

    name: Annotated[str, Meta(max_length=300)]
    size: Count


class FileNumber(Struct):
    n: int


class DraftFile(Struct):
    n: int
    name: str
    size: int
    received: int = 0
    kind: str = ""  # what it is, of `kinds`
    kinds: list[tuple[str, str]] = []  # value and name of what it can be
    problem: str = ""  # why it cannot be read: line, what was expected


class DraftFinding(Struct):
    """A finding of `check`; without choices it is only shown."""

    code: str
    text: str
    pairs: list[int]  # the first of them
    choices: list[tuple[str, str]]  # value and name
    chosen: str


class DraftOption(Struct):  # of *Change*
    name: str  # format, base, direction, encoding, tokenizer
    label: str
    value: str
    choices: list[tuple[str, str]]


class Draft(Struct):  # GET drafts/ID
    id: str
    etag: str
    project: str
    task: Task = "align"
    files: list[DraftFile] = []
    reading: bool = False  # a child process reads the files now
    progress: str = ""  # as in "Reading 12,400 pairs"
    detected: str = ""  # the first line, as in "Pharaoh links, counted from 0, source first"
    options: list[DraftOption] = []
    pairs: int = 0
    languages: str = ""
    findings: list[DraftFinding] = []
    annotators: list[str] = []  # whose links can be suggested
    models: list[str] = []  # model files of the draft
    ready: bool = False
    problem: str = ""  # why nothing can be made, where it belongs to no file
    name: str = ""  # proposed for the project


class DraftList(Struct):  # GET drafts, mine
    drafts: list[Draft]


class ChangeDraft(Body):  # PATCH drafts/ID
    task: Task | UnsetType = UNSET
    kinds: dict[str, str] = {}  # what files are, by n
    options: dict[str, str] = {}
    choices: dict[str, str] = {}  # for findings, by code


class Preview(Struct):  # GET drafts/ID/preview/K
    k: int
    pairs: int
    id: str
    source: list[str]
    target: list[str]
    links: list[tuple[int, int, int]]  # 1 possible, 2 sure
    by: str  # who drew them
    label: str
    direction: dict[str, str]


class NewImport(Body):  # POST projects/SLUG/import
    draft: str
    etag: str
    words_only: bool = False
    add_pairs: bool = False
    dry_run: bool = False


class ImportDone(Struct):
    """What an import did, or would do: counts by name, in the order to show, and warnings."""

    counts: list[tuple[str, int]]
    warnings: list[str]
    dry_run: bool


# People and pairs


class Person(Struct):
    name: str
    display: str  # the name to show; empty: that of the account
    role: Role | Literal["none"]  # none: annotators of the corpus without an account
    annotates: bool
    state: Literal["invited", "open", "closed", "no account"]
    pairs: int
    done: int
    seen: str
    link: str  # id of the link that waits, with `expires`
    expires: str
    etag: str


class People(Struct):  # GET projects/SLUG/people
    people: list[Person]
    others: list[str]  # imported annotators without a role
    known: list[str]  # of these, those with the name of an account: another person, or the same
    asked: list[str]  # of those, who was asked whether the work is theirs, and has not answered
    refused: list[str]  # and who said no
    training: TrainingTable | None = None


class NewTraining(Body):  # PUT projects/SLUG/training-round
    gold: Text  # whose links are right
    pairs: Annotated[list[Text], Meta(max_length=1000)] = []  # ids; empty: all that gold finished
    mark: Annotated[float, Meta(gt=0, le=1)] = PASS_MARK
    round: Count = 0  # the round that was seen; 0 if there was none
    dry_run: bool = False


class TrainingRound(Struct):
    """GET, PUT and DELETE projects/SLUG/training-round: the round in force, and what came of it."""

    golds: list[tuple[str, int]]  # who has finished pairs, and how many; the gold standard first
    now: TrainingTable | None
    said: list[str] = []  # what was done, or would be
    mark: float = PASS_MARK  # the one to propose for another round


class ChangeEntry(Body):  # PUT projects/SLUG/people/NAME/training
    admitted: bool  # whether somebody may begin without having passed


class PersonRemoved(Struct):
    person: Person
    pairs: list[int]  # those that went back to nobody


class SessionsEnded(Struct):
    ended: int


class ChangePerson(Body):
    """PUT projects/SLUG/people/NAME: change a role, or add an existing account (etag empty)."""

    role: Role
    annotates: bool = False
    etag: str = ""
    same: bool = False  # ask the person of this name whether the imported work is theirs


class RenameImported(Body):
    """PATCH projects/SLUG/people/NAME: give an imported annotator another name."""

    name: Name


class NewLink(Body):
    """POST projects/SLUG/links: invite a name into a role, or make a password link (reset)."""

    name: Name
    kind: Literal["invite", "reset"] = "invite"
    role: Role = "annotator"
    display: Text = ""  # the name to show, of an account that is made


class LinkMade(Struct):
    id: str
    url: str  # shown once
    name: str
    expires: str
    added: bool = False  # the account existed, and got the role without a link


class NewAssignment(Body):  # POST projects/SLUG/assign
    annotators: list[str] = []  # to add
    double: Share | None = None  # without this and `each`, everybody has all pairs
    each: Annotated[int, Meta(ge=1)] | None = None
    trial: Count = 0
    control: Share | None = None
    control_least: Count | None = None
    order: Text = "hash"
    stratify: tuple[Text, ...] = ("length",)
    seed: Count = 0
    dry_run: bool = False
    plan: str = ""  # the fingerprint of the dry run that was seen


class AssignShare(Struct):
    """The pairs of an annotator: all, new by this plan, done, begun, and two kinds of them."""

    annotator: str
    pairs: int
    new: int
    done: int
    begun: int
    trial: int
    control: int
    alone: int = 0  # pairs that nobody else has, after this plan
    shared: int = 0
    hidden: int = 0  # pairs without suggestions


class AssignTable(Struct):  # GET and POST projects/SLUG/assign
    """A plan, its table, and what to know about it.

    `control` says how the page gets the size of the control sample: as numbers, by asking whether
    there should be one (small projects, before the first assignment), or not at all.
    """

    plan: str  # the fingerprint of what was shown
    new: int  # what is added: a pair and an annotator each; and the number of these pairs
    pairs: int
    shares: list[AssignShare]
    warnings: list[str]
    now: NewAssignment | None  # the plan in force
    control: Literal["numbers", "ask", "none"]
    hiding: str = ""  # why pairs are without suggestions, in a sentence


class Move(Body):
    """POST projects/SLUG/move: pairs that are not begun, to somebody or (to null) nobody."""

    from_: Text = field(name="from")  # empty: nobody, to give back what was taken away
    to: Text | None
    count: Annotated[int, Meta(ge=1)]
    pairs: list[int] | None = None  # just these, to undo a move
    dry_run: bool = False


class Moved(Struct):
    count: int
    pairs: list[int]
    text: str  # why not all, as in "38 of 40: 2 are already dora's"


class EventsQuery(Struct):  # GET projects/SLUG/events
    after: Count = 0
    limit: Count = 1000


class ExportQuery(Struct):
    """GET projects/SLUG/export: whose work (gold, all, or a name), and in which format."""

    what: str = "gold"
    format: str = "alignkit-jsonl"
    done: bool = False  # only pairs marked done
    provenance: bool = False  # with the decisions behind the gold standard
    hidden: bool = False  # without names of people
    dry_run: bool = False


class ExportPlan(Struct):
    """GET projects/SLUG/export with dry_run=true: what would be downloaded."""

    files: list[tuple[str, str]]  # name and counts, as in "61 pairs, 1,263 links"
    lost: list[str]  # what the format cannot represent
    unfinished: int  # pairs not marked done
    message: str  # why there is nothing to download
    backup: int | None = None  # bytes of a backup
    last: tuple[str, str] | None = None  # when the last backup was made, and by whom
