// The panel with what the annotator linked a word to, loaded when it is asked for.
import {$, button, html, item} from "./dom.js"
import {plural} from "./words.js"

const SIDES = ["source", "target"]
const MOST = 12

const counterpart = ({counterpart, sure, possible}) => {
	const counts = [sure && `${sure} sure`, possible && `${possible} possible`]
		.filter(Boolean)
		.join(", ")
	return item(html("span", {dir: "auto"}, counterpart), " ", html("small", {}, counts))
}

// Show the concordance of the word of a side under the cursor, over the annotator's own pairs.
export async function ownLinks(app, side) {
	const {pair, cursor, doc} = app
	const word = (side ? pair.target : pair.source)[cursor[side]]
	if (word === undefined) return app.say("no word here")
	let answer
	try {
		answer = await app.wire.concordance(word, SIDES[side])
	} catch ({message}) {
		return app.say(message)
	}
	if (app.doc !== doc) return
	const {counterparts, lines, total, not_annotated: open, not_searched: beyond} = answer
	const line = ({k, id, status, left, word, right, counterpart}) =>
		item(
			button(
				() => app.load(k),
				k === doc.k ? "current" : "",
				html("span", {dir: "auto"}, `${left} `, html("strong", {}, word), ` ${right}`),
				html("small", {dir: "auto"}, `${id}: ${counterpart || status}`),
			),
		)
	const more = [
		open && `${open} more in pairs you have not annotated`,
		total > lines.length && `${total - lines.length} lines not listed`,
		beyond && `${plural(beyond, "pair")} not searched`,
	]
	$("own-word").textContent = `${word} (${SIDES[side]})`
	$("own-count").textContent = [`linked by you: ${plural(total, "occurrence")}`, ...more]
		.filter(Boolean)
		.join("; ")
	$("own-counterparts").replaceChildren(...counterparts.slice(0, MOST).map(counterpart))
	const beyondMost = counterparts.length - MOST
	if (beyondMost > 0) $("own-counterparts").append(item(`and ${beyondMost} more`))
	$("own-lines").replaceChildren(...lines.map(line))
	$("own-links").hidden = false
	$("own-links").scrollIntoView({block: "nearest"})
	app.say(`${word}: ${plural(total, "occurrence")}, ${plural(counterparts.length, "counterpart")}`)
}
