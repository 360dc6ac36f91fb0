// One open pair: what the server has stored, what is on its way, and the two folded into what is
// shown.
import {Pair, writesOf} from "./model.js"
import {tell} from "./refusals.js"

const MOST = 250000 // characters of one event; the server takes 256 kB
const REVERSES = /^(undo|redo)$/

export class Session {
	constructor(doc, wire, kind = Pair) {
		Object.assign(this, {doc, wire, k: doc.k, pending: [], seen: new Set()})
		this.stored = new kind(doc)
		this.view = this.stored.copy()
		for (const event of doc.pending || []) this.take(event)
	}

	// Fold an event that is on its way.
	take(event) {
		this.pending.push(event)
		if (!REVERSES.test(event.kind)) return this.view.apply(event)
		const back = this.view.inverse(event.kind)
		return back?.of === event.data.of
			? this.view.apply({...event, data: {...back, ...event.data}})
			: new Set() // else it will be refused
	}

	// Make an event and send it; return the cells touched, or null where it is too large.
	commit(kind, data) {
		const reverse = REVERSES.test(kind)
		const own = reverse ? {of: data.of} : {...data}
		if (this.seen.size) own.seen = [...this.seen].map(index => this.view.cell(index))
		const event = {
			id: this.wire.newId(),
			kind,
			v: 1,
			client_at: new Date().toISOString(),
			data: own,
		}
		if (data.cells?.length > 2000 && JSON.stringify(event).length > MOST) return null
		if (own.seen) this.seen.clear()
		const touched = this.take(event)
		this.wire.push(this.k, this.view.rev, event, {
			told: tell(this.view, writesOf({kind, data})),
			data: reverse ? data : null,
		})
		return touched
	}

	// A link taken in bulk has been looked at; told with the next event.
	look(index) {
		if (!this.view.bulk[index]) return false
		this.view.bulk[index] = 0
		return this.seen.add(index)
	}

	// The server stored these, perhaps not all that was sent, or more; true where the view shows
	// something new.
	confirm(events) {
		let foreign = false
		for (const event of events) {
			if (event.seq <= this.stored.seq) continue
			this.stored.apply(event)
			const at = this.pending.findIndex(({id}) => id === event.id)
			if (at) foreign = true
			if (at >= 0) this.pending.splice(at, 1)
		}
		const {view} = this
		this.fold()
		const fresh = this.view
		const changed = name => fresh[name].some((value, index) => value !== view[name][index])
		foreign ||= ["values", "bulk", "rejected"].some(changed)
		this.view = Object.assign(view, fresh)
		return foreign
	}

	// The server refused these: they leave the view; what was looked at remains so.
	refuse(events, rev) {
		for (const {data} of events)
			for (const [i, j] of (rev === this.view.rev && data.seen) || [])
				this.seen.add(this.view.at(i, j))
		this.forget(events.map(({id}) => id))
		this.fold()
	}

	// These wait no longer; true where one was still taken for waiting.
	forget(ids) {
		const {length} = this.pending
		this.pending = this.pending.filter(({id}) => !ids.includes(id))
		return this.pending.length < length
	}

	fold() {
		const {pending} = this
		this.view = this.stored.copy()
		this.pending = []
		for (const event of pending) this.take(event)
		for (const index of this.seen) this.view.bulk[index] = 0
	}

	// Are there steps to undo (or redo) that the page has not been told of?
	more(kind) {
		return !this.view[kind].length && !!this.doc[kind]?.at(-1)?.below
	}
}
