// What things are called, on the page and by a screen reader.

export const NAMES = ["no link", "possible", "sure"]
export const plural = (count, noun) =>
	`${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`

export const percent = q => `${Math.round(100 * q)} %`

const segmenter = globalThis.Intl?.Segmenter && new Intl.Segmenter()

// A word cut at so many graphemes, with an ellipsis where something is missing.
export function cut(word, limit) {
	if (word.length <= limit) return word
	const parts = segmenter
		? Array.from(segmenter.segment(word), part => part.segment)
		: word.match(/\P{M}(?:\p{M}|\u200d\P{M}?)*|\p{M}+/gu)
	return parts.length <= limit ? word : `${parts.slice(0, limit - 1).join("")}…`
}

export const source = (pair, i) => pair.source[i] ?? "∅"
export const target = (pair, j) => pair.target[j] ?? "∅"
export const cellName = (pair, i, j) => `${source(pair, i)} ~ ${target(pair, j)}`

function valueName(i, j, value) {
	if (i >= 0 && j >= 0) return NAMES[value]
	return value ? `null, ${NAMES[value]}` : "no null"
}

// What a cell holds: "sure; kept, not looked at", "suggested, 67 percent of votes:
// giza/1", "rejected".
export function cellState(pair, index) {
	const value = pair.values[index]
	const parts = [valueName(...pair.cell(index), value)]
	const p = pair.hints.p.get(index)
	if (pair.bulk[index]) parts.push("kept, not looked at")
	if (pair.hints.shown && pair.rejected[index]) parts.push("rejected")
	else if (pair.hints.shown && p !== undefined) {
		const {set, systems} = pair.hints
		const names = systems.get(index)?.join(", ")
		const share =
			(p === null ? "" : `, ${Math.round(100 * p)} percent${set === "vote" ? " of votes" : ""}`) +
			(names ? `: ${names}` : "")
		if (value) parts.push(`was suggested${share}`)
		else parts[0] = `suggested${share}`
	}
	if (pair.comments.has(commentKey(pair, index))) parts.push("has a comment")
	return parts.join("; ")
}

// "reached, 8 of 12; at, 9 of 13: sure; suggested, 24 percent"
export function cellLabel(pair, index) {
	const [i, j] = pair.cell(index)
	const {n, m} = pair
	const row = i < 0 ? "no source word" : `${pair.source[i]}, ${i + 1} of ${n}`
	const column = j < 0 ? "no target word" : `${pair.target[j]}, ${j + 1} of ${m}`
	return `${row}; ${column}: ${cellState(pair, index)}`
}

export const commentKey = (pair, index) => pair.cell(index).join("-")

// The cell of a comment's key, as [i, j] with -1 for a null; null for the pair.
export const cellOf = name => /^(-?\d+)-(-?\d+)$/.exec(name)?.slice(1).map(Number)
export const keyName = (pair, name) => (cellOf(name) ? cellName(pair, ...cellOf(name)) : "the pair")

export function spanName(pair, [top, bottom, left, right]) {
	const part = (words, from, to) =>
		to - from < 8
			? words.slice(from, to + 1).join(" ")
			: `${words.slice(from, from + 4).join(" ")} … ${words.slice(to - 2, to + 1).join(" ")}`
	return `${part(pair.source, top, bottom)} ~ ${part(pair.target, left, right)}`
}

// What gives way to cells that are set, as a word has links or a null: "; dropped: a ~ b, c ~ d".
export function dropped(pair, cells, most = 5) {
	const names = cells.some(cell => cell[3])
		? cells.filter(cell => !cell[3]).map(([i, j]) => cellName(pair, i, j))
		: []
	const more = names.length - most
	return names.length
		? `; dropped: ${names.slice(0, most).join(", ")}${more > 0 ? ` and ${more} more` : ""}`
		: ""
}

const NAMED = 3 // so many cells are told by their words

/**
 * What an event did, in a few words.
 * @param {import("./model.js").Pair} pair
 * @param {import("./types").Writes} writes
 * @returns {string}
 */
export function describe(pair, {cells, bulk, rejected, settled, comments, label, flags, done}) {
	if (done && bulk.length)
		return done.after ? `done, with ${plural(bulk.length, "link")} kept` : "not done"
	const more = dropped(pair, cells)
	const main = more ? cells.filter(cell => cell[3]) : cells
	if (main.length === 1) {
		const [[i, j, , after]] = main
		return `${cellName(pair, i, j)}: ${valueName(i, j, after)}${more}`
	}
	if (main.length) {
		const values = new Set(main.filter(([i, j]) => i >= 0 && j >= 0).map(cell => cell[3]))
		const [value] = values
		const common = values.size === 1 ? `: ${NAMES[value]}` : ""
		const places = main.map(([i, j]) => cellName(pair, i, j))
		const what = main.length > NAMED ? plural(main.length, "cell") : places.join(", ")
		return what + common + more
	}
	if (rejected.length) {
		const [[i, j, , after]] = rejected
		const what =
			rejected.length > 1 ? plural(rejected.length, "suggestion") : `${cellName(pair, i, j)}:`
		return `${what} ${after ? "rejected" : "no longer rejected"}`
	}
	if (comments.length) {
		const [[key, , after]] = comments
		return `comment on ${keyName(pair, key)}: ${after || "none"}`
	}
	if (label || flags) return "judgment"
	if (done) return done.after ? "done" : "not done"
	if (settled?.length) {
		const words = settled.map(([i, j]) => (i < 0 ? pair.target[j] : pair.source[i]))
		return `${words.join(", ")}: looked at`
	}
	return bulk.length ? `${plural(bulk.length, "link")} looked at` : "nothing"
}
