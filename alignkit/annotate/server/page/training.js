// The training round: before other work, one draws the links of pairs whose gold is known. An answer
// is sent when its pair is done; until then the edits are in this tab alone. Then the server says
// what differs, and why.
import {$, announce, button, html, item, say} from "./dom.js"
import {percent} from "./trained.js"
import {NAMES, plural} from "./words.js"

const GO_ON = ["accept", "done", "mark", "next"]
const NOT_KEPT = ["comment", "label"]
const SIGNS = ["−", "?", "+"] // by what gold has: remove it, only possible, add it

// What differs in a cell, in words.
function differs({own, gold}) {
	if (!own) return `missing: ${NAMES[gold]} in gold`
	if (!gold) return `extra: ${NAMES[own]} here, no link in gold`
	return `${NAMES[own]} here, ${NAMES[gold]} in gold`
}

// What a page of training has in place of the wire: pairs come one after the other, and events wait
// in this tab until the pair is answered.
class Rehearsal extends EventTarget {
	constructor(wire) {
		super()
		this.wire = wire
		this.project = {...wire.project, done: 0}
		this.events = []
		wire.addEventListener("status", ({detail}) => this.#tell(detail))
	}

	// The next pair, as the server has it.
	async next() {
		this.turn = await this.wire.get("training")
		this.shelf = `${this.project.box} training ${this.turn.round} ${this.turn.attempt} ${this.turn.place}`
		this.events = JSON.parse(sessionStorage.getItem(this.shelf) || "[]")
		return this.turn
	}

	async pair() {
		return {...this.turn.pair, pending: this.events.slice()}
	}

	prefetch() {}

	newId() {
		return this.wire.newId()
	}

	push(_, __, event) {
		this.events.push(event)
		if (event.kind === "done") return // a reload leads back to the open pair
		sessionStorage.setItem(this.shelf, JSON.stringify(this.events))
		this.#tell({state: "saved", text: "In this tab until it is done"})
	}

	async answer(links) {
		const {round, attempt, place} = this.turn
		const report = await this.wire.get("training/answer", false, {round, attempt, place, links})
		sessionStorage.removeItem(this.shelf)
		this.#tell({state: "saved", text: "Saved"})
		return report
	}

	find(...asked) {
		return this.wire.find(...asked)
	}

	concordance(...asked) {
		return this.wire.concordance(...asked)
	}

	history(k) {
		return this.wire.history(k)
	}

	download(format) {
		return this.wire.download(format)
	}

	settled() {
		this.wire.settled()
	}

	#tell(detail) {
		this.dispatchEvent(new CustomEvent("status", {detail}))
	}
}

// The links of a pair, without nulls: [source word, target word, 1 possible or 2 sure].
function linksOf(pair) {
	const links = []
	for (let i = 0; i < pair.n; i++) {
		for (let j = 0; j < pair.m; j++) {
			const value = pair.values[pair.at(i, j)]
			if (value) links.push([i, j, value])
		}
	}
	return links
}

const trainee = App =>
	class extends App {
		report = null // what differs in this pair, once it is answered

		run(action, keyName) {
			if (this.report && GO_ON.includes(action)) this.proceed()
			else if (NOT_KEPT.includes(action)) this.say("comments and labels are not kept in training")
			else super.run(action, keyName)
		}

		commit(kind, data, told) {
			if (!this.report || kind === "open") return super.commit(kind, data, told)
			this.say("this pair is answered: Enter goes on")
			return null
		}

		async turnTo(...turn) {
			this.report = null
			this.done = this.wire.turn.place - 1
			await super.turnTo(...turn)
			this.introduce()
		}

		// Done: the answer is sent, and what differs is shown.
		async onward() {
			try {
				this.report = await this.wire.answer(linksOf(this.pair))
			} catch ({message}) {
				const done = this.session.pending.filter(({kind}) => kind === "done")
				this.folded(() => this.session.refuse(done))
				this.wire.events = this.wire.events.filter(event => !done.includes(event))
				this.say(message)
				return
			}
			this.tell()
		}

		matrixSigns() {
			if (!this.report) return super.matrixSigns()
			return this.report.differences.map(({cell, own, gold}) => [
				cell,
				SIGNS[gold],
				own === 2 ? "differs linked" : "differs",
			])
		}

		// What the training is, before a pair.
		introduce() {
			const {size, mark, attempt, place, failed, so_far: soFar} = this.wire.turn
			const parts = []
			if (failed !== null) {
				const text = `Attempt ${attempt - 1} reached ${percent(failed)}. Here is attempt ${attempt}.`
				parts.push(html("p", {}, text))
			}
			parts.push(
				html(
					"p",
					{class: "quiet"},
					"Draw the links yourself, as the guidelines say. After each pair you see what differs " +
						`from gold. F1 of ${percent(mark)} over ${plural(size, "pair")} passes; then your work begins.`,
				),
			)
			if (soFar !== null) parts.push(html("p", {}, `F1 so far: ${percent(soFar)}`))
			this.#panel(`Training, pair ${place} of ${size}, attempt ${attempt}`, parts)
			document.body.dataset.training = "open"
			$("unfold").ariaExpanded = "false"
		}

		// What differs in the pair, and what comes next.
		tell() {
			const {id, f1, common, drawn, wanted, differences, note, place} = this.report
			const {size} = this.wire.turn
			const [title, text, next] = this.#outcome()
			const right = `${id}: F1 ${percent(f1)}; ${common} of ${plural(drawn, "link")} right, gold has ${wanted}.`
			const rows = differences.map(row => this.#row(row))
			const parts = [html("p", {}, text), html("p", {class: "quiet"}, right)]
			if (note) parts.push(html("p", {dir: "auto"}, note))
			if (rows.length) {
				parts.push(html("h3", {}, `What differs: ${plural(rows.length, "cell")}`))
				const legend = "+ sure in gold, ? possible in gold, − no link in gold"
				parts.push(html("p", {class: "quiet"}, legend), html("ul", {class: "list"}, ...rows))
			} else parts.push(html("p", {}, "Nothing differs from gold."))
			const on = button(() => this.proceed(), "main", next)
			parts.splice(2, 0, html("p", {class: "row"}, on))
			this.#panel(title || `Training, pair ${place} of ${size}: answered`, parts)
			document.body.dataset.training = "answered"
			say("done", next)
			this.redrawn()
			on.focus()
			announce(`${title} ${text} ${right} ${plural(rows.length, "cell")} to look at.`)
		}

		#outcome() {
			const {state, so_far: soFar} = this.report
			const {size, mark} = this.wire.turn
			const reached = `F1 over ${plural(size, "pair")}: ${percent(soFar)}. ${percent(mark)} passes.`
			if (state === "passed") return ["You have passed.", reached, "Begin to work"]
			if (state === "failed")
				return ["You have not passed yet.", `${reached} Look at what differs.`, "Try again"]
			return ["", `F1 so far: ${percent(soFar)}`, "Next pair"]
		}

		#row({cell: [i, j], own, gold, note}) {
			const words = html("span", {dir: "auto"}, `${this.pair.source[i]} – ${this.pair.target[j]}`)
			const parts = [words, html("small", {}, differs({own, gold}))]
			if (note) parts.push(html("small", {dir: "auto"}, note))
			return item(button(() => this.go([i, j], true), "", ...parts))
		}

		#panel(title, parts) {
			$("training").replaceChildren(html("h2", {}, title), ...parts)
		}

		// On to the next pair, the next attempt, or the work.
		async proceed() {
			if (this.report.state === "passed") return location.reload()
			try {
				const {pair, place} = await this.wire.next()
				if (!pair) return location.reload() // somebody let one begin, or there is no round any more
				await this.load(place, false)
			} catch ({message}) {
				this.say(message)
			}
		}
	}

// Begin with the next pair; `App` is the page of pairs.
export async function train(wire, App) {
	const rehearsal = new Rehearsal(wire)
	const {pair, place} = await rehearsal.next()
	if (!pair) return location.reload()
	const link = {rel: "stylesheet", href: new URL("training.css", import.meta.url).href}
	document.head.append(html("link", link))
	document.body.dataset.training = "open"
	$("training").hidden = false
	const app = new (trainee(App))(rehearsal)
	document.body.dataset.state = "ready"
	await app.load(place, false)
}
