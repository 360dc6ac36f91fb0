// @ts-check
// Edits that the server did not take: what belongs together, and how it is told.
import {writesOf} from "./model.js"
import {cellName, describe} from "./words.js"

/** @import {Pair} from "./model.js" */
/** @import {Entry, Refused, Sent, Writes} from "./types" */

const MOST = 30 // words that are told of one event

/**
 * What an event was about, in the words of its text: "was linked: a ~ b, c ~ d".
 * @param {Pair} pair
 * @param {Writes} writes
 * @returns {string}
 */
export function tell(pair, writes) {
	const cleared = writes.cells.filter(([, , , after]) => !after)
	const linked = writes.cells.filter(([, , , after]) => after)
	const parts = []
	if (cleared.length) parts.push(`was cleared: ${named(pair, cleared)}`)
	if (linked.length) parts.push(`was linked: ${named(pair, linked)}`)
	return parts.join("; ") || describe(pair, writes)
}

/** @type {(pair: Pair, cells: Writes["cells"]) => string} */
function named(pair, cells) {
	const names = cells.slice(0, MOST).map(([i, j]) => cellName(pair, i, j))
	const more = cells.length - names.length
	return names.join(", ") + (more ? ` and ${more} more` : "")
}

/**
 * The event of an entry of the outbox, with all that it writes.
 * @param {Entry} entry
 * @returns {Refused}
 */
export const whole = ({event, about}) => ({
	...event,
	told: about?.told,
	data: {...about?.data, ...event.data},
})

/**
 * What an event writes, and what it takes back: names of fields, which two events may share.
 * @param {Pick<Sent, "id" | "kind" | "data">} event
 * @returns {string[]}
 */
export function fields({id, kind, data}) {
	const {cells, rejected, comments, label, flags, done} = writesOf({kind, data})
	const names = [id]
	if (data.of) names.push(data.of)
	for (const [i, j] of [...cells, ...rejected]) names.push(`${i},${j}`)
	for (const [key] of comments) names.push(`on ${key}`)
	if (label) names.push("label")
	if (flags) names.push("flags")
	if (done) names.push("done")
	return names
}

/**
 * Of what waits, that which falls with an entry: all for the same old text, else what the same tab
 * has built on it.
 * @param {Entry[]} waiting
 * @param {Entry} entry
 * @param {number} [rev] the number of the text that the server has now, where it has another one
 */
export function dependent(waiting, entry, rev) {
	const held = new Set(fields(whole(entry)))
	return waiting.filter(later => {
		if (later.k !== entry.k || later.tab !== entry.tab) return false
		const own = fields(whole(later))
		const falls = rev ? later.rev === entry.rev : own.some(field => held.has(field))
		if (!falls) return false
		for (const field of own) held.add(field)
		return true
	})
}
