// The page: an open pair, the cursor, and all that is shown of them.
import {$, announce, html, key, say} from "./dom.js"
import {actions} from "./actions.js"
import {Band} from "./band.js"
import {asked, pairs as toDo} from "./beginning.js"
import {Curves} from "./curves.js"
import {ACTIONS} from "./keys.js"
import {actionOf, digitOf, letterOf, typing, writing} from "./keypress.js"
import {wordMarks} from "./marks.js"
import {matters} from "./matters.js"
import {Matrix} from "./matrix.js"
import {arrive, begin, Page} from "./page.js"
import {Panel} from "./panel.js"
import {atomic, blockers, closure, composite} from "./phrases.js"
import {onMatrix} from "./pointer.js"
import {dismiss, question} from "./question.js"
import {opposite, Route, sideOf} from "./route.js"
import {Session} from "./session.js"
import {likeliest} from "./suggest.js"
import {cellName, cellState, describe, keyName, NAMES, percent, plural, spanName} from "./words.js"

const MOST_COMPOSITES = 300
const FEWEST = 3 // digits that are shown, however unlikely their words are
const LEAST_DIGIT = 0.005 // the likelihood from which on the others are shown
const LIKELY = 0.1 // from here on a digit is marked as likely
const SIDES = ["source", "target"]
const SPOKEN = 5 // candidates that a screen reader says at once
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
			at: null, // the word one is at, of the side that is settled; null where none is framed
			last: 0, // the last of these
			cell: false, // whether keys act on the cell of the cursor, not on the word
			switched: null, // the partner that was added or removed last
			lettering: null, // while words have letters: {own, codes, typed}
			shows: index => this.pair.values[index] > 0 || this.hinted.has(index),
		})
		this.matrix = new Matrix($("matrix"))
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
			word: (side, at) => this.toHead(side, at),
		}
		this.matrix.headMark = (side, at) => this.#head(side, at)
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
		if (this.lettering && within && this.#spelled(event)) return
		const action = actionOf(event, ACTIONS)
		if (!action || !this.pair || document.querySelector("dialog[open]")) return
		if (action === "escape" && this.band.open) return this.band.close()
		if (!within && action === "escape") this.matrix.focus()
		const anywhere = action === "done" && !writing(event.target)
		if (!anywhere && (!within || typing(event.target))) return
		event.preventDefault()
		this.band.hovered = null // the keys have a cursor of their own
		this.matrix.hover(null)
		this.run(action, digitOf(event) || event.key)
	}

	// A letter while words have letters: the one that it names is linked, or gone to. Other keys act
	// as usual.
	#spelled(event) {
		const letter = letterOf(event)
		if (!letter) return false
		event.preventDefault()
		const {own, codes, typed} = this.lettering
		const code = typed + letter
		const at = codes.indexOf(code)
		if (at >= 0) {
			this.lettering = null
			this.act.lettered(own, at, event.shiftKey)
		} else if (codes.some(other => other.startsWith(code))) {
			this.lettering.typed = code
			this.redrawn()
		} else this.say(`no word has the letter ${code}`)
		return true
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
			side: null,
		})
		this.use(new Session(doc, this.wire))
		const {pair, route} = this
		this.open()
		const [first] = route.stops()
		Object.assign(this, {at: first ?? null, last: first ?? 0, cell: false, switched: null})
		this.cursor = this.place(this.last)
		this.lay()
		this.tally(doc)
		this.#title()
		window.scrollTo(0, 0)
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
		this.routed()
	}

	// Make the route through the pair anew. Where too few pairs stand behind the probabilities, each
	// word is to be looked at.
	routed() {
		const {pair, project} = this
		const least = pair.hints.bulk ? 0 : project.doubt
		this.side ??= sideOf(pair, least)
		this.route = new Route(pair, this.side, least)
		this.hinted = this.route.unseen()
		this.linked = null
		this.lettering = null
	}

	// What Done keeps of what nobody looked at: nothing where too few pairs stand behind it.
	kept() {
		return this.pair.hints.bulk ? new Map() : this.hinted
	}

	// Turn to the words of the other side.
	otherSide() {
		this.side = opposite(this.side)
		this.routed()
		const [first] = this.route.stops()
		this.last = first ?? 0
		this.redraw()
		this.toWord(first)
		this.say(`stops at words of the ${this.side}`)
	}

	// The cell of a word that keys of cells act on first.
	place(at) {
		return this.pair.place(this.route.index(at, this.route.home(at)))
	}

	// The pair as Done would store it.
	get whole() {
		const whole = this.pair.copy()
		for (const [index, value] of this.kept()) whole.values[index] = value
		for (let i = 0; i < whole.n; i++) whole.extend("row", i)
		for (let j = 0; j < whole.m; j++) whole.extend("column", j)
		return whole
	}

	wordOf(at) {
		return this.pair[this.side][at]
	}

	// The partners of some links, in words.
	linksOf(links) {
		const {pair, side, route} = this
		const names = [...links].map(([other, value]) => {
			if (other === route.others) return "no partner"
			return pair[opposite(side)][other] + (value === 1 ? " (possible)" : "")
		})
		return names.join(", ") || "no link"
	}

	#title() {
		this.heading(this.done, this.doc.pairs)
	}

	// Size and draw all of it anew.
	lay() {
		this.doc.direction ||= {}
		const {source, target} = this.doc.direction
		const within = focused()
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
		this.#rerouted(new Set())
		this.matrix.pair = this.pair
		this.matrix.update()
		this.moved(focused(), true)
		this.outline()
	}

	go(place, focus, still) {
		Object.assign(this, {cursor: place, box: null, anchor: null, note: ""})
		this.atCell()
		this.moved(focus, still)
		this.outline()
	}

	// Keys act on the cell of the cursor from now on; its word is the one one is at.
	atCell() {
		const [at] = this.route.words(this.cursor)
		this.at = at < this.route.count ? at : null
		Object.assign(this, {cell: true, switched: null, lettering: null, last: this.at ?? this.last})
	}

	// Go to a word of the side that is settled; without one no word is framed: nothing is doubtful.
	toWord(at, focus, still) {
		const here = at ?? null
		const stays = this.cell === false && this.at === here
		Object.assign(this, {box: null, anchor: null, note: "", cell: false})
		Object.assign(this, {at: here, switched: null, lettering: null, last: here ?? this.last})
		if (here !== null && !(stays && still)) this.cursor = this.place(here)
		if (here !== null) this.#look(here)
		this.moved(focus, still)
		this.outline()
		if (here === null) announce(this.ending())
	}

	// The links of a word that were kept unseen are looked at now.
	#look(at) {
		const seen = [...this.route.shown(at).keys()]
			.map(other => this.route.index(at, other))
			.filter(index => this.session.look(index))
		this.matrix.update(seen)
	}

	// Show letters at words: those of the side that is settled, or those of the other one.
	letter(own) {
		const {route, last} = this
		const at = this.at ?? last
		this.lettering = {own, codes: route.letters(at, own), typed: ""}
		this.redrawn()
		announce(
			own
				? "type the letter of the word to go to"
				: "type the letter of the partner; with Shift it is added",
		)
	}

	// Draw the marks of words anew, where no cell has changed.
	redrawn() {
		this.moved(undefined, true)
		this.outline()
	}

	// What is said where no word is left to look at.
	ending() {
		const {pair, route} = this
		if (pair.done) return "This pair is done."
		if (route.stops().length) return "No word is chosen: Enter goes on."
		const {size} = this.kept()
		const kept = size
			? `keeps ${plural(size, "link")} not looked at and`
			: "marks the pair as done,"
		return `No doubtful word is left. Ctrl+Enter ${kept} goes on.`
	}

	// The digits or letters of words of a side, by their numbers: [sign, kind].
	signs(side) {
		const {lettering, route, at, cell} = this
		const signs = new Map()
		const own = side === this.side
		if (lettering) {
			if (lettering.own !== own) return signs
			for (const [word, code] of lettering.codes.entries()) {
				if (!code.startsWith(lettering.typed)) continue
				const rest = code.slice(lettering.typed.length)
				signs.set(word, [rest[0], rest.length > 1 ? "letter later" : "letter"])
			}
		} else if (!own && at !== null && !cell) {
			const shown = route.shown(at)
			for (const [k, other] of route.candidates(at).entries()) {
				const q = route.q[at * route.others + other]
				if (k >= FEWEST && q < LEAST_DIGIT && !shown.has(other)) continue
				let kind = "digit"
				if (shown.has(other)) kind = "digit shown"
				else if (q >= LIKELY) kind = "digit likely"
				signs.set(other, [String(k + 1), kind])
			}
		}
		return signs
	}

	// What a head of the matrix is marked with: a stop, or a word without link.
	#head(side, at) {
		if (side === this.side && this.route.isStop(at)) return "stop"
		return this.bare(side, at) ? "bare" : ""
	}

	// Has a word no link, neither a shown one?
	bare(side, at) {
		if (!this.pair.unaligned(side, at)) return false
		if (!this.linked) {
			this.linked = {source: new Set(), target: new Set()}
			for (const index of this.hinted.keys()) {
				const [i, j] = this.pair.place(index)
				this.linked.source.add(i)
				this.linked.target.add(j)
			}
		}
		return !this.linked[side].has(at)
	}

	// A head of the matrix leads to its word; on the other side to a link of its word.
	toHead(side, at) {
		if (SIDES[side] === this.side) this.toWord(at, true)
		else this.go(home(this.pair, side, at), true)
	}

	// A click or a tap on a word of the side that is settled goes to it, one on a word of the other
	// side adds or removes it as a partner of the word one is at. Where no word is framed, the cursor
	// goes to a cell of the word that was clicked.
	pick(side, at) {
		this.band.close()
		this.picked = side
		if (SIDES[side] === this.side) {
			this.toWord(at, true)
			this.say("click words of the other sentence to add or remove partners")
		} else if (this.at === null) this.go(home(this.pair, side, at), true)
		else this.act.lettered(false, at, true)
		this.picked = null
	}

	moved(focus = focused(), still) {
		if (this.cell && this.session.look(this.index)) this.matrix.update([this.index])
		const {at, cell, route, side} = this
		this.matrix.frame(at === null ? null : {side, at, settled: route.settled(at)})
		this.matrix.signs(this.matrixSigns())
		const calm = at === null && !cell
		this.matrix.place(this.cursor, focus, still, {cell, label: this.label(), calm})
		this.band.follow(this.cursor, this.picked)
	}

	// The digits or letters in the row or column one is at: [place, sign, kind].
	matrixSigns() {
		const {at, route, side, pair, lettering} = this
		if (at === null || lettering?.own) return []
		return [...this.signs(opposite(side))].map(([other, [sign, kind]]) => {
			const index = route.index(at, other)
			const linked = pair.values[index] === 2 ? " linked" : ""
			return [pair.place(index), sign, kind + linked]
		})
	}

	// What a screen reader says of the word one is at: what it shows, its candidates, what Enter does.
	label() {
		const {at, cell, route, pair, side} = this
		if (cell) return null
		if (at === null) return this.ending()
		const names = pair[opposite(side)]
		const candidates = route.candidates(at).slice(0, SPOKEN)
		const spoken = candidates.map((other, k) => {
			const q = Math.round(100 * route.q[at * route.others + other])
			return `${k + 1} ${names[other]}, ${q} percent`
		})
		const state = route.settled(at) ? "settled" : "shown"
		return [
			`${this.wordOf(at)}, ${at + 1} of ${route.count} ${side} words`,
			`${state}: ${this.linksOf(route.shown(at))}`,
			...spoken,
		].join("; ")
	}

	// Mark the words of the band, and draw its curves.
	#mark() {
		const {pair, cursor, band, matrix, at, cell, side, hinted, lettering} = this
		const {hovered} = band
		const here = at === null ? [] : [[SIDES.indexOf(side), at]]
		band.mark(
			wordMarks(pair, {
				cursor: cell ? cursor : null,
				here,
				settled: at !== null && this.route.settled(at),
				word: hovered,
				cell: matrix.pointed,
				shown: hinted,
				bare: (of, word) => this.bare(of, word),
			}),
		)
		band.sign(
			SIDES.map(of => this.signs(of)),
			lettering && SIDES.indexOf(lettering.own ? side : opposite(side)),
		)
		const words = cell ? [...cursor.entries()] : [...here]
		if (hovered) words.push(hovered)
		band.curves.draw(pair, cell ? cursor : null, words, this.blocking ?? [], hinted)
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
		const calm = this.at === null && !this.cell
		this.phrase =
			!calm && i < pair.n && low >= 0 && j >= low && j <= high
				? closure(pair, [i, i, low, high])
				: null
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
		const away = hovered && (!this.cell || y < top || y > bottom || x < left || x > right)
		const place = away ? hovered : cursor
		let parts
		if (box && !away) parts = [strong(spanName(pair, box))]
		else if (away || this.cell)
			parts = [strong(cellName(pair, ...place)), ` ${cellState(pair, pair.index(place))}`]
		else parts = this.#said(strong)
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

	// What is said of the word one is at: what it shows, and how likely that is.
	#said(strong) {
		const {at, route, pair, side, lettering} = this
		if (lettering) {
			const what = lettering.own ? "go to it" : "link it alone; with Shift: add or remove it"
			const start = at === null || lettering.own ? [] : [strong(this.wordOf(at)), " → "]
			return [...start, `type the letter of a word: ${what}. `, key("Esc")]
		}
		if (at === null) return [html("b", {}, this.ending())]
		const links = route.shown(at)
		const names = pair[opposite(side)]
		const parts = [strong(this.wordOf(at)), " → "]
		if (!links.size) return [...parts, "no link"]
		for (const [other, value] of links) {
			if (parts.length > 2) parts.push(", ")
			if (other === route.others) parts.push("no partner")
			else parts.push(strong(names[other]))
			if (value === 1) parts.push(" possible")
			if (!route.settled(at) && other < route.others) {
				parts.push(html("small", {}, ` ${percent(route.q[at * route.others + other])}`))
			}
		}
		return parts
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
		const touched = this.session.commit(kind, data)
		if (touched) {
			this.matrix.update(this.#rerouted(touched))
			this.#counted(done)
		}
		this.say(touched ? told : "too many cells for one step: select a smaller box")
		return touched
	}

	// Compute the likelihoods anew after an event; return the cells that are to be drawn anew.
	#rerouted(touched) {
		const {route, hinted: before} = this
		route.update(this.pair)
		const now = route.unseen()
		for (const index of [...before.keys(), ...now.keys()]) {
			if (before.get(index) !== now.get(index)) touched.add(index)
		}
		this.hinted = now
		this.linked = null
		this.matrix.shown = now
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
	if (wire.project.training) return (await import("./training.js")).train(wire, App)
	const app = new App(wire)
	const pairs = asked() ? [{k: asked()}] : await toDo(wire)
	document.body.dataset.state = "ready"
	await app.load((pairs.find(({done}) => !done) || pairs[0]).k, false)
	if (!app.pair) document.body.dataset.state = "failed"
})
