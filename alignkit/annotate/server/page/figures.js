// Follow the figures of the dashboard, and write them.
import {html} from "./dom.js"
import {API} from "./place.js"

const POLL = 2000 // milliseconds
const STRANGER = "Open the URL that `alignkit annotate --adjudicate` printed last."

// Ask for the figures every two seconds while the page is seen; `told(view, problem)` is called
// where they are others, or cannot be had. Returns what stops it.
export function follow(project, told) {
	let tag = ""
	let timer = 0
	let stopped = false
	let problem = ""
	async function ask() {
		clearTimeout(timer)
		let after = POLL
		if (document.visibilityState === "visible") {
			const {status, view} = await asked(project, tag, now => {
				tag = now
			})
			const before = problem
			problem = view?.problem || sentence(status, view)
			if (status === 200 && view.progress !== undefined && !problem) after = 300
			if (status === 200 || problem !== before) told(status === 200 ? view : null, problem)
			if (status === 401 || status === 403) stopped = true
		}
		if (!stopped) timer = setTimeout(ask, after)
	}
	const seen = () => {
		if (document.visibilityState === "visible" && !stopped) ask()
	}
	document.addEventListener("visibilitychange", seen)
	ask()
	return () => {
		stopped = true
		clearTimeout(timer)
		document.removeEventListener("visibilitychange", seen)
	}
}

async function asked(project, tag, tagged) {
	const headers = {"X-CSRF-Token": project.csrf, Prefer: "wait=1"}
	if (tag) headers["If-None-Match"] = tag
	try {
		const reply = await fetch(`${API}agreement`, {headers, cache: "no-store"})
		if (reply.status === 200) tagged(reply.headers.get("ETag") ?? "")
		return {status: reply.status, view: reply.status === 304 ? null : await reply.json()}
	} catch {
		return {status: 0, view: null}
	}
}

function sentence(status, view) {
	if (status === 200 || status === 304) return ""
	if (status === 401 || status === 403) return STRANGER
	return view?.message ?? "The server cannot be reached."
}

// ".87", "-.05", "1.00"; with `signed` "+.09".
export function number(value, signed = false) {
	if (value === null || value === undefined) return "-"
	const text = Math.abs(value).toFixed(2).replace(/^0/, "")
	if (value < 0 && Number(text)) return `\u2212${text}`
	return signed ? `+${text}` : text
}

// A figure with its interval, or a dash with the reason.
export function figure({value, low, high, reason} = {}, {signed = false, more = ""} = {}) {
	if (value === null || value === undefined)
		return [html("span", {class: "none"}, "-"), small(reason || "", "why")]
	const bare = low === undefined || low === null
	const range = bare ? reason || "" : `${number(low, signed && low < 0)} to ${number(high)}`
	const parts = [html("b", {}, number(value, signed))]
	const rest = [range, more].filter(Boolean).join(", ")
	if (rest) parts.push(small(rest, bare && reason ? "why" : ""))
	return parts
}

const small = (text, kind) => html("small", {class: kind || null}, ` ${text}`)

// "38 s", "12 min", "5 h".
export function duration(seconds) {
	if (seconds < 90) return `${Math.round(seconds)} s`
	if (seconds < 5400) return `${Math.round(seconds / 60)} min`
	return `${Math.round(seconds / 3600)} h`
}

// "14:02", with the day where it is not today.
export function clock(at) {
	const time = new Date(at)
	const two = part => String(part).padStart(2, "0")
	const day =
		time.toDateString() === new Date().toDateString()
			? ""
			: `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} `
	return `${day}${two(time.getHours())}:${two(time.getMinutes())}`
}

// How far the computation is, before the first figures are there.
export function computing({progress, step}) {
	let text = "computing the figures"
	if (step) text += `: ${step}`
	if (progress) text += ` ${Math.floor(100 * progress)} %`
	return text
}

// The figures to show first: of the only two, or the means of several.
export function main({twos, mean}) {
	if (twos.length !== 1) return mean
	const [{figures, beyond}] = twos
	return {
		...figures,
		...Object.fromEntries(Object.entries(beyond).map(([level, one]) => [`${level}.C`, one])),
	}
}
