// @ts-check
// The suggestions of a pair: what is open, what is doubtful, where a word most likely belongs.

/** @import {Pair} from "./model.js" */
/** @import {Hints, Suggestions} from "./types" */

const SURE = 2 // the value that accepting gives where the server names none: a sure link
const NEARBY = [0, 1, -1, 2, -2, 3, -3] // words

/**
 * The suggestions of a pair by the index of their cell.
 * @param {Pair} pair
 * @param {Suggestions | null} [doc]
 * @returns {Hints}
 */
export function hintsOf(pair, doc) {
	const p = new Map()
	const strength = new Map()
	for (const [i, j, probability, value] of doc?.cells ?? []) {
		const index = pair.at(i, j)
		p.set(index, probability)
		strength.set(index, value || SURE)
	}
	const systems = new Map()
	for (const [name, links] of doc?.links ?? []) {
		for (const [i, j] of links) {
			const index = pair.at(i, j)
			systems.set(index, [...(systems.get(index) ?? []), name])
		}
	}
	return {
		systems,
		set: doc?.set,
		by: doc?.by ?? "",
		bulk: doc?.bulk ?? "",
		cells: [...p.keys()].sort((a, b) => a - b),
		p,
		strength,
		shown: true,
	}
}

/**
 * Neither taken nor rejected, and neither word is said to have no partner.
 * @param {Pair} pair
 * @param {number} index
 */
export function open(pair, index) {
	const {hints, values, rejected} = pair
	if (!hints.shown || !hints.p.has(index)) return false
	if (values[index] || rejected[index]) return false
	return !pair.against(index).some(other => values[other])
}

/**
 * Without a probability it counts as .9: worth taking, and worth looking at.
 * @param {Pair} pair
 * @param {number} index
 */
export const sure = ({hints}, index) => hints.p.get(index) ?? 0.9

/**
 * The likeliest cell of a word without link: its best suggestion, else near where its neighbours
 * point.
 * @param {Pair} pair
 * @param {string} side
 * @param {number} at
 */
export function likeliest(pair, side, at) {
	const source = side === "source"
	const axis = source ? 0 : 1
	let best
	for (const index of pair.hints.cells) {
		if (pair.place(index)[axis] !== at || pair.isNull(index) || !open(pair, index)) continue
		if (best === undefined || sure(pair, index) > sure(pair, best)) best = index
	}
	if (best !== undefined) return best
	const partner = unalignedNear(pair, source ? "target" : "source", guessed(pair, source, at))
	return source ? pair.at(at, partner) : pair.at(partner, at)
}

// Where a word's partner should be: beside that of its nearest neighbour with a link, those before
// it first.
/** @type {(pair: Pair, source: boolean, at: number) => number} */
function guessed(pair, source, at) {
	const extents = source ? pair.rows : pair.columns // first, last and number of partners
	const length = source ? pair.n : pair.m
	const size = source ? pair.m : pair.n
	let guess = Math.floor((at * size) / length)
	for (let other = length - 1; other > at; other--) {
		if (extents[3 * other + 2]) guess = extents[3 * other] - (other - at)
	}
	for (let other = 0; other < at; other++) {
		if (extents[3 * other + 2]) guess = extents[3 * other + 1] + at - other
	}
	return Math.max(0, Math.min(size - 1, guess))
}

// The nearest word without link, at most three words away; else the word itself.
/** @type {(pair: Pair, side: "source" | "target", at: number) => number} */
function unalignedNear(pair, side, at) {
	const found = NEARBY.map(off => at + off).find(
		near => near >= 0 && near < pair[side].length && pair.unaligned(side, near),
	)
	return found ?? at
}
