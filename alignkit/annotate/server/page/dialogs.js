// Help, find and history, loaded when they are asked for.
import {$, button, html, item, key, on} from "./dom.js"
import {KEYS} from "./keys.js"
import {writesOf} from "./model.js"
import {show} from "./question.js"
import {describe} from "./words.js"

export function help(keys = KEYS) {
	$("help-body").replaceChildren(...Object.entries(keys).map(([name, rows]) => html("section", {}, html("h3", {}, name),
		html("dl", {}, ...rows.filter(([, , about]) => about).map(([keys, , about, shown]) => html("div", {}, html("dt", {}, key(shown || keys.split(" ")[0])), html("dd", {}, about)))))))
	show("help-dialog")
}

// Find a pair by id, words or comments; the queue where nothing is asked for.
export function finder(wire, go) {
	const input = $("find-text"), list = $("find-list")
	let timer = 0, turn = 0
	const choose = k => () => {
		$("find-dialog").close()
		go(k)
	}
	const row = ({k, id, done, links, comments, text = ""}) => html("li", {}, button(choose(k), "", html("span", {}, id),
		html("small", {}, [done ? "done" : "open", links && `${links} links`, comments && `${comments} comments`].filter(Boolean).join(", ")), html("em", {dir: "auto"}, [text].flat().join(" "))))
	const ask = async k => {
		const mine = ++turn, words = input.value.trim()
		let rows = [], message = "no pair has this in its id, words or comments"
		try {
			rows = (words ? await wire.find(words) : await wire.queue(Math.max(0, k - 3))).pairs.slice(0, 50)
			if (rows.length) message = ""
		} catch (error) {
			message = error.message
		}
		if (mine !== turn) return
		$("find-message").textContent = message
		list.replaceChildren(...rows.map(row))
	}
	on(input, "input", () => {
		clearTimeout(timer)
		timer = setTimeout(ask, 120, 1)
	})
	on(input, "keydown", event => event.key === "Enter" && list.querySelector("button")?.click())
	return k => {
		show("find-dialog")
		input.select()
		ask(k)
	}
}

const HOW = {accept: "accepted ", "accept-all": "accepted all: ", import: "imported: ", restore: "restored: "}
const KINDS = {undo: "undone: ", redo: "redone: ", text: "the text changed: "}

// What happened to an aligned pair, in words.
export const happened = view => event => (KINDS[event.kind] || HOW[event.data.how] || "") + describe(view, writesOf(event))

// List the events of a pair, the newest first; `told` puts one into words.
export async function history(wire, k, told) {
	const list = $("history-list")
	list.replaceChildren(item("…"))
	show("history-dialog")
	try {
		const {events} = await wire.history(k)
		list.replaceChildren(...events.slice(-300).reverse().map(event => item(html("span", {dir: "auto"}, event.kind === "open" ? "opened" : told(event)),
			html("small", {}, `${event.seq}, ${event.actor}, ${new Date(event.at || event.client_at).toLocaleString()}`))))
	} catch (error) {
		list.replaceChildren(item(error.message))
	}
}
