// Help, find and history, loaded when they are asked for.
import {$, button, html, item, key, on, set} from "./dom.js"
import {KEYS} from "./keys.js"
import {writesOf} from "./model.js"
import {show} from "./question.js"
import {describe, plural} from "./words.js"

export function help(keys = KEYS) {
	$("help-body").replaceChildren(
		...Object.entries(keys).map(([name, rows]) =>
			html(
				"section",
				{},
				html("h3", {}, name),
				html(
					"dl",
					{},
					...rows
						.filter(([, , about]) => about)
						.map(([keys, , about, shown]) =>
							html(
								"div",
								{},
								html("dt", {}, key(shown || keys.split(" ")[0])),
								html("dd", {}, about),
							),
						),
				),
			),
		),
	)
	show("help-dialog")
}

const FILTERS = [
	["", "All"],
	["open", "Open"],
	["done", "Done"],
	["flagged", "Flagged"],
	["commented", "Commented"],
	["mine", "Mine"],
]
const PART = 200 // pairs that are listed at once
const state = ({done, links, comments}) =>
	[done ? "done" : "open", links && plural(links, "link"), comments && plural(comments, "comment")]
		.filter(Boolean)
		.join(", ")

// List all pairs, or find some by id, words or comments and by kind. `told(pair)` is said of each;
// `about(answer)`, of what the server told, may say something of all.
export function finder(app, told = state, about = () => "") {
	const {wire} = app
	const input = $("find-text")
	const list = $("find-list")
	let timer = 0
	let turn = 0
	let only = ""
	const choose = k => () => {
		$("find-dialog").close()
		app.load(k)
	}
	const row = pair =>
		item(
			set(
				button(
					choose(pair.k),
					pair.k === app.doc.k ? "current" : "",
					html("span", {dir: "auto"}, pair.id),
					html("small", {}, told(pair)),
					html("em", {dir: "auto"}, pair.text || ""),
				),
				{"data-k": pair.k},
			),
		)
	const others = (from, text) =>
		item(
			button(
				async () => {
					await ask(from)
					list.querySelector("[data-k]")?.focus()
				},
				"",
				text,
			),
		)
	const ask = async after => {
		const mine = ++turn
		const text = input.value.trim()
		let rows = []
		let message
		try {
			const answer = await wire.find(text, only, after, PART)
			const {pairs, total, listed = total} = answer
			const end = after + pairs.length
			rows = pairs.map(row)
			if (after) rows.unshift(others(Math.max(0, after - PART), plural(after, "earlier pair")))
			if (end < listed) rows.push(others(end, plural(listed - end, "more pair")))
			if (rows.length) message = about(answer)
			else if (text) message = "no pair has this in its id, words or comments"
			else message = "there is no such pair"
		} catch (error) {
			message = error.message
		}
		if (mine !== turn) return
		$("find-message").textContent = message
		list.replaceChildren(...rows)
		list.scrollTop = text
			? 0
			: (list.querySelector(".current")?.offsetTop ?? 0) - list.clientHeight / 2
	}
	const kinds = FILTERS.map(([value, name]) =>
		button(
			() => {
				only = value
				for (const [at, kind] of kinds.entries()) {
					set(kind, {"aria-pressed": FILTERS[at][0] === only})
				}
				ask(0)
			},
			"chip",
			name,
		),
	)
	set(kinds[0], {"aria-pressed": true})
	kinds[5].title =
		app.project.role === "adjudicator"
			? "pairs in which you have decided something"
			: "pairs that you have worked on"
	input.after(html("p", {class: "kinds", role: "group", "aria-label": "Which pairs"}, ...kinds))
	on(input, "input", () => {
		clearTimeout(timer)
		timer = setTimeout(ask, 120, 0)
	})
	on(input, "keydown", async event => {
		if (event.key !== "Enter") return
		clearTimeout(timer)
		await ask(0) // what is listed may be of another text
		list.querySelector("[data-k]")?.click()
	})
	return () => {
		show("find-dialog")
		input.select()
		return ask(input.value.trim() || only ? 0 : PART * Math.floor((app.doc.place - 1) / PART))
	}
}

const HOW = {
	accept: "accepted ",
	"accept-all": "accepted all: ",
	import: "imported: ",
	restore: "restored: ",
}
const KINDS = {undo: "undone: ", redo: "redone: ", text: "the text changed: "}

// What happened to an aligned pair, in words.
export const happened = view => event =>
	(KINDS[event.kind] || HOW[event.data.how] || "") + describe(view, writesOf(event))

// List the events of a pair, the newest first; `told` puts one into words.
export async function history(wire, k, told) {
	const list = $("history-list")
	list.replaceChildren(item("…"))
	show("history-dialog")
	try {
		const {events} = await wire.history(k)
		list.replaceChildren(
			...events
				.slice(-300)
				.reverse()
				.map(event =>
					item(
						html("span", {dir: "auto"}, event.kind === "open" ? "opened" : told(event)),
						html(
							"small",
							{},
							`${event.seq}, ${event.actor}, ${new Date(event.at || event.client_at).toLocaleString()}`,
						),
					),
				),
		)
	} catch (error) {
		list.replaceChildren(item(error.message))
	}
}
