// What is marked at the words of the band, as classes.
import {open, sure} from "./suggest.js"

const NAMES = ["", "possible", "sure"]
const LEAST = 0.1 // the probability from which a suggested partner is marked
const SIDES = ["source", "target"]

/**
 * The classes of the words of both sentences.
 * @param {import("./model.js").Pair} pair
 * @param {object} about
 * @param {[number, number]} about.cursor
 * @param {[number, number] | null} about.chosen a word, as [0 for source or 1 for target, place]
 * @param {[number, number] | null} about.word the word under the mouse
 * @param {[number, number] | null} about.cell the cell under the mouse
 * @returns {[string[], string[]]}
 */
export function wordMarks(pair, {cursor, chosen, word, cell}) {
	const kinds = SIDES.map(side =>
		pair[side].map((_, at) => (pair.unaligned(side, at) ? ["bare"] : [])),
	)
	const add = (x, at, kind) => kinds[x][at]?.push(kind) // nothing at a null
	const at = word ? [word] : [...cursor.entries()]
	for (const [x, place] of at) {
		if (place < pair[SIDES[x]].length)
			for (const [other, kind] of partners(pair, x, place)) add(1 - x, other, kind)
	}
	for (const [x, place] of cursor.entries()) add(x, place, "here")
	for (const [x, place] of cell ? cell.entries() : []) add(x, place, "near")
	if (word) add(...word, "near")
	if (chosen) add(...chosen, "chosen")
	return kinds.map(words => words.map(names => names.join(" ")))
}

// The partners of a word: [place, "sure", "possible" or "suggested"].
function partners(pair, x, place) {
	const found = []
	const count = x ? pair.n : pair.m
	for (let other = 0; other < count; other++) {
		const index = x ? pair.at(other, place) : pair.at(place, other)
		const value = pair.values[index]
		if (value) found.push([other, NAMES[value]])
		else if (open(pair, index) && sure(pair, index) >= LEAST) found.push([other, "suggested"])
	}
	return found
}
