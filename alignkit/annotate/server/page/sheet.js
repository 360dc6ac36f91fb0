// What the pages of judging and extracting share: an open pair, its neighbours, keys, undo, comments, dialogs.
import {$, announce, html, on, set} from "./dom.js"
import {asked, pairs as toDo} from "./beginning.js"
import {actionOf, mapped} from "./keyboard.js"
import {MadePair, told} from "./made.js"
import {Page} from "./page.js"
import {dismiss, question, show} from "./question.js"
import {Session} from "./session.js"
import {enter} from "./wire.js"

export const say = (id, text) => ($(id).textContent = text)
export const item = (...children) => html("li", {}, ...children)

// The keys that both pages have; each page puts its own table before it.
export const SHARED = {
	Pair: [
		["C-Enter", "done", "done, on to the next open one", "Ctrl+Enter"],
		["n", "next", "next"],
		["p", "previous", "previous"],
		["u C-z", "undo", "undo, without limit", "u"],
		["r C-y C-Z", "redo", "redo", "r"],
		["c", "comment", "comment"],
		["/", "find", "find by id, words or comments"],
		["g", "guidelines", "guidelines"],
		["?", "help", "these keys"],
	],
}

export class Sheet extends Page {
	// `keys` is the key map of the page, `noun` what it calls a pair.
	constructor(wire, keys, noun) {
		super(wire)
		Object.assign(this, {wire, noun, project: wire.project, done: wire.project.done, n: wire.project.n, note: "", refusals: [], turns: Promise.resolve()})
		this.keyed(keys)
		on(document, "keydown", event => this.pressed(event))
		on(document, "click", event => this.clicked(event))
		on(wire, "events", ({detail}) => this.stored(detail))
		on(wire, "conflict", ({detail}) => this.refused(detail))
		on(wire, "acknowledged", ({detail: {k, ids}}) => this.session?.k === k && this.session.forget(ids) && this.folded(() => this.session.fold()))
		on(wire, "leaving", () => this.keep())
		on(document, "close", () => this.focus(), true) // of a dialog
		on(window, "popstate", () => this.load(asked() || 1, false))
		on($("export-link"), "click", () => wire.download($("export-format").value).catch(error => this.say(error.message)))
		on($("comment"), "change", () => this.keep())
		on($("comment"), "keydown", event => {
			if (event.key === "Escape") this.keep()
			if (event.key !== "Enter" || event.shiftKey || event.isComposing) return
			event.preventDefault()
			this.keep()
			this.focus()
		})
	}

	keyed(keys) {
		this.keys = keys
		this.actions = mapped(keys)
	}

	get pair() {
		return this.session?.view
	}

	// Is the pair done, and nothing another one since?
	get settled() {
		return this.pair.done
	}

	get adjudicates() {
		return this.project.role === "adjudicator"
	}

	// Keys act in the text and the judgment, not where something is being typed or chosen.
	pressed(event) {
		const {target} = event, within = target.closest("#work"), action = actionOf(event, this.actions)
		if (!action || !this.pair || document.querySelector("dialog[open]")) return
		if (!within || target.closest("textarea, select, input:not([type=radio])")) return action === "escape" && this.focus()
		if (target.closest("button, a") && /^(Enter| )$/.test(event.key) && !event.ctrlKey && !event.metaKey) return
		if (target.matches("[type=radio]") && /^(Arrow| )/.test(event.key)) return
		event.preventDefault()
		this.run(action, event)
	}

	run(action, event) {
		const [, name, about] = /^(\S+) ?(.*)$/s.exec(action), given = about ? [about, event] : [event]
		if (this.pair) this[`do_${name.replaceAll("-", "_")}`](...given)
	}

	clicked({target, detail}) {
		const {action} = target.closest("[data-action]")?.dataset || {}
		if (action) this.run(action)
		const busy = target.closest("input, textarea, select, a, summary, dialog, label, #work") || document.querySelector("dialog[open], #conflict:not([hidden])")
		if (detail && !busy) this.focus()
	}

	focus() {
		$("text").focus({preventScroll: true})
	}

	load(k, keep = true) {
		return k ? this.leaving(turn => this.open(k, keep, turn)) : this.say(`there is no further ${this.noun}`)
	}

	async open(k, keep, turn) {
		this.keep()
		let doc
		try {
			doc = await this.wire.pair(k)
		} catch (error) {
			return this.say(error.message)
		}
		if (turn !== this.turn) return
		dismiss()
		if (keep && asked() !== k) window.history.pushState(null, "", `?pair=${k}`)
		Object.assign(this, {doc, note: "", session: new Session(doc, this.wire, MadePair)})
		this.session.commit("open", {rev: doc.rev, suggestions: false})
		this.tally(doc)
		this.opened()
		this.title()
		this.draw()
		this.focus()
		announce(`${doc.id}, ${doc.place} of ${doc.pairs}`)
		document.body.dataset.pair = k
		document.body.dataset.seq = this.pair.seq
		if (!this.adjudicates) for (const next of new Set([doc.next_open, doc.next])) if (next) this.wire.prefetch(next)
		this.ask()
	}

	tally({n, done, state}) {
		if (n >= this.n) Object.assign(this, {n, done: done + this.pair.done - state.done})
	}

	title() {
		const {doc, project} = this, all = this.adjudicates ? doc.pairs : project.pairs
		say("pair-id", doc.id)
		$("pair-id").title = `${doc.id}, ${doc.place} of ${doc.pairs}`
		document.title = `${doc.id}, ${project.name} - alignkit`
		set($("progress"), {max: all || 1, value: this.done})
		say("progress-text", `${this.done} / ${all}`)
		$("previous").disabled = !doc.previous
		$("next").disabled = !doc.next
		set($("done"), {"aria-pressed": this.settled})
		say("done", this.settled ? "Done" : "Mark done")
	}

	// Draw what both pages have; each draws its own besides.
	draw() {
		const {pair} = this, field = $("comment")
		if (document.activeElement !== field) field.value = this.written = pair.comments.get("") || ""
		say("status-text", this.note)
		this.title()
		document.body.dataset.seq = pair.seq
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

	// Show what the server has that was not known here.
	stored({k, events}) {
		this.n = Math.max(this.n, events.at(-1).n)
		if (this.session?.k !== k) return
		this.folded(() => this.session.confirm(events))
		if (events.some(({kind}) => kind === "text")) this.load(k)
	}

	// Events that were not taken leave the page; what they would have written is asked about.
	async refused({k, refused: events, rev, old, message}) {
		const some = events.filter(({kind}) => kind !== "open")
		if (some.length) this.refusals.push({k, events: some, message})
		if (this.session?.k !== k) return this.say(`${this.noun} ${k}: not taken: ${message}`)
		const {rev: held} = this.pair
		this.folded(() => this.session.refuse(events, old))
		if (rev && rev !== held) await this.load(k)
		else this.ask()
	}

	async ask() {
		const {doc} = this
		for (const row of this.refusals.filter(({k}) => k === doc.k)) {
			this.refusals = this.refusals.filter(other => other !== row)
			for (const event of row.events) {
				const again = this.again(event), text = `Not taken: ${told(this.pair, event)}. ${row.message}`
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
		const {pair} = this, now = (held, [name, , after]) => [name, held.get(name) ?? null, after]
		if (kind === "rewrite" || kind === "extract") return {[`${kind}s`]: data[`${kind}s`].map(row => now(pair[`${kind}s`], row))}
		if (kind === "comment") return {...data, before: pair.comments.get(data.key) || ""}
		if (kind === "done") return pair.done === data.after ? null : {before: pair.done, after: data.after}
		if (kind !== "judge") return null
		return {...(data.label && {label: [pair.judgment, data.label[1]]}), ...(data.flags && {flags: [pair.flags, data.flags[1]]})}
	}

	// Write down the comment that is being typed.
	keep() {
		const {value} = $("comment"), {written} = this
		if (written === undefined || value === written || !this.pair) return
		const after = value.replace(/[^\P{Cc}\n\t]/gu, "").trim(), before = this.pair.comments.get("") || ""
		this.written = after
		if (after !== before) this.commit("comment", {key: "", before, after}, after ? "comment kept" : "comment taken away")
	}

	// What keys and buttons do.

	do_next() {
		this.load(this.doc.next)
	}

	do_previous() {
		this.load(this.doc.previous)
	}

	do_toggle_done() {
		if (this.pair.done || this.ready()) this.commit("done", {before: this.pair.done, after: !this.pair.done}, this.pair.done ? "no longer done" : "done")
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
		let fresh = null
		try {
			fresh = (await wire.sent(doc.k)) && (await wire.peek(doc.k))
		} catch {
			// away: what is known has to do
		}
		if (turn !== this.turn || !this.pair.done) return
		if (fresh) this.tally(fresh)
		const to = fresh ? fresh.next_open : doc.next_open || doc.next
		if (to && to !== doc.k) return this.load(to)
		this.title()
		this.say(`all that is here is done: ${doc.pairs}`)
	}

	do_undo() {
		this.reverse("undo")
	}

	do_redo() {
		this.reverse("redo")
	}

	reverse(kind) {
		const {doc} = this
		this.turns = this.turns.then(() => this.doc === doc && this.back(kind)).catch(({message}) => this.say(message))
	}

	async back(kind) {
		const {doc, wire} = this
		if (this.session.more(kind)) {
			const all = await this.leaving(async () => (await wire.sent(doc.k)) && wire.pair(doc.k))
			if (!all) return this.say(`there is more to ${kind} when the server is back`)
			if (this.doc !== doc) return
			this.session = new Session(all, wire, MadePair)
			this.doc = all
		}
		const top = this.pair[kind].at(-1), data = this.pair.inverse(kind)
		if (!data) return this.say(`nothing to ${kind}`)
		this.commit(kind, data, kind === "undo" ? `undone: ${told(this.pair, top)}` : `done again: ${told(this.pair, {kind, data})}`)
	}

	do_comment() {
		$("comment").focus()
	}

	do_find() {
		this.find()
	}

	do_guidelines() {
		$("guidelines").click()
	}

	do_help() {
		this.late("dialogs", ({help}) => help(this.keys))
	}

	async do_history() {
		const list = $("history-list")
		list.replaceChildren(item("…"))
		show("history-dialog")
		try {
			const {events} = await this.wire.history(this.doc.k)
			list.replaceChildren(...events.slice(-300).reverse().map(event => item(html("span", {dir: "auto"}, event.kind === "open" ? "opened" : `${{undo: "undone: ", redo: "done again: "}[event.kind] || ""}${told(this.pair, event)}`),
				html("small", {}, `${event.seq}, ${event.actor}, ${new Date(event.at).toLocaleString()}`))))
		} catch (error) {
			list.replaceChildren(item(error.message))
		}
	}

	do_export() {
		show("export-dialog")
	}

	do_close() {
		document.querySelector("dialog[open]").close()
	}

	do_escape() {
		this.focus()
	}
}

// Enter, make the page, and open the first pair that is not done.
export async function start(make) {
	try {
		const wire = await enter({
			progress({text, share, start: go}) {
				say("start-text", text)
				set($("start-bar"), {value: share})
				if (go) go()
			},
		})
		const {name, annotator, role, formats} = wire.project, decides = role === "adjudicator"
		say("project", decides ? `${name}: adjudicate` : name)
		say("annotator", decides ? `${annotator}, adjudicator` : annotator)
		$("export-format").replaceChildren(...formats.map(format => html("option", {value: format.value}, format.name)))
		const sheet = make(wire), pairs = asked() ? [{k: asked()}] : await toDo(wire)
		document.body.dataset.state = "ready"
		const open = ({state}) => state === "open" || state === "reopened" // not one on which all agree
		await sheet.load((pairs.find(open) || pairs.find(({done, state}) => !done && state !== "done") || pairs[0]).k, false)
		if (!sheet.pair) document.body.dataset.state = "failed"
	} catch (error) {
		document.body.dataset.state = "failed"
		say("start-text", error.message)
	}
}
