// The page: an open pair, the cursor, and all that is shown of them.
import {$, announce, html, key, say} from "./dom.js"
import {actions} from "./actions.js"
import {Band} from "./band.js"
import {asked, pairs as toDo} from "./beginning.js"
import {Curves} from "./curves.js"
import {actionOf, typing} from "./keyboard.js"
import {ACTIONS} from "./keys.js"
import {wordMarks} from "./marks.js"
import {matters} from "./matters.js"
import {Matrix} from "./matrix.js"
import {arrive, begin, Page} from "./page.js"
import {Panel} from "./panel.js"
import {atomic, blockers, closure, composite} from "./phrases.js"
import {onMatrix} from "./pointer.js"
import {dismiss, question} from "./question.js"
import {Session} from "./session.js"
import {doubtful, likeliest} from "./suggest.js"
import {cellName, cellState, describe, keyName, NAMES, plural, spanName} from "./words.js"

const MOST_COMPOSITES = 300
const ENOUGH = 3
const SIDES = ["source", "target"]
const MAIN = ["sure", "possible", "none", "cycle", "undo", "done"]
const focused = () => document.activeElement?.closest("#matrix, #sentences")

// Where the cursor goes for a word: to its first link or its null, else to its likeliest cell.
function home(pair, side, at) {
	const first = side ? pair.columns[3 * at] : pair.rows[3 * at]
	if (first >= 0) return side ? [first, at] : [at, first]
	const none = side ? [pair.n, at] : [at, pair.m]
	if (pair.values[pair.index(none)]) return none
	return pair.place(likeliest(pair, SIDES[side], at))
}

class App extends Page {
	constructor(wire) {
		super(wire)
		Object.assign(this, {
			level: 0,
			finished: new Set(),
			shown: true,
			asking: Promise.resolve(),
			shelf: `${wire.project.key} ${wire.project.annotator}`,
		})
		this.matrix = new Matrix($("matrix"))
		this.word = null // the chosen one, as [0 for source or 1 for target, place]
		this.band = new Band(
			$("sentences"),
			{
				hover: word => this.#hover(word),
				pick: (side, at) => this.pick(side, at),
			},
			new Curves($("sentences").querySelector("svg")),
		)
		this.act = actions(this)
		this.panel = new Panel(this)
		const pointer = {
			...this.act,
			blocking: () => $("block").ariaPressed === "true",
			preview: (from, to) =>
				from ? this.matrix.select(this.spanned(from, to), "", []) : this.outline(),
			word: (side, at) => this.go(home(this.pair, side, at), true),
		}
		this.matrix.told = () => {
			if (!this.pair) return
			this.#mark()
			this.#status()
		}
		onMatrix(this.matrix, pointer)
	}

	get index() {
		return this.pair.index(this.cursor)
	}

	pressed(event) {
		const within = event.target.closest("#matrix, #sentences")
		const action = actionOf(event, ACTIONS)
		if (!action || !this.pair || document.querySelector("dialog[open]")) return
		if (action === "escape" && this.band.open) return this.band.close()
		if (!within && action === "escape") this.matrix.focus()
		if (!within || typing(event.target)) return
		event.preventDefault()
		this.band.hovered = null // the keys have a cursor of their own
		this.matrix.hover(null)
		this.learned(action)
		this.run(action, event.key)
	}

	// Remember which of the main keys were used. They are shown until each was, or some pairs are
	// done.
	learned(action) {
		const used = JSON.parse(localStorage.getItem(`${this.shelf} keys`) || "[]")
		const left = MAIN.filter(name => !used.includes(name))
		if (left.includes(action))
			localStorage.setItem(`${this.shelf} keys`, JSON.stringify([...used, action]))
		return !left.length || this.done >= ENOUGH
	}

	run(action, keyName) {
		if (this.pair) (this.act[action] || this.act.jump)(keyName, action)
	}

	async turnTo(k, keep, turn) {
		this.panel.keep()
		const doc = await this.fetched(k, keep, turn)
		if (!doc) return
		dismiss()
		this.leave()
		Object.assign(this, {
			doc,
			cursor: [0, 0],
			box: null,
			anchor: null,
			note: "",
			novice: !this.learned(),
		})
		this.use(new Session(doc, this.wire))
		const {pair} = this
		const first = pair.hints.cells.find(index => doubtful(pair, index))
		this.open()
		if (first !== undefined) this.cursor = pair.place(first)
		this.lay()
		this.tally(doc)
		this.#title()
		this.matrix.focus()
		const words = `${pair.n} source and ${pair.m} target words`
		const links = plural(pair.links(), "link")
		announce(`${doc.id}, ${doc.place} of ${doc.pairs}: ${words}, ${links}`)
		document.body.dataset.pair = doc.k
		for (const next of new Set([doc.next_open, doc.next])) if (next) this.wire.prefetch(next)
		this.#elsewhere()
		this.#ask()
	}

	// Write down what the page alone knows: a comment that is being typed, links that were looked at.
	leave() {
		this.panel.keep()
		if (this.session?.seen.size) this.open()
	}

	back(kind) {
		return this.act.back(kind)
	}

	// On to the next open pair, as the server now has it: what was fetched before does not know what
	// is done since.
	async onward(turn) {
		const {
			doc,
			doc: {next_open: to, next},
		} = this
		const fresh = await this.fresh(doc)
		if (turn !== this.turn) return
		if (!fresh) return this.load([to, next].find(k => k && !this.finished.has(k)))
		this.tally(fresh)
		if (fresh.next_open) return this.load(fresh.next_open)
		this.#title()
		this.act.finished(`all ${doc.pairs} pairs are done`)
	}

	open() {
		const {shown, set} = this.pair.hints
		this.session.commit("open", {rev: this.doc.rev, suggestions: shown && !!set, set})
	}

	use(session) {
		this.session = session
		this.pair.hints.shown = this.shown
	}

	#title() {
		this.heading(this.done, this.doc.pairs)
	}

	// Size and draw all of it anew.
	lay() {
		this.doc.direction ||= {}
		const {source, target} = this.doc.direction
		const within = focused()
		this.word = null
		this.panel.keys() // the footer has its height before the matrix is measured
		this.band.load(
			this.pair,
			[source, target],
			[this.doc.source_language, this.doc.target_language],
		)
		this.rtl = target === "rtl"
		this.matrix.load(this.pair, this.rtl, source === "rtl")
		this.redraw()
		if (within) this.matrix.focus() // its element was made anew
	}

	redraw() {
		this.matrix.pair = this.pair
		this.matrix.update()
		this.moved(focused(), true)
		this.outline()
	}

	go(place, focus, still) {
		Object.assign(this, {cursor: place, box: null, anchor: null, note: "", word: null})
		this.moved(focus, still)
		this.outline()
	}

	// The cursor's cell with the word of one side exchanged.
	to(side, at) {
		return side ? [this.cursor[0], at] : [at, this.cursor[1]]
	}

	// A click on a word chooses it: the cursor goes to its first link, else to its likeliest cell. A
	// click on a word of the other sentence then is a click on their cell.
	pick(side, at) {
		const {word: chosen, pair} = this
		this.band.close()
		if (chosen && chosen[0] !== side) return this.act.cycle(this.to(side, at))
		this.picked = side
		if (String(chosen) === String([side, at])) this.go(this.cursor, true)
		else {
			this.go(home(pair, side, at), true)
			this.word = [side, at]
			const text = pair[SIDES[side]][at]
			this.say(`${text} is chosen: click a word of the other sentence to link the two`)
		}
		this.picked = null
	}

	moved(focus = focused(), still) {
		if (this.session.look(this.index)) this.matrix.update([this.index])
		this.matrix.place(this.cursor, focus, still)
		this.band.follow(this.cursor, this.picked)
	}

	// Mark the words of the band, and draw its curves.
	#mark() {
		const {pair, cursor, word: chosen, band, matrix} = this
		const {hovered} = band
		band.mark(wordMarks(pair, {cursor, chosen, word: hovered, cell: matrix.pointed}))
		const words = [...cursor.entries()]
		if (hovered) words.push(hovered)
		band.curves.draw(pair, cursor, words, this.blocking ?? [])
	}

	// The word of a sentence under the mouse: its row or column is shaded, its partners are marked.
	#hover(word) {
		const place = [null, null]
		if (word) place[word[0]] = word[1]
		this.matrix.hover(word && place)
	}

	// The box with two cells in its corners, without the nulls.
	spanned([a, b], [c, d]) {
		const fit = (x, y, most) => [Math.min(x, y, most), Math.min(Math.max(x, y), most)]
		return [...fit(a, c, this.pair.n - 1), ...fit(b, d, this.pair.m - 1)]
	}

	// What an edit acts on: the box where the cursor is in it, else the cell.
	chosen() {
		const cells = this.box ? this.pair.inside(this.box) : []
		return cells.includes(this.index) ? cells : [this.index]
	}

	// Box, phrases, sentences and status at once; the panel when there is time.
	outline(tell) {
		if (!this.pair) return
		const {
			pair,
			box,
			level,
			matrix,
			cursor: [i, j],
		} = this
		const blocking = box ? blockers(pair, box) : []
		let kind = ""
		if (blocking.length) kind = "blocked"
		else if (box && closure(pair, box)) kind = "phrase"
		const low = pair.rows[3 * i]
		const high = pair.rows[3 * i + 1]
		this.phrase =
			i < pair.n && low >= 0 && j >= low && j <= high ? closure(pair, [i, i, low, high]) : null
		matrix.select(box, kind, blocking)
		matrix.outline(
			this.phrase,
			level ? atomic(pair) : [],
			level > 1 ? composite(pair, MOST_COMPOSITES) : [],
		)
		Object.assign(this, {kind, blocking})
		this.#mark()
		this.#status()
		if (tell) announce($("status-text").textContent)
		this.waiting ??= requestAnimationFrame(() =>
			setTimeout(() => {
				this.waiting = null
				this.panel.draw()
				document.body.dataset.seq = this.pair.seq
			}),
		)
	}

	// What is said of the box or the cursor's cell; where the mouse is on another cell, of that.
	#status() {
		const {
			pair,
			box,
			note,
			kind,
			blocking,
			cursor,
			matrix: {pointed: hovered},
		} = this
		const strong = text => html("strong", {dir: "auto"}, text)
		const [top, bottom, left, right] = box || [cursor[0], cursor[0], cursor[1], cursor[1]]
		const [y, x] = hovered || cursor
		const away = hovered && (y < top || y > bottom || x < left || x > right)
		const place = away ? hovered : cursor
		const parts =
			box && !away
				? [strong(spanName(pair, box))]
				: [strong(cellName(pair, ...place)), ` ${cellState(pair, pair.index(place))}`]
		if (!away && blocking.length) {
			const [i, j] = blocking[0]
			const words = [pair.source[i], pair.target[j]].map(strong)
			if (i < box[0] || i > box[1]) words.reverse()
			parts.push(
				html("b", {class: "bad"}, " not a phrase pair: "),
				words[0],
				" is also linked to ",
				words[1],
				", outside the box. ",
				key("b"),
				" extends the box, ",
				key("o"),
				" goes there.",
			)
		} else if (box && !away)
			parts.push(
				` ${kind ? "phrase pair" : "box"}, ${box[1] - box[0] + 1} × ${box[3] - box[2] + 1}`,
			)
		if (note) parts.push(html("span", {class: "said"}, note))
		$("status-text").replaceChildren(...parts)
	}

	say(text, tell = true) {
		this.note = text
		if (tell) announce(text)
		this.outline()
		say("start-text", text)
	}

	// Send an event and draw what it touched.
	commit(kind, data, told) {
		const {done} = this.pair
		this.word = null
		const touched = this.session.commit(kind, data)
		if (touched) {
			this.matrix.update(touched)
			this.#counted(done)
		}
		this.say(touched ? told : "too many cells for one step: select a smaller box")
		return touched
	}

	// Count the pair where it has become done, or is so no more.
	#counted(before) {
		this.done += this.pair.done - before
		this.finished[this.pair.done ? "add" : "delete"](this.doc.k)
		if (before !== this.pair.done) this.#title()
	}

	// Fold anew, and show what has changed by that.
	folded(fold) {
		const {done} = this.pair
		if (fold() !== false) this.redraw()
		this.#counted(done)
	}

	// Events were not taken: what they write was changed in another tab, or the text was. They are
	// kept until the user has chosen.
	async refused({k, refused: events, rev, old, status, message, moved}) {
		// what is somebody else's now is told, not asked about
		if (events.some(({kind}) => kind !== "open"))
			this.refusals = [
				...this.refusals,
				{k, events, rev: old, status: moved ? 404 : status, message},
			]
		if (this.session?.k !== k) return this.#elsewhere() || this.#ask()
		const {rev: held} = this.pair
		this.folded(() => this.session.refuse(events, old))
		if (moved || (rev && rev !== held)) await this.load(k)
		else this.#ask()
	}

	get refusals() {
		return JSON.parse(localStorage.getItem(this.shelf) || "[]")
	}

	set refusals(refusals) {
		localStorage.setItem(this.shelf, JSON.stringify(refusals))
	}

	#elsewhere() {
		const away = this.refusals.find(({k}) => k !== this.session?.k)
		if (away) this.say(`pair ${away.k}: not saved: ${away.message}; open it`)
	}

	// One matter after the other; what is being asked is asked anew, with what has come since.
	#ask() {
		dismiss()
		this.asking = this.asking.then(() => this.settle()).catch(({message}) => this.say(message))
	}

	async settle() {
		const {doc, matrix} = this
		for (const {ids, text, writes} of doc ? matters(this.refusals, doc.k, this.pair) : []) {
			const here = writes ? this.#versus(writes) : {text, ask: true}
			if (here.ask) this.say(text || `not saved: ${describe(this.pair, writes)}`)
			const keepThis = here.ask ? await question(matrix.here.element, here.text, here.keep) : true
			if (keepThis === undefined || this.doc !== doc) return
			if (keepThis) here.keep()
			this.refusals = this.refusals
				.map(row => ({...row, events: row.events.filter(({id}) => !ids.includes(id))}))
				.filter(({events}) => events.length)
			if (here.ask) matrix.focus()
		}
		if (!this.refusals.length) this.wire.settled()
	}

	// "set possible in your other tab; here sure", and what keeps this. Nothing is asked where
	// nothing stands against it any more.
	#versus(writes) {
		const {pair, act} = this
		const {cells, comments, label, flags, done, kind} = writes
		const parts = []
		const keeps = []
		let ask = !!kind
		const differ = (what, before, held, wanted, keep, more = "") => {
			if (held === wanted) return
			parts.push(`${what}: ${held} in your other tab; here ${wanted}${more}.`)
			keeps.push(keep)
			if (held !== before) ask = true
		}
		const now = ([i, j]) => pair.values[pair.at(i, j)]
		const [first, ...others] = cells.filter(cell => now(cell) !== cell[3])
		if (first) {
			this.go(pair.spot(...first))
			differ(
				cellName(pair, ...first),
				"",
				`set ${NAMES[now(first)]}`,
				NAMES[first[3]],
				() =>
					act.write(
						writes.how || "cell",
						cells.map(([i, j, , value]) => [pair.at(i, j), value]),
					),
				others.length ? `, and ${others.length} more` : "",
			)
		}
		for (const [name, before, after] of comments)
			differ(
				`comment on ${keyName(pair, name)}`,
				`“${before}”`,
				`“${pair.comments.get(name) || ""}”`,
				`“${after}”`,
				() => act.remark(name, after),
			)
		const judged = at => [label ? label[at] : pair.judgment, flags ? flags[at] : pair.flags]
		const spoken = judgment => judgment.flat().join(" ") || "none"
		differ(
			"judgment",
			spoken(judged(0)),
			spoken([pair.judgment, pair.flags]),
			spoken(judged(1)),
			() => act.judge(...judged(1)),
		)
		const state = on => (on ? "done" : "not done")
		if (done) differ("pair", "", state(pair.done), state(done.after), act["toggle-done"])
		return {
			text: (kind ? `${kind} not saved: ` : "") + parts.join(" "),
			ask: ask && parts.length > 0,
			keep: () => {
				for (const keep of keeps) keep()
			},
		}
	}
}

begin(async () => {
	const wire = await arrive(go => {
		$("start-go").hidden = !go
		$("start-go").onclick = go
	})
	const app = new App(wire)
	const pairs = asked() ? [{k: asked()}] : await toDo(wire)
	document.body.dataset.state = "ready"
	await app.load((pairs.find(({done}) => !done) || pairs[0]).k, false)
	if (!app.pair) document.body.dataset.state = "failed"
})
