// @ts-check
// One pair of sentences and its state: what its events add up to. The server computes the same in
// annotate/project/state.py.

import {hintsOf} from "./suggest.js"

/** @import {AnyEvent, Box, Cell, EventData, PairParts, Value, Writes} from "./types" */

export const NONE = 0
export const POSSIBLE = 1
export const SURE = 2
const MARKS = /** @type {const} */ (["bulk", "rejected", "settled"]) // of cells

/**
 * @template T
 * @param {T[]} list
 * @returns {T | undefined}
 */
export const last = list => list[list.length - 1]

// Cells are known by index; row n and column m hold the nulls. A place is [row, column].
export class Pair {
	/** @param {PairParts} document */
	constructor({source, target, state, undo, redo, suggestions}) {
		this.source = source
		this.target = target
		this.n = source.length
		this.m = target.length
		this.wide = this.m + 1
		const size = (this.n + 1) * this.wide
		this.values = new Uint8Array(size)
		this.bulk = new Uint8Array(size)
		this.rejected = new Uint8Array(size)
		this.settled = new Uint8Array(size) // at the null of each word that is settled; see route.js
		for (const [i, j, value] of state.cells) this.values[this.at(i, j)] = value
		for (const [i, j] of state.bulk) this.bulk[this.at(i, j)] = 1
		for (const [i, j] of state.rejected) this.rejected[this.at(i, j)] = 1
		for (const [i, j] of state.settled ?? []) this.settled[this.at(i, j)] = 1
		/** @type {Map<string, string>} */
		this.comments = new Map(state.comments)
		this.judgment = state.judgment || ""
		this.flags = state.flags || []
		this.done = state.done ?? false
		this.marks = state.marks || []
		this.seq = state.seq ?? 0
		this.rev = state.rev ?? 0
		// the server has the next step first, here it is the last
		/** @type {AnyEvent[]} */
		this.undo = [...(undo || [])].reverse()
		/** @type {AnyEvent[]} */
		this.redo = [...(redo || [])].reverse()
		this.hints = hintsOf(this, suggestions)
		// first partner, last partner and number of partners of each word
		this.rows = new Int32Array(3 * this.n)
		this.columns = new Int32Array(3 * this.m)
		for (let i = 0; i < this.n; i++) this.extend("row", i)
		for (let j = 0; j < this.m; j++) this.extend("column", j)
	}

	/**
	 * The index of a cell.
	 * @param {number} i
	 * @param {number} j
	 */
	at(i, j) {
		const row = i < 0 ? this.n : i
		const column = j < 0 ? this.m : j
		return row * this.wide + column
	}

	/** @param {Cell} place */
	index([row, column]) {
		return row * this.wide + column
	}

	/**
	 * @param {number} index
	 * @returns {Cell}
	 */
	place(index) {
		return [Math.floor(index / this.wide), index % this.wide]
	}

	/**
	 * [i, j] with -1 for a null; `spot` leads back to a place.
	 * @param {number} index
	 * @returns {Cell}
	 */
	cell(index) {
		const [row, column] = this.place(index)
		return [row === this.n ? -1 : row, column === this.m ? -1 : column]
	}

	/**
	 * @param {number} i
	 * @param {number} j
	 */
	spot(i, j) {
		return this.place(this.at(i, j))
	}

	/**
	 * The indices of a box, ends included.
	 * @param {Box} box
	 */
	inside([top, bottom, left, right]) {
		const indices = []
		for (let row = top; row <= bottom; row++) {
			for (let column = left; column <= right; column++) indices.push(row * this.wide + column)
		}
		return indices
	}

	/** @returns {this} */
	copy() {
		const copy = Object.assign(Object.create(Object.getPrototypeOf(this)), this)
		copy.values = this.values.slice()
		copy.bulk = this.bulk.slice()
		copy.rejected = this.rejected.slice()
		copy.settled = this.settled.slice()
		copy.rows = this.rows.slice()
		copy.columns = this.columns.slice()
		copy.undo = this.undo.slice()
		copy.redo = this.redo.slice()
		copy.comments = new Map(this.comments)
		return copy
	}

	/**
	 * Find the partners of a word anew.
	 * @param {"row" | "column"} side
	 * @param {number} at
	 */
	extend(side, at) {
		const row = side === "row"
		const {values} = this
		const count = row ? this.m : this.n
		const step = row ? 1 : this.wide
		let index = row ? at * this.wide : at
		let first = -1
		let final = -1
		let partners = 0
		for (let other = 0; other < count; other++) {
			if (values[index]) {
				if (first < 0) first = other
				final = other
				partners++
			}
			index += step
		}
		const extents = row ? this.rows : this.columns
		extents[3 * at] = first
		extents[3 * at + 1] = final
		extents[3 * at + 2] = partners
	}

	/** @param {number} index */
	isNull(index) {
		return index >= this.n * this.wide || index % this.wide === this.m
	}

	/**
	 * @param {string} side
	 * @param {number} at
	 */
	unaligned(side, at) {
		if (side === "source") return !this.rows[3 * at + 2] && !this.values[this.at(at, -1)]
		return !this.columns[3 * at + 2] && !this.values[this.at(-1, at)]
	}

	// How many links there are, without nulls.
	links() {
		let count = 0
		for (let i = 0; i < this.n; i++) count += this.rows[3 * i + 2]
		return count
	}

	/**
	 * Fold one event; return the cells that it touched.
	 * @param {AnyEvent} event
	 * @returns {Set<number>}
	 */
	apply(event) {
		/** @type {Set<number>} */
		const touched = new Set()
		const rows = new Set()
		const columns = new Set()
		const writes = writesOf(event)
		for (const [i, j, , after] of writes.cells) {
			const index = this.at(i, j)
			this.values[index] = after
			touched.add(index)
			if (i < 0 || j < 0) continue
			rows.add(i)
			columns.add(j)
		}
		for (const i of rows) this.extend("row", i)
		for (const j of columns) this.extend("column", j)
		for (const name of MARKS) {
			for (const [i, j, , after] of writes[name]) {
				touched.add(this.at(i, j))
				this[name][this.at(i, j)] = after
			}
		}
		for (const [i, j] of writes.seen) {
			touched.add(this.at(i, j))
			this.bulk[this.at(i, j)] = 0
		}
		for (const [name, , after] of writes.comments) {
			if (after) this.comments.set(name, after)
			else this.comments.delete(name)
		}
		if (writes.label) this.judgment = writes.label[1]
		if (writes.flags) this.flags = writes.flags[1]
		if (writes.done) this.done = writes.done.after
		this.stack(event)
		if (event.seq && event.seq > this.seq) this.seq = event.seq // one that waits has no number yet
		return touched
	}

	/**
	 * Note what can be undone and redone after an event.
	 * @param {AnyEvent} event
	 */
	stack(event) {
		const {kind, data} = event
		if (kind === "undo" || kind === "redo") {
			if (last(this[kind])?.id === data.of) this[kind].pop()
			this[kind === "undo" ? "redo" : "undo"].push(event)
		} else if (kind !== "open") {
			// all others can be undone
			this.undo = kind === "text" ? [] : [...this.undo, event]
			this.redo = []
		}
	}

	/**
	 * The data of an undo or redo: what the topmost event wrote, backwards.
	 * @param {"undo" | "redo"} kind
	 * @returns {EventData | undefined}
	 */
	inverse(kind) {
		const top = last(this[kind])
		return top && {of: top.id, ...backwards(writesOf(top))}
	}

	/**
	 * The data of an edit that gives each [index, value] its value, with what follows from it: a word
	 * is linked or null, never both; what is set by hand is looked at; a suggestion that is cleared
	 * is rejected, but not where it is hidden. Null where nothing changes.
	 * @param {string} how
	 * @param {Iterable<[number, Value]>} wanted
	 * @param {{bulk?: boolean, settled?: number[]}} [more] whether nobody looks at the links, and the
	 *     indices that mark words as settled
	 * @returns {EventData | null}
	 */
	edit(how, wanted, {bulk = false, settled = []} = {}) {
		/** @type {Map<number, Value>} */
		const after = new Map()
		for (const [index, value] of wanted) {
			after.set(index, value)
			if (!value) continue
			for (const other of this.against(index)) if (this.values[other]) after.set(other, NONE)
		}
		/** @type {{how: string, cells: any[], bulk?: any[], rejected?: any[], settled?: any[]}} */
		const data = {how, cells: []}
		/** @type {(name: "cells" | typeof MARKS[number], index: number, value: Value) => void} */
		const write = (name, index, value) => {
			const held = name === "cells" ? this.values : this[name]
			const before = held[index]
			if (before === value) return
			data[name] ||= []
			data[name].push([...this.cell(index), before, value])
		}
		for (const [index, value] of after) {
			const unseen = bulk && value && this.values[index] !== value
			write("bulk", index, unseen ? 1 : 0)
			write("rejected", index, this.rejectedBy(index, value))
			write("cells", index, value)
		}
		for (const index of settled) write("settled", index, 1)
		return data.cells.length || MARKS.some(name => data[name]) ? data : null
	}

	/**
	 * Is a suggestion rejected when its cell gets a value? 1 or 0.
	 * @param {number} index
	 * @param {Value} value
	 */
	rejectedBy(index, value) {
		if (value) return 0
		if (!this.hints.shown) return this.rejected[index]
		return this.hints.p.has(index) ? 1 : 0
	}

	/**
	 * The cells that cannot stand beside a link or null.
	 * @param {number} index
	 */
	against(index) {
		const [row, column] = this.place(index)
		const {n, m} = this
		if (row < n && column < m) return [this.at(row, -1), this.at(-1, column)]
		if (row < n) return this.inside([row, row, 0, m - 1])
		if (column < m) return this.inside([0, n - 1, column, column])
		return []
	}
}

/**
 * What an event writes, whatever its kind.
 * @param {{kind: string, data?: EventData}} event
 * @returns {Writes}
 */
export function writesOf({kind, data = {}}) {
	const {cells = [], bulk = [], rejected = [], settled = [], seen = [], label, flags} = data
	const done = kind === "done" ? data : data.done
	const comments = [...(data.comments || [])]
	const comment = kind === "comment" ? data : data.comment
	if (comment) {
		const {key, before, after} = /** @type {any} */ (comment)
		comments.push([key, before, after])
	}
	return /** @type {Writes} */ ({
		cells,
		bulk,
		rejected,
		settled,
		seen,
		comments,
		label,
		flags,
		done,
	})
}

/**
 * @param {Writes} writes
 * @returns {EventData}
 */
function backwards({cells, bulk, rejected, settled, comments, label, flags, done}) {
	/** @type {EventData} */
	const data = {}
	for (const [name, writes] of Object.entries({cells, bulk, rejected, settled})) {
		if (writes.length) data[name] = writes.map(([i, j, before, after]) => [i, j, after, before])
	}
	if (comments.length)
		data.comments = comments.map(([name, before, after]) => [name, after, before])
	if (label) data.label = [label[1], label[0]]
	if (flags) data.flags = [flags[1], flags[0]]
	if (done) data.done = {before: done.after, after: done.before}
	return data
}
