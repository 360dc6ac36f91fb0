// The page on which pairs are taken from two texts: a span of each, by keyboard or mouse.
import {$, announce, button, html, item, on, say, set} from "./dom.js"
import {freeKey, inOrder} from "./made.js"
import {SHARED, Sheet, start} from "./sheet.js"
import {charactersOf, linesOf, sentenceAt, textOf, unitsIn} from "./spans.js"

const SIDES = ["source", "target"]
const KEYS = {
	Moves: [
		["Arrow", "move", "move one word, or one line", "←→↑↓"],
		["C-Arrow", "sentence-step", "move one sentence", "Ctrl+←→"],
		["t", "other", "go to the other text (or Tab)"],
		["j", "pair 1", "go to the next pair"],
		["k", "pair -1", "go to the previous pair"],
	],
	Pairs: [
		["S-Arrow", "extend", "select a span", "Shift+←→↑↓"],
		["C-S-Arrow", "sentence-extend", "select to the end or start of the sentence", "Ctrl+Shift+←→"],
		["s", "sentence", "select the sentence; again: the next one too"],
		["Enter", "take", "save the selected spans as a pair; with one span: go to the other text"],
		["e", "edit", "select the pair at the cursor again; Enter saves it"],
		["x Delete Backspace", "drop", "remove the pair at the cursor", "x"],
		["Escape", "escape", "clear the selection", "Esc"],
	],
	...SHARED,
}

class Extract extends Sheet {
	constructor(wire) {
		super(wire, KEYS, "document")
		for (const side of SIDES) {
			const part = $(side)
			on(part, "focus", () => {
				if (this.side !== side) this.go(side, this.at[side])
			})
			on(part, "pointerdown", event => this.down(event, side))
			on(part, "pointermove", event => this.dragged(event, side))
			on(part, "dblclick", () => this.do_sentence())
			on(part, "click", event => {
				if (event.pointerType === "touch") this.tapped(event, side)
			})
		}
		on(window, "pointerup pointercancel", () => {
			this.dragging = null
		})
	}

	focus() {
		$(this.side || "source").focus({preventScroll: true})
	}

	opened() {
		const {doc} = this
		const {attributes} = doc
		Object.assign(this, {
			units: {},
			marks: {},
			spans: {},
			at: {source: 0, target: 0},
			marked: {source: null, target: null},
			anchor: null,
			side: "source",
			editing: null,
		})
		for (const side of SIDES) {
			const language = attributes[`${side}_language`]
			const lines = linesOf(attributes[`${side}_text`] || doc[side].join(" "), language)
			this.units[side] = lines.flat()
			let at = 0
			const spans = []
			$(side).replaceChildren(
				...lines.map(units =>
					html(
						"p",
						{},
						...units.map(({text}) => {
							const span = html("span", {"data-at": at++}, text)
							spans.push(span)
							return span
						}),
					),
				),
			)
			set($(side), {dir: doc.direction?.[side] || "auto", lang: language}).scrollTop = 0
			this.spans[side] = spans
			this.marks[side] = spans.map(() => "")
			say(`${side}-name`, attributes[`${side}_document`] || "")
		}
	}

	draw() {
		super.draw()
		const keys = inOrder(this.pair.extracts)
		const current = this.current()
		for (const side of SIDES) {
			const marks = this.units[side].map(() => "")
			const paint = ([first, last], mark) => {
				for (let at = first; at <= last; at++)
					if (!marks[at].includes(mark)) marks[at] += ` ${mark}`
			}
			for (const key of keys) paint(this.range(key, side), "taken")
			if (current) paint(this.range(current, side), "current")
			if (this.marked[side]) paint(this.marked[side], "marked")
			if (marks.length) marks[this.at[side]] += side === this.side ? " here" : " there"
			marks.forEach((mark, at) => {
				if (mark !== this.marks[side][at]) this.spans[side][at].className = mark
			})
			this.marks[side] = marks
		}
		say("taken-count", `Pairs: ${keys.length}`)
		$("taken-list").replaceChildren(
			...keys.map(key =>
				item(
					button(
						() => this.show(key),
						key === current ? "current" : "",
						html("span", {dir: "auto"}, this.words(key, "source")),
						html("span", {dir: "auto"}, this.words(key, "target")),
					),
					set(
						button(() => this.drop(key), "plain", "×"),
						{"aria-label": `Remove pair ${key.slice(1)}`},
					),
				),
			),
		)
		$("take").disabled = !SIDES.every(side => this.marked[side])
	}

	range(key, side) {
		const spans = this.pair.extracts.get(key)
		return unitsIn(this.units[side], ...(side === "source" ? spans.slice(0, 2) : spans.slice(2)))
	}

	text(side, [first, last]) {
		return textOf(this.units[side].slice(first, last + 1))
	}

	words(key, side) {
		const text = this.text(side, this.range(key, side))
		return text.length > 90 ? `${text.slice(0, 60)} … ${text.slice(-25)}` : text
	}

	// The pair at the cursor; of several the smallest.
	current() {
		const {side, at} = this
		const size = key => this.range(key, side).reduce((a, b) => b - a)
		const found = inOrder(this.pair.extracts).filter(key => {
			const [first, last] = this.range(key, side)
			return first <= at[side] && at[side] <= last
		})
		return found.sort((a, b) => size(a) - size(b))[0]
	}

	// Put the cursor on a word; with `extend` what is marked reaches from where that began to there.
	go(side, at, extend = false) {
		const last = this.units[side].length - 1
		const place = Math.max(0, Math.min(last, at))
		if (extend) {
			if (this.anchor?.side !== side || !this.marked[side]) this.anchor = {side, at: this.at[side]}
			this.marked[side] = [Math.min(this.anchor.at, place), Math.max(this.anchor.at, place)]
		} else this.anchor = null
		this.side = side
		this.at[side] = place
		this.note = ""
		this.draw()
		this.spans[side][place]?.scrollIntoView({block: "nearest"})
		if (document.activeElement !== $(side)) this.focus()
		announce(
			extend ? this.text(side, this.marked[side]).slice(-200) : this.units[side][place]?.text || "",
		)
	}

	// Where a key leads, as seen: left and right by words, up and down by lines.
	reach({key}) {
		const {side} = this
		const spans = this.spans[side]
		const at = this.at[side]
		const way = key.replace("Arrow", "")
		const rtl = $(side).dir === "rtl"
		const step = way === "Right" || way === "Down" ? 1 : -1
		if (way === "Left" || way === "Right") return at + (rtl ? -step : step)
		const box = one => one.getBoundingClientRect()
		const here = box(spans[at])
		const x = (here.left + here.right) / 2
		let best = at
		let least = Infinity
		let line = null
		for (let next = at + step; spans[next]; next += step) {
			const {left, right, top, height} = box(spans[next])
			if (Math.abs(top - here.top) < height / 2) continue
			if (line !== null && Math.abs(top - line) > height / 2) break
			line = top
			const far = Math.abs((left + right) / 2 - x)
			if (far < least) [best, least] = [next, far]
		}
		return best
	}

	// The first word of the next sentence, with Shift the last of this or the next; backwards the
	// first of this or the one before.
	sentenceReach({key, shiftKey}) {
		const {side} = this
		const units = this.units[side]
		const at = this.at[side]
		const back = /Left|Up/.test(key) !== ($(side).dir === "rtl" && /Left|Right/.test(key))
		const [first, last] = sentenceAt(units, at)
		if (!back) {
			if (shiftKey && at < last) return last
			const after = Math.min(last + 1, units.length - 1)
			return shiftKey ? sentenceAt(units, after)[1] : after
		}
		if (at > first) return first
		return first ? sentenceAt(units, first - 1)[0] : 0
	}

	down(event, side) {
		const at = event.target.dataset.at
		if (at === undefined || event.pointerType === "touch" || event.button) return
		if (event.shiftKey) event.preventDefault()
		else this.marked[side] = null
		this.go(side, Number(at), event.shiftKey)
		this.dragging = side
	}

	dragged(event, side) {
		const at = document
			.elementFromPoint(event.clientX, event.clientY)
			?.closest(`#${side} [data-at]`)?.dataset.at
		if (this.dragging === side && at !== undefined && Number(at) !== this.at[side])
			this.go(side, Number(at), true)
	}

	// A finger marks a word; on another word it marks up to there.
	tapped({target}, side) {
		const at = Number(target.dataset.at ?? NaN)
		const marked = this.marked[side]
		if (Number.isNaN(at)) return
		const [first, last] =
			marked && !(marked[0] <= at && at <= marked[1])
				? [Math.min(marked[0], at), Math.max(marked[1], at)]
				: [at, at]
		this.go(side, at)
		this.mark(side, [first, last])
	}

	mark(side, range) {
		this.marked[side] = range
		this.anchor = range && {side, at: range[0]}
		this.draw()
		if (range) announce(`marked: ${this.text(side, range)}`)
	}

	show(key) {
		for (const side of SIDES) {
			this.at[side] = this.range(key, side)[0]
			this.spans[side][this.at[side]]?.scrollIntoView({block: "nearest"})
		}
		this.go(this.side, this.at[this.side])
		announce(`pair ${key.slice(1)}: ${this.words(key, "source")}; ${this.words(key, "target")}`)
	}

	put(key, spans, text) {
		this.commit("extract", {extracts: [[key, this.pair.extracts.get(key) ?? null, spans]]}, text)
	}

	drop(key) {
		this.put(key, null)
		this.focus()
	}

	ready() {
		return true
	}

	works() {
		return {...super.works(), marked: SIDES.every(side => this.marked[side])}
	}

	// What keys and buttons do.

	do_move = event => this.go(this.side, this.reach(event))
	do_extend = event => this.go(this.side, this.reach(event), true)
	do_sentence_step = event => this.go(this.side, this.sentenceReach(event))
	do_sentence_extend = event => this.go(this.side, this.sentenceReach(event), true)

	do_sentence() {
		const {side, marked} = this
		const units = this.units[side]
		const held = marked[side]
		let [first, last] = sentenceAt(units, this.at[side])
		if (held && held[0] <= first && held[1] >= last) {
			first = held[0]
			last = sentenceAt(units, Math.min(held[1] + 1, units.length - 1))[1]
		}
		this.at[side] = last
		this.mark(side, [first, last])
		this.spans[side][last].scrollIntoView({block: "nearest"})
	}

	do_other() {
		const side = this.side === "source" ? "target" : "source"
		this.go(side, this.at[side])
	}

	do_pair(step) {
		const keys = inOrder(this.pair.extracts)
		const at = keys.indexOf(this.current())
		const end = step > 0 ? 0 : keys.length - 1
		const next = keys[at < 0 ? end : (at + Number(step) + keys.length) % keys.length]
		if (next) this.show(next)
		else this.say("no pair is here yet")
	}

	do_take() {
		const {marked, side, units} = this
		const open = SIDES.filter(one => !marked[one])
		if (open.length === 2)
			return this.say("select a span first: Shift and the arrows, or s for the sentence")
		if (open.length) {
			if (open[0] !== side) this.do_other()
			return this.say(`now select a span of the ${open[0]}`)
		}
		const spans = SIDES.flatMap(one => charactersOf(units[one], marked[one]))
		const key = this.editing || freeKey("x", this.pair.extracts)
		const twin = inOrder(this.pair.extracts).find(
			other => other !== key && String(this.pair.extracts.get(other)) === String(spans),
		)
		if (twin) return this.say(`this is pair ${twin.slice(1)} already`)
		Object.assign(this, {
			marked: {source: null, target: null},
			anchor: null,
			editing: null,
			side: "source",
		})
		this.put(key, spans)
		this.focus()
	}

	do_edit() {
		const key = this.current()
		if (!key) return this.say("no pair is here; j goes to one")
		for (const side of SIDES) this.marked[side] = this.range(key, side)
		this.editing = key
		this.say(`pair ${key.slice(1)}: select it again, Enter saves it`)
		this.draw()
	}

	do_drop() {
		const key = this.current()
		if (key) this.drop(key)
		else this.say("no pair is here; j goes to one")
	}

	do_escape() {
		Object.assign(this, {marked: {source: null, target: null}, anchor: null, editing: null})
		this.draw()
		this.focus()
	}

	do_toggle_done() {
		const {pair} = this
		const {size} = pair.extracts
		let told = size ? "done" : "done, without a pair"
		if (pair.done) told = "no longer done"
		this.commit("done", {before: pair.done, after: !pair.done}, told)
	}
}

start(wire => new Extract(wire))
