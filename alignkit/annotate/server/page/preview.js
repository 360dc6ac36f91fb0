// A pair of a draft, drawn with the matrix of the page.
import {$, html, say} from "./dom.js"
import {plural} from "./manage.js"
import {Matrix} from "./matrix.js"
import {Pair} from "./model.js"

const MOST = 20000
const LEAST = 18 // cells in all, places of one
const matrix = new Matrix($("matrix"))
const side = (words, direction) => html("p", {dir: direction}, words.join(" "))

// Show a pair; `suggests` says whether these links will be suggested, `makes` whether a project is
// made of it.
export function preview(
	{k, pairs, id, source, target, links, by, label, direction},
	suggests,
	aligned,
	makes,
) {
	say("pair-title", k === 1 ? "First pair" : `Pair ${id}`)
	say("pair-place", `${k.toLocaleString("en")} of ${pairs.toLocaleString("en")}`)
	$("previous").disabled = k <= 1
	$("next").disabled = k >= pairs
	const cells = source.length * target.length
	const drawn = aligned && cells > 0 && cells < MOST
	$("matrix").hidden = !drawn
	$("texts").replaceChildren()
	if (!drawn) $("texts").append(side(source, direction.source), side(target, direction.target))
	const noun = `${suggests ? "suggested" : "linked"} by ${by}`
	const unseen = !suggests && "annotators do not see these links"
	const words = links.map(([i, j]) => `${source[i] ?? "∅"} ~ ${target[j] ?? "∅"}`)
	say(
		"pair-note",
		[
			links.length ? `${suggests ? "○ " : ""}${noun}` : "no links",
			makes && links.length && unseen,
			label,
		]
			.filter(Boolean)
			.join("; "),
	)
	if (!drawn) return
	const state = {cells: suggests ? [] : links, bulk: [], rejected: [], comments: []}
	const suggestions = suggests
		? {cells: links.map(([i, j, value]) => [i, j, value === 2 ? null : 0.6, value])}
		: null
	matrix.load(
		new Pair({source, target, state, suggestions}),
		direction.target === "rtl",
		direction.source === "rtl",
		LEAST,
	)
	matrix.root.setAttribute(
		"aria-label",
		`${plural(links.length, "link")} ${noun}: ${words.join(", ")}`,
	)
}
