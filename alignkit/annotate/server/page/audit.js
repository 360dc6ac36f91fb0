// Lines of the log, the newest first, more on demand.
import {$, html} from "./dom.js"
import {api, cell, rows, tried} from "./manage.js"

const SOME = 100

// {"rank":"owner","state":"open"} as "rank owner, state open"
function plain(text) {
	if (!text.startsWith("{")) return text
	return Object.entries(JSON.parse(text))
		.map(([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : value}`)
		.join(", ")
}

const change = ({target, before, after}) => [
	`${target} `,
	html("small", {}, [before, after].filter(Boolean).map(plain).join(" → ")),
]
const time = at =>
	html(
		"time",
		{datetime: at},
		new Date(at).toLocaleString("en-GB", {dateStyle: "medium", timeStyle: "short"}),
	)
const row = line => [
	cell(time(line.at)),
	cell(line.actor),
	cell(line.action),
	cell(...change(line)),
	cell(line.project),
	html("td", {class: "quiet"}, [line.by, line.address].filter(Boolean).join(", ")),
]

// The address of lines that a filter lets through, of the lab or of a project.
export const asked = (path, filter) =>
	`${path}?${new URLSearchParams(Object.entries(filter).filter(([, value]) => value))}`

// Show these lines.
export async function log(path, filter = {}) {
	let shown = []
	const more = async () => {
		const next = (await api("GET", asked(path, {...filter, after: shown.at(-1)?.n, limit: SOME})))
			.rows
		shown = [...shown, ...next]
		rows($("lines"), shown, row, "n")
		$("no-lines").hidden = shown.length > 0
		$("more").hidden = next.length < SOME
	}
	$("more").onclick = () => tried(more)
	await tried(more)
}
