// One pair of sentences and its state: what its events add up to. The server computes the same in
// annotate/project/state.py.

import {hintsOf} from "./suggest.js"

export const NONE = 0,
	POSSIBLE = 1,
	SURE = 2
export const last = list => list[list.length - 1]

// Cells are known by index; row n and column m hold the nulls. A place is [row, column].
export class Pair {
	// `doc` is what GET /api/pairs/{k} answers.
	constructor({source, target, state, undo, redo, suggestions}) {
		Object.assign(this, {
			source,
			target,
			n: source.length,
			m: target.length,
			wide: target.length + 1,
		})
		const size = (this.n + 1) * this.wide
		for (const name of ["values", "bulk", "rejected"]) this[name] = new Uint8Array(size)
		for (const [i, j, value] of state.cells) this.values[this.at(i, j)] = value
		for (const name of ["bulk", "rejected"])
			for (const [i, j] of state[name]) this[name][this.at(i, j)] = 1
		this.comments = new Map(state.comments)
		Object.assign(this, {
			judgment: state.judgment || "",
			flags: state.flags || [],
			done: state.done,
			marks: state.marks || [],
			seq: state.seq,
			rev: state.rev,
		})
		this.undo = [...(undo || [])].reverse()
		this.redo = [...(redo || [])].reverse()
		this.hints = hintsOf(this, suggestions)
		// least, greatest and number of partners of each word
		this.rows = new Int32Array(3 * this.n)
		this.columns = new Int32Array(3 * this.m)
		for (let i = 0; i < this.n; i++) this.extend("row", i)
		for (let j = 0; j < this.m; j++) this.extend("column", j)
	}

	at(i, j) {
		return (i < 0 ? this.n : i) * this.wide + (j < 0 ? this.m : j)
	}

	index([i, j]) {
		return i * this.wide + j
	}

	place(index) {
		return [Math.floor(index / this.wide), index % this.wide]
	}

	// [i, j] with -1 for a null, and back to a place
	cell(index) {
		const [i, j] = this.place(index)
		return [i === this.n ? -1 : i, j === this.m ? -1 : j]
	}

	spot(i, j) {
		return this.place(this.at(i, j))
	}

	// The indices of a box [top, bottom, left, right], ends included.
	inside([top, bottom, left, right]) {
		const out = []
		for (let i = top; i <= bottom; i++)
			for (let j = left; j <= right; j++) out.push(i * this.wide + j)
		return out
	}

	copy() {
		const copy = Object.assign(Object.create(Object.getPrototypeOf(this)), this)
		for (const name of ["values", "bulk", "rejected", "rows", "columns", "undo", "redo"])
			copy[name] = this[name].slice()
		copy.comments = new Map(this.comments)
		return copy
	}

	extend(side, at) {
		const row = side === "row"
		const {values, wide, n, m} = this
		const out = row ? this.rows : this.columns
		let low = -1
		let high = -1
		let count = 0
		for (let x = 0, index = row ? at * wide : at; x < (row ? m : n); x++, index += row ? 1 : wide) {
			if (!values[index]) continue
			if (low < 0) low = x
			high = x
			count++
		}
		out[3 * at] = low
		out[3 * at + 1] = high
		out[3 * at + 2] = count
	}

	isNull(index) {
		return index >= this.n * this.wide || index % this.wide === this.m
	}

	unaligned(side, at) {
		if (side === "source") return !this.rows[3 * at + 2] && !this.values[this.at(at, -1)]
		return !this.columns[3 * at + 2] && !this.values[this.at(-1, at)]
	}

	links() {
		return this.rows.reduce((sum, x, at) => sum + (at % 3 === 2 ? x : 0), 0)
	}

	// Fold one event; return the cells that it touched.
	apply(event) {
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
		for (const name of ["bulk", "rejected"]) {
			for (const [i, j, , after] of writes[name]) {
				touched.add(this.at(i, j))
				this[name][this.at(i, j)] = after
			}
		}
		for (const [i, j] of writes.seen) {
			touched.add(this.at(i, j))
			this.bulk[this.at(i, j)] = 0
		}
		for (const [name, , after] of writes.comments)
			after ? this.comments.set(name, after) : this.comments.delete(name)
		if (writes.label) this.judgment = writes.label[1]
		if (writes.flags) this.flags = writes.flags[1]
		if (writes.done) this.done = writes.done.after
		this.stack(event)
		if (event.seq > this.seq) this.seq = event.seq
		return touched
	}

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

	// The data of an undo or redo: what the topmost event wrote, backwards.
	inverse(kind) {
		const top = last(this[kind])
		return top && {of: top.id, ...backwards(writesOf(top))}
	}

	// The data of an edit that gives each [index, value] its value, with what follows from it: a word
	// is linked or null, never both; what is set by hand is looked at; a suggestion that is cleared
	// is rejected, but not where it is hidden. Null where nothing changes.
	edit(how, wanted, bulk) {
		const after = new Map()
		const data = {how, cells: []}
		for (const [index, value] of wanted) {
			after.set(index, value)
			if (value)
				for (const other of this.against(index)) if (this.values[other]) after.set(other, NONE)
		}
		const write = (name, index, value) => {
			const before = (name === "cells" ? this.values : this[name])[index]
			if (before === value) return
			data[name] ||= []
			data[name].push([...this.cell(index), before, value])
		}
		for (const [index, value] of after) {
			write("bulk", index, bulk && value && this.values[index] !== value ? 1 : 0)
			write(
				"rejected",
				index,
				value ? 0 : this.hints.shown ? Number(this.hints.p.has(index)) : this.rejected[index],
			)
			write("cells", index, value)
		}
		return data.cells.length || data.bulk || data.rejected ? data : null
	}

	// The cells that cannot stand beside a link or null.
	against(index) {
		const [i, j] = this.place(index)
		const {n, m} = this
		if (i < n && j < m) return [i * this.wide + m, n * this.wide + j]
		return i < n ? this.inside([i, i, 0, m - 1]) : j < m ? this.inside([0, n - 1, j, j]) : []
	}
}

// What an event writes, whatever its kind.
export function writesOf({kind, data = {}}) {
	const {cells = [], bulk = [], rejected = [], seen = [], label, flags} = data
	const done = kind === "done" ? data : data.done
	const comment = kind === "comment" ? data : data.comment
	const comments = [
		...(data.comments || []),
		...(comment ? [[comment.key, comment.before, comment.after]] : []),
	]
	return {cells, bulk, rejected, seen, comments, label, flags, done}
}

function backwards({cells, bulk, rejected, comments, label, flags, done}) {
	const data = {}
	const turn = rows => rows.map(([i, j, before, after]) => [i, j, after, before])
	for (const [name, rows] of Object.entries({cells, bulk, rejected}))
		if (rows.length) data[name] = turn(rows)
	if (comments.length)
		data.comments = comments.map(([name, before, after]) => [name, after, before])
	if (label) data.label = [label[1], label[0]]
	if (flags) data.flags = [flags[1], flags[0]]
	if (done) data.done = {before: done.after, after: done.before}
	return data
}
