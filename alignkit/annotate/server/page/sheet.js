// What the pages of judging and extracting share: an open pair, its neighbours, keys, undo,
// comments, dialogs.
import {$, announce, say} from "./dom.js"
import {asked, pairs as toDo} from "./beginning.js"
import {actionOf, mapped, onComment} from "./keypress.js"
import {MadePair, told} from "./made.js"
import {arrive, begin, Page} from "./page.js"
import {dismiss, question, show} from "./question.js"
import {Session} from "./session.js"

// The keys that both pages have; each page puts its own table before it.
export const SHARED = {
	Pair: [
		["C-Enter", "done", "mark as done, go to the next open one", "Ctrl+Enter"],
		["n", "next", "next"],
		["p", "previous", "previous"],
		["u C-z", "undo", "undo, without limit", "u"],
		["r C-y C-Z", "redo", "redo", "r"],
		["c", "comment", "comment"],
		["/", "find", "find by id, words or comments"],
		["g", "guidelines", "guidelines"],
		["?", "help", "show these keys"],
	],
}

export class Sheet extends Page {
	refusals = []
	busy = "input, textarea, select, a, summary, dialog, label, #work"

	// `keys` is the key map of the page.
	constructor(wire, keys, noun) {
		super(wire, noun)
		this.keyed(keys)
		onComment(
			$("comment"),
			() => this.keep(),
			() => this.focus(),
		)
	}

	keyed(keys) {
		this.keys = keys
		this.actions = mapped(keys)
	}

	get adjudicates() {
		return this.project.role === "adjudicator"
	}

	// Keys act in the text and the judgment, not where something is being typed or chosen.
	pressed(event) {
		const {target} = event
		const within = target.closest("#work")
		const action = actionOf(event, this.actions)
		if (!action || !this.pair || document.querySelector("dialog[open]")) return
		if (!within || target.closest("textarea, select, input:not([type=radio])"))
			return action === "escape" && this.focus()
		if (
			target.closest("button, a") &&
			/^(Enter| )$/.test(event.key) &&
			!event.ctrlKey &&
			!event.metaKey
		)
			return
		if (target.matches("[type=radio]") && /^(Arrow| )/.test(event.key)) return
		event.preventDefault()
		this.run(action, event)
	}

	run(action, event) {
		const [, name, about] = /^(\S+) ?(.*)$/s.exec(action)
		const given = about ? [about, event] : [event]
		if (this.pair) this[`do_${name.replaceAll("-", "_")}`](...given)
	}

	focus() {
		$("text").focus({preventScroll: true})
	}

	leave() {
		this.keep()
	}

	async turnTo(k, keep, turn) {
		this.keep()
		const doc = await this.fetched(k, keep, turn)
		if (!doc) return
		dismiss()
		Object.assign(this, {doc, note: "", session: new Session(doc, this.wire, MadePair)})
		this.session.commit("open", {rev: doc.rev, suggestions: false})
		this.tally(doc)
		this.opened()
		this.title()
		this.draw()
		this.focus()
		announce(`${doc.id}, ${doc.place} of ${doc.pairs}`)
		document.body.dataset.pair = doc.k
		document.body.dataset.seq = this.pair.seq
		if (!this.adjudicates)
			for (const next of new Set([doc.next_open, doc.next])) if (next) this.wire.prefetch(next)
		this.ask()
	}

	title() {
		this.heading(this.done, this.adjudicates ? this.doc.pairs : this.project.pairs)
	}

	// Draw what both pages have; each draws its own besides.
	draw() {
		const {pair} = this
		const field = $("comment")
		if (document.activeElement !== field) field.value = this.written = pair.comments.get("") || ""
		say("status-text", this.note)
		this.title()
		const works = this.works()
		for (const hint of $("hints").querySelectorAll("[data-if]"))
			hint.hidden = !works[hint.dataset.if]
		document.body.dataset.seq = pair.seq
	}

	// What keys can do now; the footer shows no others.
	works() {
		const {
			doc: {next, previous},
			pair,
			session,
		} = this
		const steps = kind => pair[kind].length || session.more(kind)
		return {next, previous, undo: steps("undo"), redo: steps("redo")}
	}

	say(text, tell = true) {
		this.note = text
		say("status-text", text)
		say("start-text", text)
		if (tell) announce(text)
	}

	// Send an event and show what it did.
	commit(kind, data, text = told(this.pair, {kind, data})) {
		const {done} = this.pair
		if (!this.session.commit(kind, data)) return this.say("too much for one step")
		this.done += this.pair.done - done
		this.say(text)
		this.draw()
	}

	folded(fold) {
		const {done} = this.pair
		fold()
		this.done += this.pair.done - done
		this.draw()
	}

	// Events that were not taken leave the page; what they would have written is asked about.
	async refused({k, refused: events, rev, old, message, moved}) {
		const some = events.filter(({kind}) => kind !== "open")
		if (some.length) this.refusals.push({k, events: some, message})
		if (this.session?.k !== k) return this.say(`${this.noun} ${k}: not saved: ${message}`)
		const {rev: held} = this.pair
		this.folded(() => this.session.refuse(events, old))
		if (moved || (rev && rev !== held)) await this.load(k)
		else this.ask()
	}

	async ask() {
		const {doc} = this
		for (const row of this.refusals.filter(({k}) => k === doc.k)) {
			this.refusals = this.refusals.filter(other => other !== row)
			for (const event of row.events) {
				const again = this.again(event)
				const text = `Not saved: ${told(this.pair, event)}. ${row.message}`
				this.say(text)
				const keepThis = await question($("status-text"), text, !!again)
				if (this.doc !== doc) return
				if (keepThis && again) this.commit(event.kind, again)
			}
			this.focus()
		}
		this.wire.settled()
	}

	// The data by which an event would now be taken; null where there is nothing to do again.
	again({kind, data}) {
		const {pair} = this
		const now = (held, [name, , after]) => [name, held.get(name) ?? null, after]
		if (kind === "rewrite" || kind === "extract")
			return {[`${kind}s`]: data[`${kind}s`].map(row => now(pair[`${kind}s`], row))}
		if (kind === "comment") return {...data, before: pair.comments.get(data.key) || ""}
		if (kind === "done")
			return pair.done === data.after ? null : {before: pair.done, after: data.after}
		if (kind !== "judge") return null
		return {
			...(data.label && {label: [pair.judgment, data.label[1]]}),
			...(data.flags && {flags: [pair.flags, data.flags[1]]}),
		}
	}

	// Write down the comment that is being typed.
	keep() {
		const {value} = $("comment")
		const {written} = this
		if (written === undefined || value === written || !this.pair) return
		const after = value.replace(/[^\P{Cc}\n\t]/gu, "").trim()
		const before = this.pair.comments.get("") || ""
		this.written = after
		if (after !== before)
			this.commit("comment", {key: "", before, after}, after ? "comment saved" : "comment removed")
	}

	// What keys and buttons do.

	do_next = () => this.load(this.doc.next)
	do_previous = () => this.load(this.doc.previous)
	do_undo = () => this.reverse("undo")
	do_redo = () => this.reverse("redo")
	do_comment = () => $("comment").focus()
	do_guidelines = () => $("guidelines").click()
	do_help = () => this.late("dialogs", ({help}) => help(this.keys))
	do_history = () =>
		this.late("dialogs", ({history}) =>
			history(
				this.wire,
				this.doc.k,
				event =>
					`${{undo: "undone: ", redo: "redone: "}[event.kind] || ""}${told(this.pair, event)}`,
			),
		)
	do_export = () => show("export-dialog")
	do_close = () => document.querySelector("dialog[open]").close()

	do_find() {
		this.find()
	}

	do_escape() {
		this.focus()
	}

	do_toggle_done() {
		if (this.pair.done || this.ready())
			this.commit(
				"done",
				{before: this.pair.done, after: !this.pair.done},
				this.pair.done ? "no longer done" : "done",
			)
	}

	// The button in the header: on to the next one, or no longer done.
	do_mark() {
		if (this.pair.done) this.do_toggle_done()
		else this.do_done()
	}

	do_done() {
		this.keep()
		this.leaving(turn => this.onward(turn))
	}

	// Done, and on to the next open pair, as the server now has it.
	async onward(turn) {
		const {doc, wire} = this
		if (this.adjudicates) await wire.sent(doc.k) // what all agree on comes with the answer
		if (turn !== this.turn || !this.ready()) return
		if (this.pair.done && doc.changed) this.do_toggle_done() // and anew: the rewrites were looked at
		if (!this.pair.done) this.do_toggle_done()
		doc.changed = false
		const fresh = await this.fresh(doc)
		if (turn !== this.turn || !this.pair.done) return
		if (fresh) this.tally(fresh)
		const to = fresh ? fresh.next_open : doc.next_open || doc.next
		if (to && to !== doc.k) return this.load(to)
		this.title()
		this.say(`all is done: ${doc.pairs}`)
	}

	async back(kind) {
		if (this.session.more(kind)) {
			const all = await this.deeper(kind)
			if (!all) return
			Object.assign(this, {doc: all, session: new Session(all, this.wire, MadePair)})
		}
		const top = this.pair[kind].at(-1)
		const data = this.pair.inverse(kind)
		if (!data) return this.say(`nothing to ${kind}`)
		this.commit(
			kind,
			data,
			kind === "undo"
				? `undone: ${told(this.pair, top)}`
				: `redone: ${told(this.pair, {kind, data})}`,
		)
	}
}

// Enter, make the page, and open the first pair that is not done.
export const start = make =>
	begin(async () => {
		const wire = await arrive()
		const sheet = make(wire)
		const pairs = asked() ? [{k: asked()}] : await toDo(wire)
		document.body.dataset.state = "ready"
		const open = ({state}) => state === "open" || state === "reopened" // not one on which all agree
		await sheet.load(
			(pairs.find(open) || pairs.find(({done, state}) => !done && state !== "done") || pairs[0]).k,
			false,
		)
		if (!sheet.pair) document.body.dataset.state = "failed"
	})
