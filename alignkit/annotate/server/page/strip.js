// The strip of figures at the bottom of the page of adjudicators.
import {html} from "./dom.js"
import {clock, computing, duration, figure, follow, main} from "./figures.js"
import {page} from "./place.js"
import {plural} from "./words.js"

const MOST = 2 // annotators that are told one by one

// Fill an element with the figures, and follow them; `project` holds the second secret.
// Nobody is named where `blind()` says so. Returns what stops it.
export function strip(element, project, blind = () => false) {
	return follow(project, (view, problem) => draw(element, view, problem, blind()))
}

function draw(element, view, problem, blind) {
	if (!view) {
		element.dataset.problem = problem
		element.title = problem
		return
	}
	delete element.dataset.problem
	element.removeAttribute("title")
	const dashboard = html("a", {href: page("dashboard")}, "Dashboard")
	if (view.progress !== undefined) {
		element.replaceChildren(
			html("dl", {}, part("figures", html("small", {}, computing(view)))),
			dashboard,
		)
		return
	}
	const age = html("small", {}, `as of ${clock(view.at)} `)
	element.replaceChildren(html("dl", {}, ...parts(view, blind)), html("span", {}, age, dashboard))
}

const part = (name, ...what) => html("div", {}, html("dt", {}, name), html("dd", {}, ...what))

function parts(view, blind) {
	const found = main(view)
	const {annotators, twos, pull, reason} = view
	const wait = {value: null, reason: reason || "nothing to compare"}
	const of = name => figure(found[name] ?? wait)
	const named = name => (twos.length > 1 ? `${name}, mean of ${twos.length}` : name)
	const shown = reason
		? [part("agreement", ...figure(wait))]
		: [
				part(named("F1, sure"), ...of("words.sure.f1")),
				part(named("F1, possible"), ...of("words.possible.f1")),
				part(named("kappa"), ...of("different.cells.all.kappa")),
				part(named("C, phrases"), ...of("phrases.sure.C")),
			]
	return [...shown, ...people(annotators, blind), ...pulled(pull)]
}

function people(annotators, blind) {
	if (annotators.length <= MOST && !blind)
		return annotators.map(one =>
			part(
				one.name,
				html("b", {}, `${one.done} of ${one.pairs}`),
				html("small", {}, ` ${pace(one)}`),
			),
		)
	const [done, pairs] = ["done", "pairs"].map(name =>
		annotators.reduce((sum, one) => sum + one[name], 0),
	)
	return [part(plural(annotators.length, "annotator"), html("b", {}, `${done} of ${pairs}`))]
}

export const pace = ({seconds, left, done, pairs}) =>
	seconds === null
		? ""
		: `${duration(seconds)} each${done < pairs ? `, ${duration(left)} left` : ""}`

function pulled({pull}) {
	const {value} = pull
	return value === null || value === undefined
		? []
		: [part("pull of suggestions", ...figure(pull, {signed: true}))]
}
