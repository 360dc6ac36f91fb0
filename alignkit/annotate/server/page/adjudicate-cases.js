// @ts-check
// The votes on a pair, compared with each other and with gold. The server decides by the same rules
// in annotate/adjudication/comparison.py.
import {last, Pair} from "./model.js"
import {atomic} from "./phrases.js"

/** @import {AnyEvent, Ballot, Box, Cell, Decided, Effect, EventData} from "./types" */
/** @import {PairDocument, Place, Value, Vote, Why} from "./types" */

export const AGREED = "agreed"
export const OPEN = "open"
export const DECIDED = "decided"
export const REOPENED = "reopened"
export const JUDGED = "-1,-1"
const NULL = -1
const LEVELS = /** @type {const} */ ([
	["possible", 1],
	["sure", 2],
])

/**
 * Values are numbers, or a label and flags.
 * @type {(a: Decided | undefined, b: Decided | undefined) => boolean}
 */
const same = (a, b) => String(a) === String(b)

/** @type {(key: string) => Cell} */
export function placeOf(key) {
	const [i, j] = key.split(",").map(Number)
	return [i, j]
}

/** @type {(said: {judgment: string, flags: string[]}) => string[]} */
function judgmentOf({judgment, flags}) {
	if (judgment || flags.length) return [judgment, ...flags]
	return []
}

// A pair with the reasons of what is decided in it, by "i,j".
export class GoldPair extends Pair {
	/** @param {PairDocument} doc */
	constructor(doc) {
		super(doc)
		/** @type {Map<string, string>} */
		this.whys = new Map()
		for (const [i, j, why] of doc.state.whys ?? []) this.whys.set(`${i},${j}`, why)
	}

	copy() {
		const copy = super.copy()
		copy.whys = new Map(this.whys)
		return copy
	}

	/** @param {AnyEvent} event */
	apply(event) {
		for (const [i, j, , why] of event.data.whys ?? []) {
			if (why === null) this.whys.delete(`${i},${j}`)
			else this.whys.set(`${i},${j}`, why)
		}
		return super.apply(event)
	}

	/**
	 * @param {"undo" | "redo"} kind
	 * @returns {EventData | undefined}
	 */
	inverse(kind) {
		const back = super.inverse(kind)
		/** @type {[number, number, string | null, string | null][] | undefined} */
		const whys = last(this[kind])?.data.whys
		if (!back || !whys) return back
		return {...back, whys: whys.map(([i, j, before, after]) => [i, j, after, before])}
	}

	/**
	 * @param {string} key
	 * @returns {Decided}
	 */
	value(key) {
		if (key === JUDGED) return judgmentOf(this)
		return this.values[this.at(...placeOf(key))]
	}
}

/**
 * What the annotators said, by key.
 * @param {Vote[]} votes
 * @returns {Ballot[]}
 */
export const ballots = votes =>
	votes.map(vote => {
		/** @type {Map<string, Value>} */
		const values = new Map()
		/** @type {Map<string, string[]>} */
		const how = new Map()
		for (const [i, j, value, ...about] of vote.cells) {
			values.set(`${i},${j}`, value)
			how.set(`${i},${j}`, about)
		}
		/** @param {string} key */
		const at = key => (key === JUDGED ? judgmentOf(vote) : values.get(key) || 0)
		return {...vote, values, how, at}
	})

/** @type {(key: string) => number[]} */
const order = key => placeOf(key).map(x => (x === NULL ? 1e9 : x))

/** @type {(a: Place, b: Place) => number} */
function asRead(a, b) {
	const [row, column] = order(a.key)
	const [otherRow, otherColumn] = order(b.key)
	return row - otherRow || column - otherColumn
}

/**
 * What all said, or more than half of them.
 * @param {Decided[]} votes
 * @param {boolean} [majority]
 */
const sharedBy = (votes, majority) =>
	votes.find(vote => {
		const count = votes.filter(other => same(other, vote)).length
		return count === votes.length || (majority && 2 * count > votes.length)
	})

/**
 * What all agree on, and gold does not have: it changed after the pair was done.
 * @param {GoldPair} pair
 * @param {Place[]} all
 */
export const missing = (pair, all) =>
	all.filter(({state, key, value}) => state === AGREED && !same(value, pair.value(key)))

/**
 * A place with the votes on it: what gold has, why, and whether somebody has to decide.
 * @param {GoldPair} pair
 * @param {Ballot[]} voters
 * @param {string} key
 * @param {boolean} [majority]
 * @returns {Place}
 */
export function item(pair, voters, key, majority) {
	const votes = voters.map(voter => voter.at(key))
	const reason = pair.whys.get(key)
	const held = pair.value(key)
	if (reason !== undefined) {
		/** @type {Why} */
		const why = JSON.parse(reason)
		return {key, votes, why, value: held, ...standing(why, voters, votes, held)}
	}
	const shared = sharedBy(votes, majority)
	const stands = String(held || "") && !same(held, shared)
	if (shared === undefined || stands || clashes(pair, key, shared))
		return {key, votes, why: null, value: held, state: OPEN}
	return {key, votes, why: null, value: shared, state: AGREED}
}

/**
 * Whether a decision stands: neither its value nor a vote has changed since.
 * @param {Why} why
 * @param {Ballot[]} voters
 * @param {Decided[]} votes
 * @param {Decided} held
 * @returns {Pick<Place, "odd" | "state">}
 */
function standing(why, voters, votes, held) {
	/** @type {Map<string, Decided>} */
	const then = new Map()
	for (const [id, [value]] of Object.entries(why.votes ?? {})) then.set(id, value)
	const odd = !then.size || !same(meant(why, then, held), held)
	const changed = voters.some(({id}, at) => !same(votes[at], then.get(id) ?? held))
	if (odd || changed) return {odd, state: REOPENED}
	return {odd, state: why.why === AGREED ? AGREED : DECIDED}
}

/**
 * The value that a decision gave its place, by its reason and the votes of that time.
 * @param {Why} why
 * @param {Map<string, Decided>} then
 * @param {Decided} held
 */
function meant(why, then, held) {
	if (why.why === "own") return held
	if (why.why === "vote") return then.get(why.as ?? "")
	return sharedBy([...then.values()], true)
}

/**
 * Can a value not stand beside gold? A word has partners, or none.
 * @param {GoldPair} pair
 * @param {string} key
 * @param {Decided} value
 */
function clashes(pair, key, value) {
	if (key === JUDGED || !value) return false
	return pair.against(pair.at(...placeOf(key))).some(index => pair.values[index])
}

/**
 * All places that somebody voted on, or that were decided.
 * @param {GoldPair} pair
 * @param {Ballot[]} voters
 * @param {boolean} [majority]
 */
export function items(pair, voters, majority) {
	const keys = new Set(pair.whys.keys())
	for (const {values} of voters) for (const key of values.keys()) keys.add(key)
	for (const [index, value] of pair.values.entries()) if (value) keys.add(pair.cell(index).join())
	if ([pair, ...voters].some(said => judgmentOf(said).length)) keys.add(JUDGED)
	return [...keys].map(key => item(pair, voters, key, majority)).sort(asRead)
}

/**
 * Neighbours with equal votes, of one state, value and reason, are one decision.
 * @param {Place[]} all
 */
export function grouped(all) {
	const left = new Map(all.map(place => [place.key, place]))
	const groups = []
	for (const first of all) {
		if (!left.delete(first.key)) continue
		const kind = kindOf(first)
		const group = [first]
		for (const place of group) {
			// the group grows while it is walked through
			for (const key of neighbours(place.key)) {
				const other = left.get(key)
				if (other && kindOf(other) === kind && left.delete(key)) group.push(other)
			}
		}
		groups.push(group.sort(asRead))
	}
	return groups
}

/**
 * What the places of a group have in common.
 * @param {Place} place
 */
const kindOf = ({votes, state, value, why}) =>
	JSON.stringify([votes, state, value, why && [why.why, why.as, why.note]])

/** @param {string} key */
function neighbours(key) {
	if (key === JUDGED) return []
	const [i, j] = placeOf(key)
	const near = []
	for (const row of [i - 1, i + 1]) if (i !== NULL && row >= 0) near.push(`${row},${j}`)
	for (const column of [j - 1, j + 1]) if (j !== NULL && column >= 0) near.push(`${i},${column}`)
	return near
}

/**
 * The event by which a group gets a value: as the vote of a number, or one's own. What cannot stand
 * beside it goes.
 * @param {GoldPair} pair
 * @param {Ballot[]} voters
 * @param {Place[]} group
 * @param {{vote?: number, value?: any}} choice
 * @param {string} [note]
 */
export function decision(pair, voters, group, {vote, value}, note) {
	/** @type {EventData & {cells: any[], whys: any[]}} */
	const data = {cells: [], whys: []}
	const keys = new Set(group.map(({key}) => key))

	/** @type {(place: Place, wanted: any, reason: Why) => void} */
	const write = ({key, votes}, wanted, reason) => {
		const [i, j] = placeOf(key)
		/** @type {NonNullable<Why["votes"]>} */
		const said = {}
		for (const [at, {id, seq}] of voters.entries()) said[id] = [votes[at], seq]
		/** @type {Why} */
		const after = {...reason, votes: said}
		if (note) after.note = note
		data.whys.push([i, j, pair.whys.get(key) ?? null, JSON.stringify(after)])
		if (key === JUDGED) {
			data.label = [pair.judgment, wanted[0] || ""]
			data.flags = [pair.flags, wanted.slice(1)]
		} else if (pair.value(key) !== wanted) {
			data.cells.push([i, j, pair.value(key), wanted])
		}
	}

	for (const place of group) {
		const wanted = vote === undefined ? value : place.votes[vote]
		write(place, wanted, reasonOf(place, voters, vote))
		if (place.key === JUDGED || !wanted) continue
		for (const index of pair.against(pair.at(...placeOf(place.key)))) {
			const key = pair.cell(index).join()
			if (!pair.values[index] || keys.has(key)) continue
			keys.add(key)
			write(item(pair, voters, key), 0, {why: "own"})
		}
	}
	return data
}

/**
 * Why a place gets a value: that of a vote, which all may share, or one's own.
 * @param {Place} place
 * @param {Ballot[]} voters
 * @param {number} [vote]
 * @returns {Why}
 */
function reasonOf({votes}, voters, vote) {
	if (vote === undefined) return {why: "own"}
	if (votes.every(other => same(other, votes[vote]))) return {why: AGREED}
	return {why: "vote", as: voters[vote].id}
}

/**
 * The least of the votes in the middle: what is taken for places that are not decided yet.
 * @param {any[]} votes
 * @returns {Value}
 */
function middle(votes) {
	const sorted = [...votes].sort((a, b) => a - b)
	return sorted[Math.floor((votes.length - 1) / 2)]
}

/** @type {(key: string) => boolean} */
const isLink = key => key !== JUDGED && !key.includes("-1")

/**
 * What the values that a group may get change in phrase pairs: [box, an effect for each value].
 * @param {GoldPair} pair
 * @param {Place[]} all
 * @param {Place[]} group
 * @param {Value[]} values
 */
export function effects(pair, all, group, values) {
	const keys = new Set(group.map(({key}) => key).filter(isLink))
	/** @type {Map<string, any>} */
	const links = new Map()
	for (const {key, state, votes, value} of all) {
		if (isLink(key)) links.set(key, state === OPEN ? middle(votes) : value)
	}
	/** @type {Map<string, [Box, Effect[]]>} */
	const boxes = new Map()
	for (const [at, value] of values.entries()) {
		const wanted = new Map(links)
		for (const key of keys) wanted.set(key, value)
		for (const [name, least] of LEVELS) {
			for (const box of boxesOf(pair, wanted, least)) {
				const key = box.join()
				let kept = boxes.get(key)
				if (!kept) {
					kept = [box, values.map(() => ({}))]
					boxes.set(key, kept)
				}
				kept[1][at][name] = true
			}
		}
	}
	return [...boxes.values()].filter(([, each]) => {
		const kinds = new Set(each.map(({sure, possible}) => `${sure} ${possible}`))
		return kinds.size > 1
	})
}

/**
 * The phrase pairs of the links of at least a value.
 * @param {GoldPair} pair
 * @param {Map<string, Value>} links
 * @param {number} least
 */
function boxesOf({source, target}, links, least) {
	/** @type {[number, number, Value][]} */
	const cells = []
	for (const [key, value] of links) if (value >= least) cells.push([...placeOf(key), value])
	return atomic(new Pair({source, target, state: {cells, bulk: [], rejected: [], comments: []}}))
}
