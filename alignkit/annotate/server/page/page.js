// What all pages of pairs share: what is said of saving, and a gate. From the moment that a pair is left until the next is
// drawn, no key, click or touch acts.
import {$, announce, on, set} from "./dom.js"
import {plural} from "./words.js"

export class Page {
	turn = 0 // another one each time a pair is left
	#shut = false
	#down = false // a pointer, on anything
	#late = false // the click to come began before this pair was drawn
	#early = 0 // inputs that were ignored
	#why = "" // what waits is not stored, where the server says so

	constructor(wire) {
		on(wire, "status", ({detail: {state, text, why}}) => {
			$("saved").dataset.state = state
			if ($("saved").textContent !== text) $("saved").textContent = $("saved").title = text
			if (why && why !== this.#why) this.say(text)
			this.#why = why
		})
		on(window, "pointerdown pointerup pointercancel", ({type}) => {
			this.#down = type === "pointerdown"
			if (this.#down) this.#late = this.#shut
		}, true)
		on(window, "keydown beforeinput pointerdown click", event => this.#stop(event), true)
	}

	// Open another pair by `act`, which gets the turn: once this.turn is another one, something else leads away.
	async leaving(act) {
		const turn = ++this.turn, part = document.querySelector("main")
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
				const {note} = this, said = $("live").textContent
				if (this.#early) announce(`${said}; ${this.#tell(this.#early, note, false)}`)
				this.#early = 0
			}
		}
	}

	find() {
		this.late("dialogs", ({finder}) => (this.finding ||= finder(this.wire, k => this.load(k)))(this.doc.place))
	}

	// Load a module that is seldom asked for, and go on with it.
	async late(name, act) {
		const found = await this.leaving(() => import(`./${name}.js`)).catch(() => this.say("the server cannot be reached"))
		if (found) act(found)
	}

	#stop(event) {
		const {type, key, detail, repeat} = event, own = /^(Alt|Caps|Control|F\d|Meta|Shift|Tab)/.test(key), late = this.#late && type === "click" && detail
		if (!this.#shut && !late) return
		event.stopImmediatePropagation()
		if (!own && !(key && (event.ctrlKey || event.metaKey || event.altKey))) event.preventDefault() // browsers keep their keys
		if (late) this.#late = false // it was told as it began
		else if (!own && !repeat && type !== "beforeinput") this.#tell(++this.#early)
	}

	#tell(early, note, aloud) {
		const text = `${plural(early, "input")} ignored: the page was not ready`
		this.say(note && note !== text ? `${note}; ${text}` : text, aloud)
		return text
	}
}
