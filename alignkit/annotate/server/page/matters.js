// @ts-check
// What is to be told or asked of refused edits.
import {writesOf} from "./model.js"
import {fields} from "./refusals.js"

/** @import {Net, Refused, Row, Write} from "./types" */

/**
 * Group events by what they write: one that shares a field with groups joins them.
 * @param {Refused[]} events
 */
function chains(events) {
	/** @type {Refused[][]} */
	let groups = []
	for (const event of events) {
		const own = fields(event)
		/** @type {(group: Refused[]) => boolean} */
		const meets = group => group.some(other => fields(other).some(field => own.includes(field)))
		const joined = groups.filter(meets).flat()
		groups = groups.filter(group => !meets(group))
		groups.push([...joined, event])
	}
	return groups
}

/**
 * What events write taken together: of each thing the first before and the last after; nothing
 * where that was undone.
 * @param {Refused[]} events
 * @returns {Net}
 */
function net(events) {
	/** @type {Map<string, Write>} */
	const cells = new Map()
	/** @type {Map<string, [string, string, string]>} */
	const comments = new Map()
	/** @type {Net} */
	const out = {cells: [], comments: [], bulk: [], rejected: []}
	for (const {kind, data} of events) {
		const {done, label, flags, ...writes} = writesOf({kind, data})
		for (const [i, j, before, after] of writes.cells) {
			const key = `${i},${j}`
			cells.set(key, [i, j, cells.get(key)?.[2] ?? before, after])
		}
		for (const [key, before, after] of writes.comments)
			comments.set(key, [key, comments.get(key)?.[1] ?? before, after])
		if (label) out.label = [out.label?.[0] ?? label[0], label[1]]
		if (flags) out.flags = [out.flags?.[0] ?? flags[0], flags[1]]
		if (done) out.done = done
		out.how = data.how || out.how
		out.kind = data.of && kind // where the last was an undo or redo
	}
	out.cells = [...cells.values()].filter(([, , before, after]) => before !== after || !out.kind)
	out.comments = [...comments.values()].filter(([, before, after]) => before !== after || !out.kind)
	return out
}

/**
 * Does an event hold whatever the words are?
 * @param {Refused} event
 */
function lasting(event) {
	const {cells, rejected, comments, done} = writesOf(event)
	if (done || cells.length || rejected.length) return false
	return !comments[0]?.[0] // a comment on the pair, not on a cell
}

/**
 * What is to be told or asked: {ids, text} is only told, {ids, writes} asked about. Cells of
 * another text and what the server will never take are not asked about; a comment on such a cell
 * goes to the pair.
 * @param {Row[]} rows
 * @param {number} k the open pair
 * @param {{rev: number, comments: Map<string, string>}} pair
 * @returns {{ids: string[], text?: string, writes?: Net}[]}
 */
export function matters(rows, k, {rev, comments}) {
	/** @type {Map<string, Refused[]>} */
	const notices = new Map()
	/** @type {Refused[]} */
	const asked = []
	/** @type {Refused[]} */
	const moved = []
	for (const row of rows) {
		const conflict = row.status === 409
		const old = conflict && row.rev !== rev
		if (conflict && row.k !== k) continue
		const where = row.k === k ? "" : `pair ${row.k}: `
		const head = `${where}not saved: ${old ? "the text has changed" : row.message}: `
		for (const event of row.events) {
			const {kind, data} = event
			const choice = old ? lasting(event) : data.cells || !data.rejected
			if (old && kind === "comment" && data.key && data.after) moved.push(event)
			else if (conflict && choice) asked.push(event)
			else notices.set(head, [...(notices.get(head) || []), event])
		}
	}
	let note =
		asked.filter(({kind}) => kind === "comment").at(-1)?.data.after ?? comments.get("") ?? ""
	for (const event of moved) {
		const before = note
		note = note ? `${note}\n${event.told}` : String(event.told)
		asked.push({...event, data: {key: "", before, after: note}})
	}
	/** @type {(events: Refused[]) => string[]} */
	const ids = events => events.map(({id}) => id)
	const told = [...notices].map(([head, events]) => ({
		ids: ids(events),
		text: head + events.map(event => event.told).join("; "),
	}))
	const questions = chains(asked).map(events => ({ids: ids(events), writes: net(events)}))
	return [...told, ...questions]
}
