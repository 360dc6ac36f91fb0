// The dashboard: how far annotators agree and how far they are, without reloading.
import {$, html, say} from "./dom.js"
import {corrected} from "./corrections.js"
import {clock, computing, duration, figure, follow, number} from "./figures.js"
import {page} from "./place.js"
import {admitted} from "./server.js"
import {percent, trained} from "./trained.js"
import {plural} from "./words.js"

const LEVELS = ["phrases.sure", "phrases.possible", "words.sure", "words.possible"]
const row = (kind, ...cells) => html("tr", {class: kind || null}, ...cells)
const head = (...what) => html("th", {scope: "row", dir: "auto"}, ...what)
const cell = (...what) => html("td", {}, ...what)
const two = ({first, second}) => head(`${first} ~ ${second}`)
const last = (view, name) => (name in view.mean ? cell(...figure(view.mean[name])) : cell())

function draw(view) {
	const age = `as of ${clock(view.at)}`
	const updated = view.running ? "; being updated" : ""
	const adjudicated = `${view.settled} of ${plural(view.pairs, "pair")} adjudicated`
	say("progress-text", `${adjudicated}, ${age}${updated}`)
	for (const place of document.querySelectorAll(".as-of")) place.textContent = `, ${age}`
	Object.assign($("progress"), {value: view.settled, max: Math.max(view.pairs, 1)})
	const {activeElement: focused} = document
	const at = focused?.dataset?.pair
	document.body.dataset.task = view.judged ? "judge" : ""
	$("annotators").replaceChildren(...view.annotators.map(annotator))
	training(view.training)
	if (view.judged) labels(view)
	else links(view)
	const {cautions} = view
	$("care").hidden = !cautions.length
	$("care")
		.querySelector("ul")
		.replaceChildren(
			...cautions.map(({pairings, says, instead}) =>
				html(
					"li",
					{dir: "auto"},
					html("b", {}, pairings.join("; ")),
					pairings.length ? ": " : "",
					`${says}: ${instead}`,
				),
			),
		)
	say("commands", view.commands.join("\n") || view.reason)
	if (at) document.querySelector(`a[data-pair="${at}"]`)?.focus({preventScroll: true})
	document.body.dataset.n = view.n
	document.body.dataset.at = view.running ? "" : view.at
}

function links(view) {
	$("twos").replaceChildren(...agreement(view))
	$("beyond").replaceChildren(...beyond(view))
	$("lowest").replaceChildren(
		...(view.lowest.length
			? view.lowest.map(pair)
			: [nothing(view.twos, "agree on all pairs that two have done", 4)]),
	)
	corrected(view)
	const {pull, accepted, unseen, rejected, cautions} = view.pull
	$("pull").replaceChildren(
		entry(
			"pull",
			...figure(pull, {
				signed: true,
				more: pull.value === null ? "" : plural(pull.pairs ?? 0, "pair"),
			}),
		),
		...(pull.value === null
			? []
			: [
					entry("accepted", ...figure(accepted)),
					entry("of these not looked at", ...figure(unseen)),
					entry("rejected", ...figure(rejected)),
				]),
	)
	$("cautions").replaceChildren(...cautions.map(text => html("li", {}, text)))
}

// Where pairs are judged: kappa of labels, and the pairs with different ones.
function labels(view) {
	const {twos, same, kappa, pairs, differ} = view.judged
	const rows = twos.map(one =>
		row(
			"",
			two(one),
			cell(String(one.pairs)),
			cell(...figure(one.same)),
			cell(...figure(one.kappa)),
		),
	)
	if (twos.length > 1)
		rows.push(
			row(
				"mean",
				head(`mean of ${twos.length}`),
				cell(),
				cell(...figure(same)),
				cell(...figure(kappa)),
			),
		)
	$("judged").replaceChildren(
		...(twos.length
			? rows
			: nobody({reason: view.reason || "no two annotators have given labels yet"}, 4)),
	)
	say("differ", differ > pairs.length ? `, the first ${pairs.length} of ${differ}` : "")
	$("differing").replaceChildren(
		...(pairs.length
			? pairs.map(differing)
			: [nothing(twos, "gave each pair that two have judged the same label and flags", 3)]),
	)
}

const said = ([text, times]) =>
	html("span", {dir: "auto"}, html("b", {}, text), times > 1 ? ` × ${times}` : "")
const differing = one =>
	row(
		"",
		cell(...one.judgments.flatMap((each, at) => (at ? [" / ", said(each)] : [said(each)]))),
		...named(one),
	)
const nothing = (twos, told, columns) =>
	row(
		"",
		html(
			"td",
			{colspan: columns},
			twos.some(({pairs}) => pairs)
				? `none: annotators ${told}`
				: "no pair is done by two annotators yet",
		),
	)

// Who has passed the training round.
function training(round) {
	$("training").hidden = !round
	if (!round) return
	const {lines, pairs, mark} = round
	$("trained").replaceChildren(
		...(lines.length
			? lines.map(line => row("", head(line.name), cell(trained(line, pairs.length))))
			: [row("", html("td", {colspan: 2}, "nobody has begun yet"))]),
	)
	say(
		"training-about",
		`F1 of ${percent(mark)} over ${plural(pairs.length, "pair")} with the links of ${round.gold} ` +
			"passes. The answers count nowhere else on this page.",
	)
}

const entry = (name, ...what) => html("div", {}, html("dt", {}, name), html("dd", {}, ...what))
const nobody = (view, columns) => [
	row("", html("td", {colspan: columns}, html("span", {class: "none"}, "-"), ` ${view.reason}`)),
]

function agreement(view) {
	if (view.reason) return nobody(view, 8)
	const rows = view.twos.map(one =>
		row(
			"",
			two(one),
			cell(String(one.pairs)),
			...["words.sure.f1", "words.possible.f1", "different.cells.all.kappa", "cells.all.kappa"].map(
				name => cell(...figure(one.figures[name])),
			),
			cell(one.links ? `${one.bulk} of ${one.links}` : "-"),
			cell(
				one.bulk
					? ["sure", "possible"]
							.map(name => `${name} ${number(one.apart[`words.${name}.f1`].value)}`)
							.join(", ")
					: "the same",
			),
		),
	)
	if (view.twos.length < 2) return rows
	return [
		...rows,
		row(
			"mean",
			head(`mean of ${view.twos.length}`),
			cell(),
			last(view, "words.sure.f1"),
			last(view, "words.possible.f1"),
			last(view, "different.cells.all.kappa"),
			last(view, "cells.all.kappa"),
			cell(),
			cell(),
		),
	]
}

// The model of chance, and for how many pairs both saw the links that it edits.
function chance({chance, shown, pairs}) {
	const some = shown !== null && shown < pairs
	return [
		chance || "-",
		some ? html("small", {}, ` both saw the initial links for ${shown} of ${pairs} pairs`) : "",
	]
}

function beyond(view) {
	if (view.reason) return nobody(view, 6)
	const none = {value: null, reason: "nothing to compare"}
	const rows = view.twos.map(one =>
		row(
			"",
			two(one),
			...LEVELS.map(level => cell(...figure(one.beyond[level] ?? none))),
			cell(...chance(one)),
		),
	)
	if (view.twos.length < 2) return rows
	return [
		...rows,
		row(
			"mean",
			head(`mean of ${view.twos.length}`),
			...LEVELS.map(level => last(view, `${level}.C`)),
			cell(),
		),
	]
}

function annotator({name, done, pairs, seconds, left, reason}) {
	const none = () =>
		cell(html("span", {class: "none"}, "-"), html("small", {class: "why"}, ` ${reason}`))
	let rest = seconds === null ? "-" : duration(left)
	if (pairs && done >= pairs) rest = "done"
	return row(
		"",
		head(name),
		cell(html("b", {}, String(done)), ` of ${pairs}`),
		seconds === null ? none() : cell(duration(seconds)),
		cell(rest),
	)
}

const pair = one => row("", cell(number(one.possible)), cell(number(one.sure)), ...named(one))

// The cells that name a pair, as a link where it can be adjudicated, and show its texts.
function named({k, id, source, target, ready, settled}) {
	const name = ready ? html("a", {href: `${page("adjudicate")}?pair=${k}`, "data-pair": k}, id) : id
	let told = ready ? "" : "not yet done by all"
	if (settled) told = "adjudicated"
	return [
		html("td", {dir: "auto"}, name, told ? html("small", {}, ` ${told}`) : ""),
		html("td", {class: "text"}, html("p", {dir: "auto"}, source), html("p", {dir: "auto"}, target)),
	]
}

function told(view, problem) {
	$("state").classList.toggle("bad", !!problem)
	if (view?.progress !== undefined) say("state", problem || computing(view))
	else say("state", problem)
	if (view && view.progress === undefined) draw(view)
}

async function start() {
	const project = await admitted({
		progress: ({text, start: go}) => {
			say("start-text", text)
			go?.()
		},
	})
	if (project.role === "annotator")
		throw new Error("The dashboard is for adjudicators: alignkit annotate PROJECT --adjudicate")
	document.body.dataset.task = project.task
	say("project", project.name)
	say("annotator", `${project.annotator}, ${project.role}`)
	document.body.dataset.state = "ready"
	follow(project, told)
}

start().catch(error => {
	document.body.dataset.state = "failed"
	say("start-text", error.message)
})
