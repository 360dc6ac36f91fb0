// @ts-check
// One open pair: what the server has stored, what is on its way, and the two folded into what is
// shown. `take` alone folds; `confirm`, `refuse` and `forget` change what is folded, and fold again.
import {Pair, writesOf} from "./model.js"
import {tell} from "./refusals.js"

/** @import {AnyEvent, EventData, PairDocument, Sending, Sent, StoredEvent} from "./types" */

const MOST = 250000 // characters of one event; the server takes 256 kB
const MANY = 2000 // cells; fewer never make an event that is too large
const ARRAYS = /** @type {const} */ (["values", "bulk", "rejected", "settled"])

/** @type {(kind: string) => kind is "undo" | "redo"} */
const reverses = kind => kind === "undo" || kind === "redo"

export class Session {
	/**
	 * @param {PairDocument} doc
	 * @param {Sending} wire
	 * @param {typeof Pair} kind
	 */
	constructor(doc, wire, kind = Pair) {
		this.doc = doc
		this.wire = wire
		this.k = doc.k
		/** @type {AnyEvent[]} */
		this.pending = []
		/** @type {Set<number>} */
		this.seen = new Set() // indices of links taken in bulk that were looked at
		this.stored = new kind(doc)
		this.view = this.stored.copy()
		for (const event of doc.pending || []) this.take(event)
	}

	/**
	 * Fold an event that is on its way; return the cells touched.
	 * @param {AnyEvent} event
	 * @returns {Set<number>}
	 */
	take(event) {
		this.pending.push(event)
		if (!reverses(event.kind)) return this.view.apply(event)
		const back = this.view.inverse(event.kind)
		if (back?.of !== event.data.of) return new Set() // it will be refused
		return this.view.apply({...event, data: {...back, ...event.data}})
	}

	/**
	 * Make an event and send it; return the cells touched, or null where it is too large.
	 * @param {string} kind
	 * @param {EventData} data
	 */
	commit(kind, data) {
		const reverse = reverses(kind)
		/** @type {EventData} */
		const own = reverse ? {of: data.of} : {...data}
		if (this.seen.size) own.seen = [...this.seen].map(index => this.view.cell(index))
		/** @type {Sent} */
		const event = {
			id: this.wire.newId(),
			kind,
			v: 1,
			client_at: new Date().toISOString(),
			data: own,
		}
		const cells = data.cells?.length ?? 0
		if (cells > MANY && JSON.stringify(event).length > MOST) return null
		if (own.seen) this.seen.clear()
		const touched = this.take(event)
		this.wire.push(this.k, this.view.rev, event, {
			told: tell(this.view, writesOf({kind, data})),
			data: reverse ? data : null,
		})
		return touched
	}

	/**
	 * A link taken in bulk has been looked at; told with the next event.
	 * @param {number} index
	 */
	look(index) {
		if (!this.view.bulk[index]) return false
		this.view.bulk[index] = 0
		this.seen.add(index)
		return true
	}

	/**
	 * The server stored these, perhaps not all that was sent, or more; true where the view shows
	 * something new.
	 * @param {StoredEvent[]} events
	 */
	confirm(events) {
		let foreign = false
		for (const event of events) {
			if (event.seq <= this.stored.seq) continue
			this.stored.apply(event)
			const at = this.pending.findIndex(({id}) => id === event.id)
			if (at !== 0) foreign = true // not what this page sent first
			if (at >= 0) this.pending.splice(at, 1)
		}
		const shown = this.view
		this.fold()
		const fresh = this.view
		if (!foreign) {
			foreign = ARRAYS.some(name =>
				fresh[name].some((value, index) => value !== shown[name][index]),
			)
		}
		this.view = Object.assign(shown, fresh)
		return foreign
	}

	/**
	 * The server refused these: they leave the view; what was looked at remains so.
	 * @param {AnyEvent[]} events
	 * @param {number} [rev]
	 */
	refuse(events, rev) {
		if (rev === this.view.rev) {
			for (const {data} of events) {
				for (const [i, j] of data.seen || []) this.seen.add(this.view.at(i, j))
			}
		}
		this.forget(events.map(({id}) => id))
		this.fold()
	}

	/**
	 * These wait no longer; true where one was still taken for waiting.
	 * @param {string[]} ids
	 */
	forget(ids) {
		const {length} = this.pending
		this.pending = this.pending.filter(({id}) => !ids.includes(id))
		return this.pending.length < length
	}

	// Make the view anew: what is stored, then what is on its way.
	fold() {
		const {pending} = this
		this.view = this.stored.copy()
		this.pending = []
		for (const event of pending) this.take(event)
		for (const index of this.seen) this.view.bulk[index] = 0
	}

	/**
	 * Are there steps to undo (or redo) that the page has not been told of?
	 * @param {"undo" | "redo"} kind
	 */
	more(kind) {
		return !this.view[kind].length && !!this.doc[kind]?.at(-1)?.below
	}
}
