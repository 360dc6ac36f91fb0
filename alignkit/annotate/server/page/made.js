// @ts-check
// A pair with what was made of it: rewrites, spans taken from documents, and why its judgment is as
// it is.
import {last, Pair, writesOf} from "./model.js"
import {describe} from "./words.js"

/** @import {AnyEvent, EventData, Keyed, PairDocument} from "./types" */

const KEYED = /** @type {const} */ (["rewrites", "extracts", "whys"])

/**
 * What an event writes, by key: that of a reason is its cell, as "i,j".
 * @param {string} name one of `KEYED`
 * @param {any[][]} [rows]
 * @returns {Keyed[]}
 */
function named(name, rows = []) {
	if (name !== "whys") return /** @type {Keyed[]} */ (rows)
	return rows.map(([i, j, before, after]) => [`${i},${j}`, before, after])
}

/**
 * What takes a write back: the content before and after change places.
 * @param {any[]} row
 */
const turned = row => [...row.slice(0, -2), row.at(-1), row.at(-2)]

export class MadePair extends Pair {
	/**
	 * Cells are of no interest here, and documents may be long.
	 * @param {PairDocument} doc
	 */
	constructor(doc) {
		super({
			...doc,
			source: [],
			target: [],
			state: {...doc.state, cells: [], bulk: [], rejected: []},
			suggestions: null,
		})
		this.source = doc.source
		this.target = doc.target
		/** @type {Map<string, any>} */
		this.rewrites = new Map(doc.state.rewrites)
		/** @type {Map<string, any>} */
		this.extracts = new Map(doc.state.extracts)
		/** @type {Map<string, any>} */
		this.whys = new Map()
		for (const [i, j, why] of doc.state.whys ?? []) this.whys.set(`${i},${j}`, why)
	}

	copy() {
		const copy = super.copy()
		for (const name of KEYED) copy[name] = new Map(this[name])
		return copy
	}

	/** @param {AnyEvent} event */
	apply(event) {
		for (const name of KEYED) {
			for (const [key, , after] of named(name, event.data?.[name])) {
				if (after === null) this[name].delete(key)
				else this[name].set(key, after)
			}
		}
		return super.apply(event)
	}

	/**
	 * @param {"undo" | "redo"} kind
	 * @returns {EventData | undefined}
	 */
	inverse(kind) {
		const data = super.inverse(kind)
		if (!data) return data
		const from = last(this[kind])?.data ?? {}
		for (const name of KEYED) {
			if (from[name]?.length) data[name] = from[name].map(turned)
		}
		return data
	}
}

/**
 * A key that is free: one more than the largest.
 * @param {string} letter
 * @param {Map<string, any>} held
 */
export function freeKey(letter, held) {
	const numbers = [...held.keys()].map(key => Number(key.slice(1)))
	return letter + (1 + Math.max(0, ...numbers))
}

/**
 * The keys of a map in the order of their numbers.
 * @param {Map<string, any>} held
 */
export const inOrder = held =>
	[...held.keys()].sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)))

/**
 * What an event did, in a few words.
 * @param {Pair} pair
 * @param {Pick<AnyEvent, "kind"> & {data?: EventData}} event
 */
export function told(pair, {kind, data = {}}) {
	const {rewrites: [rewrite] = [], extracts: [extract] = [], label, flags} = data
	if (rewrite) {
		const [name, , after] = rewrite
		return `rewrite ${name.slice(1)}: ${after ? after.join(" ~ ") : "removed"}`
	}
	if (extract) {
		const [name, before, after] = extract
		const verb = before ? "changed" : "taken"
		return `pair ${name.slice(1)} ${after ? verb : "removed"}`
	}
	if (label || flags) {
		const said = [label?.[1], ...(flags?.[1] ?? [])].filter(Boolean)
		return `judgment: ${said.join(", ") || "none"}`
	}
	return describe(pair, writesOf({kind, data}))
}
