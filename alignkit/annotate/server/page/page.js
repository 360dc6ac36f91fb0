// What all pages of pairs share: entering, an open pair and its neighbours, what is said of saving,
// and a gate. From the moment that a pair is left until the next is drawn, no key, click or touch
// acts.
import {asked} from "./beginning.js"
import {$, announce, html, on, say, set} from "./dom.js"
import {enter} from "./wire.js"
import {plural} from "./words.js"

// Enter, and show whose page it is; `wait` gets what goes on at once, without suggestions.
export async function arrive(wait = go => go?.()) {
	const wire = await enter({
		progress({text, share, start: go}) {
			say("start-text", text)
			set($("start-bar"), {value: share})
			wait(go)
		},
	})
	const {name, annotator, role, formats} = wire.project
	const decides = role === "adjudicator"
	say("project", decides ? `${name}: adjudicate` : name)
	say("annotator", decides ? `${annotator}, adjudicator` : annotator)
	$("export-format")?.replaceChildren(
		...formats.map(format => html("option", {value: format.value}, format.name)),
	)
	return wire
}

// Run what makes a page, and show why it fails.
export const begin = start =>
	start().catch(error => {
		document.body.dataset.state = "failed"
		say("start-text", error.message)
	})

export class Page {
	turn = 0 // another one each time a pair is left
	#shut = false
	#down = false // a pointer, on anything
	#late = false // the click to come began before this pair was drawn
	#early = 0 // inputs that were ignored
	#why = "" // what waits is not stored, where the server says so
	first = 1 // the pair that is opened where the URL names none
	busy = "input, textarea, select, a, summary, dialog, label" // where a click keeps the focus

	// `noun` is what the page calls a pair.
	constructor(wire, noun = "pair") {
		const {project} = wire
		Object.assign(this, {
			wire,
			noun,
			project,
			done: project.done,
			n: project.n,
			note: "",
			turns: Promise.resolve(),
		})
		on(wire, "status", ({detail: {state, text, why}}) => {
			$("saved").dataset.state = state
			if ($("saved").textContent !== text) $("saved").textContent = $("saved").title = text
			if (why && why !== this.#why) this.say(text)
			this.#why = why
		})
		on(
			window,
			"pointerdown pointerup pointercancel",
			({type}) => {
				this.#down = type === "pointerdown"
				if (this.#down) this.#late = this.#shut
			},
			true,
		)
		on(window, "keydown beforeinput pointerdown click", event => this.#stop(event), true)
		on(document, "keydown", event => this.pressed(event))
		on(document, "click", event => this.clicked(event))
		on(wire, "events", ({detail}) => this.stored(detail))
		on(wire, "conflict", ({detail}) => this.refused(detail))
		on(
			wire,
			"acknowledged",
			({detail: {k, ids}}) =>
				this.session?.k === k && this.session.forget(ids) && this.folded(() => this.session.fold()),
		)
		on(wire, "leaving", () => this.leave())
		on(window, "resize", () => {
			clearTimeout(this.resizing)
			this.resizing = setTimeout(() => this.pair && this.lay?.(), 60)
		})
		on(document, "close", () => this.focus(), true) // of a dialog
		on(window, "popstate", () => this.load(asked() || this.first, false))
		if ($("export-link"))
			on($("export-link"), "click", () =>
				wire.download($("export-format").value).catch(error => this.say(error.message)),
			)
	}

	get pair() {
		return this.session?.view
	}

	// Is the pair done, and nothing another one since?
	get settled() {
		return this.pair.done
	}

	focus() {
		this.matrix.focus()
	}

	// Buttons name their action; a mouse gives the focus back.
	clicked({target, detail}) {
		const {action} = target.closest("[data-action]")?.dataset || {}
		if (action) this.run(action)
		if (
			detail &&
			!target.closest(this.busy) &&
			!document.querySelector("dialog[open], #conflict:not([hidden])")
		)
			this.focus()
	}

	load(k, keep = true) {
		return k
			? this.leaving(turn => this.turnTo(k, keep, turn))
			: this.say(`there is no further ${this.noun}`)
	}

	// The pair to open; nothing where it cannot be had, or something else leads away meanwhile.
	async fetched(k, keep, turn) {
		const doc = await this.wire
			.pair(k)
			.catch(
				({message, cause}) => this.say(message) || (cause === "moved" ? this.#another() : null),
			)
		if (!doc || turn !== this.turn) return null
		if (keep && asked() !== doc.k) window.history.pushState(null, "", `?pair=${doc.k}`)
		return doc
	}

	// The next open pair, as one was given to somebody else; nothing where there is no other.
	async #another() {
		for (const after of [(this.doc?.place ?? 1) - 1, 0]) {
			const next = (await this.wire.queue(after, 1000)).pairs.find(
				({k, done}) => !done && k !== this.doc?.k,
			)
			if (next) return this.wire.pair(next.k)
		}
	}

	// A pair as the server has it once all is stored; null where it is away.
	async fresh({k}) {
		try {
			return (await this.wire.sent(k)) && (await this.wire.peek(k))
		} catch {
			return null
		}
	}

	// How many pairs are done, from an answer that knows of all that is known here.
	tally({n, done, state}) {
		if (n >= this.n) Object.assign(this, {n, done: done + this.pair.done - state.done})
	}

	// What stands above a pair.
	heading(done, all, text = all) {
		const {doc, noun} = this
		say("pair-id", doc.id)
		$("pair-id").title = `${doc.id}, ${noun} ${doc.place} of ${doc.pairs}`
		document.title = `${doc.id}, ${this.project.name} - alignkit`
		set($("progress"), {max: all || 1, value: done})
		say("progress-text", `${done} / ${text}`)
		$("previous").disabled = !doc.previous
		$("next").disabled = !doc.next
		this.showDone()
	}

	showDone() {
		set($("done"), {"aria-pressed": this.settled})
		say("done", this.settled ? "Done" : "Mark done")
	}

	// Show what the server has that was not known here.
	stored({k, events}) {
		this.n = Math.max(this.n, events.at(-1).n)
		if (this.session?.k !== k) return
		this.folded(() => this.session.confirm(events))
		if (events.some(({kind}) => kind === "text")) this.load(k)
		document.body.dataset.seq = this.pair.seq
	}

	// Undo or redo, one after the other: a step may have to be asked for.
	reverse(kind) {
		const {doc} = this
		this.turns = this.turns
			.then(() => this.doc === doc && this.back(kind))
			.catch(({message}) => this.say(message))
	}

	// The pair with all steps, where there are some that the page has not been told of; null where it
	// cannot be had.
	async deeper(kind) {
		const {doc, wire} = this
		const all = await this.leaving(async () => (await wire.sent(doc.k)) && wire.pair(doc.k))
		if (!all) this.say(`there is more to ${kind} when the server is back`)
		return this.doc === doc && all
	}

	// Open another pair by `act`, which gets the turn: once this.turn is another one, something else
	// leads away.
	async leaving(act) {
		const turn = ++this.turn
		const part = document.querySelector("main")
		this.#shut = true
		if (this.#down && !this.#late) this.#late = !!++this.#early
		set(part, {"aria-busy": true})
		dispatchEvent(new Event("pointercancel")) // what is being drawn was meant for the pair that is left
		try {
			return await act(turn)
		} finally {
			if (turn === this.turn) {
				this.#shut = false
				set(part, {"aria-busy": null})
				const {note} = this
				const said = $("live").textContent
				if (this.#early) announce(`${said}; ${this.#tell(this.#early, note, false)}`)
				this.#early = 0
			}
		}
	}

	find() {
		this.late("dialogs", ({finder}) => {
			this.finding ||= finder(this)
			return this.finding()
		})
	}

	// Load a module that is seldom asked for, and go on with it.
	async late(name, act) {
		const found = await this.leaving(() => import(`./${name}.js`)).catch(() =>
			this.say("the server cannot be reached"),
		)
		if (found) act(found)
	}

	#stop(event) {
		const {type, key, detail, repeat} = event
		const own = /^(Alt|Caps|Control|F\d|Meta|Shift|Tab)/.test(key)
		const late = this.#late && type === "click" && detail
		if (!this.#shut && !late) return
		event.stopImmediatePropagation()
		// browsers keep their keys
		const ofBrowser = key && (event.ctrlKey || event.metaKey || event.altKey)
		if (!own && !ofBrowser) event.preventDefault()
		if (late)
			this.#late = false // it was told as it began
		else if (!own && !repeat && type !== "beforeinput") this.#tell(++this.#early)
	}

	#tell(early, note, aloud) {
		const text = `${plural(early, "input")} ignored: the page was not ready`
		this.say(note && note !== text ? `${note}; ${text}` : text, aloud)
		return text
	}
}
