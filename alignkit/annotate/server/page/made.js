// A pair with what was made of it: rewrites, spans taken from documents, and why its judgment is as
// it is.
import {last, Pair, writesOf} from "./model.js"
import {describe} from "./words.js"

const KEYED = ["rewrites", "extracts", "whys"]
const named = (name, rows = []) =>
	name === "whys" ? rows.map(([i, j, ...rest]) => [`${i},${j}`, ...rest]) : rows
const turned = row => [...row.slice(0, -2), row.at(-1), row.at(-2)]

export class MadePair extends Pair {
	// Cells are of no interest here, and documents may be long.
	constructor(doc) {
		super({
			...doc,
			source: [],
			target: [],
			state: {...doc.state, cells: [], bulk: [], rejected: []},
			suggestions: null,
		})
		Object.assign(this, {source: doc.source, target: doc.target})
		for (const name of KEYED) this[name] = new Map(named(name, doc.state[name]))
	}

	copy() {
		const copy = super.copy()
		for (const name of KEYED) copy[name] = new Map(this[name])
		return copy
	}

	apply(event) {
		for (const name of KEYED) {
			for (const [key, , after] of named(name, event.data?.[name])) {
				if (after === null) this[name].delete(key)
				else this[name].set(key, after)
			}
		}
		return super.apply(event)
	}

	inverse(kind) {
		const data = super.inverse(kind)
		const from = data && last(this[kind]).data
		for (const name of KEYED) if (from?.[name]?.length) data[name] = from[name].map(turned)
		return data
	}
}

// A key that is free: one more than the largest.
export const freeKey = (letter, held) =>
	letter + (1 + Math.max(0, ...[...held.keys()].map(key => Number(key.slice(1)))))

// The keys of a map in the order of their numbers.
export const inOrder = held => [...held.keys()].sort((a, b) => a.slice(1) - b.slice(1))

// What an event did, in a few words.
export function told(pair, {kind, data = {}}) {
	const {rewrites: [rewrite] = [], extracts: [extract] = [], label, flags} = data
	if (rewrite)
		return `rewrite ${rewrite[0].slice(1)}: ${rewrite[2] ? rewrite[2].join(" ~ ") : "removed"}`
	if (extract) {
		const [name, before, after] = extract
		const verb = before ? "changed" : "taken"
		return `pair ${name.slice(1)} ${after ? verb : "removed"}`
	}
	if (label || flags)
		return `judgment: ${[label?.[1], ...(flags?.[1] || [])].filter(Boolean).join(", ") || "none"}`
	return describe(pair, writesOf({kind, data}))
}
