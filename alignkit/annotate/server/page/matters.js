// What is to be told or asked of refused edits.
import {writesOf} from "./model.js"
import {fields} from "./refusals.js"

// Group events by what they write: one that shares a field with groups joins them.
function chains(events) {
	let groups = []
	for (const event of events) {
		const own = fields(event)
		const meets = group => group.some(other => fields(other).some(field => own.includes(field)))
		groups = [...groups.filter(group => !meets(group)), [...groups.filter(meets).flat(), event]]
	}
	return groups
}

// What events write taken together: of each thing the first before and the last after; nothing
// where that was undone.
function net(events) {
	const cells = new Map()
	const comments = new Map()
	const out = {bulk: [], rejected: []}
	const add = (table, name, before, after) =>
		table.set(name, [(table.get(name) || [before])[0], after])
	for (const {kind, data} of events) {
		const {done, ...writes} = writesOf({kind, data})
		for (const [i, j, before, after] of writes.cells) add(cells, `${i},${j}`, before, after)
		for (const [name, before, after] of writes.comments) add(comments, name, before, after)
		for (const name of ["label", "flags"])
			if (writes[name]) out[name] = [(out[name] || writes[name])[0], writes[name][1]]
		if (done) out.done = done
		out.how = data.how || out.how
		out.kind = data.of && kind // where the last was an undo or redo
	}
	const changed = table => [...table].filter(([, [before, after]]) => before !== after || !out.kind)
	out.cells = changed(cells).map(([place, values]) => [...place.split(",").map(Number), ...values])
	out.comments = changed(comments).map(([name, values]) => [name, ...values])
	return out
}

// Does an event hold whatever the words are?
function lasting(event) {
	const {
		cells,
		rejected,
		comments: [comment],
		done,
	} = writesOf(event)
	return !done && !cells.length && !rejected.length && !comment?.[0]
}

// What is to be told or asked: {ids, text} is only told, {ids, writes} asked about. Cells of
// another text and what the server will never take are not asked about; a comment on such a cell
// goes to the pair.
export function matters(rows, k, {rev, comments}) {
	const notices = new Map()
	const asked = []
	const moved = []
	for (const row of rows) {
		const conflict = row.status === 409
		const old = conflict && row.rev !== rev
		if (conflict && row.k !== k) continue
		const where = row.k === k ? "" : `pair ${row.k}: `
		const head = `${where}not saved: ${old ? "the text has changed" : row.message}: `
		for (const event of row.events) {
			if (old && event.kind === "comment" && event.data.key && event.data.after) moved.push(event)
			else if (conflict && (old ? lasting(event) : event.data.cells || !event.data.rejected))
				asked.push(event)
			else notices.set(head, [...(notices.get(head) || []), event])
		}
	}
	let note =
		asked.filter(({kind}) => kind === "comment").at(-1)?.data.after ?? comments.get("") ?? ""
	for (const event of moved) {
		const before = note
		note += (note && "\n") + event.told
		asked.push({...event, data: {key: "", before, after: note}})
	}
	const ids = events => events.map(({id}) => id)
	return [
		...[...notices].map(([head, events]) => ({
			ids: ids(events),
			text: head + events.map(event => event.told).join("; "),
		})),
		...chains(asked).map(events => ({ids: ids(events), writes: net(events)})),
	]
}
