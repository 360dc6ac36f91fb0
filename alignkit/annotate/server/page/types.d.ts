// What the page and the server send each other, and what the modules of the page pass on. Only the
// type checker reads this file (CONTRIBUTING.md); the server does not serve it. Its own types are in
// annotate/project/events.py, state.py and queries.py.

/** No link, a possible one, a sure one. */
export type Value = 0 | 1 | 2 | number

/** [source word, target word] from 0; -1 is the empty word: the other word has no partner. */
export type Cell = [number, number]

/** A cell with its value before and after an event. */
export type Write = [number, number, Value, Value]

/** The key of a comment ("i-j" for a cell, "" for the pair), its text before and after. */
export type CommentWrite = [string, string, string]

/** The content of an event; its kind decides which fields it has. */
export interface EventData {
	how?: string // by which action: "accept", "import", ...
	of?: string // undo, redo: the id of the event that is undone or redone
	cells?: Write[]
	bulk?: Write[] // 1: the link was accepted together with others, and nobody has looked at it
	rejected?: Write[]
	settled?: Write[] // words that were looked at, each by the cell of its null
	seen?: Cell[] // links accepted in bulk that were looked at
	comment?: {key: string; before: string; after: string}
	comments?: CommentWrite[]
	label?: [string, string] // the judgment before and after
	flags?: [string[], string[]]
	done?: {before: boolean; after: boolean}
	// of an event of kind "comment" its key and its texts, of kind "done" yes or no
	key?: string
	before?: any
	after?: any
	[other: string]: any // of other tasks: rewrites, extracts, whys
}

/** An event that the page has made. */
export interface Sent {
	id: string // made by the page, so that an event that is sent twice is stored once
	kind: string // "edit", "judge", "comment", "done", "undo", "redo", ...
	v: number
	client_at: string
	data: EventData
}

/** An event that the server has stored: its number in this pair, and in the project. */
export interface StoredEvent extends Sent {
	seq: number
	n: number
	actor: string
	at: string
	below: number // how many steps can be undone below this one
}

/** An event of the undo stack, or one that is on its way. */
export type AnyEvent = Sent & Partial<StoredEvent>

/** What a set of events adds up to. */
export interface State {
	seq: number // the last event
	rev: number // the number of the text that the cells belong to
	cells: [number, number, Value][]
	bulk: Cell[]
	rejected: Cell[]
	settled?: Cell[]
	comments: [string, string][]
	judgment: string
	flags: string[]
	done: boolean
	marks: Mark[]
	[other: string]: any // of other tasks: rewrites, extracts, whys
}

/** A link that was lost when the words of a pair were corrected. */
export interface Mark {
	side: "source" | "target"
	at: number
	text: string
	was: [number, number, Value]
	note?: string // the comment on it
}

/** Suggestions: [i, j, probability, value that accepting gives]. */
export interface Suggestions {
	set?: string
	cells: [number, number, number | null, Value?][]
	by?: string // what the probabilities are, in words
	bulk?: string // why they cannot be accepted in bulk, if so
	links?: [string, Cell[]][] // which of them each system links
}

/** A pair: the answer of GET api/pairs/{k}. */
export interface PairDocument {
	k: number
	id: string
	rev: number
	source: string[]
	target: string[]
	state: State
	undo: StoredEvent[] // what would be undone, the next first, 100 at most
	redo: StoredEvent[]
	suggestions?: Suggestions | null
	pending?: AnyEvent[] // added by the page: events that wait to be sent
	[other: string]: any
}

/** A project: the answer of GET api/project. */
export interface Project {
	name: string
	key: string
	annotator: string
	role: string
	at: "pairs" | "gold" // where its pairs are
	box: string // the name of the outbox and of the channel between tabs
	n: number // the last event
	preparing: {text: string; share: number | null} | null // while suggestions are being made
	csrf?: string // added by the page: the second secret
	[other: string]: any
}

/** An answer of the server; the status is 0 where it cannot be reached. */
export interface Reply {
	status: number
	body: any
}

/** How something is asked. */
export interface Asked {
	body?: object // what is sent, as JSON
	keepalive?: boolean // also if the page is being closed
	file?: boolean // the answer is a file: its content, and how it is to be saved
}

/** Send events of one pair, for one text. */
export type Post = (entries: Entry[], how?: {keepalive?: boolean}) => Promise<Reply>

/** Told while a project is being opened; `start` goes on without suggestions. */
export type ProgressReport = (progress: {
	text: string
	share: number | null
	start: (() => void) | null
}) => void

/** What `new Pair` needs of a document: less for a pair that is only drawn. */
export interface PairParts {
	source: string[]
	target: string[]
	state: Pick<State, "cells" | "bulk" | "rejected" | "comments"> & Partial<State>
	undo?: StoredEvent[]
	redo?: StoredEvent[]
	suggestions?: Suggestions | null
}

/** Suggestions by the index of their cell, as `hintsOf` makes them. */
export interface Hints {
	set?: string
	by: string
	bulk: string
	cells: number[] // in reading order
	p: Map<number, number | null> // the probability
	strength: Map<number, Value> // the value that accepting gives
	systems: Map<number, string[]> // the systems that link the cell
	shown: boolean // false where the annotator hides them
}

/** What an event writes, whatever its kind. */
export interface Writes {
	cells: Write[]
	bulk: Write[]
	rejected: Write[]
	settled: Write[]
	seen: Cell[]
	comments: CommentWrite[]
	label?: [string, string]
	flags?: [string[], string[]]
	done?: {before: boolean; after: boolean}
}

/** What a session needs of the connection to the server. */
export interface Sending {
	newId(): string
	push(k: number, rev: number, event: Sent, about: {told: string; data: EventData | null}): void
}

/** An event in the outbox: it waits to be sent. */
export interface Entry {
	k: number
	rev: number // the text that it is meant for
	event: Sent
	about?: {told?: string; data?: EventData | null} // what is told where the server refuses it
	base: number // the last stored event that the page knew
	tab: string // which tab made it
}

/** An event that the server refused, with all that it would have written. */
export type Refused = Sent & {told?: string}

/** What came of events: some were stored, of which the page knew `ids` as waiting. */
export interface Stored {
	k: number
	events: StoredEvent[] // all of the pair that this page had not seen
	ids: string[]
}

/** What the page is told of a refusal. */
export interface Conflict {
	k: number
	refused: Refused[] // the event, and those that build on it
	events: StoredEvent[] // what the server has stored meanwhile
	rev?: number // the text that the server has now, where it is another one
	old: number // the text that they were meant for
	moved: boolean // the pair is somebody else's now
	status: number
	message: string
}

/** What the queue tells, by the name of the event. */
export interface QueueNews {
	stored: Stored
	refused: {entry: Entry; refused: Refused[]; reply: Reply}
	changed: undefined
}

/** What the tabs of one annotator send each other. */
export type TabMessage =
	| {kind: "entered"} // anew: there may be a session again
	| ({kind: "stored"} & Stored)
	| {kind: "refused"; tab: string; detail: Conflict} // to the tab that made the event
	| {kind: "claimed"; id: string} // that tab tells of it

/** Events that the server refused together, of any pair. */
export interface Row {
	k: number
	status: number // of HTTP; 409: somebody else has written the same
	rev?: number // the number of the text that the server has now
	message: string
	events: Refused[]
}

/** What several events write taken together. */
export interface Net {
	cells: Write[]
	comments: CommentWrite[]
	bulk: Write[]
	rejected: Write[]
	label?: [string, string]
	flags?: [string[], string[]]
	done?: {before: boolean; after: boolean}
	how?: string
	kind?: string // "undo" or "redo" where the last event was one
}

/** A box of cells: first and last row, first and last column. */
export type Box = [number, number, number, number]

/** A box whose cells are all of one value. */
export type Rectangle = [number, number, number, number, Value]

/** A word or sign of a document: its characters, with the white space behind it, and its sentence. */
export interface Unit {
	text: string
	from: number
	to: number
	sentence: number
}

/** A pair of spans that was taken from documents, or two texts: the content by its key. */
export type Keyed = [string, any, any] // the key, then the content before and after; null: none

/** The vote of an annotator on a pair: the answer of GET api/gold/{k} has those of all. */
export interface Vote {
	id: string
	name: string
	seq: number // the last event
	cells: [number, number, Value, ...string[]][] // with what is told of each
	judgment: string
	flags: string[]
	[other: string]: any
}

/** What is decided of a place: a value of a cell, or a label and its flags. */
export type Decided = Value | string[]

/** A vote that can be asked for what it says of a place. */
export interface Ballot extends Vote {
	values: Map<string, Value> // by "i,j"
	how: Map<string, string[]>
	at: (key: string) => Decided
}

/** Why a place has its value: all agree, as somebody voted, or the adjudicator's own. */
export interface Why {
	why: "agreed" | "vote" | "own"
	as?: string // the id of the vote
	note?: string
	votes?: Record<string, [Decided, number]> // the votes of that time: what each said, and its seq
}

/** A place with the votes on it. */
export interface Place {
	key: string // "i,j", or "-1,-1" for the judgment
	votes: Decided[]
	why: Why | null
	value: Decided
	state: "agreed" | "open" | "decided" | "reopened"
	odd?: boolean // its value is not the one that was decided
}

/** What a value of a group makes of a phrase pair. */
export interface Effect {
	sure?: boolean
	possible?: boolean
}
