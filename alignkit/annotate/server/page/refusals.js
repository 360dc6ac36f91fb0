// Edits that the server did not take: what belongs together, and how it is told.
import {writesOf} from "./model.js"
import {cellName, describe} from "./words.js"

const MOST = 30 // words that are told of one event

// What an event was about, in the words of its text: "was linked: a ~ b, c ~ d".
export function tell(pair, writes) {
	const parts = ["cleared", "linked"].map((verb, on) => {
		const names = writes.cells
			.filter(cell => !cell[3] === !on)
			.map(([i, j]) => cellName(pair, i, j))
		const more = names.splice(MOST).length
		return names.length && `was ${verb}: ${names.join(", ")}${more ? ` and ${more} more` : ""}`
	})
	return parts.filter(Boolean).join("; ") || describe(pair, writes)
}

// The event of an entry of the outbox, with all that it writes.
export const whole = ({event, about}) => ({
	...event,
	told: about?.told,
	data: {...about?.data, ...event.data},
})

// What an event writes, and what it takes back.
export function fields({id, kind, data}) {
	const {cells, rejected, comments, label, flags, done} = writesOf({kind, data})
	return [
		id,
		data.of,
		...[...cells, ...rejected].map(row => `${row.slice(0, 2)}`),
		...comments.map(([name]) => `on ${name}`),
		label && "label",
		flags && "flags",
		done && "done",
	].filter(Boolean)
}

// Of what waits, that which falls with an entry: all for the same old text, else what the same tab
// has built on it.
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
