// What is marked at the words of the band, as classes.
const NAMES = ["", "possible", "sure"]
const SIDES = ["source", "target"]

/** @typedef {[number, number]} Word a word, as [0 for source or 1 for target, place] */

/**
 * The classes of the words of both sentences.
 * @param {import("./model.js").Pair} pair
 * @param {object} about
 * @param {[number, number] | null} about.cursor the cell that keys act on
 * @param {Word[]} about.here the word one is at, if any
 * @param {boolean} about.settled whether it is settled
 * @param {Word | null} about.word the word under the mouse
 * @param {[number, number] | null} about.cell the cell under the mouse
 * @param {Map<number, number>} about.shown links of words that are not settled, by index
 * @param {(side: string, at: number) => boolean} about.bare whether a word has no link
 * @returns {string[][]}
 */
export function wordMarks(pair, {cursor, here, settled, word, cell, shown, bare}) {
	const kinds = SIDES.map(side => pair[side].map((_, at) => (bare(side, at) ? ["bare"] : [])))
	const add = (x, at, kind) => kinds[x][at]?.push(kind) // nothing at a null
	const places = cursor ? [...cursor.entries()] : here
	for (const [x, at] of word ? [word] : places) {
		if (at < pair[SIDES[x]].length)
			for (const [other, kind] of partners(pair, x, at, shown)) add(1 - x, other, kind)
	}
	for (const [x, at] of cursor ? cursor.entries() : []) add(x, at, "here")
	for (const [x, at] of here) add(x, at, settled ? "at settled" : "at")
	for (const [x, at] of cell ? cell.entries() : []) add(x, at, "near")
	if (word) add(...word, "near")
	return kinds.map(words => words.map(names => names.join(" ")))
}

// The partners of a word: [place, "sure", "possible" or "likely"].
function partners(pair, x, at, shown) {
	const links = []
	const count = x ? pair.n : pair.m
	for (let other = 0; other < count; other++) {
		const index = x ? pair.at(other, at) : pair.at(at, other)
		const value = pair.values[index]
		if (value) links.push([other, NAMES[value]])
		else if (shown.has(index)) links.push([other, "likely"])
	}
	return links
}
