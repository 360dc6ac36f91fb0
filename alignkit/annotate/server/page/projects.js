// The projects: a table for those who manage, cards for annotators.
import {$, button, html, on, say} from "./dom.js"
import {api, bar, cell, head, pageOf, plural, root, rows, tried, when} from "./manage.js"
import {SAMPLES} from "./samples.js"
import {begin, seenAgain} from "./tabs.js"
import {send} from "./upload.js"

const LATER = 10000
const TASKS = {align: "align", judge: "judge", extract: "take pairs"}
const CARDS = {align: "Align words", judge: "Judge pairs", extract: "Take pairs"}
const dot = (...parts) => parts.filter(Boolean).join(" · ")

// "155 to go, about 2 h"
function rest({mine: [done, all], left}) {
	if (!all) return "nothing is assigned to you yet"
	if (done === all) return "all done"
	const time =
		left && (left < 60 ? plural(Math.ceil(left), "minute") : `${Math.round(left / 60)} h`)
	return `${(all - done).toLocaleString("en")} to go${time ? `, about ${time}` : ""}`
}

function unsuggested(hidden, all) {
	const verb = hidden === 1 ? "has" : "have"
	const pairs = `${hidden.toLocaleString("en")} of your ${plural(all, "pair")} ${verb} no suggestions`
	return `${pairs}, to measure how much suggestions influence people.`
}

function card(project, at) {
	const {
		name,
		slug,
		task,
		mine: [done, all],
		state,
		hidden,
		trains,
	} = project
	const archived = state === "archived"
	const kind = `button${at || archived ? "" : " main"}`
	let word = "Start"
	if (archived) word = "Read"
	else if (trains) word = "Train"
	else if (done === all) word = "Look again"
	else if (done) word = "Continue"
	const title = html("h2", {dir: "auto"}, name)
	const open = html(
		"a",
		{class: kind, href: pageOf(task, slug), "aria-label": `${word}: ${name}`},
		word,
	)
	return html(
		"article",
		{class: at ? "card" : "card first"},
		title,
		html("p", {class: "quiet"}, dot(CARDS[task], archived ? "archived: read only" : rest(project))),
		...(trains ? [html("p", {}, "A training round comes first.")] : []),
		...(hidden ? [html("p", {class: "quiet"}, unsuggested(hidden, all))] : []),
		bar(done, all, `${name}, done`),
		open,
	)
}

const reopened = ({name, slug, task, reopened: pairs}) =>
	pairs.map(([k, reason]) =>
		html(
			"li",
			{},
			html(
				"a",
				{href: `${pageOf(task, slug)}?pair=${k}`},
				html("b", {dir: "auto"}, `${name}, pair ${k}`),
				html("small", {dir: "auto"}, reason),
			),
		),
	)

function row(project) {
	const {name, slug, task, languages, state, done, decided, pairs, needs, annotators} = project
	const {last, made} = project
	const about = html("small", {}, dot(TASKS[task], languages.replace("-", "–")))
	if (state === "making")
		return [
			head(html("b", {}, name), about),
			cell(html("progress", {"aria-label": `${name}, being made`}), " being made"),
			cell(),
			cell(),
			cell(),
		]
	return [
		head(html("a", {href: pageOf("", slug)}, name), about),
		cell(
			bar(done, pairs, `${name}, done`),
			` ${done} of ${pairs}`,
			decided ? html("small", {}, `${decided} with gold`) : "",
		),
		cell(
			needs && state === "open"
				? html("a", {class: "needs", href: pageOf(needs.page, slug)}, needs.text)
				: "",
		),
		cell(annotators.length ? annotators.join(", ") : html("span", {class: "quiet"}, "nobody yet")),
		html(
			"td",
			{class: "quiet"},
			...(last
				? [when(last)]
				: [
						Date.now() - new Date(made) < 864e5
							? "made today"
							: html("span", {}, "made ", when(made)),
					]),
		),
	]
}

// An owner asks whether imported work under one's name is one's own.
const claim = (me, load) => question =>
	html(
		"article",
		{class: "card"},
		html("h2", {}, "Is this your work?"),
		html(
			"p",
			{},
			`${question.by} has brought work by an annotator called ${me.account} `,
			`into the project ${question.name}. If it is yours, you become an annotator there, `,
			"and the work appears under your name.",
		),
		html(
			"p",
			{class: "ends"},
			...[
				["It is not mine", false],
				["It is mine", true],
			].map(([text, mine]) =>
				button(
					() =>
						tried(async () => {
							await api("POST", `me/claims/${question.project}`, {mine})
							await load()
						}, load),
					"",
					text,
				),
			),
		),
	)

function drawClaims(me, claims, load) {
	const part = $("claims")
	const tag = JSON.stringify(claims)
	part.hidden = !claims.length
	if (part.dataset.tag === tag) return
	part.dataset.tag = tag
	part.replaceChildren(...claims.map(claim(me, load)))
}

function draw(me, projects) {
	const managed = projects.filter(({role}) => role !== "annotator")
	const works = ({mine, trains}) => mine[1] > 0 || trains
	const own = projects.filter(
		project => project.role === "annotator" || (project.annotates && works(project)),
	)
	const manages = me.may_create || me.rank === "owner" || managed.length > 0
	const done = ({mine, state, trains}) =>
		state === "archived" || (!trains && mine[1] > 0 && mine[0] === mine[1])
	const open = own.filter(project => !done(project) && (works(project) || !manages))
	const finished = own.filter(done)
	const back = own.flatMap(reopened)
	$("work").hidden = manages && !own.length
	$("new").classList.toggle("main", !open.some(works))
	$("cards").replaceChildren(...open.filter(works).map(card))
	$("idle").hidden = manages || open.some(works)
	$("reopened").hidden = !back.length
	$("reopened-list").replaceChildren(...back)
	$("finished").hidden = !finished.length
	say("finished-count", `Finished, ${finished.length}`)
	$("finished-cards").replaceChildren(...finished.map(project => card(project, 1)))
	$("manage").hidden = !manages
	const archived = managed.filter(({state}) => state === "archived")
	const live = managed.filter(({state}) => state !== "archived")
	$("table").hidden = !live.length
	$("none").hidden = projects.length > 0
	rows($("current"), live, row, "slug")
	$("archived").hidden = !archived.length
	say("archived-count", `Archived, ${archived.length}`)
	rows($("old"), archived, row, "slug")
	return live.some(({state}) => state === "making")
}

// Go on with a draft that was begun, or begin one.
async function drafted(files) {
	const {drafts} = await api("GET", "drafts")
	const begun = !files && drafts.find(({project}) => !project)
	const {id} = begun || (await api("POST", "drafts", {}))
	for (const file of files || []) await send(id, file)
	location.assign(`${root}new/${id}`)
}

begin(async me => {
	let timer = 0
	async function load() {
		clearTimeout(timer)
		const {projects, claims} = await api("GET", "projects")
		drawClaims(me, claims, load)
		timer = setTimeout(() => load().catch(() => {}), draw(me, projects) ? 1000 : LATER)
	}
	for (const part of document.querySelectorAll(".creates"))
		part.hidden = !me.may_create && me.rank !== "owner"
	on($("new"), "click", () => tried(() => drafted()))
	on($("samples"), "click", () =>
		tried(() => drafted(SAMPLES.map(([name, text]) => new File([text], name)))),
	)
	await load()
	seenAgain(load)
})
