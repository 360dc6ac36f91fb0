// The matrix: an SVG grid that holds the marked cells in view and the cursor's.
import {draw, on, path, set, svg, widthOf} from "./dom.js"
import {circle, hatch, markOf, rounded, shapes} from "./shapes.js"
import {cellLabel, cellOf, cut} from "./words.js"

const GAP = 8
const PAD = 5
const SLANT = 50
const MARGIN = 3
const {ceil, floor, max, min} = Math

export class Matrix {
	constructor(root) {
		this.root = root
		this.stage = root.querySelector(".stage")
		;[this.corner, this.tops, this.sides, this.grid] = this.stage.children
		this.back = svg("g", {"aria-hidden": "true"})
		this.body = svg("g", {role: "presentation"})
		this.front = svg("g", {"aria-hidden": "true", class: "front"})
		this.grid.append(hatch("hatch"), this.back, this.body, this.front)
		this.cells = new Map()
		this.hovered = null
		on(root, "scroll", () => this.scrolled(), {passive: true})
		on(
			root,
			"pointermove pointerleave",
			({type, pointerType, buttons, target, clientX, clientY}) => {
				if (pointerType === "touch") return
				this.point =
					type === "pointermove" && !buttons && !target.closest(".heads, .corner")
						? [clientX, clientY]
						: null
				this.looking ??= requestAnimationFrame(() => {
					this.looking = null
					this.hover(this.point && this.pair ? this.cellAt(...this.point) : null)
				})
			},
		)
	}

	// Mark row, column and words of the cell under a mouse; for a word, row or column is null. Cursor
	// and focus stay, and no cell is drawn; `told()` hears of it.
	hover(place) {
		if (String(place) === String(this.hovered)) return
		this.hovered = place
		const [i, j] = place ?? [null, null]
		const [x, y] = this.corners(i ?? 0, j ?? 0)
		set(this.hoverRow, {y, class: i === null ? "off" : "hover"})
		set(this.hoverColumn, {x, class: j === null ? "off" : "hover"})
		this.words()
		this.told?.()
	}

	// The cell under the mouse, or null.
	get pointed() {
		return this.hovered?.includes(null) ? null : this.hovered
	}

	// Show a pair, or the same in another size; `rtl` and `sourceRtl` say which sides run from right
	// to left.
	load(pair, rtl, sourceRtl) {
		Object.assign(this, {pair, rtl, here: null, hovered: null})
		const narrow = matchMedia("(max-width: 560px)").matches
		const large = narrow || matchMedia("(pointer: coarse)").matches // for a finger
		this.limit = narrow ? 9 : 14 // graphemes of a head
		const sides = [rtl, sourceRtl].filter(Boolean).length
		set(this.stage, {"data-sides": ["", "mixed", "rtl"][sides]})
		set(this.grid, {"aria-rowcount": pair.n + 1, "aria-colcount": pair.m + 1})
		this.#measure(large ? 28 : 18)
		this.heads(sourceRtl)
		this.#layers()
		this.rows = Array.from({length: pair.n + 1}, (_, i) => svg("g", {"aria-rowindex": i + 1}))
		this.body.replaceChildren(...this.rows)
		this.cells.clear()
		this.root.scrollLeft = rtl ? 1e6 : 0
		this.root.scrollTop = 0
		this.scrolled(true)
	}

	#measure(least) {
		const {
			limit,
			root,
			rtl,
			pair: {n, m, source, target},
		} = this
		const font = `700 13px ${getComputedStyle(root).fontFamily}`
		const widest = words => min(170, max(12, ...words.map(word => widthOf(cut(word, limit), font))))
		const turn = (SLANT * Math.PI) / 180
		const top = widest(target)
		const high = ceil(top * Math.sin(turn)) + 22
		const side = ceil(widest(source)) + 34
		const fit = [
			(root.clientWidth - side - GAP - 2 * PAD - 2) / (m + 1),
			(root.clientHeight - high - GAP - 2 * PAD - 16) / (n + 1),
		].map(floor)
		const fits = min(...fit)
		const size = max(least, min(34, fits))
		const upright = top <= size - 3
		const over = upright || rtl ? 0 : max(0, ceil(top * Math.cos(turn)) - size - GAP)
		// Heads that lean to the left need room beside the first columns.
		const lean =
			rtl && !upright
				? target.map(
						(word, j) =>
							ceil(widthOf(cut(word, limit), font) * Math.cos(turn)) - (m - 1 - j) * size,
					)
				: []
		Object.assign(this, {size, side, upright, top: upright ? 36 : high, left: max(PAD, ...lean)})
		const width = (m + 1) * size + GAP + PAD + this.left + over
		const height = (n + 1) * size + GAP + 2 * PAD
		set(this.grid, {width, height})
		set(this.tops, {width, height: this.top})
		set(this.sides, {width: side, height})
		this.corner.style.setProperty("width", `${side}px`)
		this.corner.style.setProperty("height", `${this.top}px`)
	}

	// The column as seen of a target word, and back.
	seen(j) {
		return this.rtl && j < this.pair.m ? this.pair.m - 1 - j : j
	}

	// The upper left corner of a cell.
	corners(i, j) {
		const {
			size,
			pair: {n, m},
		} = this
		return [
			this.left + this.seen(j) * size + (j === m ? GAP : 0),
			PAD + i * size + (i === n ? GAP : 0),
		]
	}

	heads(sourceRtl) {
		const {pair, side, top, rtl, upright} = this
		const half = this.size / 2
		const head = (word, attributes, right, ring) => ({
			text: svg(
				"text",
				{...attributes, direction: right ? "rtl" : null},
				cut(word, this.limit),
				svg("title", {}, word),
			),
			ring: svg("circle", {...ring, r: 2.4}),
		})
		this.rowHeads = pair.source.map((word, i) => {
			const cy = this.corners(i, 0)[1] + half
			return head(
				word,
				{x: side - 18, y: cy + 4.5, "text-anchor": sourceRtl ? "start" : "end", "data-row": i},
				sourceRtl,
				{cx: side - 8, cy},
			)
		})
		this.columnHeads = pair.target.map((word, j) => {
			const cx = this.corners(0, j)[0] + half
			const place = {"data-column": j, y: top - 14, x: cx, "text-anchor": "middle", transform: null}
			if (!upright) {
				place.x += rtl ? -2 : 2
				place["text-anchor"] = "start"
				place.transform = `rotate(${rtl ? SLANT : -SLANT} ${cx} ${top - 16})`
			}
			return head(word, place, rtl, {cx, cy: top - 6})
		})
		const [nx, ny] = this.corners(pair.n, pair.m)
		const all = heads => heads.flatMap(({text, ring}) => [text, ring])
		const sign = (x, y) =>
			svg(
				"text",
				{x, y, class: "sign", "text-anchor": "middle"},
				"∅",
				svg("title", {}, "no partner: an explicit null"),
			)
		this.sides.replaceChildren(...all(this.rowHeads), sign(side - 22, ny + half + 4.5))
		this.tops.replaceChildren(...all(this.columnHeads), sign(nx + half, top - 8))
	}

	#layers() {
		const {
			size,
			left,
			pair: {n, m},
		} = this
		const right = left + m * size
		const bottom = PAD + n * size
		const [nx, ny] = this.corners(n, m)
		const lines = ["", ""]
		for (let c = 1; c < m; c++)
			lines[this.seen(c - (this.rtl ? 1 : 0)) % 5 ? 0 : 1] +=
				`M${left + c * size} ${PAD}V${bottom}M${left + c * size} ${ny}v${size}`
		for (let r = 1; r < n; r++)
			lines[r % 5 ? 0 : 1] += `M${left} ${PAD + r * size}H${right}M${nx} ${PAD + r * size}h${size}`
		const frame = [
			`M${left} ${PAD}H${right}V${bottom}H${left}Z`,
			`M${nx} ${PAD}h${size}V${bottom}h${-size}Z`,
			`M${left} ${ny}H${right}v${size}H${left}Z`,
		].join("")
		this.rowBand = svg("rect", {x: left, width: m * size, height: size})
		this.columnBand = svg("rect", {y: PAD, width: size, height: n * size})
		this.hoverRow = svg("rect", {x: left, width: nx + size - left, height: size, class: "off"})
		this.hoverColumn = svg("rect", {y: PAD, width: size, height: ny + size - PAD, class: "off"})
		this.cursor = svg("rect", {class: "cursor", width: size, height: size, rx: 4})
		this.word = svg("rect", {class: "off", rx: 5})
		this.written = svg("g", {class: "signs"})
		;[
			this.ground,
			this.notes,
			this.composites,
			this.phrases,
			this.phrase,
			this.box,
			this.culprits,
		] = ["ground", "note", "phrase composite", "phrase all", "phrase", "box", "culprits"].map(path)
		const [paper, thin, thick] = [
			["paper", frame],
			["thin", lines[0]],
			["thick", lines[1] + frame],
		].map(([kind, d]) => set(path(kind), {d}))
		this.back.replaceChildren(
			paper,
			this.rowBand,
			this.columnBand,
			this.hoverRow,
			this.hoverColumn,
			this.ground,
			thin,
			thick,
		)
		this.front.replaceChildren(
			this.notes,
			this.composites,
			this.phrases,
			this.phrase,
			this.box,
			this.culprits,
			this.written,
			this.word,
			this.cursor,
		)
	}

	// The window on the cells: rows and columns as seen; drawn anew where it has moved.
	scrolled(all) {
		if (!this.pair) return
		this.hover(null)
		const {
			root,
			size,
			pair: {n, m},
		} = this
		const span = (from, room, most) => {
			const first = max(0, floor(from / size) - MARGIN)
			return [first, min(most, first + ceil(room / size) + 2 * MARGIN)]
		}
		this.view = [
			root.scrollLeft,
			root.scrollTop,
			root.clientWidth - this.side,
			root.clientHeight - this.top,
		]
		const range = [
			...span(this.view[1], this.view[3], n),
			...span(this.view[0] - this.left, this.view[2], m),
		]
		if (!all && String(this.range) === String(range)) return
		this.range = range
		for (const index of [...this.cells.keys()]) if (!this.#inView(index)) this.drop(index)
		for (const index of this.#window()) if (!this.cells.has(index)) this.draw(index)
	}

	// The indices in view.
	#window() {
		const cells = this.pair.inside(this.range)
		const {wide} = this.pair
		return this.rtl ? cells.map(index => index - (index % wide) + this.seen(index % wide)) : cells
	}

	#inView(index) {
		const [i, j] = this.pair.place(index)
		const [top, bottom, left, right] = this.range
		const c = this.seen(j)
		return i >= top && i <= bottom && c >= left && c <= right
	}

	// Draw the cells that changed, or all.
	update(touched) {
		for (const index of touched || new Set([...this.cells.keys(), ...this.#window()]))
			if (this.#inView(index)) this.draw(index)
		this.words()
		const cells = [...this.pair.comments.keys()].map(cellOf).filter(Boolean)
		draw(
			this.notes,
			cells
				.map(cell => shapes(this.size).note(...this.corners(...this.pair.spot(...cell))))
				.join(""),
		)
	}

	draw(index) {
		const mark = markOf(this.pair, index, this.size, this.shown)
		const [i, j] = this.pair.place(index)
		const here = this.here?.index === index ? this.here.element : null
		if (here) here.setAttribute("aria-label", this.here.label ?? cellLabel(this.pair, index))
		if (!mark) return this.drop(index)
		let cell = this.cells.get(index)
		if (!cell) {
			cell = svg("path", {
				role: "gridcell",
				"aria-colindex": j + 1,
				transform: `translate(${this.corners(i, j)})`,
				"data-i": i,
				"data-j": j,
			})
			this.cells.set(index, cell)
			this.join(i, cell, j)
		}
		set(cell, {
			class: `mark ${mark[0]}`,
			d: mark[1],
			fill: mark[0] === "possible" ? "url(#hatch)" : null,
			"aria-label": cellLabel(this.pair, index),
			"aria-hidden": here && true,
		})
	}

	// Put a cell into its row, in the order of columns; at the ends at once.
	join(i, cell, j) {
		const row = this.rows[i]
		const column = one => one?.getAttribute("data-j")
		let next = row.firstChild
		if (column(next) < j) {
			next = null
			for (let one = row.lastChild; column(one) > j; one = one.previousSibling) next = one
		}
		row.setAttribute("role", "row")
		row.insertBefore(cell, next)
	}

	leave(cell) {
		const row = cell.parentNode
		cell.remove()
		if (row && !row.firstChild) row.removeAttribute("role")
	}

	drop(index) {
		if (this.cells.has(index)) this.leave(this.cells.get(index))
		this.cells.delete(index)
	}

	bare(side, at) {
		return this.pair.unaligned(side, at)
	}

	// Mark the words that are unaligned, those of the cursor, and those under the mouse.
	words() {
		const mark = (heads, side, here, near) =>
			heads.forEach((head, at) => {
				const bare = this.headMark?.(side, at) ?? (this.bare(side, at) ? "bare" : "")
				const state = bare + (at === here ? " on" : "") + (at === near ? " near" : "")
				if (head.state === state) return
				head.state = state
				head.text.setAttribute("class", state)
				head.ring.setAttribute("class", bare)
			})
		const [i, j] = this.at || []
		const [row, column] = this.hovered || []
		mark(this.rowHeads, "source", i, row)
		mark(this.columnHeads, "target", j, column)
	}

	// Put the cursor on a cell: a new element takes its place in the tree, and the focus with it.
	// Where that was done by pointer, or nothing moved, the view stays: what is under the pointer
	// shall remain there.
	// With `calm` nothing is marked: no word is framed, and no cell is meant.
	place([i, j], focus, still, {cell = true, label = null, calm = false} = {}) {
		const {size, pair, here: old, cells} = this
		const index = pair.index([i, j])
		const [x, y] = this.corners(i, j)
		if (!still || !old) this.#reveal(x, y)
		this.at = calm ? null : [i, j]
		set(this.cursor, {x, y, class: cell ? "cursor" : "off"})
		set(this.rowBand, {y, class: i < pair.n && !calm ? "band" : "off"})
		set(this.columnBand, {x, class: j < pair.m && !calm ? "band" : "off"})
		this.words()
		const element = svg("rect", {
			role: "gridcell",
			tabindex: 0,
			class: "here",
			x,
			y,
			width: size,
			height: size,
			"aria-colindex": j + 1,
			"aria-label": label ?? cellLabel(pair, index),
			"data-i": i,
			"data-j": j,
		})
		this.here = {element, index, label}
		this.join(i, element, j)
		if (focus || (old && document.activeElement === old.element)) this.focus()
		if (old) {
			cells.get(old.index)?.removeAttribute("aria-hidden")
			this.leave(old.element)
		}
		cells.get(index)?.setAttribute("aria-hidden", "true")
		this.grid.setAttribute("data-cursor", `${i},${j}`)
	}

	// Frame the row or the column of the word one is at; null: of none.
	frame(word) {
		const {size, left, pair} = this
		if (!word) return set(this.word, {class: "off"})
		const row = word.side === "source"
		const [x, y] = row ? this.corners(word.at, 0) : this.corners(0, word.at)
		set(this.word, {
			x: row ? left : x,
			y,
			width: row ? pair.m * size : size,
			height: row ? size : pair.n * size,
			class: word.settled ? "word settled" : "word",
		})
	}

	// Write signs into cells: [place, sign, kind].
	signs(signs) {
		const half = this.size / 2
		this.written.replaceChildren(
			...signs.map(([place, sign, kind]) => {
				const [x, y] = this.corners(...place)
				return svg(
					"text",
					{x: x + half, y: y + half + 4, class: kind, "text-anchor": "middle"},
					sign,
				)
			}),
		)
	}

	focus() {
		this.here?.element.focus({preventScroll: true})
	}

	// Scroll so that a cell stands clear of the headers and edges.
	#reveal(x, y) {
		const {size, root} = this
		const [left, top, width, height] = this.view
		const fit = (from, at, room) => {
			const keep = max(PAD, min(2 * size, (room - size) / 3))
			return max(min(from, at - keep), at + size + keep - room, 0)
		}
		const to = [fit(left, x, width), fit(top, y, height)]
		if (to[0] === left && to[1] === top) return
		;[root.scrollLeft, root.scrollTop] = to
		this.scrolled()
	}

	// Outline the selected box: `kind` is "", "phrase" or "blocked"; and ring its blockers.
	select(box, kind, blockers) {
		const d = this.outlines(box ? [box] : [], -1)
		const half = this.size / 2
		set(this.box, {d, class: `box ${kind}`})
		set(this.ground, {d, class: `ground ${kind}`})
		draw(
			this.culprits,
			blockers
				.map(place => this.corners(...place))
				.map(([x, y]) => circle(x + half, y + half, this.size * 0.6))
				.join(""),
		)
		set(this.grid, {"data-box": box && String(box), "data-box-kind": box && (kind || "plain")})
	}

	// Outline the phrase of the cursor, all atomic ones and composite ones.
	outline(current, all, composites) {
		draw(this.phrase, this.outlines(current ? [current] : [], -0.5))
		draw(this.phrases, this.outlines(all, 0.5))
		draw(this.composites, this.outlines(composites, 2))
	}

	outlines(boxes, inset) {
		return boxes
			.map(([top, bottom, left, right]) => {
				const [a, b] = [
					this.corners(top, this.rtl ? right : left),
					this.corners(bottom, this.rtl ? left : right),
				]
				return rounded(
					a[0] + inset,
					a[1] + inset,
					b[0] + this.size - inset,
					b[1] + this.size - inset,
					4,
				)
			})
			.join("")
	}

	// The cell under a point of the window, or null; `near` takes the nearest word instead.
	cellAt(clientX, clientY, near) {
		const at = this.grid.getBoundingClientRect()
		const {
			size,
			pair: {n, m},
		} = this
		const along = (value, count) => {
			if (near) return max(0, min(count - 1, floor(value / size)))
			const past = value - count * size // pixels into the gap and the nulls behind it
			if (past < 0) return floor(value / size)
			return past >= GAP && past < GAP + size ? count : -1
		}
		const i = along(clientY - at.top - PAD, n)
		const c = along(clientX - at.left - this.left, m)
		return i < 0 || c < 0 || (i === n && c === m) ? null : [i, this.seen(c)]
	}
}
