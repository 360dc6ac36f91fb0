// The page of adjudicators: a pair with the votes on it, walked from difference to difference.
import {
	AGREED,
	ballots,
	DECIDED,
	decision,
	GoldPair,
	grouped,
	item,
	items,
	JUDGED,
	missing,
	placeOf,
} from "./adjudicate-cases.js"
import {KEYS} from "./adjudicate-keys.js"
import {voteMarks} from "./adjudicate-marks.js"
import {legend, letters, VoteMatrix} from "./adjudicate-matrix.js"
import {groupName, Panel, valueName} from "./adjudicate-panel.js"
import {Band} from "./band.js"
import {asked, pairs as toDo} from "./beginning.js"
import {$, announce, html, on, say, set} from "./dom.js"
import {actionOf, mapped, typing} from "./keypress.js"
import {last} from "./model.js"
import {move} from "./moves.js"
import {arrive, begin, Page} from "./page.js"
import {page} from "./place.js"
import {Session} from "./session.js"
import {cellOf, dropped, plural, source, target} from "./words.js"

const ACTIONS = mapped(KEYS)
const CONTEXTS = /^(|source_|target_)context$/

class App extends Page {
	first = 0
	busy = "input, textarea, label, a, summary, dialog, #flags"

	constructor(wire) {
		super(wire)
		Object.assign(this, {alone: false, group: []})
		this.matrix = new VoteMatrix($("matrix"), index => this.#label(index))
		this.panel = new Panel(this)
		this.band = new Band($("sentences"), {
			hover: word => this.#hover(word),
			pick: (side, at) => this.#toWord(side, at),
		})
		this.matrix.told = () => {
			if (!this.pair) return
			this.#mark()
			this.panel.status()
		}
		on($("matrix"), "click", ({clientX, clientY, target: {dataset: {row, column} = {}}}) => {
			if (!this.pair) return
			if (row || column) return this.#toWord(row ? 0 : 1, Number(row ?? column))
			const cell = this.matrix.cellAt(clientX, clientY)
			if (cell) this.go(cell, true, true)
		})
		on(wire, "votes", ({detail}) => detail?.includes(this.session?.k) && this.#revote())
	}

	get settled() {
		return this.pair.done && !this.open.length && !this.doc.changed
	}

	get nothing() {
		if (this.settled) return "the pair is done"
		if (this.doc.changed) return "rewrites have changed: Ctrl+Enter marks the pair as done again"
		return "Ctrl+Enter marks the pair as done"
	}

	get key() {
		return this.judging ? JUDGED : this.pair.cell(this.pair.index(this.cursor)).join()
	}

	// Keys act in the matrix and on the judgment; Escape leads there.
	pressed(event) {
		const action = actionOf(event, ACTIONS)
		const {target: at, key} = event
		if (!action || !this.pair || document.querySelector("dialog[open]")) return
		const within = at.closest("#matrix, #sentences, #own-judgment")
		if (action === "escape" && at.id !== "note") {
			this.#list(false)
			this.band.close()
			return this.matrix.focus()
		}
		if (!within || (typing(at) && /^(Enter| |Arrow.*)$/.test(key) && !event.ctrlKey)) return
		event.preventDefault()
		this.band.hovered = null
		this.matrix.hover(null)
		this.run(action, key)
	}

	run(action, keyName) {
		if (this.pair) this.actions[action](keyName)
	}

	get actions() {
		const own = value => () => {
			if (this.judging) this.say("choose a label on the right")
			else this.decide({value})
		}
		const step = way => () => this.next(way)
		return {
			vote: keyName => this.decide({vote: Number(keyName) - 1}),
			sure: own(2),
			possible: own(1),
			none: own(0),
			difference: step(1),
			"back-difference": step(-1),
			step: name => this.#walk(name.replace("Arrow", "").toLowerCase()),
			far: name => this.#walk(`far-${name.replace("Arrow", "").toLowerCase()}`),
			undo: () => this.back("undo"),
			redo: () => this.back("redo"),
			alone: () => {
				this.alone = !this.alone
				set($("alone"), {"aria-pressed": this.alone})
				this.#moved()
				this.say(this.alone ? "one cell alone" : "neighbours with equal votes together")
			},
			comment: () => $("note").focus(),
			list: () => this.#list(!document.body.classList.contains("listing")),
			label: () => this.#toJudgment(),
			next: () => this.load(this.doc.next),
			previous: () => this.load(this.doc.previous),
			done: () => this.leaving(turn => this.#done(turn)),
			pairs: () => this.late("adjudicate-pairs", ({list}) => list(this)),
			guidelines: () => $("guidelines").click(),
			help: () => this.late("dialogs", ({help}) => help(KEYS)),
			close: () => document.querySelector("dialog[open]").close(),
		}
	}

	async turnTo(k, keep, turn) {
		if (this.pair) this.keepNote()
		const early = this.wire.ahead(k)
		const doc = await this.fetched(k, keep, turn)
		if (!doc) return
		Object.assign(this, {
			doc,
			cursor: [0, 0],
			judging: false,
			note: "",
			recalled: undefined,
			session: new Session(doc, this.wire, GoldPair),
		})
		this.vote(doc)
		this.session.commit("open", {rev: doc.rev, suggestions: false})
		this.#sort()
		if (this.open.length) this.#into(this.open[0])
		this.title()
		this.lay()
		this.matrix.focus()
		announce(
			`${doc.id}, ${doc.place} of ${doc.pairs}: ${plural(this.open.length, "difference")} to settle`,
		)
		document.body.dataset.pair = k
		this.around = early ? this.#around(doc) : Promise.resolve()
		for (const next of new Set([doc.next_open, doc.next])) if (next) this.wire.prefetch(next)
	}

	// Ask for the neighbours and counts of a pair that was fetched before others were done.
	async #around(doc) {
		const fresh = await this.wire.peek(doc.k).catch(() => null) // the server is away
		if (!fresh || this.doc !== doc) return
		const {place, previous, next, next_open: nextOpen} = fresh
		Object.assign(doc, {place, previous, next, next_open: nextOpen})
		this.tally(fresh)
		this.title()
		this.panel.status()
		if (nextOpen) this.wire.prefetch(nextOpen)
	}

	// Take the votes as the server has them.
	vote({votes, majority}) {
		Object.assign(this, {voters: ballots(votes), majority, marks: letters(votes, this.doc.blind)})
		$("legend").replaceChildren(
			...legend(this.voters, this.marks).map(row => html("li", {}, ...row)),
		)
	}

	async #revote() {
		const {doc} = this
		const fresh = await this.wire.peek(doc.k).catch(({message}) => this.say(message))
		if (!fresh || this.doc !== doc) return
		doc.changed = fresh.changed
		this.vote(fresh)
		this.#redraw()
		if (this.pair.done && missing(this.pair, this.items).length)
			this.#commit("open", {rev: doc.rev, suggestions: false}) // it is written down
		this.say("an annotator has changed a vote on this pair")
	}

	// Compare votes and gold anew.
	#sort() {
		this.items = items(this.pair, this.voters, this.majority)
		const groups = grouped(this.items)
		const of = (...states) => groups.filter(([{state}]) => states.includes(state))
		Object.assign(this, {
			open: groups.filter(([{state}]) => state !== AGREED && state !== DECIDED),
			decided: of(DECIDED),
			agreed: of(AGREED),
		})
		this.#pick()
	}

	// The decision that the cursor is in; that on a place without votes, where there is none.
	#pick() {
		const group = [...this.open, ...this.decided, ...this.agreed].find(group =>
			group.some(({key}) => key === this.key),
		)
		if (!group) this.group = [item(this.pair, this.voters, this.key, this.majority)]
		else if (this.alone) this.group = group.filter(({key}) => key === this.key)
		else this.group = group
	}

	#into(group) {
		this.judging = group[0].key === JUDGED
		if (!this.judging) this.cursor = this.pair.spot(...placeOf(group[0].key))
		this.#pick()
	}

	// Take what an answer tells of all pairs, and of the rewrites of this one.
	tally({done, pairs, changed}) {
		Object.assign(this.doc, {done, pairs, changed})
	}

	title() {
		const {doc} = this
		this.heading(doc.done, doc.pairs, plural(doc.pairs, "pair"))
		const context = Object.entries(doc.attributes).filter(
			([name, text]) => CONTEXTS.test(name) && text,
		)
		$("context").hidden = !context.length
		$("context").replaceChildren(
			...context.map(([name, text]) =>
				html("p", {dir: "auto"}, html("b", {}, `${name.replace("_", " ")}: `), text),
			),
		)
	}

	lay() {
		const {source: from, target: to} = this.doc.direction || {}
		const within = document.activeElement?.closest("#matrix")
		this.rtl = to === "rtl"
		// On a phone all that is not at hand is in one list.
		const list = $(matchMedia("(max-width: 560px)").matches ? "docket" : "panel")
		if ($("more").parentNode !== list) list.append($("more"))
		this.panel.draw() // its parts have their height before the rest is measured
		this.band.load(this.pair, [from, to], [this.doc.source_language, this.doc.target_language])
		this.#show()
		this.matrix.load(this.pair, this.rtl, from === "rtl")
		this.#redraw()
		if (within) this.matrix.focus() // its element was made anew
	}

	#show() {
		this.matrix.pair = this.pair
		this.matrix.show(this.items, this.voters, this.marks)
	}

	#redraw() {
		this.#sort()
		this.#show()
		this.matrix.update()
		this.#moved(undefined, true)
		this.showDone()
		document.body.dataset.seq = this.pair.seq
		document.body.dataset.left = this.open.length
	}

	#moved(focus = document.activeElement?.closest("#matrix"), still) {
		this.#pick()
		this.matrix.place(this.cursor, focus, still)
		this.matrix.ring(this.group)
		this.band.follow(this.cursor, this.picked)
		this.#mark()
		this.panel.draw()
	}

	// Mark the words of the sentences.
	#mark() {
		const {pair, items, group, band, matrix} = this
		const about = {group, word: band.hovered, cell: matrix.pointed}
		band.mark(...voteMarks(pair, items, about))
	}

	// The word of a sentence under the mouse: its row or column is shaded, its partners are marked.
	#hover(word) {
		const place = [null, null]
		if (word) place[word[0]] = word[1]
		this.matrix.hover(word && place)
	}

	// To the next difference of a word in reading order, else to its row or column.
	#toWord(side, at) {
		this.band.close()
		this.picked = side
		const all = this.open.filter(group =>
			group.some(({key}) => key !== JUDGED && placeOf(key)[side] === at),
		)
		const here = all.findIndex(group => group.some(({key}) => key === this.key))
		if (all.length) this.toGroup(all[(here + 1) % all.length], true)
		else this.go(side ? [this.cursor[0], at] : [at, this.cursor[1]], true)
		this.picked = null
	}

	// On a phone: show the differences, comments, judgment and sources over the matrix, or not.
	#list(open) {
		document.body.classList.toggle("listing", open)
		set($("list"), {"aria-pressed": open})
	}

	go(place, focus, still) {
		this.keepNote()
		Object.assign(this, {cursor: place, judging: false, note: ""})
		this.#moved(focus, still)
	}

	#walk(way) {
		const to = move(this.pair, this.cursor, way, this.rtl)
		if (to) this.go(to, true)
	}

	toGroup(group, focus) {
		this.#list(false)
		this.keepNote()
		this.note = ""
		this.#into(group)
		this.#moved(focus)
		if (this.judging) announce($("status-text").textContent)
	}

	toPlace(name) {
		const cell = cellOf(name)
		if (cell) this.go(this.pair.spot(...cell), true)
	}

	#toJudgment() {
		if (!this.project.scheme?.labels.length) return this.say("pairs are not judged in this project")
		this.toGroup([item(this.pair, this.voters, JUDGED, this.majority)], false)
		$("labels").querySelector(":checked, input")?.focus()
	}

	// To the next difference in reading order, round the end.
	next(way) {
		const at = this.open.findIndex(group => group.some(({key}) => key === this.key))
		const {length} = this.open
		if (!length) return this.say(`no difference is left: ${this.nothing}`)
		const here = this.judging ? Infinity : this.pair.index(this.cursor)
		const spot = ([{key}]) => (key === JUDGED ? Infinity : this.pair.at(...placeOf(key)))
		const behind = this.open.findIndex(group => spot(group) > here)
		let to
		if (at >= 0) to = at + way + length
		else if (way > 0) to = Math.max(0, behind)
		else if (behind < 0) to = length - 1
		else to = behind + length - 1
		this.toGroup(this.open[to % length], true)
	}

	// What a cell holds, for a screen reader.
	#label(index) {
		const {pair, voters} = this
		const [i, j] = pair.cell(index)
		const key = `${i},${j}`
		const found = this.matrix.found(index)
		const row = i < 0 ? "no source word" : `${source(pair, i)}, ${i + 1} of ${pair.n}`
		const column = j < 0 ? "no target word" : `${target(pair, j)}, ${j + 1} of ${pair.m}`
		if (!found) return `${row}; ${column}: no votes`
		const votes = voters
			.map((voter, at) => `${voter.name} ${valueName(key, found.votes[at])}`)
			.join(", ")
		const value = valueName(key, found.value)
		let told = `${found.why ? "changed since, " : ""}to settle: ${votes}`
		if (found.state === AGREED) told = `agreed, ${value}`
		else if (found.state === DECIDED) told = `decided, ${value}; ${votes}`
		return `${row}; ${column}: ${told}`
	}

	// Decide the group at the cursor, and go on to the next difference where this one was open.
	decide(choice) {
		const {pair, voters, group} = this
		if (choice.vote >= voters.length) return this.say(`there are ${voters.length} votes`)
		const was = group.some(one => this.open.flat().some(({key}) => key === one.key))
		const note = $("note").value.trim()
		const data = decision(pair, voters, group, choice, note)
		if (
			group.every(
				({why, state}, at) => why && state === DECIDED && data.whys[at][2] === data.whys[at][3],
			)
		)
			return this.say("already decided so")
		const value = choice.vote === undefined ? choice.value : group[0].votes[choice.vote]
		const name = groupName(pair, group)
		this.recalled = note
		this.#commit("decide", data)
		const whose = choice.vote === undefined ? "your own" : `as ${voters[choice.vote].name}`
		const gone = dropped(pair, data.cells)
		const told = `${name}: ${valueName(group[0].key, value)}, ${whose}${gone}`
		if (was && this.open.length) this.next(1)
		this.say(
			`${told}; ${this.open.length ? `${this.open.length} left` : `nothing is left: ${this.nothing}`}`,
		)
	}

	judge(label, held) {
		const {flags = []} = this.project.scheme || {}
		const off = flags
			.filter(({on: labels = []}) => labels.length && !labels.includes(label))
			.map(({value}) => value)
		const kept = held.filter(flag => !off.includes(flag))
		this.#commit(
			"decide",
			decision(
				this.pair,
				this.voters,
				[item(this.pair, this.voters, JUDGED, this.majority)],
				{value: label || kept.length ? [label, ...kept] : []},
				$("note").value.trim(),
			),
		)
		this.say("judgment decided")
	}

	#commit(kind, data) {
		if (this.session.commit(kind, data) === null) return this.say("too much for one step")
		this.#redraw()
	}

	// The note that is kept with the decision at the cursor.
	recallNote() {
		this.recalled = this.group[0].why?.note ?? ""
		this.noted = this.group
		$("note").value = this.recalled
	}

	keepNote() {
		const note = $("note")
			.value.replace(/[^\P{Cc}\n\t]/gu, "")
			.trim()
		const group = this.noted
		if (!group || this.recalled === undefined || note === this.recalled.trim()) return
		this.recalled = note
		const whys = group
			.filter(({why, odd}) => why && !odd)
			.map(({key, why}) => {
				const {note: _, ...rest} = why
				return [
					...placeOf(key),
					this.pair.whys.get(key) ?? null,
					JSON.stringify({...rest, ...(note && {note})}),
				]
			})
		if (whys.length) this.#commit("decide", {cells: [], whys})
		else if (note) this.say("the note is saved when you decide", false)
	}

	// Is there a step to undo or redo? What all agreed on is none.
	steps(kind) {
		const top = last(this.pair[kind])
		return !!top && top.data.how !== "agreed"
	}

	back(kind) {
		const {pair} = this
		const data = pair.inverse(kind)
		if (!this.steps(kind)) return this.say(`nothing to ${kind}`)
		this.#commit(kind, data)
		const [i, j] = data.cells?.[0] || data.whys?.[0] || []
		if (i !== undefined) this.#into([{key: `${i},${j}`}])
		this.#moved()
		this.say(kind === "undo" ? "undone" : "redone")
	}

	// Done, and on to the next pair that is not: as soon as this one is stored, if the next is at hand.
	async #done(turn) {
		const {pair, doc} = this
		this.keepNote()
		if (this.open.length) {
			this.toGroup(this.open[0], true)
			return this.say(`${plural(this.open.length, "difference")} to settle first`)
		}
		if (pair.done && doc.changed) this.#commit("done", {before: true, after: false})
		if (!this.pair.done) this.#commit("done", {before: false, after: true})
		if (await this.#onward(doc, turn)) return
		const fresh = await this.fresh(doc)
		if (turn !== this.turn || !this.pair.done) return
		if (!fresh)
			return this.say(
				"marked done; the server cannot be reached: Ctrl+Enter again for the next pair",
			)
		this.tally(fresh)
		this.title()
		this.#redraw()
		if (fresh.next_open && fresh.next_open !== doc.k) return this.load(fresh.next_open)
		this.say(`all ${plural(fresh.pairs, "ready pair")} are settled`)
	}

	// Go to the pair that was fetched beforehand; false if there is none, or another adjudicator has
	// done it meanwhile.
	async #onward(doc, turn) {
		await this.around
		const {next_open: next} = doc
		if (!next || next === doc.k || !(await this.wire.sent(doc.k))) return false
		const ahead = await this.wire.ahead(next)
		if (!ahead || ahead.state.done) return false
		if (turn === this.turn && this.pair.done) await this.load(next)
		return true
	}

	folded(fold) {
		fold()
		this.#redraw()
	}

	leave() {
		this.keepNote()
	}

	// What was not taken is told, with what is there instead; its note stays at hand.
	async refused({k, refused: events, rev, message, status, old}) {
		if (this.session?.k !== k) return
		this.session.refuse(events, old)
		const lost = events.find(({kind}) => kind === "decide")
		const [place] = lost?.data.whys || []
		if (rev && rev !== this.pair.rev) await this.load(k)
		else if (status === 422) await this.#revote()
		this.#redraw()
		if (place) this.toGroup([{key: `${place[0]},${place[1]}`}], true)
		const note = place?.[3] && JSON.parse(place[3]).note
		if (note) $("note").value = note
		if (events.some(({kind}) => kind !== "open"))
			this.say(
				status === 409
					? "not saved: another adjudicator was faster; this is their decision. Decide again to change it"
					: `not saved: ${message}`,
			)
		this.wire.settled() // it is told here
	}

	say(text, aloud = true) {
		this.note = text
		if (this.pair) this.panel.status()
		else say("status-text", text)
		if (aloud) announce(text)
	}
}

begin(async () => {
	const wire = await arrive()
	const {project} = wire
	if (project.role !== "adjudicator") return location.replace(page(""))
	const pairs = asked() ? [{k: asked()}] : await toDo(wire)
	const app = new App(wire)
	document.body.dataset.state = "ready"
	await app.load((pairs.find(({state}) => state !== "done") || pairs[0]).k, false)
	import("./strip.js")
		.then(({strip}) => strip($("figures"), project, () => app.doc?.blind))
		.catch(() => {}) // nobody waits for it
	if (app.pair) return
	$("start-ways").hidden = false
	throw new Error($("status-text").textContent)
})
